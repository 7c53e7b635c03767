#pragma once
// The last frame of a trace. Shows when each worker worked on each pass, and what each pass waited for.
//
//     const Timeline timeline = last_frame(trace, *world.schedule().graph());
//
//     worker 0   roam roam swim swim swim | eat
//     worker 1   grow      swim swim      |            swim waited for roam, and eat for swim
//
// Thread: any, while no schedule with this trace is running.

#include "shoal/world/detail/schedule_graph.h"
#include "shoal/world/trace.h"

#include <cstdint>
#include <string>
#include <vector>

namespace shoal {

/// An interval in which a worker worked on a pass. Units: nanoseconds since the start of the frame's first span.
struct TimelineSpan {
    std::string pass;
    std::int64_t begin_ns = 0, end_ns = 0;
};

/// A pass's wait for the last of its predecessors, from the predecessor's end to the pass's start.
struct TimelineWait {
    std::string pass, waited_for;
    std::int64_t ns = 0;
};

struct Timeline {
    std::uint64_t frame = 0;
    std::int64_t end_ns = 0;                         ///< end of the last span
    std::vector<std::vector<TimelineSpan>> workers;  ///< Shape: spans of each worker, in chronological order
    std::vector<TimelineWait> waits;                 ///< in the order of the graph's passes
};

SHOAL_API Timeline last_frame(const Trace& trace, const ScheduleGraph& graph);

}  // namespace shoal
