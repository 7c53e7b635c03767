#include "shoal/document/traceback.h"

#include <algorithm>

namespace shoal {
namespace {

/// Takes a line from the front, without the tabs that it begins with.
std::string take_line(std::string_view& lines) {
    std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    line.remove_prefix(std::min(line.find_first_not_of('\t'), line.size()));
    return std::string(line);
}

}  // namespace

Diagnostic& add_with_traceback(Diagnostics& diagnostics, SourcePosition position, std::string_view lines) {
    Diagnostic& told = diagnostics.error(position, take_line(lines));
    while (!lines.empty()) told.note({}, take_line(lines));
    return told;
}

}  // namespace shoal
