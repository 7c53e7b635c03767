#include "shoal/inspect/detail/timeline.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>

namespace shoal {
namespace {

using SpansByPass = std::map<std::string_view, TimelineSpan>;

/// Returns the span of each pass over all workers, from the first start to the last end.
SpansByPass whole_spans(const Timeline& timeline) {
    SpansByPass spans;
    for (const std::vector<TimelineSpan>& worker : timeline.workers)
        for (const TimelineSpan& span : worker) {
            TimelineSpan& whole = spans.try_emplace(span.pass, span).first->second;
            whole.begin_ns = std::min(whole.begin_ns, span.begin_ns);
            whole.end_ns = std::max(whole.end_ns, span.end_ns);
        }
    return spans;
}

/// For each pass that ran, finds the predecessor that ended last.
void add_waits(const ScheduleGraph& graph, Timeline& timeline) {
    const SpansByPass spans = whole_spans(timeline);
    for (std::uint32_t i = 0; i < graph.passes.size(); ++i) {
        const auto own = spans.find(graph.passes[i].name);
        if (own == spans.end()) continue;
        auto last = spans.end();
        for (const PassEdge& edge : graph.edges) {
            if (edge.to != i) continue;
            const auto before = spans.find(graph.passes[edge.from].name);
            if (before != spans.end() && (last == spans.end() || before->second.end_ns > last->second.end_ns))
                last = before;
        }
        if (last == spans.end()) continue;
        timeline.waits.push_back(
            {std::string(own->first), std::string(last->first), own->second.begin_ns - last->second.end_ns});
    }
}

}  // namespace

Timeline last_frame(const Trace& trace, const ScheduleGraph& graph) {
    Timeline timeline;
    for (std::uint32_t worker = 0; worker < trace.num_workers(); ++worker)
        if (const std::uint32_t count = trace.num_events(worker); count != 0)
            timeline.frame = std::max(timeline.frame, trace.event(worker, count - 1).frame);
    std::int64_t begin_ns = std::numeric_limits<std::int64_t>::max();
    for (std::uint32_t worker = 0; worker < trace.num_workers(); ++worker) {
        std::vector<TimelineSpan>& spans = timeline.workers.emplace_back();
        for (std::uint32_t i = 0; i < trace.num_events(worker); ++i) {
            const TraceEvent& event = trace.event(worker, i);
            if (event.frame != timeline.frame) continue;
            spans.push_back({std::string(trace.name(event.name)), event.begin_ns, event.end_ns});
            begin_ns = std::min(begin_ns, event.begin_ns);
        }
    }
    for (std::vector<TimelineSpan>& spans : timeline.workers)
        for (TimelineSpan& span : spans) {
            span.begin_ns -= begin_ns;
            span.end_ns -= begin_ns;
            timeline.end_ns = std::max(timeline.end_ns, span.end_ns);
        }
    add_waits(graph, timeline);
    return timeline;
}

}  // namespace shoal
