#pragma once
// How the node tree of a model is written:
//
//     model_pose = { nodes = [
//         { name = "hip" }
//         { name = "foot"  parent = "knee"  position = [0 -0.4 0]  euler_degrees = [90 0 0] }
//         { name = "knee"  parent = "hip"  position = [0 -0.5 0]  rotation = [0 0 0 1]  scale = 1 }
//     ] }
//
//     name            of its own in the tree
//     parent          another node, before or after it; without one, the node is relative to the entity
//     position        metres, and the rest as in a transform: the default local pose
//
// Nodes are numbered in this order, except that parents are brought before their children. A list that a user of a
// prefab writes takes the place of the prefab's. Equal trees, such as those of all users of a prefab, are kept once.
// Thread: as for the registry.

#include "shoal/pose/model_pose.h"
#include "shoal/resource/registry.h"

namespace shoal {

/// Makes ModelPose known to a compiler, with the text above. Again is fine.
/// Errors: another component type is called "model_pose", or has another compile function.
SHOAL_API Status add_model_pose(ComponentRegistry& registry);

}  // namespace shoal
