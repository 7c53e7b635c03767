#pragma once
// An entity may own others, which die with it. For example, a ship may own its cannons. Ownership is independent of
// transforms.
// An owner needs no transform, and an entity's owner need not be its parent in the scene graph.
//
//     ship ── cannon ── smoke          destroy(ship): ship, then cannon and flag, then smoke, all before it returns
//          └─ flag
//
// In a source, the owned entity names its owner: `owned = "parent"`, or a name or a GUID path in place of "parent".
// Deaths spread level by level through EntityManager::destroy_next, without recursion, so chains of owners may be long.
// There is one ownership manager per entity manager. A world creates it in World::ownership(), or when a query, a
// command or a blob first names Owned. A row is removed immediately when its entity dies.
//
//     row        0     1     2     3           one for each entity that owns others or is owned
//     owner      -     e0    e1    e0          null if the entity has no owner
//     links      parent, first child, next, previous
//
// Thread: the entity manager's structural thread. Between its calls, any thread may make const calls.

#include "shoal/store/detail/owned_rows.h"
#include "shoal/table/describe.h"

namespace shoal {

struct Owned {
    Entity owner;
};
SHOAL_COMPONENT((Owned, computed), owner)  // computed from the links

class OwnershipManager final : public Store {
public:
    /// Lifetime: `entities` and `pool` outlive the manager.
    SHOAL_API OwnershipManager(EntityManager& entities, PagePool& pool);
    SHOAL_API ~OwnershipManager() override;

    /// Makes `owner` the owner of each entity in `owned`, replacing any previous owner. Skips dead entities.
    /// Errors: `owner` is not alive, is in `owned`, or is directly or indirectly owned by an entity in `owned`, or
    /// memory runs out. On error, nothing has changed.
    /// Cost: one walk up the chain of owners of `owner`, for any number of entities.
    SHOAL_API Status own(Entity owner, std::span<const Entity> owned);
    Status own(Entity owner, Entity owned) { return own(owner, std::span<const Entity>(&owned, 1)); }

    /// Releases each entity from its owner, and returns the number of entities that had one. Entities keep the entities
    /// that they own.
    SHOAL_API std::uint32_t release(std::span<const Entity> owned);
    /// Releases an entity from its owner, and returns whether it had one.
    bool release(Entity owned) { return release(std::span<const Entity>(&owned, 1)) != 0; }

    /// Returns the owner, or the null entity if there is none. Accepts any id.
    SHOAL_API Entity owner(Entity owned) const;
    /// Calls visit(Entity) for each entity that `owner` owns directly, newest first. The visitor must not change
    /// owners.
    template <class Visitor>
    void for_each_owned(Entity owner, Visitor&& visit) const {
        const std::uint32_t row = rows_.find(owner);
        if (row == kNilRow) return;
        const std::span<const std::uint32_t> next = table().links(LinkColumn::kTreeNext);
        for (std::uint32_t child = table().links(LinkColumn::kTreeFirstChild)[row]; child != kNilRow;
             child = next[child])
            visit(table().entities()[child]);
    }

    /// Returns the number of entities that own others or are owned.
    std::uint32_t num_rows() const { return rows_.num_rows(); }
    const Table& table() const { return rows_.table(); }
    /// Checks the table. Also checks that owners and links agree, and that the entity of each row is alive and owns
    /// others or is owned.
    /// Cost: O(rows).
    SHOAL_API Status validate() const;

    // Store
    std::string_view kind() const override { return "the owners"; }
    std::span<const Schema* const> schemas() const override { return rows_.schemas(); }
    /// Entities that own others but have no owner also have rows. Queries leave them out.
    SHOAL_API OwnedColumns find_columns(const Schema& component) override;
    /// Errors: an entity in the batch would directly or indirectly own itself, or memory runs out. Nothing is
    /// changed.
    SHOAL_API Status spawn(const SpawnBatch& batch) override;
    /// Removes the rows of these entities. Their owners release them, and they release the entities that they own.
    SHOAL_API void drop(std::span<const Entity> entities) override;
    /// Like own() and release(), but with a separate value for each entity.
    SHOAL_API Result<std::uint32_t> add_values(const Schema& component, std::span<const Entity> entities,
                                               const AddedValues& values) override;
    SHOAL_API Result<bool> prepare_values(const Schema&, std::span<const Entity> entities, bool removes) override;
    SHOAL_API Result<std::uint32_t> remove_values(const Schema&, std::span<const Entity> entities) override;
    void hold_rows(bool hold) override { rows_.hold(hold); }
    bool is_held() const override { return rows_.is_held(); }
    void settle(const SettleContext& context) override { rows_.settle(context); }
    void save(SnapshotWriter& to) const override { rows_.save(to); }
    SHOAL_API Status load(SnapshotReader& from) override;
    std::span<const Table* const> tables() const override { return rows_.tables(); }
    std::size_t statistics(std::span<StoreStatistics> out) const override { return rows_.statistics(out); }
    /// Calls release() if the value is the null entity, and otherwise own(). Errors: those of own(). Requires: no pass
    /// is running.
    SHOAL_API Status write_field(const ComponentRow& at, const FieldPart& part, const std::byte* value) override;

private:
    std::uint32_t row_of(Entity entity);
    void link(Entity owned, Entity owner);
    void unlink(std::uint32_t row);
    void remove_row(std::uint32_t row);
    void remove_if_idle(std::uint32_t row);
    void destroy_owned(std::span<const Entity> dead);

    EntityManager& entities_;
    OwnedRows rows_;
};

}  // namespace shoal
