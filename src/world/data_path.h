#pragma once
// Paths of named values, such as "data.armor.front", among those of fields.
// Thread: that of the world.

#include "shoal/components/data.h"
#include "shoal/world/world.h"

#include <string_view>

namespace shoal {

/// Returns the path of "data.path"; empty for all else.
inline std::string_view path_in_data(std::string_view name) {
    constexpr std::string_view kPrefix = "data.";
    return name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : std::string_view();
}
/// Whether World::data() keeps named values, or would if it was asked for: no store of another class keeps Data.
inline bool can_keep_data(const World& world) {
    const Store* const known = world.find_store(schema_of<Data>().id());
    return known == nullptr || dynamic_cast<const DataManager*>(known) != nullptr;
}

}  // namespace shoal
