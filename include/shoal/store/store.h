#pragma once
// A store keeps components, and chooses the table for each row. A component manager is a store with one table and an
// index; the database is a store with many tables. All stores share this one small interface; the spawner, the world
// and all reports use only this interface.
//
//     spawner  --SpawnBatch-->  store  --rows-->  tables  --statistics-->  reports
//
// Thread: structural calls (spawn, drop, settle) from one thread at a time, like calls to a world.

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

/// Means "no parent" or "no entity" in a blob.
inline constexpr std::uint32_t kNoBlobEntity = 0xFFFFFFFF;

/// The pose of a copy in the world: the copy is first scaled, then rotated, then moved.
struct RootPose {
    Vec3 position{};  ///< metres
    Quaternion rotation{};
    Vec3 scale = {1, 1, 1};
};

/// All components of one type in a blob. One call adds them to every copy.
/// An open struct of views: everything it refers to is valid only during the call.
struct SpawnBatch {
    ComponentId component;
    /// Shape: num_blob_entities x num_copies; blob entity `i` of copy `k` is entities[k * num_blob_entities + i].
    std::span<const Entity> entities;
    std::uint32_t num_blob_entities = 0;
    std::uint32_t num_copies = 1;
    /// The owner of each component in one copy, as a blob entity. Shape: one per component.
    /// An entity occurs more than once only if the schema is `many`.
    std::span<const std::uint32_t> entity_index;
    /// One column for each column of the store's schema, with the layout and the alignment that tables use. Shape:
    /// entity_index.size() elements each. Entity fields hold a blob entity, or have all bits set if they are empty. The
    /// blob entity is translated when the field is copied.
    std::span<const std::byte* const> columns;
    /// The parent of each blob entity, or kNoBlobEntity; empty if no entity has a parent. Parents come before children.
    std::span<const std::uint32_t> parents;
    /// The pose of each copy; only stores of poses use it. Entities without a posed parent are relative to the pose of
    /// their copy. Shape: num_copies, or empty if these entities are relative to the world.
    std::span<const RootPose> root_poses{};
    /// The zone that the source names for each blob entity or for one of its ancestors, or kNoZone. Only stores with
    /// zones use this. Shape: num_blob_entities, or empty if the source names no zones.
    std::span<const Zone> zones{};
    /// The blob entities whose component is disabled. Only stores with enableable components use this.
    std::span<const std::uint32_t> disabled{};

    /// The owner of component `i` in one copy.
    Entity owner(std::uint32_t copy, std::size_t i) const {
        return entities[std::size_t(copy) * num_blob_entities + entity_index[i]];
    }
    /// Translates the value of an Entity field, which is a blob entity, to the entity in one copy. Returns null if the
    /// field is empty.
    Entity translate(std::uint32_t copy, Entity stored) const {
        if (stored.id >= num_blob_entities) return kNullEntity;  // all bits are set
        return entities[std::size_t(copy) * num_blob_entities + static_cast<std::size_t>(stored.id)];
    }
};

/// Asserts what Store::spawn() requires of a batch whose components have this schema.
SHOAL_API void require_batch(const SpawnBatch& batch, const Schema& component);

/// Translates the Entity fields of rows that were copied from a batch. `first_column` is where the component's columns
/// begin in the table. Requires: the rows were just added, because this call does not mark them as written.
SHOAL_API void translate_entities(const SpawnBatch& batch, std::uint32_t copy, const Schema& component, Table& table,
                                  std::uint32_t first_column, RowRange rows);

/// The size of one component type in a store.
struct StoreStatistics {
    std::string_view component;  ///< Lifetime: the store
    std::uint64_t num_rows = 0;
    std::uint64_t num_dead_rows = 0;  ///< rows of entities that the store knows to be dead
    MemoryUse rows{};                 ///< the table
    MemoryUse index{};                ///< the index from entities to rows
};

/// What settling has done in all stores.
struct SettleCounts {
    // Counts of what commands have done (see commands.h).
    std::uint64_t num_created = 0;    ///< entities
    std::uint64_t num_destroyed = 0;  ///< entities
    std::uint64_t num_moved = 0;      ///< entities that moved to another zone, or gained or lost components
    std::uint64_t num_dropped = 0;    ///< commands that a store refused, or whose entity was dead

    std::uint64_t num_removed = 0;  ///< rows of dead entities

    SHOAL_API SettleCounts& operator+=(const SettleCounts& other);
};

/// What settling has done and how long it took. Schedule::statistics() has the times of passes, and Store::statistics()
/// has the sizes of component types; inspect/report.h prints all three.
struct SettleStatistics {
    std::uint64_t num_settles = 0;
    std::int64_t last_ns = 0;
    std::int64_t total_ns = 0;
    SettleCounts last{};
    SettleCounts total{};
};

/// What a store is given for settle().
struct SettleContext {
    Random* random = nullptr;        ///< the world's generator, seeded
    std::uint64_t stamp = 0;         ///< the stamp that writes get from now on; every settle increases it
    Executor* executor = nullptr;    ///< the world's executor; nullptr: the calling thread alone
    SettleCounts* counts = nullptr;  ///< the store adds its counts here; nullptr: nothing is counted
};

/// Where queries find the fields of a component type in a store that keeps all components of the type in one table.
struct OwnedColumns {
    OwnedRows* rows = nullptr;       ///< nullptr: the components are not kept, or not in one table
    std::uint32_t first_column = 0;  ///< where the columns of the component begin
    bool has_fields = true;          ///< false: the values of the fields are kept in another form
    bool is_read_only = false;       ///< the store computes the values, so queries must not write them
    bool is_source = false;          ///< the store derives data from the values, so it is notified when queries have
                                     ///< written them
    bool needs_parent = false;       ///< a row that is not linked to a parent does not have the component
    bool is_link = false;            ///< the component links two rows of the store, which must exist before it is added
    /// What to do instead of writing read-only columns, for messages: "link transforms with ...".
    std::string_view instead = "set what it is computed from, or call the store";

    explicit operator bool() const { return rows != nullptr; }
};

/// One of the tables that hold rows of a component type.
struct ComponentTable {
    const Table* table = nullptr;
    std::uint32_t first_column = 0;               ///< where the columns of the component begin
    bool has_fields = true;                       ///< false: the values of the fields are kept in another form
    const std::uint64_t* enabled_bits = nullptr;  ///< a bit per row, set if enabled; nullptr: all are enabled
    bool needs_parent = false;                    ///< a row that is not linked to a parent does not have the component
};

/// Values of one component type, for several entities. An open struct of views: everything it refers to outlives the
/// call.
struct AddedValues {
    const std::byte* images = nullptr;  ///< struct images; nullptr: defaults
    std::size_t stride = 0;             ///< bytes from one image to the next; 0: one image for all
    /// For types with opaque fields: writes value i to a row, in the columns from `first_column` on.
    void (*write)(const void* context, Table& table, std::uint32_t first_column, std::uint32_t row,
                  std::size_t i) = nullptr;
    const void* context = nullptr;
};

/// A change to one component type for some entities. An open struct of views, like AddedValues.
struct ComponentChange {
    const Schema* component = nullptr;  ///< in the store's layout
    bool removes = false;               ///< true: removes the component; false: adds or sets `values`
    bool is_disabled = false;           ///< adds the component disabled; Requires: Store::can_disable()
    AddedValues values{};
};

/// What Store::change() has done, even if it failed after some of its changes.
struct ChangeCounts {
    std::uint32_t num_changed = 0;   ///< entities that gained or lost a component, or whose component was set
    std::uint32_t num_left_out = 0;  ///< values that were not added; the log says why
    bool has_begun = false;          ///< whether something was changed
};

/// Whether a store may still refuse a change for which it has made room.
enum class ChangePromise : std::uint8_t {
    kNone,       ///< the store may refuse the change
    kButMemory,  ///< the store refuses the change only if memory runs out
    kKept,       ///< the store cannot refuse the change
};

/// Where an entity's component is. Lifetime: until the next structural call.
struct ComponentRow {
    const Schema* schema = nullptr;  ///< the schema of the columns; nullptr: the component type is not in tables
    const Table* table = nullptr;    ///< nullptr: the entity does not have the component
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

    /// The kind of store, for messages: "a manager", "the database".
    virtual std::string_view kind() const { return "a store"; }
    /// The component types that the store keeps. Lifetime: the store.
    virtual std::span<const Schema* const> schemas() const = 0;
    /// Component types that the store shows to queries but does not keep, such as computed types. Lifetime: the store.
    virtual std::span<const Schema* const> shown_schemas() const { return {}; }
    /// Returns where queries find a component type that the store keeps or shows. Requires: the schema has the store's
    /// layout, if the store keeps the type. Lifetime: the store.
    virtual OwnedColumns find_columns(const Schema&) { return {}; }

    /// Appends the tables that hold rows of a component type. Lifetime: until the next structural call.
    /// By default, uses find_columns(), or else appends the tables that have the component type's schema.
    SHOAL_API virtual void list_tables(const Schema& component, Array<ComponentTable>& tables);

    /// Whether zones are tiles and this field determines an entity's tile.
    virtual bool is_place_of_tiles(ComponentId /*component*/, std::size_t /*field*/) const { return false; }

    /// Adds a component type to schemas(). Errors: the store does not accept further types, or already keeps the type
    /// with a different schema.
    SHOAL_API virtual Status take_component(const Schema& component);
    /// Whether the store only keeps components, so that a component type that needs a dedicated store, such as a
    /// transform, would have no effect here.
    virtual bool only_keeps() const { return false; }
    /// Whether the store has a bit per row that enables and disables enableable components.
    virtual bool can_disable() const { return false; }
    /// Returns the directory that the store is in, such as its world's, or nullptr. Thread: const calls.
    ComponentDirectory* component_directory() const { return component_directory_; }

    /// For commands. Adds a component of a type in schemas() or shown_schemas() to living entities, or sets the
    /// component that they already have. With `many`, adds another value. Returns how many of the entities then have
    /// the component. The store may leave out entities that cannot have the value; it logs the reason. Errors: no
    /// memory; the store does not support this call; `component` has a different layout. On error, nothing has changed.
    virtual Result<std::uint32_t> add_values(const Schema& component, std::span<const Entity> entities,
                                             const AddedValues& values);
    /// Makes room for the next add_values() or remove_values() call, before a command changes several stores. Returns
    /// true if the store can no longer refuse that call. Stores that may still refuse are changed first. Errors: the
    /// store would refuse the change. On error, nothing has changed.
    virtual Result<bool> prepare_values(const Schema& component, std::span<const Entity> entities, bool removes);
    /// Whether remove_one_value() is supported. remove_one_value() removes value number `index` of an entity; `at` is
    /// the row of that value. Errors: out of memory, or not supported. On error, nothing has changed.
    virtual bool takes_single_values() const { return false; }
    SHOAL_API virtual Status remove_one_value(const Schema& component, Entity entity, const ComponentRow& at,
                                              std::uint32_t index);
    /// Removes a component from entities, and returns how many entities had it.
    virtual Result<std::uint32_t> remove_values(const Schema& component, std::span<const Entity> entities);

    /// Makes several changes to the same entities, in order, and adds the totals to `counts`. By default, calls
    /// add_values() or remove_values() for each change. Override this function if the store can combine the changes
    /// more efficiently. Errors: as for those calls. On error, the changes before the one that failed remain.
    SHOAL_API virtual Status change(std::span<const Entity> entities, std::span<const ComponentChange> changes,
                                    ChangeCounts& counts);
    /// Makes room for a change() with these arguments, before any store is changed. Returns whether the store may still
    /// refuse it. Errors: the store would refuse a change. On error, nothing has changed. By default, calls
    /// prepare_values().
    SHOAL_API virtual Result<ChangePromise> prepare_change(std::span<const Entity> entities,
                                                           std::span<const ComponentChange> changes);
    /// Like change(), but for new entities. A store with zones puts them into `zone`, or chooses a zone if `zone` is
    /// kNoZone. A store that keeps whole entities also gives rows to entities without components.
    virtual Status insert_new(std::span<const Entity> entities, Zone, std::span<const ComponentChange> changes,
                              ChangeCounts& counts) {
        return change(entities, changes, counts);
    }
    /// Moves the rows of entities to another zone, and returns how many rows were moved. Errors: out of memory. On
    /// error, nothing has changed.
    virtual Result<std::uint32_t> move_to_zone(std::span<const Entity>, Zone) { return 0u; }

    /// Adds a batch. Requires: the component type is one of schemas(), the columns fit its schema, and the entities are
    /// alive. Errors: out of memory. On error, nothing has been added.
    virtual Status spawn(const SpawnBatch& batch) = 0;
    /// A spawner calls these before and after the batches of one blob. The batches stay valid until finish_spawn(), so
    /// a store in which an entity's place depends on all its components may wait for the last batch. Errors: as for
    /// spawn() with any of the batches.
    virtual void begin_spawn() {}
    virtual Status finish_spawn() { return {}; }
    /// Whether the store waits for the last batch, and keeps rows even for entities without components. If so, the
    /// spawner passes it all of its batches as soon as the first one is due, so that the rows exist before component
    /// types that come later in the spawn order are spawned.
    virtual bool places_whole_entities() const { return false; }

    /// Called after a query's loop has written columns of a component type for which OwnedColumns::is_source is set.
    /// The columns are already marked as written, and rows do not move until the call returns. Shape: bit i of
    /// `columns` stands for column i of the table, so queries can write only the first 64 columns. `rows` has no
    /// duplicates. `executor` is the loop's executor, or nullptr. Thread: the loop's thread, while nothing else uses
    /// the store.
    virtual void finish_writes(std::uint64_t columns, std::span<const std::uint32_t> rows, Executor* executor) {
        static_cast<void>(columns), static_cast<void>(rows), static_cast<void>(executor);
    }

    /// Removes all components of these entities, which may be dead. Entities without components are ignored.
    virtual void drop(std::span<const Entity> entities) = 0;
    /// Called after commands have destroyed these entities, `num_destroyed` of which were alive. Before that, the list
    /// of deaths ended at `deaths_before`. A store may remove the rows of these entities immediately. By default, it
    /// removes them when it settles.
    virtual void drop_destroyed(std::span<const Entity>, std::uint64_t, std::uint32_t) {}

    /// With `true`, refuses structural calls, because passes are about to run. With `false`, allows them again.
    virtual void hold_rows(bool) {}
    /// Whether structural calls are currently refused, because of hold_rows() or a running loop. Thread: any.
    virtual bool is_held() const { return false; }
    /// Called between passes. Removes the rows of dead entities as the store's policy specifies, frees memory, and
    /// starts a new stamp.
    virtual void settle(const SettleContext& context) = 0;

    /// The tables with the store's rows, for reports, hashes and diagrams; may be empty. Lifetime: until the next
    /// structural call.
    virtual std::span<const Table* const> tables() const = 0;

    /// Finds an entity's component number `index` in the tables, for code without C++ types. Index 0 is the only
    /// component or, with `many`, the first. The result shows whether the component is enabled, but not whether the
    /// entity is alive. For the null entity, the result only describes the columns, which may hold more than the
    /// component: a transform also has its world pose. Total: any component type and any entity are valid. By default,
    /// looks for a table with the component type's schema. Override this if the store keeps components in another way.
    /// Thread: const calls. Cost: one look-up if the table has an index, otherwise O(rows); then `index` steps along
    /// the chain.
    SHOAL_API virtual ComponentRow find_row(ComponentId component, Entity entity, std::uint32_t index) const;
    /// Like find_row(), but faster when all components of an entity are visited in order: `at` is the result for the
    /// previous index. Cost: a step, or a look-up.
    SHOAL_API ComponentRow find_next(const ComponentRow& at, Entity entity, std::uint32_t index) const;
    /// Copies a field, or part of a field, from a row that find_row() returned. Override this if the store does not
    /// keep the fields in columns. Shape: part.type.num_bytes(). Thread: const calls.
    SHOAL_API virtual void read_field(const ComponentRow& at, const FieldPart& part, std::byte* value) const;
    /// Writes a field, or part of a field, in a row that find_row() returned, and marks the field as written. A store
    /// that derives data from its fields overrides this and calls its own setters.
    /// Shape: part.type.num_bytes(). Errors: the store does not accept the value. The message says why. On error,
    /// nothing has changed. Thread: as for the store's setters, or as for writing to its table.
    SHOAL_API virtual Status write_field(const ComponentRow& at, const FieldPart& part, const std::byte* value);

    /// Writes everything that the store keeps: rows in their order, and any other state that affects later calls. See
    /// state/snapshot.h; most stores forward to OwnedRows::save() and load().
    /// By default, refuses to save, because the base class does not know what the store keeps.
    SHOAL_API virtual void save(SnapshotWriter& to) const;
    /// Replaces the contents with what save() wrote. The entity manager has already been loaded. Corrupt data must do
    /// no harm. Errors: out of memory, or the data does not fit. On error, the store is consistent and has no rows.
    SHOAL_API virtual Status load(SnapshotReader& from);
    /// Called after all of the world's stores have been loaded, to restore data that stores exchange.
    virtual void finish_load() {}

    /// Extends a state hash with state that is not in the tables.
    virtual std::uint64_t hash_beside_tables(std::uint64_t hash) const { return hash; }

    /// Writes one entry per component type, in the order of schemas(), but at most out.size() entries. Returns the
    /// number of component types.
    virtual std::size_t statistics(std::span<StoreStatistics> out) const = 0;

protected:
    /// Removes the store from its directory. For destructors that may run callbacks: ~Store() would remove the store
    /// too late.
    SHOAL_API void leave_directory();
    /// Gives the store its own directory, which it uses whenever it is not in another directory. Requires: `alone`
    /// lives as long as the store.
    SHOAL_API void begin_alone(ComponentDirectory& alone);

private:
    friend class ComponentDirectory;
    ComponentDirectory* component_directory_ = nullptr;
    ComponentDirectory* alone_in_ = nullptr;  // nullptr: the store does not have its own directory
};

}  // namespace shoal
