#pragma once
// Writes keys, strings and numbers of SJSON and JSON, for all writers. Also has helpers for UTF-8.
// Thread: any thread.

#include "shoal/base/detail/config.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace shoal {

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

inline bool is_one_of(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }

/// Marks a text as UTF-8 at its start, and is not part of its content.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Returns whether a byte of UTF-8 is the first byte of a code point.
inline bool starts_code_point(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }
/// Returns the number of code points in a UTF-8 text. Columns and widths are counted in code points.
SHOAL_API std::size_t num_code_points(std::string_view text);

/// Appends a number so that it reads back with the same bits, and not as an integer.
SHOAL_API void append_number_text(std::string& out, double number);
/// Appends `text` in quotes, with the escapes of JSON.
SHOAL_API void append_quoted_text(std::string& out, std::string_view text);
/// Appends `text` with the escapes of JSON, without quotes.
SHOAL_API void append_escaped_text(std::string& out, std::string_view text);
/// Returns whether a key can be written without quotes in SJSON.
SHOAL_API bool is_plain_key(std::string_view key);
/// Returns whether a text of several lines reads back unchanged from a triple-quoted string of SJSON.
SHOAL_API bool is_verbatim_text(std::string_view text);

}  // namespace shoal
