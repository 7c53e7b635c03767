#pragma once
// Passes as a schedule sees them: what they are given, what they report, and what they have cost.
// Thread: see schedule.h.

#include "shoal/job/executor.h"

#include <span>
#include <string_view>

namespace shoal {

/// What a pass is given, and what it reports. A function that is called for each row gets a const context; its pass
/// reports the rows and bytes of the query.
struct PassContext {
    /// For the loops of the pass: runs them on this worker and on the workers of the schedule that are free.
    Executor& executor;
    float dt = 0;                 ///< Units: seconds
    std::uint64_t frame = 0;      ///< frames before this one
    std::uint64_t num_rows = 0;   ///< set by the pass: rows that it visited
    std::uint64_t num_bytes = 0;  ///< set by the pass: bytes that it read and wrote, as far as it knows
};

/// A pass of a schedule. Schedule::add makes passes of queries and functions.
class Pass {
public:
    virtual ~Pass() = default;
    virtual void run(PassContext& context) = 0;
};

/// What a pass has cost so far.
struct PassStatistics {
    std::string_view name;  ///< Lifetime: until a pass is added or removed
    bool enabled = true;
    std::uint64_t num_runs = 0;
    std::uint64_t num_rows = 0;   ///< of the last run
    std::uint64_t num_bytes = 0;  ///< of the last run
    std::uint64_t total_rows = 0;
    std::uint64_t total_bytes = 0;
    std::int64_t last_ns = 0;  ///< from begin to end of the last run
    std::int64_t total_ns = 0;
    /// The time that each worker has worked at it, over all runs, without waiting. Shape: by worker, empty before the
    /// first run. Lifetime: until the schedule runs, or a pass is added or removed.
    std::span<const std::int64_t> worker_ns;
};

}  // namespace shoal
