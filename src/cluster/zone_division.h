#pragma once
// Which rank owns which zone, and which zones are within reach of others.
//
//     tiles       20 21 22 23 24        along the curve:  0 1 6 5 10 ...  cut into pieces of about the same weight
//                 15 16 17 18 19        the zone for what is larger than a tile comes first, and is within reach of all
//                 10 11 12 13 14
//                  5  6  7  8  9
//                  0  1  2  3  4
//
// Source: Hilbert, "Über die stetige Abbildung einer Linie auf ein Flächenstück", 1891; neighbours along the curve are
// neighbours in the plane, so a piece has few borders.
// Thread: values.

#include "shoal/base/status.h"
#include "shoal/cluster/cluster.h"

#include <cstdint>
#include <span>
#include <vector>

namespace shoal::cluster {

class ZoneDivision {
public:
    ZoneDivision(const GridZones& zones, std::uint32_t reach);

    std::uint32_t num_zones() const { return zones_.num_zones(); }
    /// Whether a zone of the database is one that is divided.
    bool has(Zone zone) const { return zone >= first() && zone - first() < num_zones(); }
    Zone first() const { return zones_.options().first_zone; }

    /// Returns the owner of each zone. Shape: weights: by zone from first() on; of the result: the same.
    /// Errors: a rank that does not exist is named.
    Result<std::vector<std::uint32_t>> divide(std::span<const std::uint64_t> weights, std::uint32_t num_ranks,
                                              const ClusterOptions& options) const;
    /// Adds the zones within reach of one, and itself. What is larger than a tile is in reach of all; nothing is in its
    /// own reach, because that would bring all zones to the rank that has it.
    void add_near(Zone zone, ZoneSet& near) const;

private:
    std::vector<std::uint32_t> make_curve() const;

    GridZones zones_;
    std::uint32_t reach_;
    std::vector<std::uint32_t> curve_;  // numbers of zones from first() on
};

}  // namespace shoal::cluster
