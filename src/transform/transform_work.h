#pragma once
// The implementation of a TransformManager: pending poses, extents, and the suffix.
//
// In addition to the fields of Transform, a row has a world pose, its parent's entity (for queries; always equal to the
// link), an extent and a mark. An extent of 0 means that the extent is unknown. If an extent is known, the extents of
// all descendants are known, so marking the extents of a row's ancestors as unknown stops at the first unknown extent.
// A mark contains a code and a tick. The tick counts computations, so that old marks need not be reset. Codes:
//
//     set         the local pose was set in this tick: the row is on the list, and its subtree is pending
//     set again   the same, and it was also set in the previous frame
//     under       seen in this tick on the way up from a row on the list: an ancestor is pending
//     clear       the same, but no ancestor is pending
//
// The list may contain a row twice, or rows that were removed or have moved; the marks decide which rows are pending. A
// pending row that moves is put on the list again. If one call outside of a batch sets ascending rows, they are not
// marked, because the call computes the list before it returns.

#include "shoal/base/detail/bit_set.h"
#include "shoal/job/executor.h"
#include "shoal/table/detail/column.h"
#include "shoal/transform/transform.h"
#include "transform/pose_plan.h"

namespace shoal {

/// Rows are prefetched only for spans of at least this length. The rows of shorter spans are already in the cache.
inline constexpr std::size_t kFetchFrom = 4096;

class TransformManager::Work {
public:
    explicit Work(TransformManager& manager)
        : manager_(manager), entities_(manager.rows_.entity_manager()), rows_(manager.rows_), table_(rows_.table()) {
        begin_frame();
        follow_activity();
    }
    ~Work() { entities_.inactive().remove_speaker(this); }
    Work(const Work&) = delete;

    enum Code : std::uint32_t { kClear, kUnder, kSet, kSetAgain };

    static constexpr std::uint32_t kPositionColumn = FieldLayout<&Transform::position>::kFirstColumn;
    static constexpr std::uint32_t kRotationColumn = FieldLayout<&Transform::rotation>::kFirstColumn;
    static constexpr std::uint32_t kScaleColumn = FieldLayout<&Transform::scale>::kFirstColumn;
    static constexpr std::uint32_t kLocalMask = 1u << kPositionColumn | 1u << kRotationColumn | 1u << kScaleColumn;
    static constexpr std::uint32_t kExtentColumn = kParentColumn + 1;
    static constexpr std::uint32_t kMarkColumn = kParentColumn + 2;

    // --- columns -------------------------------------------------------------------------------------------------

    template <class T>
    T* column(std::uint32_t index) {
        return reinterpret_cast<T*>(table_.unmarked_column(index));
    }
    std::uint32_t* extents() { return column<std::uint32_t>(kExtentColumn); }
    std::uint32_t* marks() { return column<std::uint32_t>(kMarkColumn); }
    Entity* parent_entities() { return column<Entity>(kParentColumn); }
    Matrix3x4* worlds() { return column<Matrix3x4>(kWorldColumn); }
    const std::uint32_t* parents() const { return table_.links(LinkColumn::kTreeParent).data(); }
    const std::uint32_t* first_children() const { return table_.links(LinkColumn::kTreeFirstChild).data(); }
    const std::uint32_t* next_siblings() const { return table_.links(LinkColumn::kTreeNext).data(); }
    PoseColumns pose_columns() {
        return {column<Vec3>(kPositionColumn), column<Quaternion>(kRotationColumn), column<Vec3>(kScaleColumn),
                parents(), worlds()};
    }
    std::uint32_t num_rows() const { return table_.num_rows(); }
    Entity owner(std::uint32_t row) const { return table_.entities()[row]; }
    Entity owner_or_null(std::uint32_t row) const { return row == kNilRow ? kNullEntity : owner(row); }
    std::uint32_t row_of(Entity entity) const { return rows_.find(entity); }
    void write_local(std::uint32_t row, const Transform& local);
    /// Stamps one row in the columns of `mask`. Requires: the row exists.
    SHOAL_INLINE void stamp(std::uint32_t mask, std::uint32_t row) {
        for (std::uint32_t column = 0; column <= kParentColumn; ++column)
            if ((mask >> column & 1) != 0) table_.mark_existing(column, row);
    }
    void stamp(std::uint32_t mask, RowRange rows) {
        for (std::uint32_t column = 0; column <= kParentColumn; ++column)
            if ((mask >> column & 1) != 0) table_.mark_written(column, rows);
    }

    // --- what is inactive (transform_activity.cpp) ---------------------------------------------------------------

    void follow_parent(std::uint32_t row);
    /// Calls follow_parent() for new rows. Requires: parents come before children.
    void follow_parents(RowRange rows) {
        if (SHOAL_LIKELY(entities_.inactive().empty())) return;
        for (std::uint32_t row = rows.begin; row < rows.end; ++row) follow_parent(row);
    }
    void pass_activity_on(std::uint32_t root);
    void follow_activity();

    // --- what is pending (transform_compute.cpp) -----------------------------------------------------------------

    bool is_pending(std::uint32_t mark) const { return (mark | 1) == pending_; }
    bool has_pending() const { return !moved_.empty(); }
    /// Puts a row on the list, unless it is already there.
    void note(std::uint32_t row) {
        std::uint32_t& mark = marks()[row];
        if (is_pending(mark)) return;
        mark = pending_ - (was_moving(mark, frame_begins_[0], frame_begins_[1]) ? 0 : 1);
        moved_.push_back(row);
    }
    /// Like note(), but for many rows. Skips kNilRow. Returns the number of rows that were put on the list.
    std::size_t note_found(std::span<const std::uint32_t> rows);
    /// If the rows ascend and come after those on the list, appends them without marking them. Returns whether it did
    /// so.
    bool list_in_order(std::span<const std::uint32_t> rows);
    /// Marks the rows that are on the list without a mark.
    void mark_listed();
    /// Whether list_in_order() may be used, because nothing else will happen before the list is computed. Requires: a
    /// batch is open.
    bool needs_no_marks() const {
        return batch_depth_ == 1 && manager_.options_.mode == TransformMode::kImmediate && !has_pending() &&
               !repeats_ && all_known_;
    }
    /// Adds to the list the rows that a query has written.
    void note_written(std::span<const std::uint32_t> rows) {
        if (!needs_no_marks() || !list_in_order(rows)) note_found(rows);
    }
    /// Normalizes the poses written to some rows, as the setters do.
    void make_sound(std::uint64_t columns, std::span<const std::uint32_t> rows);
    /// Called after a local pose has changed. Depending on the mode, computes the subtree of the row or puts the row on
    /// the list.
    void touch(std::uint32_t row) {
        if (batch_depth_ != 0 || manager_.options_.mode == TransformMode::kDeferred)
            note(row);
        else
            compute_subtree(row);
    }
    void compute_subtree(std::uint32_t row);
    /// Finds the rows of many entities. Calls fetch(row) for rows that will soon be written, and write(i, row, count)
    /// for each run of rows. Puts the rows on the list, and returns the number of rows that were found.
    template <class Write, class Fetch>
    std::size_t set_each(std::span<const Entity> entities, std::uint32_t mask, Write&& write, Fetch&& fetch);
    /// Computes the world pose of one row if it is out of date. Returns whether the row or an ancestor is
    /// pending.
    bool refresh(std::uint32_t row);
    void begin_batch() { ++batch_depth_; }
    void end_batch(Executor* executor) {
        if (--batch_depth_ == 0 && manager_.options_.mode == TransformMode::kImmediate) compute_pending(executor);
    }
    bool in_batch() const { return batch_depth_ != 0; }
    void compute_pending(Executor* executor);
    void end_frame(Executor* executor);
    /// Whether a frame has ended since the last settle.
    bool ended_frame() const { return ended_frame_; }
    void begin_settled_frame() {
        ended_frame_ = false;
        restore_order_if_it_pays();
    }
    /// Computes the world poses of rows. Requires: parents are among these rows, before their children.
    void compute_rows(RowRange rows);
    Status validate();
    /// Like validate(), but does not recompute the poses.
    Status validate_rows();

    // --- saving (transform_state.cpp) ----------------------------------------------------------------------------

    void save(SnapshotWriter& to) const;
    Status load(SnapshotReader& from);
    void forget_rows();

    // --- order (transform_order.cpp) -----------------------------------------------------------------------------

    void swap_rows(std::uint32_t a, std::uint32_t b);
    /// Marks the extents of the row and of all its ancestors as unknown.
    void break_up(std::uint32_t row);
    /// Marks the extents of ranges that cross the border before `row` as unknown.
    void cut(std::uint32_t row) {
        if (row < table_.num_rows()) break_up(parents()[row]);
    }
    /// Called before a row moves away from the rest of its subtree.
    void uproot(std::uint32_t row);
    /// Computes the extents of rows that are whole subtrees in depth-first order.
    void set_extents(RowRange rows);
    /// Puts rows into depth-first order. Requires: no other rows are linked to them.
    void order(RowRange rows);
    void restore_order();
    void restore_order_if_it_pays();
    bool parents_first();
    void links_changed() { parents_first_ = Known::kNotYet; }
    bool is_ancestor(std::uint32_t ancestor, std::uint32_t row);
    std::uint32_t next_in_subtree(std::uint32_t row, std::uint32_t root) const;

    /// enter() moves the subtree of a clean row into the suffix, and leave() moves a subtree out of it.
    void enter(std::uint32_t row);
    void leave(std::uint32_t row);
    void leave_all() { manager_.num_clean_ = table_.num_rows(); }

    /// Links a child, or makes it a root if `parent` is kNilRow. Returns the child's new row.
    std::uint32_t link(std::uint32_t child, std::uint32_t parent);
    /// Like link(), but keeps one of the child's poses.
    void link_keeping(std::uint32_t child, std::uint32_t parent, KeepPose keep);
    /// Sets the local pose of a row so that its world pose becomes `world`, and returns whether the result is exact.
    /// `is_stale` tells whether the row was pending.
    bool set_world(std::uint32_t row, const Matrix3x4& world, bool is_stale);
    void remove_row(std::uint32_t row);

    // --- adding and removing rows (transform.cpp) ----------------------------------------------------------------

    /// Shape: one pose per entity, or one pose for all entities.
    Result<AddCounts> add(std::span<const Entity> entities, std::span<const Transform> locals,
                          std::span<const std::uint32_t> parents);
    Status spawn(const SpawnBatch& batch);
    std::uint32_t remove(std::span<const Entity> entities, bool only_dead);
    void destroy_children(std::span<const Entity> dead);

private:
    struct Progress;
    enum class Known : std::uint8_t { kNotYet, kTrue, kFalse };

    static constexpr std::uint32_t kStillFrames = 5;
    static constexpr std::uint32_t kMostTicks = 1u << 29;

    /// Returns whether a row was set in the previous frame, given its mark and the first ticks of this and the previous
    /// frame.
    static bool was_moving(std::uint32_t mark, std::uint32_t this_frame, std::uint32_t last_frame) {
        if ((mark & kSet) == 0 || mark >> 2 < last_frame) return false;
        return mark >> 2 < this_frame || (mark & 3) == kSetAgain;
    }
    template <class Write>
    void write_found(std::span<const std::uint32_t> rows, std::uint32_t mask, Write&& write);
    void begin_frame();
    void next_tick();
    bool has_pending_ancestor(std::uint32_t row);
    bool sort_moved();
    std::uint32_t plan_subtree(PosePlan& plan, std::uint32_t row, std::uint32_t end_row);
    void plan_broken(PosePlan& plan, std::uint32_t root, std::uint32_t end_row);
    bool plan_moved(std::uint32_t end_row, bool enters);
    void plan_suffix(bool in_order);
    std::uint32_t plan_block(RowRange rows, bool is_under);
    std::uint32_t plan_loose_block(std::uint32_t root, bool is_under);
    bool prefers_full_pass();
    void compute_plan(PosePlan& plan, Executor* executor);
    void compute_plans(Executor* executor);
    /// If a row that has moved is pending, puts it on the list again.
    void list_again(std::uint32_t row) {
        if (!is_pending(marks()[row])) return;
        moved_.push_back(row);
        repeats_ = true;
    }
    void exchange(RowRange block, std::uint32_t to);
    bool gather_subtree(std::uint32_t root, RowRange rows);
    void move_gathered(std::uint32_t to, bool is_whole);
    std::uint32_t move_parent_down(std::uint32_t last, std::uint32_t first, std::uint32_t hole);
    void admit(RowRange rows);
    bool link_new(RowRange rows, std::span<const std::uint32_t> parents);
    bool add_extents(RowRange rows);
    void write_locals(RowRange rows, std::span<const Transform> locals);
    Result<AddCounts> add_some(std::span<const Entity> entities, std::span<const Transform> locals,
                               std::span<const std::uint32_t> parents, std::uint32_t highest);
    void free_children(std::uint32_t row, Array<Entity>& freed);
    Status check_poses(const SpawnBatch& batch);
    Status find_parents(const SpawnBatch& batch, Array<std::uint32_t>& parents);
    Status validate_extents();
    Status validate_poses();

    TransformManager& manager_;
    EntityManager& entities_;
    OwnedRows& rows_;
    Table& table_;
    Array<std::uint32_t> moved_{Owner("transform manager")};
    std::uint32_t tick_ = 0;
    std::uint32_t pending_ = 0;                      // mark of a row set in this tick and in the previous frame
    std::uint32_t frame_begins_[kStillFrames] = {};  // first ticks of this frame and of the frames before it
    std::uint32_t batch_depth_ = 0;
    bool ended_frame_ = false;  // since the last settle
    bool all_known_ = true;     // no extent is unknown
    Known parents_first_ = Known::kNotYet;
    std::uint64_t num_loose_ = 0;  // rows computed one by one since the order was last restored
    bool repeats_ = false;         // the list may contain a row twice, or a row that is not pending

    PosePlan plan_;         // for the rows on the list
    PosePlan suffix_plan_;  // for pending rows in the suffix, computed after plan_
    Array<Entity> entering_{Owner("transform manager")};
    Array<Entity> leaving_{Owner("transform manager")};
    Array<Entity> subtree_{Owner("transform manager")};
    BitSet bits_{Owner("transform manager")};
};

}  // namespace shoal
