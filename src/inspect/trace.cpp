#include "shoal/inspect/trace.h"

#include "shoal/base/file.h"
#include "shoal/base/text.h"
#include "shoal/document/document_builder.h"
#include "shoal/document/json.h"

#include <algorithm>
#include <limits>

namespace shoal {
namespace {

constexpr std::uint64_t kProcess = 1;

class Writer {
public:
    explicit Writer(const Trace& trace) : trace_(trace) {
        for (std::uint32_t worker = 0; worker < trace.num_workers(); ++worker)
            for (std::uint32_t i = 0; i < trace.num_events(worker); ++i)
                begin_ns_ = std::min(begin_ns_, trace.event(worker, i).begin_ns);
    }

    std::string text() {
        builder_.begin_mapping();
        text("displayTimeUnit", "ms");
        builder_.key("traceEvents");
        builder_.begin_list();
        for (std::uint32_t worker = 0; worker < trace_.num_workers(); ++worker) {
            write_name(worker);
            for (std::uint32_t i = 0; i < trace_.num_events(worker); ++i) write_event(worker, trace_.event(worker, i));
        }
        builder_.end();
        builder_.end();
        return write_json(builder_.finish().root());
    }

private:
    void text(std::string_view key, std::string_view value) {
        builder_.key(key);
        builder_.string(value);
    }
    void count(std::string_view key, std::uint64_t value) {
        builder_.key(key);
        builder_.unsigned_integer(value);
    }
    void micros(std::string_view key, std::int64_t ns) {
        builder_.key(key);
        builder_.number(static_cast<double>(ns) * 1e-3);
    }
    void begin_event(std::string_view phase, std::string_view name, std::uint32_t worker) {
        builder_.begin_mapping();
        text("ph", phase);
        text("name", name);
        count("pid", kProcess);
        count("tid", worker);
    }

    void write_name(std::uint32_t worker) {
        begin_event("M", "thread_name", worker);
        builder_.key("args");
        builder_.begin_mapping();
        text("name", concat("worker ", worker));
        builder_.end();
        builder_.end();
    }

    void write_event(std::uint32_t worker, const TraceEvent& event) {
        begin_event("X", trace_.name(event.name), worker);
        micros("ts", event.begin_ns - begin_ns_);
        micros("dur", event.end_ns - event.begin_ns);
        builder_.key("args");
        builder_.begin_mapping();
        count("frame", event.frame);
        builder_.end();
        builder_.end();
    }

    const Trace& trace_;
    DocumentBuilder builder_;
    std::int64_t begin_ns_ = std::numeric_limits<std::int64_t>::max();
};

}  // namespace

std::string trace_json(const Trace& trace) { return Writer(trace).text(); }

Status write_trace(const std::string& path, const Trace& trace) {
    return write_file(path, std::string_view(trace_json(trace)));
}

}  // namespace shoal
