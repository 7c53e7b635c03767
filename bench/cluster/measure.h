#pragma once
// The benchmarks of worlds over several machines: shoal_bench_cluster, which shoal_bench runs with mpirun.

#include "harness.h"

namespace shoal_bench {

/// Measures what a cluster costs. Requires: two ranks call it. The first rank has the results.
void measure_cluster(Bench& bench);

/// Runs the reef on all ranks. Compares the messages and bytes that they sent with the counts that the division and a
/// run on one rank predict, prints both, and ends the program if they differ.
void check_traffic(std::uint64_t num_fish, std::uint64_t num_frames);

/// Counts what 1 to 10,000 ranks would send, prints it, and writes the requested chart and table.
void draw_scale(const Options& options, std::uint64_t num_fish);

}  // namespace shoal_bench
