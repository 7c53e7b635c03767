#pragma once
// A loop of a database query that runs on an executor's threads, from its start to its end.
//
//     auto run = moving.start(executor, move);     // jobs are at work
//     look_at(other_things);
//     run.wait();                                  // this thread helps; then what was written is marked
//
// Thread: started and waited for by one thread.

#include "shoal/command/commands.h"
#include "shoal/job/row_ranges.h"
#include "shoal/query/query_tables.h"

namespace shoal {

namespace detail {

/// Calls run(function), or run(function with its first argument bound) where it takes commands.
template <bool kTakesCommands, class Function, class Run>
SHOAL_INLINE void bind_commands(Function& function, [[maybe_unused]] Commands* commands, Run&& run) {
    if constexpr (kTakesCommands) {
        WithCommands<Function> bound{function, *commands};
        run(bound);
    } else {
        run(function);
    }
}

/// Calls run_chunk(chunk) for each chunk, on the executor's threads if there is one, and returns when all are done.
template <class Chunk>
void run_chunks(Executor* executor, std::uint32_t num_chunks, Chunk&& run_chunk) {
    if (executor == nullptr || num_chunks < 2) {
        const LoopScope scope;
        for (std::uint32_t chunk = 0; chunk < num_chunks; ++chunk) run_chunk(chunk);
        return;
    }
    using Function = std::remove_reference_t<Chunk>;
    const ChunkFunction call = [](void* context, std::uint32_t chunk, std::uint32_t) {
        const LoopScope scope;
        (*static_cast<Function*>(context))(chunk);
    };
    Fence fence;
    executor->start(num_chunks, call, &run_chunk, fence);
    executor->wait(fence);
}

}  // namespace detail

template <class Query, class Call, bool kTakesCommands>
class QueryRun {
public:
    /// Starts call(commands, table, rows) for all that `query` goes through; `commands` is nullptr unless they are
    /// asked for. Small loops are done at once, on this thread.
    QueryRun(const Query& query, Executor& executor, const Call& call)
        : query_(query),
          executor_(executor),
          call_(call),
          lock_(query.database()),
          gathered_(query.fields_.managers()) {
        query.refresh();
        query.tables_.for_each_range([&](DatabaseTable& table, RowRange rows) { cuts_.add(table, rows); });
        cuts_.cut();
        if constexpr (kTakesCommands) commands_ = detail::open_commands(query.database(), cuts_.num_chunks());
        if (cuts_.num_chunks() == 1) run_chunk(this, 0, 0);
        if (cuts_.num_chunks() > 1) executor_.start(cuts_.num_chunks(), run_chunk, this, fence_);
    }
    QueryRun(const QueryRun&) = delete;
    QueryRun& operator=(const QueryRun&) = delete;
    ~QueryRun() { wait(); }

    /// Returns when all rows are done, and marks the written fields.
    void wait() {
        executor_.wait(fence_);
        for (const TableRows& done : cuts_.ranges()) query_.fields_.mark_written(*done.table, done.rows);
        cuts_ = TableCuts();
    }

private:
    static void run_chunk(void* context, std::uint32_t chunk, std::uint32_t) {
        const detail::LoopScope scope;
        const QueryRun& run = *static_cast<QueryRun*>(context);
        Commands* const commands = run.commands_ == nullptr ? nullptr : run.commands_ + chunk;
        for (const TableRows& part : run.cuts_.chunk(chunk)) run.call_(commands, *part.table, part.rows);
    }

    const Query& query_;
    Executor& executor_;
    const Call call_;
    const DatabaseLock lock_;
    const RowLock gathered_;
    TableCuts cuts_;
    Commands* commands_ = nullptr;  // by chunk
    Fence fence_;
};

}  // namespace shoal
