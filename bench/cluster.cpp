// Measures the cost of running a world on several machines. The workloads (cluster/measure.cpp) run in two processes,
// which mpirun starts.

#include "workloads.h"

#include <cstdio>
#include <cstdlib>
#include <string>

#include <unistd.h>

namespace shoal_bench {

void measure_clusters([[maybe_unused]] Bench& bench) {
#if defined(SHOAL_BENCH_CLUSTER)
    const char* folder = std::getenv("TMPDIR");
    const std::string results =
        std::string(folder != nullptr ? folder : "/tmp") + "/shoal_bench_cluster_" + std::to_string(getpid()) + ".json";
    for (const char* name : {"cluster/step", "cluster/one_rank", "cluster/move_zone", "cluster/halo_bytes"}) {
        if (!bench.wants(name)) continue;
        const std::string command = std::string("\"" SHOAL_BENCH_CLUSTER "\" --ranks 2 measure --filter '^") + name +
                                    "$' --json \"" + results + (bench.quick() ? "\" --quick" : "\"") + " >/dev/null";
        if (std::system(command.c_str()) != 0) fail("cannot be run by two ranks: " + command);
        for (const Measurement& result : read_results(results)) bench.add(result);
        std::remove(results.c_str());
    }
#endif
}

}  // namespace shoal_bench
