#pragma once
// What a pass is to its schedule: what it is given, what it reports, what it has cost.
// Thread: see schedule.h.

#include "shoal/job/executor.h"

#include <span>
#include <string_view>

namespace shoal {

/// What a pass is given, and what it reports for its line in the table. Functions of rows get it as const: their pass
/// reports the rows and bytes of its query.
struct PassContext {
    /// For the loops of the pass: the schedule's workers, those that are free and this one.
    Executor& executor;
    float dt = 0;                 ///< Units: seconds
    std::uint64_t frame = 0;      ///< frames before this one
    std::uint64_t num_rows = 0;   ///< set by the pass: rows that it went through
    std::uint64_t num_bytes = 0;  ///< set by the pass: bytes that it read and wrote, as far as it knows
};

/// A pass of a schedule. Interface for those that need state; most are a query and a function.
class Pass {
public:
    virtual ~Pass() = default;
    virtual void run(PassContext& context) = 0;
};

/// What a pass has cost so far.
struct PassStatistics {
    std::string_view name;  ///< Lifetime: until a pass comes or goes
    bool enabled = true;
    std::uint64_t num_runs = 0;
    std::uint64_t num_rows = 0;   ///< of the last run
    std::uint64_t num_bytes = 0;  ///< of the last run
    std::uint64_t total_rows = 0;
    std::uint64_t total_bytes = 0;
    std::int64_t last_ns = 0;  ///< from its begin to its end
    std::int64_t total_ns = 0;
    /// Time that each worker worked at it, over all runs; waiting is left out. Shape: by worker, empty before the first
    /// run. Lifetime: until the schedule runs, or a pass comes or goes.
    std::span<const std::int64_t> worker_ns;
};

}  // namespace shoal
