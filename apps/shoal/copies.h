#pragma once
// Copies of a level, side by side on a square grid.

#include "shoal/resource/blob.h"
#include "shoal/store/store.h"

#include <vector>

namespace shoal_tool {

/// Returns a pose per copy: row by row on a grid that is about as wide as high, with a gap between the transforms of
/// neighbours. Poses of one place for a level without transforms.
std::vector<shoal::RootPose> side_by_side(const shoal::Blob& blob, std::uint32_t num_copies);

}  // namespace shoal_tool
