// Computes the world poses of moved rows, either immediately, at the end of a batch, or at the end of a frame.

#include "transform/transform_work.h"

#include <algorithm>
#include <utility>

namespace shoal {
namespace {

constexpr std::size_t kSortShare = 32;  // a list of at least 1/32 of all rows is sorted as a bit set
constexpr std::size_t kFewParts = 16;
// Starting a part of a plan costs as much as computing this many rows, because its first rows are not prefetched.
constexpr std::uint64_t kPartRows = 8, kFarPartRows = 32;
constexpr std::uint32_t kCachedRows = 1u << 18;  // larger tables do not fit into the cache

bool ascend(std::span<const std::uint32_t> rows) {
    std::uint32_t num_falls = 0;
    for (std::size_t i = 1; i < rows.size(); ++i) num_falls += rows[i - 1] >= rows[i];
    return num_falls == 0;
}

/// In a strictly ascending list, returns the first row that is not below `row`.
SHOAL_INLINE const std::uint32_t* skip_below(const std::uint32_t* next, const std::uint32_t* end, std::uint32_t row) {
    if (next == end || *next >= row) return next;
    // At most this many rows on the list are below `row`, and exactly this many if the list contains every row.
    const std::ptrdiff_t most = std::min<std::ptrdiff_t>(end - next, row - *next);
    return next[most - 1] < row ? next + most : std::lower_bound(next, next + most, row);
}

}  // namespace

// --- ticks and frames --------------------------------------------------------------------------------------------

void TransformManager::Work::next_tick() {
    if (++tick_ == kMostTicks) {
        std::fill_n(marks(), table_.num_rows(), 0u);
        std::fill(std::begin(frame_begins_), std::end(frame_begins_), 0u);
        tick_ = 1;
    }
    pending_ = tick_ << 2 | kSetAgain;
    moved_.clear();
    repeats_ = false;
}

void TransformManager::Work::begin_frame() {
    next_tick();
    std::copy_backward(frame_begins_, frame_begins_ + kStillFrames - 1, frame_begins_ + kStillFrames);
    frame_begins_[0] = tick_;
}

// --- what is pending ---------------------------------------------------------------------------------------------

std::size_t TransformManager::Work::note_found(std::span<const std::uint32_t> rows) {
    std::uint32_t* const mark = marks();
    const std::size_t num_listed = moved_.size();
    moved_.resize(num_listed + rows.size());
    std::uint32_t* const first = moved_.data() + num_listed;
    std::uint32_t* next = first;
    std::size_t num_found = 0;
    const std::uint32_t pending = pending_, this_frame = frame_begins_[0], last_frame = frame_begins_[1];
    for (const std::uint32_t row : rows) {
        if (SHOAL_UNLIKELY(row == kNilRow)) continue;
        ++num_found;
        const std::uint32_t old = mark[row];
        if ((old | 1) == pending) continue;
        mark[row] = pending - (was_moving(old, this_frame, last_frame) ? 0 : 1);
        *next++ = row;
    }
    moved_.resize(num_listed + static_cast<std::size_t>(next - first));
    return num_found;
}

bool TransformManager::Work::list_in_order(std::span<const std::uint32_t> rows) {
    if (!ascend(rows) || rows.back() == kNilRow || (has_pending() && rows.front() <= moved_.back())) return false;
    moved_.insert(moved_.end(), rows.begin(), rows.end());
    return true;
}

void TransformManager::Work::mark_listed() {
    for (const std::uint32_t row : moved_) marks()[row] = pending_ - 1;
}

/// Returns whether an ancestor is pending. Marks the rows that it visits on the way up, so that no row is visited twice
/// in a tick.
bool TransformManager::Work::has_pending_ancestor(std::uint32_t row) {
    const std::uint32_t* const parent_of = parents();
    std::uint32_t* const mark = marks();
    Code verdict = kClear;
    std::uint32_t end = parent_of[row];
    for (; end != kNilRow; end = parent_of[end]) {
        if (mark[end] >> 2 != tick_) continue;
        verdict = (mark[end] & 3) == kClear ? kClear : kUnder;
        break;
    }
    for (std::uint32_t above = parent_of[row]; above != end; above = parent_of[above])
        mark[above] = tick_ << 2 | verdict;
    return verdict == kUnder;
}

bool TransformManager::Work::refresh(std::uint32_t row) {
    if (!has_pending()) return false;
    std::uint32_t top = kNilRow;
    for (std::uint32_t above = row; above != kNilRow; above = parents()[above])
        if (is_pending(marks()[above])) top = above;
    if (top == kNilRow) return false;
    Array<std::uint32_t> path{Owner("transform manager")};
    for (std::uint32_t above = row;; above = parents()[above]) {
        path.push_back(above);
        if (above == top) break;
    }
    std::reverse(path.begin(), path.end());
    plan_.clear();
    for (const std::uint32_t step : path) plan_.add_spine(step);
    compute_plan(plan_, nullptr);
    return true;
}

/// Sorts the list if that is worth its cost. Returns whether it is strictly ascending.
bool TransformManager::Work::sort_moved() {
    if (ascend(moved_)) return true;
    const std::uint32_t num_rows = table_.num_rows();
    if (moved_.size() < num_rows / kSortShare) {
        if (!repeats_) return false;
        std::sort(moved_.begin(), moved_.end());
        moved_.erase(std::unique(moved_.begin(), moved_.end()), moved_.end());
        return true;
    }
    bits_.clear();
    bits_.resize(num_rows);
    for (const std::uint32_t row : moved_)
        if (row < num_rows) bits_.set(row);
    moved_.clear();
    bits_.for_each([&](std::size_t row) { moved_.push_back(static_cast<std::uint32_t>(row)); });
    return true;
}

// --- plans -------------------------------------------------------------------------------------------------------

/// Plans the rows of a subtree that are below `end_row`. Returns the end of the subtree's range, or 0 if the subtree
/// is not one range.
std::uint32_t TransformManager::Work::plan_subtree(PosePlan& plan, std::uint32_t row, std::uint32_t end_row) {
    const std::uint32_t extent = extents()[row];
    if (SHOAL_UNLIKELY(extent == 0)) {
        plan_broken(plan, row, end_row);
        return 0;
    }
    const std::uint32_t end = std::min(row + extent, end_row);
    plan.add_range({row, end});
    return end;
}

void TransformManager::Work::plan_broken(PosePlan& plan, std::uint32_t root, std::uint32_t end_row) {
    const std::uint32_t* const parent_of = parents();
    const std::uint32_t* const first_child = first_children();
    const std::uint32_t* const next = next_siblings();
    const std::uint32_t* const extent = extents();
    for (std::uint32_t row = root;;) {
        const bool is_broken = extent[row] == 0;
        if (row < end_row && is_broken) plan.add_spine(row);
        if (row < end_row && !is_broken) plan.add_range({row, std::min(row + extent[row], end_row)});
        if (row < end_row && is_broken && first_child[row] != kNilRow) {
            row = first_child[row];
            continue;
        }
        while (row != root && next[row] == kNilRow) row = parent_of[row];
        if (row == root) return;
        row = next[row];
    }
}

/// Plans the subtree of each row on the list exactly once. At the end of a frame (`enters`), rows that were also on the
/// list in the previous frame are chosen for the suffix.
bool TransformManager::Work::plan_moved(std::uint32_t end_row, bool enters) {
    const bool in_order = sort_moved();
    // If the list ascends, descendants of a pending row are skipped along with its range.
    const bool may_be_below = !(in_order && all_known_);
    const std::uint32_t* const mark = marks();
    const std::uint32_t* const extent = extents();
    RowRange run;  // adjacent subtrees
    for (const std::uint32_t *next = moved_.data(), *const end = next + moved_.size(); next != end;) {
        const std::uint32_t row = *next++;
        if (in_order && row >= end_row) break;
        if (row >= end_row || (repeats_ && !is_pending(mark[row]))) continue;
        if (may_be_below && has_pending_ancestor(row)) continue;
        if (enters && mark[row] == pending_) entering_.push_back(owner(row));
        if (SHOAL_UNLIKELY(extent[row] == 0)) {
            plan_broken(plan_, row, end_row);
            continue;
        }
        if (row != run.end) {
            if (run.size() != 0) plan_.add_range(run);
            run.begin = row;
        }
        run.end = std::min(row + extent[row], end_row);
        if (in_order) next = skip_below(next, end, run.end);
    }
    if (run.size() != 0) plan_.add_range(run);
    return in_order;
}

/// Plans the pending poses in the suffix, and chooses the subtrees that have rested long enough to leave the suffix.
void TransformManager::Work::plan_suffix(bool in_order) {
    const std::uint32_t* const parent_of = parents();
    const std::uint32_t* const extent = extents();
    const std::uint32_t* const mark = marks();
    const std::uint32_t begin = manager_.num_clean_, end = table_.num_rows();
    const bool clean_moved = !plan_.is_empty();
    // If the list is in order, it has the roots of all subtrees that move as a whole. These subtrees fill most of the
    // suffix.
    const bool follows_list = in_order && all_known_ && !repeats_;
    const std::uint32_t *const list = moved_.data(), *const list_end = list + moved_.size();
    const std::uint32_t* listed = follows_list ? std::lower_bound(list, list_end, begin) : list_end;
    RowRange run{begin, begin};  // a run of such subtrees
    for (std::uint32_t row = begin; row < end;) {
        if (listed != list_end && *listed == row) {
            if (row != run.end) {
                if (run.size() != 0) suffix_plan_.add_range(run);
                run.begin = row;
            }
            // The next root comes from the list, so the loads of extents do not depend on each other.
            do {
                row = *listed + extent[*listed];
                listed = skip_below(listed + 1, list_end, row);
            } while (listed != list_end && *listed == row);
            run.end = row;
            continue;
        }
        const std::uint32_t parent = parent_of[row], next = row + std::max(extent[row], 1u);
        const std::uint32_t root = std::exchange(row, next);
        listed = skip_below(listed, list_end, row);
        if (parent != kNilRow && parent >= begin) continue;  // part of a subtree that is not one range
        if (extent[root] != 0 && is_pending(mark[root])) {
            if (root != run.end) {
                if (run.size() != 0) suffix_plan_.add_range(run);
                run.begin = root;
            }
            run.end = next;
            continue;
        }
        const bool is_under = clean_moved && parent != kNilRow && has_pending_ancestor(root);
        const std::uint32_t last_tick =
            extent[root] != 0 ? plan_block({root, next}, is_under) : plan_loose_block(root, is_under);
        if (last_tick < frame_begins_[kStillFrames - 1]) leaving_.push_back(owner(root));
    }
    if (run.size() != 0) suffix_plan_.add_range(run);
}

/// Plans the pending poses of a subtree that is one range in the suffix. If an ancestor is pending (`is_under`), plans
/// all of its poses. Returns the last tick in which anything in the subtree moved.
std::uint32_t TransformManager::Work::plan_block(RowRange rows, bool is_under) {
    const std::uint32_t* const mark = marks();
    const std::uint32_t* const extent = extents();
    std::uint32_t last_tick = 0;
    if (is_under) suffix_plan_.add_range(rows);
    for (std::uint32_t row = rows.begin; row < rows.end;) {
        if (!is_pending(mark[row])) {
            last_tick = std::max(last_tick, mark[row++] >> 2);
            continue;
        }
        last_tick = tick_;
        if (!is_under) suffix_plan_.add_range({row, row + extent[row]});
        row += extent[row];
    }
    return last_tick;
}

/// Like plan_block(), but for a subtree that is not one range in the suffix.
std::uint32_t TransformManager::Work::plan_loose_block(std::uint32_t root, bool is_under) {
    std::uint32_t last_tick = 0;
    for (std::uint32_t row = root; row != kNilRow; row = next_in_subtree(row, root)) {
        last_tick = std::max(last_tick, marks()[row] >> 2);
        is_under |= is_pending(marks()[row]);
    }
    if (is_under) plan_broken(suffix_plan_, root, table_.num_rows());
    num_loose_ += extents()[root] == 0;
    return last_tick;
}

// --- computing ---------------------------------------------------------------------------------------------------

void TransformManager::Work::compute_rows(RowRange rows) {
    compute_poses(pose_columns(), rows);
    table_.mark_written(kWorldColumn, rows);
    manager_.counts_.num_worlds_computed += rows.size();
}

void TransformManager::Work::compute_plan(PosePlan& plan, Executor* executor) {
    if (plan.is_empty()) return;
    plan.compute(pose_columns(), extents(), executor);
    for (const std::uint32_t row : plan.spine()) table_.mark_written(kWorldColumn, {row, row + 1});
    for (const RowRange& rows : plan.ranges()) table_.mark_written(kWorldColumn, rows);
    manager_.counts_.num_worlds_computed += plan.num_rows();
    num_loose_ += plan.spine().size();
}

/// Returns whether one pass over all rows is possible and cheaper than the plans. The result affects when the order is
/// restored, and thus the state, so it must not depend on the number of workers. Workers share a pass by cutting it
/// between subtrees, so all extents must be known.
bool TransformManager::Work::prefers_full_pass() {
    const std::uint64_t num_planned = plan_.num_rows() + suffix_plan_.num_rows();
    const std::size_t num_parts = plan_.num_parts() + suffix_plan_.num_parts();
    const std::uint64_t part_rows = table_.num_rows() > kCachedRows ? kFarPartRows : kPartRows;
    if (num_parts < kFewParts || num_planned + num_parts * part_rows < table_.num_rows()) return false;
    return all_known_ && parents_first();
}

void TransformManager::Work::compute_plans(Executor* executor) {
    if (prefers_full_pass()) {
        plan_.clear();
        suffix_plan_.clear();
        plan_.add_range({0, table_.num_rows()});
    }
    compute_plan(plan_, executor);
    compute_plan(suffix_plan_, executor);
}

void TransformManager::Work::compute_subtree(std::uint32_t row) {
    if (SHOAL_LIKELY(extents()[row] == 1)) {
        compute_pose(pose_columns(), row);
        stamp(1u << kWorldColumn, row);
        ++manager_.counts_.num_worlds_computed;
        return;
    }
    plan_.clear();
    plan_subtree(plan_, row, table_.num_rows());
    compute_plan(plan_, nullptr);
}

void TransformManager::Work::compute_pending(Executor* executor) {
    if (!has_pending()) return;
    plan_.clear();
    suffix_plan_.clear();
    plan_moved(table_.num_rows(), false);
    compute_plans(executor);
    next_tick();
}

void TransformManager::Work::end_frame(Executor* executor) {
    plan_.clear();
    suffix_plan_.clear();
    const bool in_order = plan_moved(manager_.num_clean_, true);
    plan_suffix(in_order);
    compute_plans(executor);
    begin_frame();
    for (const Entity entity : leaving_) leave(row_of(entity));
    leaving_.clear();
    // Enter in descending order, so that no subtree is swapped with rows of another subtree that will enter.
    std::sort(entering_.begin(), entering_.end(), [&](Entity a, Entity b) { return row_of(a) > row_of(b); });
    for (const Entity entity : entering_) enter(row_of(entity));
    entering_.clear();
    ended_frame_ = true;
    restore_order_if_it_pays();
}

// --- modes and batches -------------------------------------------------------------------------------------------

void TransformManager::set_mode(TransformMode mode) {
    SHOAL_ASSERT(!work_->in_batch(), "the mode was changed inside a batch; change it when the batch has ended");
    work_->compute_pending(nullptr);
    work_->leave_all();
    options_.mode = mode;
}

void TransformManager::compute_moved(Executor* executor) {
    SHOAL_ASSERT(options_.mode == TransformMode::kDeferred,
                 "only deferred transforms are computed once a frame; make the manager with TransformMode::kDeferred");
    rows_.require_no_loop("compute_moved()");
    work_->end_frame(executor);
}

TransformBatch::TransformBatch(TransformManager& transforms, Executor* executor)
    : transforms_(transforms), executor_(executor) {
    transforms_.work_->begin_batch();
}

TransformBatch::~TransformBatch() { transforms_.work_->end_batch(executor_); }

}  // namespace shoal
