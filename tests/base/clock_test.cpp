#include "shoal/base/clock.h"

#include <gtest/gtest.h>

#include <unistd.h>

namespace shoal {
namespace {

TEST(Clock, never_goes_back_and_runs_in_nanoseconds) {
    const std::int64_t begin = monotonic_ns();
    std::int64_t last = begin;
    ::usleep(2000);
    for (int i = 0; i < 1000; ++i) {
        const std::int64_t now = monotonic_ns();
        ASSERT_GE(now, last);
        last = now;
    }
    EXPECT_GE(last - begin, 2'000'000);
}

}  // namespace
}  // namespace shoal
