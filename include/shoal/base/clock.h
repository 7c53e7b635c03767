#pragma once
// A clock for measuring durations, and one for times of day.
// Thread: any thread.

#include "shoal/base/detail/config.h"

#include <cstdint>

namespace shoal {

/// Returns the time in nanoseconds on a clock that never goes back. Only differences between readings are meaningful.
SHOAL_API std::int64_t monotonic_ns();
/// Returns the nanoseconds since 1970 (UTC), comparable with file times. This clock may be set back.
SHOAL_API std::int64_t wall_clock_ns();

}  // namespace shoal
