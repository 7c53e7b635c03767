// Passes that run every n frames or every t seconds: in which frames they run, and what their dt is.

#include "world/pass_interval.h"

#include "shoal/world/schedule.h"

#include "support/testing.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace shoal;

/// A schedule with a pass that records its runs.
struct Recorded {
    Recorded() {
        schedule.open_group("group");
        schedule.add("pass", [this](PassContext& context) { dts.push_back(context.dt); });
    }
    explicit Recorded(std::uint32_t every_frames) {
        schedule.add("pass", [this](PassContext& context) { dts.push_back(context.dt); }).every_frames(every_frames);
    }
    explicit Recorded(float every_seconds) {
        schedule.add("pass", [this](PassContext& context) { dts.push_back(context.dt); }).every_seconds(every_seconds);
    }

    /// Runs a frame, and returns whether the pass ran in it.
    bool run(float dt) {
        const std::size_t before = dts.size();
        schedule.run(executor, dt, frame++);
        EXPECT_LE(dts.size(), before + 1);
        return dts.size() != before;
    }
    /// Runs frames. Returns an x for each in which the pass ran, and a point for each other.
    std::string run(const std::vector<float>& frames) {
        std::string text;
        for (const float dt : frames) text += run(dt) ? 'x' : '.';
        return text;
    }
    std::string run(std::size_t num_frames, float dt) { return run(std::vector<float>(num_frames, dt)); }

    Schedule schedule;
    SerialExecutor executor;
    std::uint64_t frame = 0;
    std::vector<float> dts;
};

TEST(ScheduleInterval, a_pass_every_three_frames_runs_in_the_first_and_in_each_third_after_it) {
    Recorded pass(3u);
    EXPECT_EQ(pass.run(10, 0.5f), "x..x..x..x");
}

TEST(ScheduleInterval, the_dt_of_a_pass_is_the_time_since_it_ran_last) {
    Recorded frames(3u);
    frames.run({1, 2, 4, 8, 16, 32, 64});
    EXPECT_EQ(frames.dts, (std::vector<float>{1, 2 + 4 + 8, 16 + 32 + 64}));
    Recorded seconds(2.0f);
    EXPECT_EQ(seconds.run({0.25f, 0.5f, 1.5f, 1, 1}), "..x.x");
    EXPECT_EQ(seconds.dts, (std::vector<float>{2.25f, 2}));
}

TEST(ScheduleInterval, every_frame_is_what_passes_do_anyway) {
    SCOPED_TRACE(shoal_test::seed_text());
    Random random(shoal_test::seed());
    Recorded plain, every_frame(1u);
    for (int frame = 0; frame < 1000; ++frame) {
        const float dt = random.unit();
        EXPECT_TRUE(plain.run(dt));
        EXPECT_TRUE(every_frame.run(dt));
        ASSERT_EQ(plain.dts.back(), dt);
        ASSERT_EQ(every_frame.dts.back(), dt);
    }
}

TEST(ScheduleInterval, a_pass_every_second_runs_in_the_frame_that_reaches_it) {
    Recorded pass(1.0f);
    EXPECT_EQ(pass.run(9, 0.25f), "...x...x.");
}

TEST(ScheduleInterval, what_is_beyond_the_time_counts_for_the_next_run) {
    Recorded pass(1.0f);
    EXPECT_EQ(pass.run(8, 0.375f), "..x..x.x") << "1.125, 2.25 and 3 seconds";
    Recorded often(0.25f);
    const std::string runs = often.run(4000, 0.1875f);
    EXPECT_EQ(std::count(runs.begin(), runs.end(), 'x'), 3000) << "in 750 seconds";
}

TEST(ScheduleInterval, a_long_frame_runs_a_pass_once) {
    Recorded pass(0.5f);
    EXPECT_EQ(pass.run({0.25f, 10, 0.25f, 0.25f, 0.25f}), ".xx.x") << "10.25, 10.5 and 11 seconds";
    EXPECT_EQ(pass.dts, (std::vector<float>{10.25f, 0.25f, 0.5f}));
}

TEST(ScheduleInterval, rounded_frames_reach_a_time_that_is_their_multiple) {
    EXPECT_EQ(Recorded(0.3f).run(12, 0.1f), "..x..x..x..x");
    Recorded pass(1.0f);
    EXPECT_EQ(pass.run(150, 0.02f),
              std::string(49, '.') + 'x' + std::string(49, '.') + 'x' + std::string(49, '.') + 'x');
}

TEST(ScheduleInterval, of_many_short_frames_none_comes_early) {
    Recorded pass(1.0f);
    const std::string runs = pass.run(8192, 1.0f / 4096);
    EXPECT_EQ(runs.find('x'), 4095u);
    EXPECT_EQ(runs.find('x', 4096), 8191u);
}

TEST(ScheduleInterval, a_very_long_frame_does_not_hold_up_the_next_runs) {
    Recorded pass(0.5f);
    EXPECT_TRUE(pass.run(1e6f));
    EXPECT_EQ(pass.run(4, 0.25f), ".x.x");
}

TEST(ScheduleInterval, a_frame_whose_dt_is_not_finite_does_not_count) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    Recorded pass(1.0f);
    EXPECT_EQ(pass.run({0.5f, kInfinity, NAN, -kInfinity, 0.5f, 0.5f, 0.5f}), "....x.x");
    EXPECT_EQ(pass.dts, (std::vector<float>{1, 1})) << "nor for the time since the last run";
}

TEST(ScheduleInterval, frames_in_which_a_pass_is_disabled_do_not_count) {
    for (const bool by_group : {false, true}) {
        Recorded frames, seconds;
        frames.schedule.add("counted", [&](PassContext& c) { frames.dts.push_back(c.dt); }).every_frames(4);
        seconds.schedule.add("counted", [&](PassContext& c) { seconds.dts.push_back(c.dt); }).every_seconds(1);
        for (Recorded* passes : {&frames, &seconds}) {
            Schedule& schedule = passes->schedule;
            ASSERT_TRUE(schedule.remove("pass"));
            const auto enable = [&](bool on) {
                ASSERT_TRUE(by_group ? schedule.enable_group("group", on) : schedule.enable("counted", on));
            };
            enable(false);
            EXPECT_EQ(passes->run(3, 16), "...");
            enable(true);
            EXPECT_EQ(passes->run(3, 0.25f), passes == &frames ? "x.." : "...");
            enable(false);
            EXPECT_EQ(passes->run(5, 16), ".....");
            enable(true);
            EXPECT_EQ(passes->run(6, 0.25f), passes == &frames ? ".x...x" : "x...x.");
        }
        EXPECT_EQ(frames.dts, (std::vector<float>{0.25f, 1, 1}));
        EXPECT_EQ(seconds.dts, (std::vector<float>{1, 1}));
    }
}

TEST(ScheduleInterval, a_pass_that_a_failure_kept_from_running_runs_in_the_next_frame_with_the_time_of_all) {
    Schedule schedule;
    SerialExecutor executor;
    bool fails = false;
    std::vector<float> frames, seconds;
    schedule.add("breaks", [&](PassContext&) {
        if (fails) throw std::runtime_error("boom");
    });
    schedule.add("frames", [&](PassContext& context) { frames.push_back(context.dt); }).every_frames(2);
    schedule.add("seconds", [&](PassContext& context) { seconds.push_back(context.dt); }).every_seconds(5);
    schedule.run(executor, 1, 0);
    schedule.run(executor, 2, 1);
    fails = true;
    EXPECT_THROW(schedule.run(executor, 4, 2), std::exception);
    fails = false;
    EXPECT_EQ(frames, std::vector<float>{1});
    EXPECT_EQ(seconds, std::vector<float>());
    schedule.run(executor, 8, 3);
    EXPECT_EQ(frames, (std::vector<float>{1, 2 + 4 + 8}));
    EXPECT_EQ(seconds, std::vector<float>{1 + 2 + 4 + 8});
}

TEST(ScheduleInterval, no_time_is_lost_when_the_interval_changes) {
    Recorded passes;
    PassOrder pass = passes.schedule.add("changed", [&](PassContext& c) { passes.dts.push_back(c.dt); });
    ASSERT_TRUE(passes.schedule.remove("pass"));
    pass.every_seconds(100).every_frames(4);
    EXPECT_EQ(passes.run(7, 0.5f), "x...x..") << "the last call counts";
    pass.every_frames(2);
    EXPECT_EQ(passes.run(3, 0.5f), "x.x");
    pass.every_frames(3).every_seconds(1);
    EXPECT_EQ(passes.run(4, 0.5f), ".x.x");
    EXPECT_EQ(passes.dts, (std::vector<float>{0.5f, 2, 1.5f, 1, 1, 1}));
    EXPECT_EQ(passes.run(1, 0.5f), ".");
    pass.every_seconds(1);
    EXPECT_EQ(passes.run(3, 0.5f), ".x.") << "the time until the next run begins anew";
}

/// What a pass does, from the frames in which it was on, without carrying anything from frame to frame.
struct NaiveInterval {
    /// Returns whether the pass runs in the last frame of `times`.
    bool runs() const {
        if (seconds == 0) return (times.size() - 1) % frames == 0;
        const double now = sum(0), before = now - times.back();
        return std::floor(now / seconds) > std::floor(before / seconds);
    }
    double sum(std::size_t first) const {
        double result = 0;
        for (std::size_t i = first; i < times.size(); ++i) result += times[i];
        return result;
    }

    std::uint32_t frames = 1;
    double seconds = 0;
    std::vector<double> times;  // dt of the frames in which the pass was on
    std::size_t first = 0;      // of the frames since the last run
};

TEST(ScheduleInterval, random_frames_and_enabled_passes_agree_with_a_naive_model) {
    SCOPED_TRACE(shoal_test::seed_text());
    Random random(shoal_test::seed());
    const auto num_passes = shoal_test::scaled_operations(200);
    for (std::int64_t i = 0; i < num_passes; ++i) {
        NaiveInterval model;
        Recorded recorded;
        ASSERT_TRUE(recorded.schedule.remove("pass"));
        PassOrder pass = recorded.schedule.add("it", [&](PassContext& c) { recorded.dts.push_back(c.dt); });
        if (i % 2 == 0)
            pass.every_frames(model.frames = 1 + random.below(6));
        else
            pass.every_seconds(static_cast<float>(model.seconds = (1 + random.below(100)) / 64.0));
        bool pass_on = true, group_on = true;
        for (int frame = 0; frame < 200; ++frame) {
            pass_on ^= random.below(9) == 0;
            group_on ^= random.below(9) == 0;
            EXPECT_TRUE(recorded.schedule.enable("it", pass_on));
            EXPECT_TRUE(recorded.schedule.enable_group("group", group_on));
            // 64ths of a second have exact sums.
            const double dt = random.below(random.below(20) == 0 ? 300 : 20) / 64.0;
            const bool is_on = pass_on && group_on;
            if (is_on) model.times.push_back(dt);
            const bool runs = is_on && model.runs();
            ASSERT_EQ(recorded.run(static_cast<float>(dt)), runs) << "frame " << frame << " of pass " << i;
            if (!runs) continue;
            ASSERT_EQ(recorded.dts.back(), model.sum(model.first));
            model.first = model.times.size();
        }
    }
}

TEST(PassInterval, goes_on_from_saved_progress_whatever_that_says) {
    const auto due = [](PassInterval& interval, int num_frames, float dt = 1) {
        std::string frames;
        for (int i = 0; i < num_frames; ++i) frames += interval.count_frame(dt) ? 'x' : '.';
        return frames;
    };
    PassInterval saved, other;
    saved.set_frames(3), other.set_frames(3);
    EXPECT_EQ(due(saved, 4), "x..x");
    EXPECT_EQ(saved.dt(), 3);
    other.set_progress(saved.progress());
    EXPECT_EQ(other.dt(), 3);
    EXPECT_EQ(due(other, 5), due(saved, 5));
    EXPECT_EQ(other.dt(), saved.dt());
    other.set_progress({0, 0, 0, 100});
    EXPECT_EQ(due(other, 4), "..x.") << "at most as many as there are between two runs";
    constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();
    PassInterval timed;
    timed.set_seconds(1);
    EXPECT_EQ(due(timed, 6, 0.4f), "..x.x.");
    timed.set_progress({kNoNumber, kNoNumber, 0, 0});
    EXPECT_EQ(due(timed, 3, 0.5f), ".x.");
    EXPECT_EQ(timed.dt(), 1);
    timed.set_progress({0.75, 2, 0, 0});
    EXPECT_EQ(due(timed, 4, 0.25f), "x...");
    EXPECT_EQ(timed.dt(), 2.25f);
    timed.set_frames(2);
    EXPECT_EQ(due(timed, 3, 0.25f), "x.x") << "frames count now, and seconds do not";
    timed.postpone();
    EXPECT_EQ(due(timed, 3, 0.25f), "x.x");
    timed.set_seconds(0.5f);
    EXPECT_EQ(due(timed, 4, 0.25f), ".x.x");
    timed.postpone();
    EXPECT_EQ(due(timed, 1, 0.25f), "x");
    EXPECT_EQ(timed.dt(), 0.75f) << "the time of the run that was postponed, too";
}

TEST(ScheduleInterval, a_pass_that_is_not_due_keeps_the_others_in_order) {
    ThreadedExecutor threads(2);
    Schedule schedule;
    int shared = 0;
    std::atomic<int> num_first{0}, num_last{0};
    schedule
        .add("last", {reads(shared)},
             [&](PassContext& pass) {
                 EXPECT_EQ(num_first, int(pass.frame) + 1);
                 ++num_last;
             })
        .after("middle");
    schedule.add("middle", {reads(shared)}, [](PassContext&) {}).after("first").every_frames(1000);
    schedule.add("first", {reads(shared)}, [&](PassContext&) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        ++num_first;
    });
    for (std::uint64_t frame = 0; frame < 10; ++frame) schedule.run(threads, 0, frame);
    EXPECT_EQ(num_last, 10);
    EXPECT_EQ(schedule.statistics(1).num_runs, 1u);
}

TEST(ScheduleInterval, statistics_tell_how_often_a_pass_runs) {
    Schedule schedule;
    schedule.add("always", [](PassContext&) {});
    schedule.add("frames", [](PassContext&) {}).every_frames(4);
    schedule.add("seconds", [](PassContext&) {}).every_seconds(0.5f);
    schedule.add("seconds after frames", [](PassContext&) {}).every_frames(4).every_seconds(2);
    schedule.add("frames after seconds", [](PassContext&) {}).every_seconds(2).every_frames(4);
    const auto told = [&](std::size_t pass) {
        const PassStatistics statistics = schedule.statistics(pass);
        EXPECT_TRUE(statistics.enabled);
        return std::pair(statistics.every_frames, statistics.every_seconds);
    };
    EXPECT_EQ(told(0), std::pair(1u, 0.0f));
    EXPECT_EQ(told(1), std::pair(4u, 0.0f));
    EXPECT_EQ(told(2), std::pair(1u, 0.5f));
    EXPECT_EQ(told(3), std::pair(1u, 2.0f));
    EXPECT_EQ(told(4), std::pair(4u, 0.0f));
}

TEST(ScheduleIntervalDeathTest, an_interval_that_means_nothing_is_a_bug) {
    Schedule schedule;
    PassOrder pass = schedule.add("pass", [](PassContext&) {});
    EXPECT_DEATH(pass.every_frames(0), "a pass cannot run every 0 frames; every_frames\\(\\) takes 1 or more");
    for (const float seconds : {0.0f, -1.0f, NAN, std::numeric_limits<float>::infinity()})
        EXPECT_DEATH(pass.every_seconds(seconds), "the seconds between two runs of a pass are above 0 and finite");
}

TEST(ScheduleIntervalDeathTest, a_pass_may_not_change_how_often_passes_run) {
    Schedule schedule;
    SerialExecutor executor;
    std::unique_ptr<PassOrder> pass;
    bool by_frames = true;
    pass = std::make_unique<PassOrder>(schedule.add(
        "pass", [&](PassContext&) { static_cast<void>(by_frames ? pass->every_frames(2) : pass->every_seconds(2)); }));
    EXPECT_DEATH(schedule.run(executor, 0, 0), "a pass changed or ran its own schedule");
    by_frames = false;
    EXPECT_DEATH(schedule.run(executor, 0, 0), "a pass changed or ran its own schedule");
}

}  // namespace
