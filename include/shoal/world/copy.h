#pragma once
// Copies entities within a world.
// Thread: the structural thread of the world, between its passes; passes call Commands::copy().

#include "shoal/resource/spawner.h"

namespace shoal {

class World;

/// Copies a living entity with its components in all stores. Also copies its transform children and the entities that
/// it owns, recursively. References between copied entities become references between the copies; other references stay
/// the same. Each copy is a root. options.root_poses set its world pose, both in its transform and in the field that
/// determines its tile; without them, the copy has the pose of the original. The copy is in the zone of the original,
/// unless options.zone selects another zone, or zones are tiles and a root pose is in another tile. Entity 0 of each
/// copy is the copy of `original`.
/// Errors: the entity is dead; options.overrides are given, which only apply to entities of a blob; a component cannot
/// be copied, or its store does not show its fields; the errors of World::spawn(). The world is then unchanged.
/// Requires: no passes run.
SHOAL_API Result<Spawned> copy(World& world, Entity original, const SpawnOptions& options = {});

}  // namespace shoal
