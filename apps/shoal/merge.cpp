// shoal merge: two sources that were made from one, as one again.

#include "shoal/base/text.h"
#include "shoal/source/source_merge.h"
#include "sources.h"
#include "verbs.h"

namespace shoal_tool {

using namespace shoal;

namespace {

constexpr Flag kFlags[] = {
    {.name = "output",
     .value = "FILE",
     .help = "the file to write instead of standard output; it may be one of the three, and is not touched if there "
             "are conflicts",
     .takes = Takes::kOutput,
     .letter = 'o',
     .may_replace_input = true},
    {.name = "path",
     .value = "PATH",
     .help = "the file that the three stand for: its ending says their format, and messages name it",
     .takes = Takes::kText},
    kJsonFlag,
};

// A line is a paragraph.
constexpr std::string_view kManual =
    "Merges what has changed from BASE to A and from BASE to B: entity by entity, component by component and field by "
    "field, "
    "found by GUID or name, wherever they stand in the text. The result is laid out as A is and has its format and its "
    "comments, "
    "with what is new in B. A list is one value.\n"
    "\n"
    "Conflicts are errors that show both places: both have changed one value, both have added one key with different "
    "values, one "
    "has removed what the other has changed, or both have moved one entity. Then nothing is written, and the exit code "
    "is 1.\n"
    "\n"
    "With two settings, git merges sources so. In .gitattributes: `*.sjson merge=shoal`. In .git/config, below "
    "[merge \"shoal\"]: `driver = shoal merge %O %A %B -o %A --path %P`.\n";

constexpr std::string_view kExamples =
    "shoal merge base.sjson mine.sjson theirs.sjson -o merged.sjson\n"
    "shoal merge base.yaml mine.yaml theirs.yaml -o mine.yaml\n";

/// Returns what messages call a side. It ends as the file does, which says the format.
std::string name_of(const Arguments& arguments, std::size_t side) {
    constexpr std::string_view kSides[] = {"base:", "a:", "b:"};
    const std::string& operand = arguments.operands()[side];
    if (arguments.has("path")) return concat(kSides[side], arguments.value("path"));
    return is_standard_stream(operand) ? std::string(kStandardInputName) : operand;
}

/// The three texts, read.
struct Sources {
    Diagnostics diagnostics;
    SourceComments comments;
    std::optional<SourceTree> trees[3];
};

/// Reads all three. A base that says nothing, as when both have added the file, is of any kind. Errors: in the diagnostics.
bool read_all(const Arguments& arguments, Files& files, Sources& sources) {
    for (std::size_t i = 0; i < 3; ++i) {
        Result<std::string> text = files.read(arguments.operands()[i]);
        if (!text) {
            sources.diagnostics.error({}, std::string(text.message()), "give the path of a source");
            continue;
        }
        const std::uint32_t file = sources.diagnostics.add_file(name_of(arguments, i), std::move(*text));
        sources.trees[i] = read_source_tree(file, sources.diagnostics, sources.comments);
    }
    return sources.diagnostics.num_errors() == 0;
}

void print_facts(const Arguments& arguments, Console& console, const Diagnostics& diagnostics) {
    const std::string output = arguments.value("output", "-");
    if (!is_standard_stream(output)) console.print(concat("merged, ", summary_of(diagnostics), ", to ", output, "\n"));
    if (!console.json()) return;
    DocumentBuilder builder;
    builder.begin_mapping();
    builder.boolean("ok", true);
    builder.string("output", utf8_text(output));
    write_diagnostics(diagnostics, builder);
    builder.end();
    console.print_json(builder.finish());
}

int run(const Arguments& arguments, Files& files, Console& console) {
    if (console.json() && !arguments.has("output"))
        return fail_usage(console, arguments.verb(),
                          "--json and the merged source both print to standard output; give -o FILE");
    Sources sources;
    Diagnostics& diagnostics = sources.diagnostics;
    if (!read_all(arguments, files, sources)) return fail(console, diagnostics);
    const std::optional<Document> merged =
        merge_sources(*sources.trees[0], *sources.trees[1], *sources.trees[2], diagnostics);
    if (!merged) return fail(console, diagnostics);
    const SourceFormat format = source_format(name_of(arguments, 1));
    const std::string text = write_source_text(merged->root(), format, diagnostics, sources.comments);
    if (!arguments.has("output"))
        console.print_out(text);
    else if (Status status = files.write("output", text); !status)
        return fail(console, status.message());
    console.print_diagnostics(diagnostics);
    print_facts(arguments, console, diagnostics);
    return 0;
}

}  // namespace

const Verb kMergeVerb{.name = "merge",
                      .summary = "merge two sources that were made from one, by key",
                      .operands = "BASE A B",
                      .takes = Takes::kInput,
                      .min_operands = 3,
                      .max_operands = 3,
                      .flags = kFlags,
                      .manual = kManual,
                      .examples = kExamples,
                      .run = run};

}  // namespace shoal_tool
