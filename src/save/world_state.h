#pragma once
// Saves a world to a snapshot, and loads it.
//
//     world            clocks, random numbers, the entity of the singletons
//     types            a blob without entities: the component types, and the texts of string ids (in files, and if
//                      commands name component types that no store keeps)
//     entities         see EntityManager::save()
//     arrays           the builds of resources whose arrays rows and commands refer to; see state_arrays.cpp
//     commands         waiting ones; see command/saved_layout.h
//     stores/NAME      each store, named after its first component type; databases "database", "database 1" ...
//     schedule, relations, position links, observers, spawns, services/NAME, events/type/NAME, events/name/NAME
//     zones            the files of unloaded zones; see zone_files.h
//
// Thread: the structural thread of the world.

#include "shoal/base/detail/lines.h"
#include "shoal/state/snapshot.h"
#include "shoal/world/world.h"

#include <optional>
#include <vector>

namespace shoal {

/// Schemas and strings as a blob. The blob is reused until they change.
struct LastingTypes {
    std::uint64_t key = 0;
    std::vector<std::byte> bytes;
    bool only_used_texts = false;  // only for a single state; the key ignores which strings are used
};

/// The part "world/clocks".
struct Clocks {
    std::uint64_t frame, stamp, random;
};

class ArrayUses;

struct SavedLayout {
    ComponentId component;
    std::uint64_t layout;
};

/// Calls visit(line) for each line of a text.
template <class Visit>
void for_each_line(std::string_view text, Visit&& visit) {
    while (!text.empty()) visit(take_line(text));
}

class WorldState {
public:
    explicit WorldState(World& world) : world_(world) {}
    const ComponentRegistry& registry() const { return world_.registry(); }
    Executor& executor() const { return world_.executor(); }
    /// Returns the store that has this name in a state, or nullptr.
    Store* find_store(std::string_view name) const;
    /// Returns a component type's schema in the world's stores, or nullptr.
    const Schema* find_kept_schema(ComponentId component) const { return world_.directory().find_schema(component); }

    /// Saves the world to a state. If another run of the program may read the state, the state needs schemas and
    /// strings, and `lasting` must not be nullptr. If `borrows` is set, the caller destroys the state before the world
    /// changes, so columns need not be copied. Errors: something cannot be saved.
    Status save(Snapshot& to, const Snapshot* before, LastingTypes* lasting, bool borrows = false) const;
    /// Replaces the state of the world. Errors: the snapshot does not fit the world. On error, the world is unchanged.
    Status load(const Snapshot& from, bool is_trusted);
    /// Loads another state into the world, calls look(), and then restores the world's own state. Kept frames are not
    /// dropped. Stores that exist only in the other state are removed, but component types that databases have added
    /// for it stay. Unloaded zones stay unloaded, and the unloaded zones of the other state are ignored.
    /// Errors: the other state does not fit, or the world cannot be saved. In both cases, look() was not called. If a
    /// store of the program rejects the world's own state afterwards, the world keeps the other state, and an error is
    /// logged.
    Status visit(const Snapshot& other, void (*look)(void* context), void* context);

private:
    /// A store in the state.
    struct SavedStore {
        std::string name, kind;
    };

    std::string name_of(const Store& store) const;
    WaitingCommands& commands() const { return WaitingCommands::of_directory(world_.directory()); }
    Status save_but_zones(Snapshot& to, const Snapshot* before, LastingTypes* lasting, bool borrows,
                          bool has_zones) const;
    Array<const Schema*> types_to_save(bool is_lasting) const;
    std::uint64_t key_of(std::span<const Schema* const> types) const;
    void list_texts(bool only_used, Array<std::string_view>& texts) const;
    void save_types(SnapshotWriter& to, std::span<const Schema* const> schemas, bool with_texts,
                    LastingTypes& lasting) const;
    Status load(const Snapshot& state, bool is_trusted, bool with_zones);
    Status load_fitting(const Snapshot& state, bool is_trusted, bool with_zones);
    Result<Database*> find_database_of_zones(const Snapshot& state, SnapshotReader& from) const;
    Status load_types(SnapshotReader& from);
    Status make_stores(SnapshotReader& from);
    Status check_layouts(SnapshotReader& from) const;
    Status replace(const Snapshot& from, bool is_trusted, const Snapshot* present);
    Status load_stores(SnapshotReader& from);
    Status load_commands(SnapshotReader& from);
    Status load_world(SnapshotReader& from);
    Status load_rest(SnapshotReader& from);
    void save_services(SnapshotWriter& to) const;
    Status load_services(SnapshotReader& from);

    // In state_arrays.cpp.
    void save_arrays(SnapshotWriter& to, const Snapshot& state, const Snapshot* before) const;
    void list_arrays_of_commands(const Snapshot& state, ArrayUses& uses) const;
    static void list_arrays_of_models(const Snapshot& state, ArrayUses& uses);
    Status check_builds(SnapshotReader& from) const;
    Status check_arrays(SnapshotReader& from) const;

    World& world_;
    mutable HashMap<std::uint64_t, Store*> stores_by_name_{Owner("world")};  // by hash of the name
    mutable std::size_t num_named_ = 0;                                      // number of stores in stores_by_name_
    Array<SavedStore> saved_{Owner("world")};
    std::vector<std::string_view> saved_names_;  // names in the saved state, sorted
    std::optional<Blob> types_;                  // the schemas of the loaded state
};

}  // namespace shoal
