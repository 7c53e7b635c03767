#pragma once
// Entities that are attached to nodes of models, such as a sword in a hand.
//
//     character      transform, model pose       nodes: hips -> spine -> arm_r -> hand_r
//     `-- sword      transform, AttachedToNode   local pose = model pose of hand_r x offset
//
//     commands.add(sword, ChildOf{knight});
//     commands.add(sword, AttachedToNode{.node = StringId("hand_r")});
//
// In the transform hierarchy, an attached entity is a child of the entity with the model. It therefore moves and is
// copied with its parent, and dies with it if ChildrenOfDead specifies this. The component names the node. It may be
// added by command, from a blob or from text, and may be kept in any store. In a world with model poses, each settle
// sets the local pose from the node's pose at the last ModelPoseManager::compute(). In deferred mode, this is done
// before world poses are computed.
//
// If the parent has no model pose, or its model has no node with that name, the local pose stays unchanged. It also
// stays unchanged when the component is removed. An entity without a parent or without a transform is not attached.
// Thread: move_attached() may be called where TransformManager::set_locals() may. Cost: a look-up and a pose for each
// attached entity.

#include "shoal/pose/model_pose.h"

namespace shoal {

/// The node, in the parent's model, to which an entity is attached, and the entity's pose relative to that node.
struct AttachedToNode {
    StringId node;
    Vec3 position{};
    Quaternion rotation{};
    Vec3 scale = {1, 1, 1};
};
SHOAL_COMPONENT(AttachedToNode, node, (position, unit("m")), rotation, scale)

/// Sets the local poses of attached entities from their nodes, and returns the number of entities that have moved. A
/// world with model poses calls this when it settles. A program that computes deferred transforms in a pass must call
/// it before that pass. `attached` is the store of AttachedToNode. A pose that would have shear becomes the nearest
/// pose without shear.
SHOAL_API std::size_t move_attached(Store& attached, const ModelPoseManager& models, TransformManager& transforms,
                                    Executor* executor = nullptr);

/// Like move_attached() above, but takes the stores from a directory. Does nothing if one of the three is missing.
SHOAL_API std::size_t move_attached(const ComponentDirectory& directory, Executor* executor = nullptr);

}  // namespace shoal
