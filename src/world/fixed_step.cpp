// Counts the steps of a fixed-step clock.

#include "shoal/world/fixed_step.h"

#include "shoal/base/assert.h"

#include <algorithm>
#include <cmath>

namespace shoal {
namespace {

constexpr double kLongest_s = 1e9;  // about 30 years, so that the time in nanoseconds fits into 64 bits

std::int64_t to_ns(double seconds) {
    if (!(seconds > 0)) return 0;
    return static_cast<std::int64_t>(std::llround(std::min(seconds, kLongest_s) * 1e9));
}

}  // namespace

FixedStep::FixedStep(double step_s, std::uint32_t max_steps) : step_ns_(to_ns(step_s)), max_steps_(max_steps) {
    SHOAL_ASSERT(step_ns_ > 0, "a step takes at least a nanosecond");
    SHOAL_ASSERT(max_steps > 0, "max_steps is at least 1; a clock that asks for no steps stands still");
}

std::uint32_t FixedStep::advance(double real_s) {
    waiting_ns_ += to_ns(real_s);
    const std::int64_t num_due = waiting_ns_ / step_ns_;
    waiting_ns_ -= num_due * step_ns_;
    const auto num_steps = static_cast<std::uint32_t>(std::min<std::int64_t>(num_due, max_steps_));
    num_steps_ += num_steps;
    num_dropped_steps_ += static_cast<std::uint64_t>(num_due) - num_steps;
    return num_steps;
}

}  // namespace shoal
