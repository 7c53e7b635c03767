// Rotations that programs make: products, about an axis, towards a direction, between two.

#include "shoal/base/math.h"
#include "shoal/base/random.h"
#include "shoal/base/string_id.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace quaternion_test {

using namespace shoal;

constexpr double kPi = 3.14159265358979323846;

void expect_near(Vec3 a, Vec3 b, float within = 2e-6f) {
    EXPECT_LE(length(a - b), within) << a.x << ' ' << a.y << ' ' << a.z << " is not " << b.x << ' ' << b.y << ' '
                                     << b.z;
}
double length_of(Quaternion q) {
    return std::sqrt(double(q.x) * q.x + double(q.y) * q.y + double(q.z) * q.z + double(q.w) * q.w);
}
Vec3 any_vector(Random& random) {
    const float parts[] = {random.unit() - 0.5f, random.unit() - 0.5f, random.unit() - 0.5f};
    return {parts[0], parts[1], parts[2]};
}
double angle_between(Quaternion a, Quaternion b) {
    const double along = double(a.x) * b.x + double(a.y) * b.y + double(a.z) * b.z + double(a.w) * b.w;
    return 2 * std::acos(std::fmin(1, std::fabs(along)));
}

TEST(Quaternions, turn_about_an_axis_by_the_right_hand_rule) {
    const Quaternion quarter = rotation_about({0, 0, 7}, kPi / 2);
    expect_near(rotated(quarter, {1, 0, 0}), {0, 1, 0});
    expect_near(rotated(quarter, {0, 0, 5}), {0, 0, 5});
    expect_near(rotated(rotation_about({1, 1, 1}, 2 * kPi / 3), {1, 2, 3}), {3, 1, 2});
    EXPECT_EQ(rotation_about({}, 1), Quaternion()) << "there is no axis";
    EXPECT_EQ(rotation_about({1e-30f, 0, 0}, kPi), rotation_about({1e30f, 0, 0}, kPi));
}

TEST(Quaternions, a_product_turns_as_its_second_factor_does_and_then_as_its_first) {
    Random random(shoal_test::seed());
    for (int i = 0; i < 100; ++i) {
        const Quaternion a = rotation_about(any_vector(random), 6 * random.unit());
        const Quaternion b = rotation_about(any_vector(random), 6 * random.unit());
        const Vec3 v = any_vector(random);
        expect_near(rotated(a * b, v), rotated(a, rotated(b, v)));
        EXPECT_NEAR(length_of(a), 1, 2e-7);
    }
}

TEST(Quaternions, are_normalised_whatever_their_length_and_nothing_becomes_no_rotation) {
    for (const float size : {1e-30f, 1e-3f, 1.f, 1e30f})
        EXPECT_NEAR(length_of(normalized(Quaternion{size, -size, 2 * size, 3 * size})), 1, 2e-7) << size;
    EXPECT_EQ(normalized(Quaternion{0, 0, 0, 0}), Quaternion());
    EXPECT_EQ(normalized(Quaternion{NAN, 0, 0, 1}), Quaternion());
    EXPECT_EQ(normalized(Quaternion{INFINITY, 0, 0, 1}), Quaternion());
}

TEST(Quaternions, look_where_they_are_told_to_with_up_as_near_as_it_can_be) {
    Random random(shoal_test::seed());
    for (int i = 0; i < 100; ++i) {
        const Vec3 forward = any_vector(random), up = any_vector(random);
        const Quaternion q = look_rotation(forward, up);
        EXPECT_NEAR(length_of(q), 1, 2e-7);
        expect_near(rotated(q, {0, 0, 1}), normalized(forward));
        EXPECT_NEAR(dot(rotated(q, {1, 0, 0}), normalized(up)), 0, 2e-6);
        EXPECT_GE(dot(rotated(q, {0, 1, 0}), up), 0);
    }
    for (const Vec3 along : {Vec3{0, 3, 0}, Vec3{0, -3, 0}, Vec3{0, 0, -1}, Vec3{1, 0, 0}})
        expect_near(rotated(look_rotation(along), {0, 0, 1}), normalized(along));
    EXPECT_EQ(look_rotation({0, 0, 4}), Quaternion());
    EXPECT_EQ(look_rotation({}), Quaternion());
}

TEST(Quaternions, go_from_one_to_another_on_the_shorter_way_at_a_constant_speed) {
    Random random(shoal_test::seed());
    for (int i = 0; i < 100; ++i) {
        const Quaternion a = rotation_about(any_vector(random), 6 * random.unit());
        const Quaternion b = i == 0 ? a : rotation_about(any_vector(random), 6 * random.unit());
        const double whole = angle_between(a, b);
        for (const float t : {0.f, 0.25f, 0.5f, 0.9f, 1.f}) {
            const Quaternion q = slerp(a, b, t);
            EXPECT_NEAR(length_of(q), 1, 2e-7);
            EXPECT_NEAR(angle_between(a, q), whole * t, 1e-3);
            EXPECT_NEAR(angle_between(q, b), whole * (1 - t), 1e-3);
        }
    }
    const Quaternion far = rotation_about({0, 1, 0}, kPi * 0.999);
    expect_near(rotated(slerp({}, far, 0.5f), {0, 0, 1}), rotated(rotation_about({0, 1, 0}, kPi * 0.4995), {0, 0, 1}));
}

TEST(Quaternions, have_these_bits_on_every_machine) {
    Random random(7);
    std::vector<Quaternion> all;
    for (int i = 0; i < 1000; ++i) {
        const Vec3 axis = any_vector(random);
        const Quaternion a = rotation_about(axis, 6 * random.unit());
        const Vec3 forward = any_vector(random);
        const Quaternion b = look_rotation(forward, any_vector(random));
        all.insert(all.end(), {a, b, a * b, slerp(a, b, random.unit()), normalized(a * b * a)});
    }
    EXPECT_EQ(hash_bytes(all.data(), all.size() * sizeof all[0]), 0x8A51BC09C6354A3Aull);
}

}  // namespace quaternion_test
