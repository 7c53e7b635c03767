// Link columns: repaired whenever a row moves, ends or is swapped.

#include "shoal/table/table.h"

#include <utility>

namespace shoal {
namespace {

constexpr std::uint32_t kSwapMark = 0xFFFFFFFE;  // stands for a row in the middle of a three-step swap

}  // namespace

// --- chain: the rows of one entity, headed by the index
// ---------------------------------------------------------------

void Table::push_chain(std::uint32_t row) {
    SHOAL_ASSERT(options_.chain && index_ != nullptr && row < num_rows_,
                 "the table was made without a chain, or has no index, or the row does not exist");
    link(LinkColumn::kChainNext, row) = index_->find(entities_[row]);
    index_->set(entities_[row], row);
}

/// Returns the row whose link names `row`; kNilRow when the index does, or when nothing does any more.
std::uint32_t Table::find_before(std::uint32_t row) const {
    const std::uint32_t* next = links_[static_cast<int>(LinkColumn::kChainNext)];
    std::uint32_t before = index_ == nullptr ? kNilRow : index_->find(entities_[row]);
    if (before == row) return kNilRow;
    while (before != kNilRow && next[before] != row) before = next[before];
    return before;
}

/// Makes what names `row` say `as`. A chain whose head was lost to a newer entity on its index stays lost.
void Table::rename_in_chain(std::uint32_t row, std::uint32_t before, std::uint32_t as) {
    if (before != kNilRow)
        link(LinkColumn::kChainNext, before) = as;
    else if (index_ != nullptr && index_->find(entities_[row]) == row)
        index_->set(entities_[row], as);
}

void Table::leave_chain(std::uint32_t row) {
    const std::uint32_t next = link(LinkColumn::kChainNext, row);
    const std::uint32_t before = find_before(row);
    if (before == kNilRow && next == kNilRow && index_ != nullptr && index_->find(entities_[row]) == row)
        index_->erase(entities_[row]);
    else
        rename_in_chain(row, before, next);
}

// --- tree -------------------------------------------------------------------------------------------------------

void Table::unlink_from_parent(std::uint32_t row) {
    const std::uint32_t parent = std::exchange(link(LinkColumn::kTreeParent, row), kNilRow);
    const std::uint32_t next = std::exchange(link(LinkColumn::kTreeNext, row), kNilRow);
    const std::uint32_t previous = std::exchange(link(LinkColumn::kTreePrevious, row), kNilRow);
    if (next != kNilRow) link(LinkColumn::kTreePrevious, next) = previous;
    if (previous != kNilRow)
        link(LinkColumn::kTreeNext, previous) = next;
    else if (parent != kNilRow)
        link(LinkColumn::kTreeFirstChild, parent) = next;
}

void Table::link_tree(std::uint32_t child, std::uint32_t parent) {
    SHOAL_ASSERT(options_.tree && child < num_rows_ && (parent < num_rows_ || parent == kNilRow) && child != parent,
                 "the table was made without a tree, or a row does not exist, or it would be its own parent");
    unlink_from_parent(child);
    if (parent == kNilRow) return;
    const std::uint32_t first = std::exchange(link(LinkColumn::kTreeFirstChild, parent), child);
    if (first != kNilRow) link(LinkColumn::kTreePrevious, first) = child;
    link(LinkColumn::kTreeNext, child) = first;
    link(LinkColumn::kTreeParent, child) = parent;
}

void Table::leave_tree(std::uint32_t row) {
    unlink_from_parent(row);
    std::uint32_t child = std::exchange(link(LinkColumn::kTreeFirstChild, row), kNilRow);
    while (child != kNilRow) {
        const std::uint32_t next = std::exchange(link(LinkColumn::kTreeNext, child), kNilRow);
        link(LinkColumn::kTreeParent, child) = kNilRow;
        link(LinkColumn::kTreePrevious, child) = kNilRow;
        child = next;
    }
}

/// Makes every link to `row` say `to`. Links of other rows may say kSwapMark, which then means row `from`.
void Table::relabel_tree(std::uint32_t row, std::uint32_t from, std::uint32_t to) {
    const auto real = [from](std::uint32_t linked) { return linked == kSwapMark ? from : linked; };
    const auto relabel = [row, to](std::uint32_t& linked) {
        if (linked == row) linked = to;
    };
    const std::uint32_t parent = real(link(LinkColumn::kTreeParent, row));
    const std::uint32_t previous = real(link(LinkColumn::kTreePrevious, row));
    const std::uint32_t next = real(link(LinkColumn::kTreeNext, row));
    if (parent != kNilRow) relabel(link(LinkColumn::kTreeFirstChild, parent));
    if (previous != kNilRow) relabel(link(LinkColumn::kTreeNext, previous));
    if (next != kNilRow) relabel(link(LinkColumn::kTreePrevious, next));
    for (std::uint32_t child = real(link(LinkColumn::kTreeFirstChild, row)); child != kNilRow;) {
        relabel(link(LinkColumn::kTreeParent, child));
        child = real(link(LinkColumn::kTreeNext, child));
    }
}

// --- swap -------------------------------------------------------------------------------------------------------

/// Lets the chains name each other's rows; to be called before the columns are swapped.
void Table::swap_chains(std::uint32_t a, std::uint32_t b) {
    const std::uint32_t before_a = find_before(a);
    const std::uint32_t before_b = find_before(b);
    const bool heads_b = index_ != nullptr && index_->find(entities_[b]) == b;
    rename_in_chain(a, before_a, b);
    if (before_b != kNilRow)
        link(LinkColumn::kChainNext, before_b) = a;
    else if (heads_b)
        index_->set(entities_[b], a);
}

/// Swaps the columns of two rows and repairs the tree in three steps, so that rows that are neighbours of each other
/// come out right: every link to a becomes the mark, every link to b becomes a, every mark becomes b.
void Table::swap_trees(std::uint32_t a, std::uint32_t b) {
    relabel_tree(a, a, kSwapMark);
    relabel_tree(b, a, a);
    swap_columns(a, b);
    // What was row a lies at b now, with its own links unchanged; its neighbours, maybe row a too, still say the mark.
    const auto end_mark = [b](std::uint32_t& linked) {
        if (linked == kSwapMark) linked = b;
    };
    const std::uint32_t parent = link(LinkColumn::kTreeParent, b);
    const std::uint32_t previous = link(LinkColumn::kTreePrevious, b);
    const std::uint32_t next = link(LinkColumn::kTreeNext, b);
    if (parent != kNilRow) end_mark(link(LinkColumn::kTreeFirstChild, parent));
    if (previous != kNilRow) end_mark(link(LinkColumn::kTreeNext, previous));
    if (next != kNilRow) end_mark(link(LinkColumn::kTreePrevious, next));
    for (std::uint32_t child = link(LinkColumn::kTreeFirstChild, b); child != kNilRow;) {
        end_mark(link(LinkColumn::kTreeParent, child));
        child = link(LinkColumn::kTreeNext, child);
    }
}

void Table::swap(std::uint32_t a, std::uint32_t b) {
    SHOAL_ASSERT(a < num_rows_ && b < num_rows_, "the row does not exist");
    if (a == b) return;
    if (options_.chain) swap_chains(a, b);
    if (options_.tree)
        swap_trees(a, b);
    else
        swap_columns(a, b);
    if (!options_.chain && index_ != nullptr) {
        const bool has_a = index_->find(entities_[a]) == b;
        const bool has_b = index_->find(entities_[b]) == a;
        if (has_a) index_->set(entities_[a], a);
        if (has_b) index_->set(entities_[b], b);
    }
    stamp_rows({a, a + 1});
    stamp_rows({b, b + 1});
    if (num_watchers_ != 0) changes_.push_back({StructuralChange::Kind::kSwapped, {a, a + 1}, b, entities_[a]});
}

}  // namespace shoal
