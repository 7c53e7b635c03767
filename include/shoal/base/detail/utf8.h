#pragma once
// Decodes and encodes UTF-8, and makes strings safe to print on a terminal.
// Thread: any thread.

#include "shoal/base/detail/config.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace shoal {

inline constexpr char32_t kInvalidCodePoint = 0xFFFFFFFF;

struct CodePoint {
    char32_t value;  ///< kInvalidCodePoint for a byte that is not UTF-8
    std::uint32_t num_bytes;
};

/// Decodes the first code point. Requires: `text` is not empty.
SHOAL_API CodePoint decode_utf8(std::string_view text);

/// Writes 1 to 4 bytes, and returns their number. Requires: `code_point` is not a surrogate.
SHOAL_API std::size_t encode_utf8(char32_t code_point, char* out);

/// Returns the offset of the first byte that is NUL or not UTF-8, or npos if there is none.
SHOAL_API std::size_t find_invalid_byte(std::string_view text);

/// Appends a code point so that it is safe to print on a terminal: control characters, invisible characters, direction
/// marks and invalid bytes become escapes such as \x1B or \u202E. Returns the number of columns appended.
SHOAL_API int append_visible(std::string& out, CodePoint code_point, char byte);

/// Appends a string with the same escapes.
SHOAL_API void append_visible(std::string& out, std::string_view text);

}  // namespace shoal
