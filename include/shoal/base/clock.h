#pragma once
// The clock to measure durations with.
// Thread: any thread.

#include "shoal/base/config.h"

#include <cstdint>

namespace shoal {

/// Returns the nanoseconds of a clock that never goes back. Only the difference of two readings has a meaning.
SHOAL_API std::int64_t monotonic_ns();

}  // namespace shoal
