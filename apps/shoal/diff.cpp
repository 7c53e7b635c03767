// shoal diff: compares two sources by key, or two saves.

#include "rewrite.h"
#include "saves.h"
#include "shoal/base/detail/lines.h"
#include "shoal/base/text.h"
#include "shoal/rewrite/source_diff.h"
#include "sources.h"
#include "verbs.h"

#include <memory>
#include <vector>

namespace shoal_tool {

using namespace shoal;

namespace {

constexpr int kDifferent = 3;
constexpr std::string_view kNoFile = "/dev/null";

constexpr Flag kDiffFlags[] = {
    {.name = "composed", .help = "compare what is spawned, with all prefabs merged, and not what the texts say"},
    kRootFlag,
    kFollowLinksFlag,
    kSchemaFlag,
    kResourceFlag,
    kMaxMemoryFlag,
    {.name = "git", .help = "take the operands that git gives to a diff driver, and always exit with 0"},
    {.name = "textconv", .help = "print one source as sorted lines, one for each value, for git to compare"},
    kJsonFlag,
};

// One paragraph per line.
constexpr std::string_view kDiffManual =
    "Says which entities, components and fields are added, removed, changed or moved from BEFORE to AFTER. They are "
    "found by "
    "GUID or name, wherever they stand in the text, and whatever the format is: SJSON can be compared with YAML. The "
    "order of "
    "entities, components and fields is no difference; a list is one value. Schema files are compared, too.\n"
    "\n"
    "Compares what the two texts say, without reading prefabs. With --composed, compares the entities that would be "
    "spawned; "
    "--root and --schema are as for `shoal compile`.\n"
    "\n"
    "Two saves of a world are compared by entity, component and field; what is saved beside them, such as events and "
    "passes, by part. "
    "--schema says what their component types are now, and --resource gives blobs to which they refer. A folder that "
    "Persistence keeps is compared as the save of its last whole frame.\n"
    "\n"
    "Exits with 0 if nothing differs, with 3 if something does, and with 1 if a source cannot be read.\n"
    "\n"
    "With two settings, `git diff` shows such differences. In .gitattributes: `*.sjson diff=shoal`. In .git/config, "
    "below "
    "[diff \"shoal\"]: `command = shoal diff --git`, or, for git's own way of showing lines, `textconv = shoal diff "
    "--textconv`.\n";

constexpr std::string_view kDiffExamples =
    "shoal diff reef_yesterday.sjson reef.sjson\n"
    "shoal diff reef.yaml reef.sjson --json\n"
    "shoal diff old/reef.sjson new/reef.sjson --composed --root prefabs\n"
    "git show HEAD:reef.sjson | shoal diff - reef.sjson\n"
    "shoal diff frame_60.save frame_61.save\n"
    "shoal diff monday.save server/world\n";

/// One of the two sources to compare, and its name.
struct Side {
    std::string path, name;
    std::unique_ptr<SourceSession> session = std::make_unique<SourceSession>();
    std::optional<Composition> composition;
    std::optional<SourceTree> tree;
};

bool is_no_file(const Side& side) { return side.path == kNoFile; }

/// Sets the sides from the operands. Git passes `path old-file old-hex old-mode new-file new-hex new-mode`. If the file
/// was renamed, the new path follows.
void set_sides(const Arguments& arguments, Side& before, Side& after) {
    const std::vector<std::string>& words = arguments.operands();
    const bool is_git = arguments.has("git");
    before.path = is_git ? words[1] : words[0];
    after.path = is_git ? words[4] : words[1];
    before.name = is_git ? concat("a/", words[0]) : before.path;
    after.name = is_git ? concat("b/", words.size() > 7 ? words[7] : words[0]) : after.path;
    for (Side* side : {&before, &after})
        if (is_standard_stream(side->name)) side->name = kStandardInputName;
}

/// Parses a source, or a schema file if the text can only be read as one. Errors: added to the diagnostics.
std::optional<SourceTree> read_tree(const std::string& name, const std::string& text,
                                    std::unique_ptr<SourceSession>& session) {
    const auto read = [&](bool is_schema) {
        const std::uint32_t file = session->diagnostics.add_file(name, text);
        return read_source_tree(file, session->diagnostics, read_options(is_schema));
    };
    std::optional<SourceTree> tree = read(false);
    if (tree || !is_schema_text(name, text)) return tree;
    session = std::make_unique<SourceSession>();
    return read(true);
}

/// Reads one of the two sides, without its prefabs. Errors: added to its session.
void read_text(Files& files, Side& side) {
    if (refuse_blob(files, side.path, side.name, side.session->diagnostics)) return;
    const Result<std::string> text = files.read(side.path);
    if (!text)
        side.session->diagnostics.error({}, std::string(text.message()), "give the path of a source or a schema file");
    else
        side.tree = read_tree(side.name, *text, side.session);
}

/// Reads one of the two sides, with its prefabs. Errors: added to its session.
void read_composed(const Arguments& arguments, Files& files, Console& console, Side& side) {
    SourceSession& session = *side.session;
    if (!prepare(arguments, files, console, side.path, session)) return;
    side.composition = compose(session.path, compose_options(session.options, session.registry), session.diagnostics);
    if (side.composition && session.diagnostics.num_errors() == 0) side.tree = compose_source_tree(*side.composition);
}

/// Reads both sides. A missing file is an empty source. Returns whether both are valid.
bool read_sides(const Arguments& arguments, Files& files, Console& console, Side& before, Side& after) {
    for (Side* side : {&before, &after}) {
        if (is_no_file(*side)) continue;
        if (arguments.has("composed"))
            read_composed(arguments, files, console, *side);
        else
            read_text(files, *side);
    }
    if (is_no_file(before) && after.tree) before.tree = empty_source_tree(*after.tree);
    if (is_no_file(after) && before.tree) after.tree = empty_source_tree(*before.tree);
    return before.tree && after.tree;
}

/// Colours each line according to its first character, as diff tools do.
std::string colored_line(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const std::string_view line = take_line(text);
        const char sign = line.empty() ? ' ' : line[0];
        const std::string_view code = sign == '-'   ? "\033[31m"
                                      : sign == '+' ? "\033[32m"
                                      : sign == '>' ? "\033[36m"
                                                    : "\033[1m";
        out += concat(code, line, "\033[0m\n");
    }
    return out;
}

void write_item(std::string_view side, const SourceItem* item, const Diagnostics& diagnostics, DocumentBuilder& builder,
                std::vector<Document>& documents) {
    if (item == nullptr) return;
    const SourceLocation place = diagnostics.locate(item->position);
    builder.begin_mapping(side);
    builder.string("entity", entity_path(*item));
    builder.unsigned_integer("line", place.line);
    builder.unsigned_integer("column", place.column);
    documents.push_back(canonical_document(*item));
    builder.key("value");
    builder.value(documents.back().root());
    builder.end();
}

void print_json(Console& console, const std::vector<SourceDifference>& differences, const Side& before,
                const Side& after) {
    DocumentBuilder builder;
    std::vector<Document> documents;
    documents.reserve(differences.size() * 2);
    builder.begin_mapping();
    builder.boolean("ok", true);
    builder.boolean("different", !differences.empty());
    builder.string("before", utf8_text(before.name));
    builder.string("after", utf8_text(after.name));
    builder.begin_list("differences");
    for (const SourceDifference& difference : differences) {
        const SourceItem& item = difference.after != nullptr ? *difference.after : *difference.before;
        builder.begin_mapping();
        builder.string("difference", difference_name(difference.kind));
        builder.string("entity", entity_path(item));
        builder.string("member", member_path(item));
        write_item("before", difference.before, before.session->diagnostics, builder, documents);
        write_item("after", difference.after, after.session->diagnostics, builder, documents);
        builder.end();
    }
    builder.end();
    builder.end();
    console.print_json(builder.finish());
}

int fail_sides(const Arguments& arguments, Console& console, const Side& before, const Side& after) {
    const Diagnostics& first = before.session->diagnostics;
    const Diagnostics& second = after.session->diagnostics;
    if (!arguments.has("git")) {
        if (first.num_errors() != 0 && second.num_errors() != 0) console.print_diagnostics(second);
        return fail(console, first.num_errors() != 0 ? first : second);
    }
    // Do not fail: if a diff driver fails, git stops and does not show the remaining files.
    console.print_diagnostics(first);
    console.print_diagnostics(second);
    console.print(concat(after.name, " is not compared; `git diff --no-ext-diff` shows its lines\n"));
    return 0;
}

/// For two files with the same content, describes the changes that git reports: a new name or new permissions. Returns
/// an empty string if there are none.
std::string git_changes(const Arguments& arguments, const Side& before, const Side& after) {
    const std::vector<std::string>& words = arguments.operands();
    const std::string &old_mode = words[3], &new_mode = words[6];
    std::string text;
    if (words.size() > 7) text = concat(before.name, " is now ", after.name, ", and says the same\n");
    if (old_mode != new_mode && !is_no_file(before) && !is_no_file(after))
        text += concat(after.name, " has mode ", new_mode, ", and had ", old_mode, '\n');
    return text;
}

int compare(const Arguments& arguments, Files& files, Console& console) {
    Side before, after;
    set_sides(arguments, before, after);
    if (!arguments.has("git") && (holds_world(files, before.path) || holds_world(files, after.path))) {
        if (!arguments.has("composed")) return diff_saves(arguments, files, console, kDifferent);
        return fail_usage(console, arguments.verb(), "--composed is for sources, and a save is given");
    }
    if (!read_sides(arguments, files, console, before, after)) return fail_sides(arguments, console, before, after);
    const std::vector<SourceDifference> differences = diff_sources(*before.tree, *after.tree);
    if (!differences.empty()) {
        const std::string text = concat("--- ", is_no_file(before) ? kNoFile : before.name, "\n+++ ",
                                        is_no_file(after) ? kNoFile : after.name, '\n', differences_text(differences));
        if (!console.json()) console.print(console.colors_facts() ? colored_line(text) : text);
    } else if (arguments.has("git") && !console.json()) {
        console.print(git_changes(arguments, before, after));
    }
    if (console.json()) print_json(console, differences, before, after);
    return differences.empty() || arguments.has("git") ? 0 : kDifferent;
}

/// Prints a source as lines that git can compare. Prints any other file unchanged, so that git can still compare it.
int convert(const Arguments& arguments, Files& files, Console& console) {
    const std::string& path = arguments.operands()[0];
    Result<std::string> text = files.read(path);
    if (!text) return fail(console, text.message(), "give the path of a source");
    auto session = std::make_unique<SourceSession>();
    const std::optional<SourceTree> tree = read_tree(path, *text, session);
    console.print_diagnostics(session->diagnostics);
    console.print_out(tree ? canonical_lines(*tree) : *text);
    return 0;
}

int run_diff(const Arguments& arguments, Files& files, Console& console) {
    const std::size_t num_operands = arguments.operands().size();
    const bool is_git = arguments.has("git");
    if (arguments.has("textconv")) {
        if (num_operands == 1 && !is_git && !arguments.has("composed") && !console.json())
            return convert(arguments, files, console);
        return fail_usage(console, arguments.verb(), "--textconv takes one source, and no other flags");
    }
    if (is_git && num_operands == 1) return console.print(concat(arguments.operands()[0], " is unmerged\n")), 0;
    if (is_git ? num_operands < 7 : num_operands != 2)
        return fail_usage(
            console, arguments.verb(),
            is_git ? "--git takes the seven operands that git gives to a diff driver" : "give two sources to compare");
    return compare(arguments, files, console);
}

}  // namespace

const Verb kDiffVerb{.name = "diff",
                     .summary = "say what differs between two sources or saves",
                     .operands = "BEFORE AFTER",
                     .takes = Takes::kInput,
                     .min_operands = 1,
                     .max_operands = 9,
                     .flags = kDiffFlags,
                     .manual = kDiffManual,
                     .examples = kDiffExamples,
                     .run = run_diff};

}  // namespace shoal_tool
