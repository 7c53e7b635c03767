// Random scenes against a naive model, in all modes at once.

#include "shoal/state/snapshot.h"
#include "support/mark_watch.h"
#include "transform_testing.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

using namespace shoal;
using namespace shoal_test;

namespace {

/// The same scene in five managers: immediate, in batches, deferred, deferred with its order often restored, and one
/// that goes on from states of the deferred one.
class TransformOracle : public TransformFixture {
protected:
    static constexpr int kManagers = 5;

    TransformManager immediate{entities, pool};
    TransformManager batched{entities, pool};
    TransformManager deferred{entities, pool, {.mode = TransformMode::kDeferred}};
    TransformManager restored{entities, pool, {.mode = TransformMode::kDeferred}};
    TransformManager loaded{entities, pool, {.mode = TransformMode::kDeferred}};
    TransformManager* const managers[kManagers] = {&immediate, &batched, &deferred, &restored, &loaded};
    std::optional<TransformBatch> batch;
    std::size_t max_nodes = 0;
    NaiveScene scene;
    std::vector<Entity> living;
    Random random{seed()};

    TransformOracle() { batch.emplace(batched); }

    Entity any() { return living[random.below(static_cast<std::uint32_t>(living.size()))]; }
    /// Mostly one of eight, so that some move in every frame.
    Entity any_mover() {
        const auto count = static_cast<std::uint32_t>(std::min<std::size_t>(living.size(), 8));
        return random.below(4) == 0 ? any() : living[random.below(count)];
    }
    template <class Function>
    void for_all(Function&& function) {
        for (TransformManager* transforms : managers) function(*transforms);
    }

    /// Checks that a node is where it was, and copies the local pose that keeps it there.
    void adopt(NaiveScene::Node& node, const Pose4x4& expected) {
        node.local = immediate.local(immediate.instance(node.entity));
        ASSERT_LT(difference(expected, immediate.world(immediate.instance(node.entity))), 2e-3);
    }

    void create_tree() {
        const std::size_t count = 1 + random.below(6);
        if (living.size() + count > max_nodes) return;
        const std::vector<Entity> created = create(count);
        std::vector<Transform> locals;
        std::vector<std::uint32_t> parents;
        for (std::uint32_t i = 0; i < count; ++i) {
            locals.push_back(random_pose(random));
            parents.push_back(i == 0 || random.below(4) == 0 ? kNilRow : random.below(i));
        }
        for_all([&](TransformManager& transforms) { ASSERT_TRUE(transforms.add(created, locals, parents).ok()); });
        for (std::uint32_t i = 0; i < count; ++i) scene.add(created[i], locals[i]);
        // In a span, the first child stays the first.
        for (std::uint32_t i = static_cast<std::uint32_t>(count); i-- > 0;)
            if (parents[i] != kNilRow) NaiveScene::link(*scene.find(created[i]), *scene.find(created[parents[i]]));
        living.insert(living.end(), created.begin(), created.end());
    }

    void link() {
        NaiveScene::Node &child = *scene.find(any()), &parent = *scene.find(any());
        const KeepPose keep = random.below(2) == 0 ? KeepPose::kWorld : KeepPose::kLocal;
        const Pose4x4 before = scene.world(child);
        const bool fits = !NaiveScene::is_above(child, &parent);
        const bool changes = fits && child.parent != &parent;
        for_all([&](TransformManager& transforms) {
            ASSERT_EQ(transforms.link(transforms.instance(child.entity), transforms.instance(parent.entity), keep).ok(),
                      fits);
        });
        if (!changes) return;
        NaiveScene::link(child, parent);
        if (keep == KeepPose::kWorld) adopt(child, before);
    }

    void unlink() {
        NaiveScene::Node& child = *scene.find(any());
        const KeepPose keep = random.below(2) == 0 ? KeepPose::kWorld : KeepPose::kLocal;
        const Pose4x4 before = scene.world(child);
        for_all([&](TransformManager& transforms) { transforms.unlink(transforms.instance(child.entity), keep); });
        if (child.parent == nullptr) return;
        NaiveScene::unlink(child);
        if (keep == KeepPose::kWorld) adopt(child, before);
    }

    void set_one() {
        NaiveScene::Node& node = *scene.find(any_mover());
        const Transform pose = random_pose(random);
        const std::uint32_t part = random.below(4);
        if (part == 0 || part == 1) node.local.position = pose.position;
        if (part == 0 || part == 2) node.local.rotation = pose.rotation;
        if (part == 0 || part == 3) node.local.scale = pose.scale;
        for_all([&](TransformManager& transforms) {
            const Instance i = transforms.instance(node.entity);
            if (part == 0) transforms.set_local(i, pose);
            if (part == 1) transforms.set_position(i, pose.position);
            if (part == 2) transforms.set_rotation(i, pose.rotation);
            if (part == 3) transforms.set_scale(i, pose.scale);
        });
    }

    void set_many() {
        std::vector<Entity> some;
        std::vector<Transform> locals;
        const std::uint32_t count = random.below(4) == 0 ? 60 : 3;
        for (std::uint32_t i = 0; i < count; ++i) {
            some.push_back(any());
            locals.push_back(random_pose(random));
            scene.find(some.back())->local = locals.back();
        }
        for_all([&](TransformManager& transforms) { ASSERT_EQ(transforms.set_locals(some, locals), some.size()); });
    }

    void set_world() {
        NaiveScene::Node& node = *scene.find(any());
        const Pose4x4 wanted = pose_of(random_pose(random));
        Matrix3x4 world;
        for (int i = 0; i < 3; ++i)
            world.row[i] = {static_cast<float>(wanted.m[i][0]), static_cast<float>(wanted.m[i][1]),
                            static_cast<float>(wanted.m[i][2]), static_cast<float>(wanted.m[i][3])};
        for_all([&](TransformManager& transforms) {
            ASSERT_TRUE(transforms.set_world_pose(transforms.instance(node.entity), world));
        });
        adopt(node, wanted);
    }

    /// Returns one entity, or several, with repetitions and with descendants of each other in any order.
    std::vector<Entity> some_to_go() {
        std::vector<Entity> gone = {any()};
        for (std::uint32_t i = random.below(8) == 0 ? random.below(12) : 0; i > 0; --i) gone.push_back(any());
        return gone;
    }

    /// Checks the children of removed nodes, and removes the nodes from the naive scene.
    void take_out(const std::vector<Entity>& gone) {
        std::vector<std::pair<Entity, Pose4x4>> orphans;
        for (const Entity entity : gone)
            for (const NaiveScene::Node* child : scene.find(entity)->children)
                orphans.push_back({child->entity, scene.world(*child)});
        for (const Entity entity : gone) {
            if (NaiveScene::Node* const node = scene.find(entity); node != nullptr) scene.remove(*node);
            std::erase(living, entity);
        }
        for (const auto& [orphan, world] : orphans)
            if (NaiveScene::Node* const node = scene.find(orphan); node != nullptr) adopt(*node, world);
    }

    void remove() {
        const std::vector<Entity> gone = some_to_go();
        const std::size_t count = std::set<Entity>(gone.begin(), gone.end()).size();
        for_all([&](TransformManager& transforms) { ASSERT_EQ(transforms.remove(gone), count); });
        take_out(gone);
        entities.destroy(gone);
    }

    void destroy() {
        const std::vector<Entity> gone = some_to_go();
        entities.destroy(gone);
        end_frame();
        take_out(gone);
    }

    void end_frame() {
        batch.reset();
        if (random.below(2) == 0) deferred.compute_moved(), loaded.compute_moved();
        for_all([&](TransformManager& transforms) { transforms.settle({.stamp = ++stamp}); });
        batch.emplace(batched);
    }

    static std::map<std::string, std::vector<std::byte>> saved_by(const TransformManager& transforms) {
        Snapshot state;
        SnapshotWriter to(state);
        transforms.save(to);
        EXPECT_TRUE(to.status().ok());
        std::map<std::string, std::vector<std::byte>> parts;
        for (std::size_t i = 0; i < state.num_parts(); ++i) {
            const SnapshotPart part = state.part(i);
            std::vector<std::byte>& bytes = parts[std::string(part.path)];
            bytes.resize(part.num_bytes());
            state.copy(part, 0, part.num_elements, bytes.data());
        }
        return parts;
    }
    /// Changes one manager alone, and lets it load the state of another one, of which nothing of it is to remain.
    void load() {
        for (std::uint32_t i = random.below(4); i-- > 0 && loaded.num_rows() > 1;) {
            const Instance some{random.below(loaded.num_rows())};
            const Entity entity = loaded.entity(some);
            switch (random.below(4)) {
                case 0:
                    loaded.set_position(some, random_pose(random).position);
                    break;
                case 1:
                    loaded.unlink(some, KeepPose::kWorld);
                    break;
                case 2:
                    loaded.remove({&entity, 1});
                    break;
                default:
                    loaded.compute_moved();
            }
        }
        Snapshot state;
        SnapshotWriter to(state);
        deferred.save(to);
        SnapshotReader from(state, random.below(2) == 0);
        const Status status = loaded.load(from);
        ASSERT_TRUE(status.ok()) << status.message();
        const auto expected = saved_by(deferred), found = saved_by(loaded);
        ASSERT_EQ(found.size(), expected.size());
        for (const auto& [path, bytes] : expected) ASSERT_EQ(found.at(path), bytes) << path;
        EXPECT_EQ(loaded.counts().num_restores, deferred.counts().num_restores);
    }

    void compare() {
        for (const auto& [id, node] : scene.nodes) {
            const Matrix3x4& world = immediate.world(immediate.instance(node.entity));
            ASSERT_LT(difference(scene.world(node), world), 2e-3) << "entity " << node.entity.index();
            for_all([&](TransformManager& transforms) {
                const Instance i = transforms.instance(node.entity);
                ASSERT_TRUE(i) << "entity " << node.entity.index();
                ASSERT_TRUE(same_bits(transforms.world(i), world)) << "entity " << node.entity.index();
                Instance child = transforms.first_child(i), before;
                for (const NaiveScene::Node* expected : node.children) {
                    ASSERT_TRUE(child);
                    ASSERT_EQ(transforms.entity(child), expected->entity);
                    ASSERT_EQ(transforms.previous_sibling(child), before);
                    before = child;
                    child = transforms.next_sibling(child);
                }
                ASSERT_FALSE(child);
            });
        }
        for_all([&](TransformManager& transforms) { ASSERT_EQ(transforms.num_rows(), scene.nodes.size()); });
    }

    /// Ends the frame before some steps, and looks whether all that the step has written is marked.
    void step() {
        const bool is_watched = random.below(8) == 0;
        if (is_watched) end_frame();
        for (std::size_t i = 0; is_watched && i < kManagers; ++i) marks[i].begin(*managers[i]);
        change();
        if (is_watched) batch.reset(), batch.emplace(batched);
        for (std::size_t i = 0; is_watched && i < kManagers; ++i) EXPECT_TRUE(marks[i].all_is_marked(*managers[i]));
    }
    void change() {
        if (living.size() < 3) return create_tree();
        switch (random.below(20)) {
            case 0:
            case 1:
                return create_tree();
            case 2:
            case 3:
                return link();
            case 4:
                return unlink();
            case 5:
                return random.below(2) == 0 ? remove() : destroy();
            case 6:
                return set_world();
            case 7:
                return random.below(8) == 0 ? restored.restore_order() : set_many();
            case 8:
            case 9:
            case 10:
                return end_frame();
            default:
                return set_one();
        }
    }

    void run(std::size_t most_nodes, std::int64_t num_operations) {
        SCOPED_TRACE(seed_text());
        max_nodes = most_nodes;
        for (std::int64_t i = 0; i < num_operations / kManagers; ++i) {
            step();
            if (i % 64 == 0) end_frame();
            if (i % 64 == 0) compare();
            if (random.below(32) == 0) load();
            if (i % 512 < 2) for_all([&](TransformManager& transforms) { ASSERT_VALID(transforms); });
            if (HasFatalFailure()) FAIL() << "step " << i;
            most_dirty = std::max(most_dirty, deferred.num_dirty_rows());
        }
        EXPECT_GT(most_dirty, 0u);
        EXPECT_GT(deferred.counts().num_swaps, 0u);
        EXPECT_GT(restored.counts().num_restores, 0u);
    }

    std::uint32_t most_dirty = 0;
    std::uint64_t stamp = 1;
    std::vector<MarkWatch> marks = std::vector(kManagers, MarkWatch(5));  // local and world poses, and parents
};

}  // namespace

TEST_F(TransformOracle, random_small_scenes_are_where_a_naive_graph_has_them_in_every_mode) {
    run(24, scaled_operations(400'000));
}

TEST_F(TransformOracle, random_scenes_are_where_a_naive_graph_has_them_in_every_mode) {
    run(220, scaled_operations(600'000));
}

TEST_F(TransformOracle, random_large_scenes_are_where_a_naive_graph_has_them_in_every_mode) {
    run(1500, scaled_operations(200'000));
}
