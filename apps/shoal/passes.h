#pragma once
// The passes that `shoal run` adds for every level.

#include "shoal/inspect/positions.h"
#include "shoal/world/world.h"

namespace shoal_tool {

/// Adds `simulate` if the world has point masses; `move`, which moves their transforms; `transforms`, which computes
/// the world poses of moved transforms; and `bounds`, which finds the bounding box of all positions.
/// Lifetime: `bounds` outlives the schedule's runs.
void add_passes(shoal::World& world, shoal::Bounds& bounds);

}  // namespace shoal_tool
