#include "shoal/document/detail/traceback.h"

#include "shoal/base/detail/lines.h"

#include <algorithm>

namespace shoal {
namespace {

/// Removes the first line, and returns it without leading tabs.
std::string take_plain_line(std::string_view& lines) {
    std::string_view line = take_line(lines);
    line.remove_prefix(std::min(line.find_first_not_of('\t'), line.size()));
    return std::string(line);
}

}  // namespace

Diagnostic& add_with_traceback(Diagnostics& diagnostics, SourcePosition position, std::string_view lines) {
    Diagnostic& told = diagnostics.error(position, take_plain_line(lines));
    while (!lines.empty()) told.note({}, take_plain_line(lines));
    return told;
}

}  // namespace shoal
