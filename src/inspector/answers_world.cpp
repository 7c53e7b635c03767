// Shows the size and speed of the world as a whole, and controls its frames.

#include "inspector/answers.h"
#include "inspector/bandwidth.h"
#include "inspector/json_text.h"
#include "shoal/base/text.h"
#include "shoal/inspect/detail/service_rows.h"
#include "shoal/inspect/report.h"

#include <algorithm>

namespace shoal::inspect {
namespace {

void write_control(const Session& session, DocumentBuilder& builder) {
    const Control& control = session.control;
    builder.boolean("paused", control.is_paused && control.num_steps == 0);
    builder.number("speed", control.speed);
    builder.key("run_to");
    control.run_to ? builder.unsigned_integer(*control.run_to) : builder.null();
    builder.boolean("can_edit", session.options.allow_edits);
    builder.unsigned_integer("undo", session.undo.size());
    builder.unsigned_integer("redo", session.redo.size());
}

void write_times(Session& session, DocumentBuilder& builder) {
    const Schedule& schedule = session.world.schedule();
    std::int64_t passes_ns = 0;
    for (std::size_t i = 0; i < schedule.num_passes(); ++i)
        if (const PassStatistics pass = schedule.statistics(i); pass.enabled) passes_ns += pass.last_ns;
    builder.number("frame_ms", ms(session.frame_ns));
    builder.number("passes_ms", ms(passes_ns));
    builder.number("settle_ms", ms(session.world.settle_statistics().last_ns));
    std::uint64_t num_events = 0;
    session.world.events().for_each_count([&](std::string_view, std::uint64_t count) { num_events += count; });
    builder.unsigned_integer("events", num_events);
}

void write_settle(const SettleCounts& counts, DocumentBuilder& builder) {
    builder.begin_mapping("settle");
    builder.unsigned_integer("created", counts.num_created);
    builder.unsigned_integer("destroyed", counts.num_destroyed);
    builder.unsigned_integer("moved", counts.num_moved);
    builder.unsigned_integer("dropped", counts.num_dropped);
    builder.unsigned_integer("removed", counts.num_removed);
    builder.end();
}

/// Quotes a label for Prometheus's text format.
std::string label(std::string_view text) {
    std::string escaped;
    for (const char c : text) {
        if (c == '\\' || c == '"') escaped += '\\';
        escaped += c == '\n' ? std::string("\\n") : std::string(1, c);
    }
    return escaped;
}

class Metrics {
public:
    /// Begins a metric. The lines that add() writes next belong to it.
    void begin(std::string_view name, std::string_view kind, std::string_view help) {
        name_ = name;
        text_ += concat("# HELP shoal_", name, ' ', help, "\n# TYPE shoal_", name, ' ', kind, '\n');
    }
    void add(double value) { text_ += concat("shoal_", name_, ' ', decimal(value), '\n'); }
    void add(std::string_view key, std::string_view text, double value) {
        text_ += concat("shoal_", name_, '{', key, "=\"", label(text), "\"} ", decimal(value), '\n');
    }
    std::string take() { return std::move(text_); }

private:
    static std::string decimal(double value) {
        char digits[32];
        std::snprintf(digits, sizeof digits, "%.17g", value);
        return digits;
    }
    std::string_view name_;
    std::string text_;
};

void add_passes(const WorldReport& report, Metrics& metrics) {
    const auto add = [&](std::string_view name, std::string_view help, auto&& value) {
        metrics.begin(name, "counter", help);
        for (const PassReport& pass : report.passes) metrics.add("pass", pass.name, value(pass));
    };
    add("pass_seconds_total", "wall-clock time of a pass",
        [](const PassReport& pass) { return pass.total_ms() * 1e-3; });
    add("pass_runs_total", "runs of a pass", [](const PassReport& pass) { return static_cast<double>(pass.num_runs); });
    add("pass_rows_total", "rows that a pass has visited",
        [](const PassReport& pass) { return static_cast<double>(pass.total_rows); });
}

void add_components(const WorldReport& report, Metrics& metrics) {
    metrics.begin("component_rows", "gauge", "rows of a component type");
    for (const ComponentReport& one : report.components)
        metrics.add("component", one.name, static_cast<double>(one.num_rows));
    metrics.begin("component_committed_bytes", "gauge",
                  "committed memory of the rows and the index of a component type");
    for (const ComponentReport& one : report.components)
        metrics.add("component", one.name, static_cast<double>(one.rows.committed_bytes + one.index.committed_bytes));
    metrics.begin("memory_committed_bytes", "gauge", "memory by owner, no byte counted twice");
    for (const OwnerReport& owner : report.memory)
        metrics.add("owner", owner.name, static_cast<double>(owner.memory.committed_bytes));
}

/// Writes nothing if the service has no table.
void write_table(const WorldService& service, JsonText& json) {
    const std::vector<std::vector<std::string>> rows = service_rows(service);
    if (rows.empty()) return;
    const auto write = [&](const std::vector<std::string>& texts) {
        for (const std::string& text : texts) json.text(text);
        json.builder.end();
    };
    json.builder.begin_list("columns");
    write(rows.front());
    json.builder.begin_list("rows");
    for (std::size_t row = 1; row < rows.size(); ++row) {
        json.builder.begin_list();
        write(rows[row]);
    }
    json.builder.end();
}

}  // namespace

Response show_world(Session& session, const Request&) {
    World& world = session.world;
    const WorldReport report = report_world(world);
    JsonText json;
    DocumentBuilder& builder = json.builder;
    builder.begin_mapping();
    json.text("name", session.options.name);
    builder.unsigned_integer("frame", world.frame());
    builder.unsigned_integer("entities", world.entities().num_alive());
    write_times(session, builder);
    write_control(session, builder);
    builder.unsigned_integer("workers", world.executor().num_workers());
    builder.number("bandwidth_gb_per_s", bandwidth_gb_per_s());
    builder.begin_mapping("memory");
    write_use(report.total_memory(), builder);
    builder.end();
    write_settle(report.last_settle, builder);
    builder.key("frames_kept");
    const Frames* const frames = session.frames();
    const FrameStatistics kept = frames == nullptr ? FrameStatistics() : frames->statistics();
    if (kept.num_frames == 0) {
        builder.null();
    } else {
        builder.begin_mapping();
        builder.unsigned_integer("first", kept.first);
        builder.unsigned_integer("last", kept.last);
        builder.end();
    }
    builder.begin_list("services");
    world.services().for_each([&](const WorldService& service) {
        builder.begin_mapping();
        json.text("name", service.name());
        json.text("text", service.describe());
        write_table(service, json);
        builder.end();
    });
    builder.end();
    builder.boolean("sql", true);
    builder.end();
    return {200, "application/json", json.finish()};
}

Response control(Session& session, const Request& request) {
    const RequestBody body(request);
    if (body.refusal) return *body.refusal;
    Control& control = session.control;
    const std::string_view action = body.text("action");
    if (action == "pause") {
        control.is_paused = true;
        control.num_steps = 0;
        control.run_to.reset();
    } else if (action == "resume") {
        control.is_paused = false;
        control.num_steps = 0;
    } else if (action == "step") {
        control.is_paused = true;
        control.num_steps += std::clamp<std::uint64_t>(body.number("frames").value_or(1), 1, 100'000);
    } else if (action == "run_to") {
        const std::optional<std::uint64_t> frame = body.number("frame");
        if (!frame || *frame <= session.world.frame())
            return refuse(400, concat("`frame` is a frame after this one, ", session.world.frame()));
        control.run_to = *frame;
        control.is_paused = false;
        control.num_steps = 0;
    } else if (action == "speed") {
        const Node speed = body.find("speed");
        if (!speed || !speed.is_number() || !(speed.as_double() >= 0.01) || speed.as_double() > 1)
            return refuse(400, "`speed` is a number from 0.01 to 1, how the program runs by itself");
        control.speed = speed.as_double();
    } else {
        return refuse(400, concat("there is no action \"", action, "\"; it is pause, resume, step, run_to or speed"));
    }
    return show_world(session, request);
}

Response show_metrics(Session& session, const Request&) {
    const WorldReport report = report_world(session.world);
    Metrics metrics;
    metrics.begin("entities", "gauge", "living entities");
    metrics.add(static_cast<double>(report.num_entities));
    metrics.begin("frames_total", "counter", "steps of the world");
    metrics.add(static_cast<double>(report.frame));
    metrics.begin("frame_seconds", "gauge", "time of the last frame, without waiting");
    metrics.add(static_cast<double>(session.frame_ns) * 1e-9);
    metrics.begin("settle_seconds_total", "counter", "time that settling has taken");
    metrics.add(static_cast<double>(session.world.settle_statistics().total_ns) * 1e-9);
    add_passes(report, metrics);
    add_components(report, metrics);
    return {200, "text/plain; version=0.0.4; charset=utf-8", metrics.take()};
}

}  // namespace shoal::inspect
