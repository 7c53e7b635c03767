#pragma once
// An entity may own others, which die with it: a ship its cannons, a player what it carries. Who owns whom is a matter
// of its own: it needs no transform, and a child in a scene graph need not be owned.
//
//     ship ── cannon ── smoke          destroy(ship): ship, then cannon and flag, then smoke, all before it returns
//          └─ flag
//
// In a source, the owned one says who owns it: `owned = "parent"`, or a name or GUID path in place of "parent".
// Deaths spread level by level through EntityManager::destroy_next: no call lies within another, however long a chain.
// One manager serves an entity manager; its rows go at once when their entity dies.
//
//     row        0     1     2     3           one for each entity that owns or is owned
//     owner      -     e0    e1    e0          null for one that only owns
//     links      parent, first child, next, previous
//
// Thread: the structural thread of the entity manager; const calls from any thread between its calls.

#include "shoal/entity/entity_manager.h"
#include "shoal/store/store.h"
#include "shoal/table/describe.h"
#include "shoal/table/row_index.h"
#include "shoal/table/table.h"

namespace shoal {

struct Owned {
    Entity owner;
};
SHOAL_COMPONENT(Owned, owner)

class OwnershipManager final : public Store {
public:
    /// `entities` and `pool` outlive the manager.
    SHOAL_API OwnershipManager(EntityManager& entities, PagePool& pool);
    SHOAL_API ~OwnershipManager() override;
    OwnershipManager(const OwnershipManager&) = delete;
    OwnershipManager& operator=(const OwnershipManager&) = delete;

    /// Makes each of `owned` die with `owner`; one that has an owner changes hands. The dead among them are skipped.
    /// Errors: the owner is not alive, or it is one of `owned` or owned by one of them, however indirectly; no memory.
    /// Nothing has changed. Cost: the owner's owners are walked once, however many are given.
    SHOAL_API Status own(Entity owner, std::span<const Entity> owned);
    Status own(Entity owner, Entity owned) { return own(owner, std::span<const Entity>(&owned, 1)); }

    /// Sets each free, whoever owns it, and returns how many were owned. What it owns itself stays its own.
    SHOAL_API std::uint32_t release(std::span<const Entity> owned);
    /// Returns whether it was owned.
    bool release(Entity owned) { return release(std::span<const Entity>(&owned, 1)) != 0; }

    /// Returns the owner, or the null entity. Total: any id is fine.
    SHOAL_API Entity owner(Entity owned) const;
    /// Calls visit(Entity) for each that `owner` owns itself, the newest first. The visitor changes no owner.
    template <class Visitor>
    void for_each_owned(Entity owner, Visitor&& visit) const {
        const std::uint32_t row = index_.find(owner);
        if (row == kNilRow) return;
        const std::span<const std::uint32_t> next = table_.links(LinkColumn::kTreeNext);
        for (std::uint32_t child = table_.links(LinkColumn::kTreeFirstChild)[row]; child != kNilRow;
             child = next[child])
            visit(table_.entities()[child]);
    }

    /// Entities that own or are owned.
    std::uint32_t num_rows() const { return table_.num_rows(); }
    const Table& table() const { return table_; }
    /// Checks the table, that owners and links agree, and that no row is idle or dead. Cost: O(rows).
    SHOAL_API Status validate() const;

    // Store
    std::span<const Schema* const> schemas() const override { return {&schema_, 1}; }
    /// Errors: entities of the batch would own each other; no memory. Nothing has changed.
    SHOAL_API Status spawn(const SpawnBatch& batch) override;
    /// Forgets what is known of these entities: whom they own and who owns them is free.
    SHOAL_API void drop(std::span<const Entity> entities) override;
    SHOAL_API void settle(const SettleContext& context) override;
    std::span<const Table* const> tables() const override { return {&table_pointer_, 1}; }
    SHOAL_API std::size_t statistics(std::span<StoreStatistics> out) const override;

private:
    Status reserve(std::size_t num_rows, std::uint32_t highest_index);
    std::uint32_t row_of(Entity entity);
    void link(Entity owned, Entity owner);
    void unlink(std::uint32_t row);
    void remove_row(std::uint32_t row);
    void remove_if_idle(std::uint32_t row);
    void take_along(std::span<const Entity> dead);

    EntityManager& entities_;
    const Schema* schema_ = &schema_of<Owned>();
    RowIndex index_{RowIndexKind::kPaged};
    Table table_;
    const Table* table_pointer_ = &table_;
    DestructionCallback callback_;
};

}  // namespace shoal
