#pragma once
// Poses from matrices, in double precision: what set_world_pose() and linking need.

#include "shoal/components/transform.h"

namespace shoal::inline SHOAL_ABI {

/// A pose, and whether it is the matrix that it was made from or only near it.
struct NearestPose {
    Transform pose;
    bool is_exact = true;
};

/// Returns the pose whose matrix is nearest to `matrix`: for matrices without shear, the pose that it is made of.
NearestPose nearest_pose(const Matrix3x4& matrix);
/// Returns the pose nearest to inverse(parent) x world.
NearestPose nearest_relative_pose(const Matrix3x4& parent, const Matrix3x4& world);

/// Returns inverse(parent) x world. Requires: the parent is not flat.
Matrix3x4 relative_matrix(const Matrix3x4& parent, const Matrix3x4& world);

/// What sound_rotation() does with a rotation that is not of length 1.
Quaternion mended_rotation(Quaternion rotation, float square);

/// Returns `rotation` with length 1, or none. Requires (in checked builds): of length 1, but for rounding.
inline Quaternion sound_rotation(Quaternion q) {
    const float square = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
    return SHOAL_LIKELY(square >= 0.998f && square <= 1.002f) ? q : mended_rotation(q, square);
}

inline void require_sound_position([[maybe_unused]] Vec3 v) {
    SHOAL_CHECK((v.x - v.x) + (v.y - v.y) + (v.z - v.z) == 0, "a position is infinite or not a number");
}

inline void require_sound_scale([[maybe_unused]] Vec3 v) {
    SHOAL_CHECK((v.x - v.x) + (v.y - v.y) + (v.z - v.z) == 0, "a scale is infinite or not a number");
    SHOAL_CHECK(v.x != 0 && v.y != 0 && v.z != 0, "a scale is zero; hide the entity instead");
}

inline Transform sound_pose(Transform local) {
    require_sound_position(local.position);
    require_sound_scale(local.scale);
    local.rotation = sound_rotation(local.rotation);
    return local;
}

}  // namespace shoal::inline SHOAL_ABI
