#include "shoal/database/grid_zones.h"

#include "shoal/base/assert.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace shoal {

GridZones::GridZones(const GridZonesOptions& options) : options_(options) {
    SHOAL_ASSERT(options.tile_size > 0 && std::isfinite(options.tile_size), "tiles have a size above zero");
    SHOAL_ASSERT(options.num_x > 0 && options.num_y > 0 && options.first_zone < kMaxZones &&
                     options.num_x < kMaxZones / options.num_y &&
                     options.num_x * options.num_y < kMaxZones - options.first_zone,
                 "a grid has at least one tile, and zones below kMaxZones");
}

/// The tile at `distance` from the origin, along one axis. Requires: `distance` is not NaN.
std::uint32_t GridZones::tile(float distance, std::uint32_t num_tiles) const {
    const float number = distance / options_.tile_size;
    if (!(number > 0)) return 0;
    return number >= static_cast<float>(num_tiles - 1) ? num_tiles - 1 : static_cast<std::uint32_t>(number);
}

/// A lower bound of the distance from a place to a tile along one axis, or 0 if the place is inside. Tiles at the
/// border have no outer edge.
double GridZones::distance_to(std::uint32_t tile, std::uint32_t num_tiles, float place) const {
    const double low = double(tile) * options_.tile_size, high = double(tile + 1) * options_.tile_size;
    // zone_of() divides in floats, so its tiles may end a little before or after the true edge.
    const double blur = 4 * double(std::numeric_limits<float>::epsilon()) * (high + std::abs(double(place)));
    if (place < low && tile > 0) return std::max(0.0, low - place - blur);
    return place > high && tile + 1 < num_tiles ? std::max(0.0, place - high - blur) : 0;
}

GridZones::Point GridZones::across(Vec3 position) const {
    return options_.up == GridUp::kZ ? Point{position.x - options_.origin.x, position.y - options_.origin.y}
                                     : Point{position.x - options_.origin.x, position.z - options_.origin.z};
}

Zone GridZones::zone_of(Vec3 position, float radius) const {
    return radius * 2 <= options_.tile_size ? zone_of(position) : large_zone();
}

Zone GridZones::zone_of(Vec3 position) const {
    const Point point = across(position);
    if (std::isnan(point.x) || std::isnan(point.y)) return large_zone();
    return options_.first_zone + tile(point.y, options_.num_y) * options_.num_x + tile(point.x, options_.num_x);
}

void GridZones::touch_sphere(Vec3 centre, float radius, ZoneSet& out) const {
    out.insert(large_zone());
    const Point middle = across(centre);
    if (!(radius >= 0) || std::isnan(middle.x) || std::isnan(middle.y)) return;
    const std::uint32_t last_x = tile(middle.x + radius, options_.num_x);
    const std::uint32_t last_y = tile(middle.y + radius, options_.num_y);
    for (std::uint32_t y = tile(middle.y - radius, options_.num_y); y <= last_y; ++y)
        for (std::uint32_t x = tile(middle.x - radius, options_.num_x); x <= last_x; ++x) {
            const double dx = distance_to(x, options_.num_x, middle.x), dy = distance_to(y, options_.num_y, middle.y);
            if (dx * dx + dy * dy <= double(radius) * radius) out.insert(options_.first_zone + y * options_.num_x + x);
        }
}

void GridZones::touch_box(Vec3 low, Vec3 high, ZoneSet& out) const {
    out.insert(large_zone());
    const Point first = across(low), last = across(high);
    if (!(first.x <= last.x && first.y <= last.y)) return;
    const std::uint32_t begin = tile(first.x, options_.num_x), end = tile(last.x, options_.num_x) + 1;
    for (std::uint32_t y = tile(first.y, options_.num_y); y <= tile(last.y, options_.num_y); ++y) {
        const Zone row = options_.first_zone + y * options_.num_x;
        out.insert_range(row + begin, row + end);
    }
}

}  // namespace shoal
