#include "shoal/source/detail/source_keys.h"

#include "shoal/base/text.h"

#include <algorithm>

namespace shoal {
namespace {

bool has_name(std::span<const KeyMeaning> keys, std::string_view name) {
    return std::ranges::find(keys, name, &KeyMeaning::name) != keys.end();
}

}  // namespace

bool is_entity_key(std::string_view key) { return has_name(kEntityKeys, key); }
bool is_wrapper_key(std::string_view key) { return has_name(kComponentKeys, key); }
bool is_structural_key(std::string_view key) {
    return has_name(kSourceKeys, key) && key != key_name(SourceKey::kEditor);
}

bool is_level_text(Node root) {
    if (root.find("units") || root.find("entities")) return true;
    const Node type = root.find("_type") ? root.find("_type") : root.find("type");
    return type && type.is_string() && type.as_string() == "level";
}

bool is_key_of_short_form(std::string_view key) {
    constexpr std::size_t kShortestMistake = 5;
    for (const KeyMeaning& known : kSourceKeys) {
        if (!marks_long_form(known)) continue;
        const bool may_be_mistyped = key.size() >= kShortestMistake && known.name.size() > kShortestMistake;
        if (known.name == key || (may_be_mistyped && closest_text(key, &known.name, 1) == 0)) return false;
    }
    return true;
}

}  // namespace shoal
