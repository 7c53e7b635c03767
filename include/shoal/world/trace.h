#pragma once
// A trace records what each worker does, and when. Each worker has a ring buffer that keeps its latest events.
//
//     Trace trace(world.executor().num_workers());
//     world.schedule().set_trace(&trace);
//     for (int frame = 0; frame < 100; ++frame) world.step(dt);       // a few nanoseconds per event, and no allocation
//     if (Status s = write_trace(path, trace); !s) return report(s);  // for chrome://tracing or Perfetto
//
// write_trace() is in inspect/trace_file.h.
// Thread: each worker calls add() with its own number. Call other functions only while no schedule that uses this trace
// is running.

#include "shoal/base/detail/array.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace shoal {

/// A period in which a worker was running a pass or settling the world.
struct TraceEvent {
    std::int64_t begin_ns = 0;  ///< on the clock of monotonic_ns()
    std::int64_t end_ns = 0;
    std::uint64_t frame = 0;
    std::uint32_t name = 0;  ///< see Trace::name
};

class Trace {
public:
    /// Keeps the latest `events_per_worker` events of each worker.
    SHOAL_API explicit Trace(std::uint32_t num_workers, std::uint32_t events_per_worker = 1u << 14);

    /// Returns the number that stands for a name. The same name always has the same number.
    SHOAL_API std::uint32_t number_of(std::string_view name);
    std::string_view name(std::uint32_t number) const { return names_[number]; }

    /// Adds an event to a worker's buffer. Requires: worker < num_workers().
    SHOAL_API void add(std::uint32_t worker, const TraceEvent& event);

    std::uint32_t num_workers() const { return static_cast<std::uint32_t>(lanes_.size()); }
    /// Returns the number of stored events.
    SHOAL_API std::uint32_t num_events(std::uint32_t worker) const;
    /// Returns the number of overwritten events.
    SHOAL_API std::uint64_t num_lost(std::uint32_t worker) const;
    /// Returns stored event `i`. Event 0 is the oldest. Requires: i < num_events(worker).
    SHOAL_API const TraceEvent& event(std::uint32_t worker, std::uint32_t i) const;

private:
    struct Lane {
        Array<TraceEvent> events{Owner("trace")};
        std::uint64_t num_added = 0;
        std::byte padding[64];  // avoids false sharing between workers
    };

    Array<Lane> lanes_{Owner("trace")};  // one lane per worker
    Array<std::string> names_{Owner("trace")};
};

}  // namespace shoal
