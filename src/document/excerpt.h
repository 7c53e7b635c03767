#pragma once
// The line a diagnostic is about, with a marker line under it.

#include "shoal/base/config.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace shoal {

/// Appends the line around `offset` and `^~~~` under `num_bytes` of it (0: under the word found there). A long line
/// is cut to a window. Cost: that of the window, whatever the length of the line.
void append_excerpt(std::string& out, std::string_view text, std::uint32_t offset, std::uint32_t num_bytes,
                    std::uint32_t line);

}  // namespace shoal
