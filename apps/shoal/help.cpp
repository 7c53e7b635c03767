// shoal help: the manual.

#include "shoal/base/text.h"
#include "shoal/document/diagnostics.h"
#include "sources.h"
#include "verbs.h"

#include <algorithm>
#include <vector>

namespace shoal_tool {

using namespace shoal;

namespace {

constexpr std::size_t kLineWidth = 100;

constexpr const Verb* kVerbs[] = {
    &kCompileVerb, &kCheckVerb, &kFormatVerb, &kConvertVerb, &kDumpVerb, &kSchemaVerb, &kDiffVerb,       &kMergeVerb,
    &kImportVerb,  &kRunVerb,   &kReplayVerb, &kInspectVerb, &kSqlVerb,  &kReportVerb, &kCompletionVerb, &kHelpVerb};

constexpr Flag kToolFlags[] = {
    {.name = "help", .help = "print the manual of the tool, or with VERB that of a verb", .letter = 'h'},
    {.name = "version", .help = "print which version this is", .letter = 'V'},
};

constexpr Flag kHelpFlags[] = {{.name = "man", .help = "print everything as a man page"}};

constexpr std::string_view kHelpManual =
    "Prints the manual of the tool, or the page of one verb. `shoal VERB --help` is the same.\n";
constexpr std::string_view kHelpExamples =
    "shoal help\n"
    "shoal help compile\n"
    "shoal help --man | man -l -\n";

constexpr ToolManual::Entry kExitCodes[] = {
    {"0", "done"},
    {"1", "failed: standard error says what, where and what to do"},
    {"2", "wrong usage"},
    {"3", "shoal diff: the sources differ; shoal replay --verify: the run differs from the recording"},
    {"128 + n", "ended by signal n, SIGHUP, SIGINT or SIGTERM: no file is half written, and no temporary file is left"},
};
constexpr ToolManual::Entry kEnvironment[] = {
    {"NO_COLOR", "when set, messages are never coloured (they are on a terminal only)"},
    {"XDG_STATE_HOME", "where shoal sql keeps what was asked, in shoal/sql_history (default: ~/.local/state)"},
    {"TERM", "when it is dumb, nothing is coloured and no progress is shown"},
};

/// Breaks `text` into lines. The first line starts at `column`; all further lines are indented by `indent` spaces.
std::string wrapped(std::string_view text, std::size_t column, std::size_t indent) {
    std::string out;
    bool starts_line = true;
    while (!text.empty()) {
        const std::string_view word = text.substr(0, text.find(' '));
        text.remove_prefix(std::min(text.size(), word.size() + 1));
        if (!starts_line && column + 1 + word.size() > kLineWidth) {
            out.append(1, '\n').append(indent, ' ');
            column = indent;
            starts_line = true;
        }
        out += concat(starts_line ? "" : " ", word);
        column += word.size() + (starts_line ? 0 : 1);
        starts_line = false;
    }
    return out + "\n";
}

std::string paragraphs(std::string_view lines) {
    std::string out;
    while (!lines.empty()) {
        const std::string_view line = lines.substr(0, lines.find('\n'));
        lines.remove_prefix(std::min(lines.size(), line.size() + 1));
        out += wrapped(line, 0, 0);
    }
    return out;
}

std::string indented(std::string_view lines, std::string_view prefix) {
    std::string out;
    while (!lines.empty()) {
        const std::string_view line = lines.substr(0, lines.find('\n'));
        lines.remove_prefix(std::min(lines.size(), line.size() + 1));
        out += line.empty() ? "\n" : concat(prefix, line, "\n");
    }
    return out;
}

std::string flag_text(const Flag& flag) {
    constexpr std::size_t kIndent = 26;
    std::string name = concat("  ", flag.letter != 0 ? concat('-', flag.letter, ", ") : "", "--", flag.name,
                              flag.value.empty() ? "" : " ", flag.value);
    name += name.size() + 2 > kIndent ? "\n" + std::string(kIndent, ' ') : std::string(kIndent - name.size(), ' ');
    return name + wrapped(flag.help, kIndent, kIndent);
}

int run_help(const Arguments& arguments, Files&, Console& console) {
    if (arguments.has("man")) return console.print_out(man_page()), 0;
    if (arguments.operands().empty()) {
        console.print_out(manual_of_tool());
        return 0;
    }
    const std::string& name = arguments.operands()[0];
    const Verb* verb = find_verb(name);
    if (verb == nullptr)
        return fail_usage(console, arguments.verb(),
                          concat("there is no verb ", shoal::quoted(name), suggest_verb(name)));
    console.print_out(manual_of(*verb));
    return 0;
}

}  // namespace

const Verb kHelpVerb{.name = "help",
                     .summary = "print this, or the manual of a verb",
                     .operands = "[VERB]",
                     .takes = Takes::kVerb,
                     .min_operands = 0,
                     .max_operands = 1,
                     .flags = kHelpFlags,
                     .manual = kHelpManual,
                     .examples = kHelpExamples,
                     .run = run_help};

const ToolManual kToolManual{
    .title = "from a level in text to a binary resource, to rows in tables, to passes over them",
    .examples =
        "shoal check reef.sjson                     what is wrong in it, with file, line and column\n"
        "shoal compile reef.sjson -o reef.blob      prefabs merged, one binary resource\n"
        "shoal dump reef.blob                       what is in it, as text again\n"
        "shoal run reef.blob --frames 600           spawned, run, measured\n"
        "shoal run reef.blob --repeat 31 --picture reef.svg\n",
    .syntax =
        "Flags may stand before or after operands; `--flag VALUE` and `--flag=VALUE` are the same, and so are `-f "
        "VALUE` and "
        "`-fVALUE`; `--` ends the flags. Where a file is named, `-` is standard input or standard output.\n"
        "What is written replaces a file only when everything went well. It is never a device, a read-only file, or a "
        "file that was read (but what format lays out); where a link is named, the file that it leads to is written.\n"
        "`shoal help VERB` says more about one verb, `shoal --version` which version this is.\n",
    .exit_codes = kExitCodes,
    .environment = kEnvironment};

std::span<const Flag> flags_of_tool() { return kToolFlags; }

std::span<const Verb* const> verbs() { return kVerbs; }

const Verb* find_verb(std::string_view name) {
    for (const Verb* verb : kVerbs)
        if (verb->name == name) return verb;
    return nullptr;
}

std::string suggest_verb(std::string_view name) {
    std::vector<std::string_view> names;
    for (const Verb* verb : kVerbs) names.push_back(verb->name);
    const int close = closest_text(name, names.data(), names.size());
    return close < 0 ? std::string()
                     : concat("; did you mean ", shoal::quoted(names[static_cast<std::size_t>(close)]), "?");
}

std::string manual_of(const Verb& verb) {
    std::string flags;
    for (const Flag& flag : verb.flags) flags += flag_text(flag);
    return concat("shoal ", verb.name, ": ", verb.summary, "\n\nusage:\n  ", wrapped(usage_line(verb), 2, 8), "\n",
                  paragraphs(verb.manual), flags.empty() ? "" : "\nflags:\n", flags, "\nexamples:\n",
                  indented(verb.examples, "  "));
}

std::string manual_of_tool() {
    std::size_t longest = 0;
    for (const BuiltInComponent& component : built_in_components())
        longest = std::max(longest, std::string_view(component.name).size());
    const auto line = [](std::string_view name, std::size_t width, std::string_view summary) {
        return concat("  ", name, std::string(width - name.size() + 2, ' '), summary, "\n");
    };
    std::string list, components;
    for (const Verb* verb : kVerbs) list += line(verb->name, 12, verb->summary);
    for (const BuiltInComponent& component : built_in_components())
        components += line(component.name, longest, component.summary);
    std::string flags, exit_codes, environment;
    for (const Flag& flag : kToolFlags) flags += flag_text(flag);
    for (const auto& [name, text] : kToolManual.exit_codes) exit_codes += line(name, 8, text);
    for (const auto& [name, text] : kToolManual.environment) environment += line(name, 14, text);
    return concat("shoal: ", kToolManual.title, "\n\nusage:\n  shoal VERB [FLAGS] OPERANDS\n\nverbs:\n", list,
                  "\nflags:\n", flags, "\nThe way of a level:\n", indented(kToolManual.examples, "  "),
                  "\nbuilt-in component types (a program or a schema file declares others):\n", components, "\n",
                  paragraphs(kToolManual.syntax), "\nexit codes:\n", exit_codes, "\nenvironment:\n", environment);
}

}  // namespace shoal_tool
