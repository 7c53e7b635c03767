#pragma once
// Escapes arbitrary strings from a world for SVG and HTML. The results are used between tags, never in attributes.

#include <string>
#include <string_view>

namespace shoal {

/// Returns `text`, or its first `max_bytes`, for use between tags. The result is escaped, and has no characters that
/// XML forbids.
std::string xml_text(std::string_view text, std::size_t max_bytes);

/// Returns the first `max_bytes` of `text`, without cutting a character.
std::string_view utf8_start(std::string_view text, std::size_t max_bytes);

}  // namespace shoal
