#include "shoal/base/clock.h"

#include "base/os.h"

namespace shoal {

std::int64_t monotonic_ns() { return os::monotonic_ns(); }
std::int64_t wall_clock_ns() { return os::wall_clock_ns(); }

}  // namespace shoal
