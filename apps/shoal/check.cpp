// shoal check: what is wrong in sources and saves, and whether blobs are up to date.

#include "saves.h"
#include "shoal/base/text.h"
#include "shoal/command/saved_commands.h"
#include "sources.h"
#include "up_to_date.h"
#include "verbs.h"

#include <memory>

namespace shoal_tool {

using namespace shoal;

namespace {

constexpr Flag kFlags[] = {
    kRootFlag,
    kSchemaFlag,
    kSourceSchemaFlag,
    kPluginFlag,
    kScriptFlag,
    kStdinNameFlag,
    kStrictFlag,
    {.name = "up-to-date", .help = "of blobs: say whether their sources would give the same now, or what has changed"},
    kJsonFlag};

// A line is a paragraph.
constexpr std::string_view kManual =
    "Reads each source with its prefabs and says what is wrong in it, as `shoal compile` would, but writes "
    "nothing. Warnings alone are not a failure, unless --strict says so. A FILE that is - is read from standard "
    "input.\n"
    "\n"
    "A save of a world is checked as a program does that loads it: whether it is whole, whether its parts fit each "
    "other, "
    "and with --schema, whether migrations lead to the fields of now.\n"
    "\n"
    "With --up-to-date, each operand is a blob. It says what it was made from: this is compared with the files in the "
    "roots "
    "(default: the folder of the blob), the schemas that are given and the version of shoal. The exit code is 0 when "
    "all "
    "are up to date.\n";

constexpr std::string_view kExamples =
    "shoal check reef.sjson\n"
    "shoal check levels/*.sjson --root . --schema game.schema.sjson\n"
    "shoal check reef.sjson --strict --json\n"
    "shoal check quick.save --schema game.schema.sjson\n"
    "shoal check --up-to-date build/*.blob --root levels --schema game.schema.sjson\n"
    "git show HEAD:levels/reef.sjson | shoal check - --stdin-name levels/reef.sjson\n";

struct Checked {
    std::string source;
    SourceSession session;
    bool ok = false;
    std::uint64_t num_entities = 0;
    std::uint64_t num_commands = 0;  // that wait in a save
};

void check(const Arguments& arguments, Files& files, Console& console, Checked& checked) {
    SourceSession& session = checked.session;
    if (is_save_file(files, checked.source)) {
        LoadedSave save;
        checked.ok = load_save(arguments, files, checked.source, save, session.diagnostics);
        checked.num_entities = save.all.size();
        checked.num_commands = count_saved_commands(save.state);
        return;
    }
    const bool is_ready = prepare(arguments, files, console, checked.source, session);
    checked.source = session.path;
    if (!is_ready) return;
    const Result<CompiledSource> result =
        check_source(session.path, session.registry, session.options, session.diagnostics);
    checked.ok = result.ok();
    if (result)
        checked.num_entities = result->num_entities;
    else if (session.diagnostics.num_errors() == 0)
        session.diagnostics.error({}, std::string(result.message()));
}

/// Prints one object for all sources; `ok`: all of them are. The diagnostics of all sources are in one list.
void print_json(Console& console, const std::vector<std::unique_ptr<Checked>>& all, bool ok) {
    DocumentBuilder builder;
    builder.begin_mapping();
    builder.boolean("ok", ok);
    std::uint64_t num_errors = 0, num_warnings = 0;
    builder.begin_list("sources");
    for (const auto& checked : all) {
        builder.begin_mapping();
        builder.string("source", utf8_text(checked->source));
        builder.boolean("ok", checked->ok);
        builder.unsigned_integer("entities", checked->num_entities);
        if (checked->num_commands != 0) builder.unsigned_integer("commands", checked->num_commands);
        builder.unsigned_integer("errors", checked->session.diagnostics.num_errors());
        builder.unsigned_integer("warnings", checked->session.diagnostics.num_warnings());
        builder.end();
        num_errors += checked->session.diagnostics.num_errors();
        num_warnings += checked->session.diagnostics.num_warnings();
    }
    builder.end();
    builder.unsigned_integer("errors", num_errors);
    builder.unsigned_integer("warnings", num_warnings);
    builder.begin_list("diagnostics");
    for (const auto& checked : all) write_entries(checked->session.diagnostics, builder);
    builder.end();
    builder.end();
    console.print_json(builder.finish());
}

int run(const Arguments& arguments, Files& files, Console& console) {
    if (arguments.has("up-to-date") && arguments.has(kStrictFlag.name))
        return fail_usage(console, arguments.verb(),
                          "--strict is for sources, and --up-to-date for blobs; give one of them");
    if (arguments.has("up-to-date")) return check_up_to_date(arguments, files, console);
    std::vector<std::unique_ptr<Checked>> all;
    bool ok = true;
    for (const std::string& source : arguments.operands()) {
        Checked& checked = *all.emplace_back(std::make_unique<Checked>());
        checked.source = source;
        check(arguments, files, console, checked);
        ok &= checked.ok;
        console.print_diagnostics(checked.session.diagnostics);
        console.print(concat(
            checked.source, ": ",
            checked.ok ? concat("ok, ", counted(checked.num_entities, "entity", "entities"), ", ") : "",
            checked.num_commands != 0 ? concat(counted(checked.num_commands, "command waits", "commands wait"), ", ")
                                      : "",
            summary_of(checked.session.diagnostics), "\n"));
    }
    if (console.json()) print_json(console, all, ok);
    return ok ? 0 : 1;
}

}  // namespace

const Verb kCheckVerb{.name = "check",
                      .summary = "say what is wrong in sources or saves, or what of blobs is out of date",
                      .operands = "FILE...",
                      .takes = Takes::kInput,
                      .min_operands = 1,
                      .max_operands = ~std::size_t(0),
                      .flags = kFlags,
                      .manual = kManual,
                      .examples = kExamples,
                      .run = run};

}  // namespace shoal_tool
