#pragma once
// The text format of a model's node tree:
//
//     model_pose = { nodes = [
//         { name = "hip" }
//         { name = "foot"  parent = "knee"  position = [0 -0.4 0]  euler_degrees = [90 0 0] }
//         { name = "knee"  parent = "hip"  position = [0 -0.5 0]  rotation = [0 0 0 1]  scale = 1 }
//     ] }
//
//     name            different from the names of all other nodes
//     parent          the name of another node, before or after it; without one, the node is relative to the entity
//     position        metres; this and the rest, written as in a transform, are the default local pose
//
// Nodes are numbered in this order, except that parents are moved before their children. If the user of a prefab writes
// a list of nodes, that list replaces the prefab's list. Equal trees, such as the trees of all users of a prefab, are
// stored only once. Thread: the same as for the registry.

#include "shoal/pose/model_pose.h"
#include "shoal/resource/detail/registry.h"

namespace shoal {

/// Registers ModelPose and the text format above. Calling it again does nothing.
/// Errors: a different component type is called "model_pose", or it has a different compile function.
SHOAL_API Status add_model_pose(ComponentRegistry& registry);

}  // namespace shoal
