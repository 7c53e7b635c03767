#pragma once
// Code points in and out of UTF-8, and how they look on a terminal.

#include "shoal/base/config.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace shoal {

inline constexpr char32_t kInvalidCodePoint = 0xFFFFFFFF;

struct CodePoint {
    char32_t value;  ///< kInvalidCodePoint: `num_bytes` is 1, a byte that is not UTF-8
    std::uint32_t num_bytes;
};

/// Decodes the first code point. Requires: `text` is not empty.
CodePoint decode_utf8(std::string_view text);

/// Writes 1 to 4 bytes and returns how many. Requires: a code point that is no surrogate.
std::size_t encode_utf8(char32_t code_point, char* out);

/// Returns the offset of the first byte that no text may hold (NUL, or not UTF-8), or npos.
std::size_t find_invalid_byte(std::string_view text);

/// Appends a code point as a terminal may see it: control characters, invisible ones, those that change the writing
/// direction, and invalid bytes become \x1B or \u202E. Returns the columns it takes.
int append_visible(std::string& out, CodePoint code_point, char byte);

/// Appends a whole text so.
void append_visible(std::string& out, std::string_view text);

}  // namespace shoal
