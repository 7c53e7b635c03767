#pragma once
// Point masses: bodies that have a place and a speed, and nothing else. They fall; they do not collide.
//
//     mass           m0  m1  m2  ...        kg         not touched by simulate()
//     position       p0  p1  p2  ...        m          read and written
//     velocity       v0  v1  v2  ...        m/s        read and written
//     acceleration   a0  a1  a2  ...        m/s²       read
//
// Whoever knows the forces writes `acceleration` (a force divided by the mass); simulate() does the rest.
// Thread: simulate() is a pass: it reads and writes the columns above, and makes no structural change.

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

/// Moves all point masses on by `dt`: velocity += acceleration dt, then position += velocity dt, in the order of the
/// rows. The result is the same, bit for bit, for every executor and number of workers.
/// Units: dt in seconds. Cost: 60 bytes of memory traffic per row; that is what bounds it.
/// Source: Frykholm, "Building a data-oriented entity system", part 2.
SHOAL_API void simulate(Manager<PointMass>& masses, float dt, Executor& executor);

// A point mass on an entity with a transform moves it: its vectors are then relative to the parent, as the local pose
// is.

/// Starts the point masses of `entities` where their transforms are: position = that of the local pose. Called after a
/// spawn. Entities without one or the other are left as they are; returns how many were set.
SHOAL_API std::size_t place_at_transforms(Manager<PointMass>& masses, const TransformManager& transforms,
                                          std::span<const Entity> entities);
/// Gives the local pose of every transform on an entity with a point mass the position of that, as one batch; called
/// after simulate(). Returns how many were set.
SHOAL_API std::size_t move_transforms(const Manager<PointMass>& masses, TransformManager& transforms,
                                      Executor* executor = nullptr);

}  // namespace shoal
