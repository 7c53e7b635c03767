#pragma once
// Copies entities within a world.
// Thread: the structural thread of the world, between its passes; passes call Commands::copy().

#include "shoal/resource/spawner.h"

namespace shoal {

class World;

/// Copies a living entity with its components in all stores, its children in the transforms, and what it owns, the
/// children and possessions of these, and so on. References among them become references among the copies; others
/// stay. A copy is a root. options.root_poses set its pose in the world, in its transform and in the field that decides
/// its tile; without them it has the pose of the original. It is in the zone of the original, unless options.zone, or a
/// root pose if zones are tiles, selects another one.
/// Entity 0 of each copy is the copy of `original`.
/// Errors: the entity is dead; options.overrides are given, which apply to entities of a blob only; a component cannot
/// be copied, or its store does not show its fields; the errors of World::spawn(). Nothing has changed. Requires: no
/// passes run.
SHOAL_API Result<Spawned> copy(World& world, Entity original, const SpawnOptions& options = {});

}  // namespace shoal
