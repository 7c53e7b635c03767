#pragma once
// Puts what was spawned in its place: children beside their parents, copies beside one another.
//
//     blob       school {position p}                      world, copy k     school   p + shift(k)
//                  fish  {position q, relative to p}                        fish     p + q + shift(k)
//
// A level says where a child is as seen from its parent. Rows of a world have no parents, so positions, velocities and
// accelerations of all ancestors are added up once, after the spawn. An ancestor counts with the first of its
// components that has a vec3 `position`; rotations and scales are left alone.

#include "shoal/inspect/positions.h"
#include "shoal/world/world.h"

namespace shoal_tool {

/// The grid that copies lie on.
struct CopyGrid {
    std::uint32_t num_columns = 1;
    float spacing = 0;  ///< metres from copy to copy

    /// A square for `num_copies`, with a gap between levels of the size of `bounds`.
    static CopyGrid make(std::uint32_t num_copies, const shoal::Bounds& bounds);
    shoal::Vec3 shift(std::uint32_t copy) const {
        return {static_cast<float>(copy % num_columns) * spacing, static_cast<float>(copy / num_columns) * spacing, 0};
    }
};

/// Requires: `spawned` was just made of `blob` in `world`.
shoal::Status place(shoal::World& world, const shoal::Blob& blob, const shoal::Spawned& spawned);

}  // namespace shoal_tool
