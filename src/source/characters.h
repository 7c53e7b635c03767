#pragma once
// Questions about one character of a text.
// Thread: any thread.

#include <string_view>

namespace shoal {

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

inline bool is_one_of(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }

}  // namespace shoal
