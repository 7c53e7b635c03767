#pragma once
// A store keeps components: it decides in which table a row lies. A component manager is a store with one table and an
// index; the database is a store with many tables. All stores share this one small interface; the spawner, the world
// and every report use nothing else.
//
//     spawner  --SpawnBatch-->  store  --rows-->  tables  --statistics-->  reports
//
// Thread: structural calls (spawn, drop, settle) from one thread at a time, as for the world that they belong to.

#include "shoal/base/detail/page_memory.h"
#include "shoal/base/detail/row_range.h"
#include "shoal/base/math.h"
#include "shoal/base/status.h"
#include "shoal/entity/entity.h"
#include "shoal/store/detail/zone.h"
#include "shoal/table/detail/schema.h"

#include <span>

namespace shoal {

class ComponentDirectory;
class EntityManager;
class Executor;
class OwnedRows;
class Random;
class SnapshotReader;
class SnapshotWriter;
class Table;
struct FieldPart;

/// No parent, no entity, in a blob.
inline constexpr std::uint32_t kNoBlobEntity = 0xFFFFFFFF;

/// Where a copy is put: first scaled, then rotated, then moved, as seen from the world.
struct RootPose {
    Vec3 position{};  ///< metres
    Quaternion rotation{};
    Vec3 scale = {1, 1, 1};
};

/// All components of one type that a blob holds, to be added in one call, as often as there are copies.
/// An open struct of views: everything it refers to outlives the call only.
struct SpawnBatch {
    ComponentId component;
    /// Shape: num_blob_entities x num_copies; blob entity `i` of copy `k` is entities[k * num_blob_entities + i].
    std::span<const Entity> entities;
    std::uint32_t num_blob_entities = 0;
    std::uint32_t num_copies = 1;
    /// The owner of each component of one copy, as a blob entity. Shape: components per copy.
    /// An entity occurs more than once only if the schema says `many`.
    std::span<const std::uint32_t> entity_index;
    /// One per Schema::columns() of the store's schema, laid out as a table lays it out, alignment included.
    /// Shape: entity_index.size() elements each. Entity fields hold a blob entity (all bits set: none) and are
    /// translated while copied.
    std::span<const std::byte* const> columns;
    /// The parent of each blob entity, or kNoBlobEntity; empty when nobody has one. Parents come before children.
    std::span<const std::uint32_t> parents;
    /// For a store of places: what the poses of those that have no parent with a place are relative to, copy by copy.
    /// Shape: num_copies, or empty: the world. Others ignore it.
    std::span<const RootPose> root_poses{};
    /// For a store with zones: the zone that the source names for each blob entity, or for an ancestor of it; kNoZone
    /// where it names none. Shape: num_blob_entities, or empty: none is named. Others ignore it.
    std::span<const Zone> zones{};
    /// For a store with enableable components: the blob entities whose component is disabled. Others ignore it.
    std::span<const std::uint32_t> disabled{};

    /// The owner of component `i` in one copy.
    Entity owner(std::uint32_t copy, std::size_t i) const {
        return entities[std::size_t(copy) * num_blob_entities + entity_index[i]];
    }
    /// Turns what an Entity field holds, a blob entity, into the entity of one copy; null for none.
    Entity translate(std::uint32_t copy, Entity stored) const {
        if (stored.id >= num_blob_entities) return kNullEntity;  // none; a checked blob holds nothing else
        return entities[std::size_t(copy) * num_blob_entities + static_cast<std::size_t>(stored.id)];
    }
};

/// Asserts what Store::spawn requires of a batch of components of this schema.
SHOAL_API void require_batch(const SpawnBatch& batch, const Schema& component);

/// Translates the Entity fields of rows that were copied from a batch. `first_column` is where the component's columns
/// begin in the table. Requires: the rows were just added (they are not marked as written again).
SHOAL_API void translate_entities(const SpawnBatch& batch, std::uint32_t copy, const Schema& component, Table& table,
                                  std::uint32_t first_column, RowRange rows);

/// What one component type of a store holds.
struct StoreStatistics {
    std::string_view component;  ///< Lifetime: that of the store
    std::uint64_t num_rows = 0;
    std::uint64_t num_dead_rows = 0;  ///< of entities that are dead and not collected yet, as far as the store knows
    MemoryUse rows{};                 ///< the table
    MemoryUse index{};                ///< what finds a row by its entity
};

/// What settling has done, over all stores.
struct SettleCounts {
    // What commands have done; see commands.h.
    std::uint64_t num_created = 0;    ///< entities
    std::uint64_t num_destroyed = 0;  ///< the same
    std::uint64_t num_moved = 0;      ///< entities that went to another zone, have gained or have lost components
    std::uint64_t num_dropped = 0;    ///< commands about entities that did not live, or that a store refused

    std::uint64_t num_removed = 0;  ///< rows of the dead

    SHOAL_API SettleCounts& operator+=(const SettleCounts& other);
};

/// What settling has done and cost. Schedule::statistics() has the costs of passes, Store::statistics() those of
/// component types; inspect/report.h prints all three.
struct SettleStatistics {
    std::uint64_t num_settles = 0;
    std::int64_t last_ns = 0;
    std::int64_t total_ns = 0;
    SettleCounts last{};
    SettleCounts total{};
};

/// What a store may use while it settles.
struct SettleContext {
    Random* random = nullptr;        ///< the world's, seeded
    std::uint64_t stamp = 0;         ///< of writes from now on; grows with every settle
    Executor* executor = nullptr;    ///< the world's; nullptr: the calling thread alone
    SettleCounts* counts = nullptr;  ///< the store adds what it does; nullptr: nobody counts
};

/// Where the fields of a component type lie in a store that keeps all of them in one table, for queries.
struct OwnedColumns {
    OwnedRows* rows = nullptr;       ///< nullptr: the store does not keep them, or not in one table
    std::uint32_t first_column = 0;  ///< where the columns of the component begin
    bool has_fields = true;          ///< false: what the fields say is kept in another form
    bool is_read_only = false;       ///< the store computes them, so queries do not write them
    bool is_source = false;          ///< the store computes more from them: it is told what queries have written
    bool needs_parent = false;       ///< a row that is linked to no parent does not have the component
    bool is_link = false;  ///< it says which row of the store a row is linked to: both are there before it is added
    /// What to do instead of writing read-only columns, for messages: "link transforms with ...".
    std::string_view instead = "set what it is computed from, or call the store";

    explicit operator bool() const { return rows != nullptr; }
};

/// One of the tables that hold rows of a component type.
struct ComponentTable {
    const Table* table = nullptr;
    std::uint32_t first_column = 0;               ///< where the columns of the component begin
    bool has_fields = true;                       ///< false: what the fields say is kept in another form
    const std::uint64_t* enabled_bits = nullptr;  ///< a bit per row: is its component enabled? nullptr: all are
    bool needs_parent = false;                    ///< a row that is linked to no parent does not have the component
};

/// Values of one component type, for several entities. An open struct of views: all that it refers to outlives the
/// call.
struct AddedValues {
    const std::byte* images = nullptr;  ///< struct images; nullptr: defaults
    std::size_t stride = 0;             ///< bytes from one to the next; 0: one for all
    /// For types that are more than bytes: writes value i to a row, in the columns from `first_column` on.
    void (*write)(const void* context, Table& table, std::uint32_t first_column, std::uint32_t row,
                  std::size_t i) = nullptr;
    const void* context = nullptr;
};

/// A change of one component type of some entities. An open struct of views, as above.
struct ComponentChange {
    const Schema* component = nullptr;  ///< in the layout of the store
    bool removes = false;               ///< it is taken from them; otherwise they are given `values`
    bool is_disabled = false;           ///< the component is given disabled; Requires: Store::can_disable()
    AddedValues values{};
};

/// What Store::change() has done, also if it has failed after some of its changes.
struct ChangeCounts {
    std::uint32_t num_changed = 0;   ///< entities that have gained, lost or been set something
    std::uint32_t num_left_out = 0;  ///< values that entities could not have; a line in the log says why
    bool has_begun = false;          ///< something was changed
};

/// Whether a store can still refuse a change for which it was asked to make room.
enum class ChangePromise : std::uint8_t {
    kNone,       ///< it may
    kButMemory,  ///< only when memory runs out
    kKept,       ///< it cannot
};

/// Where a component of an entity lies. Lifetime: until the next structural call.
struct ComponentRow {
    const Schema* schema = nullptr;  ///< of the columns; nullptr: the store keeps no such component type in tables
    const Table* table = nullptr;    ///< nullptr: the entity has no such component
    std::uint32_t row = 0;
    std::uint32_t first_column = 0;  ///< where the columns of `schema` begin in the table
    bool is_enabled = true;          ///< false: the component is disabled for this entity

    /// Whether the entity has the component, enabled or disabled.
    explicit operator bool() const { return table != nullptr; }
};

class SHOAL_API Store {
public:
    Store() = default;
    Store(const Store&) = delete;
    Store& operator=(const Store&) = delete;
    virtual ~Store();

    /// What it is, for messages: "a manager", "the database".
    virtual std::string_view kind() const { return "a store"; }
    /// The component types that it takes. Lifetime: that of the store.
    virtual std::span<const Schema* const> schemas() const = 0;
    /// The component types that it shows queries beside those, such as what it computes. Lifetime: as above.
    virtual std::span<const Schema* const> shown_schemas() const { return {}; }
    /// Where queries find a component type that it takes, or shows beside those. Requires: of a type that it takes, the
    /// schema's layout is that of the store. Lifetime: that of the store.
    virtual OwnedColumns find_columns(const Schema&) { return {}; }

    /// Appends the tables with rows of a component type. Lifetime: until the next structural call.
    /// As it is here, it asks find_columns(), or else takes the tables whose schema is that of the component type.
    SHOAL_API virtual void list_tables(const Schema& component, Array<ComponentTable>& tables);

    /// Whether a field says in which zone an entity lies, because the zones are tiles.
    virtual bool is_place_of_tiles(ComponentId /*component*/, std::size_t /*field*/) const { return false; }

    /// Makes a further component type one of schemas(). Errors: the store does not take others; the schema differs from
    /// that of a type that it takes.
    SHOAL_API virtual Status take_component(const Schema& component);
    /// Whether it does nothing with components but keep them, so that a component type with a store of its own, such as
    /// a transform, would do nothing here.
    virtual bool only_keeps() const { return false; }
    /// Whether it has a bit per row, by which enableable components are enabled and disabled.
    virtual bool can_disable() const { return false; }
    /// The directory that the store is in, that of its world; nullptr: none. Thread: const calls.
    ComponentDirectory* component_directory() const { return component_directory_; }

    /// Gives living entities a component of one of schemas(), or of a type that the store shows beside these, or sets
    /// the one that they have, as commands ask for it. With `many` it gives a further one. Returns how many have it
    /// now: the store may leave out entities that cannot have the value, with a line in the log. Errors: no memory; the
    /// store does not take components in this way; `component` has another layout. Nothing has changed.
    virtual Result<std::uint32_t> add_values(const Schema& component, std::span<const Entity> entities,
                                             const AddedValues& values);
    /// Makes room for the add_values() that comes next, or for remove_values(), before a command changes other stores
    /// too. Returns whether the store cannot refuse it then: a store that does not say so is changed before the others.
    /// Errors: it would refuse; nothing has changed.
    virtual Result<bool> prepare_values(const Schema& component, std::span<const Entity> entities, bool removes);
    /// Takes one of several values from an entity: number `index`, whose row is `at`. Errors: no memory; the store
    /// takes no single value away, which takes_single_values() says before. Nothing has changed.
    virtual bool takes_single_values() const { return false; }
    SHOAL_API virtual Status remove_one_value(const Schema& component, Entity entity, const ComponentRow& at,
                                              std::uint32_t index);
    /// Takes it from them, and returns how many had it.
    virtual Result<std::uint32_t> remove_values(const Schema& component, std::span<const Entity> entities);

    /// Makes several changes of the same entities, in their order, and adds what was done to `counts`. As it is here,
    /// one after the other, by add_values() and remove_values(); a store overrides it that does better with all at
    /// once.
    /// Errors: as of these; what came before is done.
    SHOAL_API virtual Status change(std::span<const Entity> entities, std::span<const ComponentChange> changes,
                                    ChangeCounts& counts);
    /// Makes room for such a change(), before other stores are changed too, and says what can still be refused. Errors:
    /// it would refuse; nothing has changed. As it is here, it asks prepare_values().
    SHOAL_API virtual Result<ChangePromise> prepare_change(std::span<const Entity> entities,
                                                           std::span<const ComponentChange> changes);
    /// The same as change() for entities that were just made, which lie in `zone` if the store has zones; kNoZone: the
    /// store chooses. A store that keeps whole entities gives rows to entities without components, too.
    virtual Status insert_new(std::span<const Entity> entities, Zone, std::span<const ComponentChange> changes,
                              ChangeCounts& counts) {
        return change(entities, changes, counts);
    }
    /// Moves what entities have here to another zone, and returns how many it moved. Errors: no memory; nothing has
    /// changed.
    virtual Result<std::uint32_t> move_to_zone(std::span<const Entity>, Zone) { return 0u; }

    /// Adds a batch. Requires: the component type is one of schemas(), the columns fit its schema, entities live.
    /// Errors: no memory; then nothing is added.
    virtual Status spawn(const SpawnBatch& batch) = 0;
    /// A spawner calls these before and after the batches of one blob, which stay valid until then: a store that places
    /// an entity by all of its components may wait for the last batch. Errors: as above, for all of the batches.
    virtual void begin_spawn() {}
    virtual Status finish_spawn() { return {}; }
    /// Whether the store waits in that way, and keeps rows of entities without components. Then the spawner sends all
    /// of its batches when the first is due, and the rows are there when later component types of the spawn order are
    /// spawned.
    virtual bool places_whole_entities() const { return false; }

    /// Told when the loop of a query has ended that has written columns of a component type whose OwnedColumns say
    /// `is_source`. The columns were marked as written; rows stay where they are until the call returns. Shape: bit i
    /// of `columns` stands for column i of the table, so queries write no others; no row is named twice. `executor`: of
    /// the loop, or nullptr. Thread: that of the loop; nothing else uses the store.
    virtual void finish_writes(std::uint64_t columns, std::span<const std::uint32_t> rows, Executor* executor) {
        static_cast<void>(columns), static_cast<void>(rows), static_cast<void>(executor);
    }

    /// Removes everything that these entities have here, dead or alive; others are ignored.
    virtual void drop(std::span<const Entity> entities) = 0;
    /// Told of entities that commands have destroyed, of which `num_destroyed` lived, when the list of deaths had
    /// `deaths_before`: a store may remove their rows at once. As it is here, they go when it settles.
    virtual void drop_destroyed(std::span<const Entity>, std::uint64_t, std::uint32_t) {}

    /// Refuses structural calls from now on, because passes run, or allows them again with `false`.
    virtual void hold_rows(bool) {}
    /// Whether structural calls are refused now, by hold_rows() or while loops run. Thread: any.
    virtual bool is_held() const { return false; }
    /// Between passes: removes the rows of the dead as the store's policy says, gives memory back, opens a stamp.
    virtual void settle(const SettleContext& context) = 0;

    /// The tables with its rows, for reports, hashes and pictures; may be empty. Lifetime: until the next structural
    /// call.
    virtual std::span<const Table* const> tables() const = 0;

    /// Finds component number `index` of an entity in the tables: index 0 is the only one, or with `many` the first.
    /// This is the way from an entity to its columns that needs no C++ type. It says whether the component is
    /// enabled, but not whether the entity lives. For the null entity it only says what the columns hold, which may be
    /// more than the component: a transform has its world pose too. Total: any component type and any entity are fine.
    /// As it is here, it looks for a table whose schema is that of the component type. A store that keeps components in
    /// other ways overrides it.
    /// Thread: const calls. Cost: one look-up if the table has an index, otherwise O(rows); and a step per index.
    SHOAL_API virtual ComponentRow find_row(ComponentId component, Entity entity, std::uint32_t index) const;
    /// The same for who walks along all: `at` is what was found for index - 1. Cost: a step, or a look-up.
    SHOAL_API ComponentRow find_next(const ComponentRow& at, Entity entity, std::uint32_t index) const;
    /// Copies a field, or a part of one, of a row that find_row() returned. A store that keeps the fields in another
    /// form than columns overrides it. Shape: part.type.num_bytes(). Thread: const calls.
    SHOAL_API virtual void read_field(const ComponentRow& at, const FieldPart& part, std::byte* value) const;
    /// Writes a field, or a part of one, of a row that find_row() returned, and marks it as written. A store that keeps
    /// something derived from its fields overrides this and calls its own setters.
    /// Shape: part.type.num_bytes(). Errors: the store does not take the value; the message says why. Nothing has
    /// changed. Thread: as for the setters of the store, or as for writing to its table.
    SHOAL_API virtual Status write_field(const ComponentRow& at, const FieldPart& part, const std::byte* value);

    /// Writes all that the store keeps: rows in their order, and whatever decides what it does next. See
    /// state/snapshot.h; most stores forward to OwnedRows::save() and load().
    /// As it is here, it refuses, because it does not know what there is.
    SHOAL_API virtual void save(SnapshotWriter& to) const;
    /// Puts what save() wrote in place of what is there. The entity manager was loaded before. What is read may be
    /// false:
    /// it must do no harm. Errors: no memory, or it does not fit; the store is whole then, and has no rows.
    SHOAL_API virtual Status load(SnapshotReader& from);
    /// Called when all stores of the world are loaded, for what one tells another.
    virtual void finish_load() {}

    /// Adds whatever the tables do not show to a hash of the state.
    virtual std::uint64_t hash_beside_tables(std::uint64_t hash) const { return hash; }

    /// One entry per component type, in the order of schemas(). Writes at most `out.size()`; returns how many there
    /// are.
    virtual std::size_t statistics(std::span<StoreStatistics> out) const = 0;

protected:
    /// Takes the store out of its directory, for those whose end may call back: the base class does it last.
    SHOAL_API void leave_directory();
    /// Puts the store into a directory of its own, in which it is whenever it is in no other. `alone` ends with the
    /// store.
    SHOAL_API void begin_alone(ComponentDirectory& alone);

private:
    friend class ComponentDirectory;
    ComponentDirectory* component_directory_ = nullptr;
    ComponentDirectory* alone_in_ = nullptr;  // nullptr: it has no directory of its own
};

}  // namespace shoal
