#pragma once
// Shared by the tests of transforms: fixtures with entities and managers, random poses, and a naive scene graph, made
// of pointers and recursion, that gives the expected poses.

#include "shoal/transform/transform.h"
#include "support/testing.h"

#include <cmath>
#include <cstring>
#include <map>
#include <vector>

namespace shoal_test {

using namespace shoal;

inline Quaternion about_z(float radians) { return {0, 0, std::sin(radians / 2), std::cos(radians / 2)}; }
inline Transform at(float x, float y = 0, float z = 0) { return {{x, y, z}, {}, {1, 1, 1}}; }

inline float random_between(Random& random, float low, float high) { return low + (high - low) * random.unit(); }

inline Quaternion random_rotation(Random& random) {
    float q[4], square = 0;
    do {
        square = 0;
        for (float& value : q) value = random_between(random, -1, 1), square += value * value;
    } while (square < 0.01f || square > 1);
    const float scale = 1 / std::sqrt(square);
    return {q[0] * scale, q[1] * scale, q[2] * scale, q[3] * scale};
}

/// A pose with even scale, so that nothing below it is sheared.
inline Transform random_pose(Random& random) {
    const float sizes[] = {1, 1, 1, 0.5f, 2, -1};
    const float size = sizes[random.below(6)];
    return {{random_between(random, -5, 5), random_between(random, -5, 5), random_between(random, -5, 5)},
            random_rotation(random),
            {size, size, size}};
}

/// An affine map in double precision, multiplied by the textbook.
struct Pose4x4 {
    double m[4][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
};

inline Pose4x4 operator*(const Pose4x4& a, const Pose4x4& b) {
    Pose4x4 result;
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) {
            result.m[i][j] = 0;
            for (int k = 0; k < 4; ++k) result.m[i][j] += a.m[i][k] * b.m[k][j];
        }
    return result;
}

inline Pose4x4 pose_of(const Transform& local) {
    const double x = local.rotation.x, y = local.rotation.y, z = local.rotation.z, w = local.rotation.w;
    const double rotation[3][3] = {{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                                   {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                                   {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}};
    const double scale[3] = {local.scale.x, local.scale.y, local.scale.z};
    const double position[3] = {local.position.x, local.position.y, local.position.z};
    Pose4x4 result;
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) result.m[i][j] = rotation[i][j] * scale[j];
        result.m[i][3] = position[i];
    }
    return result;
}

/// Returns the largest difference of two poses, relative to their largest number.
inline double difference(const Pose4x4& expected, const Matrix3x4& actual) {
    double worst = 0, size = 1;
    for (int i = 0; i < 3; ++i) {
        const float row[4] = {actual.row[i].x, actual.row[i].y, actual.row[i].z, actual.row[i].w};
        for (int j = 0; j < 4; ++j) {
            size = std::fmax(size, std::fabs(expected.m[i][j]));
            const double error = std::fabs(expected.m[i][j] - row[j]);
            worst = error <= worst ? worst : error;
        }
    }
    return worst / size;
}

/// A scene graph of pointers.
struct NaiveScene {
    struct Node {
        Entity entity;
        Transform local;
        Node* parent = nullptr;
        std::vector<Node*> children;
    };
    std::map<EntityBits, Node> nodes;

    Node& add(Entity entity, const Transform& local) { return nodes[entity.id] = {entity, local, nullptr, {}}; }
    Node* find(Entity entity) {
        const auto found = nodes.find(entity.id);
        return found == nodes.end() ? nullptr : &found->second;
    }
    Pose4x4 world(const Node& node) const {
        return node.parent == nullptr ? pose_of(node.local) : world(*node.parent) * pose_of(node.local);
    }
    static bool is_above(const Node& above, const Node* node) {
        return node != nullptr && (node == &above || is_above(above, node->parent));
    }
    static void unlink(Node& node) {
        if (node.parent != nullptr) std::erase(node.parent->children, &node);
        node.parent = nullptr;
    }
    static void link(Node& child, Node& parent) {
        if (child.parent == &parent) return;
        unlink(child);
        child.parent = &parent;
        parent.children.insert(parent.children.begin(), &child);
    }
    void remove(Node& node) {
        for (Node* child : node.children) child->parent = nullptr;
        unlink(node);
        nodes.erase(node.entity.id);
    }
};

inline bool same_bits(const Matrix3x4& a, const Matrix3x4& b) { return std::memcmp(&a, &b, sizeof a) == 0; }

/// Entities, and pages for managers.
struct TransformFixture : testing::Test {
    EntityManager entities;
    PagePool pool;

    std::vector<Entity> create(std::size_t count) {
        std::vector<Entity> created(count);
        EXPECT_TRUE(entities.create(created).ok());
        return created;
    }
};

inline constexpr std::uint32_t kLong = shoal_test::kMillion;

/// One manager in immediate mode.
class TransformScene : public TransformFixture {
protected:
    TransformManager transforms{entities, pool};

    Instance at_entity(Entity entity) const { return transforms.instance(entity); }
    Vec3 place(Entity entity) const { return transforms.world_position(at_entity(entity)); }
    Status link(Entity child, Entity parent, KeepPose keep = KeepPose::kLocal) {
        return transforms.link(at_entity(child), at_entity(parent), keep);
    }
    std::uint64_t num_computed() const { return transforms.counts().num_worlds_computed; }

    /// Adds a chain of entities, one metre from each other, with the root first.
    std::vector<Entity> add_chain(std::uint32_t count) {
        const std::vector<Entity> chain = create(count);
        std::vector<std::uint32_t> parents(count);
        for (std::uint32_t i = 0; i < count; ++i) parents[i] = i == 0 ? kNilRow : i - 1;
        const std::vector<Transform> locals(count, at(1));
        EXPECT_TRUE(transforms.add(chain, locals, parents).ok());
        return chain;
    }
    std::vector<Entity> children_of(Entity parent) const {
        std::vector<Entity> children;
        for (Instance i = transforms.first_child(at_entity(parent)); i; i = transforms.next_sibling(i))
            children.push_back(transforms.entity(i));
        return children;
    }
};

#define EXPECT_VALID(transforms)                            \
    do {                                                    \
        const Status validated = (transforms).validate();   \
        EXPECT_TRUE(validated.ok()) << validated.message(); \
    } while (false)
#define ASSERT_VALID(transforms)                            \
    do {                                                    \
        const Status validated = (transforms).validate();   \
        ASSERT_TRUE(validated.ok()) << validated.message(); \
    } while (false)

}  // namespace shoal_test
