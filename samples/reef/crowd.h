#pragma once
// The fish in and around a cell, collected once for all fish in the cell.
//
//     cells    +--+--+--+       x           | ................ |      columns, padded for vectors of four
//              |  |  |  |       y           | ................ |
//              |  |##|  |       velocity    | ................ |
//              |  |  |  |       species     | ................ |
//              +--+--+--+
//
// Thread: one thread per crowd.

#include "cells.h"

namespace reef {

/// What a fish sees of other fish: sums over its own species, and a push away from fish of all species.
struct Seen {
    float num_kin = 0;
    Vec2 offset, velocity, push;
};

class Crowd {
public:
    /// Collects the fish in a cell and in the eight cells around it, at most kMostPerRun from each run of adjacent
    /// cells. Therefore, in a dense crowd, a fish sees only some of the others.
    void gather(const Cells& cells, std::uint32_t cell_x, std::uint32_t cell_y);

    /// Sums up the gathered fish that a fish at `place` sees. Ignores fish at exactly this place, such as the fish
    /// itself.
    Seen seen_from(Vec2 place, float species) const;

private:
    static constexpr std::uint32_t kMostPerRun = 64, kMostRuns = 6;
    static constexpr std::uint32_t kMost = kMostPerRun * kMostRuns;

    void add(const Cells& cells, std::uint32_t begin, std::uint32_t end);

    alignas(64) float x_[kMost], y_[kMost], velocity_x_[kMost], velocity_y_[kMost], species_[kMost];
    std::uint32_t size_ = 0;
};

}  // namespace reef
