#include "cluster/zone_division.h"

#include "shoal/base/text.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace shoal::cluster {
namespace {

struct Tile {
    std::uint32_t x, y;
};

/// Returns the tile at position `place` on the Hilbert curve through `side` by `side` tiles. Requires: `side` is a
/// power of two.
Tile tile_on_curve(std::uint32_t side, std::uint64_t place) {
    Tile tile{0, 0};
    for (std::uint32_t part = 1; part < side; part *= 2, place /= 4) {
        const auto x = static_cast<std::uint32_t>(place / 2 % 2), y = static_cast<std::uint32_t>(place ^ x) % 2;
        if (y == 0) {
            if (x == 1) tile = {part - 1 - tile.x, part - 1 - tile.y};
            std::swap(tile.x, tile.y);
        }
        tile.x += part * x, tile.y += part * y;
    }
    return tile;
}

}  // namespace

ZoneDivision::ZoneDivision(const GridZones& zones, std::uint32_t reach)
    : zones_(zones),
      reach_(std::min(reach, std::max(zones.options().num_x, zones.options().num_y))),
      curve_(make_curve()) {}

/// Covers the grid with a row of squares along its longer side, and joins their curves. Each curve begins and ends at
/// an edge that its square shares with a neighbour.
std::vector<std::uint32_t> ZoneDivision::make_curve() const {
    const auto& [origin, tile_size, num_x, num_y, first_zone, up] = zones_.options();
    std::vector<std::uint32_t> curve{num_zones() - 1};
    const std::uint32_t side = std::bit_ceil(std::min(num_x, num_y)), longer = std::max(num_x, num_y);
    for (std::uint32_t begin = 0; begin < longer; begin += side)
        for (std::uint64_t place = 0; place < std::uint64_t(side) * side; ++place) {
            const Tile in_square = tile_on_curve(side, place);
            const std::uint32_t x = num_x == longer ? begin + in_square.x : in_square.y;
            const std::uint32_t y = num_x == longer ? in_square.y : begin + in_square.x;
            if (x < num_x && y < num_y) curve.push_back(y * num_x + x);
        }
    return curve;
}

Result<std::vector<std::uint32_t>> ZoneDivision::divide(std::span<const std::uint64_t> weights, std::uint32_t num_ranks,
                                                        const ClusterOptions& options) const {
    std::vector<std::uint32_t> ranks(num_zones());
    if (options.divide != nullptr) {
        options.divide(options.context, weights, num_ranks, ranks);
        for (std::uint32_t zone = 0; zone < ranks.size(); ++zone)
            if (ranks[zone] >= num_ranks)
                return Status::error(concat("the division gives zone ", first() + zone, " to rank ", ranks[zone],
                                            ", and there are ", num_ranks, "; return ranks below that"));
        return ranks;
    }
    std::uint64_t total = 0, before = 0;
    for (const std::uint64_t weight : weights) total += weight;
    const bool is_empty = total == 0;  // if so, all zones have equal weights
    if (is_empty) total = num_zones();
    for (const std::uint32_t zone : curve_) {
        const std::uint64_t weight = is_empty ? 1 : weights[zone];
        const double middle = static_cast<double>(before) + static_cast<double>(weight) / 2;
        const auto rank = static_cast<std::uint32_t>(middle * num_ranks / static_cast<double>(total));
        ranks[zone] = std::min(rank, num_ranks - 1);
        before += weight;
    }
    return ranks;
}

}  // namespace shoal::cluster
