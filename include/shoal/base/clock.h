#pragma once
// A monotonic clock for durations, and a wall clock.
// Thread: any thread.

#include "shoal/base/detail/config.h"

#include <cstdint>

namespace shoal {

/// Returns the time in nanoseconds on a clock that never goes backwards. Only differences between readings are
/// meaningful.
SHOAL_API std::int64_t monotonic_ns();
/// Returns the nanoseconds since 1970 (UTC), comparable with file times. This clock may be set back.
SHOAL_API std::int64_t wall_clock_ns();

}  // namespace shoal
