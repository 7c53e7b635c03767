#pragma once
// Computes poses from matrices in double precision, for set_world_pose() and for links that keep a world pose. Also
// checks poses. A pose is sound if it is finite, its rotation has length 1, and no scale is 0.
// Thread: all functions here are pure.

#include "shoal/table/detail/field_part.h"
#include "shoal/transform/transform.h"

namespace shoal {

struct NearestPose {
    Transform pose;
    bool is_exact = true;  ///< whether the matrix of the pose equals the given matrix, except for rounding
};

/// Returns the pose whose matrix is nearest to `matrix`. The result is exact if `matrix` has no shear.
/// Source of the nearest rotation: Higham, "Computing the polar decomposition, with applications".
SHOAL_API NearestPose nearest_pose(const Matrix3x4& matrix);
/// Returns the pose nearest to inverse(parent) x world.
SHOAL_API NearestPose nearest_relative_pose(const Matrix3x4& parent, const Matrix3x4& world);

/// Returns the pose that applies `local` first, then `root`. If the result has shear, returns the nearest pose.
SHOAL_API Transform compose(const Transform& root, const Transform& local);

/// Returns whether a matrix is finite and can be inverted.
SHOAL_API bool is_regular(const Matrix3x4& matrix);

/// Returns inverse(parent) x world. Requires: the parent can be inverted.
SHOAL_API Matrix3x4 relative_matrix(const Matrix3x4& parent, const Matrix3x4& world);

/// The slow path of sound_rotation().
SHOAL_API Quaternion mended_rotation(Quaternion rotation);

inline bool is_sound_position(Vec3 v) { return (v.x - v.x) + (v.y - v.y) + (v.z - v.z) == 0; }  // not NaN or infinite
inline bool is_sound_scale(Vec3 v) { return is_sound_position(v) && v.x != 0 && v.y != 0 && v.z != 0; }
SHOAL_API bool is_finite(const Matrix3x4& matrix);
inline float squared_length(Quaternion q) { return q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w; }
inline bool is_sound_rotation(Quaternion q) { return squared_length(q) >= 0.998f && squared_length(q) <= 1.002f; }

inline bool is_unit_rotation(Quaternion q) {  // whether its length is 1 to the last bits
    return SHOAL_LIKELY(squared_length(q) >= 1 - 1e-6f && squared_length(q) <= 1 + 1e-6f);
}

/// Returns `q` if its length is 1 to the last bits, and otherwise normalized(q), so that rotations computed from other
/// rotations do not drift. Requires: is_sound_rotation(q) (asserted in checked builds).
inline Quaternion sound_rotation(Quaternion q) { return is_unit_rotation(q) ? q : mended_rotation(q); }

/// Returns `local` with a part replaced. Shape: `value` has part.type.num_bytes() bytes. Requires: the part's field has
/// the same name, type and index as a field of Transform. Errors: the pose would not be sound; the message names the
/// component type `component`.
SHOAL_API Result<Transform> local_with(const Transform& local, const FieldPart& part, const std::byte* value,
                                       std::string_view component);

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
