#pragma once
// Old names, which are still accepted in blobs, saves, sources and property paths. Only the new names are written. For
// parts of saves whose paths have changed, see src/state/old_paths.h.
// Thread: any.

#include "shoal/table/detail/schema.h"

#include <string_view>

namespace shoal::old_words {

inline constexpr std::string_view kProperties = "data";           // component type `properties`, and a key in sources
inline constexpr std::string_view kPropertyValue = "data_value";  // component type `property_value`
inline constexpr std::string_view kDisabled = "switched_off";     // component type `disabled`

/// A built-in component type that has been renamed.
struct RenamedType {
    std::string_view then, now;
};
/// Renamed types in sources; each is read with a warning.
inline constexpr RenamedType kComponentTypes[] = {{kProperties, "properties"}, {kDisabled, "disabled"}};

/// Returns the current schema of a renamed built-in component type. Returns nullptr for any other type, including a
/// program's own type that has an old name but different fields.
SHOAL_API const Schema* schema_of_today(const Schema& older);

}  // namespace shoal::old_words
