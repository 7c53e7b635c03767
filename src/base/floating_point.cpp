#include "shoal/base/detail/floating_point.h"

#include <cmath>
#include <cstdint>

namespace shoal {
namespace {

constexpr double kQuartersPerRadian = 6.36619772367581382433e-01;
// A quarter turn, split into three parts. The first two have 33 bits each, so their products with counts below 2^20 are
// exact.
constexpr double kQuarterHigh = 1.57079632673412561417e+00;
constexpr double kQuarterMiddle = 6.07710050630396597660e-11;
constexpr double kQuarterLow = 2.02226624879595063154e-21;
constexpr double kMostExact = 1e6;  // radians: fewer than 2^20 quarter turns
constexpr double kTurn = 6.283185307179586476925;

/// The remainder of an angle after subtracting whole quarter turns: at most an eighth of a turn, as a sum of two
/// numbers.
struct Rest {
    double high, low;
    std::int64_t num_quarters;
};

Rest rest_of(double radians) {
    const double quarters = std::nearbyint(radians * kQuartersPerRadian);
    const double first = radians - quarters * kQuarterHigh;
    const double second = first - quarters * kQuarterMiddle;
    const double error = quarters * kQuarterLow - ((first - second) - quarters * kQuarterMiddle);
    const double high = second - error;
    return {high, (second - high) - error, static_cast<std::int64_t>(quarters)};
}

/// Returns the sine of an angle up to an eighth of a turn.
double sine_near_zero(double x, double low) {
    const double z = x * x, v = z * x;
    const double r =
        8.33333333332248946124e-03 +
        z * (-1.98412698298579493134e-04 +
             z * (2.75573137070700676789e-06 + z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)));
    return x - ((z * (0.5 * low - v * r) - low) - v * -1.66666666666666324348e-01);
}

double cosine_near_zero(double x, double low) {
    const double z = x * x, w = z * z;
    const double r =
        z * (4.16666666666666019037e-02 + z * (-1.38888888888741095749e-03 + z * 2.48015872894767294178e-05)) +
        w * w * (-2.75573143513906633035e-07 + z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11));
    const double half = 0.5 * z, rough = 1 - half;
    return rough + (((1 - rough) - half) + (z * r - x * low));
}

}  // namespace

SineCosine sine_and_cosine(double radians) {
    if (!(std::fabs(radians) <= kMostExact)) radians = std::fmod(radians, kTurn);
    if (!std::isfinite(radians)) return {radians, radians};
    const Rest rest = rest_of(radians);
    const double sine = sine_near_zero(rest.high, rest.low), cosine = cosine_near_zero(rest.high, rest.low);
    switch (rest.num_quarters & 3) {
        case 0:
            return {sine, cosine};
        case 1:
            return {cosine, -sine};
        case 2:
            return {-sine, -cosine};
        default:
            return {-cosine, sine};
    }
}

bool rounds_to_nearest() {
    // Volatile, so that the results are computed at run time and not by the compiler.
    const volatile float one = 1, least_normal = 0x1p-126f;
    const bool keeps_small = least_normal * 0.5f != 0;  // denormals are not flushed as results or as operands
    return keeps_small && one + 0x1.8p-24f == 1 + 0x1p-23f && one + 0x1p-25f == 1;
}

}  // namespace shoal
