#pragma once
// The benchmarks of worlds over several machines: shoal_bench_cluster, which shoal_bench runs with mpirun.

#include "harness.h"

namespace shoal_bench {

/// Measures what a cluster costs. Requires: two ranks call it; the first one has the results.
void measure_cluster(Bench& bench);

/// Runs the reef on the ranks that there are, compares the messages and the bytes that these have sent with those that
/// are counted from the division and from a run on one rank, prints them, and ends the program if they differ.
void check_traffic(std::uint64_t num_fish, std::uint64_t num_frames);

/// Counts what 1 to 10,000 ranks would send, prints it, and writes the chart and the table that were asked for.
void draw_scale(const Options& options, std::uint64_t num_fish);

}  // namespace shoal_bench
