#pragma once
// Live reload: updates the entities that were spawned from a blob to a newer version of the blob, while the program
// runs.
//
//     Reloader reloader(world);  // remembers from now on which entities come from which blob
//     if (auto spawned = world.spawn(older, {.copies = 3}); !spawned) return spawned.status();
//     world.step(1.0f / 60);
//     const Result<ReloadReport> reloaded = reloader.reload(older, newer);  // all three copies
//     if (!reloaded) return reloaded.status();                              // the world is as it was
//
// Entities are matched by their GUID paths, or by order if they have none. An entity that is in both versions keeps its
// id. The two versions of the source are compared field by field, and differences are written:
//
//     source then   source now   in the world        after the reload
//     3             3            5, by the program   5      the program's value is kept
//     3             4            3, or 5             4      the source has changed
//     none          4            none                4      a component, or an entity, was added
//     3             none         3, or 5             none   one was removed
//     3             4            destroyed           none   it stays destroyed: the change is left out
//
// The same rules apply to references, which are translated to the entities of the copy; to transform parents; to
// owners; to enableable components, which are enabled and disabled as in the source; and to each value of a `many`
// type, such as a tag. Values of `many` types get the order of the newer source; a value that the program has added
// stays in front of the value that it preceded. Copies keep the root poses that they were spawned with. Values that a
// spawn has overridden (SpawnOptions::overrides) also stay, until the program changes them. If an entity or a component
// is removed and later added again, its overrides are applied again; an override of a value of a `many` type is removed
// with the value. A model pose whose tree has changed restarts. Properties that the program has set still take
// precedence over the source.
//
// Changes are made through the stores, like commands, so children follow their transforms, and observers and the
// journal report all additions, removals and changes at the next settle. Entities that are no longer in the source are
// destroyed immediately. If SpawnOptions::first_entities makes an entity part of a copy, it leaves its previous copy.
// Entities that were made by copy() or by copy commands are not reloaded. Only their references to read-only arrays are
// updated, as in all rows.
//
// Fields may be added and removed if the component type has a manager and no C++ type, for example if it is declared in
// a schema file. Rows are kept, new fields have their defaults, and migrations from ComponentRegistry::migrations() are
// run. The manager is replaced: observers of the type are removed, and references to the manager find no rows. The next
// settle drops and logs pending commands with values of the older fields: settle before the reload to apply them.
//
// These changes cannot be reloaded and are errors: changed fields of a component type that has a C++ type or is in the
// database; a changed or removed component that was spawned by a spawn function; an ownership cycle, because the
// program has changed owners; a change that a custom store refuses. After an error, nothing has changed, except that
// the order of rows and of a parent's children may differ.
//
// A reloader knows the version of each copy, also after a load or a rewind. Copies of a version other than `before`
// stay unchanged, and ReloadReport::num_other_copies counts them. To update these copies directly to the newest
// version, pass their version as `before`.
//
// Entities that were spawned before the reloader was created are not reloaded. A world has at most one reloader at a
// time; a second one ends the program. The reloader may be destroyed before or after the world. Saved states contain
// the reloader's data; a world without a reloader ignores it.
//
// Lifetime: both blobs must live until the call returns. Pass `after`, or a blob with the same bytes, as `before` of
// the next reload. If rows refer to read-only arrays, or to trees of models, the library must have the newer blob:
//
//     const Result<Blob> before = library.replace(std::move(newer));  // the older one lives on here
//     if (!before) return before.status();
//     const Blob& after = *library.find(before->id());
//     if (const Result<ReloadReport> reloaded = reloader.reload(*before, after); !reloaded) return reloaded.status();
//
// If the newer blob does not have the values of an array, references to it in rows and pending commands become empty.
// If the reload fails, put the older blob back into the library.
// Cost: reads both blobs, and then, copy by copy, the values that differ. If any read-only array has a different offset
// or content in the newer version, visits all rows that refer to arrays, and updates references to moved arrays. A
// longer array moves all arrays after it; additional entities move all arrays.
// Thread: the structural thread of the world, between its passes.

#include "shoal/base/status.h"
#include "shoal/react/service.h"

namespace shoal {

class Schema;
class SchemaChange;
class SpawnLog;
class World;

/// The result of a reload, over all copies.
struct ReloadReport {
    std::uint32_t num_copies = 0;               ///< copies with living entities
    std::uint64_t num_created = 0;              ///< entities
    std::uint64_t num_destroyed = 0;            ///< entities
    std::uint64_t num_changed = 0;              ///< kept entities with changes
    std::uint64_t num_components_added = 0;     ///< components added to kept entities
    std::uint64_t num_components_removed = 0;   ///< components removed from kept entities
    std::uint64_t num_fields = 0;               ///< fields with new values, in kept entities and singletons
    std::uint64_t num_enabled_or_disabled = 0;  ///< components of kept entities
    std::uint64_t num_linked = 0;               ///< kept entities whose parent has changed
    std::uint32_t num_schemas = 0;              ///< component types whose fields have changed
    std::uint64_t num_left_out = 0;             ///< changes skipped because the program has removed their target
    std::uint32_t num_other_copies = 0;         ///< copies of other versions, which stay unchanged

    /// Whether the copies are unchanged.
    bool empty() const { return num_created + num_destroyed + num_changed + num_fields + num_schemas == 0; }
};

class Reloader final : public WorldService {
public:
    /// Requires: the world has no other reloader; no passes are running.
    SHOAL_API explicit Reloader(World& world);
    SHOAL_API ~Reloader() override;

    /// Changes all copies of a blob in the world to a newer version of it.
    /// Errors: a change cannot be reloaded; the message names it and gives the reason. After an error, nothing has
    /// changed.
    /// Requires: the world is at rest.
    SHOAL_API Result<ReloadReport> reload(const Blob& before, const Blob& after);

private:
    std::string describe() const override;
    void spawned(const Blob& blob, const Spawned& spawned, const SpawnOptions& options) override;
    void note_deaths() override;
    void world_ends() override;
    void mark_texts(TextMarks& marks) const override;
    std::uint32_t state_version() const override { return 1; }
    void save_part(SnapshotWriter& to) const override;
    Status load_part(SnapshotReader& from, std::uint32_t version) override;

    World* world_;   // nullptr: the world has ended
    SpawnLog* log_;  // owned by the world
};

/// Change the fields of a component type that has no C++ type, like reload(); rows are kept. end_schema_change() keeps
/// or undoes the change. If it is kept, WorldService::fields_changed() is called for services with data that depends on
/// schemas. Errors: the same as reload(); an observer is running. Nothing has changed. Requires: no passes are running.
SHOAL_API Result<SchemaChange*> begin_schema_change(World& world, const Schema& schema);
SHOAL_API void end_schema_change(SchemaChange* change, bool keep);

}  // namespace shoal
