// Sines and cosines, and how a thread rounds.

#include "shoal/base/detail/floating_point.h"

#include "support/testing.h"

#include <cfenv>
#include <cmath>
#include <limits>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace {

using namespace shoal;
using shoal_test::scaled_operations;

/// How far sines and cosines are from those that are computed in more digits, at most.
long double worst_error(double largest) {
    Random random(shoal_test::seed());
    long double worst = 0;
    for (std::int64_t i = scaled_operations(50'000); i > 0; --i) {
        const double angle = (static_cast<double>(random.next() >> 11) * 0x1p-52 - 1) * largest;
        const auto [sine, cosine] = sine_and_cosine(angle);
        worst = std::fmax(worst, std::fabs(sine - std::sin(static_cast<long double>(angle))));
        worst = std::fmax(worst, std::fabs(cosine - std::cos(static_cast<long double>(angle))));
    }
    return worst;
}

TEST(SineAndCosine, are_right_to_the_last_digit) {
    EXPECT_LT(worst_error(0.8), 2e-16L);
    EXPECT_LT(worst_error(7), 2e-16L);
    EXPECT_LT(worst_error(1e6), 2e-16L);
}

TEST(SineAndCosine, of_large_angles_are_off_by_what_a_turn_is_rounded_by) {
    EXPECT_LT(worst_error(1e9), 1e9L * 4e-17L);
    EXPECT_LT(worst_error(1e12), 1e12L * 4e-17L);
}

TEST(SineAndCosine, have_these_bits_on_every_machine) {
    EXPECT_EQ(sine_and_cosine(1).sine, 0x1.aed548f090ceep-1);
    EXPECT_EQ(sine_and_cosine(1).cosine, 0x1.14a280fb5068cp-1);
    EXPECT_EQ(sine_and_cosine(-100).sine, 0x1.03425b78c4db8p-1);
    EXPECT_EQ(sine_and_cosine(5).cosine, 0x1.22785706b4ad9p-2);
    EXPECT_EQ(sine_and_cosine(11).cosine, 0x1.220ae41ee2fdfp-8);
    EXPECT_EQ(sine_and_cosine(0).sine, 0);
    EXPECT_EQ(sine_and_cosine(0).cosine, 1);
}

TEST(SineAndCosine, of_what_is_no_angle_are_no_numbers) {
    for (const double none : {std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
                              std::numeric_limits<double>::quiet_NaN()}) {
        EXPECT_TRUE(std::isnan(sine_and_cosine(none).sine));
        EXPECT_TRUE(std::isnan(sine_and_cosine(none).cosine));
    }
}

TEST(Rounding, of_a_thread_is_to_the_nearest_unless_it_was_told_otherwise) {
    EXPECT_TRUE(rounds_to_nearest());
    for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
        std::fesetround(mode);
        EXPECT_FALSE(rounds_to_nearest()) << mode;
    }
    std::fesetround(FE_TONEAREST);
    EXPECT_TRUE(rounds_to_nearest());
}

#if defined(__x86_64__)
TEST(Rounding, to_zero_of_what_is_close_to_it_is_noticed) {
    const unsigned before = _mm_getcsr();
    for (const unsigned flags : {0x8000u, 0x0040u}) {  // of results, and of operands
        _mm_setcsr(before | flags);
        EXPECT_FALSE(rounds_to_nearest()) << flags;
        _mm_setcsr(before);
    }
}
#endif

}  // namespace
