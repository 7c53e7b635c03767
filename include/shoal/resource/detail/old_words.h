#pragma once
// Names of older versions that are still read, in blobs, saves, sources and paths of values; only the new names are
// written. For parts of saves whose paths have changed, see src/state/old_paths.h.
// Thread: constants.

#include "shoal/table/detail/schema.h"

#include <string_view>

namespace shoal::old_words {

inline constexpr std::string_view kProperties = "data";           // component type `properties`, and a key of sources
inline constexpr std::string_view kPropertyValue = "data_value";  // component type `property_value`
inline constexpr std::string_view kDisabled = "switched_off";     // component type `disabled`

/// A built-in component type that has been renamed.
struct RenamedType {
    std::string_view then, now;
};
/// Renamed types in sources; each is read with a warning.
inline constexpr RenamedType kComponentTypes[] = {{kProperties, "properties"}, {kDisabled, "disabled"}};

/// Returns the current schema of a renamed built-in component type, or nullptr if the type is not built in, or has
/// other fields, as a program's own type with that name would.
SHOAL_API const Schema* schema_of_today(const Schema& older);

}  // namespace shoal::old_words
