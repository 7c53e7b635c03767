#pragma once
// Words of older programs that are still read, in blobs, saves, sources and paths. What is written has the words of today.
// Thread: constants.

#include <string_view>

namespace shoal::old_words {

inline constexpr std::string_view kProperties = "data";           // the component type properties, and a key of sources
inline constexpr std::string_view kPropertyValue = "data_value";  // the component type property_value

/// A component type of shoal that had another name.
struct RenamedType {
    std::string_view then, now;
};
/// Those that sources name; each is read with a warning.
inline constexpr RenamedType kComponentTypes[] = {{kProperties, "properties"}, {"switched_off", "disabled"}};

}  // namespace shoal::old_words
