// Shows the passes, their costs and their order, and the workers' timeline in the last frame.

#include "inspector/answers.h"
#include "inspector/json_text.h"
#include "shoal/base/text.h"
#include "shoal/inspect/detail/timeline.h"
#include "shoal/world/detail/schedule_graph.h"

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
    const Timeline timeline = last_frame(trace, *graph);
    JsonText json;
    DocumentBuilder& builder = json.builder;
    builder.begin_mapping();
    builder.unsigned_integer("frame", timeline.frame);
    builder.number("begin_ms", 0.0);
    builder.number("end_ms", ms(timeline.end_ns));
    builder.begin_list("workers");
    for (const std::vector<TimelineSpan>& spans : timeline.workers) {
        builder.begin_list();
        for (const TimelineSpan& span : spans) {
            builder.begin_mapping();
            json.text("pass", span.pass);
            builder.number("begin_ms", ms(span.begin_ns));
            builder.number("end_ms", ms(span.end_ns));
            builder.end();
        }
        builder.end();
    }
    builder.end();
    builder.begin_list("waits");
    for (const TimelineWait& wait : timeline.waits) {
        builder.begin_mapping();
        json.text("pass", wait.pass);
        json.text("for", wait.waited_for);
        builder.number("ms", ms(wait.ns));
        builder.end();
    }
    builder.end();
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
