#pragma once
// A component manager is a store for one component type. It has one table, one index from entities to rows, and a
// policy for dead entities. This is the type-erased core; manager.h adds a typed interface.
//
//     entity --index--> row 0..n-1 --table--> columns
//
// An entity has one component here or, if the schema is `many`, a chain of components. Rows are packed: an Instance (a
// row) is valid only until the next structural call. owned_rows.h explains how rows are added and removed, and what
// happens to rows when entities die.
// Thread: structural calls from the world's structural thread; const calls from any thread between passes.

#include "shoal/store/detail/owned_rows.h"

namespace shoal {

struct ManagerOptions {
    RowIndexKind index = RowIndexKind::kPaged;
    DeathPolicy death = DeathPolicy::kAtSettle;
    std::uint32_t max_collected = 0xFFFFFFFF;  ///< with random probes: a settle removes at most this many rows
    std::uint32_t capacity_rows = kDefaultCapacityRows;
};

class ComponentManager final : public Store {
public:
    /// Requires: `entities` and `pool` outlive the manager; with `many`, the index is paged or hash.
    SHOAL_API ComponentManager(const Schema& schema, EntityManager& entities, PagePool& pool,
                               const ManagerOptions& options = {});
    SHOAL_API ~ComponentManager() override;

    const Schema& schema() const { return rows_.schema(); }
    EntityManager& entity_manager() { return rows_.entity_manager(); }
    const EntityManager& entity_manager() const { return rows_.entity_manager(); }

    /// Adds a component to each living entity. If an entity already has one, its value is set instead, unless the
    /// schema is `many`. Errors: out of memory, or the capacity is reached (an entity that occurs twice may need room
    /// twice). On error, nothing has changed.
    Result<AddCounts> add(std::span<const Entity> entities, FillRows fill, void* context) {
        return rows_.add(entities, fill, context);
    }
    /// Like add(), but copies the values from struct images. Shape: one image per entity or, with stride 0, a single
    /// image for all entities.
    SHOAL_API Result<AddCounts> add_images(std::span<const Entity> entities, const std::byte* images,
                                           std::size_t stride);

    /// Makes room for `count` more components, for entities that are alive or are created next. Errors: out of memory,
    /// or the capacity is reached. On error, nothing has changed.
    Status reserve(std::size_t count) { return rows_.reserve(count); }

    /// Removes all components of these entities and returns how many rows were removed. Entities without components are
    /// skipped.
    std::uint32_t remove(std::span<const Entity> entities) { return rows_.remove(entities); }
    /// Removes one instance. Requires: the instance is not nil.
    SHOAL_API void remove(Instance instance);
    /// Removes all components but keeps the memory.
    void clear() { rows_.clear(); }

    /// Returns the (first) instance of `entity`, or the nil instance. Total: any id is valid.
    Instance instance(Entity entity) const { return rows_.instance(entity); }
    bool has(Entity entity) const { return rows_.has(entity); }
    /// Returns the next instance of the same entity, or the nil instance. The newest instance comes first; spawned
    /// instances are in source order.
    Instance next(Instance instance) const {
        if (!schema().many()) return {};
        rows_.require(instance);
        return rows_.instance_at(table().links(LinkColumn::kChainNext)[instance.row]);
    }
    Entity entity(Instance instance) const { return rows_.owner(instance); }

    /// The number of rows in each column. With an identity index, some rows are holes, whose entity is null.
    std::uint32_t num_rows() const { return rows_.num_rows(); }
    /// The number of components, which is the number of rows that are not holes.
    std::uint32_t num_components() const { return rows_.num_owned(); }
    /// Increases when rows are added, removed or moved. While it stays the same, data derived from rows is valid.
    std::uint64_t num_structural_changes() const { return rows_.num_structural_changes(); }

    /// Probes random rows and removes those of dead entities: see OwnedRows::collect().
    CollectCounts collect(Random& random, std::uint32_t max_removed) { return rows_.collect(random, max_removed); }

    /// The Manager<T> around this core, or nullptr. World::manager<T>() returns it.
    void* face() const { return face_; }
    void set_face(void* face) { face_ = face; }

    OwnedRows& rows() { return rows_; }
    const OwnedRows& rows() const { return rows_; }
    Table& table() { return rows_.table(); }
    const Table& table() const { return rows_.table(); }
    const RowIndex& index() const { return rows_.index(); }
    /// Checks the table, its index and the counts of holes.
    Status validate() const { return rows_.validate(); }

    // Store
    std::string_view kind() const override { return "a manager"; }
    std::span<const Schema* const> schemas() const override { return rows_.schemas(); }
    OwnedColumns find_columns(const Schema& component) override { return rows_.find_columns(component); }
    Status spawn(const SpawnBatch& batch) override { return rows_.spawn(batch); }
    void drop(std::span<const Entity> entities) override { rows_.remove(entities); }
    Result<std::uint32_t> add_values(const Schema& component, std::span<const Entity> entities,
                                     const AddedValues& values) override {
        return rows_.add_values(component, entities, values);
    }
    Result<bool> prepare_values(const Schema&, std::span<const Entity> entities, bool removes) override {
        return rows_.prepare_values(entities, removes);
    }
    Result<std::uint32_t> remove_values(const Schema&, std::span<const Entity> entities) override {
        return rows_.remove(entities);
    }
    bool only_keeps() const override { return true; }
    bool takes_single_values() const override { return true; }
    Status remove_one_value(const Schema&, Entity, const ComponentRow& at, std::uint32_t) override {
        return remove(Instance{at.row}), Status();
    }
    void hold_rows(bool hold) override { rows_.hold(hold); }
    bool is_held() const override { return rows_.is_held(); }
    void settle(const SettleContext& context) override { rows_.settle(context); }
    void save(SnapshotWriter& to) const override { rows_.save(to); }
    Status load(SnapshotReader& from) override { return rows_.load(from); }
    std::span<const Table* const> tables() const override { return rows_.tables(); }
    std::size_t statistics(std::span<StoreStatistics> out) const override { return rows_.statistics(out); }

private:
    OwnedRows rows_;
    void* face_ = nullptr;
};

}  // namespace shoal
