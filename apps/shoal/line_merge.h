#pragma once
// Merges two versions of a text line by line, as version control does, without understanding the content. Callers parse
// the result and compare it with the merge by key.
// Thread: values.

#include <optional>
#include <string>
#include <string_view>

namespace shoal_tool {

/// Returns `base` with the changed lines of `a` and of `b`; both may change adjacent lines.
/// Errors: returns nothing if both have changed the same lines differently, or one of them has changed more than 2,000
/// lines.
std::optional<std::string> merge_lines(std::string_view base, std::string_view a, std::string_view b);

}  // namespace shoal_tool
