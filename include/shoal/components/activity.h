#pragma once
// An inactive entity keeps its components, but queries skip it and all its descendants in the transform tree. To
// deactivate a car with its wheels and its driver, without losing anything:
//
//     if (Status off = world.activity().set_active(car, false); !off) return off;  // is_active(wheel) is false, too
//     world.query<Write<&Body::velocity>>().for_each(fall);  // passes over the car, the wheels, the driver
//     if (Status on = world.activity().set_active(car, true); !on) return on;  // the wheels are active again
//     world.commands().add(car, Inactive{});                                   // from a pass: when the world settles
//
//     car        Inactive                                   by itself
//      |- wheel                     passed over             because of the car
//      '- driver Inactive           passed over             by itself, and because of the car
//
// In a source: { type = "inactive" }. Inactive is an ordinary component, which commands, blobs, copies, observers, the
// journal and describe() support. A query also visits inactive entities if it names this component, as in
// With<Inactive>, or calls with_inactive(). A child that is linked to an inactive parent becomes inactive. A child that
// is unlinked, or whose parent dies, is inactive only if it has the component itself.
//
// Everything else continues: look-ups by entity find the components, world poses are computed, and references and
// ownership remain valid. Code that reads columns without a query sees all rows.
//
// If no entity is inactive, a loop makes a single check for all its rows. Otherwise, it checks a bit for each row, and
// calls its function for each run of active rows.
//
// If worlds share an entity manager, an entity that is inactive in one of them is inactive in all of them. Its
// descendants are inactive only in the world that links them.
//
// A query with changed_since() also skips inactive entities. It does not report afterwards that they changed while they
// were inactive. Use world.observers().on_remove<Inactive>() to learn which entities become active.
// Thread: the structural thread of the world, as for all stores.

#include "shoal/store/detail/owned_rows.h"
#include "shoal/table/describe.h"

namespace shoal {

struct Inactive {};
SHOAL_COMPONENT(Inactive)

class ActivityManager final : public Store {
public:
    /// Lifetime: `entities` and `pool` outlive the manager.
    SHOAL_API ActivityManager(EntityManager& entities, PagePool& pool);
    SHOAL_API ~ActivityManager() override;

    /// Makes living entities active or inactive. Skips dead entities. Errors: out of memory. On error, nothing has
    /// changed.
    SHOAL_API Status set_active(std::span<const Entity> entities, bool is_active);
    Status set_active(Entity entity, bool is_active) { return set_active({&entity, 1}, is_active); }

    const Table& table() const { return rows_.table(); }
    /// Checks the table, and whether the entity manager agrees with it. Cost: O(rows).
    SHOAL_API Status validate() const;

    // Store
    std::string_view kind() const override { return "the inactive entities"; }
    std::span<const Schema* const> schemas() const override { return rows_.schemas(); }
    OwnedColumns find_columns(const Schema& component) override { return rows_.find_columns(component); }
    SHOAL_API Status spawn(const SpawnBatch& batch) override;
    void drop(std::span<const Entity> entities) override { static_cast<void>(set_active(entities, true)); }
    SHOAL_API Result<std::uint32_t> add_values(const Schema& component, std::span<const Entity> entities,
                                               const AddedValues& values) override;
    SHOAL_API Result<bool> prepare_values(const Schema&, std::span<const Entity> entities, bool removes) override;
    SHOAL_API Result<std::uint32_t> remove_values(const Schema& component, std::span<const Entity> entities) override;
    void hold_rows(bool hold) override { rows_.hold(hold); }
    bool is_held() const override { return rows_.is_held(); }
    void settle(const SettleContext& context) override { rows_.settle(context); }
    void save(SnapshotWriter& to) const override { rows_.save(to); }
    Status load(SnapshotReader& from) override { return rows_.load(from); }
    SHOAL_API void finish_load() override;
    std::span<const Table* const> tables() const override { return rows_.tables(); }
    std::size_t statistics(std::span<StoreStatistics> out) const override { return rows_.statistics(out); }

private:
    void note(std::span<const Entity> entities, bool is_inactive);

    EntityManager& entities_;
    OwnedRows rows_;
};

}  // namespace shoal
