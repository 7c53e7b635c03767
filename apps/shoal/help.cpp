// shoal help: the manual.

#include "shoal/base/text.h"
#include "shoal/document/diagnostics.h"
#include "sources.h"
#include "verbs.h"

#include <algorithm>

namespace shoal_tool {

using namespace shoal;

namespace {

constexpr std::size_t kLineWidth = 100;

constexpr const Verb* kVerbs[] = {&kCompileVerb, &kCheckVerb, &kDumpVerb, &kSchemaVerb, &kRunVerb, &kHelpVerb};

constexpr std::string_view kManual =
    "Prints the manual of the tool, or the page of one verb. `shoal VERB --help` is the same.\n";
constexpr std::string_view kExamples =
    "shoal help\n"
    "shoal help compile\n";

/// Breaks `text` into lines, the second and later ones after `indent` spaces; `column` is where the first one starts.
std::string wrapped(std::string_view text, std::size_t column, std::size_t indent) {
    std::string out;
    bool starts_line = true;
    while (!text.empty()) {
        const std::string_view word = text.substr(0, text.find(' '));
        text.remove_prefix(std::min(text.size(), word.size() + 1));
        if (!starts_line && column + 1 + word.size() > kLineWidth) {
            out += "\n" + std::string(indent, ' ');
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

int run(const Arguments& arguments, Console& console) {
    if (arguments.operands().empty()) {
        console.print_out(manual_of_tool());
        return 0;
    }
    const std::string& name = arguments.operands()[0];
    const Verb* verb = find_verb(name);
    if (verb == nullptr)
        return fail_usage(console, arguments.verb(), concat("there is no verb ", quoted(name), suggest_verb(name)));
    console.print_out(manual_of(*verb));
    return 0;
}

}  // namespace

const Verb kHelpVerb{"help", "print this, or the manual of a verb", "[VERB]", 0, 1, {}, kManual, kExamples, run};

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
    return close < 0 ? std::string() : concat("; did you mean ", quoted(names[static_cast<std::size_t>(close)]), "?");
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
    return concat(
        "shoal: from a level in text to a binary resource, to rows in tables, to passes over them\n"
        "\nusage:\n  shoal VERB [FLAGS] OPERANDS\n\nverbs:\n",
        list,
        "\nThe way of a level:\n"
        "  shoal check reef.sjson                     what is wrong in it, with file, line and column\n"
        "  shoal compile reef.sjson -o reef.blob      prefabs merged, one binary resource\n"
        "  shoal dump reef.blob                       what is in it, as text again\n"
        "  shoal run reef.blob --frames 600           spawned, run, measured\n"
        "  shoal run reef.blob --repeat 31 --picture reef.svg\n"
        "\nbuilt-in component types (a program or a schema file declares others):\n",
        components,
        "\nFlags may stand before or after operands; `--flag VALUE` and `--flag=VALUE` are the same; `--` ends them.\n"
        "`shoal help VERB` says more about one verb, `shoal --version` which version this is.\n"
        "\nexit codes:\n"
        "  0  done    1  failed: standard error says what, where and what to do    2  wrong usage\n"
        "\nenvironment:\n"
        "  NO_COLOR   when set, messages are never coloured (they are on a terminal only)\n");
}

}  // namespace shoal_tool
