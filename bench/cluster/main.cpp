// Measures the cost of running a world on several machines, and predicts the cost on more machines than are available.
//
//     shoal_bench_cluster --ranks 2 measure [--filter REGEX] [--quick] [--json FILE]
//     shoal_bench_cluster --ranks 4 check [--quick]
//     shoal_bench_cluster scale [--quick] [--chart FILE.svg] [--table FILE.md]
//
// With --ranks, the program restarts itself with mpirun; `mpirun -n 4 shoal_bench_cluster check` does the same.

#include "measure.h"
#include "ranks.h"
#include "shoal/base/file.h"

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

using namespace shoal_bench;

constexpr const char* kProgram = "shoal_bench_cluster";
constexpr const char* kUsage =
    "usage: shoal_bench_cluster --ranks 2 measure [--filter REGEX] [--quick] [--json FILE]\n"
    "       shoal_bench_cluster --ranks RANKS check [--quick]\n"
    "       shoal_bench_cluster scale [--quick] [--chart FILE.svg] [--table FILE.md]\n";

[[noreturn]] void fail_usage(std::string_view message) { shoal_bench::fail_usage(kProgram, kUsage, message); }

}  // namespace

int main(int num_arguments, char** arguments) {
    if (num_arguments > 2 && std::string_view(arguments[1]) == "--ranks") {
        const std::uint64_t num_ranks = std::strtoull(arguments[2], nullptr, 10);
        if (num_ranks == 0) fail_usage("--ranks needs a number from 1 on, and then what to do");
        need_ok(reef::run_by_mpirun(num_ranks, arguments + 3));
    }
    const std::string_view task = num_arguments > 1 ? arguments[1] : "";
    if (task != "measure" && task != "check" && task != "scale") fail_usage("say what to do: measure, check or scale");
    const Options options = read_options(kProgram, kUsage, {arguments + 2, arguments + num_arguments});
    int provided = 0, size = 1, rank = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const std::uint64_t num_fish = options.quick ? 10'000 : 100'000;
    if (task == "measure") {
        if (size != 2) fail_usage("two ranks are measured; add --ranks 2");
        Bench bench(options);
        measure_cluster(bench);
        if (rank == 0 && !options.json_path.empty())
            need_ok(shoal::write_file(options.json_path, to_json(bench.results())));
    } else if (task == "check") {
        check_traffic(num_fish, options.quick ? 10 : 60);
    } else {
        draw_scale(options, num_fish);
    }
    MPI_Finalize();
    return 0;
}
