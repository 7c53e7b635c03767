#pragma once
// Writes SJSON and JSON keys, strings and numbers for all writers, and has helpers for UTF-8.
// Thread: any thread.

#include "shoal/base/detail/config.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace shoal {

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

inline bool is_one_of(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }

/// Precedes a text to mark it as UTF-8, and is not part of its content.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Returns whether a UTF-8 byte is the first byte of a code point.
inline bool starts_code_point(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }
/// Returns the number of code points in a UTF-8 string. Columns and widths are counted in code points.
SHOAL_API std::size_t num_code_points(std::string_view text);

/// Appends a number in a form that reads back as a double with the same bits, never as an integer.
SHOAL_API void append_number_text(std::string& out, double number);
/// Appends `text` in quotes, with JSON escapes.
SHOAL_API void append_quoted_text(std::string& out, std::string_view text);
/// Appends `text` with JSON escapes, but without quotes.
SHOAL_API void append_escaped_text(std::string& out, std::string_view text);
/// Returns whether a key can be written without quotes in SJSON.
SHOAL_API bool is_plain_key(std::string_view key);
/// Returns whether a string has several lines and reads back unchanged from an SJSON string in triple quotes.
SHOAL_API bool is_verbatim_text(std::string_view text);

}  // namespace shoal
