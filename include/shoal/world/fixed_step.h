#pragma once
// A fixed-step clock converts real time into a whole number of steps of equal length.
//
//     FixedStep clock(1.0 / 60, 4);
//     for (auto n = clock.advance(elapsed_s); n > 0; --n) world.step(clock.step_s());
//     draw(clock.fraction());  // how much of the next step has passed in real time
//
// If a step takes longer than the time that it simulates, a program that runs every due step falls further and further
// behind. Therefore advance() returns at most `max_steps`, and counts the steps that it drops.
// Thread: one thread at a time.

#include "shoal/base/detail/config.h"

#include <cstdint>

namespace shoal {

class FixedStep {
public:
    /// Units: seconds, rounded to nanoseconds. Requires: `step_s` is at least a nanosecond; max_steps >= 1.
    SHOAL_API explicit FixedStep(double step_s, std::uint32_t max_steps = 4);

    /// Adds real time and returns the number of steps that are due. Negative times and NaN count as 0.
    SHOAL_API std::uint32_t advance(double real_s);

    float step_s() const { return static_cast<float>(static_cast<double>(step_ns_) * 1e-9); }
    /// Returns the real time since the last step, as a fraction of a step in [0, 1).
    double fraction() const { return static_cast<double>(waiting_ns_) / static_cast<double>(step_ns_); }

    /// Returns the total number of steps that advance() has returned.
    std::uint64_t num_steps() const { return num_steps_; }
    /// Return the number of dropped steps, and the total time that they would have simulated.
    std::uint64_t num_dropped_steps() const { return num_dropped_steps_; }
    double dropped_s() const { return static_cast<double>(num_dropped_steps_) * static_cast<double>(step_ns_) * 1e-9; }

private:
    std::int64_t step_ns_;
    std::int64_t waiting_ns_ = 0;  // below step_ns_
    std::uint32_t max_steps_;
    std::uint64_t num_steps_ = 0;
    std::uint64_t num_dropped_steps_ = 0;
};

}  // namespace shoal
