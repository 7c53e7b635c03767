#pragma once
// Point masses are bodies that have a position and a velocity, but no size. They fall, but do not collide.
//
//     mass           m0  m1  m2  ...        kg         not touched by simulate()
//     position       p0  p1  p2  ...        m          read and written
//     velocity       v0  v1  v2  ...        m/s        read and written
//     acceleration   a0  a1  a2  ...        m/s²       read
//
// The program writes `acceleration` (force divided by mass); simulate() does the rest.
// Thread: simulate() may run in a pass that declares the columns above. It makes no structural change.

#include "shoal/store/manager.h"

namespace shoal {

class Executor;
class TransformManager;

struct PointMass {
    float mass = 1;
    Vec3 position{}, velocity{}, acceleration{};
};
SHOAL_COMPONENT(PointMass, (mass, unit("kg")), (position, unit("m")), (velocity, unit("m/s")),
                (acceleration, unit("m/s²")))

/// Moves all point masses by one step: velocity += acceleration x dt, then position += velocity x dt. The result is
/// bit-identical for every executor and any number of workers. Units: dt in seconds. Cost: limited by memory bandwidth,
/// with 60 bytes per row. Source: Frykholm, "Building a data-oriented entity system", part 2.
SHOAL_API void simulate(Manager<PointMass>& masses, float dt, Executor& executor);

// If an entity has a point mass and a transform, the vectors of the point mass are relative to the parent, like the
// local pose.

/// Copies the positions of local poses to the point masses of `entities`. Call it after a spawn. Skips entities without
/// a point mass or without a transform. Returns the number of point masses that were set.
SHOAL_API std::size_t place_at_transforms(Manager<PointMass>& masses, const TransformManager& transforms,
                                          std::span<const Entity> entities);
/// Copies the positions of the point masses to the local poses as one batch. Call it after simulate(). Skips point
/// masses without a transform. Returns the number of poses that were set.
SHOAL_API std::size_t move_transforms(const Manager<PointMass>& masses, TransformManager& transforms,
                                      Executor* executor = nullptr);

}  // namespace shoal
