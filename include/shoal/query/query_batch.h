#pragma once
// What for_each_batch() of a database query gives: rows of one table, as columns and entities.
//
//     table rows      0 ... begin ......... end ... n
//     batch rows            0 ............. num_rows()     in every column, and in entities()
//
// Lifetime: the call that it is given to. Thread: as for the loop.

#include "shoal/query/query_fields.h"

namespace shoal {

/// `Bits` says which rows are on.
template <class List, class Bits>
class QueryBatch;

template <class... Fields, class Bits>
class QueryBatch<detail::TermList<Fields...>, Bits> {
public:
    using Lanes = typename detail::QueryLoop<Fields...>::Lanes;

    QueryBatch(DatabaseTable& table, RowRange rows, const Lanes& lanes, const Bits& bits)
        : table_(table), rows_(rows), lanes_(lanes), bits_(bits) {}

    std::uint32_t num_rows() const { return rows_.size(); }
    Zone zone() const { return table_.zone(); }
    /// The table of the rows, for what the query does not name. Its row rows().begin, a multiple of 64, is the first.
    const DatabaseTable& table() const { return table_; }
    RowRange rows() const { return rows_; }

    /// Shape: num_rows().
    std::span<const Entity> entities() const { return table_.entities().subspan(rows_.begin, rows_.size()); }
    /// The column of a field that the query names: for reading, or for writing where it says Write.
    /// Shape: num_rows(); 0 for a Maybe field that the table lacks.
    template <auto kMember>
    auto column() const {
        constexpr bool kIsThere = ((!Fields::kGathers && detail::names_member<kMember, Fields>()) || ...);
        static_assert(kIsThere, "the query does not name this field, or gathers it from a manager");
        constexpr bool kWrites = ((Fields::kWrites && detail::names_member<kMember, Fields>()) || ...);
        using Value = std::conditional_t<kWrites, ValueOf<kMember>, const ValueOf<kMember>>;
        std::size_t lane = 0;
        bool found = false;
        ((found |= detail::names_member<kMember, Fields>(),
          lane += found ? 0 : FieldPlace<Fields::kMember>::kNumColumns),
         ...);
        using Place = FieldPlace<kMember>;
        const bool lacks = lanes_.data[lane] == nullptr;
        return make_column<kMember, Value>(
            [&](std::uint32_t c) {
                std::byte* const data = lanes_.data[lane + c - Place::kFirstColumn];
                return lacks ? data : data + std::size_t(rows_.begin) * element_bytes<kMember>();
            },
            0, lacks ? 0 : num_rows());
    }

    /// A bit for each of the rows 64 * word to 64 * word + 63: is it on? Only toggled component types switch rows off.
    /// Bits past the last row are 0. Requires: 64 * word < num_rows().
    std::uint64_t rows_of_word(std::uint32_t word) const {
        const std::uint32_t num_left = num_rows() - word * 64;
        const std::uint64_t rows = num_left >= 64 ? ~std::uint64_t(0) : (std::uint64_t(1) << num_left) - 1;
        return rows & bits_.word(rows_.begin / 64 + word);
    }

private:
    template <auto kMember>
    static constexpr std::size_t element_bytes() {
        using Place = FieldPlace<kMember>;
        if constexpr (Place::kLayout == ColumnLayout::kWhole)
            return sizeof(ComponentOf<kMember>);
        else
            return sizeof(ValueOf<kMember>) / Place::kNumColumns;
    }

    DatabaseTable& table_;
    RowRange rows_;
    Lanes lanes_;
    Bits bits_;
};

}  // namespace shoal
