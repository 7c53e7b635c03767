#pragma once
// Divides the sea among several processes, which may run on several machines. Each process owns some of the tiles.
//
//     reef --ranks 4     starts itself four times with mpirun; the first prints the results of all
//
// Thread: the structural thread of the world.

#include "report.h"

#include <string>

namespace reef {

/// Replaces this process with mpirun, which starts this program `num_ranks` times on this machine.
/// Returns only on failure. Shape: `words` holds the program's arguments and then nullptr. Errors: mpirun cannot be
/// started.
shoal::Status run_by_mpirun(std::uint64_t num_ranks, char** words);
/// Restarts the program with mpirun, unless mpirun started it. Errors: this build has no MPI; mpirun is missing.
shoal::Status start_ranks(const Options& options, char** words);
/// Runs a process that start_ranks() started: opens the sea, runs its frames and prints the results.
/// Errors: the sea or the cluster fails.
shoal::Status live_in_ranks(Run& run, shoal::Diagnostics& diagnostics);

}  // namespace reef
