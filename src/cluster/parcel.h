#pragma once
// Sends entities with all their components. A message has these parts:
//
//     types         the component types that the database stores, so that the receiver's database stores them too
//     blob          written by save_entities(): all stores, descendants, texts, disabled components
//     names         by entity of the blob; 0: the receiver will name it
//     references    entity of the blob, component, field, value  ->  name of an entity elsewhere, or kDeadName
//
// Thread: the structural thread of the world.

#include "cluster/entity_names.h"
#include "cluster/message.h"
#include "shoal/base/status.h"
#include "shoal/world/world.h"

namespace shoal::cluster {

/// Writes living entities, parents before their children. Other entities to which they refer are marked as known
/// elsewhere, and get temporary names if they have none. Errors: a component cannot be sent; the message names it.
Status pack(World& world, EntityNames& names, std::uint32_t rank, std::span<const Entity> entities, MessageWriter& to);

/// Whether some of the entities refer to another entity that has a row but no name yet.
bool refers_to_unnamed(World& world, const EntityNames& names, std::span<const Entity> entities);

/// Spawns the entities that pack() wrote, and returns them in the same order. Entities that already have an id on this
/// rank keep it. Errors: the message is invalid; out of memory.
Result<std::vector<Entity>> unpack(World& world, EntityNames& names, MessageReader& from);

/// Returns an entity for each given name, for entities that move to this rank. An entity that already has an id on this
/// rank keeps it and loses its components. Other entities are created. An entity for the name 0 has no name. Errors: an
/// entity already belongs to this rank, or a name occurs twice; out of memory.
Result<std::vector<Entity>> take_in(World& world, EntityNames& names, std::span<const Name> given);

/// Returns the name to send for an entity to which something refers: a temporary one if it has none, kDeadName if it is
/// dead, 0 if it is null. Marks living ones as known elsewhere.
Name name_of_target(const World& world, EntityNames& names, Entity target, std::uint32_t rank);

/// Returns an entity that has died, for references to dead entities of other ranks. It is the same one until its id is
/// used again. Errors: out of memory.
Result<Entity> dead_entity(World& world, EntityNames& names);

/// Returns the entity with a name. If there is none, creates an entity without components for it. For kDeadName,
/// returns dead_entity(). Errors: out of memory.
Result<Entity> find_or_make_away(World& world, EntityNames& names, Name name);

}  // namespace shoal::cluster
