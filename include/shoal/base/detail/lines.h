#pragma once
// Texts of several lines. Thread: any.

#include "shoal/base/detail/config.h"

#include <string_view>

namespace shoal {

/// Removes the first line from a text, and returns it without its end: `while (!text.empty()) show(take_line(text));`
SHOAL_API std::string_view take_line(std::string_view& text);

}  // namespace shoal
