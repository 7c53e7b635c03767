#pragma once
// Entities and all their components in a message: a blob, the names, and the references that lead out of the blob.
//
//     types         the component types that the database stores, so that the receiver's database stores them too
//     blob          written by save_entities(): all stores, descendants, texts, disabled components
//     names         by entity of the blob; 0: the receiver gives it one
//     references    entity of the blob, component, field, value  ->  name of an entity elsewhere
//
// Thread: the structural thread of the world.

#include "cluster/entity_names.h"
#include "cluster/message.h"
#include "shoal/base/status.h"
#include "shoal/world/world.h"

namespace shoal::cluster {

/// Writes living entities, parents before their children. Other entities to which they refer are marked as known
/// elsewhere, and get passing names if they have no names yet. Errors: a component cannot be sent; the message names it.
Status pack(World& world, EntityNames& names, std::uint32_t rank, std::span<const Entity> entities, MessageWriter& to);

/// Whether some of the entities refer to an entity with a row that is not one of them and has no name yet.
bool refers_to_unnamed(World& world, const EntityNames& names, std::span<const Entity> entities);

/// Spawns the entities that pack() wrote, and returns them in the same order. Entities that have an id here, because
/// they are copies or known by name alone, keep that id. Errors: the message is invalid; out of memory.
Result<std::vector<Entity>> unpack(World& world, EntityNames& names, MessageReader& from);

/// Returns an entity for each name of the entities that come to this rank for good, and gives it that name. An entity
/// that is known here, as a copy or by name alone, keeps its id and loses the components that it has here. For the name
/// 0, returns a new entity without a name. Errors: an entity already belongs to this rank, or a name occurs twice; out
/// of memory.
Result<std::vector<Entity>> take_in(World& world, EntityNames& names, std::span<const Name> given);

/// Returns the entity with a name. If there is none, creates an entity that is known by its name alone. Errors: out of
/// memory.
Result<Entity> find_or_make_away(World& world, EntityNames& names, Name name);

}  // namespace shoal::cluster
