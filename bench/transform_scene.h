#pragma once
// Forests of poses in depth-first order, as transforms of a world and as plain arrays.

#include "plain_poses.h"
#include "shoal/job/executor.h"
#include "shoal/transform/transform.h"

#include <cmath>
#include <utility>
#include <vector>

namespace shoal_bench {

struct Scene {
    std::vector<shoal::Transform> locals;
    std::vector<std::uint32_t> parents;  // rows of `locals`, or kNilRow

    std::size_t size() const { return locals.size(); }
};

inline shoal::Transform any_transform(shoal::Random& random) {
    const auto number = [&] { return random.unit() * 2 - 1; };
    const shoal::Quaternion q = {number(), number(), number(), number() + 1.5f};
    const float length = std::sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
    return {{number() * 10, number() * 10, number() * 10},
            {q.x / length, q.y / length, q.z / length, q.w / length},
            {1 + number() / 64, 1 + number() / 64, 1 + number() / 64}};
}

inline Scene with_any_poses(std::vector<std::uint32_t> parents) {
    shoal::Random random(parents.size());
    Scene scene{{}, std::move(parents)};
    for (std::size_t i = 0; i < scene.parents.size(); ++i) scene.locals.push_back(any_transform(random));
    return scene;
}

/// Returns trees of five nodes on four levels: root { a { b { c } } d }.
inline Scene small_trees(std::size_t num_roots) {
    std::vector<std::uint32_t> parents;
    for (std::uint32_t root = 0; root < 5 * num_roots; root += 5)
        parents.insert(parents.end(), {shoal::kNilRow, root, root + 1, root + 2, root});
    return with_any_poses(std::move(parents));
}

inline Scene chain(std::size_t num_links) {
    std::vector<std::uint32_t> parents(num_links);
    for (std::uint32_t i = 0; i < num_links; ++i) parents[i] = i == 0 ? shoal::kNilRow : i - 1;
    return with_any_poses(std::move(parents));
}

/// Returns ten trees in which the parent of a node is a random earlier node. Their mean depth is about 11 levels.
inline Scene random_trees(std::size_t num_nodes) {
    shoal::Random random(5);
    const std::size_t tree_size = num_nodes / 10;
    std::vector<std::uint32_t> parents, first_child(tree_size), next(tree_size), row_of(tree_size);
    for (std::size_t tree = 0; tree < 10; ++tree) {
        std::fill(first_child.begin(), first_child.end(), shoal::kNilRow);
        std::vector<std::uint32_t> above(tree_size, shoal::kNilRow), stack = {0};
        for (std::uint32_t i = 1; i < tree_size; ++i) {
            above[i] = random.below(i);
            next[i] = std::exchange(first_child[above[i]], i);
        }
        while (!stack.empty()) {
            const std::uint32_t node = stack.back();
            stack.pop_back();
            row_of[node] = static_cast<std::uint32_t>(parents.size());
            parents.push_back(node == 0 ? shoal::kNilRow : row_of[above[node]]);
            for (std::uint32_t child = first_child[node]; child != shoal::kNilRow; child = next[child])
                stack.push_back(child);
        }
    }
    return with_any_poses(std::move(parents));
}

/// A scene as entities with transforms.
class SceneTransforms {
public:
    explicit SceneTransforms(const Scene& scene, shoal::TransformMode mode = shoal::TransformMode::kImmediate)
        : transforms(entities, pool, {.mode = mode}), ids(scene.size()) {
        need_ok(entities.create(ids));
        need(transforms.add(ids, scene.locals, scene.parents));
        if (mode == shoal::TransformMode::kDeferred) transforms.compute_moved();
    }

    std::uint64_t sum() const {
        std::uint64_t result = 0;
        for (std::size_t i = 0; i < ids.size(); ++i)
            result += mix(i + bits_of(transforms.world(transforms.instance(ids[i]))));
        return result;
    }

    shoal::EntityManager entities;
    shoal::PagePool pool;
    shoal::TransformManager transforms;
    std::vector<shoal::Entity> ids;  // by row of the scene
};

inline std::uint64_t sum_of(const PlainPoses& poses) {
    std::uint64_t result = 0;
    for (std::uint32_t i = 0; i < poses.num_rows(); ++i) result += mix(i + bits_of(poses.world(i)));
    return result;
}

/// The nodes that move in a frame, and their new positions.
struct Moves {
    Moves(std::vector<std::uint32_t> which, std::span<const shoal::Entity> ids, std::uint64_t seed)
        : rows(std::move(which)) {
        shoal::Random random(seed);
        for (const std::uint32_t row : rows) {
            entities.push_back(ids[row]);
            positions.push_back({random.unit() * 10, random.unit() * 10, random.unit() * 10});
        }
    }

    void apply(PlainPoses& poses) const {
        for (std::size_t i = 0; i < rows.size(); ++i) poses.position(rows[i]) = positions[i];
    }

    std::vector<std::uint32_t> rows;
    std::vector<shoal::Entity> entities;
    std::vector<shoal::Vec3> positions;
};

}  // namespace shoal_bench
