#include "copies.h"

#include "shoal/inspect/positions.h"
#include "shoal/transform/transform.h"
#include "shoal/world/world.h"

#include <algorithm>
#include <cmath>

namespace shoal_tool {

using namespace shoal;

namespace {

/// Spawns one copy into a separate world and returns the bounding box of its transforms.
Bounds bounds_of(const Blob& blob) {
    EntityManager entities;
    World world(entities);
    const TransformManager& transforms = world.transforms();
    Bounds bounds;
    if (!world.spawn(blob, {.keep_names = false})) return bounds;  // the error is reported when the copies are spawned
    for (std::uint32_t row = 0; row < transforms.num_rows(); ++row) bounds.add(transforms.world_position({row}));
    return bounds;
}

}  // namespace

std::vector<RootPose> side_by_side(const Blob& blob, std::uint32_t num_copies) {
    std::vector<RootPose> poses(num_copies);
    if (num_copies < 2) return poses;
    const Bounds bounds = bounds_of(blob);
    if (bounds.num_points == 0) return poses;
    const float step = std::max(bounds.size().x, bounds.size().y) * 1.05f + 1;
    const auto num_columns = static_cast<std::uint32_t>(std::ceil(std::sqrt(static_cast<double>(num_copies))));
    for (std::uint32_t copy = 0; copy < num_copies; ++copy)
        poses[copy].position = {static_cast<float>(copy % num_columns) * step,
                                static_cast<float>(copy / num_columns) * step, 0};
    return poses;
}

}  // namespace shoal_tool
