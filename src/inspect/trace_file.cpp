#include "shoal/inspect/trace_file.h"

#include "shoal/base/file.h"
#include "shoal/base/text.h"
#include "shoal/document/document_builder.h"
#include "shoal/document/json.h"

#include <algorithm>
#include <limits>

namespace shoal {
namespace {

/// Begins an event; its members follow.
void begin_event(DocumentBuilder& builder, std::string_view phase, std::string_view name, std::uint32_t worker) {
    builder.begin_mapping();
    builder.string("ph", phase);
    builder.string("name", name);
    builder.unsigned_integer("pid", 1);
    builder.unsigned_integer("tid", worker);
}

void write_worker(DocumentBuilder& builder, const Trace& trace, std::uint32_t worker, std::int64_t begin_ns) {
    begin_event(builder, "M", "thread_name", worker);
    builder.begin_mapping("args");
    builder.string("name", concat("worker ", worker));
    builder.end();
    builder.end();
    for (std::uint32_t i = 0; i < trace.num_events(worker); ++i) {
        const TraceEvent& event = trace.event(worker, i);
        begin_event(builder, "X", trace.name(event.name), worker);
        builder.number("ts", static_cast<double>(event.begin_ns - begin_ns) * 1e-3);
        builder.number("dur", static_cast<double>(event.end_ns - event.begin_ns) * 1e-3);
        builder.begin_mapping("args");
        builder.unsigned_integer("frame", event.frame);
        builder.end();
        builder.end();
    }
}

}  // namespace

std::string trace_json(const Trace& trace) {
    std::int64_t begin_ns = std::numeric_limits<std::int64_t>::max();
    for (std::uint32_t worker = 0; worker < trace.num_workers(); ++worker)
        for (std::uint32_t i = 0; i < trace.num_events(worker); ++i)
            begin_ns = std::min(begin_ns, trace.event(worker, i).begin_ns);
    DocumentBuilder builder;
    builder.begin_mapping();
    builder.string("displayTimeUnit", "ms");
    builder.begin_list("traceEvents");
    for (std::uint32_t worker = 0; worker < trace.num_workers(); ++worker)
        write_worker(builder, trace, worker, begin_ns);
    builder.end();
    builder.end();
    return write_json(builder.finish().root());
}

Status write_trace(const std::string& path, const Trace& trace) {
    return write_file(path, std::string_view(trace_json(trace)));
}

}  // namespace shoal
