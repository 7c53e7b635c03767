// Transforms in a snapshot.

#include "shoal/state/snapshot.h"
#include "transform/transform_work.h"

#include <algorithm>

namespace shoal {

/// The manager's state, except its rows.
struct TransformManager::Work::Progress {
    std::uint64_t num_loose;
    std::uint32_t mode, num_clean;
    std::uint32_t tick, pending;
    std::uint32_t frame_begins[kStillFrames];
    std::uint32_t ended_frame, all_known, repeats, parents_first, reserved;
};

void TransformManager::save(SnapshotWriter& to) const {
    rows_.save(to);
    work_->save(to);
}

void TransformManager::Work::save(SnapshotWriter& to) const {
    SHOAL_ASSERT(!in_batch(), "transforms were saved while a TransformBatch is open; save them after it");
    Progress progress{num_loose_,
                      static_cast<std::uint32_t>(manager_.options_.mode),
                      manager_.num_clean_,
                      tick_,
                      pending_,
                      {},
                      ended_frame_,
                      all_known_,
                      repeats_,
                      static_cast<std::uint32_t>(parents_first_),
                      0};
    std::copy(std::begin(frame_begins_), std::end(frame_begins_), progress.frame_begins);
    Array<std::uint32_t> moved = moved_;
    // Removed rows are not saved; `repeats` records that the list had some.
    progress.repeats |= erase_if(moved, [&](std::uint32_t row) { return row >= table_.num_rows(); }) != 0;
    to.value("progress", progress);
    to.value("counts", manager_.counts_);
    to.array("moved", moved);
    // These two columns are written without stamps, so they must be saved completely. Otherwise, a state could share
    // outdated blocks with an earlier state.
    to.elements("extents", table_.column(kExtentColumn), sizeof(std::uint32_t), num_rows());
    to.elements("marks", table_.column(kMarkColumn), sizeof(std::uint32_t), num_rows());
}

Status TransformManager::load(SnapshotReader& from) {
    SHOAL_ASSERT(!work_->in_batch(), "transforms were loaded while a TransformBatch is open; load them after it");
    Status status = rows_.load(from);
    if (status) status = work_->load(from);
    if (status && !from.is_trusted()) status = work_->validate_rows();
    if (!status) {
        rows_.clear();
        work_->forget_rows();
    }
    return status;
}

Status TransformManager::Work::load(SnapshotReader& from) {
    Progress progress{};
    TransformCounts counts;
    Array<std::uint32_t> moved{Owner("transform manager")};
    if (Status status = from.value("progress", progress); !status) return status;
    if (Status status = from.value("counts", counts); !status) return status;
    if (Status status = from.array("moved", moved); !status) return status;
    const auto load_column = [&](const char* name, std::uint32_t* to) {
        return from.has(name) ? from.elements(name, to, sizeof *to, num_rows()) : Status();
    };
    if (Status status = load_column("extents", extents()); !status) return status;
    if (Status status = load_column("marks", marks()); !status) return status;
    const auto is_flag = [](std::uint32_t value) { return value <= 1; };
    if (progress.mode > std::uint32_t(TransformMode::kDeferred) || progress.num_clean > num_rows() ||
        progress.tick >= kMostTicks || !is_flag(progress.ended_frame) || !is_flag(progress.all_known) ||
        !is_flag(progress.repeats) || progress.parents_first > std::uint32_t(Known::kFalse) ||
        progress.pending != (progress.tick << 2 | kSetAgain) ||
        std::any_of(std::begin(progress.frame_begins), std::end(progress.frame_begins),
                    [&](std::uint32_t begin) { return begin > progress.tick; }) ||
        std::any_of(moved.begin(), moved.end(), [&](std::uint32_t row) { return row >= num_rows(); }))
        return from.error("progress", "the saved progress is invalid");
    manager_.options_.mode = static_cast<TransformMode>(progress.mode);
    manager_.num_clean_ = progress.num_clean;
    manager_.counts_ = counts;
    tick_ = progress.tick;
    pending_ = progress.pending;
    std::copy(std::begin(progress.frame_begins), std::end(progress.frame_begins), frame_begins_);
    ended_frame_ = progress.ended_frame != 0;
    all_known_ = progress.all_known != 0;
    repeats_ = progress.repeats != 0;
    parents_first_ = static_cast<Known>(progress.parents_first);
    num_loose_ = progress.num_loose;
    moved_ = std::move(moved);
    return {};
}

/// Called after all rows have been removed.
void TransformManager::Work::forget_rows() {
    manager_.num_clean_ = 0;
    moved_.clear();
    repeats_ = false;
    all_known_ = true;
    parents_first_ = Known::kNotYet;
}

}  // namespace shoal
