#pragma once
// A run of consecutive rows, as columns and entities. A query's for_each_batch() passes batches to its function.
//
//     table rows      0 ... begin ......... end ... n
//     batch rows            0 ............. num_rows()     in every column, and in entities()
//
// Lifetime: the call to the function that gets the batch. Thread: as for the loop.

#include "shoal/query/detail/row_loop.h"

namespace shoal {

namespace detail {

/// The table of a batch, if the query is over a world.
struct TableOfBatch {
    const Table& table;
    const DatabaseTable* of_database = nullptr;  ///< the same table if it is in the database, else nullptr

    std::span<const Entity> entities() const { return table.entities(); }
    const RowVersions& row_versions() const { return table.row_versions(); }
    template <class Later = DatabaseTable>
    Zone zone() const {
        SHOAL_ASSERT(of_database != nullptr, "these entities have no row in the database, so they are in no zone");
        return static_cast<const Later*>(of_database)->zone();
    }
};

}  // namespace detail

/// `Table` is a DatabaseTable when the query is over a database, a TableOfBatch when it is over a world, and otherwise
/// a manager's Table.
template <class Table, class List>
class QueryBatch;

template <class Table, class... Fields>
class QueryBatch<Table, detail::TermList<Fields...>> : detail::WatchedView {
public:
    using Loop = detail::QueryLoop<Fields...>;

    QueryBatch(const Table& table, const detail::FoundRows& found)
        : table_(table),
          rows_(found.rows),
          lanes_(Loop::template collect<true>(found, found.rows.begin)),
          bits_(found.bits) {
        this->watch_batch(table);
    }

    std::uint32_t num_rows() const { return rows_.size(); }
    /// Requires: the query is over a database.
    Zone zone() const { return table_.zone(); }
    /// The rows' table, for access to columns that the query does not name. rows() is the batch's range in it. If the
    /// query joins stores, this is the database's table or, without a database, the table of the manager whose rows the
    /// loop visits.
    const Table& table() const { return table_; }
    RowRange rows() const { return rows_; }

    /// Shape: num_rows(). A null entity marks a hole in a manager with an identity index.
    std::span<const Entity> entities() const {
        return require_current(), table_.entities().subspan(rows_.begin, rows_.size());
    }
    /// The column of a field that the query names. It is writable for a Write term, and otherwise const.
    /// Shape: num_rows(); 0 for a Maybe field that the rows lack.
    /// With all_fields<T>, an element is a whole component. If T is not kept whole, an element can only be read or
    /// assigned as a whole.
    template <auto kMember>
    auto column() const {
        constexpr bool kIsThere = (is_column<kMember, Fields>() || ...);
        static_assert(kIsThere, "the query does not name this field, or reads it of another entity");
        constexpr bool kWrites = ((Fields::kWrites && detail::names_member<kMember, Fields>()) || ...);
        using Value = std::conditional_t<kWrites, ValueOf<kMember>, const ValueOf<kMember>>;
        std::size_t lane = 0;
        bool found = false;
        ((found |= detail::names_member<kMember, Fields>(), lane += found ? 0 : detail::LayoutOf<Fields>::kNumColumns),
         ...);
        require_current();
        auto column = make_column<kMember, Value>(
            [&](std::uint32_t c) { return lanes_.data[lane + c - FieldLayout<kMember>::kFirstColumn]; }, 0,
            lanes_.data[lane] == nullptr ? 0 : num_rows());
        column.template watch<kMember, Value>(table_);
        return column;
    }

    /// Bit i is set if row 64 * word + i is enabled. Only rows with an enableable component can be disabled. Bits past
    /// the last row are 0. Requires: 64 * word < num_rows().
    std::uint64_t rows_of_word(std::uint32_t word) const {
        const std::uint32_t num_left = num_rows() - word * 64;
        const std::uint64_t rows = num_left >= 64 ? ~std::uint64_t(0) : (std::uint64_t(1) << num_left) - 1;
        return bits_ == nullptr ? rows : rows & chosen(rows_.begin + word * 64);
    }

private:
    /// The bits of the 64 rows that begin at `row`, which need not be a multiple of 64. Requires: the row exists.
    std::uint64_t chosen(std::uint32_t row) const {
        const std::uint32_t shift = row % 64;
        const std::uint64_t low = bits_->word(row / 64) >> shift;
        const bool ends_here = shift == 0 || row / 64 == (rows_.end - 1) / 64;
        return ends_here ? low : low | bits_->word(row / 64 + 1) << (64 - shift);
    }
    template <auto kMember, class Field>
    static constexpr bool is_column() {
        return detail::names_member<kMember, Field>();
    }

    const Table& table_;
    RowRange rows_;
    typename Loop::Lanes lanes_;
    const detail::RowBits* bits_;  // nullptr: all rows are enabled
};

}  // namespace shoal
