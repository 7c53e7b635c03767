#pragma once
// Splits a string into lines. Thread: any.

#include "shoal/base/detail/config.h"

#include <string_view>

namespace shoal {

/// Removes and returns the first line, without its line end: `while (!text.empty()) show(take_line(text));`
SHOAL_API std::string_view take_line(std::string_view& text);

}  // namespace shoal
