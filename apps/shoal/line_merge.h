#pragma once
// Merges two versions of a file line by line without parsing it, as version control does. Callers must parse the result
// and compare it with the merge by key.
// Thread: any.

#include <optional>
#include <string>
#include <string_view>

namespace shoal_tool {

/// Returns `base` with the changes that were made in `a` and `b`. Changes may be in adjacent lines. Errors: returns
/// nothing if both versions change the same lines differently, or if one of them changes more than 2,000 lines.
std::optional<std::string> merge_lines(std::string_view base, std::string_view a, std::string_view b);

}  // namespace shoal_tool
