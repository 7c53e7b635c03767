// Computes the poses of a plan, either on one thread or on all workers.

#include "transform/pose_plan.h"

#include "shoal/job/row_ranges.h"

#include <algorithm>

namespace shoal {

void PosePlan::clear() {
    num_rows_ = 0;
    spine_.clear();
    ranges_.clear();
}

void PosePlan::compute(const PoseColumns& columns, const std::uint32_t* extents, Executor* executor) {
    compute_poses_scattered(columns, spine_.data(), spine_.size());
    if (executor == nullptr || executor->num_workers() < 2 || num_rows_ < 2 * kUsualRowsPerChunk) {
        for (const RowRange& rows : ranges_) compute_poses(columns, rows);
        return;
    }
    pieces_.clear();
    chunk_ends_.clear();
    columns_ = &columns;
    for (const RowRange& rows : ranges_) split(columns, extents, rows);
    end_chunk();
    Fence fence;
    executor->start(static_cast<std::uint32_t>(chunk_ends_.size()), &compute_chunk, this, fence);
    executor->wait(fence);
}

/// Cuts a range into pieces of about the size of a chunk, at the borders of subtrees. If a subtree is larger, its root
/// is computed immediately, and the subtrees of its children are cut in the same way.
void PosePlan::split(const PoseColumns& columns, const std::uint32_t* extents, RowRange rows) {
    RowRange piece{rows.begin, rows.begin};
    const auto end_piece = [&](std::uint32_t next) {
        if (piece.size() != 0) {
            pieces_.push_back(piece);
            chunk_rows_ += piece.size();
            if (chunk_rows_ >= kUsualRowsPerChunk) end_chunk();
        }
        piece = {next, next};
    };
    for (std::uint32_t row = rows.begin; row < rows.end;) {
        const std::uint32_t extent = std::min(extents[row], rows.end - row);
        if (extent <= kUsualRowsPerChunk) {
            row = piece.end = row + extent;
            if (chunk_rows_ + piece.size() >= kUsualRowsPerChunk) end_piece(row);
            continue;
        }
        end_piece(row + 1);
        compute_pose(columns, row++);
    }
    end_piece(rows.end);
}

void PosePlan::end_chunk() {
    if (chunk_rows_ != 0) chunk_ends_.push_back(static_cast<std::uint32_t>(pieces_.size()));
    chunk_rows_ = 0;
}

void PosePlan::compute_chunk(void* context, std::uint32_t chunk, std::uint32_t) {
    const PosePlan& plan = *static_cast<const PosePlan*>(context);
    for (std::uint32_t i = chunk == 0 ? 0 : plan.chunk_ends_[chunk - 1]; i < plan.chunk_ends_[chunk]; ++i)
        compute_poses(*plan.columns_, plan.pieces_[i]);
}

}  // namespace shoal
