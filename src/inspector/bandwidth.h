#pragma once
// How fast this machine reads memory, to compare passes with.

namespace shoal::inspect {

/// Returns how many gigabytes all cores read in a second, together; 0 until it was measured. Thread: any.
double bandwidth_gb_per_s();
/// Measures it, the first time that it is called: the best of a few short attempts on large arrays. Cost: some 50 ms, so the
/// world's thread does not call it. Thread: any; others wait.
void measure_bandwidth();

}  // namespace shoal::inspect
