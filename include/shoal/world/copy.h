#pragma once
// Copies entities within a world.
// Thread: the structural thread of the world, while no pass is running; passes call Commands::copy().

#include "shoal/resource/spawner.h"

namespace shoal {

class World;

/// Copies a living entity with its components in all stores. Its transform children and the entities that it owns are
/// copied too, recursively. References between copied entities become references between the copies; other references
/// stay the same. Each copy is a root. If options.root_poses is given, it sets the world pose of each copy, both in its
/// transform and in the field that determines its tile. Otherwise each copy has the original's pose. The copy is in the
/// original's zone, unless options.zone selects a different zone, or zones are tiles and a root pose is in a different
/// tile. Entity 0 of each copy is the copy of `original`.
/// Errors: as for World::spawn(); the entity is dead; options.overrides is given (overrides apply only to entities from
/// a blob); a component cannot be copied, or its store does not expose its fields. On error, the world is unchanged.
/// Requires: no pass is running.
SHOAL_API Result<Spawned> copy(World& world, Entity original, const SpawnOptions& options = {});

}  // namespace shoal
