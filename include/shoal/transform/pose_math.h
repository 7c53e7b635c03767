#pragma once
// Poses from matrices, computed in double precision: what set_world_pose() and linking need. And what a sound pose is:
// finite, a rotation of length 1, no scale of zero.
// Thread: functions of values.

#include "shoal/transform/transform.h"

namespace shoal {

/// A pose, and whether its matrix equals the one it was made from or is only near it.
struct NearestPose {
    Transform pose;
    bool is_exact = true;
};

/// Returns the pose whose matrix is nearest to `matrix`: for matrices without shear, the pose that it is made of.
SHOAL_API NearestPose nearest_pose(const Matrix3x4& matrix);
/// Returns the pose nearest to inverse(parent) x world.
SHOAL_API NearestPose nearest_relative_pose(const Matrix3x4& parent, const Matrix3x4& world);

/// Returns whether a matrix is finite and can be inverted.
SHOAL_API bool is_regular(const Matrix3x4& matrix);

/// Returns inverse(parent) x world. Requires: the parent is not flat.
SHOAL_API Matrix3x4 relative_matrix(const Matrix3x4& parent, const Matrix3x4& world);

/// For sound_rotation(): treats a rotation whose length is not 1.
SHOAL_API Quaternion mended_rotation(Quaternion rotation, float square);

inline bool is_sound_position(Vec3 v) { return (v.x - v.x) + (v.y - v.y) + (v.z - v.z) == 0; }  // no NaN, no infinity
inline bool is_sound_scale(Vec3 v) { return is_sound_position(v) && v.x != 0 && v.y != 0 && v.z != 0; }
inline bool is_finite(const Matrix3x4& matrix) {
    bool finite = true;
    for (const Vec4& row : matrix.row) finite &= is_sound_position({row.x, row.y, row.z}) && row.w - row.w == 0;
    return finite;
}
inline float squared_length(Quaternion q) { return q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w; }
inline bool is_sound_rotation(Quaternion q) {
    return SHOAL_LIKELY(squared_length(q) >= 0.998f && squared_length(q) <= 1.002f);
}

/// Returns `rotation` with length 1, or none. Requires (in checked builds): of length 1, but for rounding.
inline Quaternion sound_rotation(Quaternion q) {
    return is_sound_rotation(q) ? q : mended_rotation(q, squared_length(q));
}

inline void require_sound_position([[maybe_unused]] Vec3 v) {
    SHOAL_CHECK(is_sound_position(v), "a position is infinite or not a number");
}

inline void require_sound_scale([[maybe_unused]] Vec3 v) {
    SHOAL_CHECK(is_sound_position(v), "a scale is infinite or not a number");
    SHOAL_CHECK(is_sound_scale(v), "a scale is zero; hide the entity instead");
}

inline Transform sound_pose(Transform local) {
    require_sound_position(local.position);
    require_sound_scale(local.scale);
    local.rotation = sound_rotation(local.rotation);
    return local;
}

}  // namespace shoal
