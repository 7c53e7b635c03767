// The vectors that components are made of.

#include "shoal/base/math.h"

#include <gtest/gtest.h>

namespace {

using namespace shoal;

TEST(Vectors, have_a_length_and_a_direction) {
    EXPECT_EQ(length(Vec3{2, -3, 6}), 7.0f);
    EXPECT_EQ(length(Vec2{3, -4}), 5.0f);
    EXPECT_EQ(normalized(Vec3{0, 0, -8}), (Vec3{0, 0, -1}));
    EXPECT_EQ(normalized(Vec3{}), Vec3{}) << "zero has no direction";
}

TEST(Vectors, are_scaled_and_divided_from_both_sides) {
    Vec3 a = {2, 4, 6};
    EXPECT_EQ(a / 2, (Vec3{1, 2, 3}));
    EXPECT_EQ(0.5f * a, a / 2);
    a /= 2;
    EXPECT_EQ(a, (Vec3{1, 2, 3}));
    Vec2 b = {2, 4};
    b -= {1, 1};
    b *= 3;
    EXPECT_EQ(b, (Vec2{3, 9}));
    EXPECT_EQ(b / 3, (Vec2{1, 3}));
    EXPECT_EQ(-b, -1.0f * b);
}

TEST(Vectors, that_are_multiplied_crosswise_give_a_third_at_right_angles) {
    EXPECT_EQ(cross(Vec3{1, 0, 0}, Vec3{0, 1, 0}), (Vec3{0, 0, 1}));
    const Vec3 a = {1, 2, 3}, b = {-4, 5, 6}, c = cross(a, b);
    EXPECT_EQ(dot(a, c), 0.0f);
    EXPECT_EQ(dot(b, c), 0.0f);
    EXPECT_EQ(cross(b, a), -c);
}

}  // namespace
