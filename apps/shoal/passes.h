#pragma once
// The passes that `shoal run` adds for every level.

#include "shoal/inspect/positions.h"
#include "shoal/world/world.h"

namespace shoal_tool {

/// Adds passes for the component types of the world: `simulate` for point masses; `move`, which moves their transforms;
/// `transforms`, which updates world poses; and `bounds`, which finds the bounding box of all positions.
/// Lifetime: `bounds` must outlive the schedule's runs.
void add_passes(shoal::World& world, shoal::Bounds& bounds);

}  // namespace shoal_tool
