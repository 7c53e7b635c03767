#pragma once
// What a database keeps; see database.h, which alone changes it, and database_move.h for it.
//
//     directory_         entity -> table number, row
//     table_by_place_    (archetype, zone) -> table number        first_in_zone_    zone -> its first table
//     neighbours_        (archetype, component type) -> archetype with one more or less
//     plans_             how a row goes from one archetype to another
//
// Thread: that of the database.

#include "shoal/database/database_directory.h"
#include "shoal/database/database_number_map.h"
#include "shoal/database/database_values.h"
#include "shoal/database/deferred_changes.h"
#include "shoal/database/detail/component_slots.h"
#include "shoal/database/grid_zones.h"
#include "shoal/store/component_manager.h"

namespace shoal {

struct Journal;
class JournalKeeper;
class DatabaseSpawn;
class TakePlan;
class DatabaseTable;

/// The field whose value decides in which zone a spawned entity lies.
struct SpawnPlaceField {
    ComponentType component{};       // none: nothing decides
    std::uint32_t first_column = 0;  // of the component type's columns
    bool is_split = false;           // x, y and z in columns of their own
    std::uint32_t offset_in_column = 0;
    GridZones tiles{GridZonesOptions()};
};

struct DatabaseState {
    struct Selection;  // the rows that a call is about, by table
    struct TypedList;  // a list of C++ types, as component types

    DatabaseState(EntityManager& entities, PagePool& pool, const DatabaseOptions& options)
        : entities_(entities), pool_(pool), options_(options) {}

    void require_unlocked() const {
        SHOAL_ASSERT(!directory_.is_held(),
                     "entities came, went or moved while a loop ran over them; ask for it through Commands");
    }
    /// Whether entities with rows here may be dead. Settling asks for them.
    SHOAL_INLINE bool awaits_deaths() const { return entities_.deaths_end() != deaths_seen_; }
    /// Whether an entity with a row is dead. One comparison, while nobody has died.
    SHOAL_INLINE bool is_dead(Entity entity) const {
        return SHOAL_UNLIKELY(awaits_deaths()) && !entities_.alive(entity);
    }
    void pass_deaths(std::uint64_t end) { entities_.advance(cursor_, end), deaths_seen_ = end; }

    /// Notes that the number of rows of a table has come to be 0, or not to be.
    SHOAL_API void note_rows(const DatabaseTable& table);

    EntityManager& entities_;
    PagePool& pool_;
    DatabaseOptions options_;
    DatabaseDirectory directory_;
    DeathCursor cursor_;
    std::uint64_t deaths_seen_ = 0;                    // where the cursor is
    Array<const Schema*> schemas_{Owner("database")};  // by component type number; owned
    detail::ComponentSlots component_by_slot_;
    Array<const Archetype*> types_{Owner("database")};  // by number; owned
    NumberMap component_by_id_, type_by_signature_, neighbours_, plan_by_types_, table_by_place_, first_in_zone_;
    Array<TakePlan*> plans_{Owner("database")};
    Array<DatabaseTable*> tables_{Owner("database")};  // by number; owned
    Array<std::uint32_t> free_tables_{Owner("database")};
    Array<std::uint64_t> occupied_{Owner("database")};  // by table number / 64
    Array<const Table*> table_list_{Owner("database")};
    Array<TypedList*> lists_{Owner("database")};  // by typed slot
    Selection* selection_ = nullptr;
    DatabaseSpawn* spawn_ = nullptr;
    DeferredChanges* deferred_changes_ = nullptr;  // made by the first that asks for changes
    JournalKeeper* journal_ = nullptr;
    SpawnPlaceField spawn_place_;
    std::uint64_t table_list_epoch_ = 0, num_structural_changes_ = 0, stamp_ = 1, next_visited_ = 0;
};

}  // namespace shoal
