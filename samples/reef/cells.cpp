#include "cells.h"

#include <utility>
#include <vector>

namespace reef {

using namespace shoal;

void Cells::sort(const Database& sea, const Archetype& fish, Executor& executor) {
    std::uint32_t first_of_tile[kNumTiles + 1] = {};
    for (Zone tile = 0; tile < kNumTiles; ++tile) {
        const DatabaseTable* table = sea.find_table(fish, tile);
        first_of_tile[tile + 1] = first_of_tile[tile] + (table == nullptr ? 0 : table->num_rows());
    }
    resize(first_of_tile[kNumTiles]);
    for_each_tile(executor, [&](Zone tile, std::uint32_t) {
        if (const DatabaseTable* table = sea.find_table(fish, tile); table != nullptr && table->num_rows() != 0)
            return sort_tile(*table, sea, tile, first_of_tile[tile]);
        std::fill_n(begin_.begin() + tile * kCellsPerTile, kCellsPerTile, first_of_tile[tile]);
    });
    begin_.back() = num_fish();
}

void Cells::resize(std::size_t num_fish) {
    begin_.resize(std::size_t(kNumTiles) * kCellsPerTile + 1);
    for (std::vector<float>* column : {&x, &y, &velocity_x, &velocity_y, &species}) column->resize(num_fish);
    row.resize(num_fish);
    is_hungry.resize(num_fish);
}

/// Sorts the fish in one tile with a counting sort: counts the fish per cell, finds where each cell begins, and copies
/// the fish.
void Cells::sort_tile(const DatabaseTable& table, const Database& sea, Zone tile, std::uint32_t first) {
    const auto position = table.column<&Place::position>(sea.find_component<Place>());
    const auto velocity = table.column<&Swim::velocity>(sea.find_component<Swim>());
    const auto kind = table.column<&Fish::species>(sea.find_component<Fish>());
    const std::uint64_t* const sated = table.presence(sea.find_component<Sated>());
    const std::uint32_t left = tile % kTilesPerSide * kCellsPerTileSide;
    const std::uint32_t low = tile / kTilesPerSide * kCellsPerTileSide;
    const auto cell_of = [&](std::uint32_t fish) {
        // A fish that has just left the tile counts as being in the nearest cell of the tile.
        const std::uint32_t cx = std::clamp(cell_across(position.x()[fish]), left, left + kCellsPerTileSide - 1);
        const std::uint32_t cy = std::clamp(cell_across(position.y()[fish]), low, low + kCellsPerTileSide - 1);
        return cell_number(cx, cy);
    };
    std::uint32_t next[kCellsPerTile] = {};
    for (std::uint32_t fish = 0; fish < table.num_rows(); ++fish) ++next[cell_of(fish) % kCellsPerTile];
    std::uint32_t begin = first;
    for (std::uint32_t cell = 0; cell < kCellsPerTile; ++cell) {
        begin_[tile * kCellsPerTile + cell] = begin;
        begin += std::exchange(next[cell], begin);
    }
    for (std::uint32_t fish = 0; fish < table.num_rows(); ++fish) {
        const std::uint32_t place = next[cell_of(fish) % kCellsPerTile]++;
        x[place] = position.x()[fish];
        y[place] = position.y()[fish];
        velocity_x[place] = velocity.x()[fish];
        velocity_y[place] = velocity.y()[fish];
        species[place] = static_cast<float>(kind[fish]);
        row[place] = fish;
        is_hungry[place] = (sated[fish / 64] >> (fish % 64) & 1) == 0;
    }
}

}  // namespace reef
