#pragma once
// A clock for measuring durations.
// Thread: any thread.

#include "shoal/base/config.h"

#include <cstdint>

namespace shoal {

/// Returns the nanoseconds of a clock that never goes back. Only the difference between two readings means anything.
SHOAL_API std::int64_t monotonic_ns();

}  // namespace shoal
