#pragma once
// Entities with all that they have, in a message: a blob, the names, and the references that lead out of the blob.
//
//     types         the component types that the database keeps, so that it keeps them where they go
//     blob          what save_entities() makes of them: all stores, what is below them, texts, disabled components
//     names         by entity of the blob; 0: it has none yet
//     references    entity of the blob, component, field, value  ->  name of an entity elsewhere
//
// Thread: the structural thread of the world.

#include "cluster/entity_names.h"
#include "cluster/message.h"
#include "shoal/base/status.h"
#include "shoal/world/world.h"

namespace shoal::cluster {

/// Writes living entities; parents come before their children. The other entities that they refer to count as known
/// elsewhere from then on, and those in no zone get names of this rank. Errors: something that they have cannot be
/// sent; the message names it.
Status pack(World& world, EntityNames& names, std::uint32_t rank, std::span<const Entity> entities, MessageWriter& to);

/// Spawns what pack() wrote, and returns the entities, in its order. Those whose name is known here, as copies or by
/// name alone, keep their ids. Errors: it makes no sense; no memory.
Result<std::vector<Entity>> unpack(World& world, EntityNames& names, MessageReader& from);

/// Returns the entity of a name, which is known by its name alone from then on if it is not here. Errors: no memory.
Result<Entity> find_or_make_away(World& world, EntityNames& names, Name name);

}  // namespace shoal::cluster
