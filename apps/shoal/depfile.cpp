#include "depfile.h"

#include "shoal/base/text.h"
#include "shoal/document/diagnostics.h"

#include <set>

namespace shoal_tool {

using namespace shoal;

namespace {

/// A backslash must be doubled before a blank. Elsewhere, it has no special meaning.
std::string escaped(std::string_view path) {
    std::string text;
    std::size_t num_backslashes = 0;
    for (const char c : path) {
        if (c == ' ' || c == '\t') text.append(num_backslashes + 1, '\\');
        if (c == '#' || c == ':') text.push_back('\\');
        if (c == '$') text.push_back('$');
        text.push_back(c);
        num_backslashes = c == '\\' ? num_backslashes + 1 : 0;
    }
    return text;
}

}  // namespace

Result<std::string> depfile_text(const std::string& output, std::span<const std::string> inputs) {
    const auto has_line_end = [](const std::string& path) { return path.find_first_of("\r\n") != std::string::npos; };
    std::string rule = concat(escaped(output), ':'), alone;
    std::set<std::string_view> known;
    for (const std::string& input : inputs) {
        if (has_line_end(input) || has_line_end(output))
            return Status::error(concat("a depfile cannot name ", quoted(has_line_end(output) ? output : input),
                                        ", which has a line end in its name; rename it"));
        if (!known.insert(input).second) continue;
        append_text(rule, concat(" \\\n  ", escaped(input)));
        append_text(alone, concat('\n', escaped(input), ":\n"));
    }
    return concat(rule, '\n', alone);
}

}  // namespace shoal_tool
