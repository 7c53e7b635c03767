#include "shoal/table/detail/change_stamps.h"

#include <algorithm>

namespace shoal {
namespace {

/// Writes `stamp` to the blocks that have rows of `rows`.
void fill_blocks(std::uint64_t* blocks, RowRange rows, std::uint64_t stamp) {
    if (rows.begin == rows.end) return;
    std::fill(blocks + rows.begin / kRowsPerStampBlock, blocks + (rows.end - 1) / kRowsPerStampBlock + 1, stamp);
}

}  // namespace

void ChangeStamps::grow(std::uint32_t num_rows) {
    const std::size_t needed = (std::size_t(num_rows) + kRowsPerStampBlock - 1) / kRowsPerStampBlock;
    const std::size_t num_blocks = std::max(needed, num_blocks_ * 2);
    Array<std::uint64_t> columns(num_columns_ * num_blocks, 0, Owner("table"));
    for (std::size_t c = 0; c < num_columns_; ++c)
        std::copy_n(columns_.data() + c * num_blocks_, num_blocks_, columns.data() + c * num_blocks);
    columns_.swap(columns);
    rows_.resize(num_blocks, 0);
    num_blocks_ = num_blocks;
}

void ChangeStamps::mark(std::uint32_t column, RowRange rows) {
    SHOAL_ASSERT(column < num_columns_, "the column does not exist");
    fill_blocks(columns_.data() + column * num_blocks_, rows, now_);
}

void ChangeStamps::mark_rows(RowRange rows) { fill_blocks(rows_.data(), rows, now_); }

std::uint64_t ChangeStamps::written(std::uint32_t column, std::uint32_t block) const {
    SHOAL_ASSERT(column < num_columns_ && block < num_blocks_, "the column or block does not exist");
    return std::max(columns_[column * num_blocks_ + block], rows_[block]);
}

}  // namespace shoal
