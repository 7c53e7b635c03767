#pragma once
// The clock that durations are measured with.
// Thread: any thread.

#include "shoal/base/config.h"

#include <cstdint>

namespace shoal {

/// Returns the nanoseconds of a clock that never goes back. Only differences mean something.
SHOAL_API std::int64_t monotonic_ns();

}  // namespace shoal
