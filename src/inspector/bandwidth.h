#pragma once
// The memory bandwidth of this machine, as a reference for passes.

namespace shoal::inspect {

/// Returns how many gigabytes per second all cores read together; 0 until it has been measured. Thread: any.
double bandwidth_gb_per_s();
/// Measures the bandwidth on the first call: the best of a few short attempts on large arrays. Cost: about 50 ms, so
/// the world's thread must not call this. Thread: any; concurrent calls wait.
void measure_bandwidth();

}  // namespace shoal::inspect
