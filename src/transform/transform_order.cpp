// Keeps the order of rows: finds extents, restores the depth-first order, and moves subtrees into and out of the
// suffix.

#include "transform/transform_work.h"

#include <algorithm>

namespace shoal {
namespace {

constexpr std::uint32_t kManyChildren = 16;

}  // namespace

// --- extents -----------------------------------------------------------------------------------------------------

void TransformManager::Work::break_up(std::uint32_t row) {
    std::uint32_t* const extent = extents();
    for (; row != kNilRow && extent[row] != 0; row = parents()[row]) {
        extent[row] = 0;
        all_known_ = false;
    }
}

void TransformManager::Work::uproot(std::uint32_t row) {
    break_up(parents()[row]);
    if (extents()[row] > 1) break_up(row);
}

void TransformManager::Work::set_extents(RowRange rows) {
    const std::uint32_t* const parent_of = parents();
    std::uint32_t* const extent = extents();
    std::fill(extent + rows.begin, extent + rows.end, 1u);
    for (std::uint32_t row = rows.end; row-- > rows.begin;)
        if (const std::uint32_t parent = parent_of[row]; parent != kNilRow && parent >= rows.begin && parent < row)
            extent[parent] += extent[row];
}

bool TransformManager::Work::is_ancestor(std::uint32_t ancestor, std::uint32_t row) {
    if (first_children()[ancestor] == kNilRow) return ancestor == row;
    if (const std::uint32_t extent = extents()[ancestor]; extent != 0) return row - ancestor < extent;
    while (row != kNilRow && row != ancestor) row = parents()[row];
    return row == ancestor;
}

std::uint32_t TransformManager::Work::next_in_subtree(std::uint32_t row, std::uint32_t root) const {
    if (const std::uint32_t child = first_children()[row]; child != kNilRow) return child;
    while (row != root && next_siblings()[row] == kNilRow) {
        row = parents()[row];
        SHOAL_ASSERT(row != kNilRow, "the instance is not in the subtree of this root");
    }
    return row == root ? kNilRow : next_siblings()[row];
}

// --- depth-first order -------------------------------------------------------------------------------------------

bool TransformManager::Work::parents_first() {
    if (parents_first_ != Known::kNotYet) return parents_first_ == Known::kTrue;
    const std::uint32_t* const parent_of = parents();
    bool is_first = true;
    for (std::uint32_t row = 0; row < table_.num_rows(); ++row)
        is_first &= parent_of[row] == kNilRow || parent_of[row] < row;
    parents_first_ = is_first ? Known::kTrue : Known::kFalse;
    return is_first;
}

void TransformManager::Work::order(RowRange rows) {
    Array<std::uint32_t> from{Owner("transform manager")};
    from.reserve(rows.size());
    for (std::uint32_t root = rows.begin; root < rows.end; ++root) {
        if (parents()[root] != kNilRow) continue;
        for (std::uint32_t row = root; row != kNilRow; row = next_in_subtree(row, root)) from.push_back(row);
    }
    table_.permute(rows, from);
    set_extents(rows);
    links_changed();
}

void TransformManager::Work::restore_order() {
    num_loose_ = 0;
    if (all_known_) return;
    order({0, table_.num_rows()});
    leave_all();
    all_known_ = true;
    parents_first_ = Known::kTrue;
    ++manager_.counts_.num_restores;
    if (!has_pending()) return;
    moved_.clear();
    repeats_ = false;
    for (std::uint32_t row = 0; row < table_.num_rows(); ++row)
        if (is_pending(marks()[row])) moved_.push_back(row);
}

/// Following links costs about as much per row as restoring the order. If the order is restored only after following
/// links has cost as much as restoring it would, the total cost at most doubles.
void TransformManager::Work::restore_order_if_it_pays() {
    if (num_loose_ > table_.num_rows()) restore_order();
}

// --- moving rows -------------------------------------------------------------------------------------------------

void TransformManager::Work::swap_rows(std::uint32_t a, std::uint32_t b) {
    table_.swap(a, b);
    links_changed();
    ++manager_.counts_.num_swaps;
    list_again(a);
    list_again(b);
}

/// Swaps a block of rows with the same number of rows at `to`. If the two ranges overlap, rotates their rows instead.
void TransformManager::Work::exchange(RowRange block, std::uint32_t to) {
    if (block.begin == to) return;
    const std::uint32_t low = std::min(block.begin, to), high = std::max(block.begin, to);
    const std::uint32_t end = high + block.size();
    cut(low);
    cut(high);
    cut(end);
    if (high - low >= block.size()) {
        cut(low + block.size());
        for (std::uint32_t i = 0; i < block.size(); ++i) swap_rows(low + i, high + i);
        return;
    }
    // Rotate the rows of both overlapping blocks.
    const std::uint32_t middle = block.begin == low ? block.end : high;
    cut(middle);
    for (std::uint32_t first = low, next = middle, turn = middle; first != next;) {
        swap_rows(first++, next++);
        if (next == end)
            next = turn;
        else if (first == turn)
            turn = next;
    }
}

/// Gathers, in depth-first order, the owners of a subtree's rows that are in `rows`. Returns whether all rows of
/// the subtree are in `rows`.
bool TransformManager::Work::gather_subtree(std::uint32_t root, RowRange rows) {
    bool is_whole = true;
    subtree_.clear();
    for (std::uint32_t row = root; row != kNilRow; row = next_in_subtree(row, root))
        if (row >= rows.begin && row < rows.end)
            subtree_.push_back(owner(row));
        else
            is_whole = false;
    return is_whole;
}

/// Moves the gathered rows, one by one, to the rows that begin at `to`.
void TransformManager::Work::move_gathered(std::uint32_t to, bool is_whole) {
    const RowRange rows{to, to + static_cast<std::uint32_t>(subtree_.size())};
    for (const Entity entity : subtree_) {
        const std::uint32_t row = row_of(entity);
        uproot(row);
        if (row != to) {
            uproot(to);
            swap_rows(row, to);
        }
        ++to;
    }
    if (is_whole) set_extents(rows);
}

// --- the suffix --------------------------------------------------------------------------------------------------

void TransformManager::Work::enter(std::uint32_t row) {
    std::uint32_t& clean = manager_.num_clean_;
    if (row >= clean) return;
    if (const std::uint32_t extent = extents()[row]; extent != 0) {
        const std::uint32_t count = std::min(extent, clean - row);  // other rows may already be in the suffix
        exchange({row, row + count}, clean - count);
        clean -= count;
        return;
    }
    const bool is_whole = gather_subtree(row, {0, clean});
    clean -= static_cast<std::uint32_t>(subtree_.size());
    move_gathered(clean, is_whole);
}

void TransformManager::Work::leave(std::uint32_t row) {
    std::uint32_t& clean = manager_.num_clean_;
    if (row < clean) return;
    if (const std::uint32_t extent = extents()[row]; extent != 0) {
        exchange({row, row + extent}, clean);
        clean += extent;
        return;
    }
    const bool is_whole = gather_subtree(row, {clean, table_.num_rows()});
    move_gathered(clean, is_whole);
    clean += static_cast<std::uint32_t>(subtree_.size());
}

// --- linking and removing ----------------------------------------------------------------------------------------

std::uint32_t TransformManager::Work::link(std::uint32_t child, std::uint32_t parent) {
    const std::uint32_t old_parent = parents()[child];
    if (parent != kNilRow && parent >= manager_.num_clean_ && child < manager_.num_clean_) {
        const Entity child_entity = owner(child), parent_entity = owner(parent);
        enter(child);
        child = row_of(child_entity);
        parent = row_of(parent_entity);
        return link(child, parent);
    }
    break_up(old_parent);
    break_up(parent);
    table_.link_tree(child, parent);
    parent_entities()[child] = owner_or_null(parent);
    stamp(1u << kParentColumn, child);
    links_changed();
    if (old_parent != kNilRow && first_children()[old_parent] == kNilRow) extents()[old_parent] = 1;
    if (SHOAL_UNLIKELY(!entities_.inactive().empty())) follow_parent(child);
    return child;
}

/// If the last row of a region has many children, swaps it with a row in the middle. Otherwise, that row would move
/// whenever a row before it is removed, and each move would take a step per child. Returns the new row of `hole`.
std::uint32_t TransformManager::Work::move_parent_down(std::uint32_t last, std::uint32_t first, std::uint32_t hole) {
    std::uint32_t num_children = 0;
    for (std::uint32_t child = first_children()[last]; child != kNilRow && num_children < kManyChildren; ++num_children)
        child = next_siblings()[child];
    const std::uint32_t down = first + (last - first) / 2;
    if (num_children < kManyChildren || down == last || hole == last) return hole;
    uproot(last);
    uproot(down);
    swap_rows(last, down);
    return hole == down ? last : hole;
}

/// Removes a row without children.
void TransformManager::Work::remove_row(std::uint32_t row) {
    SHOAL_ASSERT(first_children()[row] == kNilRow, "a row with children was removed");
    std::uint32_t& clean = manager_.num_clean_;
    if (parents()[row] != kNilRow) link(row, kNilRow);
    extents()[row] = 1;
    const std::uint32_t last = table_.num_rows() - 1;
    const bool is_clean = row < clean;
    if (is_clean && clean <= last) {
        // The last clean row takes the place of the removed row, and the hole becomes the first row of the suffix.
        row = move_parent_down(clean - 1, 0, row);
        if (row != clean - 1) {
            uproot(clean - 1);
            swap_rows(row, clean - 1);
        }
        row = --clean;
    }
    row = move_parent_down(last, is_clean && clean == table_.num_rows() ? 0 : std::min(clean, last), row);
    if (row != last) uproot(last);
    rows_.remove_row(row);
    if (is_clean && clean == last + 1) clean = last;
    links_changed();
    repeats_ |= has_pending();
    if (row < table_.num_rows()) list_again(row);
}

}  // namespace shoal
