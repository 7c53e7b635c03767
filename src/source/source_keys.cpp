#include "source/source_keys.h"

#include "shoal/base/text.h"

#include <algorithm>
#include <iterator>

namespace shoal {

bool is_level_text(Node root) {
    if (root.find("units") || root.find("entities")) return true;
    const Node type = root.find("_type") ? root.find("_type") : root.find("type");
    return type && type.is_string() && type.as_string() == "level";
}

bool is_key_of_short_form(std::string_view key) {
    constexpr std::string_view kStructure[] = {
        "prefab",   "components",        "modified_components", "deleted_components",
        "children", "modified_children", "deleted_children",    "entities"};
    constexpr std::size_t kShortestMistake = 5;
    const bool is_known = std::find(std::begin(kStructure), std::end(kStructure), key) != std::end(kStructure);
    if (is_known || key == "units" || key == "type" || key == "_type") return false;
    return key.size() < kShortestMistake || closest_text(key, kStructure, std::size(kStructure)) < 0;
}

bool is_short_form(Node entity, std::span<const RenamedKey> renamed_keys) {
    return std::all_of(entity.begin(), entity.end(), [&](Node child) {
        std::string_view key = child.key();
        for (const RenamedKey& renamed : renamed_keys)
            if (renamed.from == key) key = renamed.to;
        return is_key_of_short_form(key);
    });
}

}  // namespace shoal
