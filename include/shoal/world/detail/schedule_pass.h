#pragma once
// What a schedule knows about passes: what they are given, what they report, and what they cost.
//
//     schedule.add("roam", query<Write<&Body::velocity>>(bodies), [](const PassContext& frame, Entity who, auto&& v) {
//         Random random = frame.random_for(who);
//         v.x += (random.unit() - 0.5f) * frame.dt;
//     });
//
// The numbers that a pass gets for an entity depend on the seed of the world, the name of the pass, the frame and the
// entity. They do not depend on rows, chunks and workers, so the results are the same for any number of workers.
// Thread: see schedule.h.

#include "shoal/base/random.h"
#include "shoal/entity/entity.h"
#include "shoal/job/detail/failure.h"
#include "shoal/job/executor.h"

#include <span>
#include <string_view>

namespace shoal {

/// What a pass is given, and what it reports. A function that is called for each row gets a const context; its pass
/// reports the rows and bytes of the query.
struct PassContext {
    /// For the loops of the pass: runs them on this worker and on the workers of the schedule that are free.
    Executor& executor;
    float dt = 0;                 ///< since the pass last ran; the frame's dt if it runs in every frame. Units: seconds
    std::uint64_t frame = 0;      ///< frames before this one
    std::uint64_t num_rows = 0;   ///< set by the pass: rows that it visited
    std::uint64_t num_bytes = 0;  ///< set by the pass: bytes that it read and wrote, as far as known
    std::uint64_t random_seed = 0;  ///< for random_for(): differs for each seed of the world, pass and frame

    /// Returns a generator for an entity. Two calls for the same entity in one run of a pass return the same numbers,
    /// so a function should take one generator and draw all numbers from it. Entities have unrelated numbers, whatever
    /// their ids.
    /// Cost: 1 to 2 ns, the same as drawing one number.
    constexpr Random random_for(Entity entity) const { return random_for(std::uint64_t(entity.id)); }
    /// The same for other numbered things, such as the cells of a grid, or the chunks of a loop of the pass.
    constexpr Random random_for(std::uint64_t key) const { return Random(Random(random_seed ^ key).next()); }
};

/// A pass of a schedule. Schedule::add makes passes of queries and functions.
class Pass {
public:
    virtual ~Pass() = default;
    /// `failure` keeps the exception that the function throws, or the error that it returns.
    virtual void run(PassContext& context, Failure& failure) = 0;
};

/// What a pass has cost so far.
struct PassStatistics {
    std::string_view name;           ///< Lifetime: until a pass is added or removed
    bool enabled = true;             ///< the pass and its group are enabled
    std::uint32_t every_frames = 1;  ///< the pass runs once in this many frames, if every_seconds is 0
    float every_seconds = 0;
    std::uint64_t num_runs = 0;
    std::uint64_t num_rows = 0;   ///< of the last run
    std::uint64_t num_bytes = 0;  ///< of the last run
    std::uint64_t total_rows = 0;
    std::uint64_t total_bytes = 0;
    std::int64_t last_ns = 0;  ///< from begin to end of the last run
    std::int64_t total_ns = 0;
    /// The time that each worker has spent on the pass over all runs, without waiting. Shape: by worker, empty before
    /// the first run. Lifetime: until the schedule runs, or a pass is added or removed.
    std::span<const std::int64_t> worker_ns;
};

}  // namespace shoal
