#pragma once
// Shared by the tests of model poses: a small model, random poses and trees, a fixture.

#include "shoal/base/random.h"
#include "shoal/pose/model_pose.h"
#include "shoal/resource/blob_writer.h"
#include "shoal/resource/spawner.h"
#include "shoal/transform/detail/pose_kernels.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace shoal {

using Entities = std::vector<Entity>;

/// A tree with memory of its own.
struct TreeSource {
    std::vector<StringId> names;
    std::vector<std::uint32_t> parents;
    std::vector<Vec3> positions, scales;
    std::vector<Quaternion> rotations;

    void add(const char* name, std::uint32_t parent, const Transform& local) {
        names.emplace_back(std::string_view(name));
        parents.push_back(parent);
        positions.push_back(local.position);
        rotations.push_back(local.rotation);
        scales.push_back(local.scale);
    }
    std::uint32_t num_nodes() const { return static_cast<std::uint32_t>(names.size()); }
    Transform local(std::size_t node) const { return {positions[node], rotations[node], scales[node]}; }
    NodeTree view() const { return {names, parents, positions, rotations, scales}; }
};

constexpr Quaternion kQuarterTurn = {0, 0, 0.70710678f, 0.70710678f};  // about z

/// hip > knee > foot > toe, and hip > tail.
inline TreeSource leg() {
    TreeSource tree;
    tree.add("hip", kNilRow, {.position = {0, 0, 1}});
    tree.add("knee", 0, {.position = {1, 0, 0}, .rotation = kQuarterTurn});
    tree.add("foot", 1, {.position = {1, 0, 0}});
    tree.add("tail", 0, {.position = {-1, 0, 0}, .scale = {2, 2, 2}});
    tree.add("toe", 2, {.position = {0.25f, 0, 0}});
    return tree;
}

inline Quaternion random_rotation(Random& random) {
    float q[4];
    float square = 0;
    do {
        square = 0;
        for (float& lane : q) lane = random.unit() * 2 - 1, square += lane * lane;
    } while (square < 0.01f || square > 1);
    const float scale = 1 / std::sqrt(square);
    return {q[0] * scale, q[1] * scale, q[2] * scale, q[3] * scale};
}

inline Transform random_pose(Random& random) {
    const auto coordinate = [&] { return random.unit() * 4 - 2; };
    return {{coordinate(), coordinate(), coordinate()},
            random_rotation(random),
            {0.5f + random.unit(), 0.5f + random.unit(), 0.5f + random.unit()}};
}

/// Returns a tree of `num_nodes` nodes, parents before children; about as deep as it is wide.
inline TreeSource random_tree(Random& random, std::uint32_t num_nodes) {
    TreeSource tree;
    for (std::uint32_t node = 0; node < num_nodes; ++node) {
        const std::uint32_t nearest = node - std::min(node, 1 + random.below(3));
        const std::uint32_t parent = node == 0 || random.below(16) == 0 ? kNilRow : nearest;
        tree.add(("node " + std::to_string(node)).c_str(), parent, random_pose(random));
    }
    return tree;
}

inline Matrix3x4 matrix_of(const Transform& pose) { return local_matrix(pose.position, pose.rotation, pose.scale); }

/// Returns the product in double precision, computed without the kernels.
inline Matrix3x4 plain_product(const Matrix3x4& a, const Matrix3x4& b) {
    const auto at = [](const Matrix3x4& m, int row, int column) {
        const Vec4& r = m.row[row];
        return double(column == 0 ? r.x : column == 1 ? r.y : column == 2 ? r.z : r.w);
    };
    Matrix3x4 result;
    for (int row = 0; row < 3; ++row) {
        double sums[4] = {0, 0, 0, at(a, row, 3)};
        for (int column = 0; column < 4; ++column)
            for (int k = 0; k < 3; ++k) sums[column] += at(a, row, k) * at(b, k, column);
        result.row[row] = {static_cast<float>(sums[0]), static_cast<float>(sums[1]), static_cast<float>(sums[2]),
                           static_cast<float>(sums[3])};
    }
    return result;
}

inline void expect_near(const Matrix3x4& a, const Matrix3x4& b, float tolerance = 1e-4f) {
    for (int row = 0; row < 3; ++row) {
        EXPECT_NEAR(a.row[row].x, b.row[row].x, tolerance) << row;
        EXPECT_NEAR(a.row[row].y, b.row[row].y, tolerance) << row;
        EXPECT_NEAR(a.row[row].z, b.row[row].z, tolerance) << row;
        EXPECT_NEAR(a.row[row].w, b.row[row].w, tolerance) << row;
    }
}

inline Vec3 place(const Matrix3x4& matrix) { return {matrix.row[0].w, matrix.row[1].w, matrix.row[2].w}; }
inline void expect_at(Vec3 a, Vec3 b) {
    EXPECT_NEAR(a.x, b.x, 1e-5f);
    EXPECT_NEAR(a.y, b.y, 1e-5f);
    EXPECT_NEAR(a.z, b.z, 1e-5f);
}

struct ModelPoses : ::testing::Test {
    shoal_test::LeakCheck leaks;
    EntityManager entities{{.minimum_free_ids = 1}};
    PagePool pool;
    TransformManager transforms{entities, pool};
    ModelPoseManager models{entities, pool, {.transforms = &transforms}};
    Random random{shoal_test::seed()};

    Entities create(std::size_t count) {
        Entities out(count);
        EXPECT_TRUE(entities.create(out).ok());
        return out;
    }
    NodeTreeId add_tree(const TreeSource& tree) {
        const Result<NodeTreeId> id = models.add_node_tree(tree.view());
        EXPECT_TRUE(id.ok()) << id.message();
        return *id;
    }
    Instance at(Entity entity) { return models.instance(entity); }
    void expect_valid(const ModelPoseManager& manager) {
        const Status status = manager.validate();
        EXPECT_TRUE(status.ok()) << status.message();
    }
};

}  // namespace shoal
