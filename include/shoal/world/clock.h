#pragma once
// A fixed-step clock: real time goes in, a whole number of steps of one length comes out.
//
//     FixedStep clock(1.0 / 60, 4);
//     for (auto n = clock.advance(seconds_since_last_time); n > 0; --n) world.step(clock.step_s());
//     draw(clock.fraction());      // how far real time is on the way to the next step
//
// A step that takes longer than it simulates must not ask for more and more of them: no more than `most_steps` are
// asked for at once, and the time beyond is dropped and counted.
// Thread: one at a time.

#include "shoal/base/config.h"

#include <cstdint>

namespace shoal {

class FixedStep {
public:
    /// Units: seconds, kept in whole nanoseconds. Requires: a step of at least a nanosecond; at least one step at once.
    SHOAL_API explicit FixedStep(double step_s, std::uint32_t most_steps = 4);

    /// Adds real time and returns the steps that are due. Time that runs backwards, or is no number, counts as none.
    SHOAL_API std::uint32_t advance(double real_s);

    float step_s() const { return static_cast<float>(static_cast<double>(step_ns_) * 1e-9); }
    /// Real time since the last step that was asked for, in steps. Between 0 and 1, below 1.
    double fraction() const { return static_cast<double>(waiting_ns_) / static_cast<double>(step_ns_); }

    /// Steps asked for so far.
    std::uint64_t num_steps() const { return num_steps_; }
    /// Steps that were due but never asked for, and their time.
    std::uint64_t num_dropped_steps() const { return num_dropped_steps_; }
    double dropped_s() const { return static_cast<double>(num_dropped_steps_) * static_cast<double>(step_ns_) * 1e-9; }

private:
    std::int64_t step_ns_;
    std::int64_t waiting_ns_ = 0;  // below step_ns_
    std::uint32_t most_steps_;
    std::uint64_t num_steps_ = 0;
    std::uint64_t num_dropped_steps_ = 0;
};

}  // namespace shoal
