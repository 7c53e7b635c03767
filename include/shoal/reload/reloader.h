#pragma once
// Live reload: while the program runs, what was spawned from a blob is changed to match a newer version of the blob.
//
//     Reloader reloader(world);  // remembers from now on which entities come from which blob
//     if (auto spawned = world.spawn(older, {.copies = 3}); !spawned) return spawned.status();
//     world.step(1.0f / 60);
//     const Result<ReloadReport> reloaded = reloader.reload(older, newer);  // all three copies
//     if (!reloaded) return reloaded.status();                              // the world is as it was
//
// Entities are matched by their GUID paths, or by order if they have none. An entity that stays keeps its id. For each
// field of each component, the two versions of the source are compared, and differences are written:
//
//     source then   source now   in the world        after the reload
//     3             3            5, by the program   5      the program's value is kept
//     3             4            3, or 5             4      the source has changed
//     none          4            none                4      a component, or an entity, was added
//     3             none         3, or 5             none   one was removed
//     3             4            destroyed           none   it stays destroyed: the change is left out
//
// This applies also to references, which are translated to the entities of the copy; to parents in the transforms; to
// owners; to enableable components, which are enabled and disabled as in the source; and to each value of a `many`
// type, such as a tag. The values of an entity are then in the order of the newer source, as if newly spawned; a value
// that the program has added stays in front of the value that it preceded. Copies keep the root poses that they were
// spawned with. Values that a spawn has overridden (SpawnOptions::overrides) stay too, whatever the source has now,
// until the program changes them. An entity or a component that is removed and then added again gets its overridden
// values again, and an override of a value of a `many` type is removed with that value. A model pose whose tree has
// changed restarts. Properties that the program has set still take precedence over the source.
//
// Changes are made through the stores, as by commands, so children follow their transforms, and observers and the
// journal report all additions, removals and changes at the next settle. Entities that were removed from the source
// are destroyed at once.
// An entity that SpawnOptions::first_entities has made part of a copy no longer belongs to any other copy.
// Copies of entities, made by copy() and by commands, belong to the program: they stay unchanged, whatever
// happens to the originals. Only their read-only arrays are replaced by those in the newer version, as in all rows.
//
// Fields may be added and removed: a component type that was declared by a schema alone, as in schema files, and that
// has a manager gets the fields of the newer blob's schema. Rows stay, new fields have their defaults, and migrations
// from ComponentRegistry::migrations() are run. The manager is replaced: observers of the type end, and references to
// the manager find no rows. When the world settles, waiting commands with values of the older fields are dropped, with
// a line in the log: settle before the reload to apply them.
//
// These changes cannot be reloaded and are errors: changed fields of a component type that has a C++ type or is in the
// database; a changed or removed component that a spawn function took; an entity that would own its own owner, because
// the program has changed owners; a refusal by a store of another class. Then everything is unchanged, except that the
// order of rows and of a parent's children may differ.
//
// A reloader knows the version of each copy, even after a save and load; after going back to an earlier frame, it knows
// the version at that time. Copies of a version other than `before` stay unchanged, and ReloadReport::num_other_copies
// counts them. To bring such copies straight to the newest version, reload from their own version, which may be any
// older one.
//
// Entities that were spawned before the reloader was made are not reloaded. A world has at most one reloader at a time;
// a second one ends the program. The reloader may end before or after the world. Saved states contain what the reloader
// knows; a world without a reloader ignores that.
//
// Lifetime: the world keeps no reference to either blob after the call. `before` must live until then, and `after`, or
// a blob with the same bytes, is `before` of the next reload. If rows refer to read-only arrays, or to trees of
// models, the library must have the blob:
//
//     const Result<Blob> before = library.replace(std::move(newer));  // the older one lives on here
//     if (!before) return before.status();
//     const Blob& after = *library.find(before->id());
//     if (const Result<ReloadReport> reloaded = reloader.reload(*before, after); !reloaded) return reloaded.status();
//
// If the newer blob lacks the values of an array, rows and waiting commands that refer to the array refer to none
// afterwards. If the reload fails, put the older blob back into the library.
// Cost: reads both blobs, and then, copy by copy, the values that differ. If any read-only array has another offset or
// content in the newer version, visits all rows that refer to arrays, and writes the rows whose arrays have moved. If
// an array has become longer, all arrays after it have moved; if there are more entities, all arrays have.
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
    std::uint64_t num_changed = 0;              ///< entities that stay and have changed
    std::uint64_t num_components_added = 0;     ///< components added to entities that stay
    std::uint64_t num_components_removed = 0;   ///< components removed from entities that stay
    std::uint64_t num_fields = 0;               ///< fields with new values, in entities that stay and in singletons
    std::uint64_t num_enabled_or_disabled = 0;  ///< components of entities that stay
    std::uint64_t num_linked = 0;               ///< entities that stay and have a new parent, or no longer have one
    std::uint32_t num_schemas = 0;              ///< component types whose fields have changed
    std::uint64_t num_left_out = 0;             ///< changes whose target the program has destroyed or removed
    std::uint32_t num_other_copies = 0;         ///< copies of other versions, which stay unchanged

    /// Whether the copies are unchanged.
    bool empty() const { return num_created + num_destroyed + num_changed + num_fields + num_schemas == 0; }
};

class Reloader final : public WorldService {
public:
    /// Requires: the world has no other reloader; no passes run.
    SHOAL_API explicit Reloader(World& world);
    SHOAL_API ~Reloader() override;

    /// Changes all copies of a blob in the world to a newer version of it.
    /// Errors: the message says what cannot be reloaded, and why; everything is unchanged. Requires: the world is at
    /// rest.
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
    SpawnLog* log_;  // belongs to the world, and ends with it
};

/// Changes the fields of a component type that has no C++ type, as reload() does: rows stay. When the change is kept,
/// WorldService::fields_changed() is called for services that keep data made from schemas. The change is
/// undone unless end_schema_change() keeps it.
/// Errors: the same as reload(); an observer runs; nothing has changed. Requires: no passes run.
SHOAL_API Result<SchemaChange*> begin_schema_change(World& world, const Schema& schema);
SHOAL_API void end_schema_change(SchemaChange* change, bool keep);

}  // namespace shoal
