#pragma once
// Finds the keys of a large mapping.
//
//     lower half of the hash of a key  ->  index of the key's node, counted from the mapping
//
// Thread: any thread may search after the mapping is closed.

#include "shoal/base/detail/hash_map.h"
#include "shoal/document/detail/document.h"

namespace shoal::document_detail {

/// Mappings with fewer keys use a linear search.
inline constexpr std::uint32_t kFewKeys = 24;

class KeyTable {
public:
    /// Returns the index of a key, or 0 if the mapping does not have it.
    std::uint32_t find(const NodeData* mapping, std::string_view key) const { return find(mapping, key, hash_of(key)); }
    /// Adds the key at mapping[index]. If the mapping already has an equal key, returns the index of that key;
    /// otherwise returns 0.
    std::uint32_t insert(const NodeData* mapping, std::uint32_t index) {
        const std::string_view key = mapping[index].string();
        const std::uint32_t hash = hash_of(key), same = find(mapping, key, hash);
        if (same == 0) indices_.add(hash, index);
        return same;
    }

private:
    static std::uint32_t hash_of(std::string_view key) { return static_cast<std::uint32_t>(hash_text(key)); }
    std::uint32_t find(const NodeData* mapping, std::string_view key, std::uint32_t hash) const {
        const auto* index = indices_.find_if(hash, [&](std::uint32_t i) { return mapping[i].string() == key; });
        return index == nullptr ? 0 : *index;
    }

    HashMap<std::uint32_t, std::uint32_t> indices_{Owner("document")};
};

}  // namespace shoal::document_detail
