// shoal report: describes what a save, a recording or a level contains and costs, as a page or as text.

#include "reports.h"

#include "loaded_save.h"
#include "recordings.h"
#include "shoal/base/text.h"
#include "shoal/inspect/html_report.h"
#include "shoal/inspect/text_table.h"
#include "verbs.h"

#include <filesystem>
#include <utility>
#include <vector>

namespace shoal_tool {

using namespace shoal;

namespace {

constexpr Flag kReportFlags[] = {
    {.name = "output",
     .value = "FILE.html",
     .help = "write one HTML file, which needs no other; - is standard output",
     .takes = Takes::kOutput,
     .letter = 'o'},
    {.name = "text", .help = "print the facts, as `shoal run` does, to standard output"},
    {.name = "frames",
     .value = "N",
     .help = "of levels and recordings: run N frames (default: 60, or all that were recorded)",
     .takes = Takes::kText},
    kWorkersFlag,
    kRootFlag,
    kFollowLinksFlag,
    kSchemaFlag,
    kSourceSchemaFlag,
    kStdinNameFlag,
    kResourceFlag,
    kFilePluginFlag,
    kFileScriptFlag,
    kFileCodeFlag,
    kMaxMemoryFlag,
};

// One paragraph per line.
constexpr std::string_view kReportManual =
    "Writes what a world has and costs, for those who were not there: passes with their graph and who reads and writes "
    "what, memory by component type and owner, zones, entities by their component types, and where they are.\n"
    "\n"
    "A level, from a source or a blob, is spawned and run first. A recording is played. A save, or a folder that "
    "Persistence keeps, is shown as it was saved; it has no passes. `shoal run --report` writes the same page of a run "
    "with all that it can be told.\n"
    "\n"
    "The page is one file without scripts, of less than two megabytes, dark or light as the reader's system is. --text "
    "prints the same facts, for logs of builds and for bug reports.\n";

constexpr std::string_view kReportExamples =
    "shoal report world.save -o world.html\n"
    "shoal report run.rec -o run.html\n"
    "shoal report world.save --text\n"
    "shoal run reef.blob --frames 600 --report reef.html\n";

using Facts = std::vector<std::pair<std::string, std::string>>;

Facts facts_of_run(const Task& task, const Outcome& outcome) {
    Facts facts = {{"Frames run", concat(count_text(task.num_frames), " of ", decimal_text(task.dt * 1000, 1), " ms")},
                   {"Workers", count_text(outcome.num_workers)}};
    if (task.num_frames != 0)
        facts.emplace_back(
            "Mean frame",
            concat(decimal_text(static_cast<double>(outcome.run_ns) * 1e-6 / static_cast<double>(task.num_frames), 3),
                   " ms"));
    for (const std::string& plugin : outcome.plugins) facts.emplace_back("Plugin", utf8_text(plugin));
    facts.emplace_back("State hash", state_hash_text(outcome.state_hash));
    return facts;
}

Status write_page(World& world, const HtmlReportOptions& options, const Task& task, Files& files, Outcome& outcome) {
    const Result<std::string> html = html_report(world, options);
    if (!html) return html.status();
    outcome.num_report_bytes = html->size();
    return files.write(task.report_flag, *html);
}

int report_save(const Arguments& arguments, Files& files, Console& console) {
    Task task;
    if (Status status = read_report(arguments, task); !status)
        return fail_usage(console, arguments.verb(), status.message());
    task.level = arguments.operands()[0];
    Diagnostics diagnostics;
    LoadedSave save(arguments);
    if (!load_save(arguments, files, task.level, Snapshots::kNewestWhole, save, diagnostics))
        return fail(console, diagnostics);
    console.print_diagnostics(diagnostics);
    Outcome outcome;
    outcome.report = report_world(save.world);
    if (!task.report.empty()) {
        const HtmlReportOptions options{.title = title_of(task), .report = &outcome.report};
        if (Status status = write_page(save.world, options, task, files, outcome); !status)
            return fail(console, status.message());
    }
    if (task.prints_facts)
        console.print(concat(utf8_text(task.level), "\n",
                             counted(outcome.report.num_entities, "entity lives", "entities live"), ", frame ",
                             count_text(outcome.report.frame), "\n\n", report_text(outcome.report)));
    console.print(report_line(task, outcome));
    return 0;
}

int run_report(const Arguments& arguments, Files& files, Console& console) {
    const std::string& path = arguments.operands()[0];
    if (holds_recording(files, path)) return run_replay(arguments, files, console);
    if (holds_world(files, path)) return report_save(arguments, files, console);
    return run_run(arguments, files, console);
}

}  // namespace

Status read_report(const Arguments& arguments, Task& task) {
    const bool is_verb = &arguments.verb() == &kReportVerb;
    task.report_flag = is_verb ? "output" : kReportFlag.name;
    task.report = arguments.value(task.report_flag);
    task.prints_facts = !is_verb || arguments.has("text");
    if (is_verb && task.report.empty() && !task.prints_facts)
        return Status::error("say what to write: -o FILE.html for a page, or --text");
    if (task.report.empty() || is_standard_stream(task.report) || task.report.ends_with(".html")) return {};
    return Status::error(concat("a report is a page of HTML, and \"", task.report, "\" does not end in .html"));
}

Status write_report_of_run(World& world, const Trace& trace, const Task& task, Files& files, Outcome& outcome) {
    if (task.report.empty()) return {};
    return write_page(
        world,
        {.title = title_of(task), .facts = facts_of_run(task, outcome), .trace = &trace, .report = &outcome.report},
        task, files, outcome);
}

std::string report_line(const Task& task, const Outcome& outcome) {
    if (task.report.empty()) return {};
    return concat("report      ", name_of_output(task.report), ", ", counted(outcome.num_report_bytes, "byte", "bytes"),
                  "\n");
}

const Verb kReportVerb{.name = "report",
                       .summary = "write what a save, a recording or a level has and costs, as a page",
                       .operands = "FILE",
                       .takes = Takes::kInput,
                       .min_operands = 1,
                       .max_operands = 1,
                       .flags = kReportFlags,
                       .manual = kReportManual,
                       .examples = kReportExamples,
                       .run = run_report};

}  // namespace shoal_tool
