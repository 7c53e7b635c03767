#pragma once
// A zone is a plain number that each entity has. Rows of different zones never share a table, so a loop over some zones
// reads nothing from the others. The program decides what a zone means: a tile of the map (see grid_zones.h), or a
// state such as asleep or on the ground.
//
//     ZoneSet near = {3, 4};        bits   0 0 0 1 1
//
// Thread: different objects may be used on different threads.

#include "shoal/base/assert.h"
#include "shoal/base/detail/bit_set.h"

#include <cstdint>
#include <initializer_list>
#include <utility>

namespace shoal {

using Zone = std::uint32_t;
/// Zones are 0 to kMaxZones - 1. Dense numbers keep zone sets short.
inline constexpr Zone kMaxZones = 1u << 22;
/// Means "no zone"; as an argument, it lets the callee choose.
inline constexpr Zone kNoZone = 0xFFFFFFFF;

namespace detail {
[[noreturn]] SHOAL_API SHOAL_NOINLINE void refuse_zone(Zone zone);
}
/// Ends the program, with a message that names the zone, if the zone is not below kMaxZones.
inline void require_zone(Zone zone) {
    if (SHOAL_UNLIKELY(zone >= kMaxZones)) detail::refuse_zone(zone);
}

/// A set of zones, one bit each.
class ZoneSet {
public:
    ZoneSet() = default;
    ZoneSet(std::initializer_list<Zone> zones) {
        for (const Zone zone : zones) insert(zone);
    }

    bool contains(Zone zone) const { return bits_.test(zone); }
    /// Requires: zone < kMaxZones.
    void insert(Zone zone) { insert_range(zone, zone + 1); }
    /// Adds the zones in [begin, end). Requires: end <= kMaxZones.
    SHOAL_API void insert_range(Zone begin, Zone end);
    void erase(Zone zone) { bits_.reset(zone); }
    /// Adds all zones in `other`.
    void insert(const ZoneSet& other) { bits_ |= other.bits_; }
    /// Empties the set and keeps its memory.
    void clear() { bits_.clear(); }
    std::uint32_t size() const { return static_cast<std::uint32_t>(bits_.count()); }
    bool empty() const { return bits_.empty(); }

    /// Calls visit(zone) for each zone, in ascending order.
    template <class Visit>
    void for_each(Visit&& visit) const {
        bits_.for_each([&](std::size_t zone) { visit(static_cast<Zone>(zone)); });
    }
    /// Whether both sets have the same zones.
    friend bool operator==(const ZoneSet&, const ZoneSet&) = default;

private:
    BitSet bits_{Owner("zone set")};
};

/// A set of zones that changes while queries and passes refer to it, such as the zones that a machine owns. A loop
/// visits the zones that are in the set when the loop begins. After a change, call Schedule::zones_changed() for the
/// passes that name the set. Lifetime: the set outlives the queries. Thread: changed between passes, read by any
/// thread.
class LiveZones {
public:
    explicit LiveZones(const ZoneSet& zones) : zones_(zones) {}
    LiveZones(const LiveZones&) = delete;
    LiveZones& operator=(const LiveZones&) = delete;

    const ZoneSet& now() const { return zones_; }
    void set(ZoneSet zones) { zones_ = std::move(zones); }

private:
    ZoneSet zones_;
};

}  // namespace shoal
