#pragma once
// Texts of a world, which may be anything, in SVG and HTML. They stand between tags, never in attributes.

#include <string>
#include <string_view>

namespace shoal {

/// Returns `text` as it can stand between tags: escaped, without what XML forbids, and at most `max_bytes` of it.
std::string xml_text(std::string_view text, std::size_t max_bytes);

/// Returns the start of `text` if it has more than `max_bytes`, without half a character.
std::string_view utf8_start(std::string_view text, std::size_t max_bytes);

}  // namespace shoal
