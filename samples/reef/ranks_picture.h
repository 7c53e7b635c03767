#pragma once
// Draws the divided sea: fish in the colours of their ranks, the borders between ranks, and fish that cross them.

#include "picture.h"
#include "sea.h"

#include <shoal/cluster/cluster.h>

#include <span>
#include <string>

namespace reef {

/// Returns the picture on rank 0. The other ranks send their parts to rank 0 and return an empty picture. Collective.
Picture draw_ranks(const Sea& sea, const shoal::Cluster& cluster, std::span<const shoal::ClusterStatistics> ranks);

}  // namespace reef
