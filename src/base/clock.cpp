#include "shoal/base/clock.h"

#include "base/os.h"

namespace shoal {

std::int64_t monotonic_ns() { return os::monotonic_ns(); }

}  // namespace shoal
