#include "shoal/table/detail/change_stamps.h"

#include "shoal/base/saved_state.h"

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

namespace {
std::size_t num_blocks_of(std::uint32_t num_rows) {
    return (std::size_t(num_rows) + kRowsPerStampBlock - 1) / kRowsPerStampBlock;
}
}  // namespace

void ChangeStamps::save(StateWriter& to, std::uint32_t num_rows) const {
    const std::size_t num_used = num_blocks_of(num_rows);
    Array<std::uint64_t> used{Owner("table")};  // [rows, column 0, ...][block]
    used.reserve((num_columns_ + 1) * num_used);
    used.insert(used.end(), rows_.begin(), rows_.begin() + static_cast<std::ptrdiff_t>(num_used));
    // What a column has from before the rows of its block were placed says nothing: blocks that were empty keep such.
    for (std::uint32_t c = 0; c < num_columns_; ++c)
        for (std::uint32_t block = 0; block < num_used; ++block) used.push_back(written(c, block));
    to.value("stamp", now_);
    to.array("stamps", std::span<const std::uint64_t>(used));
}

Status ChangeStamps::load(StateReader& from, std::uint32_t num_rows) {
    const std::size_t num_used = num_blocks_of(num_rows);
    Array<std::uint64_t> used((num_columns_ + 1) * num_used, 0, Owner("table"));
    std::uint64_t now = 0;
    if (Status status = from.value("stamp", now); !status) return status;
    if (Status status = from.elements("stamps", used.data(), sizeof(std::uint64_t), used.size()); !status)
        return status;
    if (now > ~std::uint64_t(0) / 2) return from.error("stamp", "there cannot have been so many steps");
    if (!from.is_trusted() && std::any_of(used.begin(), used.end(), [&](std::uint64_t stamp) { return stamp > now; }))
        return from.error("stamps", "one of them lies in the future");
    now_ = now;
    std::fill(rows_.begin(), rows_.end(), 0);
    std::fill(columns_.begin(), columns_.end(), 0);
    std::copy_n(used.begin(), num_used, rows_.begin());
    for (std::size_t c = 0; c < num_columns_; ++c)
        std::copy_n(used.data() + (c + 1) * num_used, num_used, columns_.data() + c * num_blocks_);
    return {};
}

}  // namespace shoal
