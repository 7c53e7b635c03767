// What callers may pass: columns of the manager itself, entities twice, unknown entities and invalid poses; and that no
// work is wasted on rows that are removed.

#include "transform_testing.h"

#include <algorithm>
#include <limits>
#include <vector>

using namespace shoal;
using namespace shoal_test;

namespace {

class TransformCalls : public TransformScene {
protected:
    TransformManager deferred{entities, pool, {.mode = TransformMode::kDeferred}};

    std::uint64_t num_placed() const { return transforms.counts().num_locals_computed; }
    /// Ids without a transform: dead, living, null, invalid, and of another entity manager.
    std::vector<Entity> create_strangers() {
        std::vector<Entity> strangers = create(3);
        EXPECT_TRUE(transforms.add(std::span(strangers).first(1), at(7)).ok());
        entities.destroy(std::span(strangers).first(1));
        transforms.settle({.stamp = 2});
        strangers.push_back(kNullEntity);
        strangers.push_back(Entity{EntityBits(~0ull)});
        strangers.push_back(Entity{strangers[1].id + (EntityBits(5) << kIndexBits)});
        return strangers;
    }
};

}  // namespace

// --- removing ----------------------------------------------------------------------------------------------------

TEST_F(TransformCalls, removing_parents_before_their_children_places_only_the_children_that_stay) {
    constexpr std::uint32_t kNodes = 1000;
    const std::vector<Entity> chain = add_chain(kNodes);
    std::uint64_t placed = num_placed(), computed = num_computed();
    EXPECT_EQ(transforms.remove(std::span(chain).first(kNodes / 2)), kNodes / 2);
    EXPECT_EQ(num_placed() - placed, 1u) << "only one child of a removed parent stays";
    EXPECT_LE(num_computed() - computed, kNodes / 2);
    EXPECT_EQ(place(chain[kNodes / 2]).x, float(kNodes / 2 + 1));
    EXPECT_EQ(place(chain.back()).x, float(kNodes));
    std::vector<Entity> others;  // every other one
    for (std::uint32_t i = kNodes / 2; i < kNodes; i += 2) others.push_back(chain[i]);
    placed = num_placed(), computed = num_computed();
    EXPECT_EQ(transforms.remove(others), others.size());
    EXPECT_EQ(num_placed() - placed, others.size());
    EXPECT_LE(num_computed() - computed, others.size());
    EXPECT_EQ(place(chain.back()).x, float(kNodes));
    EXPECT_VALID(transforms);
    placed = num_placed();
    EXPECT_EQ(transforms.remove(chain), kNodes / 2 - others.size());
    EXPECT_EQ(num_placed(), placed);
}

TEST_F(TransformCalls, a_dead_child_of_a_removed_parent_keeps_a_valid_row_until_settle) {
    for (TransformManager* const mine : {&transforms, &deferred}) {
        const std::vector<Entity> ids = create(3);
        const std::vector<Transform> locals = {{{1, 2, 3}, about_z(1), {2, 2, 2}}, at(4), at(5)};
        ASSERT_TRUE(mine->add(ids, locals, std::vector<std::uint32_t>{kNilRow, 0, 1}).ok());
        const Vec3 leaf = mine->world_position(mine->instance(ids[2]));
        entities.destroy(std::span(ids).subspan(1, 1));
        EXPECT_EQ(mine->remove(std::span(ids).first(1)), 1u);
        EXPECT_VALID(*mine);
        mine->settle({.stamp = 2});
        EXPECT_EQ(mine->num_rows(), 1u);
        EXPECT_NEAR(mine->world_position(mine->instance(ids[2])).x, leaf.x, 1e-5);
        EXPECT_VALID(*mine);
    }
}

TEST_F(TransformCalls, children_that_die_with_their_parent_in_one_world_leave_all_worlds) {
    TransformManager strict(entities, pool, {.children_of_dead = ChildrenOfDead::kDie});
    const std::vector<Entity> chain = add_chain(10);
    ASSERT_TRUE(strict
                    .add(std::span(chain).subspan(4, 3), std::vector<Transform>(3, at(1)),
                         std::vector<std::uint32_t>{kNilRow, 0, 1})
                    .ok());
    ASSERT_TRUE(deferred.add(chain, at(1)).ok());
    deferred.set_position(deferred.instance(chain[5]), {3, 0, 0});
    entities.destroy(chain[5]);
    EXPECT_TRUE(entities.alive(chain[4]));
    EXPECT_FALSE(entities.alive(chain[6])) << "it is a child in the strict world";
    EXPECT_TRUE(entities.alive(chain[7]));
    for (TransformManager* const mine : {&transforms, &strict, &deferred}) {
        mine->settle({.stamp = 2});
        EXPECT_VALID(*mine);
    }
    EXPECT_EQ(strict.num_rows(), 1u);
    EXPECT_EQ(transforms.num_rows(), 8u);
    EXPECT_EQ(deferred.num_rows(), 8u);
    EXPECT_EQ(place(chain[7]).x, 8);
}

TEST_F(TransformCalls, a_child_that_dies_with_its_parent_is_destroyed_once) {
    TransformManager strict(entities, pool, {.children_of_dead = ChildrenOfDead::kDie});
    const std::vector<Entity> family = create(4);
    ASSERT_TRUE(
        strict.add(family, std::vector<Transform>(4, at(1)), std::vector<std::uint32_t>{kNilRow, 0, 0, 1}).ok());
    const std::uint64_t num_ignored = entities.num_ignored_destroys();
    EXPECT_EQ(entities.destroy(std::span(family).first(2)), 2u);
    for (const Entity entity : family) EXPECT_FALSE(entities.alive(entity));
    EXPECT_EQ(entities.num_ignored_destroys(), num_ignored);
    strict.settle({.stamp = 2});
    EXPECT_EQ(strict.num_rows(), 0u);
}

// --- extreme scenes ----------------------------------------------------------------------------------------------

TEST_F(TransformCalls, half_of_a_million_children_die_and_the_rest_change_parents) {
    for (TransformManager* const mine : {&transforms, &deferred}) {
        const std::vector<Entity> ids = create(kLong + 2);
        std::vector<std::uint32_t> parents(ids.size(), 0);
        parents[0] = parents[kLong + 1] = kNilRow;
        ASSERT_TRUE(mine->add(ids, std::vector<Transform>(ids.size(), at(1)), parents).ok());
        std::vector<Entity> half, rest;
        for (std::uint32_t i = kLong; i > 0; --i) (i % 2 == 0 ? half : rest).push_back(ids[i]);
        for (std::size_t i = 0; i < half.size() / 2; ++i) entities.destroy(half[i]);
        mine->settle({.stamp = 2});
        EXPECT_EQ(mine->num_rows(), ids.size() - half.size() / 2);
        entities.destroy(half);
        mine->settle({.stamp = 3});
        ASSERT_EQ(mine->num_rows(), rest.size() + 2);
        for (const Entity child : rest)
            ASSERT_TRUE(mine->link(mine->instance(child), mine->instance(ids[kLong + 1]), KeepPose::kWorld).ok());
        EXPECT_FALSE(mine->first_child(mine->instance(ids[0])));
        if (mine == &deferred) mine->compute_moved();
        EXPECT_EQ(mine->world_position(mine->instance(ids[1])).x, 2);
        EXPECT_VALID(*mine);
        entities.destroy(ids);
    }
}

TEST_F(TransformCalls, a_chain_of_a_million_is_removed_from_its_root_from_its_leaf_and_in_random_order) {
    SCOPED_TRACE(seed_text());
    Random random(seed());
    for (const int order : {0, 1, 2}) {
        std::vector<Entity> chain = add_chain(kLong);
        const Entity last = chain[order == 0 ? kLong - 1 : 0];
        if (order == 1) std::reverse(chain.begin(), chain.end());
        for (std::uint32_t i = kLong; order == 2 && i-- > 1;) std::swap(chain[i], chain[random.below(i + 1)]);
        std::erase(chain, last);
        EXPECT_EQ(transforms.remove(chain), kLong - 1);
        EXPECT_EQ(place(last).x, order == 0 ? float(kLong) : 1.0f);
        EXPECT_VALID(transforms);
        transforms.remove({&last, 1});
    }
}

// --- spans of the manager ----------------------------------------------------------------------------------------

TEST_F(TransformCalls, a_span_may_be_a_column_of_the_manager) {
    std::vector<Entity> ids = create(40);
    for (int copies = 1; copies < 12; ++copies) {  // the table moves out of the memory of the spans as it grows
        const std::uint32_t num_before = transforms.num_rows();
        if (copies == 1) {
            ASSERT_TRUE(transforms.add(ids, at(1)).ok());
            for (std::uint32_t i = 1; i < 40; ++i) ASSERT_TRUE(link(ids[i], ids[(i - 1) / 2]).ok());
            transforms.restore_order();
            continue;
        }
        const std::span<const std::uint32_t> parents = transforms.table().links(LinkColumn::kTreeParent);
        const std::vector<std::uint32_t> expected(parents.begin(), parents.end());
        const std::vector<Entity> copy = create(num_before);
        ASSERT_TRUE(transforms.add(copy, std::vector<Transform>(num_before, at(1)), parents).ok());
        if (transforms.num_rows() > 5000) break;
        for (std::uint32_t i = 0; i < num_before; ++i) {
            const Instance parent = transforms.parent(at_entity(copy[i]));
            ASSERT_EQ(parent ? transforms.entity(parent) : kNullEntity,
                      expected[i] == kNilRow ? kNullEntity : copy[expected[i]]);
        }
    }
    const std::span<const Entity> owners = transforms.table().entities();
    std::vector<Entity> shifted(owners.begin(), owners.end());
    std::vector<float> expected;
    for (std::size_t i = 0; i < shifted.size(); ++i) transforms.set_position(at_entity(shifted[i]), {float(i), 0, 0});
    std::rotate(shifted.begin(), shifted.begin() + 1, shifted.end());
    const auto* const positions = reinterpret_cast<const Vec3*>(transforms.table().column(0));
    EXPECT_EQ(transforms.set_positions(shifted, {positions, shifted.size()}), shifted.size());
    for (std::size_t i = 0; i < shifted.size(); ++i)
        ASSERT_EQ(transforms.local(at_entity(shifted[i])).position.x, float(i)) << "the value before the call";
    EXPECT_EQ(transforms.add(transforms.table().entities(), at(3))->num_set, shifted.size());
    EXPECT_VALID(transforms);
    EXPECT_EQ(transforms.remove(transforms.table().entities()), shifted.size());
}

TEST_F(TransformCalls, a_world_pose_of_the_manager_is_taken_as_it_was_at_the_call) {
    const std::vector<Entity> ids = create(2);
    ASSERT_TRUE(deferred.add(ids, std::vector<Transform>(2, at(1)), std::vector<std::uint32_t>{kNilRow, 0}).ok());
    const Instance child = deferred.instance(ids[1]);
    deferred.set_position(child, {50, 0, 0});
    deferred.set_position(deferred.instance(ids[0]), {10, 0, 0});
    EXPECT_TRUE(deferred.set_world_pose(child, deferred.world(child)))
        << "it is at 2, because nothing was computed yet";
    EXPECT_EQ(deferred.local(child).position.x, -8);
    deferred.compute_moved();
    EXPECT_EQ(deferred.world_position(child).x, 2);
}

// --- ids ---------------------------------------------------------------------------------------------------------

TEST_F(TransformCalls, span_calls_skip_entities_without_a_transform) {
    const std::vector<Entity> ids = create(2), strangers = create_strangers();
    ASSERT_TRUE(transforms.add(ids, at(1)).ok());
    std::vector<Entity> all = strangers;
    all.insert(all.end(), ids.begin(), ids.end());
    EXPECT_EQ(transforms.set_positions(all, std::vector<Vec3>(all.size(), Vec3{2, 0, 0})), 2u);
    EXPECT_EQ(transforms.set_locals(all, std::vector<Transform>(all.size(), at(3))), 2u);
    std::vector<Vec3> places(all.size(), Vec3{9, 9, 9});
    EXPECT_EQ(transforms.world_positions(all, places), 2u);
    for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(places[i].x, i < strangers.size() ? 0 : 3) << i;
    std::vector<Matrix3x4> poses(all.size());
    EXPECT_EQ(transforms.world_poses(all, poses), 2u);
    EXPECT_EQ(transforms.remove(strangers), 0u);
    transforms.drop(strangers);
    // Two of these are alive: they are added, and so are their children.
    std::vector<std::uint32_t> parents(all.size());
    for (std::uint32_t i = 0; i < parents.size(); ++i) parents[i] = i == 0 ? kNilRow : i - 1;
    const Result<AddCounts> counts = transforms.add(all, std::vector<Transform>(all.size(), at(1)), parents);
    ASSERT_TRUE(counts.ok());
    EXPECT_EQ(counts->num_added, 2u);
    EXPECT_EQ(counts->num_set, 2u);
    EXPECT_EQ(counts->num_skipped, strangers.size() - 2);
    EXPECT_EQ(place(strangers[2]).x, 2);
    EXPECT_VALID(transforms);
}

TEST_F(TransformCalls, the_last_pose_of_a_repeated_entity_counts_and_it_is_removed_once) {
    const std::vector<Entity> chain = add_chain(3);
    const std::vector<Entity> twins = {chain[1], chain[0], chain[1], chain[1]};
    const std::uint64_t before = num_computed();
    EXPECT_EQ(transforms.set_locals(twins, std::vector<Transform>{at(2), at(3), at(4), at(5)}), 4u);
    EXPECT_EQ(num_computed() - before, 3u);
    EXPECT_EQ(place(chain[2]).x, 3 + 5 + 1);
    EXPECT_EQ(transforms.remove(twins), 2u);
    EXPECT_EQ(place(chain[2]).x, 9);
    EXPECT_VALID(transforms);
}

TEST_F(TransformCalls, a_nil_or_removed_instance_ends_the_program_in_every_build) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    const Instance one = at_entity(add_chain(1)[0]), gone{1};
    for (const Instance nobody : {kNilInstance, gone}) {
        EXPECT_DEATH(static_cast<void>(transforms.world(nobody)), "the instance .*transform");
        EXPECT_DEATH(static_cast<void>(transforms.world_position(nobody)), "the instance .*transform");
        EXPECT_DEATH(transforms.set_position(nobody, {}), "the instance .*transform");
        EXPECT_DEATH(transforms.unlink(nobody), "the instance .*transform");
        EXPECT_DEATH(static_cast<void>(transforms.link(one, nobody)), "the instance .*transform");
        EXPECT_DEATH(static_cast<void>(transforms.next_in_subtree(nobody, one)), "the instance .*transform");
    }
    const Instance other = at_entity(add_chain(1)[0]);
    EXPECT_DEATH(static_cast<void>(transforms.next_in_subtree(other, one)), "not in the subtree");
}

// --- invalid poses -----------------------------------------------------------------------------------------------

namespace {

Matrix3x4 with(float Vec4::* lane, float value) {
    Matrix3x4 matrix;
    matrix.row[0].*lane = value;
    return matrix;
}
const Matrix3x4 kUnsound[] = {with(&Vec4::x, NAN), with(&Vec4::y, INFINITY), with(&Vec4::w, NAN),
                              with(&Vec4::w, -INFINITY)};

}  // namespace

#if SHOAL_CHECKED
using TransformCallsDeathTest = TransformCalls;

TEST_F(TransformCallsDeathTest, in_checked_builds_an_invalid_world_pose_ends_the_program) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    const Instance i = at_entity(add_chain(1)[0]);
    for (const Matrix3x4& unsound : kUnsound)
        EXPECT_DEATH(transforms.set_world_pose(i, unsound), "flat, infinite or not a number");
    EXPECT_DEATH(transforms.set_world_pose(i, with(&Vec4::x, 0)), "flat, infinite or not a number");
}
#else
TEST_F(TransformCalls, without_checks_an_invalid_world_pose_leaves_the_local_pose) {
    const std::vector<Entity> chain = add_chain(2);
    for (const Matrix3x4& unsound : kUnsound)
        for (const Entity entity : chain) {
            EXPECT_FALSE(transforms.set_world_pose(at_entity(entity), unsound));
            EXPECT_EQ(transforms.local(at_entity(entity)), at(1));
        }
    transforms.set_scale(at_entity(chain[0]), {1, 0, 1});
    EXPECT_FALSE(transforms.set_world_pose(at_entity(chain[1]), Matrix3x4())) << "its parent is flat";
    EXPECT_EQ(transforms.local(at_entity(chain[1])), at(1));
    EXPECT_VALID(transforms);
}
#endif
