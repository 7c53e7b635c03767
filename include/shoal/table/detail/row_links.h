#pragma once
// Links between the rows of a table. They are kept in additional columns. A table may have one group of links, both or
// none.
//
//     chain   {next, previous}                        the rows of one entity; the caller keeps the head of the chain
//     tree    {parent, first child, next, previous}   siblings form a list; their parent links to the first
//
// A link is a row, or kNilRow. Every link has a link back (a child's parent, the next row's previous row), so that the
// links to a row are found without a search. Links are valid before and after each call, except between begin_swap()
// and end_swap(), where the caller swaps the rows.
// Thread: as for the table.

#include "shoal/base/detail/row_range.h"
#include "shoal/base/status.h"
#include "shoal/table/detail/row_index.h"

#include <span>

namespace shoal {

enum class LinkColumn : std::uint8_t {
    kChainNext,
    kChainPrevious,
    kTreeParent,
    kTreeFirstChild,
    kTreeNext,
    kTreePrevious
};

class RowLinks {
public:
    RowLinks(bool chain, bool tree) : has_chain_(chain), has_tree_(tree) {}

    bool has_chain() const { return has_chain_; }
    bool has_tree() const { return has_tree_; }
    bool has_any() const { return has_chain_ || has_tree_; }
    std::uint32_t num_columns() const { return (has_chain_ ? 2 : 0) + (has_tree_ ? 4 : 0); }
    /// Sets the addresses of the columns. Shape: num_columns() addresses, beginning with the columns of chains; nullptr
    /// while there are no columns.
    SHOAL_API void place(std::span<std::uint32_t* const> columns);
    const std::uint32_t* column(LinkColumn link) const { return links_[static_cast<int>(link)]; }

    /// Clears the links of added rows.
    SHOAL_API void clear(RowRange rows);
    /// Unlinks a row that will be removed. Its children become roots, and its neighbours in the chain are linked to
    /// each other. Returns the next row of the chain.
    SHOAL_API std::uint32_t leave(std::uint32_t row);
    /// Redirects all links that lead to row `from` to row `to`. The caller then copies the row to `to`. Requires: no
    /// link leads to `to`.
    SHOAL_API void move(std::uint32_t from, std::uint32_t to);
    SHOAL_API void begin_swap(std::uint32_t a, std::uint32_t b);
    SHOAL_API void end_swap(std::uint32_t a, std::uint32_t b);
    /// Corrects the links after row rows.begin + i has moved to new_rows[i]. Requires: no link leads out of `rows`.
    SHOAL_API void permute(RowRange rows, const std::uint32_t* new_rows);

    /// Puts an unlinked row before the head of a chain, or makes it a new chain if `head` is kNilRow.
    SHOAL_API void push_chain(std::uint32_t row, std::uint32_t head);
    /// Makes `child` the first child of `parent`, or a root if `parent` is kNilRow. Requires: `parent` does not descend
    /// from `child`.
    SHOAL_API void link_tree(std::uint32_t child, std::uint32_t parent);
    /// Gives parents to childless roots: row first + i gets the parent first + parents[i], or none if parents[i] is
    /// kNilRow. Requires: parents[i] < i or kNilRow.
    SHOAL_API void link_trees(std::uint32_t first, std::span<const std::uint32_t> parents);

    /// Checks that every link leads to a row that links back. `table` names the table in the message. Cost: O(rows).
    SHOAL_API Status validate(std::uint32_t num_rows, std::string_view table) const;

private:
    std::uint32_t& at(LinkColumn link, std::uint32_t row) { return links_[static_cast<int>(link)][row]; }
    void leave_list(LinkColumn next, LinkColumn previous, std::uint32_t row);
    void unlink_from_parent(std::uint32_t row);
    template <class Visit>
    void for_each_link_to(std::uint32_t row, std::uint32_t marked, Visit&& visit);

    std::uint32_t* links_[6] = {};
    bool has_chain_, has_tree_;
};

}  // namespace shoal
