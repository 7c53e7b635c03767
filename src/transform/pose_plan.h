#pragma once
// A plan lists the world poses to compute, in order:
//
//     spine     rows whose subtrees are not one range: one by one, parents first, before the ranges
//     ranges    adjacent whole subtrees, whose parents are then up to date: in any order, on any thread
//
// Thread: one thread fills the plan; compute() shares the ranges among the workers of an executor.

#include "shoal/base/detail/array.h"
#include "shoal/transform/detail/pose_kernels.h"

#include <span>

namespace shoal {

class Executor;

class PosePlan {
public:
    void clear();
    bool is_empty() const { return num_rows_ == 0; }
    std::uint64_t num_rows() const { return num_rows_; }
    std::size_t num_parts() const { return spine_.size() + ranges_.size(); }
    std::span<const std::uint32_t> spine() const { return spine_; }
    std::span<const RowRange> ranges() const { return ranges_; }

    void add_range(RowRange rows) {
        num_rows_ += rows.size();
        if (!ranges_.empty() && ranges_.back().end == rows.begin)
            ranges_.back().end = rows.end;
        else
            ranges_.push_back(rows);
    }
    void add_spine(std::uint32_t row) {
        ++num_rows_;
        spine_.push_back(row);
    }

    /// Computes all poses in the plan. Shape: `extents` is indexed by row. Requires: the extents of all rows in ranges
    /// are known.
    void compute(const PoseColumns& columns, const std::uint32_t* extents, Executor* executor);

private:
    void split(const PoseColumns& columns, const std::uint32_t* extents, RowRange rows);
    void end_chunk();
    static void compute_chunk(void* context, std::uint32_t chunk, std::uint32_t worker);

    std::uint64_t num_rows_ = 0;
    Array<std::uint32_t> spine_{Owner("transform manager")};
    Array<RowRange> ranges_{Owner("transform manager")};
    // Used while workers share the ranges: pieces made of whole subtrees, and the end of each chunk in `pieces_`.
    Array<RowRange> pieces_{Owner("transform manager")};
    Array<std::uint32_t> chunk_ends_{Owner("transform manager")};
    std::uint32_t chunk_rows_ = 0;
    const PoseColumns* columns_ = nullptr;
};

}  // namespace shoal
