#pragma once
// How often a pass runs: in every frame, in every nth frame, or once per interval of time.
//
//     every 3 frames       x . . x . . x . .        x: the pass runs, and its dt is the sum since the previous x
//     every 0.5 s          . x . x . . x . x        frames of 0.2 s; they reach 0.4, 1.0, ...
//
// Thread: one thread at a time.

#include <cstdint>

namespace shoal {

class PassInterval {
public:
    /// Requires: num_frames > 0.
    void set_frames(std::uint32_t num_frames);
    /// Units: seconds. Requires: `seconds` is finite and positive.
    void set_seconds(float seconds);

    /// Counts a frame of `frame_dt` seconds. Returns whether the pass runs in that frame.
    bool count_frame(float frame_dt);
    /// Records that the pass did not run in the last counted frame. The pass runs in the next frame, with a dt that
    /// includes both frames.
    void postpone();
    /// Returns the dt of the run in the last counted frame: the time since the previous run.
    float dt() const { return dt_; }

    /// The counters, in the form in which they are saved.
    struct Progress {
        double passed_s, since_run_s;
        float dt;
        std::uint32_t frames_left;
    };
    Progress progress() const { return {passed_s_, since_run_s_, dt_, frames_left_}; }
    void set_progress(const Progress& saved);

    std::uint32_t frames() const { return frames_; }
    float seconds() const { return seconds_; }

private:
    bool is_due(float frame_dt);
    bool reaches_multiple(float frame_dt);

    std::uint32_t frames_ = 1;
    std::uint32_t frames_left_ = 0;  // frames until the pass runs
    float seconds_ = 0;              // 0: frames_ decides
    float dt_ = 0;
    double passed_s_ = 0;     // time since the last multiple of seconds_
    double since_run_s_ = 0;  // time since the pass last ran
};

}  // namespace shoal
