#include "inspection.h"

#include "console.h"
#include "shoal/base/text.h"
#include "signals.h"
#include "verbs.h"

#if SHOAL_TOOL_HAS_INSPECTOR
#include "shoal/inspector/server.h"
#endif

namespace shoal_tool {

using namespace shoal;

Status read_inspection(const Arguments& arguments, InspectionTask& task) {
    const bool is_verb = &arguments.verb() == &kInspectVerb;
    const bool is_asked_for = is_verb || arguments.has(kInspectFlag.name);
    for (const Flag* flag : {&kAddressFlag, &kTokenFlag, &kReadOnlyFlag})
        if (arguments.has(flag->name) && !is_asked_for)
            return Status::error(concat("--", flag->name, " says how the world is inspected; add --inspect"));
    task.address = arguments.value(kAddressFlag.name, task.address);
    task.token = arguments.value(kTokenFlag.name);
    task.allows_edits = !arguments.has(kReadOnlyFlag.name);
    task.begins_paused = is_verb;
    if (!is_asked_for) return {};
    std::uint64_t port = 0;
    const Flag& flag = is_verb ? kPortFlag : kInspectFlag;
    if (Status status = arguments.read_number(flag.name, std::uint64_t(0), 65535, port); !status) return status;
    task.port = port;
    return {};
}

#if SHOAL_TOOL_HAS_INSPECTOR

struct Inspection::Served final : inspect::ServerHost {
    Served(World& world, const InspectionTask& task)
        : origins_by_guid(task.origins),
          server(world, {.port = static_cast<std::uint16_t>(*task.port),
                         .address = task.address,
                         .token = task.token,
                         .name = task.name,
                         .allow_edits = task.allows_edits,
                         .begin_paused = task.begins_paused,
                         .host = this}) {}

    bool is_stopped() override { return was_interrupted(); }
    std::vector<LayerOrigin> origins(std::string_view, std::uint64_t guid) override {
        return origins_by_guid ? origins_by_guid(guid) : std::vector<LayerOrigin>();
    }

    std::function<std::vector<LayerOrigin>(std::uint64_t guid)> origins_by_guid;
    inspect::Server server;
};

Status Inspection::start(World& world, const InspectionTask& task, Console& console) {
    if (!task.port) return {};
    note_first_signal();
    served_ = std::make_unique<Served>(world, task);
    const Status& status = served_->server.status();
    if (status) console.print_error(concat("inspect at ", served_->server.url(), "\n"));
    return status;
}

void Inspection::answer(double seconds) { served_->server.answer(seconds); }
bool Inspection::wait_for_frame(double seconds, double most_seconds) {
    return served_->server.wait_for_frame(seconds, most_seconds);
}

#else

struct Inspection::Served {};

Status Inspection::start(World&, const InspectionTask& task, Console&) {
    if (!task.port) return {};
    return Status::error(
        "this tool was built without the inspector; install libcivetweb-dev, libjs-chart.js, libjs-codemirror and "
        "node-d3, "
        "and build it again");
}

void Inspection::answer(double) {}
bool Inspection::wait_for_frame(double, double) { return true; }

#endif

Inspection::Inspection() = default;
Inspection::~Inspection() = default;

void Inspection::answer_on() {
    constexpr double kAnHour = 3600;
    while (!was_interrupted()) answer(kAnHour);
}

}  // namespace shoal_tool
