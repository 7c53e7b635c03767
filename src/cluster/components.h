#pragma once
// What an entity has, in whichever stores: component by component, without C++ types.
// Thread: reads the stores of the world.

#include "cluster/entity_names.h"
#include "shoal/table/detail/field_part.h"
#include "shoal/world/world.h"

namespace shoal::cluster {

/// Calls visit(store, component, row, index) for each component of an entity, disabled ones too, and for each value of
/// a `many` type.
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

/// Removes all that some entities have, in all stores. They live on.
void strip(World& world, std::span<const Entity> entities);

/// Returns a hash of all that an entity has, in which other entities are their names. It does not depend on ids, nor on
/// the order of stores and component types.
std::uint64_t hash_of(const World& world, const EntityNames& names, Entity entity);

/// Returns the entities that rows of the world refer to: a bit for each index.
BitSet find_referenced(World& world);

}  // namespace shoal::cluster
