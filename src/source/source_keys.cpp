#include "shoal/source/detail/source_keys.h"

#include "shoal/base/text.h"

#include <algorithm>
#include <iterator>

namespace shoal {

bool is_entity_key(std::string_view key) {
    return std::find(std::begin(kEntityKeys), std::end(kEntityKeys), key) != std::end(kEntityKeys);
}

bool is_level_text(Node root) {
    if (root.find("units") || root.find("entities")) return true;
    const Node type = root.find("_type") ? root.find("_type") : root.find("type");
    return type && type.is_string() && type.as_string() == "level";
}

namespace {

constexpr std::string_view kStructure[] = {"prefab",   "components",        "modified_components", "deleted_components",
                                           "children", "modified_children", "deleted_children",    "entities"};

bool is_structure(std::string_view key) {
    return std::find(std::begin(kStructure), std::end(kStructure), key) != std::end(kStructure) || key == "units" ||
           key == "type" || key == "_type";
}

bool may_be_mistyped(std::string_view key) {
    constexpr std::size_t kShortestMistake = 5;
    return key.size() >= kShortestMistake && closest_text(key, kStructure, std::size(kStructure)) >= 0;
}

}  // namespace

bool is_key_of_short_form(std::string_view key) { return !is_structure(key) && !may_be_mistyped(key); }

bool ShortForm::has(Node entity) {
    return std::all_of(entity.begin(), entity.end(), [&](Node child) {
        const auto [may_have, is_new] = may_have_.insert(child.key(), false);
        if (!is_new) return *may_have;
        std::string_view key = child.key();
        for (const RenamedKey& renamed : renamed_keys_)
            if (renamed.from == key) key = renamed.to;
        return *may_have = is_key_of_short_form(key);
    });
}

}  // namespace shoal
