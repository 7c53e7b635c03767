#pragma once
// The reference for transforms: poses as plain arrays, with parents first. The loops are vectorized by hand. They
// compute the local poses of as many rows as a vector has lanes, then multiply each pose by the parent's pose.

#include "reference.h"
#include "shoal/base/detail/row_range.h"
#include "shoal/base/math.h"
#include "shoal/transform/transform.h"

#include <bit>

namespace shoal_bench {

class PlainPoses {
public:
    PlainPoses(std::span<const shoal::Transform> locals, std::span<const std::uint32_t> parents);

    /// Computes rows in order; a parent is shoal::kNilRow or an earlier row.
    void compute(shoal::RowRange rows);
    /// Computes a chain of rows, in which each row is the child of the previous row. The parent stays in registers.
    void compute_chain(shoal::RowRange rows);
    /// Writes one local pose and computes its row.
    void set_local(std::uint32_t row, const shoal::Transform& local);

    std::size_t num_rows() const { return num_rows_; }
    shoal::RowRange all() const { return {0, static_cast<std::uint32_t>(num_rows_)}; }
    shoal::Vec3& position(std::uint32_t row) { return position_[row]; }
    const shoal::Matrix3x4& world(std::uint32_t row) const { return world_[row]; }

private:
    std::size_t num_rows_;
    // By row, with padding for vectors that read past the end.
    PlainColumn<shoal::Vec3> position_;
    PlainColumn<shoal::Quaternion> rotation_;
    PlainColumn<shoal::Vec3> scale_;
    PlainColumn<std::uint32_t> parent_;
    PlainColumn<shoal::Matrix3x4> world_;
};

inline std::uint64_t bits_of(const shoal::Matrix3x4& pose) {
    std::uint64_t result = 0;
    for (const shoal::Vec4& row : pose.row)
        for (const float value : {row.x, row.y, row.z, row.w})
            result = result * 0x9E3779B97F4A7C15 + std::bit_cast<std::uint32_t>(value);
    return result;
}

}  // namespace shoal_bench
