#pragma once
// A component manager is a store for one component type: one table, one index from entity to row, and a policy for
// death. This is the type-erased core; manager.h puts a typed face on it.
//
//     entity --index--> row 0..n-1 --table--> columns
//
// An entity has one component here, or, when the schema says `many`, a chain of them. Rows are packed: an Instance
// (a row) is valid until the next structural call, an Entity for ever.
//
// Death of an entity, by policy:
//     at settle       rows go when the world settles, from the entity manager's list of deaths (the default)
//     by callback     rows go inside EntityManager::destroy: for components that hold what must be given back at once
//     random probe    settle looks at random rows until four in a row live: cost almost nothing when few die
// Thread: structural calls from the world's structural thread; const calls from any thread between passes.

#include "shoal/entity/entity_manager.h"
#include "shoal/store/store.h"
#include "shoal/table/table.h"

namespace shoal {

enum class DeathPolicy : std::uint8_t { kAtSettle, kByCallback, kRandomProbe };

struct ManagerOptions {
    RowIndexKind index = RowIndexKind::kPaged;
    DeathPolicy death = DeathPolicy::kAtSettle;
    std::uint32_t max_collected = 0xFFFFFFFF;  ///< random probe: rows removed per settle at most
    std::uint32_t capacity_rows = kDefaultCapacityRows;
};

/// A row of a manager. Lifetime: until the manager's next structural call.
struct Instance {
    std::uint32_t row = kNilRow;

    bool is_nil() const { return row == kNilRow; }
    explicit operator bool() const { return row != kNilRow; }
    friend bool operator==(Instance, Instance) = default;
};
inline constexpr Instance kNilInstance{};

/// What became of the entities of a span.
struct AddCounts {
    std::uint32_t num_added = 0;
    std::uint32_t num_set = 0;      ///< had the component already, or occurred twice: the value was replaced
    std::uint32_t num_skipped = 0;  ///< not alive
};

struct CollectCounts {
    std::uint32_t num_probes = 0;
    std::uint32_t num_removed = 0;
};

/// Gives rows their values: row rows.begin + k gets the value meant for entity `first_source + k` of the span.
using FillRows = void (*)(void* context, Table& table, RowRange rows, std::size_t first_source);

class ComponentManager final : public Store {
public:
    /// `entities` and `pool` outlive the manager. Requires: `many` needs a paged or hash index.
    SHOAL_API ComponentManager(const Schema& schema, EntityManager& entities, PagePool& pool,
                               const ManagerOptions& options = {});
    SHOAL_API ~ComponentManager() override;
    ComponentManager(const ComponentManager&) = delete;
    ComponentManager& operator=(const ComponentManager&) = delete;

    const Schema& schema() const { return schema_; }
    const ManagerOptions& options() const { return options_; }
    EntityManager& entity_manager() { return entities_; }
    const EntityManager& entity_manager() const { return entities_; }

    /// Adds a component to each living entity. Where there is one already it is set instead, unless the schema says
    /// `many`. Errors: no memory or the capacity is reached (an entity that occurs twice may need room twice); nothing
    /// has changed.
    SHOAL_API Result<AddCounts> add(std::span<const Entity> entities, FillRows fill, void* context);
    /// The same with values as struct images. Shape: one image per entity, or a single one for all with stride 0.
    SHOAL_API Result<AddCounts> add_images(std::span<const Entity> entities, const std::byte* images,
                                           std::size_t stride);

    /// Removes all components of these entities and returns how many rows went. Others are skipped.
    SHOAL_API std::uint32_t remove(std::span<const Entity> entities);
    /// Removes one instance. Requires: it is not nil.
    SHOAL_API void remove(Instance instance);
    /// Removes everything and keeps the memory.
    SHOAL_API void clear();

    /// Returns the (first) instance of `entity`, or the nil instance. Total: any id is fine.
    Instance instance(Entity entity) const { return {index_.find(entity)}; }
    bool has(Entity entity) const { return index_.find(entity) != kNilRow; }
    /// Returns the next instance of the same entity, or the nil instance. The newest comes first; spawned ones are in
    /// source order.
    Instance next(Instance instance) const {
        if (!schema_.many()) return {};
        SHOAL_ASSERT(instance.row < table_.num_rows(), "the instance is nil or was removed");
        return {table_.links(LinkColumn::kChainNext)[instance.row]};
    }
    Entity entity(Instance instance) const {
        SHOAL_ASSERT(instance.row < table_.num_rows(), "the instance is nil or was removed");
        return table_.entities()[instance.row];
    }

    /// Rows of the columns: with an identity index holes, whose entity is null, are among them.
    std::uint32_t num_rows() const { return table_.num_rows(); }
    /// Components, without holes.
    std::uint32_t num_components() const { return table_.num_rows() - table_.num_holes(); }
    /// Grows with every row that is added, removed or moved: while it stays, what was derived from rows holds.
    std::uint64_t num_structural_changes() const { return num_structural_changes_; }

    /// Removes rows of dead entities, found by random probes, until four in a row live or `max_removed` went.
    /// Cost: four probes when nobody died, none when empty. Source: Frykholm, part 2.
    SHOAL_API CollectCounts collect(Random& random, std::uint32_t max_removed);

    Table& table() { return table_; }
    const Table& table() const { return table_; }
    RowIndex& index() { return index_; }
    const RowIndex& index() const { return index_; }
    /// Checks the table, its index and the count of holes.
    SHOAL_API Status validate() const;

    /// Appends one row for a living entity that has none, when neither table nor index needs memory; else returns
    /// kNilRow. For Manager<T>::add of one.
    SHOAL_INLINE std::uint32_t try_append(Entity entity) {
        require_unlocked();
        if (SHOAL_UNLIKELY(!plain_index_ || !table_.has_room() || !entities_.alive(entity))) return kNilRow;
        EntityBits* const entry = index_.free_entry(entity);
        if (SHOAL_UNLIKELY(entry == nullptr)) return kNilRow;
        const std::uint32_t row = table_.append_one(entity);
        ++num_structural_changes_;
        *entry = RowIndex::entry_of(entity, row);
        return row;
    }
    /// Whether remove_plain() may be called.
    bool has_plain_rows() const { return table_.is_packed(); }
    /// Removes the row of an entity if it has one. For Manager<T>::remove of one, which copies rows by type.
    template <class CopyRow>
    SHOAL_INLINE bool remove_plain(Entity entity, CopyRow&& copy_row) {
        require_unlocked();
        const bool removed = table_.remove_owned(entity, copy_row);
        num_structural_changes_ += removed;
        return removed;
    }

    // Store
    std::span<const Schema* const> schemas() const override { return {&schema_pointer_, 1}; }
    SHOAL_API Status spawn(const SpawnBatch& batch) override;
    void drop(std::span<const Entity> entities) override { remove(entities); }
    SHOAL_API void settle(const SettleContext& context) override;
    std::span<const Table* const> tables() const override { return {&table_pointer_, 1}; }
    SHOAL_API std::size_t statistics(std::span<StoreStatistics> out) const override;

private:
    struct Run;

    friend class RowLock;

    void require_unlocked() const {
        SHOAL_ASSERT(num_locks_ == 0, "components came or went while a loop ran over them; do it when it has ended");
    }
    Status reserve(std::span<const Entity> entities);
    Status reserve_rows(std::size_t count, std::uint32_t highest);
    std::uint32_t place_leading(std::span<const Entity> entities);
    bool place_run(std::span<const Entity> entities, std::uint32_t first_row);
    void remove_stale(Entity entity);
    void remove_row(std::uint32_t row);
    std::uint32_t place(Entity entity);
    void remove_deaths(const DeathRange& dead);
    bool is_free(std::uint32_t lowest_index, std::uint32_t highest_index) const;
    void require_batch(const SpawnBatch& batch) const;
    Status make_room(const SpawnBatch& batch, std::uint32_t highest_index);
    void spawn_packed(const SpawnBatch& batch);
    void place_copy(const SpawnBatch& batch, std::uint32_t copy, RowRange rows, Entity* owners);
    void spawn_in_place(const SpawnBatch& batch);
    void translate_entities(const SpawnBatch& batch, RowRange rows, std::uint32_t copy);

    Schema schema_;
    const Schema* schema_pointer_ = &schema_;
    EntityManager& entities_;
    ManagerOptions options_;
    RowIndex index_;
    Table table_;
    const Table* table_pointer_ = &table_;
    DeathCursor cursor_;
    DestructionCallback callback_;
    std::uint32_t num_locks_ = 0;
    std::uint64_t num_structural_changes_ = 0;
    bool plain_index_ = false;  // paged, one per entity
};

/// Keeps the rows of managers where they are: while it lives, structural calls end the program.
/// Thread: any; locks may lie within each other and side by side.
class RowLock {
public:
    explicit RowLock(std::span<ComponentManager* const> managers) : managers_(managers) {
        for (ComponentManager* manager : managers_) __atomic_fetch_add(&manager->num_locks_, 1u, __ATOMIC_RELAXED);
    }
    RowLock(const RowLock&) = delete;
    RowLock& operator=(const RowLock&) = delete;
    ~RowLock() {
        for (ComponentManager* manager : managers_) __atomic_fetch_sub(&manager->num_locks_, 1u, __ATOMIC_RELAXED);
    }

private:
    std::span<ComponentManager* const> managers_;
};

}  // namespace shoal
