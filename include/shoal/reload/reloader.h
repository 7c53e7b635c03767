#pragma once
// Live reload: what was spawned from a blob becomes what a newer version of the blob says, while the program runs on.
//
//     Reloader reloader(world);  // remembers from now on which entities come from which blob
//     if (auto spawned = world.spawn(older, {.copies = 3}); !spawned) return spawned.status();
//     world.step(1.0f / 60);
//     const Result<ReloadReport> reloaded = reloader.reload(older, newer);  // all three copies
//     if (!reloaded) return reloaded.status();                              // the world is as it was
//
// Entities are matched by their GUID paths, those without one by their order. Who stays keeps the id. For each field of
// each component, the two versions of the source are compared, and what differs is written:
//
//     source then   source now   in the world        after the reload
//     3             3            5, by the program   5      the program's value stays
//     3             4            3, or 5             4      the source has changed it
//     none          4            none                4      a component, or an entity, came
//     3             none         3, or 5             none   one went
//     3             4            destroyed           none   what the program took away stays away: it is left out
//
// That holds for references too, which are translated to the entities of the copy; for parents in the transforms; for
// owners; for enableable components, which are enabled and disabled as the source does; and for each value of a `many`
// type, such as a tag. The values of an entity come in the order of the newer source then, as after a spawn of it; one
// that the program has added stays before the one that it was before. The root poses that copies were spawned with
// stay. So does what a spawn has overridden (SpawnOptions::overrides), whatever the source says of it now, until the
// program changes it; an entity or a component that went, and comes again, has the values again that were overridden,
// and an override of a value of a `many` type goes with that value. A model pose whose tree has changed starts anew.
// Properties that the program has set stay on top of what the source says.
//
// Changes go through the stores, as those of commands do, so children follow their transforms, and observers and the
// journal tell of all that came, went and changed when the world settles next. Entities that are gone from the source
// are destroyed at once.
// An entity that SpawnOptions::first_entities has made part of a copy is part of no other from then on.
// Copies of entities, which copy() and commands make, are entities of the program: they stay as they are, whatever
// becomes of the originals. Only their read-only arrays become those of the newer version, as in all rows.
//
// Fields may come and go: a component type that came with a schema alone, as schema files declare them, and that has a
// manager gets the fields of the newer blob's schema. Rows stay, new fields have their defaults, and what
// ComponentRegistry::migrations() says is done. The manager is another one then: observers of the type end, and
// references to the manager see no rows. Commands that wait with values of the older fields are dropped when the world
// settles, which is logged: settle before if they count.
//
// What cannot be reloaded is an error: other fields of a component type that has a C++ type, or lies in the database; a
// component that a spawn function took, if one that is there has changed; an owner that is owned by what it is to own,
// because the program has said so; a store of another class that refuses. Then everything is as it was, but rows, and
// the children of one parent, may lie in another order.
//
// A reloader knows of which version the copies are, also when it was saved and loaded, or taken back to an earlier
// frame: they are of the version of then. Copies of another version than `before` stay as they are, and
// ReloadReport::num_other_copies counts them.
// They go straight to the newest version: reload from the one that they are of, which need not be the last but one.
//
// What was spawned before there was a reloader is not reloaded. A world has one reloader at a time; a second one ends
// the program.
// It may end before the world or after it. A state of a world has what the reloader knows, and a world without one
// ignores that.
//
// Lifetime: the world keeps nothing of either blob when the call returns. `before` lives until then, and `after`, or a
// blob with the same bytes, is `before` of the next reload. Where rows refer to read-only arrays, or to trees of
// models, the library has the blob:
//
//     const Result<Blob> before = library.replace(std::move(newer));  // the older one lives on here
//     if (!before) return before.status();
//     const Blob& after = *library.find(before->id());
//     if (const Result<ReloadReport> reloaded = reloader.reload(*before, after); !reloaded) return reloaded.status();
//
// Rows, and values of commands that wait, that refer to an array of which the newer blob has none with these values
// refer to no array afterwards. If the reload fails, give the library the older blob back.
// Cost: reads both blobs; then what differs, copy by copy. If any read-only array lies elsewhere in the newer version,
// or is another, all rows that refer to arrays are looked at, and those whose arrays have moved are written: all behind
// one that has become longer, and all if there are more entities.
// Thread: the structural thread of the world, between its passes.

#include "shoal/base/status.h"
#include "shoal/react/service.h"

namespace shoal {

class Schema;
class SchemaChange;
class SpawnLog;
class World;

/// What a reload has done, over all copies.
struct ReloadReport {
    std::uint32_t num_copies = 0;               ///< that live
    std::uint64_t num_created = 0;              ///< entities
    std::uint64_t num_destroyed = 0;            ///< the same
    std::uint64_t num_changed = 0;              ///< entities that stay and of which something differs now
    std::uint64_t num_components_added = 0;     ///< to entities that stay
    std::uint64_t num_components_removed = 0;   ///< from entities that stay
    std::uint64_t num_fields = 0;               ///< of entities that stay, or of singletons: written with other values
    std::uint64_t num_enabled_or_disabled = 0;  ///< enableable components of them: enabled or disabled now
    std::uint64_t num_linked = 0;               ///< entities that stay, and have another parent now, or none
    std::uint32_t num_schemas = 0;              ///< component types that have other fields now
    std::uint64_t num_left_out = 0;             ///< changes of what the program has destroyed or removed
    std::uint32_t num_other_copies = 0;         ///< copies of other versions: they are as they were

    /// Whether the copies are as they were.
    bool empty() const { return num_created + num_destroyed + num_changed + num_fields + num_schemas == 0; }
};

class Reloader final : public WorldService {
public:
    /// Requires: the world has no other reloader; no passes run.
    SHOAL_API explicit Reloader(World& world);
    SHOAL_API ~Reloader() override;

    /// Brings all copies of a blob that live in the world to a newer version of it.
    /// Errors: the message says what cannot be reloaded, and why; nothing has changed. Requires: the world is at rest.
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

    World* world_;   // nullptr: it has ended,
    SpawnLog* log_;  // and the log with it
};

/// Gives a component type that is kept by a schema alone other fields, as reload() does: rows stay. Those who keep what
/// they have made from schemas are told, by WorldService::fields_changed(), when the change is kept. The change is
/// taken back unless end_schema_change() keeps it.
/// Errors: as of reload(); an observer runs; nothing has changed. Requires: no passes run.
SHOAL_API Result<SchemaChange*> begin_schema_change(World& world, const Schema& schema);
SHOAL_API void end_schema_change(SchemaChange* change, bool keep);

}  // namespace shoal
