#pragma once
// A map from 64-bit keys to numbers, by open addressing: the database finds tables by (zone, archetype) with one,
// archetypes by what an entity had and gains or loses with another.
//
//     slots    [ key value | . | key value | key value | . ]      at most 3/4 full; a power of two
//
// Thread: find from any thread between changes.

#include "shoal/base/memory.h"

#include <cstdint>

namespace shoal {

class NumberMap {
public:
    static constexpr std::uint32_t kNone = 0xFFFFFFFF;

    static constexpr std::uint64_t key(std::uint32_t high, std::uint32_t low) {
        return std::uint64_t(high) << 32 | low;
    }

    /// Returns the number of `key`, or kNone.
    std::uint32_t find(std::uint64_t key) const {
        if (slots_.empty()) return kNone;
        for (std::size_t slot = home_of(key);; slot = (slot + 1) & (slots_.size() - 1))
            if (slots_[slot].value == kNone || slots_[slot].key == key) return slots_[slot].value;
    }
    /// Requires: value is not kNone.
    SHOAL_API void set(std::uint64_t key, std::uint32_t value);
    SHOAL_API void erase(std::uint64_t key);

private:
    struct Slot {
        std::uint64_t key = 0;
        std::uint32_t value = kNone;
    };

    std::size_t home_of(std::uint64_t key) const {
        const std::uint64_t mixed = (key ^ key >> 29) * 0x9E3779B97F4A7C15ull;
        return static_cast<std::size_t>(mixed >> 32) & (slots_.size() - 1);
    }
    std::size_t slot_of(std::uint64_t key) const;
    void grow();

    Array<Slot> slots_{Owner("database")};
    std::size_t num_used_ = 0;
};

}  // namespace shoal
