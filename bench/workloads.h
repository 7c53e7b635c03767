#pragma once
// The groups of workloads. Each group has its own source file. Every workload has a reference.

#include "harness.h"

#include <initializer_list>

namespace shoal_bench {

/// The numbers of entities of most workloads, and the time of a frame. Units: seconds.
inline constexpr std::initializer_list<std::size_t> kSizes = {10'000, 100'000, 1'000'000};
inline constexpr float kDt = 1.0f / 64;
/// How many look-ups ahead the reference loops prefetch.
inline constexpr std::size_t kAhead = 48;

void measure_ids(Bench& bench);
void measure_tables(Bench& bench);
void measure_managers(Bench& bench);
void measure_databases(Bench& bench);
void measure_transforms(Bench& bench);
void measure_spawning(Bench& bench);
void measure_reloading(Bench& bench);
void measure_compiling(Bench& bench);
void measure_jobs(Bench& bench);
void measure_commands(Bench& bench);
void measure_events(Bench& bench);
void measure_inspector(Bench& bench);
void measure_scripts(Bench& bench);
void measure_sql(Bench& bench);
void measure_frames(Bench& bench);
void measure_observers(Bench& bench);
void measure_saving(Bench& bench);
void measure_database_queries(Bench& bench);
void measure_typed_databases(Bench& bench);
void measure_world_queries(Bench& bench);
void measure_memory(Bench& bench);
void measure_baselines(Bench& bench);
void measure_access(Bench& bench);
void measure_properties(Bench& bench);
void measure_plugins(Bench& bench);
void measure_clusters(Bench& bench);
void measure_build_time(Bench& bench);

}  // namespace shoal_bench
