#pragma once
// The reef in a cluster, and a reef on one rank that records the data that its zones would send.

#include "cluster/halo.h"
#include "divided_sea.h"
#include "traffic.h"

#include <unordered_map>

namespace shoal_bench {

/// The reef with one worker.
struct SeaRun {
    SeaRun(MPI_Comm comm, std::uint64_t num_fish);
    ~SeaRun() { reef::close(sea); }

    shoal::SerialExecutor executor;
    reef::Sea sea;
    shoal::Cluster* cluster = nullptr;
};

class RecordedSea {
public:
    explicit RecordedSea(std::uint64_t num_fish);

    /// Runs a frame, and returns its trace.
    const FrameTrace& step();
    const SeaRun& run() const { return run_; }

private:
    void add_written(std::uint64_t since, std::vector<std::uint64_t>& of_zones);
    void record_moves();

    SeaRun run_;
    std::vector<shoal::cluster::HaloColumn> columns_;
    std::unordered_map<std::uint64_t, shoal::Zone> zone_of_name_;
    std::uint64_t since_ = 0;
    FrameTrace frame_;
};

}  // namespace shoal_bench
