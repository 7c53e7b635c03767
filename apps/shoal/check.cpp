// shoal check: finds errors in sources and saves, and checks whether blobs are up to date.

#include "loaded_save.h"
#include "rewrite.h"
#include "shoal/base/text.h"
#include "shoal/command/detail/saved_commands.h"
#include "shoal/save/persistence.h"
#include "shoal/source/schema_file.h"
#include "sources.h"
#include "up_to_date.h"
#include "verbs.h"

#include <memory>
#include <vector>

namespace shoal_tool {

using namespace shoal;

namespace {

constexpr Flag kCheckFlags[] = {
    kRootFlag,
    kFollowLinksFlag,
    kSchemaFlag,
    kSourceSchemaFlag,
    kPluginFlag,
    kScriptFlag,
    kResourceFlag,
    kMaxMemoryFlag,
    kStdinNameFlag,
    kStrictFlag,
    {.name = "up-to-date", .help = "of blobs: say whether their sources would give the same now, or what has changed"},
    kJsonFlag};

// One paragraph per line.
constexpr std::string_view kCheckManual =
    "Reads each source with its prefabs and says what is wrong in it, as `shoal compile` would, but writes "
    "nothing. Warnings alone are not a failure, unless --strict says so. A FILE that is - is read from standard "
    "input.\n"
    "\n"
    "FILE may be a schema file. It is read after those that --schema gives.\n"
    "\n"
    "A save of a world is checked as a program does that loads it: whether it is whole, whether its parts fit each "
    "other, "
    "and with --schema, whether migrations lead to the fields of now. Values that refer to blobs are checked with "
    "those "
    "that --resource gives.\n"
    "\n"
    "A FILE may be a folder that Persistence keeps. Each of its snapshots and logs is listed with its frames, "
    "records "
    "and bytes, and what is damaged with the byte from which on nothing counts; then comes the frame that "
    "Persistence::recover() "
    "would give, which is checked as a save is. A kill may leave a last record that is cut short; it counts as "
    "damaged, too. Nothing is written into the folder, and a program may go on in it meanwhile.\n"
    "\n"
    "With --up-to-date, each operand is a blob. It says what it was made from: this is compared with the files in the "
    "roots "
    "(default: the folder of the blob), the schemas that are given and the version of shoal. The exit code is 0 when "
    "all "
    "are up to date.\n";

constexpr std::string_view kCheckExamples =
    "shoal check reef.sjson\n"
    "shoal check levels/*.sjson --root . --schema game.schema.sjson\n"
    "shoal check reef.sjson --strict --json\n"
    "shoal check quick.save --schema game.schema.sjson\n"
    "shoal check server/world\n"
    "shoal check --up-to-date build/*.blob --root levels --schema game.schema.sjson\n"
    "git show HEAD:levels/reef.sjson | shoal check - --stdin-name levels/reef.sjson\n";

struct Checked {
    std::string source;
    SourceSession session;
    bool ok = false;
    std::uint64_t num_entities = 0;
    std::uint64_t num_commands = 0;            // pending commands in a save
    std::optional<std::uint64_t> num_types;    // types in a schema file
    std::vector<PersistedSnapshot> snapshots;  // snapshots in a folder
    std::optional<std::uint64_t> recovered_frame;
};

void check_save(const Arguments& arguments, Files& files, Checked& checked) {
    LoadedSave save(arguments);
    Diagnostics& diagnostics = checked.session.diagnostics;
    const bool is_loaded = load_save(arguments, files, checked.source, Snapshots::kAll, save, diagnostics);
    checked.ok = is_loaded && diagnostics.num_errors() == 0;
    checked.num_entities = save.all.size();
    checked.num_commands = is_loaded ? count_saved_commands(save.file) : 0;
    if (is_loaded && save.recovered != nullptr) checked.recovered_frame = save.recovered->last_frame;
    checked.snapshots = std::move(save.snapshots);
}

/// Returns true if `text` has the name of a schema file, or can only be read as one.
bool is_schema(const std::string& name, const std::string& text) {
    if (name.ends_with(".schema.sjson")) return true;
    if (text.find("fields") == std::string::npos) return false;
    Diagnostics unused;
    return !read_document(unused.refer_file(name, text), unused, read_options(false)) && is_schema_text(name, text);
}

void check_schema(const Arguments& arguments, Files& files, const std::string& text, Checked& checked) {
    SourceSession& session = checked.session;
    if (Status status = add_built_ins(session.registry); !status)
        session.diagnostics.error({}, std::string(status.message()));
    read_schemas(arguments, files, session);
    SourceRules rules;  // rules in this file only; other schema files may have different rules
    const std::uint32_t file = session.diagnostics.add_file(checked.source, text);
    checked.ok =
        read_schema_text(file, session.registry, rules, session.diagnostics) && session.diagnostics.num_errors() == 0;
    if (checked.ok) checked.num_types = rules.declarations.size();
}

void check(const Arguments& arguments, Files& files, Console& console, Checked& checked) {
    SourceSession& session = checked.session;
    if (holds_world(files, checked.source)) return check_save(arguments, files, checked);
    if (const Result<std::string> text = files.read(checked.source); text && is_schema(checked.source, *text))
        return check_schema(arguments, files, *text, checked);
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

/// Describes a snapshot and its log in one line each.
std::string text_of(const PersistedSnapshot& snapshot) {
    const auto bytes = [](std::uint64_t count) { return counted(count, "byte", "bytes"); };
    const bool is_whole = snapshot.damage.empty();
    std::string text = concat(snapshot.path, ": ", is_whole ? concat("frame ", snapshot.frame, ", ") : "",
                              bytes(snapshot.num_bytes), is_whole ? "" : ", damaged", "\n");
    if (snapshot.log_path.empty()) return text + concat(snapshot.path, ": has no log\n");
    if (!is_whole)
        return text + concat(snapshot.log_path, ": ", bytes(snapshot.log_bytes), ", not read without its snapshot\n");
    const std::string frames = snapshot.num_records == 0 ? "" : concat(" up to frame ", snapshot.last_frame);
    return text +
           concat(snapshot.log_path, ": ", counted(snapshot.num_records, "record", "records"), frames, ", ",
                  bytes(snapshot.log_bytes),
                  snapshot.log_damage.empty() ? "" : concat(", damaged from byte ", snapshot.whole_log_bytes, " on"),
                  "\n");
}

void write_snapshot(const PersistedSnapshot& snapshot, DocumentBuilder& builder) {
    builder.begin_mapping();
    builder.string("save", utf8_text(snapshot.path));
    builder.boolean("ok", snapshot.damage.empty());
    builder.unsigned_integer("bytes", snapshot.num_bytes);
    if (snapshot.damage.empty())
        builder.unsigned_integer("frame", snapshot.frame);
    else
        builder.string("damage", utf8_text(snapshot.damage));
    if (!snapshot.log_path.empty()) {
        builder.begin_mapping("log");
        builder.string("path", utf8_text(snapshot.log_path));
        builder.boolean("ok", snapshot.damage.empty() && snapshot.log_damage.empty());
        builder.unsigned_integer("bytes", snapshot.log_bytes);
        builder.unsigned_integer("whole_bytes", snapshot.whole_log_bytes);
        builder.unsigned_integer("records", snapshot.num_records);
        if (snapshot.damage.empty()) builder.unsigned_integer("last_frame", snapshot.last_frame);
        if (!snapshot.log_damage.empty()) builder.string("damage", utf8_text(snapshot.log_damage));
        builder.end();
    }
    builder.end();
}

std::string text_of(const Checked& checked) {
    std::string text;
    for (const PersistedSnapshot& snapshot : checked.snapshots) text += text_of(snapshot);
    text += concat(checked.source, ": ", checked.ok ? "ok, " : "");
    if (checked.recovered_frame) text += concat("frame ", *checked.recovered_frame, " is recovered, ");
    if (checked.snapshots.size() != 0 && !checked.recovered_frame) text += "nothing is recovered, ";
    if (checked.num_types)
        text += concat(counted(*checked.num_types, "component type", "component types"), ", ");
    else if (checked.ok || checked.recovered_frame)
        text += concat(counted(checked.num_entities, "entity", "entities"), ", ");
    if (checked.num_commands != 0)
        text += concat(counted(checked.num_commands, "command waits", "commands wait"), ", ");
    return text + concat(summary_of(checked.session.diagnostics), "\n");
}

/// Prints one object for all sources, with one list of diagnostics. `ok` is true if all sources are valid.
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
        if (checked->num_types) builder.unsigned_integer("component_types", *checked->num_types);
        if (checked->num_commands != 0) builder.unsigned_integer("commands", checked->num_commands);
        if (!checked->snapshots.empty()) {
            if (checked->recovered_frame) builder.unsigned_integer("recovered_frame", *checked->recovered_frame);
            builder.begin_list("snapshots");
            for (const PersistedSnapshot& snapshot : checked->snapshots) write_snapshot(snapshot, builder);
            builder.end();
        }
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

int run_check(const Arguments& arguments, Files& files, Console& console) {
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
        console.print(text_of(checked));
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
                      .flags = kCheckFlags,
                      .manual = kCheckManual,
                      .examples = kCheckExamples,
                      .run = run_check};

}  // namespace shoal_tool
