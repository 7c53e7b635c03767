// The loops that compute world poses, block by block. They first compute the local poses of a block, with many rows in
// one vector. Then they multiply each local pose by its parent's world pose, with each matrix in as few vectors as
// possible.
//
// Highway includes this file once for each instruction set.

#include "shoal/transform/detail/pose_kernels.h"

#include "transform/highway_targets.h"

#include <algorithm>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "transform/pose_kernels.cpp"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace shoal {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Four = hn::FixedTag<float, 4>;
using Widest = hn::CappedTag<float, 16>;

constexpr std::uint32_t kBlockRows = 16;
constexpr std::size_t kAhead = 32;  // number of rows ahead at which scattered rows are prefetched
static_assert(kBlockRows >= hn::MaxLanes(Widest()));

/// The local poses of a block: row r of matrix i begins at row[r][4 * i].
struct Locals {
    alignas(64) float row[3][4 * kBlockRows];
};

/// Rows in the columns, or a block that was gathered from scattered rows.
struct Source {
    const Vec3* position;
    const Quaternion* rotation;
    const Vec3* scale;
};

// --- local poses -----------------------------------------------------------------------------------------------------

/// Computes local poses, one row per lane of `d`, starting at row i, using the operations of local_matrix().
template <class D>
HWY_INLINE void compute_locals(D d, const Source& source, std::size_t i, Locals& out) {
    using V = hn::Vec<D>;
    V x, y, z, w, px, py, pz, sx, sy, sz;
    hn::LoadInterleaved4(d, &source.rotation[i].x, x, y, z, w);
    hn::LoadInterleaved3(d, &source.position[i].x, px, py, pz);
    hn::LoadInterleaved3(d, &source.scale[i].x, sx, sy, sz);
    const V x2 = hn::Add(x, x), y2 = hn::Add(y, y), z2 = hn::Add(z, z);
    const V xx = hn::Mul(x, x2), yy = hn::Mul(y, y2), zz = hn::Mul(z, z2);
    const V xy = hn::Mul(x, y2), xz = hn::Mul(x, z2), yz = hn::Mul(y, z2);
    const V wx = hn::Mul(w, x2), wy = hn::Mul(w, y2), wz = hn::Mul(w, z2);
    const V one = hn::Set(d, 1.0f);
    hn::StoreInterleaved4(hn::Mul(hn::Sub(one, hn::Add(yy, zz)), sx), hn::Mul(hn::Sub(xy, wz), sy),
                          hn::Mul(hn::Add(xz, wy), sz), px, d, out.row[0] + 4 * i);
    hn::StoreInterleaved4(hn::Mul(hn::Add(xy, wz), sx), hn::Mul(hn::Sub(one, hn::Add(xx, zz)), sy),
                          hn::Mul(hn::Sub(yz, wx), sz), py, d, out.row[1] + 4 * i);
    hn::StoreInterleaved4(hn::Mul(hn::Sub(xz, wy), sx), hn::Mul(hn::Add(yz, wx), sy),
                          hn::Mul(hn::Sub(one, hn::Add(xx, yy)), sz), pz, d, out.row[2] + 4 * i);
}

/// The last vector overlaps the previous one, so that nothing outside the rows is read.
template <class D>
HWY_INLINE void compute_locals_overlapped(D d, const Source& source, std::uint32_t num_rows, Locals& out) {
    constexpr std::uint32_t n = hn::MaxLanes(D());
    std::uint32_t i = 0;
    for (; i + n <= num_rows; i += n) compute_locals(d, source, i, out);
    if (i < num_rows) compute_locals(d, source, num_rows - n, out);
}

HWY_INLINE void compute_locals(const Source& source, std::uint32_t num_rows, Locals& out) {
    if (num_rows >= hn::MaxLanes(Widest())) return compute_locals_overlapped(Widest(), source, num_rows, out);
    if (num_rows >= 4) return compute_locals_overlapped(Four(), source, num_rows, out);
    for (std::uint32_t i = 0; i < num_rows; ++i) {
        const Matrix3x4 local = local_matrix(source.position[i], source.rotation[i], source.scale[i]);
        for (int r = 0; r < 3; ++r) std::memcpy(out.row[r] + 4 * i, &local.row[r], sizeof(Vec4));
    }
}

// --- products --------------------------------------------------------------------------------------------------------

/// Multiplies the rows `p` of a parent's matrix by local pose `i`, using the operations of product().
template <class D>
HWY_INLINE hn::Vec<D> product_rows(D d, hn::Vec<D> p, const Locals& locals, std::uint32_t i) {
    alignas(16) static constexpr std::uint32_t kLastLane[4] = {0, 0, 0, 0xFFFFFFFF};
    const auto last_lane = hn::BitCast(d, hn::LoadDup128(hn::RebindToUnsigned<D>(), kLastLane));
    const auto l0 = hn::LoadDup128(d, locals.row[0] + 4 * i);
    const auto l1 = hn::LoadDup128(d, locals.row[1] + 4 * i);
    const auto l2 = hn::LoadDup128(d, locals.row[2] + 4 * i);
    return hn::Add(hn::Add(hn::Mul(hn::Broadcast<0>(p), l0), hn::Mul(hn::Broadcast<1>(p), l1)),
                   hn::Add(hn::Mul(hn::Broadcast<2>(p), l2), hn::And(p, last_lane)));
}

// Poses are loaded in the same pieces in which they are stored, so that the processor can forward a stored parent to
// the loads of its children.
#if HWY_MAX_BYTES >= 64
using Eight = hn::FixedTag<float, 8>;

struct Pose {
    hn::Vec<Widest> rows;
};
HWY_INLINE Pose load_pose(const float* from) {
    const auto row2 = hn::ZeroExtendVector(Eight(), hn::LoadU(Four(), from + 8));
    return {hn::Combine(Widest(), row2, hn::LoadU(Eight(), from))};
}
HWY_INLINE void store_pose(const Pose& pose, float* to) {
    hn::StoreU(hn::LowerHalf(Eight(), pose.rows), Eight(), to);
    hn::StoreU(hn::LowerHalf(Four(), hn::UpperHalf(Eight(), pose.rows)), Four(), to + 8);
}
HWY_INLINE Pose product(const Pose& p, const Locals& locals, std::uint32_t i) {
    return {product_rows(Widest(), p.rows, locals, i)};
}
#elif HWY_MAX_BYTES == 32
struct Pose {
    hn::Vec<Widest> rows01;
    hn::Vec<Four> row2;
};
HWY_INLINE Pose load_pose(const float* from) { return {hn::LoadU(Widest(), from), hn::LoadU(Four(), from + 8)}; }
HWY_INLINE void store_pose(const Pose& pose, float* to) {
    hn::StoreU(pose.rows01, Widest(), to);
    hn::StoreU(pose.row2, Four(), to + 8);
}
HWY_INLINE Pose product(const Pose& p, const Locals& locals, std::uint32_t i) {
    return {product_rows(Widest(), p.rows01, locals, i), product_rows(Four(), p.row2, locals, i)};
}
#else
struct Pose {
    hn::Vec<Four> row0, row1, row2;
};
HWY_INLINE Pose load_pose(const float* from) {
    return {hn::LoadU(Four(), from), hn::LoadU(Four(), from + 4), hn::LoadU(Four(), from + 8)};
}
HWY_INLINE void store_pose(const Pose& pose, float* to) {
    hn::StoreU(pose.row0, Four(), to);
    hn::StoreU(pose.row1, Four(), to + 4);
    hn::StoreU(pose.row2, Four(), to + 8);
}
HWY_INLINE Pose product(const Pose& p, const Locals& locals, std::uint32_t i) {
    return {product_rows(Four(), p.row0, locals, i), product_rows(Four(), p.row1, locals, i),
            product_rows(Four(), p.row2, locals, i)};
}
#endif

HWY_INLINE float* floats_of(Matrix3x4* pose) { return &pose->row[0].x; }

/// Returns the world pose of the parent, or the identity for a root. There is no branch, because it would often be
/// mispredicted.
HWY_INLINE Pose load_parent(const PoseColumns& columns, std::uint32_t parent) {
    static constexpr Matrix3x4 kIdentity;
    const auto world = reinterpret_cast<std::uintptr_t>(columns.world + parent);
    const auto identity = reinterpret_cast<std::uintptr_t>(&kIdentity);
    const std::uintptr_t is_root = -static_cast<std::uintptr_t>(parent == kNoParent);
    return load_pose(reinterpret_cast<const float*>(world ^ ((world ^ identity) & is_root)));
}

// --- ranges ----------------------------------------------------------------------------------------------------------

/// Whether this is a full block in which each row is the child of the row before it.
HWY_INLINE bool is_chain(const std::uint32_t* parent, std::uint32_t first, std::uint32_t num_rows) {
    if (num_rows != kBlockRows) return false;
    const hn::RebindToUnsigned<Widest> d;
    auto differences = hn::Zero(d);
    for (std::uint32_t i = 0; i < kBlockRows; i += hn::MaxLanes(d))
        differences = hn::Or(differences, hn::Xor(hn::LoadU(d, parent + i), hn::Iota(d, first + i - 1)));
    return hn::AllTrue(d, hn::Eq(differences, hn::Zero(d)));
}

/// Keeps the parent in registers, so that each row waits for a product, but not for a store and a load.
HWY_INLINE void compute_chain(const PoseColumns& columns, std::uint32_t first, const Locals& locals) {
    Pose pose = load_parent(columns, columns.parent[first]);
    for (std::uint32_t i = 0; i < kBlockRows; ++i) {
        pose = product(pose, locals, i);
        store_pose(pose, floats_of(columns.world + first + i));
    }
}

HWY_INLINE void compute_worlds(const PoseColumns& columns, std::uint32_t first, std::uint32_t num_rows,
                               const Locals& locals) {
    const std::uint32_t* parent = columns.parent + first;
    for (std::uint32_t i = 0; i < num_rows; ++i)
        store_pose(product(load_parent(columns, parent[i]), locals, i), floats_of(columns.world + first + i));
}

HWY_INLINE void compute_block(const PoseColumns& columns, std::uint32_t first, std::uint32_t num_rows, Locals& locals) {
    compute_locals({columns.position + first, columns.rotation + first, columns.scale + first}, num_rows, locals);
    if (is_chain(columns.parent + first, first, num_rows))
        compute_chain(columns, first, locals);
    else
        compute_worlds(columns, first, num_rows, locals);
}

/// Full blocks have a separate loop with a constant number of rows.
HWY_ATTR void compute_range(PoseColumns columns, RowRange rows) {
    Locals locals;
    std::uint32_t first = rows.begin;
    for (; rows.end - first >= kBlockRows; first += kBlockRows) compute_block(columns, first, kBlockRows, locals);
    if (first != rows.end) compute_block(columns, first, rows.end - first, locals);
}

// --- scattered rows --------------------------------------------------------------------------------------------------

/// The local poses of scattered rows, side by side.
struct Packed {
    Vec3 position[kBlockRows];
    Quaternion rotation[kBlockRows];
    Vec3 scale[kBlockRows];
};

HWY_INLINE void fetch(const PoseColumns& columns, std::uint32_t row) {
    __builtin_prefetch(columns.position + row);
    __builtin_prefetch(columns.rotation + row);
    __builtin_prefetch(columns.scale + row);
    __builtin_prefetch(columns.parent + row);
    __builtin_prefetch(columns.world + row, 1);
}

HWY_INLINE void pack(const PoseColumns& columns, const std::uint32_t* rows, std::size_t num_rows, Packed& out) {
    for (std::size_t i = 0; i < num_rows; ++i) {
        out.position[i] = columns.position[rows[i]];
        out.rotation[i] = columns.rotation[rows[i]];
        out.scale[i] = columns.scale[rows[i]];
    }
}

HWY_ATTR void compute_scattered(PoseColumns columns, const std::uint32_t* rows, std::size_t num_rows) {
    Locals locals;
    Packed packed;
    for (std::size_t i = 0; i < std::min(num_rows, kAhead); ++i) fetch(columns, rows[i]);
    for (std::size_t first = 0; first < num_rows; first += kBlockRows) {
        const std::size_t end = std::min(num_rows, first + kBlockRows);
        for (std::size_t i = first + kAhead; i < std::min(num_rows, end + kAhead); ++i) fetch(columns, rows[i]);
        pack(columns, rows + first, end - first, packed);
        compute_locals({packed.position, packed.rotation, packed.scale}, static_cast<std::uint32_t>(end - first),
                       locals);
        for (std::size_t i = first; i < end; ++i)
            store_pose(product(load_parent(columns, columns.parent[rows[i]]), locals, std::uint32_t(i - first)),
                       floats_of(columns.world + rows[i]));
    }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace shoal
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shoal {

HWY_EXPORT(compute_range);
HWY_EXPORT(compute_scattered);

void compute_poses(const PoseColumns& columns, RowRange rows) { HWY_DYNAMIC_DISPATCH(compute_range)(columns, rows); }

void compute_poses_scattered(const PoseColumns& columns, const std::uint32_t* rows, std::size_t num_rows) {
    HWY_DYNAMIC_DISPATCH(compute_scattered)(columns, rows, num_rows);
}

}  // namespace shoal
#endif
