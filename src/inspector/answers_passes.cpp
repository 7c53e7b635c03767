// The passes: what they cost, which waits for which, and who worked when in the last frame.

#include "inspector/answers.h"
#include "inspector/json_text.h"
#include "shoal/base/text.h"
#include "shoal/world/schedule_graph.h"

#include <algorithm>
#include <map>

namespace shoal::inspect {
namespace {

void write_names(std::string_view key, const std::vector<std::string>& names, JsonText& json) {
    json.builder.begin_list(key);
    for (const std::string& name : names) json.text(name);
    json.builder.end();
}

void write_pass(const PassNode& node, const PassStatistics& pass, JsonText& json) {
    DocumentBuilder& builder = json.builder;
    builder.begin_mapping();
    json.text("name", node.name);
    json.text("group", node.group);
    builder.boolean("enabled", pass.enabled);
    builder.unsigned_integer("every_frames", pass.every_frames);
    builder.number("every_seconds", static_cast<double>(pass.every_seconds));
    builder.unsigned_integer("runs", pass.num_runs);
    builder.unsigned_integer("rows", pass.num_rows);
    builder.unsigned_integer("bytes", pass.num_bytes);
    builder.number("last_ms", ms(pass.last_ns));
    builder.number("mean_ms", pass.num_runs == 0 ? 0 : ms(pass.total_ns) / static_cast<double>(pass.num_runs));
    builder.number("total_ms", ms(pass.total_ns));
    builder.number("gb_per_s",
                   pass.last_ns <= 0 ? 0 : static_cast<double>(pass.num_bytes) / static_cast<double>(pass.last_ns));
    builder.begin_list("worker_ms");
    for (const std::int64_t ns : pass.worker_ns) builder.number(ms(ns));
    builder.end();
    write_names("reads", node.reads, json);
    write_names("writes", node.writes, json);
    builder.unsigned_integer("level", node.level);
    builder.end();
}

/// When a pass began and ended, over all workers.
struct Span {
    std::int64_t begin_ns = 0, end_ns = 0;
};

void write_time(std::string_view key, std::int64_t ns, std::int64_t origin, DocumentBuilder& builder) {
    builder.number(key, ms(ns - origin));
}

/// For each pass that ran, the one among those it waits for that ended last.
void write_waits(const ScheduleGraph& graph, const std::map<std::string_view, Span>& spans, JsonText& json) {
    json.builder.begin_list("waits");
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
        json.builder.begin_mapping();
        json.text("pass", own->first);
        json.text("for", last->first);
        write_time("ms", own->second.begin_ns, last->second.end_ns, json.builder);
        json.builder.end();
    }
    json.builder.end();
}

}  // namespace

Response show_passes(Session& session, const Request&) {
    Schedule& schedule = session.world.schedule();
    const Result<ScheduleGraph> graph = schedule.graph();
    if (!graph) return refuse(500, graph.status().message());
    JsonText json;
    DocumentBuilder& builder = json.builder;
    builder.begin_mapping();
    builder.begin_list("passes");
    for (const PassNode& node : graph->passes) write_pass(node, schedule.statistics(node.number), json);
    builder.end();
    builder.begin_list("edges");
    for (const PassEdge& edge : graph->edges) {
        builder.begin_mapping();
        json.text("from", graph->passes[edge.from].name);
        json.text("to", graph->passes[edge.to].name);
        json.text("why", edge.is_ordered ? "order" : "conflict");
        write_names("on", edge.on, json);
        builder.end();
    }
    builder.end();
    builder.end();
    return {200, "application/json", json.finish()};
}

Response show_timeline(Session& session, const Request&) {
    const Trace& trace = session.trace();
    const Result<ScheduleGraph> graph = session.world.schedule().graph();
    if (!graph) return refuse(500, graph.status().message());
    std::uint64_t frame = 0;
    std::int64_t begin_ns = 0, end_ns = 0;
    const auto for_each_event = [&](std::uint32_t worker, auto&& visit) {
        for (std::uint32_t i = 0; i < trace.num_events(worker); ++i)
            if (const TraceEvent& event = trace.event(worker, i); event.frame == frame) visit(event);
    };
    for (std::uint32_t worker = 0; worker < trace.num_workers(); ++worker)
        if (const std::uint32_t count = trace.num_events(worker); count != 0)
            frame = std::max(frame, trace.event(worker, count - 1).frame);
    std::map<std::string_view, Span> spans;
    for (std::uint32_t worker = 0; worker < trace.num_workers(); ++worker)
        for_each_event(worker, [&](const TraceEvent& event) {
            const auto [at, is_new] = spans.try_emplace(trace.name(event.name), Span{event.begin_ns, event.end_ns});
            at->second.begin_ns = std::min(at->second.begin_ns, event.begin_ns);
            at->second.end_ns = std::max(at->second.end_ns, event.end_ns);
            begin_ns = begin_ns == 0 ? event.begin_ns : std::min(begin_ns, event.begin_ns);
            end_ns = std::max(end_ns, event.end_ns);
        });
    JsonText json;
    DocumentBuilder& builder = json.builder;
    builder.begin_mapping();
    builder.unsigned_integer("frame", frame);
    builder.number("begin_ms", 0.0);
    write_time("end_ms", end_ns, begin_ns, builder);
    builder.begin_list("workers");
    for (std::uint32_t worker = 0; worker < trace.num_workers(); ++worker) {
        builder.begin_list();
        for_each_event(worker, [&](const TraceEvent& event) {
            builder.begin_mapping();
            json.text("pass", trace.name(event.name));
            write_time("begin_ms", event.begin_ns, begin_ns, builder);
            write_time("end_ms", event.end_ns, begin_ns, builder);
            builder.end();
        });
        builder.end();
    }
    builder.end();
    write_waits(*graph, spans, json);
    builder.end();
    return {200, "application/json", json.finish()};
}

Response enable_pass(Session& session, const Request& request) {
    const RequestBody body(request);
    if (body.refusal) return *body.refusal;
    const Node enabled = body.find("enabled");
    if (!enabled || !enabled.is_bool()) return refuse(400, "`enabled` is true or false");
    if (const Status status = session.world.schedule().enable(body.text("pass"), enabled.as_bool()); !status)
        return refuse(400, status.message());
    return show_passes(session, request);
}

}  // namespace shoal::inspect
