#pragma once
// The type-erased part of a loop. It divides the rows into chunks, and runs the chunks as jobs.
//
//     parts       [0, n) of a table, or the blocks of 1,024 rows in which a field that is read was written
//     chunks      cut at multiples of 64 rows; small tables share one; cuts depend on numbers of rows only
//
// Thread: one thread starts the loop and waits for it.

#include "shoal/base/detail/row_range.h"
#include "shoal/command/detail/loop_scope.h"
#include "shoal/entity/entity_manager.h"
#include "shoal/job/detail/failure.h"
#include "shoal/job/row_ranges.h"
#include "shoal/table/detail/table.h"

namespace shoal {

class DatabaseTable;

namespace detail {

/// Rows of one table.
struct QueryPart {
    Table* table = nullptr;
    DatabaseTable* of_database = nullptr;  ///< nullptr: the table is in a manager
    RowRange rows;
    const Entity* owners = nullptr;  ///< the owners of rows that are not in table order; `table` is then nullptr
};

/// The inactive entities that a query skips; nullptr: the query skips no entities.
inline const InactiveEntities* left_out_of(const EntityManager& entities, bool sees_inactive) {
    return sees_inactive || entities.inactive().empty() ? nullptr : &entities.inactive();
}
/// Calls visit(RowRange) for each run of unskipped rows in a part.
template <class Visit>
SHOAL_INLINE void for_each_run(const InactiveEntities* left_out, const QueryPart& part, Visit&& visit) {
    if (SHOAL_LIKELY(left_out == nullptr)) return visit(part.rows);
    left_out->for_each_active(part.table->entities(), part.rows, visit);
}

/// Parts, divided into chunks.
class QueryCuts {
public:
    /// Requires: part.rows.begin is a multiple of 64.
    SHOAL_API void add(const QueryPart& part);
    /// Cuts the parts into at most kMostChunks chunks, each of at least `grain` rows. Cost: none if one chunk is
    /// enough.
    SHOAL_API void cut(std::uint32_t grain = kUsualRowsPerChunk);

    std::uint32_t num_chunks() const { return static_cast<std::uint32_t>(chunk_ends_.size()); }
    /// Requires: chunk < num_chunks().
    SHOAL_API std::span<const QueryPart> chunk(std::uint32_t chunk) const;
    SHOAL_API std::span<const QueryPart> parts() const;

private:
    Array<QueryPart> parts_{Owner("query")};
    Array<std::uint32_t> chunk_ends_{Owner("query")};  // indexed by chunk: an index into parts_
    std::uint64_t weight_ = 0;
};

/// Returns the first range of rows, at or after `row`, whose blocks changed at stamp `since` or later; it is empty if
/// there is none. A block changes when one of `columns` is written, or rows are added or moved there.
SHOAL_API RowRange next_changed(const Table& table, std::span<const std::uint32_t> columns, std::uint64_t since,
                                std::uint32_t row);

/// Marks rows of a column as written.
SHOAL_INLINE void mark_column(Table& table, std::uint32_t column, RowRange rows) {
    if (rows.size() == 1)
        static_cast<void>(table.write_element(column, rows.begin));
    else if (!table.mark_block(column, rows))
        table.mark_written(column, rows);
}

/// Returns the command recorder for a loop that has only one chunk. Requires: `directory` is not nullptr.
SHOAL_API CommandRecorder& open_commands_of_loop(ComponentDirectory* directory);

/// A loop that was started: its chunks and its results.
class StartedLoop {
public:
    /// Any thread may call PartFunction for a part. When all parts are done, the waiting thread calls DoneFunction for
    /// each part, in the order in which the parts were added.
    using PartFunction = void (*)(void* context, CommandRecorder* commands, const QueryPart& part);
    using DoneFunction = void (*)(void* context, const QueryPart& part);

    StartedLoop() = default;
    StartedLoop(const StartedLoop&) = delete;
    StartedLoop& operator=(const StartedLoop&) = delete;
    ~StartedLoop() { wait(); }

    void add(const QueryPart& part) { cuts_.add(part); }
    /// Cuts the added parts into chunks. Returns whether there are several chunks.
    SHOAL_API bool cut(std::uint32_t grain);
    /// Starts the loop over the chunks. Without an executor, or with only one chunk, runs the whole loop before
    /// returning. Requires: if the function takes commands, `directory` is the directory that they apply to.
    SHOAL_API void start(Executor* executor, bool takes_commands, ComponentDirectory* directory, void* context,
                         PartFunction run, DoneFunction done);
    SHOAL_API void wait();

private:
    SHOAL_API static void run_chunk(void* loop, std::uint32_t chunk, std::uint32_t worker);
    void run_parts(std::uint32_t chunk) const;

    QueryCuts cuts_;
    Executor* executor_ = nullptr;
    CommandRecorder* commands_ = nullptr;  // one recorder per chunk
    WorkPosition place_;
    void* context_ = nullptr;
    PartFunction run_ = nullptr;
    DoneFunction done_ = nullptr;
    Fence fence_;
};

}  // namespace detail
}  // namespace shoal
