#pragma once
// Loops over rows, cut into chunks. The cuts depend only on the number of rows, never on the number of workers, so that
// results collected per chunk have the same order everywhere.
//
//     rows     0 ........ 4096 ........ 8192 .... 10000      in 64-byte-aligned columns
//     chunks   |    0      |      1      |     2     |       cuts at multiples of 64 rows: no two chunks write the same
//                                                            cache line of a column of bytes or wider elements
//
// If the loop writes a column of bits, the cuts are at multiples of 512 rows. A small loop has one chunk, which runs on
// the calling thread.
// Thread: see executor.h.

#include "shoal/base/detail/row_range.h"
#include "shoal/job/detail/failure.h"
#include "shoal/job/detail/work_scope.h"
#include "shoal/job/executor.h"

namespace shoal {

inline constexpr std::uint32_t kByteGranularity = 64;  ///< rows in a cache line of the narrowest column
inline constexpr std::uint32_t kBitGranularity = 512;  ///< rows in a cache line of a column of bits

/// The cuts of a loop over rows.
struct RowCuts {
    std::uint32_t num_rows = 0;
    std::uint32_t rows_per_chunk = 0;  ///< a multiple of the granularity
    std::uint32_t num_chunks = 0;

    /// Requires: chunk < num_chunks.
    constexpr RowRange range(std::uint32_t chunk) const {
        const std::uint32_t begin = chunk * rows_per_chunk;
        return {begin, num_rows - begin < rows_per_chunk ? num_rows : begin + rows_per_chunk};
    }
};

/// Running a chunk should take much longer than starting it, and there should be enough chunks for all workers.
inline constexpr std::uint32_t kUsualRowsPerChunk = 4096;
inline constexpr std::uint32_t kMostChunks = 256;

/// Cuts the rows into at most kMostChunks chunks. Each chunk except the last has at least `min_rows` rows, rounded up
/// to a multiple of `granularity`.
/// A pass that spends microseconds on each row needs a smaller `min_rows`. Requires: `min_rows` and `granularity` are
/// above 0.
SHOAL_API RowCuts cut_rows(std::uint32_t num_rows, std::uint32_t granularity = kByteGranularity,
                           std::uint32_t min_rows = kUsualRowsPerChunk);

/// Starts a loop that calls function(RowRange, worker) for every chunk of `cuts`.
/// Lifetime: the RowLoop and `function` are valid until the fence has been waited for.
template <class Function>
class RowLoop {
public:
    RowLoop(const RowCuts& cuts, Function& function) : cuts_(cuts), function_(function) {}

    void start(Executor& executor, Fence& fence) {
        place_ = WorkScope::begin_loop();
        executor.start(cuts_.num_chunks, &run, this, fence);
    }
    /// Rethrows the exception of a chunk, if there is one. Requires: the fence has been waited for.
    void rethrow() { failure_.rethrow(); }

private:
    static void run(void* context, std::uint32_t chunk, std::uint32_t worker) {
        auto& self = *static_cast<RowLoop*>(context);
        const WorkScope scope(self.place_, chunk);
        self.failure_.guard(chunk, [&] { self.function_(self.cuts_.range(chunk), worker); });
    }

    const RowCuts cuts_;
    Function& function_;
    WorkPosition place_;
    Failure failure_;
};

/// Calls function(RowRange, worker) for every chunk of `cuts` and returns when all calls have finished. If a chunk
/// throws, the other chunks still run. Then rethrows the exception of the lowest-numbered chunk that threw.
template <class Function>
void for_rows(Executor& executor, const RowCuts& cuts, Function&& function) {
    if (cuts.num_chunks == 0) return;
    if (cuts.num_chunks == 1) return static_cast<void>(function(cuts.range(0), executor.current_worker()));
    RowLoop loop(cuts, function);
    Fence fence;
    loop.start(executor, fence);
    executor.wait(fence);
    loop.rethrow();
}

template <class Function>
void for_rows(Executor& executor, std::uint32_t num_rows, std::uint32_t granularity, Function&& function) {
    for_rows(executor, cut_rows(num_rows, granularity), function);
}

}  // namespace shoal
