#pragma once
// A world that computes with most of what the runtime has, and says what came out. What it says is compared between workers,
// compilers, optimisations and processors.

#include "shoal/job/executor.h"
#include "shoal/transform/transform.h"

#include <string>

namespace shoal_test {

/// Runs the world and returns a line for each field of each component type, at a few of its frames, with a hash of what all
/// entities have there, in the order of their ids; a line for the order of the rows of each component type; and a few
/// counts:
///
///     immediate 20 body.position 5f1c02d3a9e07b64
///
/// Ids count by their index and generation, so that their width does not matter.
std::string run_scenario(shoal::Executor& executor, shoal::TransformMode mode);

}  // namespace shoal_test
