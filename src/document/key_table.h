#pragma once
// Finds the keys of a large mapping.
//
//     low half of the hash of a key  ->  the key's node, counted from the mapping
//
// Thread: any thread may search once the mapping is closed.

#include "shoal/base/hash_map.h"
#include "shoal/document/document.h"

namespace shoal::document_detail {

/// Mappings with fewer keys are searched from the front.
inline constexpr std::uint32_t kFewKeys = 24;

class KeyTable {
public:
    /// Returns the place of a key, or 0.
    std::uint32_t find(const NodeData* mapping, std::string_view key) const { return find(mapping, key, hash_of(key)); }
    /// Adds the key mapping[place]. Returns 0, or the place of the same key when the mapping has it already.
    std::uint32_t insert(const NodeData* mapping, std::uint32_t place) {
        const std::string_view key = mapping[place].string();
        const std::uint32_t hash = hash_of(key), same = find(mapping, key, hash);
        if (same == 0) places_.add(hash, place);
        return same;
    }

private:
    static std::uint32_t hash_of(std::string_view key) { return static_cast<std::uint32_t>(hash_text(key)); }
    std::uint32_t find(const NodeData* mapping, std::string_view key, std::uint32_t hash) const {
        const auto* place = places_.find_if(hash, [&](std::uint32_t p) { return mapping[p].string() == key; });
        return place == nullptr ? 0 : *place;
    }

    HashMap<std::uint32_t, std::uint32_t> places_{Owner("document")};
};

}  // namespace shoal::document_detail
