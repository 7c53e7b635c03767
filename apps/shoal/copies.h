#pragma once
// Places copies of a level side by side on a square grid.

#include "shoal/resource/blob.h"
#include "shoal/store/store.h"

#include <vector>

namespace shoal_tool {

/// Returns one pose per copy, on a roughly square grid with gaps between neighbouring copies. If the level has no
/// transforms, all poses are equal.
std::vector<shoal::RootPose> side_by_side(const shoal::Blob& blob, std::uint32_t num_copies);

}  // namespace shoal_tool
