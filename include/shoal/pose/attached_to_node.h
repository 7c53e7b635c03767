#pragma once
// Entities that are attached to nodes of models: a sword in a hand.
//
//     character      transform, model pose       nodes: hips -> spine -> arm_r -> hand_r
//     `-- sword      transform, AttachedToNode   local pose = model pose of hand_r x offset
//
//     commands.add(sword, ChildOf{knight});
//     commands.add(sword, AttachedToNode{.node = StringId("hand_r")});
//
// An attached entity is a child of the entity with the model in the hierarchy of transforms, so it moves with it, dies or
// stays behind with it as ChildrenOfDead says, and is copied with it. The component says at which node it is: it may come by
// command, from a blob or from text, as any other, and lies in any store. In a world with model poses, its local pose follows
// them when the world settles, as ModelPoseManager::compute() has left them; in deferred mode before world poses are computed.
//
// Where the parent has no model pose, or no node of that name, the local pose stays as it is; so it does when the component
// is removed. An entity without a parent, or without a transform, is not attached.
// Thread: move_attached() as for set_locals() of the transforms. Cost: a look-up and a pose for each attached entity.

#include "shoal/pose/model_pose.h"

namespace shoal {

/// The node of the parent's model that an entity is attached to, and its pose relative to that node.
struct AttachedToNode {
    StringId node;
    Vec3 position{};
    Quaternion rotation{};
    Vec3 scale = {1, 1, 1};
};
SHOAL_COMPONENT(AttachedToNode, node, (position, unit("m")), rotation, scale)

/// Gives attached entities the local pose of their nodes, and returns how many have moved. A world with model poses
/// calls it when it settles; a program that computes deferred transforms in a pass calls it before.
/// `attached` keeps AttachedToNode. A pose that would be sheared becomes the nearest one without shear.
SHOAL_API std::size_t move_attached(Store& attached, const ModelPoseManager& models, TransformManager& transforms,
                                    Executor* executor = nullptr);

/// The same for the stores of a directory, if it has all three.
SHOAL_API std::size_t move_attached(const ComponentDirectory& directory, Executor* executor = nullptr);

}  // namespace shoal
