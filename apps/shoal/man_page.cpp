// The manual as a man page, generated from the table of verbs and flags.

#include "shoal/base/detail/config.h"
#include "shoal/base/text.h"
#include "sources.h"
#include "verbs.h"

namespace shoal_tool {

using shoal::concat;

namespace {

/// Escapes a string so that roff prints it unchanged.
std::string plain(std::string_view text) {
    std::string result;
    if (text.starts_with('.') || text.starts_with('\'')) result = "\\&";
    for (const char c : text) {
        switch (c) {
            case '\\':
                result += "\\e";
                break;
            case '-':
                result += "\\-";
                break;
            case '`':
                result += "\\(ga";
                break;
            case '\'':
                result += "\\(aq";
                break;
            case '~':
                result += "\\(ti";
                break;
            case '^':
                result += "\\(ha";
                break;
            default:
                result += c;
        }
    }
    return result;
}

/// Calls `visit` for each line.
template <class Visit>
void each_line(std::string_view lines, Visit&& visit) {
    while (!lines.empty()) {
        const std::string_view line = lines.substr(0, lines.find('\n'));
        lines.remove_prefix(std::min(lines.size(), line.size() + 1));
        visit(line);
    }
}

/// Each line is a paragraph; an indented line is printed unchanged.
std::string man_paragraphs(std::string_view lines) {
    std::string text;
    each_line(lines, [&](std::string_view line) {
        const bool is_indented = line.starts_with(' ');
        if (!line.empty()) text += concat(is_indented ? ".br\n" : ".PP\n", plain(line), "\n");
    });
    return text;
}

std::string as_it_is(std::string_view lines) {
    std::string text = ".PP\n.nf\n";
    each_line(lines, [&](std::string_view line) { text += plain(line) + "\n"; });
    return text + ".fi\n";
}

std::string entry(std::string_view name, std::string_view text) {
    return concat(".TP\n.B ", plain(name), "\n", plain(text), "\n");
}

std::string flags_text(std::span<const Flag> flags) {
    std::string text;
    for (const Flag& flag : flags)
        text += entry(concat(flag.letter != 0 ? concat("-", flag.letter, ", ") : "", "--", flag.name,
                             flag.value.empty() ? "" : " ", flag.value),
                      flag.help);
    return text;
}

std::string section_of(const Verb& verb) {
    return concat(".SS ", plain(verb.name), "\n.B ", plain(usage_line(verb)), "\n", man_paragraphs(verb.manual),
                  flags_text(verb.flags), as_it_is(verb.examples));
}

std::string entries(std::span<const ToolManual::Entry> list) {
    std::string text;
    for (const auto& [name, says] : list) text += entry(name, says);
    return text;
}

}  // namespace

std::string man_page() {
    std::string sections, components;
    for (const Verb* verb : verbs()) sections += section_of(*verb);
    for (const BuiltInComponent& component : built_in_components())
        components += entry(component.name, component.summary);
    return concat(".TH SHOAL 1 \"\" \"shoal ", SHOAL_VERSION_MAJOR, '.', SHOAL_VERSION_MINOR, '.', SHOAL_VERSION_PATCH,
                  "\" \"User Commands\"\n.SH NAME\nshoal \\- ", plain(kToolManual.title),
                  "\n.SH SYNOPSIS\n.B shoal\n.I VERB\n[\\fIFLAGS\\fR] \\fIOPERANDS\\fR\n.SH DESCRIPTION\n",
                  man_paragraphs(kToolManual.syntax), flags_text(flags_of_tool()), ".SH VERBS\n", sections,
                  ".SH BUILT-IN COMPONENT TYPES\nA program or a schema file declares others.\n", components,
                  ".SH EXIT STATUS\n", entries(kToolManual.exit_codes), ".SH ENVIRONMENT\n",
                  entries(kToolManual.environment), ".SH EXAMPLES\n", as_it_is(kToolManual.examples));
}

}  // namespace shoal_tool
