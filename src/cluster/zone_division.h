#pragma once
// Divides zones among ranks, and finds the zones within reach of a zone.
//
//     tiles       20 21 22 23 24        along the curve:  0 1 6 5 10 ...  cut into pieces of about the same weight
//                 15 16 17 18 19        the zone of entities larger than a tile is first, and within reach of all
//                 10 11 12 13 14
//                  5  6  7  8  9
//                  0  1  2  3  4
//
// Source: Hilbert, "Über die stetige Abbildung einer Linie auf ein Flächenstück", 1891; neighbours along the curve are
// neighbours in the plane, so each piece has a short border.
// Thread: any; a value.

#include "shoal/base/status.h"
#include "shoal/cluster/cluster.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace shoal::cluster {

class ZoneDivision {
public:
    ZoneDivision(const GridZones& zones, std::uint32_t reach);

    std::uint32_t num_zones() const { return zones_.num_zones(); }
    /// Whether a zone of the database is one of the divided zones.
    bool has(Zone zone) const { return zone >= first() && zone - first() < num_zones(); }
    Zone first() const { return zones_.options().first_zone; }

    /// Returns the owner of each zone. Shape: `weights` and the result are indexed by zone, from first() on.
    /// Errors: ClusterOptions::divide assigns a rank that does not exist.
    Result<std::vector<std::uint32_t>> divide(std::span<const std::uint64_t> weights, std::uint32_t num_ranks,
                                              const ClusterOptions& options) const;
    /// Calls visit() for a zone and the zones within its reach. The zone of entities larger than a tile is within reach
    /// of all zones. No other zone is within its own reach, because its rank would then need copies of all zones.
    template <class Visit>
    void for_each_near(Zone zone, Visit&& visit) const {
        visit(zones_.large_zone());
        if (zone == zones_.large_zone()) return;
        const std::uint32_t num_x = zones_.options().num_x, num_y = zones_.options().num_y;
        const std::uint32_t tile = zone - first(), x = tile % num_x, y = tile / num_x;
        const std::uint32_t left = x - std::min(x, reach_), right = std::min(num_x - 1, x + reach_);
        for (std::uint32_t row = y - std::min(y, reach_); row <= std::min(num_y - 1, y + reach_); ++row)
            for (std::uint32_t column = left; column <= right; ++column) visit(first() + row * num_x + column);
    }

private:
    std::vector<std::uint32_t> make_curve() const;

    GridZones zones_;
    std::uint32_t reach_;
    std::vector<std::uint32_t> curve_;  // zones, relative to first()
};

}  // namespace shoal::cluster
