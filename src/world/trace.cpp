// The ring buffers of a trace.

#include "shoal/world/trace.h"

#include "shoal/base/assert.h"

#include <algorithm>

namespace shoal {

Trace::Trace(std::uint32_t num_workers, std::uint32_t events_per_worker) {
    SHOAL_ASSERT(num_workers > 0 && events_per_worker > 0, "a trace needs at least one worker and room for one event");
    lanes_.resize(num_workers);
    for (Lane& lane : lanes_) lane.events.resize(events_per_worker);
}

std::uint32_t Trace::number_of(std::string_view name) {
    for (std::size_t i = 0; i < names_.size(); ++i)
        if (names_[i] == name) return static_cast<std::uint32_t>(i);
    names_.emplace_back(name);
    return static_cast<std::uint32_t>(names_.size() - 1);
}

void Trace::add(std::uint32_t worker, const TraceEvent& event) {
    SHOAL_ASSERT(worker < lanes_.size(), "the trace was made for fewer workers");
    Lane& lane = lanes_[worker];
    // Several threads may take turns as this worker; the executor orders them.
    const std::uint64_t place = __atomic_fetch_add(&lane.num_added, 1, __ATOMIC_RELAXED);
    lane.events[place % lane.events.size()] = event;
}

std::uint32_t Trace::num_events(std::uint32_t worker) const {
    const Lane& lane = lanes_[worker];
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(lane.num_added, lane.events.size()));
}

std::uint64_t Trace::num_lost(std::uint32_t worker) const { return lanes_[worker].num_added - num_events(worker); }

const TraceEvent& Trace::event(std::uint32_t worker, std::uint32_t i) const {
    SHOAL_ASSERT(i < num_events(worker), "the trace has fewer events of this worker");
    const Lane& lane = lanes_[worker];
    return lane.events[(num_lost(worker) + i) % lane.events.size()];
}

}  // namespace shoal
