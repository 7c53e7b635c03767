#pragma once
// How keys, strings and numbers are written in SJSON and JSON, for all that writes them; and questions about one character.
// Thread: any thread.

#include "shoal/base/config.h"

#include <string>
#include <string_view>

namespace shoal {

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

inline bool is_one_of(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }

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
