#pragma once
// A zone is a plain number that is part of where an entity lies: rows of different zones never share a table, so a
// loop over some zones reads nothing of the others. What it means is the program's business: a tile of the map (see
// grid_zones.h), or a state such as asleep or on the ground.
//
//     ZoneSet near;  near.insert(3);  near.insert(4);        words   [ 0b11000 ]
//
// Thread: values.

#include "shoal/base/bits.h"
#include "shoal/base/memory.h"

#include <cstdint>
#include <initializer_list>
#include <span>

namespace shoal {

using Zone = std::uint32_t;
/// Zones are 0 to kMaxZones - 1. Dense numbers keep zone sets short.
inline constexpr Zone kMaxZones = 1u << 22;
/// No zone is said; others decide.
inline constexpr Zone kNoZone = 0xFFFFFFFF;

/// A set of zones: one bit each, as many words as the highest needs.
class ZoneSet {
public:
    ZoneSet() = default;
    ZoneSet(std::initializer_list<Zone> zones) {
        for (const Zone zone : zones) insert(zone);
    }

    bool contains(Zone zone) const { return zone / 64 < words_.size() && (words_[zone / 64] >> (zone % 64) & 1) != 0; }
    /// Requires: zone < kMaxZones.
    SHOAL_API void insert(Zone zone);
    /// Adds the zones begin to end - 1.
    SHOAL_API void insert_range(Zone begin, Zone end);
    void erase(Zone zone) {
        if (zone / 64 < words_.size()) words_[zone / 64] &= ~(std::uint64_t(1) << (zone % 64));
    }
    /// Adds all of `other`.
    SHOAL_API void insert(const ZoneSet& other);
    /// Empties the set and keeps its memory.
    void clear() { words_.clear(); }
    SHOAL_API std::uint32_t size() const;
    bool empty() const { return size() == 0; }

    /// Calls visit(zone) for each zone, ascending.
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (std::size_t word = 0; word < words_.size(); ++word)
            for (std::uint64_t bits = words_[word]; bits != 0; bits &= bits - 1)
                visit(static_cast<Zone>(word * 64 + lowest_bit(bits)));
    }
    /// Whether both hold the same zones.
    SHOAL_API friend bool operator==(const ZoneSet& a, const ZoneSet& b);

private:
    Array<std::uint64_t> words_{Owner("zone set")};  // bit zone % 64 of word zone / 64
};

}  // namespace shoal
