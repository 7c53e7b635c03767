// The loops that compute world poses, with each instruction set, against one row at a time.

#include "shoal/transform/detail/pose_kernels.h"

#include "shoal/table/detail/row_index.h"
#include "shoal/transform/detail/pose_math.h"
#include "support/testing.h"
#include "transform/highway_targets.h"
#include "transform_testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

namespace shoal {
namespace {

using shoal_test::scaled_operations;
using shoal_test::seed;
using shoal_test::seed_text;

static_assert(kNoParent == kNilRow);

struct Poses {
    explicit Poses(std::size_t n) : position(n), rotation(n), scale(n), parent(n, kNoParent), world(n) {}
    PoseColumns columns() { return {position.data(), rotation.data(), scale.data(), parent.data(), world.data()}; }
    RowRange rows() const { return {0, static_cast<std::uint32_t>(parent.size())}; }

    std::vector<Vec3> position;
    std::vector<Quaternion> rotation;
    std::vector<Vec3> scale;
    std::vector<std::uint32_t> parent;
    std::vector<Matrix3x4> world;
};

/// Numbers of every kind: small, huge and denormal ones, and both zeros.
float any_number(Random& random) {
    const float number = random.unit() * 4 - 2;
    switch (random.below(8)) {
        case 0:
            return number * 1e-39f;
        case 1:
            return number * 1e12f;
        case 2:
            return number < 0 ? -0.0f : 0.0f;
        case 3:
            return number * 1e-20f;
        default:
            return number;
    }
}

Vec3 any_vector(Random& random) { return {any_number(random), any_number(random), any_number(random)}; }

Quaternion any_rotation(Random& random) {
    const auto part = [&] { return random.unit() * 2 - 1; };
    const Quaternion q = {part(), part(), part(), part() + 2};
    const float length = std::sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
    return {q.x / length, q.y / length, q.z / length, q.w / length};
}

enum class Links { kForest, kChain, kRoots, kMixed };

std::uint32_t any_parent(Random& random, Links links, std::uint32_t row) {
    if (links == Links::kRoots || row == 0) return kNoParent;
    if (links == Links::kChain) return row - 1;
    if (links == Links::kMixed && row / 50 % 2 == 0) return row - 1;
    return random.below(4) == 0 ? kNoParent : random.below(row);
}

/// Mostly poses that stay finite in a long chain, with rotations that are not all of length 1; some of any numbers.
Poses any_poses(Random& random, std::size_t n, Links links) {
    Poses poses(n);
    const auto length = [&] { return (random.below(4) == 0 ? -1.0f : 1.0f) * (0.5f + random.unit()); };
    for (std::uint32_t i = 0; i < n; ++i) {
        const bool wild = random.below(64) == 0;
        const Quaternion q = any_rotation(random);
        const float stretch = random.below(4) == 0 ? length() : 1.0f;
        poses.position[i] = wild ? any_vector(random) : Vec3{length(), length() * 100, length()};
        poses.rotation[i] = {q.x * stretch, q.y * stretch, wild ? any_number(random) : q.z * stretch, q.w * stretch};
        poses.scale[i] = wild ? any_vector(random) : Vec3{length(), length(), length()};
        poses.parent[i] = any_parent(random, links, i);
        poses.world[i].row[0].x = random.unit();
    }
    return poses;
}

std::size_t num_finite(const std::vector<Matrix3x4>& poses) {
    return static_cast<std::size_t>(std::count_if(poses.begin(), poses.end(), [](const Matrix3x4& pose) {
        const Vec4 sum = pose.row[0] + pose.row[1] + pose.row[2];
        return std::isfinite(sum.x + sum.y + sum.z + sum.w);
    }));
}

constexpr Links kAllLinks[] = {Links::kForest, Links::kChain, Links::kRoots, Links::kMixed};

bool same_bits(const Matrix3x4& a, const Matrix3x4& b) {
    float left[12], right[12];
    std::memcpy(left, &a, sizeof left);
    std::memcpy(right, &b, sizeof right);
    for (int i = 0; i < 12; ++i)
        if (std::memcmp(&left[i], &right[i], sizeof(float)) != 0 && !(std::isnan(left[i]) && std::isnan(right[i])))
            return false;
    return true;
}

void expect_same_bits(const std::vector<Matrix3x4>& a, const std::vector<Matrix3x4>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) ASSERT_TRUE(same_bits(a[i], b[i])) << "row " << i << " of " << a.size();
}

/// Calls test() once for every instruction set that this machine has.
template <class Test>
void for_each_target(Test&& test) {
    for (const std::int64_t target : hwy::SupportedAndGeneratedTargets()) {
        SCOPED_TRACE(hwy::TargetName(target));
        hwy::SetSupportedTargetsForTest(target);
        test();
        hwy::SetSupportedTargetsForTest(0);
    }
}

void compute_plain(const PoseColumns& columns, RowRange rows) {
    for (std::uint32_t row = rows.begin; row < rows.end; ++row) compute_pose(columns, row);
}

/// Computes one element at a time, with the formula in pose_kernels.h.
Matrix3x4 naive_product(const Matrix3x4& a, const Matrix3x4& b) {
    float p[3][4], l[3][4], result[3][4];
    std::memcpy(p, &a, sizeof p);
    std::memcpy(l, &b, sizeof l);
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 4; ++c)
            result[r][c] = (p[r][0] * l[0][c] + p[r][1] * l[1][c]) + (p[r][2] * l[2][c] + (c == 3 ? p[r][3] : 0.0f));
    Matrix3x4 product;
    std::memcpy(&product, result, sizeof result);
    return product;
}

Vec3 apply(const Matrix3x4& m, Vec3 v) {
    const auto element = [&](const Vec4& row) { return row.x * v.x + row.y * v.y + row.z * v.z + row.w; };
    return {element(m.row[0]), element(m.row[1]), element(m.row[2])};
}

Vec3 rotate(Quaternion q, Vec3 v) {
    const Vec3 axis = {q.x, q.y, q.z};
    const Vec3 t = cross(axis, v) * 2.0f;
    return v + t * q.w + cross(axis, t);
}

TEST(PoseKernelsTest, a_local_matrix_scales_then_rotates_then_moves) {
    SCOPED_TRACE(seed_text());
    Random random(seed());
    for (int i = 0; i < 1000; ++i) {
        const auto vector = [&] { return Vec3{random.unit() * 4 - 2, random.unit() * 4 - 2, random.unit() * 4 - 2}; };
        const Vec3 position = vector(), scale = vector(), point = vector();
        const Quaternion rotation = any_rotation(random);
        const Vec3 expected = rotate(rotation, {point.x * scale.x, point.y * scale.y, point.z * scale.z}) + position;
        const Vec3 found = apply(local_matrix(position, rotation, scale), point);
        ASSERT_LT(dot(found - expected, found - expected), 1e-9f);
    }
}

TEST(PoseKernelsTest, a_product_applies_the_second_map_first) {
    Random random(seed());
    const Matrix3x4 a = local_matrix({1, 2, 3}, any_rotation(random), {1, 2, -1});
    const Matrix3x4 b = local_matrix({-4, 0, 2}, any_rotation(random), {0.5f, 1, 1});
    const Vec3 point = {3, -1, 2};
    const Vec3 difference = apply(product(a, b), point) - apply(a, apply(b, point));
    EXPECT_LT(dot(difference, difference), 1e-9f);
}

TEST(PoseKernelsTest, a_product_is_that_of_the_formula_bit_for_bit) {
    SCOPED_TRACE(seed_text());
    Random random(seed());
    for (std::int64_t i = 0; i < scaled_operations(100'000); ++i) {
        const auto matrix = [&] {
            Matrix3x4 m;
            for (Vec4& row : m.row)
                row = {any_number(random), any_number(random), any_number(random), any_number(random)};
            return m;
        };
        const Matrix3x4 a = matrix(), b = matrix();
        ASSERT_TRUE(same_bits(product(a, b), naive_product(a, b)));
    }
}

TEST(PoseKernelsTest, the_world_pose_of_a_root_is_its_local_pose) {
    Random random(seed());
    Poses poses = any_poses(random, 100, Links::kRoots);
    for_each_target([&] {
        compute_poses(poses.columns(), poses.rows());
        for (std::size_t i = 0; i < 100; ++i)
            EXPECT_EQ(poses.world[i], local_matrix(poses.position[i], poses.rotation[i], poses.scale[i]));
    });
}

TEST(PoseKernelsTest, every_instruction_set_gives_the_bits_of_plain_loops) {
    SCOPED_TRACE(seed_text());
    Random random(seed());
    std::size_t num_rows = 0, num_rows_finite = 0;
    for (std::int64_t round = 0; round < scaled_operations(2'000); ++round) {
        const Links links = kAllLinks[round % 4];
        Poses poses = any_poses(random, 1 + random.below(150), links), plain = poses;
        compute_plain(plain.columns(), plain.rows());
        num_rows += plain.world.size();
        num_rows_finite += num_finite(plain.world);
        const std::vector<Matrix3x4> before = poses.world;
        for_each_target([&] {
            poses.world = before;
            compute_poses(poses.columns(), poses.rows());
            expect_same_bits(poses.world, plain.world);
        });
        if (HasFatalFailure()) return;
    }
    // Poses that are not numbers say little.
    EXPECT_GT(num_rows_finite, num_rows / 2);
}

TEST(PoseKernelsTest, a_range_computes_its_rows_and_no_others) {
    SCOPED_TRACE(seed_text());
    Random random(seed());
    Poses poses = any_poses(random, 120, Links::kMixed);
    for (std::uint32_t begin = 0; begin <= 120; begin += 7) {
        for (std::uint32_t end = begin; end <= 120; ++end) {
            Poses plain = poses;
            compute_plain(plain.columns(), {begin, end});
            for_each_target([&] {
                Poses mine = poses;
                compute_poses(mine.columns(), {begin, end});
                expect_same_bits(mine.world, plain.world);
            });
            ASSERT_FALSE(HasFatalFailure()) << begin << " to " << end;
        }
    }
}

TEST(PoseKernelsTest, scattered_rows_are_computed_in_the_order_given) {
    SCOPED_TRACE(seed_text());
    Random random(seed());
    for (std::int64_t round = 0; round < scaled_operations(1'000); ++round) {
        const std::uint32_t n = 1 + random.below(200);
        Poses poses = any_poses(random, n, kAllLinks[round % 4]), plain = poses;
        // Parents come before their children, because their rows are lower here.
        std::vector<std::uint32_t> rows;
        for (std::uint32_t i = 0; i < n; ++i)
            if (random.below(3) != 0) rows.push_back(i);
        for (const std::uint32_t row : rows) compute_pose(plain.columns(), row);
        for_each_target([&] {
            Poses mine = poses;
            compute_poses_scattered(mine.columns(), rows.data(), rows.size());
            expect_same_bits(mine.world, plain.world);
        });
        if (HasFatalFailure()) return;
    }
}

TEST(PoseKernelsTest, scattered_rows_may_have_parents_above_them) {
    SCOPED_TRACE(seed_text());
    Random random(seed());
    constexpr std::uint32_t kRows = 333;
    Poses poses = any_poses(random, kRows, Links::kRoots);
    std::vector<std::uint32_t> rows(kRows);
    for (std::uint32_t i = 0; i < kRows; ++i) rows[i] = kRows - 1 - i;
    for (std::uint32_t i = 0; i + 1 < kRows; ++i)
        if (i % 9 != 0) poses.parent[i] = i + 1 + random.below(std::min<std::uint32_t>(3, kRows - 1 - i));
    Poses plain = poses;
    for (const std::uint32_t row : rows) compute_pose(plain.columns(), row);
    for_each_target([&] {
        Poses mine = poses;
        compute_poses_scattered(mine.columns(), rows.data(), rows.size());
        expect_same_bits(mine.world, plain.world);
    });
}

TEST(PoseKernelsTest, cutting_the_rows_does_not_change_a_bit) {
    SCOPED_TRACE(seed_text());
    Random random(seed());
    Poses whole = any_poses(random, 1000, Links::kMixed), cut = whole;
    compute_poses(whole.columns(), whole.rows());
    for (std::uint32_t begin = 0; begin < 1000;) {
        const std::uint32_t end = std::min<std::uint32_t>(1000, begin + 1 + random.below(70));
        compute_poses(cut.columns(), {begin, end});
        begin = end;
    }
    expect_same_bits(cut.world, whole.world);
}

TEST(PoseMathTest, a_composed_pose_has_the_product_of_the_matrices_and_of_the_rotations) {
    SCOPED_TRACE(seed_text());
    Random random(seed());
    for (std::int64_t i = scaled_operations(10'000); i > 0; --i) {
        const Transform root = shoal_test::random_pose(random);  // of even scale
        Transform local = shoal_test::random_pose(random);
        local.scale = {0.5f + random.unit(), -0.5f - random.unit(), 1 + random.unit()};
        const Transform both = compose(root, local);
        const shoal_test::Pose4x4 expected = shoal_test::pose_of(root) * shoal_test::pose_of(local);
        ASSERT_LT(shoal_test::difference(expected, local_matrix(both.position, both.rotation, both.scale)), 1e-5);
        ASSERT_NEAR(squared_length(both.rotation), 1, 1e-5);
    }
}

TEST(PoseMathTest, a_root_whose_scales_differ_in_one_axis_gives_the_nearest_pose) {
    const Transform local{.position = {1, 2, 3}, .rotation = {0.6f, 0, 0, 0.8f}, .scale = {1, 1, 1}};
    for (const Vec3 scale : {Vec3{2, 1, 1}, Vec3{1, 2, 1}, Vec3{1, 1, 2}}) {
        const Transform root{.position = {4, 5, 6}, .rotation = {}, .scale = scale};
        const Transform both = compose(root, local);
        const Transform nearest = nearest_pose(product(local_matrix(root.position, root.rotation, root.scale),
                                                       local_matrix(local.position, local.rotation, local.scale)))
                                      .pose;
        EXPECT_EQ(both.position, nearest.position);
        EXPECT_EQ(both.scale, nearest.scale);
        EXPECT_EQ(both.rotation.x, nearest.rotation.x);
        EXPECT_EQ(both.rotation.w, nearest.rotation.w);
    }
}

}  // namespace
}  // namespace shoal
