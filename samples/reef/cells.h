#pragma once
// A copy of the fish for finding neighbours. It contains the data that fish see of other fish, sorted by cell.
//
//     begin   [ 0  2  2  5 ...                      by cell, with one more at the end
//     fish    | cell 0 | cell 2       |             x, y, velocity, species, row in the table of the tile
//
// The copy is rebuilt every frame, tile by tile. Each position is copied once and then read for about fifty nearby
// fish, from a few adjacent cache lines.
// Thread: any number of threads may read while no thread calls sort().

#include "components.h"
#include "tiles.h"

#include <shoal/database/database.h>

#include <vector>

namespace reef {

class Cells {
public:
    /// Copies all fish. `fish` is the archetype of the fish.
    void sort(const shoal::Database& sea, const shoal::Archetype& fish, shoal::Executor& executor);

    std::uint32_t num_fish() const { return static_cast<std::uint32_t>(x.size()); }
    std::uint32_t begin_of(std::uint32_t cell) const { return begin_[cell]; }
    std::uint32_t end_of(std::uint32_t cell) const { return begin_[cell + 1]; }

    /// Returns the tile of a fish. Cost: a binary search.
    Zone tile_of(std::uint32_t fish) const {
        const auto after = std::upper_bound(begin_.begin(), begin_.end(), fish);
        return static_cast<Zone>(after - begin_.begin() - 1) / kCellsPerTile;
    }

    /// Calls visit(fish, tile) for each fish in the cells that overlap a square around `centre`.
    template <class Visit>
    void for_each_near(Vec2 centre, float half_side, Visit&& visit) const {
        const std::uint32_t last_x = cell_across(centre.x + half_side), last_y = cell_across(centre.y + half_side);
        for (std::uint32_t cy = cell_across(centre.y - half_side); cy <= last_y; ++cy)
            for (std::uint32_t cx = cell_across(centre.x - half_side); cx <= last_x; ++cx) {
                const std::uint32_t cell = cell_number(cx, cy);
                for (std::uint32_t i = begin_[cell]; i < begin_[cell + 1]; ++i) visit(i, cell / kCellsPerTile);
            }
    }

    // Values indexed by fish. The fish are sorted by cell.
    std::vector<float> x, y, velocity_x, velocity_y, species;
    std::vector<std::uint32_t> row;
    std::vector<std::uint8_t> is_hungry;

private:
    void resize(std::size_t num_fish);
    void sort_tile(const shoal::DatabaseTable& table, const shoal::Database& sea, Zone tile, std::uint32_t first);

    std::vector<std::uint32_t> begin_;  // by cell, with one more at the end
};

}  // namespace reef
