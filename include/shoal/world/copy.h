#pragma once
// Copies entities within a world.
// Thread: the structural thread of the world, between its passes; passes call Commands::copy().

#include "shoal/resource/spawner.h"

namespace shoal {

class World;

/// Copies a living entity with its components in all stores, its children in the transforms, and what it owns, the
/// children and possessions of these, and so on. References among these lead to the copies, others stay. A copy is a
/// root; with options.root_poses, that is where it lies in the world, as its transform and the field say that decides
/// about its tile, and otherwise where the original does. It lies in the zone of the original, unless it is placed
/// elsewhere: by options.zone, or by a pose where tiles decide.
/// Entity 0 of each copy is that of `original`.
/// Errors: the entity is dead; options.overrides are given, which are of entities of a blob; a component cannot be
/// copied, or its store does not show its fields; what World::spawn() says. Nothing has changed. Requires: no passes
/// run.
SHOAL_API Result<Spawned> copy(World& world, Entity original, const SpawnOptions& options = {});

}  // namespace shoal
