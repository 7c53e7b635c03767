// shoal format: formats sources in place.

#include "rewrite.h"
#include "shoal/base/text.h"
#include "sources.h"
#include "verbs.h"

#include <algorithm>
#include <vector>

namespace shoal_tool {

using namespace shoal;

namespace {

constexpr Flag kFormatFlags[] = {
    {.name = "check", .help = "write nothing; list the files that are not laid out, and fail if there are any"},
    kWidthFlag,
    kRewriteStdinNameFlag,
    kJsonFlag,
};

// One paragraph per line.
constexpr std::string_view kFormatManual =
    "Lays out each FILE, a source or a schema file, in place. Lists and mappings that stand on one line stay there if "
    "they "
    "fit; others take a line for each entry. Numbers, strings, the order and all comments stay as they are; of several "
    "empty lines, one stays. Lines are indented as the file begins. A file keeps its format: JSON (.json), YAML "
    "(.yaml, "
    ".yml), otherwise SJSON.\n"
    "\n"
    "What is written is read again and compared before a file is written. A file with errors stays as it is. A FILE "
    "that "
    "is - is read from standard input, and written to standard output.\n";

constexpr std::string_view kFormatExamples =
    "shoal format levels/*.sjson\n"
    "shoal format --check levels/*.sjson ships/*.yaml\n"
    "shoal format - --stdin-name reef.sjson < reef.sjson\n";

struct Laid {
    SourceFile file;
    bool ok = false;
    bool changes = false;
};

Status write_in_place(Files& files, Console& console, const std::string& path, const std::string& text) {
    return is_standard_stream(path) ? (console.print_out(text), Status()) : files.replace(path, text);
}

void lay_out(const Arguments& arguments, Files& files, Console& console, const std::string& path,
             const SourceLayout& layout, Laid& laid) {
    laid.file = read_source_file(arguments, files, path);
    if (!laid.file.document) return;
    Diagnostics& diagnostics = *laid.file.diagnostics;
    const Result<std::string> text = rewrite(laid.file, source_format(laid.file.path), layout);
    if (!text) {
        diagnostics.error({}, std::string(text.message()));
        return;
    }
    laid.changes = *text != laid.file.text();
    const bool writes = !arguments.has("check") && (laid.changes || is_standard_stream(path));
    const Status status = writes ? write_in_place(files, console, path, *text) : Status();
    if (!status) diagnostics.error({}, std::string(status.message()));
    laid.ok = status.ok();
}

void print_json(Console& console, const std::vector<Laid>& all, bool ok) {
    DocumentBuilder builder;
    builder.begin_mapping();
    builder.boolean("ok", ok);
    builder.begin_list("files");
    std::uint64_t num_errors = 0, num_warnings = 0;
    for (const Laid& laid : all) {
        builder.begin_mapping();
        builder.string("file", utf8_text(laid.file.path));
        builder.boolean("ok", laid.ok);
        builder.boolean("changes", laid.changes);
        builder.end();
        num_errors += laid.file.diagnostics->num_errors();
        num_warnings += laid.file.diagnostics->num_warnings();
    }
    builder.end();
    builder.unsigned_integer("errors", num_errors);
    builder.unsigned_integer("warnings", num_warnings);
    builder.begin_list("diagnostics");
    for (const Laid& laid : all) write_entries(*laid.file.diagnostics, builder);
    builder.end();
    builder.end();
    console.print_json(builder.finish());
}

int run_format(const Arguments& arguments, Files& files, Console& console) {
    SourceLayout layout;
    if (Status status = read_layout(arguments, layout); !status)
        return fail_usage(console, arguments.verb(), status.message());
    const bool is_check = arguments.has("check");
    const std::vector<std::string>& paths = arguments.operands();
    if (console.json() && !is_check && std::any_of(paths.begin(), paths.end(), is_standard_stream))
        return fail_usage(console, arguments.verb(),
                          "--json and - both print to standard output; name the file, or leave out --json");
    std::vector<Laid> all;
    bool ok = true;
    for (const std::string& path : paths) {
        if (is_standard_stream(path) && !is_check) console.keep_standard_output();
        Laid& laid = all.emplace_back();
        lay_out(arguments, files, console, path, layout, laid);
        laid.file.document.reset();
        laid.file.comments = {};
        ok &= laid.ok && !(is_check && laid.changes);
        console.print_diagnostics(*laid.file.diagnostics);
        if (laid.ok && laid.changes)
            console.print(concat(laid.file.path, is_check ? ": is not laid out\n" : ": laid out\n"));
    }
    if (console.json()) print_json(console, all, ok);
    return ok ? 0 : 1;
}

}  // namespace

const Verb kFormatVerb{.name = "format",
                       .summary = "lay out sources in place",
                       .operands = "FILE...",
                       .takes = Takes::kInput,
                       .min_operands = 1,
                       .max_operands = ~std::size_t(0),
                       .flags = kFormatFlags,
                       .manual = kFormatManual,
                       .examples = kFormatExamples,
                       .run = run_format};

}  // namespace shoal_tool
