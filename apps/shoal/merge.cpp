// shoal merge: merges two versions of a source that have a common base.

#include "line_merge.h"
#include "rewrite.h"
#include "shoal/base/text.h"
#include "shoal/rewrite/source_merge.h"
#include "sources.h"
#include "verbs.h"

namespace shoal_tool {

using namespace shoal;

namespace {

constexpr Flag kMergeFlags[] = {
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
    {.name = "strict", .help = "treat warnings as errors: write nothing if a comment is left out"},
    kJsonFlag,
};

// One paragraph per line.
constexpr std::string_view kMergeManual =
    "Merges what has changed from BASE to A and from BASE to B: entity by entity, component by component and field by "
    "field, "
    "found by GUID or name, wherever they stand in the text. The result is laid out as A is and has its format, "
    "with what is new in B. A list is one value. A BASE without text says nothing, as when both have added the file. "
    "Schema "
    "files are merged, too.\n"
    "\n"
    "Comments are merged as values are, but never in conflict: if both have changed one, that of A stays. A comment "
    "that is left out "
    "is a warning that shows it, and with --strict an error. JSON has no comments.\n"
    "\n"
    "Conflicts are errors that show both places: both have changed one value, both have added one key with different "
    "values, one "
    "has removed what the other has changed, or both have moved one entity. Then nothing is written, and the exit code "
    "is 1. What is written is read again and compared before anything is written.\n"
    "\n"
    "With two settings, git merges sources so. In .gitattributes: `*.sjson merge=shoal`. In .git/config, below "
    "[merge \"shoal\"]: `driver = shoal merge %O %A %B -o %A --path %P`.\n";

constexpr std::string_view kMergeExamples =
    "shoal merge base.sjson mine.sjson theirs.sjson -o merged.sjson\n"
    "shoal merge base.yaml mine.yaml theirs.yaml -o mine.yaml\n";

/// Returns the name that messages use for a side. It ends with the file's extension, which selects the format.
std::string name_of(const Arguments& arguments, std::size_t side) {
    constexpr std::string_view kSides[] = {"base:", "a:", "b:"};
    const std::string& operand = arguments.operands()[side];
    if (arguments.has("path")) return concat(kSides[side], arguments.value("path"));
    return is_standard_stream(operand) ? std::string(kStandardInputName) : operand;
}

/// The three parsed versions.
struct Sources {
    std::unique_ptr<Diagnostics> diagnostics = std::make_unique<Diagnostics>();
    SourceComments comments;
    std::optional<SourceTree> trees[3];
    bool are_schemas = false;

    bool is_good() const { return diagnostics->num_errors() == 0; }
};

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == std::string_view::npos; }

/// Parses the three versions. If both sides have added the file, the base is empty, and its name and format do not
/// matter. Errors: added to the diagnostics.
Sources read_trees(const Arguments& arguments, const std::string (&texts)[3], bool are_schemas) {
    Sources sources;
    sources.are_schemas = are_schemas;
    for (std::size_t i = 0; i < 3; ++i) {
        const std::uint32_t file = sources.diagnostics->add_file(name_of(arguments, i), texts[i]);
        if (i > 0 || !is_blank(texts[i]))
            sources.trees[i] =
                read_source_tree(file, *sources.diagnostics, sources.comments, read_options(are_schemas));
    }
    if (is_blank(texts[0]) && sources.trees[1]) sources.trees[0] = empty_source_tree(*sources.trees[1]);
    return sources;
}

/// Reads all three versions, as schema files if they can only be read as schema files. Errors: added to the
/// diagnostics.
Sources read_all(const Arguments& arguments, Files& files) {
    Sources failed;
    std::string texts[3];
    bool are_schemas = true;
    for (std::size_t i = 0; i < 3; ++i) {
        Result<std::string> text = files.read(arguments.operands()[i]);
        if (text)
            texts[i] = std::move(*text);
        else
            failed.diagnostics->error({}, std::string(text.message()), "give the path of a source or a schema file");
    }
    if (!failed.is_good()) return failed;
    Sources sources = read_trees(arguments, texts, false);
    if (sources.is_good()) return sources;
    for (std::size_t i = 0; i < 3; ++i)
        are_schemas &= is_schema_text(name_of(arguments, i), texts[i]) ||
                       source_format(name_of(arguments, i)) != SourceFormat::kSjson;
    return are_schemas ? read_trees(arguments, texts, true) : std::move(sources);
}

/// Merges the three versions line by line, which keeps the layout of unchanged parts. Returns nothing if the content of
/// the result differs from the merge by key.
std::optional<std::string> merge_as_lines(const Diagnostics& read, const SourceFile& merged, SourceFormat format) {
    std::optional<std::string> text = merge_lines(read.text(1), read.text(2), read.text(3));
    if (!text) return std::nullopt;
    Diagnostics diagnostics;
    SourceComments comments;
    const std::uint32_t number = diagnostics.refer_file(std::string(read.name(2)), *text);
    const Result<Document> document = read_source_text(number, diagnostics, comments, read_options(merged.is_schema));
    return document && says_the_same(*document, comments, merged, format) ? std::move(text) : std::nullopt;
}

/// Returns the merged text, or nothing if there are errors.
std::optional<std::string> merge(const Arguments& arguments, Sources& sources) {
    Diagnostics& diagnostics = *sources.diagnostics;
    std::optional<Document> merged =
        merge_sources(*sources.trees[0], *sources.trees[1], *sources.trees[2], diagnostics, sources.comments);
    if (!merged) return std::nullopt;
    SourceFile file;
    file.path = name_of(arguments, 1);
    file.comments = sources.comments.of(merged->root());
    file.document = std::move(merged);
    file.is_schema = sources.are_schemas;
    file.diagnostics = std::move(sources.diagnostics);
    const SourceFormat format = source_format(file.path);
    const bool is_strict = arguments.has(kStrictFlag.name);
    if (format == SourceFormat::kJson) report_comments_left_out(file, is_strict);
    Result<std::string> text = [&]() -> Result<std::string> {
        if (std::optional<std::string> lines = merge_as_lines(*file.diagnostics, file, format))
            return std::move(*lines);
        return rewrite(file, format, {.keeps_signs = true});
    }();
    sources.diagnostics = std::move(file.diagnostics);
    if (!text) diagnostics.error({}, std::string(text.message()));
    if (is_strict && diagnostics.num_warnings() != 0)
        diagnostics.error({}, "comments would be left out, and --strict says that none may be",
                          "write what shall be there into one of the texts, or leave out --strict");
    return diagnostics.num_errors() == 0 ? std::optional(std::move(text).value()) : std::nullopt;
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

int run_merge(const Arguments& arguments, Files& files, Console& console) {
    if (console.json() && !arguments.has("output"))
        return fail_usage(console, arguments.verb(),
                          "--json and the merged source both print to standard output; give -o FILE");
    Sources sources = read_all(arguments, files);
    const std::optional<std::string> text = sources.is_good() ? merge(arguments, sources) : std::nullopt;
    const Diagnostics& diagnostics = *sources.diagnostics;
    if (!text) return fail(console, diagnostics);
    if (!arguments.has("output"))
        console.print_out(*text);
    else if (Status status = files.write("output", *text); !status)
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
                      .flags = kMergeFlags,
                      .manual = kMergeManual,
                      .examples = kMergeExamples,
                      .run = run_merge};

}  // namespace shoal_tool
