// shoal inspect: opens a level, a save or a recording in the live inspector.

#include "inspection.h"
#include "loaded_save.h"
#include "recordings.h"
#include "run.h"
#include "verbs.h"

namespace shoal_tool {

using namespace shoal;

namespace {

constexpr Flag kInspectFlags[] = {
    kPortFlag,        kAddressFlag,    kTokenFlag,        kReadOnlyFlag,  kRootFlag,
    kFollowLinksFlag, kSchemaFlag,     kSourceSchemaFlag, kStdinNameFlag, kResourceFlag,
    kFilePluginFlag,  kFileScriptFlag, kFileCodeFlag,     kMaxMemoryFlag,
};

// One paragraph per line.
constexpr std::string_view kInspectManual =
    "Serves a page on 127.0.0.1 that shows a world, until it is interrupted. The address is printed; open it in a "
    "browser.\n"
    "\n"
    "A level, from a source or a blob, is spawned and paused at its first frame. A recording is paused too: each step "
    "plays its "
    "next frame. Both can be stepped, run, and taken back to frames that were kept. The world of a save, or of a "
    "folder that "
    "Persistence keeps, is shown as it was saved; it has no passes that could run.\n"
    "\n"
    "A world that runs already is inspected with `shoal run --inspect`, and one in a program of your own with "
    "inspect::Server of shoal/inspector/server.h.\n";

constexpr std::string_view kInspectExamples =
    "shoal inspect reef.blob\n"
    "shoal inspect quick.save --resource reef.blob --port 8080\n"
    "shoal inspect reef.rec --recorded-code\n";

int inspect_save(const Arguments& arguments, Files& files, Console& console) {
    InspectionTask task;
    if (Status status = read_inspection(arguments, task); !status)
        return fail_usage(console, arguments.verb(), status.message());
    task.name = arguments.operands()[0];
    task.begins_paused = false;  // the world is never stepped
    Diagnostics diagnostics;
    LoadedSave save(arguments);
    if (!load_save(arguments, files, task.name, Snapshots::kNewestWhole, save, diagnostics))
        return fail(console, diagnostics);
    console.print_diagnostics(diagnostics);
    Inspection inspection;
    if (Status status = inspection.start(save.world, task, console); !status) return fail(console, status.message());
    inspection.answer_on();
    return 0;
}

int run_inspect(const Arguments& arguments, Files& files, Console& console) {
    const std::string& path = arguments.operands()[0];
    if (holds_recording(files, path)) return run_replay(arguments, files, console);
    if (holds_world(files, path)) return inspect_save(arguments, files, console);
    return run_run(arguments, files, console);
}

}  // namespace

const Verb kInspectVerb{.name = "inspect",
                        .summary = "show a level, a save or a recording in a browser",
                        .operands = "FILE",
                        .takes = Takes::kInput,
                        .min_operands = 1,
                        .max_operands = 1,
                        .flags = kInspectFlags,
                        .manual = kInspectManual,
                        .examples = kInspectExamples,
                        .run = run_inspect};

}  // namespace shoal_tool
