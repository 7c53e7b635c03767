// Removing many rows at once, column by column: the copies of a column do not wait for each other.
//
//     rows to remove  {1, 4, 6} of 7      0 . 2 3 . 5 .        first the places: 4 rows stay, so row 5 moves to 1
//                                         0 5 2 3              then every column in one loop

#include "shoal/table/copy_elements.h"

#include "shoal/table/table.h"

#include <algorithm>

namespace shoal {
namespace {

constexpr std::size_t kAhead = 32;

/// Which of the last rows go.
class Tail {
public:
    Tail(std::span<const std::uint32_t> removed, std::uint32_t first, std::uint32_t end)
        : first_(first), gone_((end - first + 63) / 64, 0, OwnedAllocator<std::uint64_t>("table")) {
        for (const std::uint32_t row : removed) {
            if (row < first) continue;
            SHOAL_ASSERT(row < end && !has(row), "a row to be removed does not exist, or is named twice");
            gone_[(row - first) / 64] |= std::uint64_t(1) << ((row - first) % 64);
        }
    }
    bool has(std::uint32_t row) const { return (gone_[(row - first_) / 64] >> ((row - first_) % 64) & 1) != 0; }

private:
    std::uint32_t first_;
    Array<std::uint64_t> gone_;
};

[[maybe_unused]] bool all_differ(Array<std::uint32_t> rows) {
    std::sort(rows.begin(), rows.end());
    return std::adjacent_find(rows.begin(), rows.end()) == rows.end();
}

}  // namespace

void Table::remove_rows(std::span<const std::uint32_t> rows) {
    SHOAL_ASSERT(plain_ && (index_ == nullptr || index_->kind() == RowIndexKind::kPaged),
                 "rows with links, opaque fields or watchers, or without a paged index, go one by one");
    SHOAL_ASSERT(rows.size() <= num_rows_, "more rows were to be removed than there are");
    touched_rows_ = std::max(touched_rows_, num_rows_);
    const std::uint32_t num_left = num_rows_ - static_cast<std::uint32_t>(rows.size());
    const Tail tail(rows, num_left, num_rows_);
    Array<std::uint32_t> holes{Owner("table")}, fillers{Owner("table")};
    for (const std::uint32_t row : rows)
        if (row < num_left) holes.push_back(row);
    fillers.reserve(holes.size());
    for (std::uint32_t row = num_left; row < num_rows_; ++row)
        if (!tail.has(row)) fillers.push_back(row);
    SHOAL_CHECK(all_differ(holes), "a row to be removed is named twice");
    for (const PhysicalColumn& column : columns_)
        copy_between(column.data, holes.data(), column.data, fillers.data(), holes.size(), column.element_bytes);
    const std::span<EntityBits> entries = index_ == nullptr ? std::span<EntityBits>() : index_->entries();
    for (std::size_t i = 0; i < holes.size(); ++i) {
        if (!entries.empty()) {
            if (i + kAhead < holes.size()) __builtin_prefetch(&entries[entities_[fillers[i + kAhead]].index()]);
            entries[entities_[fillers[i]].index()] = RowIndex::entry_of(entities_[fillers[i]], holes[i]);
        }
        row_stamps_[holes[i] / kRowsPerStampBlock] = stamp_;
    }
    num_rows_ = num_left;
}

void Table::remove_range(RowRange rows) {
    SHOAL_ASSERT(plain_ && (index_ == nullptr || index_->kind() == RowIndexKind::kPaged),
                 "rows with links, opaque fields or watchers, or without a paged index, go one by one");
    SHOAL_ASSERT(rows.begin <= rows.end && rows.end <= num_rows_, "the rows do not exist");
    touched_rows_ = std::max(touched_rows_, num_rows_);
    const std::uint32_t count = std::min(rows.size(), num_rows_ - rows.end), from = num_rows_ - count;
    num_rows_ -= rows.size();
    if (count == 0) return;
    for (const PhysicalColumn& column : columns_) {
        const std::size_t bytes = column.element_bytes;
        if (bytes != 0) std::memcpy(column.data + rows.begin * bytes, column.data + from * bytes, count * bytes);
    }
    const std::span<EntityBits> entries = index_ == nullptr ? std::span<EntityBits>() : index_->entries();
    for (std::uint32_t row = rows.begin; row < rows.begin + count && !entries.empty(); ++row)
        entries[entities_[row].index()] = RowIndex::entry_of(entities_[row], row);
    stamp_rows({rows.begin, rows.begin + count});
}

}  // namespace shoal
