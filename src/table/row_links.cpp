#include "shoal/table/detail/row_links.h"

#include "shoal/base/text.h"

#include <algorithm>
#include <utility>

namespace shoal {
namespace {

constexpr std::uint32_t kSwapMark = 0xFFFFFFFE;  // replaces a row number during a three-step swap

}  // namespace

void RowLinks::place(std::span<std::uint32_t* const> columns) {
    SHOAL_ASSERT(columns.size() == num_columns(), "a table has as many link columns as its links need");
    std::size_t c = 0;
    for (int i = 0; has_chain_ && i < 2; ++i) links_[i] = columns[c++];
    for (int i = 2; has_tree_ && i < 6; ++i) links_[i] = columns[c++];
}

void RowLinks::clear(RowRange rows) {
    for (std::uint32_t* link : links_)
        if (link != nullptr) std::fill(link + rows.begin, link + rows.end, kNilRow);
}

// --- one row -----------------------------------------------------------------------------------------------------

/// Removes a row from a list of rows. The caller updates the head of the list.
void RowLinks::leave_list(LinkColumn next_link, LinkColumn previous_link, std::uint32_t row) {
    const std::uint32_t next = std::exchange(at(next_link, row), kNilRow);
    const std::uint32_t previous = std::exchange(at(previous_link, row), kNilRow);
    if (next != kNilRow) at(previous_link, next) = previous;
    if (previous != kNilRow) at(next_link, previous) = next;
}

void RowLinks::unlink_from_parent(std::uint32_t row) {
    const std::uint32_t parent = std::exchange(at(LinkColumn::kTreeParent, row), kNilRow);
    if (parent != kNilRow && at(LinkColumn::kTreeFirstChild, parent) == row)
        at(LinkColumn::kTreeFirstChild, parent) = at(LinkColumn::kTreeNext, row);
    leave_list(LinkColumn::kTreeNext, LinkColumn::kTreePrevious, row);
}

std::uint32_t RowLinks::leave(std::uint32_t row) {
    if (has_tree_) {
        unlink_from_parent(row);
        std::uint32_t child = std::exchange(at(LinkColumn::kTreeFirstChild, row), kNilRow);
        while (child != kNilRow) {
            const std::uint32_t next = std::exchange(at(LinkColumn::kTreeNext, child), kNilRow);
            at(LinkColumn::kTreeParent, child) = kNilRow;
            at(LinkColumn::kTreePrevious, child) = kNilRow;
            child = next;
        }
    }
    if (!has_chain_) return kNilRow;
    const std::uint32_t next = at(LinkColumn::kChainNext, row);
    leave_list(LinkColumn::kChainNext, LinkColumn::kChainPrevious, row);
    return next;
}

/// Calls visit(link) for every link that may lead to `row`. Links of the row itself may be kSwapMark, which then means
/// the row `marked`.
template <class Visit>
void RowLinks::for_each_link_to(std::uint32_t row, std::uint32_t marked, Visit&& visit) {
    const auto linked = [&](LinkColumn link, std::uint32_t at_row) {
        const std::uint32_t result = at(link, at_row);
        return result == kSwapMark ? marked : result;
    };
    const auto visit_at = [&](LinkColumn link, std::uint32_t at_row) {
        if (at_row != kNilRow) visit(at(link, at_row));
    };
    if (has_chain_) {
        visit_at(LinkColumn::kChainNext, linked(LinkColumn::kChainPrevious, row));
        visit_at(LinkColumn::kChainPrevious, linked(LinkColumn::kChainNext, row));
    }
    if (!has_tree_) return;
    visit_at(LinkColumn::kTreeFirstChild, linked(LinkColumn::kTreeParent, row));
    visit_at(LinkColumn::kTreeNext, linked(LinkColumn::kTreePrevious, row));
    visit_at(LinkColumn::kTreePrevious, linked(LinkColumn::kTreeNext, row));
    for (std::uint32_t child = linked(LinkColumn::kTreeFirstChild, row); child != kNilRow;) {
        visit_at(LinkColumn::kTreeParent, child);
        child = linked(LinkColumn::kTreeNext, child);
    }
}

void RowLinks::move(std::uint32_t from, std::uint32_t to) {
    for_each_link_to(from, kNilRow, [&](std::uint32_t& link) {
        if (link == from) link = to;
    });
}

/// The rows may be linked to each other. Therefore, every link to `a` is first set to the mark, and every link to `b`
/// is set to `a`. After the caller has swapped the rows, every mark is replaced with `b`.
void RowLinks::begin_swap(std::uint32_t a, std::uint32_t b) {
    for_each_link_to(a, kNilRow, [&](std::uint32_t& link) {
        if (link == a) link = kSwapMark;
    });
    for_each_link_to(b, a, [&](std::uint32_t& link) {
        if (link == b) link = a;
    });
}

void RowLinks::end_swap(std::uint32_t a, std::uint32_t b) {
    // Row `a` is now at `b`, with its own links. Its neighbours, which may include row `a` itself, still point to the
    // mark.
    for_each_link_to(b, a, [&](std::uint32_t& link) {
        if (link == kSwapMark) link = b;
    });
}

// --- many rows ---------------------------------------------------------------------------------------------------

void RowLinks::permute(RowRange rows, const std::uint32_t* new_rows) {
    for (std::uint32_t* links : links_)
        for (std::uint32_t row = rows.begin; links != nullptr && row < rows.end; ++row)
            if (links[row] != kNilRow) {
                SHOAL_ASSERT(links[row] - rows.begin < rows.size(),
                             "a row that is permuted is linked to one that stays");
                links[row] = new_rows[links[row] - rows.begin];
            }
}

void RowLinks::push_chain(std::uint32_t row, std::uint32_t head) {
    at(LinkColumn::kChainNext, row) = head;
    if (head != kNilRow) at(LinkColumn::kChainPrevious, head) = row;
}

void RowLinks::link_tree(std::uint32_t child, std::uint32_t parent) {
    unlink_from_parent(child);
    if (parent == kNilRow) return;
    const std::uint32_t first = std::exchange(at(LinkColumn::kTreeFirstChild, parent), child);
    if (first != kNilRow) at(LinkColumn::kTreePrevious, first) = child;
    at(LinkColumn::kTreeNext, child) = first;
    at(LinkColumn::kTreeParent, child) = parent;
}

void RowLinks::link_trees(std::uint32_t first, std::span<const std::uint32_t> parents) {
    std::uint32_t* const parent_of = &at(LinkColumn::kTreeParent, 0);
    std::uint32_t* const first_child = &at(LinkColumn::kTreeFirstChild, 0);
    std::uint32_t* const next = &at(LinkColumn::kTreeNext, 0);
    std::uint32_t* const previous = &at(LinkColumn::kTreePrevious, 0);
    // The loop goes backwards, because each child is linked in front of its siblings.
    for (std::size_t i = parents.size(); i-- > 0;) {
        if (parents[i] == kNilRow) continue;
        SHOAL_ASSERT(parents[i] < i, "a parent does not come before its child");
        const auto row = static_cast<std::uint32_t>(first + i);
        const std::uint32_t parent = first + parents[i];
        const std::uint32_t sibling = std::exchange(first_child[parent], row);
        if (sibling != kNilRow) previous[sibling] = row;
        next[row] = sibling;
        parent_of[row] = parent;
    }
}

// --- health ------------------------------------------------------------------------------------------------------

namespace {

Status broken(std::string_view table, std::string_view what, std::uint32_t row) {
    return Status::error(concat("table of \"", table, "\", row ", row, ": ", what));
}

}  // namespace

Status RowLinks::validate(std::uint32_t num_rows, std::string_view table) const {
    const auto exists = [num_rows](std::uint32_t row) { return row == kNilRow || row < num_rows; };
    for (const std::uint32_t* links : links_)
        for (std::uint32_t row = 0; links != nullptr && row < num_rows; ++row)
            if (!exists(links[row])) return broken(table, "it links to a row that does not exist", row);
    const std::uint32_t* const chain_next = column(LinkColumn::kChainNext);
    const std::uint32_t* const chain_previous = column(LinkColumn::kChainPrevious);
    for (std::uint32_t row = 0; has_chain_ && row < num_rows; ++row) {
        if (chain_next[row] != kNilRow && chain_previous[chain_next[row]] != row)
            return broken(table, "the row after it in its chain names another before", row);
        if (chain_previous[row] != kNilRow && chain_next[chain_previous[row]] != row)
            return broken(table, "the row before it in its chain names another after", row);
    }
    const std::uint32_t* const parent = column(LinkColumn::kTreeParent);
    const std::uint32_t* const first_child = column(LinkColumn::kTreeFirstChild);
    const std::uint32_t* const next = column(LinkColumn::kTreeNext);
    const std::uint32_t* const previous = column(LinkColumn::kTreePrevious);
    std::uint64_t num_linked = 0, num_enumerated = 0;
    for (std::uint32_t row = 0; has_tree_ && row < num_rows; ++row) {
        if (parent[row] == kNilRow && (next[row] != kNilRow || previous[row] != kNilRow))
            return broken(table, "a root has siblings", row);
        num_linked += parent[row] != kNilRow;
        std::uint32_t before = kNilRow;
        for (std::uint32_t child = first_child[row]; child != kNilRow; before = child, child = next[child]) {
            if (parent[child] != row)
                return broken(table, concat("its child, row ", child, ", names another parent"), row);
            if (previous[child] != before) return broken(table, "its link to the sibling before is wrong", child);
            if (++num_enumerated > num_rows) return broken(table, "its children form a cycle", row);
        }
    }
    if (num_linked != num_enumerated) return broken(table, "a child is missing from its parent's list", 0);
    // A walk from the roots reaches each row once, except rows in a cycle.
    std::uint32_t num_reached = 0;
    for (std::uint32_t root = 0; has_tree_ && root < num_rows; ++root)
        for (std::uint32_t row = parent[root] == kNilRow ? root : kNilRow; row != kNilRow;) {
            ++num_reached;
            if (first_child[row] != kNilRow) {
                row = first_child[row];
                continue;
            }
            while (row != root && next[row] == kNilRow) row = parent[row];
            row = row == root ? kNilRow : next[row];
        }
    if (has_tree_ && num_reached != num_rows)
        return broken(table, "some rows are below no root: their links form a cycle", 0);
    return {};
}

}  // namespace shoal
