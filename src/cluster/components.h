#pragma once
// Visits, removes and hashes the components of an entity in all stores, without their C++ types.
// Thread: the structural thread of the world.

#include "cluster/entity_names.h"
#include "shoal/table/detail/field_part.h"
#include "shoal/world/world.h"

namespace shoal::cluster {

/// Calls visit(store, component, row, index) for each component of an entity, including disabled ones, and for each
/// value of a `many` type.
template <class Visit>
void for_each_component(const World& world, Entity entity, Visit&& visit) {
    for (Store* store : world.directory().stores())
        for (const Schema* component : store->schemas()) {
            ComponentRow at = store->find_row(component->id(), entity, 0);
            for (std::uint32_t index = 0; at; ++index) {
                visit(*store, *component, at, index);
                at = component->many() ? store->find_next(at, entity, index + 1) : ComponentRow();
            }
        }
}

/// Removes all components of some entities, from all stores. The entities stay alive.
void strip(World& world, std::span<const Entity> entities);

/// Returns a hash of all components of an entity. References are hashed by the names of their targets. The hash does
/// not depend on ids or on the order of stores and component types.
std::uint64_t hash_of(const World& world, const EntityNames& names, Entity entity);

/// Returns which entities the rows of the world refer to: one bit per entity index.
BitSet find_referenced(World& world);

}  // namespace shoal::cluster
