#pragma once
// The source line of a diagnostic, with a marker line under it.
// Thread: any thread.

#include "shoal/base/config.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace shoal {

/// Appends the line around `offset`, and `^~~~` under `num_bytes` of it, or under the word found there if it is 0. A
/// long line is cut to a window. Cost: O(window), however long the line is.
void append_excerpt(std::string& out, std::string_view text, std::uint32_t offset, std::uint32_t num_bytes,
                    std::uint32_t line);

}  // namespace shoal
