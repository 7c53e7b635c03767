// Rotations. All operations round the same way on every machine; see floating_point.h.

#include "shoal/base/detail/floating_point.h"
#include "shoal/base/math.h"

#include <cmath>

namespace shoal {
namespace {

struct Wide {
    double x, y, z;
};

Wide widen(Vec3 v) { return {v.x, v.y, v.z}; }
double dot(Wide a, Wide b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
Wide cross(Wide a, Wide b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
Wide scaled(Wide a, double by) { return {a.x * by, a.y * by, a.z * by}; }
bool has_direction(Wide a) { return dot(a, a) > 0 && std::isfinite(dot(a, a)); }
Wide unit(Wide a) { return scaled(a, 1 / std::sqrt(dot(a, a))); }

Quaternion narrowed(double x, double y, double z, double w) {
    const double square = x * x + y * y + z * z + w * w;
    if (!(square > 0) || !std::isfinite(square)) return {};
    const double scale = 1 / std::sqrt(square);
    return {static_cast<float>(x * scale), static_cast<float>(y * scale), static_cast<float>(z * scale),
            static_cast<float>(w * scale)};
}

/// Returns the angle, from 0 to a quarter turn, that has this cosine and sine.
/// Source: Abramowitz and Stegun, 4.4.45, accurate to 7e-5; the sine then corrects the remaining error.
double angle_of(double cosine, double sine) {
    const double near =
        std::sqrt(1 - cosine) * (1.5707288 + cosine * (-0.2121144 + cosine * (0.0742610 - cosine * 0.0187293)));
    const SineCosine at = sine_and_cosine(near);
    const double missing = sine * at.cosine - cosine * at.sine;
    return near + missing + missing * missing * missing / 6;
}

/// Returns an axis that is not nearly parallel to `a`.
Wide any_across(Wide a) {
    const double x = std::fabs(a.x), y = std::fabs(a.y), z = std::fabs(a.z);
    if (x <= y && x <= z) return {1, 0, 0};
    return y <= z ? Wide{0, 1, 0} : Wide{0, 0, 1};
}

}  // namespace

Quaternion operator*(Quaternion a, Quaternion b) {
    return {a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y, a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
            a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w, a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z};
}

Quaternion normalized(Quaternion q) { return narrowed(q.x, q.y, q.z, q.w); }

Vec3 rotated(Quaternion q, Vec3 v) {
    const Vec3 axis = {q.x, q.y, q.z}, twice = 2 * cross(axis, v);
    return v + q.w * twice + cross(axis, twice);
}

Quaternion rotation_about(Vec3 axis, double radians) {
    const Wide along = widen(axis);
    if (!has_direction(along)) return {};
    const SineCosine half = sine_and_cosine(radians / 2);
    const Wide turned = scaled(unit(along), half.sine);
    return narrowed(turned.x, turned.y, turned.z, half.cosine);
}

Quaternion look_rotation(Vec3 forward, Vec3 up) {
    if (!has_direction(widen(forward))) return {};
    const Wide z = unit(widen(forward));
    Wide x = cross(widen(up), z);
    // If `up` is parallel to the forward direction, use another direction instead.
    if (!(dot(x, x) > 1e-12 * dot(widen(up), widen(up))) || !has_direction(x)) x = cross(any_across(z), z);
    x = unit(x);
    const Wide y = cross(z, x);
    // Divide by the largest of the quaternion's four components.
    const double squares[4] = {1 + x.x - y.y - z.z, 1 - x.x + y.y - z.z, 1 - x.x - y.y + z.z, 1 + x.x + y.y + z.z};
    int largest = 3;
    for (int i = 0; i < 3; ++i) largest = squares[i] > squares[largest] ? i : largest;
    if (largest == 0) return narrowed(squares[0], y.x + x.y, z.x + x.z, y.z - z.y);
    if (largest == 1) return narrowed(y.x + x.y, squares[1], z.y + y.z, z.x - x.z);
    if (largest == 2) return narrowed(z.x + x.z, z.y + y.z, squares[2], x.y - y.x);
    return narrowed(y.z - z.y, z.x - x.z, x.y - y.x, squares[3]);
}

Quaternion slerp(Quaternion a, Quaternion b, float t) {
    const double along = double(a.x) * b.x + double(a.y) * b.y + double(a.z) * b.z + double(a.w) * b.w;
    const double cosine = std::fabs(along) < 1 ? std::fabs(along) : 1;
    const double sine = std::sqrt(1 - cosine * cosine), part = t;
    double of_a = 1 - part, of_b = part;
    if (sine > 1e-4) {  // for smaller angles, linear interpolation is accurate enough
        const double angle = angle_of(cosine, sine);
        of_a = sine_and_cosine(of_a * angle).sine;
        of_b = sine_and_cosine(of_b * angle).sine;
    }
    if (along < 0) of_b = -of_b;
    return narrowed(a.x * of_a + b.x * of_b, a.y * of_a + b.y * of_b, a.z * of_a + b.z * of_b, a.w * of_a + b.w * of_b);
}

}  // namespace shoal
