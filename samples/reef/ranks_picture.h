#pragma once
// The sea as it is divided: fish in the colours of their ranks, the borders, and who crosses them.

#include "picture.h"
#include "sea.h"

#include <shoal/cluster/cluster.h>

#include <span>
#include <string>

namespace reef {

/// Returns the picture, on rank 0; nothing on the others, which send what they have. Collective.
Picture draw_ranks(const Sea& sea, const shoal::Cluster& cluster, std::span<const shoal::ClusterStatistics> ranks);

}  // namespace reef
