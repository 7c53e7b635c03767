#pragma once
// Words of older programs that are still read, in blobs, saves, sources and paths of values; what is written has the new
// ones. Parts of saves whose paths have changed: src/state/old_paths.h.
// Thread: constants.

#include "shoal/table/schema.h"

#include <string_view>

namespace shoal::old_words {

inline constexpr std::string_view kProperties = "data";           // the component type properties, and a key of sources
inline constexpr std::string_view kPropertyValue = "data_value";  // the component type property_value
inline constexpr std::string_view kDisabled = "switched_off";     // the component type disabled

/// A component type of shoal that had another name.
struct RenamedType {
    std::string_view then, now;
};
/// Those that sources name; each is read with a warning.
inline constexpr RenamedType kComponentTypes[] = {{kProperties, "properties"}, {kDisabled, "disabled"}};

/// Returns the schema that a component type of an older program has now, or nullptr: it is none of shoal's, or has other
/// fields, as a type of a program with that name has.
SHOAL_API const Schema* schema_of_today(const Schema& older);

}  // namespace shoal::old_words
