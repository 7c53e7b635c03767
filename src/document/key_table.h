#pragma once
// Finds the keys of a large mapping. Open addressing; a slot names a key node by its distance from the mapping.
//
//     | mask count | hash index | hash index | ...      mask + 1 slots, a power of two, at most half of them used

#include "shoal/document/document.h"

#include <cstdint>
#include <string_view>

namespace shoal::document_detail {

/// Mappings with fewer keys are searched from the front.
inline constexpr std::uint32_t kFewKeys = 24;

struct KeyTable {
    struct Slot {
        std::uint32_t hash;
        std::uint32_t index;  ///< of the key, counted from the mapping; 0: free
    };

    std::uint32_t mask;
    std::uint32_t count;

    const Slot* slots() const { return reinterpret_cast<const Slot*>(this + 1); }
    Slot* slots() { return reinterpret_cast<Slot*>(this + 1); }
    std::size_t num_bytes() const { return sizeof(KeyTable) + (std::size_t(mask) + 1) * sizeof(Slot); }

    /// Returns the index of the key, or 0.
    std::uint32_t find(const NodeData* mapping, std::string_view key) const;
    /// Adds a key that lies at mapping[index]; returns 0, or the index of the same key that is there already.
    /// Requires: not half full.
    std::uint32_t insert(const NodeData* mapping, std::uint32_t index);
};

/// Requires: `num_slots` is a power of two.
KeyTable* make_key_table(std::uint32_t num_slots);
/// Returns a table twice as large with the same keys and releases the old one.
KeyTable* grow_key_table(KeyTable* table);
void release_key_table(KeyTable* table);

}  // namespace shoal::document_detail
