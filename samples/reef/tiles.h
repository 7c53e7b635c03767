#pragma once
// The sea as a grid: 16 x 16 tiles of 32 metres. Each tile is a zone of the database and is divided into 10 x 10 cells.
// A fish can see as far as a cell is wide, so everything that it sees is in its own cell or in the eight cells around
// it.
//
//     tile 17   +--+--+--+       tile     an entity moves to another zone when it swims into another tile
//               |  |  |  |       cell     just a number: the order of fish in cells.h
//               +--+--+--+

#include <shoal/database/grid_zones.h>
#include <shoal/job/row_ranges.h>

#include <algorithm>

namespace reef {

using shoal::Vec3;
using shoal::Zone;

inline constexpr std::uint32_t kTilesPerSide = 16;
inline constexpr std::uint32_t kNumTiles = kTilesPerSide * kTilesPerSide;
inline constexpr std::uint32_t kCellsPerTileSide = 10;
inline constexpr std::uint32_t kCellsPerTile = kCellsPerTileSide * kCellsPerTileSide;
inline constexpr std::uint32_t kCellsPerSide = kTilesPerSide * kCellsPerTileSide;
inline constexpr float kTileSize = 32, kCellSize = kTileSize / kCellsPerTileSide;
inline constexpr float kSeaSize = kTileSize * kTilesPerSide;
inline constexpr float kShore = kSeaSize / 2;  ///< the sea reaches from -kShore to kShore

inline constexpr shoal::GridZonesOptions kGrid{
    .origin = {-kShore, -kShore, 0}, .tile_size = kTileSize, .num_x = kTilesPerSide, .num_y = kTilesPerSide};

/// The largest distance at which any pass searches. Requires: it is less than the size of a tile.
inline constexpr float kFarthest = 24;

/// Returns the corner of a tile that has the lowest coordinates.
inline Vec3 low_corner(Zone tile) {
    return kGrid.origin + Vec3{static_cast<float>(tile % kTilesPerSide) * kTileSize,
                               static_cast<float>(tile / kTilesPerSide) * kTileSize, 0};
}

/// Returns the column or row of cells that contains a coordinate.
inline std::uint32_t cell_across(float metres) {
    const float cell = (metres + kShore) * (1 / kCellSize);
    return cell <= 0 ? 0 : std::min(static_cast<std::uint32_t>(cell), kCellsPerSide - 1);
}

/// Returns the index of a cell. The cells of a tile have consecutive indices. Requires: `x` and `y` are below
/// kCellsPerSide.
inline std::uint32_t cell_number(std::uint32_t x, std::uint32_t y) {
    const std::uint32_t tile = y / kCellsPerTileSide * kTilesPerSide + x / kCellsPerTileSide;
    return tile * kCellsPerTile + y % kCellsPerTileSide * kCellsPerTileSide + x % kCellsPerTileSide;
}

/// Calls function(tile, worker) for every tile. All workers take part.
template <class Function>
void for_each_tile(shoal::Executor& executor, Function&& function) {
    constexpr std::uint32_t kTilesPerJob = 4;
    shoal::for_rows(executor, shoal::cut_rows(kNumTiles, 1, kTilesPerJob),
                    [&](shoal::RowRange tiles, std::uint32_t worker) {
                        for (Zone tile = tiles.begin; tile < tiles.end; ++tile) function(tile, worker);
                    });
}

}  // namespace reef
