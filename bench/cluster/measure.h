#pragma once
// Benchmarks of worlds on several machines, in the program shoal_bench_cluster, which shoal_bench runs with mpirun.

#include "harness.h"

namespace shoal_bench {

/// Measures the cost of a cluster. Requires: two ranks call it. The first rank gets the results.
void measure_cluster(Bench& bench);

/// Runs the reef on all ranks. Compares the messages and bytes sent with a prediction from the division and a run on
/// one rank, prints both, and ends the program if they differ.
void check_traffic(std::uint64_t num_fish, std::uint64_t num_frames);

/// Prints the predicted traffic of 1 to 10,000 ranks, and writes the requested chart and table.
void draw_scale(const Options& options, std::uint64_t num_fish);

}  // namespace shoal_bench
