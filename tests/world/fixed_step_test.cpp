// A fixed-step clock: how many steps are due, and which are dropped.

#include "shoal/world/fixed_step.h"

#include "support/testing.h"

#include <cmath>
#include <limits>

namespace {

using namespace shoal;

TEST(FixedStep, gives_the_number_of_steps_that_fit_into_real_time) {
    FixedStep clock(0.01, 10);
    EXPECT_EQ(clock.advance(0.005), 0u);
    EXPECT_DOUBLE_EQ(clock.fraction(), 0.5);
    EXPECT_EQ(clock.advance(0.005), 1u);
    EXPECT_DOUBLE_EQ(clock.fraction(), 0);
    EXPECT_EQ(clock.advance(0.0375), 3u);
    EXPECT_DOUBLE_EQ(clock.fraction(), 0.75);
    EXPECT_EQ(clock.num_steps(), 4u);
    EXPECT_FLOAT_EQ(clock.step_s(), 0.01f);
}

TEST(FixedStep, time_beyond_the_limit_is_dropped_and_counted) {
    FixedStep clock(0.1, 3);
    EXPECT_EQ(clock.advance(1.05), 3u);
    EXPECT_EQ(clock.num_dropped_steps(), 7u);
    EXPECT_DOUBLE_EQ(clock.dropped_s(), 0.7);
    EXPECT_DOUBLE_EQ(clock.fraction(), 0.5) << "less than a step is kept";
    EXPECT_EQ(clock.advance(0.05), 1u) << "dropped steps do not come back";
}

TEST(FixedStep, no_time_is_lost_or_made_up) {
    SCOPED_TRACE(shoal_test::seed_text());
    Random random(shoal_test::seed());
    FixedStep clock(1.0 / 60, 5);
    std::int64_t given_ns = 0;
    for (std::int64_t i = 0; i < shoal_test::scaled_operations(100'000); ++i) {
        const std::int64_t ns = random.below(200) == 0 ? random.below(2'000'000'000) : random.below(40'000'000);
        given_ns += ns;
        ASSERT_LE(clock.advance(double(ns) * 1e-9), 5u);
        ASSERT_GE(clock.fraction(), 0);
        ASSERT_LT(clock.fraction(), 1);
    }
    const std::uint64_t num_due = clock.num_steps() + clock.num_dropped_steps();
    EXPECT_EQ(num_due, std::uint64_t(given_ns / 16'666'667));
    EXPECT_GT(clock.num_dropped_steps(), 0u);
}

TEST(FixedStep, times_are_rounded_to_the_nearest_nanosecond) {
    FixedStep clock(2.0 / 3 * 1e-8, 1000);  // 6.67 nanoseconds, which are 7
    EXPECT_EQ(clock.advance(7e-9), 1u);
    EXPECT_EQ(clock.advance(6.6e-9), 1u);
    EXPECT_EQ(clock.advance(6.4e-9), 0u);
    EXPECT_EQ(clock.fraction(), 6.0 / 7);
}

TEST(FixedStep, negative_times_and_nan_count_as_zero) {
    FixedStep clock(0.1);
    for (const double none : {-1.0, 0.0, std::nan(""), -std::numeric_limits<double>::infinity()})
        EXPECT_EQ(clock.advance(none), 0u);
    EXPECT_EQ(clock.fraction(), 0);
    EXPECT_EQ(clock.advance(std::numeric_limits<double>::infinity()), 4u);
    EXPECT_GT(clock.num_dropped_steps(), 1'000'000u);
    EXPECT_LT(clock.fraction(), 1);
}

TEST(FixedStepDeathTest, a_step_without_length_is_a_bug) {
    EXPECT_DEATH(FixedStep(0.0), "at least a nanosecond");
    EXPECT_DEATH(FixedStep(1.0, 0), "stands still");
}

}  // namespace
