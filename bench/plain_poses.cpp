#include "plain_poses.h"

#include "transform/highway_targets.h"

#include <hwy/highway.h>
#include <algorithm>
#include <bit>

HWY_BEFORE_NAMESPACE();
namespace shoal_bench {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using namespace shoal;

using Wide = hn::CappedTag<float, 16>;
constexpr std::size_t kLanes = hn::MaxLanes(Wide());

/// The three rows of `kLanes` local matrices.
struct Locals {
    alignas(64) float row0[4 * kLanes], row1[4 * kLanes], row2[4 * kLanes];
};

HWY_INLINE void compute_locals(const Vec3* position, const Quaternion* rotation, const Vec3* scale, Locals& out) {
    const Wide d;
    hn::Vec<Wide> x, y, z, w, px, py, pz, sx, sy, sz;
    hn::LoadInterleaved4(d, &rotation->x, x, y, z, w);
    hn::LoadInterleaved3(d, &position->x, px, py, pz);
    hn::LoadInterleaved3(d, &scale->x, sx, sy, sz);
    const auto x2 = hn::Add(x, x), y2 = hn::Add(y, y), z2 = hn::Add(z, z), one = hn::Set(d, 1.0f);
    const auto xx = hn::Mul(x, x2), xy = hn::Mul(x, y2), xz = hn::Mul(x, z2), yy = hn::Mul(y, y2);
    const auto yz = hn::Mul(y, z2), zz = hn::Mul(z, z2);
    const auto wx = hn::Mul(w, x2), wy = hn::Mul(w, y2), wz = hn::Mul(w, z2);
    hn::StoreInterleaved4(hn::Mul(hn::Sub(one, hn::Add(yy, zz)), sx), hn::Mul(hn::Sub(xy, wz), sy),
                          hn::Mul(hn::Add(xz, wy), sz), px, d, out.row0);
    hn::StoreInterleaved4(hn::Mul(hn::Add(xy, wz), sx), hn::Mul(hn::Sub(one, hn::Add(xx, zz)), sy),
                          hn::Mul(hn::Sub(yz, wx), sz), py, d, out.row1);
    hn::StoreInterleaved4(hn::Mul(hn::Sub(xz, wy), sx), hn::Mul(hn::Add(yz, wx), sy),
                          hn::Mul(hn::Sub(one, hn::Add(xx, yy)), sz), pz, d, out.row2);
}

/// Returns rows of a matrix product: `p` contains rows of the parent, and l0 to l2 are the rows of the local pose.
template <class D>
HWY_INLINE hn::Vec<D> multiply(D d, hn::Vec<D> p, const float* l0, const float* l1, const float* l2) {
    alignas(16) static constexpr std::uint32_t kLast[4] = {0, 0, 0, ~0u};
    const auto last = hn::BitCast(d, hn::LoadDup128(hn::RebindToUnsigned<D>(), kLast));
    const auto left = hn::Add(hn::Mul(hn::Broadcast<0>(p), hn::LoadDup128(d, l0)),
                              hn::Mul(hn::Broadcast<1>(p), hn::LoadDup128(d, l1)));
    return hn::Add(left, hn::Add(hn::Mul(hn::Broadcast<2>(p), hn::LoadDup128(d, l2)), hn::And(p, last)));
}

using Four = hn::FixedTag<float, 4>;

#if HWY_MAX_BYTES >= 64
/// A matrix in one vector, loaded in the same pieces of 32 and 16 bytes in which it was stored.
struct Matrix {
    using Eight = hn::FixedTag<float, 8>;
    hn::Vec<Wide> rows;

    static HWY_INLINE Matrix load(const float* from) {
        return {
            hn::Combine(Wide(), hn::ZeroExtendVector(Eight(), hn::LoadU(Four(), from + 8)), hn::LoadU(Eight(), from))};
    }
    HWY_INLINE void store(float* to) const {
        hn::StoreU(hn::LowerHalf(Eight(), rows), Eight(), to);
        hn::StoreU(hn::LowerHalf(Four(), hn::UpperHalf(Eight(), rows)), Four(), to + 8);
    }
    HWY_INLINE Matrix times(const float* l0, const float* l1, const float* l2) const {
        return {multiply(Wide(), rows, l0, l1, l2)};
    }
};
#else
/// A matrix in two vectors, or in three short vectors.
struct Matrix {
    using Upper = hn::CappedTag<float, 8>;
    static constexpr std::size_t kUpper = hn::MaxLanes(Upper());
    hn::Vec<Upper> rows01[8 / kUpper];
    hn::Vec<Four> row2;

    static HWY_INLINE Matrix load(const float* from) {
        Matrix m;
        for (std::size_t i = 0; i < 8 / kUpper; ++i) m.rows01[i] = hn::LoadU(Upper(), from + i * kUpper);
        m.row2 = hn::LoadU(Four(), from + 8);
        return m;
    }
    HWY_INLINE void store(float* to) const {
        for (std::size_t i = 0; i < 8 / kUpper; ++i) hn::StoreU(rows01[i], Upper(), to + i * kUpper);
        hn::StoreU(row2, Four(), to + 8);
    }
    HWY_INLINE Matrix times(const float* l0, const float* l1, const float* l2) const {
        Matrix m;
        for (std::size_t i = 0; i < 8 / kUpper; ++i) m.rows01[i] = multiply(Upper(), rows01[i], l0, l1, l2);
        m.row2 = multiply(Four(), row2, l0, l1, l2);
        return m;
    }
};
#endif

constexpr Matrix3x4 kIdentity;

/// Selects the parent's pose without a branch. The parent of a root is the identity.
HWY_INLINE const float* parent_of(const Matrix3x4* world, std::uint32_t parent) {
    const auto pose = reinterpret_cast<std::uintptr_t>(world + parent);
    const auto identity = reinterpret_cast<std::uintptr_t>(&kIdentity);
    const auto is_root = std::uintptr_t(0) - std::uintptr_t(parent == kNilRow);
    return reinterpret_cast<const float*>((pose & ~is_root) | (identity & is_root));
}

}  // namespace

PlainPoses::PlainPoses(std::span<const Transform> locals, std::span<const std::uint32_t> parents)
    : num_rows_(locals.size()),
      position_(num_rows_ + kLanes, 0),
      rotation_(num_rows_ + kLanes, 1),
      scale_(num_rows_ + kLanes, 2),
      parent_(num_rows_ + kLanes, 3),
      world_(num_rows_ + kLanes, 4) {
    for (std::size_t row = 0; row < num_rows_; ++row) {
        position_[row] = locals[row].position;
        rotation_[row] = locals[row].rotation;
        scale_[row] = locals[row].scale;
        parent_[row] = parents[row];
    }
    compute(all());
}

SHOAL_BENCH_LOOP HWY_ATTR void PlainPoses::compute(RowRange rows) {
    Locals locals;
    const std::uint32_t* const parent = parent_.data();
    Matrix3x4* const world = world_.data();
    for (std::size_t first = rows.begin; first < rows.end; first += kLanes) {
        compute_locals(&position_[first], &rotation_[first], &scale_[first], locals);
        const std::size_t count = std::min(kLanes, rows.end - first);
        for (std::size_t i = 0; i < count; ++i)
            Matrix::load(parent_of(world, parent[first + i]))
                .times(locals.row0 + 4 * i, locals.row1 + 4 * i, locals.row2 + 4 * i)
                .store(&world[first + i].row[0].x);
    }
}

SHOAL_BENCH_LOOP HWY_ATTR void PlainPoses::compute_chain(RowRange rows) {
    Locals locals;
    Matrix3x4* const world = world_.data();
    Matrix pose = Matrix::load(&kIdentity.row[0].x);
    for (std::size_t first = rows.begin; first < rows.end; first += kLanes) {
        compute_locals(&position_[first], &rotation_[first], &scale_[first], locals);
        const std::size_t count = std::min(kLanes, rows.end - first);
        for (std::size_t i = 0; i < count; ++i) {
            pose = pose.times(locals.row0 + 4 * i, locals.row1 + 4 * i, locals.row2 + 4 * i);
            pose.store(&world[first + i].row[0].x);
        }
    }
}

}  // namespace shoal_bench
HWY_AFTER_NAMESPACE();

namespace shoal_bench {

void PlainPoses::set_local(std::uint32_t row, const shoal::Transform& local) {
    position_[row] = local.position;
    rotation_[row] = local.rotation;
    scale_[row] = local.scale;
    const auto [x, y, z, w] = local.rotation;
    const shoal::Vec3 s = local.scale, p = local.position;
    using Lanes = float __attribute__((vector_size(16)));
    const float x2 = x + x, y2 = y + y, z2 = z + z;
    const float xx = x * x2, yy = y * y2, zz = z * z2, xy = x * y2, xz = x * z2, yz = y * z2;
    const float wx = w * x2, wy = w * y2, wz = w * z2;
    const Lanes l0 = {(1 - (yy + zz)) * s.x, (xy - wz) * s.y, (xz + wy) * s.z, p.x};
    const Lanes l1 = {(xy + wz) * s.x, (1 - (xx + zz)) * s.y, (yz - wx) * s.z, p.y};
    const Lanes l2 = {(xz - wy) * s.x, (yz + wx) * s.y, (1 - (xx + yy)) * s.z, p.z};
    const std::uint32_t parent = parent_[row];
    const shoal::Matrix3x4& from = parent == shoal::kNilRow ? kIdentity : world_[parent];
    for (int r = 0; r < 3; ++r) {
        const shoal::Vec4& m = from.row[r];
        world_[row].row[r] = std::bit_cast<shoal::Vec4>((m.x * l0 + m.y * l1) + (m.z * l2 + Lanes{0, 0, 0, m.w}));
    }
}

}  // namespace shoal_bench
