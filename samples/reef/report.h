#pragma once
// Reports the costs and the result of a run, as text for people or JSON for programs.

#include "options.h"
#include "sea.h"

#if REEF_HAS_CLUSTER
#include <shoal/cluster/cluster.h>
#endif

namespace reef {

/// The options of a run, and numbers that are not in the world's report.
struct Run {
    Options options;
    std::uint32_t num_workers = 0;
    double run_ms = 0;
    std::uint64_t state_hash = 0;
#if REEF_HAS_CLUSTER
    std::vector<shoal::ClusterStatistics> ranks{};  ///< statistics for each rank of the cluster
#endif
    std::uint64_t num_strokes = 0, picture_bytes = 0, num_traced = 0;
};

std::string text_of(const Sea& sea, const Run& run);
std::string json_of(const Sea& sea, const Run& run);

}  // namespace reef
