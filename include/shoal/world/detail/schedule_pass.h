#pragma once
// The interface between a schedule and its passes: the context that is passed to a pass, the results that it reports,
// and its statistics.
//
//     schedule.add("roam", query<Write<&Body::velocity>>(bodies), [](const PassContext& frame, Entity who, auto&& v) {
//         Random random = frame.random_for(who);
//         v.x += (random.unit() - 0.5f) * frame.dt;
//     });
//
// The random numbers that a pass draws for an entity depend on the world's seed, the pass's name, the frame and the
// entity. They do not depend on rows, chunks or workers, so the results are the same for any number of workers. Thread:
// see schedule.h.

#include "shoal/base/random.h"
#include "shoal/entity/entity.h"
#include "shoal/job/detail/failure.h"
#include "shoal/job/executor.h"

#include <span>
#include <string_view>

namespace shoal {

/// The arguments of a pass, and the counts that it reports. A function that is called for each row receives a const
/// context; the pass itself then reports the rows and bytes of the query.
struct PassContext {
    /// Runs the loops of the pass on this worker and on the schedule's idle workers.
    Executor& executor;
    float dt = 0;                   ///< time since the last run (usually the frame's dt). Units: seconds
    std::uint64_t frame = 0;        ///< number of frames before this one
    std::uint64_t num_rows = 0;     ///< set by the pass: rows that it visited
    std::uint64_t num_bytes = 0;    ///< set by the pass: bytes that it read and wrote, if known
    std::uint64_t random_seed = 0;  ///< for random_for(): depends on the world's seed, the pass and the frame

    /// Returns a random number generator for an entity. If a pass calls it twice for an entity in the same run, both
    /// generators return the same numbers, so a function should call it once and draw all numbers from the result. The
    /// numbers for different entities are unrelated, even if their ids are similar.
    /// Cost: 1 to 2 ns, the same as drawing one number.
    constexpr Random random_for(Entity entity) const { return random_for(std::uint64_t(entity.id)); }
    /// Returns a random number generator for anything else that has a number, such as a grid cell or a chunk of a loop.
    constexpr Random random_for(std::uint64_t key) const { return Random(Random(random_seed ^ key).next()); }
};

/// A pass of a schedule. Schedule::add creates passes from queries and functions.
class Pass {
public:
    virtual ~Pass() = default;
    /// If the function throws an exception or returns an error, stores it in `failure`.
    virtual void run(PassContext& context, Failure& failure) = 0;
};

/// The cost of a pass so far.
struct PassStatistics {
    std::string_view name;           ///< Lifetime: until a pass is added or removed
    bool enabled = true;             ///< whether the pass and its group are enabled
    std::uint32_t every_frames = 1;  ///< if every_seconds is 0, the number of frames from run to run
    float every_seconds = 0;
    std::uint64_t num_runs = 0;
    std::uint64_t num_rows = 0;   ///< rows visited in the last run
    std::uint64_t num_bytes = 0;  ///< bytes read and written in the last run
    std::uint64_t total_rows = 0;
    std::uint64_t total_bytes = 0;
    std::int64_t last_ns = 0;  ///< duration of the last run
    std::int64_t total_ns = 0;
    /// The time that each worker has spent on the pass in all runs, not counting waits. Shape: indexed by worker; empty
    /// before the first run. Lifetime: until the schedule runs, or a pass is added or removed.
    std::span<const std::int64_t> worker_ns;
};

}  // namespace shoal
