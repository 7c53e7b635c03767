#pragma once
// Merges two versions of a text line by line, as version control does, without knowing what the lines mean. Callers read
// the result and compare it with the merge by key.
// Thread: values.

#include <optional>
#include <string>
#include <string_view>

namespace shoal_tool {

/// Returns `base` with the lines that `a` has changed and those that `b` has changed, which may stand side by side.
/// Errors: nothing, because both have changed the same lines, and differently, or one has changed more than 2,000.
std::optional<std::string> merge_lines(std::string_view base, std::string_view a, std::string_view b);

}  // namespace shoal_tool
