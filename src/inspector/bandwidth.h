#pragma once
// The memory bandwidth of this machine, with which passes are compared.

namespace shoal::inspect {

/// Returns the gigabytes per second that all cores together can read; 0 until this has been measured. Thread: any.
double bandwidth_gb_per_s();
/// The first call measures the bandwidth, as the best of a few short attempts on large arrays. Cost: about 50 ms, so
/// the world's thread must not call this. Thread: any; concurrent calls wait.
void measure_bandwidth();

}  // namespace shoal::inspect
