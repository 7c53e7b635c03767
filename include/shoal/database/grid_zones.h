#pragma once
// Zones as the tiles of a grid: a loop over the entities near a place reads only the tiles around that place.
//
//     zone      first + 6    first + 7    first + 8          3 x 3 tiles; `origin` is the lower corner of the first
//               first + 3    first + 4    first + 5
//               first + 0    first + 1    first + 2          and first + 9: for what is larger than a tile
//
// An entity is in the tile of its centre and may reach half a tile beyond it: widen a query by the largest half extent
// of the entities that it looks for. The tiles at the border have no outer edge, so no position is outside. Every
// region includes the zone for entities that are larger than a tile.
//
//     GridZones tiles({.origin = {-100, 0, -100}, .tile_size = 12.5f, .num_x = 16, .num_y = 16, .up = GridUp::kY});
//     if (Status s = sea.create<Position>(fish, tiles.zone_of(place), Position{place}); !s) return s;
//     tiles.touch_sphere(centre, 5, near);  // a ZoneSet
//
// Thread: immutable; any thread.

#include "shoal/base/math.h"
#include "shoal/store/detail/zone.h"

namespace shoal {

/// The axis that tiles do not divide.
enum class GridUp : std::uint8_t { kY, kZ };

struct GridZonesOptions {
    Vec3 origin{};        ///< metres; the lower corner of the first tile
    float tile_size = 1;  ///< metres
    std::uint32_t num_x = 1;
    std::uint32_t num_y = 1;  ///< along z when up is y
    Zone first_zone = 0;
    GridUp up = GridUp::kZ;

    bool operator==(const GridZonesOptions&) const = default;
};

class GridZones {
public:
    /// Requires: a positive tile size, at least one tile, and zones below kMaxZones.
    SHOAL_API explicit GridZones(const GridZonesOptions& options);

    const GridZonesOptions& options() const { return options_; }
    /// The number of tiles, plus the zone for larger entities.
    std::uint32_t num_zones() const { return options_.num_x * options_.num_y + 1; }
    /// The zone for entities that are larger than a tile, and for positions that are not numbers.
    Zone large_zone() const { return options_.first_zone + options_.num_x * options_.num_y; }

    /// Returns the tile of a position.
    SHOAL_API Zone zone_of(Vec3 position) const;
    /// Returns the zone of an entity that reaches at most `radius` from `position`.
    SHOAL_API Zone zone_of(Vec3 position, float radius) const;

    /// Adds the tiles that touch a sphere (a disc, seen from above), and large_zone().
    SHOAL_API void touch_sphere(Vec3 centre, float radius, ZoneSet& out) const;
    /// Adds the tiles that touch a box, and large_zone().
    SHOAL_API void touch_box(Vec3 low, Vec3 high, ZoneSet& out) const;

private:
    struct Point {
        float x, y;
    };
    Point across(Vec3 position) const;
    std::uint32_t tile(float distance, std::uint32_t num_tiles) const;
    double distance_to(std::uint32_t tile, std::uint32_t num_tiles, float place) const;

    GridZonesOptions options_;
};

}  // namespace shoal
