// shoal convert: converts a source to another format without loss.

#include "rewrite.h"
#include "shoal/base/text.h"
#include "sources.h"
#include "verbs.h"

#include <algorithm>

namespace shoal_tool {

using namespace shoal;

namespace {

constexpr Flag kConvertFlags[] = {
    {.name = "to", .value = "sjson|json|yaml", .help = "the format to write", .takes = Takes::kOneOf, .required = true},
    {.name = "output",
     .value = "FILE",
     .help = "the file to write instead of standard output; never the one that is read",
     .takes = Takes::kOutput,
     .letter = 'o'},
    kWidthFlag,
    kRewriteStdinNameFlag,
    kStrictFlag,
};

// One paragraph per line.
constexpr std::string_view kConvertManual =
    "Writes SOURCE, or a schema file, in another format. Keys, their order and all values stay; numbers and strings "
    "keep "
    "their spelling, and lists and mappings their lines, where the format allows. Comments stay where they are, but "
    "for "
    "JSON, which has none: a warning counts them, and with --strict they are an error. The format of SOURCE is what "
    "its "
    "name says: JSON (.json), YAML (.yaml, .yml), otherwise SJSON.\n"
    "\n"
    "What is written is read again and compared before anything is written. A SOURCE that is - is read from standard "
    "input.\n";

constexpr std::string_view kConvertExamples =
    "shoal convert reef.sjson --to yaml -o reef.yaml\n"
    "shoal convert ship.yaml --to sjson\n"
    "git show HEAD:ship.yaml | shoal convert - --stdin-name ship.yaml --to json\n";

SourceFormat format_named(std::string_view name) { return source_format(concat('.', name)); }

int run_convert(const Arguments& arguments, Files& files, Console& console) {
    SourceLayout layout;
    if (Status status = read_layout(arguments, layout); !status)
        return fail_usage(console, arguments.verb(), status.message());
    const std::string output = arguments.value("output", "-");
    const bool says_format = std::any_of(std::begin(kSourceExtensions), std::end(kSourceExtensions),
                                         [&](std::string_view extension) { return output.ends_with(extension); });
    if (says_format && source_format(output) != format_named(arguments.value("to")))
        return fail_usage(console, arguments.verb(),
                          concat("\"", output, "\" is the name of a file in another format than --to ",
                                 arguments.value("to"), "; give -o a name that fits"));
    SourceFile file = read_source_file(arguments, files, arguments.operands()[0]);
    if (!file.document) return fail(console, *file.diagnostics);
    const SourceFormat format = format_named(arguments.value("to"));
    if (format == SourceFormat::kJson) report_comments_left_out(file, arguments.has(kStrictFlag.name));
    if (file.diagnostics->num_errors() > 0) return fail(console, *file.diagnostics);
    const Result<std::string> text = rewrite(file, format, layout);
    if (!text) return fail(console, text.message());
    console.print_diagnostics(*file.diagnostics);
    if (!arguments.has("output")) return console.print_out(*text), 0;
    if (Status status = files.write("output", *text); !status) return fail(console, status.message());
    console.print(concat(file.path, " -> ", name_of_output(arguments.value("output")), "\n"));
    return 0;
}

}  // namespace

const Verb kConvertVerb{.name = "convert",
                        .summary = "write a source in another format, comments included",
                        .operands = "SOURCE",
                        .takes = Takes::kInput,
                        .min_operands = 1,
                        .max_operands = 1,
                        .flags = kConvertFlags,
                        .manual = kConvertManual,
                        .examples = kConvertExamples,
                        .run = run_convert};

}  // namespace shoal_tool
