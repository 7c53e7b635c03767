#include "harness.h"
#include "shoal/base/file.h"
#include "workloads.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

using namespace shoal_bench;

constexpr const char* kUsage =
    "usage: shoal_bench [--filter REGEX] [--quick] [--json FILE] [--chart FILE.svg]\n"
    "                   [--table FILE.md] [--from FILE.json]\n"
    "  --filter REGEX    only the workloads whose name matches, such as '^ids/'\n"
    "  --quick           up to 100,000 entities and few rounds: to see that it runs, not how fast\n"
    "  --json FILE       write the results\n"
    "  --chart FILE.svg  draw them\n"
    "  --table FILE.md   write them as a table\n"
    "  --from FILE.json  print and draw the results of another run instead of measuring\n";

std::vector<Measurement> measure(const Options& options) {
    Bench bench(options);
    measure_ids(bench);
    measure_tables(bench);
    measure_managers(bench);
    measure_databases(bench);
    measure_transforms(bench);
    measure_spawning(bench);
    measure_reloading(bench);
    measure_saving(bench);
    measure_compiling(bench);
    measure_jobs(bench);
    measure_commands(bench);
    measure_frames(bench);
    measure_events(bench);
    measure_inspector(bench);
    measure_scripts(bench);
    measure_sql(bench);
    measure_observers(bench);
    measure_database_queries(bench);
    measure_typed_databases(bench);
    measure_world_queries(bench);
    measure_memory(bench);
    measure_baselines(bench);
    measure_access(bench);
    measure_properties(bench);
    measure_plugins(bench);
    measure_clusters(bench);
    measure_build_time(bench);
    if (bench.results().empty()) fail("no workload matches the filter");
    return {bench.results().begin(), bench.results().end()};
}

}  // namespace

int main(int num_arguments, char** arguments) {
    const Options options = read_options("shoal_bench", kUsage, {arguments + 1, arguments + num_arguments});
    print_heading();
    std::vector<Measurement> results;
    if (options.from_path.empty()) {
        results = measure(options);
    } else {
        results = read_results(options.from_path);
        for (const Measurement& result : results) print_result(result);
    }
    if (!options.json_path.empty()) need_ok(shoal::write_file(options.json_path, to_json(results)));
    if (!options.table_path.empty()) need_ok(shoal::write_file(options.table_path, draw_table(results)));
    if (!options.chart_path.empty()) need_ok(shoal::write_file(options.chart_path, draw_chart(results)));
    return 0;
}
