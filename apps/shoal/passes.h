#pragma once
// The passes that `shoal run` adds for every level.

#include "shoal/inspect/positions.h"
#include "shoal/world/world.h"

namespace shoal_tool {

/// Adds the passes that apply to the world's component types: `simulate` simulates point masses, `move` moves their
/// transforms, `transforms` updates world poses, and `bounds` finds the bounding box of all positions.
/// Lifetime: `bounds` must outlive the schedule's runs.
void add_passes(shoal::World& world, shoal::Bounds& bounds);

}  // namespace shoal_tool
