#pragma once
// How a transform is written:
//
//     transform = { position = [4 0 12]  rotation = [0 0 0.7071 0.7071]  scale = 2 }
//     transform = { euler_degrees = [0 0 90]  scale = [1 1 3] }
//
//     position        metres, relative to the parent
//     rotation        a quaternion [x y z w] of length 1
//     euler_degrees   in place of rotation: turned about the x, then the y, then the z axis of the parent, which stay
//                     where they are: R = Rz Ry Rx
//     scale           three numbers or one for all axes, none of them 0
//
// A quaternion is brought to length 1: without a word within 0.1 %, with a warning within 1 %; beyond, it is an error.
// What a prefab says with one of rotation and euler_degrees, its user may replace with the other; both at once are an
// error. Transforms are spawned before other component types.
// Thread: as for the registry.

#include "shoal/resource/registry.h"
#include "shoal/transform/transform.h"

namespace shoal {

/// Returns the rotation about the x, then the y, then the z axis of the parent. Units: degrees.
SHOAL_API Quaternion rotation_from_euler_degrees(Vec3 degrees);

/// Makes Transform known to a compiler, with the text above. Again is fine.
/// Errors: another component type is called "transform", or has another compile function.
SHOAL_API Status add_transform(ComponentRegistry& registry);

}  // namespace shoal
