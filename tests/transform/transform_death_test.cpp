// Transforms of entities that die or are spawned, and of several worlds.

#include "transform_testing.h"

#include <algorithm>
#include <limits>
#include <vector>

using namespace shoal;
using namespace shoal_test;

namespace {

class TransformDeaths : public TransformFixture {
protected:
    std::vector<Entity> add_chain(TransformManager& transforms, std::uint32_t count) {
        const std::vector<Entity> chain = create(count);
        std::vector<std::uint32_t> parents(count);
        for (std::uint32_t i = 0; i < count; ++i) parents[i] = i == 0 ? kNilRow : i - 1;
        EXPECT_TRUE(transforms.add(chain, std::vector<Transform>(count, at(1)), parents).ok());
        return chain;
    }
    static Vec3 place(const TransformManager& transforms, Entity entity) {
        return transforms.world_position(transforms.instance(entity));
    }
};

}  // namespace

TEST_F(TransformDeaths, children_of_the_dead_become_roots_where_they_are) {
    for (const TransformMode mode : {TransformMode::kImmediate, TransformMode::kDeferred}) {
        TransformManager transforms(entities, pool, {.mode = mode});
        const std::vector<Entity> chain = add_chain(transforms, 10);
        transforms.set_position(transforms.instance(chain[0]), {5, 0, 0});
        entities.destroy(std::vector<Entity>{chain[4], chain[7]});
        EXPECT_EQ(transforms.num_rows(), 10u) << "rows are removed at settle";
        transforms.settle({.stamp = 2});
        EXPECT_EQ(transforms.num_rows(), 8u);
        EXPECT_FALSE(transforms.parent(transforms.instance(chain[5])));
        EXPECT_EQ(place(transforms, chain[6]).x, 11);
        EXPECT_EQ(place(transforms, chain[9]).x, 14);
        EXPECT_TRUE(entities.alive(chain[9]));
        EXPECT_VALID(transforms);
    }
}

TEST_F(TransformDeaths, children_that_die_with_their_parent_die_in_the_same_call) {
    TransformManager transforms(entities, pool, {.children_of_dead = ChildrenOfDead::kDie});
    const std::vector<Entity> chain = add_chain(transforms, 100'000);
    const std::vector<Entity> other = add_chain(transforms, 10);
    entities.destroy(chain[10]);
    EXPECT_TRUE(entities.alive(chain[9]));
    for (std::uint32_t i = 10; i < chain.size(); ++i) ASSERT_FALSE(entities.alive(chain[i]));
    EXPECT_TRUE(entities.alive(other[9]));
    transforms.settle({.stamp = 2});
    EXPECT_EQ(transforms.num_rows(), 20u);
    EXPECT_VALID(transforms);
    entities.destroy(other);
    transforms.settle({.stamp = 3});
    EXPECT_EQ(transforms.num_rows(), 10u);
    EXPECT_VALID(transforms);
}

TEST_F(TransformDeaths, a_level_that_dies_as_a_whole_is_removed_in_one_pass) {
    TransformManager transforms(entities, pool);
    const std::vector<Entity> chain = add_chain(transforms, 300'000);
    entities.destroy(std::span(chain).first(299'999));
    const std::uint64_t before = transforms.counts().num_worlds_computed;
    transforms.settle({.stamp = 2});
    EXPECT_EQ(transforms.num_rows(), 1u);
    EXPECT_EQ(place(transforms, chain.back()).x, 300'000);
    EXPECT_LE(transforms.counts().num_worlds_computed - before, 1u);
    EXPECT_VALID(transforms);
}

TEST_F(TransformDeaths, after_more_deaths_than_the_list_holds_all_rows_are_checked) {
    EntityManager forgetful({.max_death_list = 4});
    TransformManager transforms(forgetful, pool);
    std::vector<Entity> ids(100);
    ASSERT_TRUE(forgetful.create(ids).ok());
    ASSERT_TRUE(transforms.add(ids, at(1)).ok());
    forgetful.destroy(std::span(ids).first(50));
    transforms.settle({.stamp = 2});
    EXPECT_EQ(transforms.num_rows(), 50u);
    EXPECT_VALID(transforms);
}

TEST_F(TransformDeaths, a_new_entity_on_the_index_of_a_dead_one_takes_its_place) {
    EntityManager quick({.minimum_free_ids = 1});
    TransformManager transforms(quick, pool);
    std::vector<Entity> ids(4);
    ASSERT_TRUE(quick.create(ids).ok());
    ASSERT_TRUE(
        transforms.add(ids, std::vector<Transform>(4, at(1)), std::vector<std::uint32_t>{kNilRow, 0, 1, 2}).ok());
    quick.destroy(ids[1]);
    const Entity newcomer = *quick.create();
    ASSERT_EQ(newcomer.index(), ids[1].index());
    ASSERT_TRUE(transforms.add({&newcomer, 1}, at(9)).ok());
    EXPECT_EQ(place(transforms, newcomer).x, 9);
    EXPECT_EQ(place(transforms, ids[3]).x, 4);
    EXPECT_FALSE(transforms.parent(transforms.instance(ids[2])));
    transforms.settle({.stamp = 2});
    EXPECT_EQ(transforms.num_rows(), 4u);
    EXPECT_VALID(transforms);
}

TEST_F(TransformDeaths, an_entity_is_in_several_worlds_at_several_places_until_it_dies) {  // req: C3-C4
    TransformManager here(entities, pool), there(entities, pool, {.mode = TransformMode::kDeferred});
    const std::vector<Entity> ids = create(3);
    ASSERT_TRUE(here.add(ids, at(1)).ok());
    ASSERT_TRUE(there.add(ids, std::vector<Transform>(3, at(2)), std::vector<std::uint32_t>{kNilRow, 0, 1}).ok());
    here.set_position(here.instance(ids[2]), {7, 0, 0});
    EXPECT_EQ(place(here, ids[2]).x, 7);
    EXPECT_EQ(place(there, ids[2]).x, 6);
    entities.destroy(ids[1]);
    here.settle({.stamp = 2});
    EXPECT_FALSE(here.has(ids[1]));
    EXPECT_TRUE(there.has(ids[1])) << "the other world has not settled yet";
    there.settle({.stamp = 2});
    EXPECT_FALSE(there.has(ids[1]));
    EXPECT_EQ(place(there, ids[2]).x, 6);
    EXPECT_VALID(here);
    EXPECT_VALID(there);
}

// --- spawning ----------------------------------------------------------------------------------------------------

namespace {

/// The transforms of a blob. Between the second transform and its parent there is an entity without one.
struct Level {
    std::vector<Vec3> positions = {{1, 0, 0}, {2, 0, 0}, {3, 0, 0}};
    std::vector<Quaternion> rotations = {about_z(1.57079633f), {}, {}};
    std::vector<Vec3> scales = {{1, 1, 1}, {2, 2, 2}, {1, 1, 1}};
    std::vector<std::uint32_t> entity_index = {0, 2, 3};
    std::vector<std::uint32_t> parents = {kNoBlobEntity, 0, 1, kNoBlobEntity};
    std::vector<const std::byte*> columns;

    SpawnBatch batch(std::span<const Entity> entities) {
        columns = {reinterpret_cast<const std::byte*>(positions.data()),
                   reinterpret_cast<const std::byte*>(rotations.data()),
                   reinterpret_cast<const std::byte*>(scales.data())};
        SpawnBatch result;
        result.component = schema_of<Transform>().id();
        result.entities = entities;
        result.num_blob_entities = 4;
        result.num_copies = static_cast<std::uint32_t>(entities.size() / 4);
        result.entity_index = entity_index;
        result.columns = columns;
        result.parents = parents;
        return result;
    }
};

}  // namespace

TEST_F(TransformDeaths, copies_of_a_blob_are_linked_to_the_nearest_ancestor_with_a_transform) {
    TransformManager transforms(entities, pool);
    const std::vector<Entity> ids = create(3 * 4);
    Level level;
    ASSERT_TRUE(transforms.spawn(level.batch(ids)).ok());
    EXPECT_EQ(transforms.num_rows(), 9u);
    EXPECT_VALID(transforms);
    for (std::uint32_t copy = 0; copy < 3; ++copy) {
        const Entity* const own = &ids[copy * 4];
        EXPECT_FALSE(transforms.has(own[1]));
        EXPECT_EQ(transforms.entity(transforms.parent(transforms.instance(own[2]))), own[0]);
        EXPECT_FALSE(transforms.parent(transforms.instance(own[3])));
        EXPECT_NEAR(place(transforms, own[2]).x, 1, 1e-6);
        EXPECT_NEAR(place(transforms, own[2]).y, 2, 1e-6);
        EXPECT_EQ(place(transforms, own[3]).x, 3);
    }
    EXPECT_FALSE(transforms.spawn(level.batch(ids)).ok()) << "these entities have transforms already";
    EXPECT_EQ(transforms.num_rows(), 9u);
}

TEST_F(TransformDeaths, each_copy_is_placed_at_its_root_pose) {
    TransformManager transforms(entities, pool);
    const std::vector<Entity> ids = create(3 * 4);
    Level level;
    SpawnBatch batch = level.batch(ids);
    const RootPose root_poses[] = {
        {}, {{10, 0, 0}, about_z(1.57079633f), {2, 2, 2}}, {{0, 0, 5}, about_z(0.25f), {1, 3, 1}}};
    batch.root_poses = root_poses;
    ASSERT_TRUE(transforms.spawn(batch).ok());
    for (std::uint32_t copy = 0; copy < 3; ++copy) {
        const RootPose& root = root_poses[copy];
        const Pose4x4 outer = pose_of({root.position, root.rotation, root.scale});
        for (std::uint32_t i = 0; i < 3; ++i) {
            const Pose4x4 own = pose_of({level.positions[i], level.rotations[i], level.scales[i]});
            const Pose4x4 above =
                i == 1 ? pose_of({level.positions[0], level.rotations[0], level.scales[0]}) : Pose4x4{};
            const Instance instance = transforms.instance(ids[copy * 4 + level.entity_index[i]]);
            EXPECT_LT(difference(outer * above * own, transforms.world(instance)), 1e-6) << copy << " " << i;
        }
    }
    EXPECT_EQ(transforms.local(transforms.instance(ids[2])).position, (Vec3{2, 0, 0}))
        << "children keep their local poses";
    EXPECT_EQ(transforms.local(transforms.instance(ids[0])).rotation, level.rotations[0]);
    EXPECT_VALID(transforms);
}

TEST_F(TransformDeaths, a_blob_with_an_invalid_pose_is_refused_and_nothing_changes) {
    TransformManager transforms(entities, pool);
    const std::vector<Entity> ids = create(4);
    const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
    const auto expect_refused = [&](const char* what, auto&& damage) {
        Level level;
        damage(level);
        const Status status = transforms.spawn(level.batch(ids));
        ASSERT_FALSE(status.ok()) << what;
        EXPECT_NE(status.message().find("blob entity 2 has a " + std::string(what)), std::string_view::npos)
            << status.message();
        EXPECT_EQ(transforms.num_rows(), 0u);
        EXPECT_VALID(transforms);
    };
    expect_refused("position", [&](Level& level) { level.positions[1].y = nan; });
    expect_refused("position", [&](Level& level) { level.positions[1].z = -infinity; });
    expect_refused("rotation", [&](Level& level) { level.rotations[1] = {0, 0, 0, 0}; });
    expect_refused("rotation", [&](Level& level) { level.rotations[1].x = nan; });
    expect_refused("scale", [&](Level& level) { level.scales[1].x = 0; });
    expect_refused("scale", [&](Level& level) { level.scales[1].z = infinity; });
}

TEST_F(TransformDeaths, a_blob_whose_children_come_before_their_parents_is_refused) {
    TransformManager transforms(entities, pool);
    const std::vector<Entity> ids = create(4);
    Level level;
    level.entity_index = {2, 0, 3};
    const Status status = transforms.spawn(level.batch(ids));
    ASSERT_FALSE(status.ok());
    EXPECT_NE(status.message().find("a child comes before its parent"), std::string_view::npos) << status.message();
    level.parents = {kNoBlobEntity, 2, 0, kNoBlobEntity};
    EXPECT_FALSE(transforms.spawn(level.batch(ids)).ok());
    EXPECT_EQ(transforms.num_rows(), 0u);
}
