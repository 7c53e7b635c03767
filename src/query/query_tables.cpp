#include "shoal/query/query_tables.h"

#include "shoal/job/row_ranges.h"

#include <algorithm>

namespace shoal {
namespace {

/// What a table of few rows costs a loop, in rows.
constexpr std::uint32_t kLeastWeight = 32;

std::uint32_t weight_of(RowRange rows) { return std::max(rows.size(), kLeastWeight); }

}  // namespace

void TableCuts::add(DatabaseTable& table, RowRange rows) {
    if (rows.size() == 0) return;
    SHOAL_ASSERT(rows.begin % kByteGranularity == 0, "a range begins where a job may be cut");
    ranges_.push_back({&table, rows});
    weight_ += weight_of(rows);
}

void TableCuts::cut() {
    chunk_ends_.clear();
    if (ranges_.empty()) return;
    const std::uint64_t rows_per_chunk = std::max<std::uint64_t>(
        kUsualRowsPerChunk, round_up(static_cast<std::size_t>(weight_ / kMostChunks + 1), kByteGranularity));
    if (weight_ <= rows_per_chunk) return chunk_ends_.push_back(static_cast<std::uint32_t>(ranges_.size()));
    const Array<TableRows> whole = std::move(ranges_);
    ranges_ = Array<TableRows>("query");
    ranges_.reserve(whole.size() + kMostChunks);
    std::uint64_t filled = 0;
    for (TableRows range : whole) {
        while (range.rows.size() != 0) {
            const std::uint64_t room = round_up(static_cast<std::size_t>(rows_per_chunk - filled), kByteGranularity);
            RowRange part = range.rows;
            if (part.size() > room) part.end = part.begin + static_cast<std::uint32_t>(room);
            ranges_.push_back({range.table, part});
            range.rows.begin = part.end;
            filled += weight_of(part);
            if (filled < rows_per_chunk) continue;
            chunk_ends_.push_back(static_cast<std::uint32_t>(ranges_.size()));
            filled = 0;
        }
    }
    if (filled != 0) chunk_ends_.push_back(static_cast<std::uint32_t>(ranges_.size()));
}

QueryTables::QueryTables(Database& database, std::span<const ComponentType> with,
                         std::span<const ComponentType> without, std::span<const WatchedColumns> watched)
    : database_(&database), match_(database, with, without), watched_(watched.begin(), watched.end()) {}

std::uint64_t QueryTables::num_rows() const {
    refresh();
    std::uint64_t count = 0;
    for_each_table([&](const DatabaseTable& table) { count += table.num_rows(); });
    return count;
}

bool QueryTables::is_changed(const DatabaseTable& table, std::uint32_t row) const {
    for (const WatchedColumns& watched : watched_) {
        if (!table.type().has(watched.component)) continue;
        const std::uint32_t first = table.first_column(watched.component) + watched.first;
        for (std::uint32_t c = first; c < first + watched.count; ++c)
            if (table.table().written_stamp(c, row / kRowsPerStampBlock) >= since_) return true;
    }
    return false;
}

RowRange QueryTables::next_changed(const DatabaseTable& table, std::uint32_t row) const {
    const std::uint32_t num_rows = table.num_rows();
    const auto next_block = [&](std::uint32_t at) {
        return std::min(num_rows, at / kRowsPerStampBlock * kRowsPerStampBlock + kRowsPerStampBlock);
    };
    while (row < num_rows && !is_changed(table, row)) row = next_block(row);
    std::uint32_t end = row;
    while (end < num_rows && is_changed(table, end)) end = next_block(end);
    return {row, end};
}

}  // namespace shoal
