#pragma once
// The sea over several processes, which may be on several machines: each has some of the tiles.
//
//     reef --ranks 4     starts itself four times with mpirun; the first prints what all have done
//
// Thread: that of the world.

#include "report.h"

#include <string>

namespace reef {

/// Replaces this process with mpirun, which starts the same program `num_ranks` times on this machine.
/// Shape: words: its arguments, then nullptr. Returns only if that fails. Errors: mpirun cannot be started.
shoal::Status run_by_mpirun(std::uint64_t num_ranks, char** words);
/// Starts the program again with mpirun, unless that was done. Errors: there is no MPI in this build, or no mpirun.
shoal::Status start_ranks(const Options& options, char** words);
/// Runs what start_ranks() has started. `run_alone` runs frames as ever.
/// Errors: of the sea, and of the cluster.
shoal::Status live_in_ranks(Run& run, shoal::Diagnostics& diagnostics);

}  // namespace reef
