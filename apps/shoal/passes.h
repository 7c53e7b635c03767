#pragma once
// The passes that `shoal run` adds for every level.

#include "shoal/inspect/positions.h"
#include "shoal/world/world.h"

namespace shoal_tool {

/// Adds `simulate` when the world has point masses; `move`, which moves the transforms of those; `transforms`, which
/// computes the world poses of what moved; and `bounds`, which finds the box around all positions.
/// Lifetime: `bounds` outlives the schedule's runs.
void add_passes(shoal::World& world, shoal::Bounds& bounds);

}  // namespace shoal_tool
