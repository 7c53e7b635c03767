#pragma once
// A building block for stores, holding the rows that entities own: a table, the index from an entity to its row, and a
// policy for dead entities. Adding, spawning, removing and settling keep the table and the index consistent.
//
//     entity --index--> row 0..n-1 --table--> columns
//        |                 ^
//        `---- deaths -----'
//
// When an entity dies, the policy determines when its rows are removed:
//     at settle       when the world settles, from the entity manager's list of deaths (the default)
//     by callback     inside EntityManager::destroy: for components whose resources must be released immediately
//     random probe    when the world settles: looks at random rows until four looks in succession find living owners.
//                     Costs almost nothing when few entities die
//
// A ComponentManager is a store that consists only of an OwnedRows. A store that keeps more (links between rows, a
// block in another table, a sum) holds an OwnedRows as a member and forwards the functions of Store to it, as
// OwnershipManager, TransformManager, ModelPoseManager and examples/06_own_manager.cpp do. If a store must remove other
// data together with its rows, it sets OwnedRowsOptions::remove_dead and itself removes both.
//
// Rows are packed, and each row belongs to one entity; if the schema is `many`, an entity has a chain of rows. With an
// identity index, the row number is the entity's index, and some rows may be holes, which have no owner.
// Thread: structural calls from the world's structural thread; const calls from any thread between passes. While a loop
// over the rows (see RowLock) or a world's passes are running, a structural call ends the program.

#include "shoal/entity/entity_manager.h"
#include "shoal/store/store.h"
#include "shoal/table/detail/table.h"

namespace shoal {

class OwnersByValue;

enum class DeathPolicy : std::uint8_t { kAtSettle, kByCallback, kRandomProbe };

/// A row of a store. Lifetime: until the store's next structural call; checked builds detect the use of an older row.
struct Instance {
    std::uint32_t row = kNilRow;
    [[no_unique_address]] detail::KnownRow known{};  ///< empty in unchecked builds

    bool is_nil() const { return row == kNilRow; }
    explicit operator bool() const { return row != kNilRow; }
    friend bool operator==(Instance a, Instance b) { return a.row == b.row; }
};
inline constexpr Instance kNilInstance{};

/// What add() did for the entities in a span.
struct AddCounts {
    std::uint32_t num_added = 0;
    std::uint32_t num_set = 0;      ///< entities that had a row, or occurred twice, and whose value was replaced
    std::uint32_t num_skipped = 0;  ///< entities that are not alive
};

struct CollectCounts {
    std::uint32_t num_probes = 0;
    std::uint32_t num_removed = 0;
};

/// Writes values to rows: row rows.begin + k gets the value for entity number `first_source + k` in the span.
using FillRows = void (*)(void* context, Table& table, RowRange rows, std::size_t first_source);

/// Removes the rows of the dead entities among `entities`, and everything else that the store keeps for them. Some of
/// the entities may have no row.
using RemoveDead = void (*)(void* store, std::span<const Entity> entities);

struct OwnedRowsOptions {
    RowIndexKind index = RowIndexKind::kPaged;
    DeathPolicy death = DeathPolicy::kAtSettle;
    std::uint32_t max_collected = 0xFFFFFFFF;  ///< with random probes: a settle removes at most this many rows
    std::uint32_t capacity_rows = kDefaultCapacityRows;
    /// The schema of the table if it differs from the component's schema. It outlives the rows. spawn() and
    /// append_batch() require that the component's columns come first.
    const Schema* row_schema = nullptr;
    bool tree = false;                 ///< rows link to parents, children and siblings
    RemoveDead remove_dead = nullptr;  ///< nullptr: only the rows are removed. Requires: no random probes
    bool follows_deaths = true;        ///< false: the store itself removes rows of dead entities and never settles
    void* store = nullptr;             ///< the first argument of remove_dead
    const char* kind = "a store";      ///< Store::kind() of the store
};

class OwnedRows {
public:
    /// Requires: `entities` and `pool` outlive the rows; with `many`, the index is paged or hash.
    SHOAL_API OwnedRows(const Schema& component, EntityManager& entities, PagePool& pool,
                        const OwnedRowsOptions& options = {});
    SHOAL_API ~OwnedRows();
    OwnedRows(const OwnedRows&) = delete;
    OwnedRows& operator=(const OwnedRows&) = delete;

    /// The schema of the component; the table may hold more columns.
    const Schema& schema() const { return schema_; }
    const OwnedRowsOptions& options() const { return options_; }
    EntityManager& entity_manager() { return entities_; }
    const EntityManager& entity_manager() const { return entities_; }
    Table& table() { return table_; }
    const Table& table() const { return table_; }
    const RowIndex& index() const { return index_; }

    // --- look-up -------------------------------------------------------------------------------------------------

    /// Returns the (first) row of `entity`, or kNilRow. Total: any id is valid.
    std::uint32_t find(Entity entity) const { return index_.find(entity); }
    bool has(Entity entity) const { return index_.find(entity) != kNilRow; }
    /// Whether an entity with a row is dead. Cost: one comparison, unless entities have died since dead rows were last
    /// removed.
    SHOAL_INLINE bool is_dead(Entity entity) const {
        return SHOAL_UNLIKELY(entities_.deaths_end() != deaths_seen_) && !entities_.alive_between_changes(entity);
    }
    Entity owner(Instance instance) const {
        require(instance);
        return table_.entities()[instance.row];
    }
    /// Ends the program if the instance is nil, or if a structural call has made it invalid.
    void require(Instance instance) const {
        if (SHOAL_UNLIKELY(instance.row >= table_.num_rows() || !instance.known.is_right_for(table_.row_versions())))
            refuse_row(instance);
    }
    Instance instance_at(std::uint32_t row) const { return {row, detail::KnownRow(table_.row_versions())}; }
    Instance instance(Entity entity) const { return instance_at(find(entity)); }
    /// The number of rows, including the holes.
    std::uint32_t num_rows() const { return table_.num_rows(); }
    /// The number of rows without the holes.
    std::uint32_t num_owned() const { return table_.num_rows() - table_.num_holes(); }
    /// Increases when a call to this class adds, removes or moves rows. While it stays the same, data derived from rows
    /// is valid.
    std::uint64_t num_structural_changes() const { return num_structural_changes_; }
    /// Returns the owners grouped by the value of their string id (see owners_by_value.h). The first call creates the
    /// object. Requires: the component has one field, which is a string id. Thread: any, between structural calls.
    SHOAL_API OwnersByValue& owners_by_value();

    // --- adding --------------------------------------------------------------------------------------------------

    /// Gives each living entity a row with the value that `fill` writes. If an entity already has a row, its value is
    /// set instead, unless the schema is `many`. Errors: out of memory, or the capacity is reached (an entity that
    /// occurs twice may need room twice). On error, nothing has changed.
    SHOAL_API Result<AddCounts> add(std::span<const Entity> entities, FillRows fill, void* context);

    /// Makes room for adding these entities. Errors: as for add().
    SHOAL_API Status reserve_for(std::span<const Entity> entities);
    /// Implements Store::prepare_values() for a store whose rows are the only thing that commands change.
    SHOAL_API Result<bool> prepare_values(std::span<const Entity> entities, bool removes);

    /// Gives each living entity a row with one of these values or, if it already has a row, sets its value: see
    /// Store::add_values().
    SHOAL_API Result<std::uint32_t> add_values(const Schema& component, std::span<const Entity> entities,
                                               const AddedValues& values);

    /// Makes room for `count` more rows, for entities with indices up to `highest_index`. Errors: as for add().
    SHOAL_API Status reserve(std::size_t count, std::uint32_t highest_index);
    /// Makes room for `count` more rows, for entities that are alive or are created next.
    SHOAL_API Status reserve(std::size_t count);
    /// Gives a row to a living entity that has none, and returns the row; with `many`, adds a row before its other
    /// rows. Elements hold arbitrary bytes until the caller fills them. Requires: room is reserved, and remove_stale()
    /// has been called for the entity.
    SHOAL_API std::uint32_t append(Entity entity);
    /// If all entities are alive and none of their indices has a row, gives each a row, in the order of the span.
    /// Otherwise returns false and changes nothing. Requires: room is reserved, the index is paged, and the schema is
    /// not `many`.
    SHOAL_API bool append_all(std::span<const Entity> entities);
    /// Appends a row for an entity. Returns kNilRow if the entity is dead or already has a row, or if there is no
    /// reserved room.
    SHOAL_INLINE std::uint32_t try_append(Entity entity) {
        require_unlocked("add()");
        if (SHOAL_UNLIKELY(!plain_index_ || !table_.has_room() || !entities_.alive(entity))) return kNilRow;
        EntityBits* const entry = index_.free_entry(entity);
        if (SHOAL_UNLIKELY(entry == nullptr)) return kNilRow;
        const std::uint32_t row = table_.append_one(entity);
        ++num_structural_changes_;
        *entry = RowIndex::entry_of(entity, row);
        return row;
    }

    // --- spawning ------------------------------------------------------------------------------------------------

    /// Adds a batch: see Store::spawn.
    SHOAL_API Status spawn(const SpawnBatch& batch);
    /// The first half of spawn(): asserts what Store::spawn requires, removes rows that older entities with the same
    /// indices have left behind, and makes room. Errors: an owner already has a row; no memory. On error, no row is
    /// added.
    SHOAL_API Status reserve_batch(const SpawnBatch& batch);
    /// The second half of spawn(): for each copy in turn, adds one row per component. A row gets its owner, its values,
    /// and references to the entities of its own copy. Requires: reserve_batch() has succeeded, and the index is not an
    /// identity index.
    SHOAL_API RowRange append_batch(const SpawnBatch& batch);

    /// Shows rows in a store's own memory instead of the previously shown rows, and indexes them. For stores in
    /// plugins. Rows with a new owner are marked as written. Afterwards, no other call to this class may add or remove
    /// rows, so OwnedRowsOptions::remove_dead must be set.
    /// Shape: `owners` and `next` are indexed by row; for `columns`, see Table::show(). `next` holds the next row of
    /// the same entity; it is empty unless the schema is `many`. Errors: out of memory for the index; an entity has two
    /// rows, unless the schema is `many`; a row has no owner; the rows of an entity are not one chain. On error, no row
    /// is shown.
    /// Lifetime of `owners` and `columns`: until the next show(). Cost: compares the owners; with `many`, writes all
    /// links.
    SHOAL_API Status show(std::span<Entity> owners, std::span<std::byte* const> columns,
                          std::span<const std::uint32_t> next);

    // --- removing ------------------------------------------------------------------------------------------------

    /// Removes all rows of these entities and returns how many rows were removed. Entities without a row are skipped.
    /// The span may be the owners column of this table.
    SHOAL_API std::uint32_t remove(std::span<const Entity> entities);
    SHOAL_API void remove_row(std::uint32_t row);
    /// Removes rows that an older entity with the same index as `entity` has left behind. Returns whether `entity`
    /// itself has a row.
    SHOAL_API bool remove_stale(Entity entity);
    /// Removes all rows but keeps the memory.
    SHOAL_API void clear();
    /// Whether remove_plain() may be called.
    bool has_plain_rows() const { return table_.is_packed(); }
    /// Removes the row of an entity if it has one. copy_row(to, from) must copy the elements of row `from` to row `to`.
    template <class CopyRow>
    SHOAL_INLINE bool remove_plain(Entity entity, CopyRow&& copy_row) {
        require_unlocked("remove()");
        if (!table_.remove_owned(entity, copy_row)) return false;
        ++num_structural_changes_;
        return true;
    }

    // --- dead entities and settling ------------------------------------------------------------------------------

    /// Removes the rows of dead entities according to the policy, and settles the table: see Store::settle().
    void settle(const SettleContext& context) {
        remove_dead(context);
        settle_table(context);
    }
    /// The first half of settle().
    void remove_dead(const SettleContext& context) {
        require_unlocked("settle()");
        const bool is_at_settle = options_.death == DeathPolicy::kAtSettle;
        if (!is_at_settle || entities_.death_position(cursor_) != entities_.deaths_end()) remove_by_policy(context);
    }
    /// The second half of settle(): frees memory and starts a new stamp.
    SHOAL_API void settle_table(const SettleContext& context);
    /// Removes all rows, frees all memory and stops following deaths. For a replaced store to which paths and queries
    /// may still refer.
    SHOAL_API void retire();
    /// Probes random rows and removes those of dead entities. Stops after four consecutive probes have found living
    /// entities, or after `max_removed` rows have been removed.
    /// Cost: four probes if no entity has died, and none if there are no rows; holes are not probed. Source: Frykholm,
    /// part 2.
    SHOAL_API CollectCounts collect(Random& random, std::uint32_t max_removed);

    // --- saving --------------------------------------------------------------------------------------------------

    /// Writes all rows, and the position in the list of deaths.
    SHOAL_API void save(SnapshotWriter& to) const;
    /// Replaces all rows with the rows that save() wrote. Errors: out of memory, or the data does not fit. On error, no
    /// rows are left. Requires: the entity manager has been loaded, and the rows are in this object's own memory (see
    /// show()).
    SHOAL_API Status load(SnapshotReader& from);

    // --- locks ---------------------------------------------------------------------------------------------------

    /// Until unlock(), structural calls end the program. Locks are counted. Thread: any.
    void lock() { __atomic_fetch_add(&num_locks_, 1u, __ATOMIC_RELAXED); }
    void unlock() { __atomic_fetch_sub(&num_locks_, 1u, __ATOMIC_RELAXED); }
    /// Locks the rows before passes run, or unlocks them afterwards: see Store::hold_rows().
    void hold(bool hold) { __atomic_fetch_add(&num_locks_, hold ? kPassesRun : 0u - kPassesRun, __ATOMIC_RELAXED); }
    /// Whether rows are locked or held. Thread: any.
    bool is_held() const { return __atomic_load_n(&num_locks_, __ATOMIC_RELAXED) != 0; }
    /// Asserts that no loop is running over the rows. For calls that move rows and are allowed in passes.
    /// `call` is the name of the call, for the message.
    SHOAL_API void require_no_loop(const char* call) const;
    /// Asserts that rows may be added and removed now. For a store's structural calls that bypass this class.
    void require_unlocked(const char* call) const {
        if (SHOAL_UNLIKELY(is_held())) refuse_change(call);
    }

    // --- reports -------------------------------------------------------------------------------------------------

    /// Implement the Store functions with the same names.
    SHOAL_API std::span<const Schema* const> schemas() const;
    SHOAL_API OwnedColumns find_columns(const Schema& component);
    SHOAL_API std::span<const Table* const> tables() const;
    SHOAL_API std::size_t statistics(std::span<StoreStatistics> out) const;
    /// Checks the table, its index and the numbers of owned rows.
    SHOAL_API Status validate() const;

private:
    struct FilledRows;
    struct Shown;

    static constexpr std::uint32_t kPassesRun = 1u << 16;
    static constexpr std::uint64_t kUnknown = ~std::uint64_t(0);

    [[noreturn]] SHOAL_API SHOAL_NOINLINE void refuse_change(const char* call) const;
    [[noreturn]] SHOAL_API SHOAL_NOINLINE void refuse_row(Instance instance) const;
    std::uint32_t place_leading(std::span<const Entity> entities);
    std::uint32_t remove_owned(std::span<const Entity> entities, const EntityManager* spared);
    SHOAL_API void remove_by_policy(const SettleContext& context);
    void remove_listed_deaths();
    void stop_following_deaths();
    void remove_all_dead();
    void remove_before_reuse();
    std::uint32_t draw_row(Random& random);
    void count_owned();
    void forget_shown();
    Status find_shown(std::span<const Entity> owners, std::span<const std::uint32_t> next);
    Status index_loaded(SnapshotReader& from);
    Status require_free(const SpawnBatch& batch);
    void place_owners(const SpawnBatch& batch, std::uint32_t copy, RowRange rows, Entity* owners);
    void spawn_in_place(const SpawnBatch& batch);

    Schema schema_;
    const Schema* schema_pointer_ = &schema_;
    EntityManager& entities_;
    OwnedRowsOptions options_;
    RowIndex index_;
    Table table_;
    const Table* table_pointer_ = &table_;
    DeathCursor cursor_;
    DestructionCallback callback_;
    std::uint64_t deaths_seen_ = kUnknown;  // when deaths_end() is this, no row has a dead owner; kUnknown: never
    std::uint64_t removed_all_at_ = 0;  // with random probes: the number of deaths when all dead rows were last removed
    std::uint32_t num_locks_ = 0;       // one for each loop, and kPassesRun for each world whose passes are running
    std::uint64_t num_structural_changes_ = 0;
    bool plain_index_ = false;                                // the index is paged, and there is one row per entity
    Array<std::uint32_t> num_owned_in_{Owner("owned rows")};  // per block of rows, as of counted_at_
    std::uint64_t counted_at_ = ~std::uint64_t(0);
    PagePool& pool_;
    OwnersByValue* owners_by_value_ = nullptr;
    Shown* shown_ = nullptr;  // nullptr: the rows are in this object's own memory
};

/// Keeps the rows of stores in place: while a lock exists, a structural call ends the program. Lifetime: `locked`
/// outlives the lock. Thread: any; locks may be nested and may overlap.
class RowLock {
public:
    explicit RowLock(std::span<OwnedRows* const> locked) : RowLock(locked.data(), locked.size()) {}
    RowLock(OwnedRows* const* locked, std::size_t num_locked) : locked_(locked), num_locked_(num_locked) {
        for (std::size_t i = 0; i < num_locked_; ++i) locked_[i]->lock();
    }
    RowLock(const RowLock&) = delete;
    RowLock& operator=(const RowLock&) = delete;
    ~RowLock() {
        for (std::size_t i = 0; i < num_locked_; ++i) locked_[i]->unlock();
    }

private:
    OwnedRows* const* locked_;
    std::size_t num_locked_;
};

}  // namespace shoal
