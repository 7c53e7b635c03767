#pragma once
// Computes world poses from local poses. These are the inner loops of transforms and model poses. The vector
// instructions are chosen at run time. All versions round each product and each sum in the same order, so that every
// machine computes the same bits:
//
//     local      {R x S | position}; elements of R are 1 - (a + b), a - b and a + b of products q_i * (q_j + q_j)
//     world_i    (p_i0 * local_0 + p_i1 * local_1) + (p_i2 * local_2 + {0, 0, 0, p_i3}), row by row
//
// The parent of a root is the identity, so its world pose is its local pose (with every zero positive).
// Thread: calls may run in parallel if no call writes a row that another call reads or writes.

#include "shoal/base/detail/row_range.h"
#include "shoal/base/math.h"

#include <cstddef>
#include <cstdint>

namespace shoal {

inline constexpr std::uint32_t kNoParent = 0xFFFFFFFF;

/// Columns of poses, indexed by row. `parent` holds the row of the parent, or kNoParent (the same number as kNilRow)
/// for a root.
struct PoseColumns {
    const Vec3* position;
    const Quaternion* rotation;
    const Vec3* scale;
    const std::uint32_t* parent;
    Matrix3x4* world;
};

/// Computes the world poses of `rows` in ascending order.
/// Requires: parents within `rows` come before their children, and the world poses of other parents are up to date.
SHOAL_API void compute_poses(const PoseColumns& columns, RowRange rows);

/// Computes rows[0], rows[1], ... in that order. Requires: parents among these rows come before their children.
/// Cost: rows are prefetched.
SHOAL_API void compute_poses_scattered(const PoseColumns& columns, const std::uint32_t* rows, std::size_t num_rows);

/// A matrix row as a SIMD vector.
using PoseRow = float __attribute__((vector_size(16)));

struct PoseRows {
    PoseRow row0, row1, row2;
};

inline PoseRows local_rows(const Vec3& position, const Quaternion& rotation, const Vec3& scale) {
    const auto [x, y, z, w] = rotation;
    const float x2 = x + x, y2 = y + y, z2 = z + z;
    const float xx = x * x2, yy = y * y2, zz = z * z2;
    const float xy = x * y2, xz = x * z2, yz = y * z2;
    const float wx = w * x2, wy = w * y2, wz = w * z2;
    return {PoseRow{(1 - (yy + zz)) * scale.x, (xy - wz) * scale.y, (xz + wy) * scale.z, position.x},
            PoseRow{(xy + wz) * scale.x, (1 - (xx + zz)) * scale.y, (yz - wx) * scale.z, position.y},
            PoseRow{(xz - wy) * scale.x, (yz + wx) * scale.y, (1 - (xx + yy)) * scale.z, position.z}};
}

/// Computes one row of a product. `p` is the same row of the parent's matrix.
inline Vec4 product_row(const Vec4& p, const PoseRows& local) {
    return __builtin_bit_cast(Vec4, (p.x * local.row0 + p.y * local.row1) + (p.z * local.row2 + PoseRow{0, 0, 0, p.w}));
}

inline Matrix3x4 local_matrix(const Vec3& position, const Quaternion& rotation, const Vec3& scale) {
    const PoseRows rows = local_rows(position, rotation, scale);
    return {{__builtin_bit_cast(Vec4, rows.row0), __builtin_bit_cast(Vec4, rows.row1),
             __builtin_bit_cast(Vec4, rows.row2)}};
}

/// Returns the matrix that applies `b` first, then `a`.
inline Matrix3x4 product(const Matrix3x4& a, const Matrix3x4& b) {
    const PoseRows rows = {__builtin_bit_cast(PoseRow, b.row[0]), __builtin_bit_cast(PoseRow, b.row[1]),
                           __builtin_bit_cast(PoseRow, b.row[2])};
    return {{product_row(a.row[0], rows), product_row(a.row[1], rows), product_row(a.row[2], rows)}};
}

/// Computes the world pose of one row. Requires: the world pose of its parent is up to date.
inline void compute_pose(const PoseColumns& columns, std::uint32_t row) {
    static constexpr Matrix3x4 kIdentity;
    const std::uint32_t parent_row = columns.parent[row];
    const Matrix3x4& parent = parent_row == kNoParent ? kIdentity : columns.world[parent_row];
    const PoseRows local = local_rows(columns.position[row], columns.rotation[row], columns.scale[row]);
    Vec4* const world = columns.world[row].row;
    world[0] = product_row(parent.row[0], local);
    world[1] = product_row(parent.row[1], local);
    world[2] = product_row(parent.row[2], local);
}

}  // namespace shoal
