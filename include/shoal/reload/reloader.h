#pragma once
// Live reload: while the program runs, a newer version of a blob is applied to the entities that were spawned from the
// blob.
//
//     Reloader reloader(world);  // remembers from now on which entities come from which blob
//     if (auto spawned = world.spawn(older, {.copies = 3}); !spawned) return spawned.status();
//     world.step(1.0f / 60);
//     const Result<ReloadReport> reloaded = reloader.reload(older, newer);  // all three copies
//     if (!reloaded) return reloaded.status();                              // the world is as it was
//
// Entities are matched by their GUID paths. Entities without a GUID are matched by their order. An entity that is in
// both versions keeps its id. The two versions of the source are compared field by field, and the differences are
// written to the entities:
//
//     source then   source now   in the world        after the reload
//     3             3            5, by the program   5      the program's value is kept
//     3             4            3, or 5             4      the source has changed
//     none          4            none                4      a component, or an entity, was added
//     3             none         3, or 5             none   one was removed
//     3             4            destroyed           none   it stays destroyed: the change is left out
//
// The same rules apply to references, transform parents, owners and each value of a `many` type, such as a tag. They
// also apply to the enabled state of components. References are translated to the entities of the copy. Values of
// `many` types get the order of the newer source; a value that the program has added stays in front of the value that
// it preceded. Copies keep the root poses that they were spawned with. They also keep the values that a spawn has
// overridden (SpawnOptions::overrides), unless the program has changed them. If a version of the source removes an
// entity or a component and a later version adds it again, its overrides are applied to the new one. When a value of a
// `many` type is removed, its override is also removed. If a model's tree has changed, the model's pose restarts.
// Properties that the program has set still take precedence over the source.
//
// Like commands, a reload makes its changes through the stores. So children follow their parents' transforms, and at
// the next settle, observers and the journal report all additions, removals and changes. Entities that are no longer in
// the source are destroyed immediately. If SpawnOptions::first_entities makes an entity part of a copy, it leaves its
// previous copy. Entities that were made by copy() or by copy commands are not reloaded; only their references to
// read-only arrays are updated, as in all other rows.
//
// Fields may be added and removed if the component type has a manager and no C++ type, for example if it is declared in
// a schema file. Rows are kept, new fields get their defaults, and migrations from ComponentRegistry::migrations() are
// run. The manager is replaced, so observers of the type are removed, and code that still refers to the old manager
// finds no rows in it. The next settle drops and logs pending commands that hold values of the older fields. To apply
// such commands, settle before the reload.
//
// A reload fails if the fields of a component type have changed and the type has a C++ type or is in the database. It
// fails if a component that was spawned by a spawn function has changed or was removed, or if a custom store refuses a
// change. It also fails if the program has changed owners so that the owners in the source would form a cycle. On
// error, nothing has changed, except that rows, and the children of a parent, may be in a different order.
//
// A reloader knows the version of each copy, even after a load or a rewind. Copies of a version other than `before` are
// not changed, and ReloadReport::num_other_copies counts them. To update these copies directly to the newest version,
// reload with their version as `before`.
//
// Entities that were spawned before the reloader was created are not reloaded. A world has at most one reloader at a
// time; a second one ends the program. The reloader may be destroyed before or after the world. Saved states contain
// the reloader's data. A world without a reloader ignores this data.
//
// Lifetime: both blobs must live until the call returns. In the next reload, pass `after` or a blob with the same bytes
// as `before`. If rows refer to read-only arrays or to model trees, the library must have the newer blob:
//
//     const Result<Blob> before = library.replace(std::move(newer));  // the older one lives on here
//     if (!before) return before.status();
//     const Blob& after = *library.find(before->id());
//     if (const Result<ReloadReport> reloaded = reloader.reload(*before, after); !reloaded) return reloaded.status();
//
// If the newer blob has no array with the same values as an older array, references in rows and pending commands to the
// older array become empty. If the reload fails, put the older blob back into the library.
// Cost: reads both blobs, and then writes the values that differ, copy by copy. If a read-only array has a different
// offset or different content in the newer version, all rows with arrays are visited, and references to moved arrays
// are updated. A longer array moves all arrays after it; additional entities move all arrays.
// Thread: the structural thread of the world, between its passes.

#include "shoal/base/status.h"
#include "shoal/react/service.h"

namespace shoal {

class Schema;
class SchemaChange;
class SpawnLog;
class World;

/// The result of a reload. The counts are totals over all copies.
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
    std::uint32_t num_other_copies = 0;         ///< copies of other versions, which are not changed

    /// Whether the copies are unchanged.
    bool empty() const { return num_created + num_destroyed + num_changed + num_fields + num_schemas == 0; }
};

class Reloader final : public WorldService {
public:
    /// Requires: the world has no other reloader, and no passes are running.
    SHOAL_API explicit Reloader(World& world);
    SHOAL_API ~Reloader() override;

    /// Updates all copies of a blob in the world to a newer version of the blob. Errors: a change cannot be reloaded.
    /// The message names the change and gives the reason. On error, nothing has changed.
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

    World* world_;   // nullptr after the world has ended
    SpawnLog* log_;  // owned by this object
};

/// Like reload(), begin_schema_change() changes the fields of a component type that has no C++ type, and keeps the
/// rows. end_schema_change() keeps or undoes the change. If it keeps the change, it calls
/// WorldService::fields_changed() for each service. Errors: the fields cannot be changed, as for reload(), or an
/// observer is running. On error, nothing has changed. Requires: no passes are running.
SHOAL_API Result<SchemaChange*> begin_schema_change(World& world, const Schema& schema);
SHOAL_API void end_schema_change(SchemaChange* change, bool keep);

}  // namespace shoal
