#include "ranks.h"

#include "divided_sea.h"
#include "inspection.h"
#include "ranks_picture.h"

#include <shoal/base/clock.h>
#include <shoal/base/file.h>
#include <shoal/base/text.h>
#include <shoal/document/diagnostics.h>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace reef {

using namespace shoal;

namespace {

/// Returns whether mpirun or a cluster's launcher started this process.
bool is_started_by_mpi() {
    for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "MPI_LOCALNRANKS"})
        if (std::getenv(name) != nullptr) return true;
    return false;
}

/// Keeps MPI initialised while the program runs.
class Mpi {
public:
    Mpi() {
        int provided = 0;
        MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
    }
    Mpi(const Mpi&) = delete;
    Mpi& operator=(const Mpi&) = delete;
    ~Mpi() { MPI_Finalize(); }
};

/// If the page was requested, rank 0 shows its tiles on it, and the other ranks wait for rank 0 in each frame.
Status run_frames(Sea& sea, Cluster& cluster, Run& run) {
    constexpr std::uint64_t kFramesUntilBalanced = 100;
    Inspection inspection;
    Status open = cluster.rank() == 0 ? inspection.open(sea, run) : Status();
    if (cluster.sum_count(open ? 0 : 1) != 0)
        return open ? Status::error("rank 0 cannot show the sea; its message says why") : open;
    if (run.options.inspect) end_when_interrupted();
    const std::int64_t begin_ns = monotonic_ns();
    std::uint64_t frame = 0;
    for (; frame < run.options.num_frames; ++frame) {
        if (run.options.inspect && cluster.sum_count(is_interrupted() ? 1 : 0) != 0) break;
        sea.step();
        if (inspection.is_open()) inspection.wait_for_frame();
        if (sea.world.frame() % kFramesUntilBalanced == 0)
            if (Status moved = cluster.rebalance(); !moved) return moved;
    }
    run.options.num_frames = frame;
    run.run_ms = static_cast<double>(monotonic_ns() - begin_ns) * 1e-6;
    run.state_hash = cluster.state_hash();
    run.ranks = cluster.gather_statistics();
    return {};
}

Status draw_and_tell(const Sea& sea, const Cluster& cluster, Run& run) {
    if (!run.options.picture.empty()) {
        const Picture picture = draw_ranks(sea, cluster, run.ranks);
        run.picture_bytes = picture.svg.size(), run.num_strokes = picture.num_strokes;
        if (cluster.rank() == 0)
            if (Status written = write_file(run.options.picture, std::string_view(picture.svg)); !written)
                return written;
    }
    if (cluster.rank() != 0) return {};
    const std::string text = run.options.json ? json_of(sea, run) : text_of(sea, run);
    std::fwrite(text.data(), 1, text.size(), stdout);
    return {};
}

}  // namespace

Status run_by_mpirun(std::uint64_t num_ranks, char** words) {
    if (geteuid() == 0)  // containers run programs as root, which Open MPI refuses by default
        for (const char* name : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"}) setenv(name, "1", 0);
    setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 0);      // allow more ranks than cores
    setenv("OMPI_MCA_hwloc_base_binding_policy", "none", 0);  // otherwise, all workers of a rank would share a core
    setenv("OMPI_MCA_plm", "isolated", 0);                    // use this machine only, because it may have no ssh
    const std::string count = concat(num_ranks);
    std::string mpirun = "mpirun", flag = "-n", number = count, self = "/proc/self/exe";
    char path[4096] = {};
    if (readlink(self.c_str(), path, sizeof path - 1) > 0) self = path;
    std::vector<char*> arguments{mpirun.data(), flag.data(), number.data(), self.data()};
    for (char** word = words; *word != nullptr; ++word) arguments.push_back(*word);
    arguments.push_back(nullptr);
    execvp(mpirun.c_str(), arguments.data());
    return Status::error(concat("mpirun cannot be started: ", std::strerror(errno), "; install openmpi-bin"));
}

Status start_ranks(const Options& options, char** words) {
    if (options.num_ranks < 2 || is_started_by_mpi()) return {};
    return run_by_mpirun(options.num_ranks, words + 1);
}

Status live_in_ranks(Run& run, Diagnostics& diagnostics) {
    const Mpi mpi;
    std::uint64_t num_workers = run.options.num_workers;
    if (num_workers == 0)
        num_workers = std::max<std::uint64_t>(std::thread::hardware_concurrency() / run.options.num_ranks, 1);
    ThreadedExecutor executor(static_cast<std::uint32_t>(num_workers));
    run.num_workers = executor.num_workers();
    Sea sea(executor, {run.options.sources, run.options.num_fish, run.options.seed, false, run.options.plugin});
    const Result<Cluster*> cluster = divide(sea, MPI_COMM_WORLD, diagnostics);
    Status status = cluster.status();
    if (status) status = run_frames(sea, **cluster, run);
    if (status) status = draw_and_tell(sea, **cluster, run);
    close(sea);
    return status;
}

}  // namespace reef
