#pragma once
// How keys, strings and numbers are written in SJSON and JSON, for all that writes them; and the
// characters that texts are made of.
// Thread: any thread.

#include "shoal/base/config.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace shoal {

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

inline bool is_one_of(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }

/// A text that begins with it is in UTF-8; it is no part of what the text says.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Returns whether a byte of UTF-8 is the first one of its code point.
inline bool starts_code_point(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }
/// Returns how many code points a text of UTF-8 has. Columns and widths are counted in them.
SHOAL_API std::size_t num_code_points(std::string_view text);

/// Appends a number that reads back as a number, not as an integer, with the same bits.
SHOAL_API void append_number_text(std::string& out, double number);
/// Appends `text` with quotes, and escapes where JSON needs them.
SHOAL_API void append_quoted_text(std::string& out, std::string_view text);
/// Appends the escapes of JSON and what stands between them, without quotes.
SHOAL_API void append_escaped_text(std::string& out, std::string_view text);
/// Returns whether SJSON needs no quotes for a key.
SHOAL_API bool is_plain_key(std::string_view key);
/// Returns whether a text of several lines reads back the same between the three quotes of SJSON.
SHOAL_API bool is_verbatim_text(std::string_view text);

}  // namespace shoal
