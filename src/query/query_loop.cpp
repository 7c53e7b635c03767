#include "shoal/command/commands.h"
#include "shoal/database/database.h"
#include "shoal/job/row_ranges.h"
#include "shoal/query/detail/started_loop.h"

#include <algorithm>

namespace shoal::detail {
namespace {

/// The minimum cost of a table in a loop. Units: rows.
constexpr std::uint32_t kLeastWeight = 32;

std::uint32_t weight_of(RowRange rows) { return std::max(rows.size(), kLeastWeight); }

bool is_changed(const Table& table, std::span<const std::uint32_t> columns, std::uint64_t since, std::uint32_t row) {
    return std::any_of(columns.begin(), columns.end(), [&](std::uint32_t column) {
        return table.written_stamp(column, row / kRowsPerStampBlock) >= since;
    });
}

ComponentDirectory& require_directory(ComponentDirectory* directory) {
    SHOAL_ASSERT(directory != nullptr,
                 "a query over managers that are in no world does not know who keeps commands; attach them to a world, "
                 "or add them to a ComponentDirectory");
    return *directory;
}

}  // namespace

void QueryCuts::add(const QueryPart& part) {
    if (part.rows.size() == 0) return;
    SHOAL_ASSERT(part.rows.begin % kByteGranularity == 0, "a part begins where a job may be cut");
    parts_.push_back(part);
    weight_ += weight_of(part.rows);
}

void QueryCuts::cut(std::uint32_t grain) {
    chunk_ends_.clear();
    if (parts_.empty()) return;
    const std::uint64_t rows_per_chunk =
        std::max<std::uint64_t>(round_up(grain, kByteGranularity),
                                round_up(static_cast<std::size_t>(weight_ / kMostChunks + 1), kByteGranularity));
    if (weight_ <= rows_per_chunk) return chunk_ends_.push_back(static_cast<std::uint32_t>(parts_.size()));
    const Array<QueryPart> whole = std::move(parts_);
    parts_ = Array<QueryPart>("query");
    parts_.reserve(whole.size() + kMostChunks);
    std::uint64_t filled = 0;
    for (QueryPart rest : whole) {
        while (rest.rows.size() != 0) {
            const std::uint64_t room = round_up(static_cast<std::size_t>(rows_per_chunk - filled), kByteGranularity);
            QueryPart part = rest;
            if (part.rows.size() > room) part.rows.end = part.rows.begin + static_cast<std::uint32_t>(room);
            parts_.push_back(part);
            rest.rows.begin = part.rows.end;
            filled += weight_of(part.rows);
            if (filled < rows_per_chunk) continue;
            chunk_ends_.push_back(static_cast<std::uint32_t>(parts_.size()));
            filled = 0;
        }
    }
    if (filled != 0) chunk_ends_.push_back(static_cast<std::uint32_t>(parts_.size()));
}

std::span<const QueryPart> QueryCuts::chunk(std::uint32_t chunk) const {
    const std::uint32_t begin = chunk == 0 ? 0 : chunk_ends_[chunk - 1];
    return {parts_.data() + begin, chunk_ends_[chunk] - begin};
}

std::span<const QueryPart> QueryCuts::parts() const { return parts_; }

RowRange next_changed(const Table& table, std::span<const std::uint32_t> columns, std::uint64_t since,
                      std::uint32_t row) {
    const std::uint32_t num_rows = table.num_rows();
    const auto next_block = [&](std::uint32_t at) {
        return std::min(num_rows, at / kRowsPerStampBlock * kRowsPerStampBlock + kRowsPerStampBlock);
    };
    while (row < num_rows && !is_changed(table, columns, since, row)) row = next_block(row);
    std::uint32_t end = row;
    while (end < num_rows && is_changed(table, columns, since, end)) end = next_block(end);
    return {row, end};
}

CommandRecorder& open_commands_of_loop(ComponentDirectory* directory) {
    return *open_commands(require_directory(directory), WorkScope::begin_loop(), 1);
}

bool StartedLoop::cut(std::uint32_t grain) {
    cuts_.cut(grain);
    return cuts_.num_chunks() > 1;
}

void StartedLoop::start(Executor* executor, bool takes_commands, ComponentDirectory* directory, void* context,
                        PartFunction run, DoneFunction done) {
    context_ = context, run_ = run, done_ = done;
    const std::uint32_t num_chunks = cuts_.num_chunks();
    const bool is_shared = executor != nullptr && num_chunks > 1;
    if (is_shared || takes_commands) place_ = WorkScope::begin_loop();
    if (takes_commands) commands_ = open_commands(require_directory(directory), place_, num_chunks);
    if (is_shared) {
        executor_ = executor;
        return executor_->start(num_chunks, run_chunk, this, fence_);
    }
    const LoopScope scope;
    for (std::uint32_t chunk = 0; chunk < num_chunks; ++chunk) run_parts(chunk);
}

void StartedLoop::wait() {
    if (executor_ != nullptr) executor_->wait(fence_);
    const std::span<const QueryPart> parts = cuts_.parts();
    for (std::size_t i = 0; i < parts.size();) {
        QueryPart part = parts[i++];
        for (; i < parts.size() && parts[i].table == part.table && parts[i].rows.begin == part.rows.end; ++i)
            part.rows.end = parts[i].rows.end;
        done_(context_, part);
    }
    cuts_ = QueryCuts();
}

void StartedLoop::run_chunk(void* loop, std::uint32_t chunk, std::uint32_t) {
    const StartedLoop& self = *static_cast<const StartedLoop*>(loop);
    const WorkScope scope(self.place_, chunk);
    self.run_parts(chunk);
}

void StartedLoop::run_parts(std::uint32_t chunk) const {
    CommandRecorder* const commands = commands_ == nullptr ? nullptr : commands_ + chunk;
    for (const QueryPart& part : cuts_.chunk(chunk)) run_(context_, commands, part);
}

}  // namespace shoal::detail
