#pragma once
// The math types that fields use: plain structs of floats. An engine's own types with the same size and order can
// replace them (see FieldTraits in table/detail/field.h).
// Conventions: right-handed, metres, quaternions as [x y z w], matrices applied to column vectors.
// Thread: as for built-in types.

#include "shoal/base/detail/config.h"

namespace shoal {

struct Vec2 {
    float x = 0, y = 0;
    constexpr Vec2& operator+=(Vec2 b);
    constexpr Vec2& operator-=(Vec2 b);
    constexpr Vec2& operator*=(float s);
    constexpr Vec2& operator/=(float s);
    friend constexpr bool operator==(const Vec2&, const Vec2&) = default;
};

struct Vec3 {
    float x = 0, y = 0, z = 0;
    constexpr Vec3& operator+=(Vec3 b);
    constexpr Vec3& operator-=(Vec3 b);
    constexpr Vec3& operator*=(float s);
    constexpr Vec3& operator/=(float s);
    friend constexpr bool operator==(const Vec3&, const Vec3&) = default;
};

struct Vec4 {
    float x = 0, y = 0, z = 0, w = 0;
    constexpr Vec4& operator+=(Vec4 b);
    friend constexpr bool operator==(const Vec4&, const Vec4&) = default;
};

/// A rotation. The default is the identity.
struct Quaternion {
    float x = 0, y = 0, z = 0, w = 1;
    friend constexpr bool operator==(const Quaternion&, const Quaternion&) = default;
};

/// An affine map, three rows of four: row[i] = {m_i0, m_i1, m_i2, translation_i}. The default is the identity.
struct Matrix3x4 {
    Vec4 row[3] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
    friend constexpr bool operator==(const Matrix3x4&, const Matrix3x4&) = default;
};

constexpr Vec2 operator+(Vec2 a, Vec2 b) { return {a.x + b.x, a.y + b.y}; }
constexpr Vec2 operator-(Vec2 a, Vec2 b) { return {a.x - b.x, a.y - b.y}; }
constexpr Vec2 operator-(Vec2 a) { return {-a.x, -a.y}; }
constexpr Vec2 operator*(Vec2 a, float s) { return {a.x * s, a.y * s}; }
constexpr Vec2 operator*(float s, Vec2 a) { return a * s; }
constexpr Vec2 operator/(Vec2 a, float s) { return {a.x / s, a.y / s}; }
constexpr Vec2& Vec2::operator+=(Vec2 b) { return *this = *this + b; }
constexpr Vec2& Vec2::operator-=(Vec2 b) { return *this = *this - b; }
constexpr Vec2& Vec2::operator*=(float s) { return *this = *this * s; }
constexpr Vec2& Vec2::operator/=(float s) { return *this = *this / s; }
constexpr float dot(Vec2 a, Vec2 b) { return a.x * b.x + a.y * b.y; }
inline float length(Vec2 a) { return __builtin_sqrtf(dot(a, a)); }

constexpr Vec3 operator+(Vec3 a, Vec3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
constexpr Vec3 operator-(Vec3 a, Vec3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
constexpr Vec3 operator-(Vec3 a) { return {-a.x, -a.y, -a.z}; }
constexpr Vec3 operator*(Vec3 a, float s) { return {a.x * s, a.y * s, a.z * s}; }
constexpr Vec3 operator*(float s, Vec3 a) { return a * s; }
constexpr Vec3& Vec3::operator+=(Vec3 b) { return *this = *this + b; }
constexpr Vec3& Vec3::operator-=(Vec3 b) { return *this = *this - b; }
constexpr Vec3 operator/(Vec3 a, float s) { return {a.x / s, a.y / s, a.z / s}; }
constexpr Vec3& Vec3::operator*=(float s) { return *this = *this * s; }
constexpr Vec3& Vec3::operator/=(float s) { return *this = *this / s; }
constexpr float dot(Vec3 a, Vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
constexpr Vec3 cross(Vec3 a, Vec3 b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
inline float length(Vec3 a) { return __builtin_sqrtf(dot(a, a)); }
/// Returns the vector of length 1 in the same direction, or zero for the zero vector.
inline Vec3 normalized(Vec3 a) {
    const float size = length(a);
    return size > 0 ? a / size : a;
}

/// Rotates by `b`, then by `a`. Normalise the result of many multiplications, because its length drifts.
SHOAL_API Quaternion operator*(Quaternion a, Quaternion b);
/// Returns the quaternion scaled to length 1, or the identity if that is impossible. rotated() needs a quaternion of
/// length 1.
SHOAL_API Quaternion normalized(Quaternion q);
SHOAL_API Vec3 rotated(Quaternion q, Vec3 v);
/// Rotates about `axis` by the right-hand rule. The axis may have any length. Units: radians. As with all functions
/// here, the result has the same bits on every machine.
SHOAL_API Quaternion rotation_about(Vec3 axis, double radians);
/// Rotates the z axis to `forward`, and the y axis as close to `up` as possible. The vectors may have any length.
SHOAL_API Quaternion look_rotation(Vec3 forward, Vec3 up = {0, 1, 0});
/// Interpolates from `a` (t = 0) to `b` (t = 1) along the shorter arc, at constant angular speed. Requires: `a` and `b`
/// have length 1.
SHOAL_API Quaternion slerp(Quaternion a, Quaternion b, float t);

constexpr Vec4 operator+(Vec4 a, Vec4 b) { return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w}; }
constexpr Vec4 operator*(Vec4 a, float s) { return {a.x * s, a.y * s, a.z * s, a.w * s}; }
constexpr Vec4& Vec4::operator+=(Vec4 b) { return *this = *this + b; }

}  // namespace shoal
