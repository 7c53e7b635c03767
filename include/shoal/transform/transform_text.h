#pragma once
// The text format of a transform:
//
//     transform = { position = [4 0 12]  rotation = [0 0 0.7071 0.7071]  scale = 2 }
//     transform = { euler_degrees = [0 0 90]  scale = [1 1 3] }
//
//     position        metres, relative to the parent
//     rotation        a quaternion [x y z w] of length 1
//     euler_degrees   in place of rotation: a turn about the x, then the y, then the z axis of the parent (the axes do
//                     not turn with it): R = Rz Ry Rx
//     scale           three numbers, or one for all axes; none of them 0
//
// A quaternion is normalized silently if its length is within 0.1 % of 1, and with a warning if it is within 1 %. Any
// other length is an error. If a prefab gives a rotation, a user of the prefab may replace it with euler_degrees, and
// vice versa. It is an error to give both in one place. Transforms are spawned before other component types.
// Thread: the same as for the registry.

#include "shoal/resource/detail/registry.h"
#include "shoal/transform/transform.h"

#include <string_view>

namespace shoal {

/// Returns the rotation about the x, then the y, then the z axis of the parent. Units: degrees.
SHOAL_API Quaternion rotation_from_euler_degrees(Vec3 degrees);

/// Registers Transform and the text format above. Calling it again does nothing.
/// Errors: a different component type is called "transform", or it has a different compile function.
SHOAL_API Status add_transform(ComponentRegistry& registry);

// For other component types that have poses in their text:

/// Returns a single-value field that exists only in the text, not in the component. Lifetime: as long as `name`.
SHOAL_API Field text_field(std::string_view name, FieldType type);

/// Normalizes a rotation that is written at `place`, as described above. Messages begin with `where`: "component ...,
/// field ...: ". Errors: the length differs from 1 by more than 1 %. On error, reports it and returns false.
SHOAL_API bool accept_rotation(Diagnostics& diagnostics, SourcePosition place, std::string_view where,
                               Quaternion& rotation);

/// Returns whether a scale can be inverted, which means that no axis is 0, denormal, infinite or not a number.
SHOAL_API bool can_be_undone(Vec3 scale);

}  // namespace shoal
