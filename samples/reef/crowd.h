#pragma once
// The fish in and around a cell, gathered once for all fish of the cell.
//
//     cells    +--+--+--+       x           | ................ |      columns, with room for four at a time at the end
//              |  |  |  |       y           | ................ |
//              |  |##|  |       velocity    | ................ |
//              |  |  |  |       species     | ................ |
//              +--+--+--+
//
// Thread: a crowd is used by one thread.

#include "cells.h"

namespace reef {

/// What a fish sees of the others: sums over its kind, and which way all of them push it.
struct Seen {
    float num_kin = 0;
    Vec2 offset, velocity, push;
};

class Crowd {
public:
    /// Gathers the fish of a cell and the eight around it, at most kMostPerRun from three cells side by side: in a
    /// crowd, a fish sees no more of it.
    void gather(const Cells& cells, std::uint32_t cell_x, std::uint32_t cell_y);

    /// Goes through all of them for a fish at `place`. Who is exactly there, as the fish itself, is not seen.
    Seen seen_from(Vec2 place, float species) const;

private:
    static constexpr std::uint32_t kMostPerRun = 64, kMostRuns = 6;
    static constexpr std::uint32_t kMost = kMostPerRun * kMostRuns;

    void add(const Cells& cells, std::uint32_t begin, std::uint32_t end);

    alignas(64) float x_[kMost], y_[kMost], velocity_x_[kMost], velocity_y_[kMost], species_[kMost];
    std::uint32_t size_ = 0;
};

}  // namespace reef
