// Decides in which frames a pass runs, by counting frames and adding up their dt.

#include "world/pass_interval.h"

#include "shoal/base/assert.h"

#include <algorithm>
#include <cmath>

namespace shoal {

void PassInterval::set_frames(std::uint32_t num_frames) {
    SHOAL_ASSERT(num_frames > 0, "a pass cannot run every 0 frames; every_frames() takes 1 or more");
    frames_ = num_frames;
    frames_left_ = 0;
    seconds_ = 0;
}

void PassInterval::set_seconds(float seconds) {
    SHOAL_ASSERT(seconds > 0 && std::isfinite(seconds),
                 "the seconds between two runs of a pass are above 0 and finite; a pass without every_seconds() runs "
                 "in every frame");
    seconds_ = seconds;
    passed_s_ = 0;
    frames_ = 1;
}

bool PassInterval::count_frame(float frame_dt) {
    if (seconds_ > 0 && !std::isfinite(frame_dt)) return false;  // an infinite sum would corrupt all later sums
    since_run_s_ += frame_dt;
    if (!is_due(frame_dt)) return false;
    dt_ = static_cast<float>(since_run_s_);
    since_run_s_ = 0;
    return true;
}

void PassInterval::postpone() {
    since_run_s_ = static_cast<double>(dt_);
    frames_left_ = 0;
    if (seconds_ > 0) passed_s_ += static_cast<double>(seconds_);
}

void PassInterval::set_progress(const Progress& saved) {
    // Ignore times that are not finite, which would corrupt all later sums.
    passed_s_ = std::isfinite(saved.passed_s) ? saved.passed_s : 0;
    since_run_s_ = std::isfinite(saved.since_run_s) ? saved.since_run_s : 0;
    dt_ = saved.dt;
    frames_left_ = std::min(saved.frames_left, frames_ - 1);
}

bool PassInterval::is_due(float frame_dt) {
    if (seconds_ > 0) return reaches_multiple(frame_dt);
    if (frames_left_ > 0) return --frames_left_, false;
    frames_left_ = frames_ - 1;
    return true;
}

bool PassInterval::reaches_multiple(float frame_dt) {
    passed_s_ += frame_dt;
    // Allow for rounding, because 50 frames of 0.02f are a little less than a second.
    const double tolerance_s = static_cast<double>(std::min(frame_dt, seconds_)) * 1e-3;
    const double num_multiples = std::floor((passed_s_ + tolerance_s) / seconds_);
    if (!(num_multiples >= 1)) return false;
    passed_s_ -= num_multiples * seconds_;
    return true;
}

}  // namespace shoal
