// Many links and many moves at once, where one by one would cost several times as much.

#include "shoal/table/table.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace shoal {
namespace {

template <std::size_t kBytes>
void gather_elements(std::byte* to, const std::byte* column, std::span<const std::uint32_t> from) {
    for (std::size_t i = 0; i < from.size(); ++i)
        std::memcpy(to + i * kBytes, column + std::size_t(from[i]) * kBytes, kBytes);
}

void gather(std::byte* to, const std::byte* column, std::size_t bytes, std::span<const std::uint32_t> from) {
    switch (bytes) {
        case 4:
            return gather_elements<4>(to, column, from);
        case 8:
            return gather_elements<8>(to, column, from);
        case 12:
            return gather_elements<12>(to, column, from);
        case 16:
            return gather_elements<16>(to, column, from);
        case 48:
            return gather_elements<48>(to, column, from);
        default:
            for (std::size_t i = 0; i < from.size(); ++i)
                std::memcpy(to + i * bytes, column + std::size_t(from[i]) * bytes, bytes);
    }
}

/// Follows each cycle once: a swap puts one row in its place, and the next cycle begins where none was put yet.
void permute_by_swaps(Table& table, RowRange rows, std::span<const std::uint32_t> from) {
    Array<bool> is_done = Array<bool>(from.size(), false, OwnedAllocator<bool>("table"));
    for (std::uint32_t first = rows.begin; first < rows.end; ++first) {
        for (std::uint32_t row = first; !is_done[row - rows.begin]; row = from[row - rows.begin]) {
            is_done[row - rows.begin] = true;
            if (from[row - rows.begin] != first) table.swap(row, from[row - rows.begin]);
        }
    }
}

}  // namespace

void Table::link_trees(std::uint32_t first, std::span<const std::uint32_t> parents) {
    SHOAL_ASSERT(options_.tree && first <= num_rows_ && parents.size() <= num_rows_ - first,
                 "the table was made without a tree, or a row does not exist");
    std::uint32_t* const parent_of = &link(LinkColumn::kTreeParent, 0);
    std::uint32_t* const first_child = &link(LinkColumn::kTreeFirstChild, 0);
    std::uint32_t* const next = &link(LinkColumn::kTreeNext, 0);
    std::uint32_t* const previous = &link(LinkColumn::kTreePrevious, 0);
    // From the last to the first, so that each child comes before the siblings that are linked already.
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

void Table::permute(RowRange rows, std::span<const std::uint32_t> from) {
    SHOAL_ASSERT(rows.end <= num_rows_ && from.size() == rows.size(), "one row for each of the range is needed");
    SHOAL_ASSERT(!options_.chain && !schema_->has_opaque(), "only rows of bytes without chains are permuted");
    if (from.empty()) return;
    for (const std::uint32_t row : from) SHOAL_ASSERT(row - rows.begin < rows.size(), "a row comes from outside");
    std::size_t most_bytes = 0;
    for (const PhysicalColumn& column : columns_) most_bytes = std::max<std::size_t>(most_bytes, column.element_bytes);
    // Whoever watches is told of swaps; without memory for a copy of a column they do as well.
    Result<PageRange> memory = reserve_pages(from.size() * (most_bytes + sizeof(std::uint32_t)));
    if (num_watchers_ != 0 || !memory) {
        if (memory) release_pages(*memory);
        return permute_by_swaps(*this, rows, from);
    }
    auto* const new_row = reinterpret_cast<std::uint32_t*>(memory->data);  // of what was row rows.begin + i
    std::byte* const copy = memory->data + from.size() * sizeof(std::uint32_t);
    for (std::uint32_t i = 0; i < from.size(); ++i) new_row[from[i] - rows.begin] = rows.begin + i;
    for (const PhysicalColumn& column : columns_) {
        const std::size_t bytes = column.element_bytes;
        gather(copy, column.data, bytes, from);
        std::memcpy(column.data + rows.begin * bytes, copy, from.size() * bytes);
    }
    for (std::uint32_t* links : links_)
        for (std::uint32_t row = rows.begin; links != nullptr && row < rows.end; ++row)
            if (links[row] != kNilRow) {
                SHOAL_ASSERT(links[row] - rows.begin < rows.size(),
                             "a row that is permuted is linked to one that stays");
                links[row] = new_row[links[row] - rows.begin];
            }
    for (std::uint32_t row = rows.begin; index_ != nullptr && row < rows.end; ++row)
        if (index_->find(entities_[row]) == from[row - rows.begin]) new_row[row - rows.begin] = kNilRow;
    for (std::uint32_t row = rows.begin; index_ != nullptr && row < rows.end; ++row)
        if (new_row[row - rows.begin] == kNilRow) index_->set(entities_[row], row);
    stamp_rows(rows);
    release_pages(*memory);
}

}  // namespace shoal
