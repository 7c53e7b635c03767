#pragma once
// Moves single rows from one table to another according to a plan. A path keeps the addresses of all columns, whereas
// Table::take() looks them up for every row. The addresses are valid until the columns of either table move. All rows
// must be plain.
//
//     plan       kept columns           dropped columns
//     columns    {from, to} ...         {from, nullptr} ...
//
// Thread: the structural thread of the tables.

#include "shoal/table/detail/table.h"
#include "shoal/table/detail/take_plan.h"

namespace shoal {

class RowPath {
public:
    struct Column {
        std::byte* from;
        std::byte* to;  ///< nullptr: the row loses the column
    };

    RowPath() = default;
    RowPath(RowPath&&) = default;  // no copy, because the ends are addresses in the array
    RowPath& operator=(RowPath&&) = default;

    const TakePlan* plan() const { return plan_; }
    const Array<Column>& columns() const { return columns_; }

    /// Uses `plan` from now on, without looking up addresses yet. Requires: the plan outlives its use here.
    void follow(const TakePlan& plan) { plan_ = &plan, placements_ = 0; }
    /// Looks up the addresses. If the rows of either table are not plain, returns false and keeps no addresses.
    SHOAL_API bool look_up(Table& from, Table& to);
    /// Whether the addresses are valid. The placements of the two tables never decrease, so their sum is the same only
    /// if neither has changed.
    SHOAL_INLINE bool is_known(const Table& from, const Table& to) const {
        return from.placement() + to.placement() == placements_;
    }

    /// Moves a row, as Table::take() does, and returns its new index. The caller writes the index entry of its owner.
    /// Requires: is_known() and to.has_room(); `owner` owns the row; if kDrops is false, the plan drops no columns.
    template <bool kDrops>
    SHOAL_INLINE std::uint32_t take(Table& from, Table& to, std::uint32_t row, Entity owner) const {
        return take(from, to, row, owner, [this](std::size_t at, std::size_t last, std::size_t to_row) SHOAL_INLINED {
            copy<kDrops>(at, last, to_row);
        });
    }
    /// Like take() above, but calls copy(row, last, to_row), which must copy the elements of `row` to `to_row`, and
    /// then those of `last` to `row`.
    template <class Copy>
    SHOAL_INLINE std::uint32_t take(Table& from, Table& to, std::uint32_t row, Entity owner, Copy&& copy) const {
        const std::uint32_t to_row = to.append_one(owner);
        copy(std::size_t(row), std::size_t(from.num_rows() - 1), std::size_t(to_row));
        from.close_row(row);
        return to_row;
    }

private:
    template <bool kDrops>
    SHOAL_INLINE void copy(std::size_t row, std::size_t last, std::size_t to_row) const {
        plan_->kept().for_each(columns_.data(), kept_ends_,
                               [&]<std::size_t kBytes>(const Column& column, std::size_t bytes) SHOAL_INLINED {
                                   std::byte* const hole = column.from + row * bytes;
                                   copy_element<kBytes>(column.to + to_row * bytes, hole, bytes);
                                   copy_element<kBytes>(hole, column.from + last * bytes, bytes);
                               });
        if constexpr (!kDrops) return;
        plan_->dropped().for_each(
            kept_ends_.all, dropped_ends_,
            [&]<std::size_t kBytes>(const Column& column, std::size_t bytes)
                SHOAL_INLINED { copy_element<kBytes>(column.from + row * bytes, column.from + last * bytes, bytes); });
    }

    const TakePlan* plan_ = nullptr;
    std::uint64_t placements_ = 0;  // the sum of both tables' placements at the look-up; 0: not looked up yet
    Array<Column> columns_{Owner("row path")};  // in the plan's order: kept columns, then dropped columns
    ColumnsBySize::Ends<Column> kept_ends_, dropped_ends_;
};

}  // namespace shoal
