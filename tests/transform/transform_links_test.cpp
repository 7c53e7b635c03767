// Links between transforms, and the order of rows that follows from them.

#include "support/logged.h"
#include "transform_testing.h"

#include <string>
#include <vector>

using namespace shoal;
using namespace shoal_test;

using TransformLinks = TransformScene;

namespace {

/// Compares parent, children and both siblings of a node with those of a naive scene.
void expect_links(const TransformManager& transforms, const NaiveScene::Node& node) {
    const Instance self = transforms.instance(node.entity);
    const auto entity_of = [&](Instance instance) { return instance ? transforms.entity(instance) : kNullEntity; };
    EXPECT_EQ(entity_of(transforms.parent(self)), node.parent == nullptr ? kNullEntity : node.parent->entity);
    std::vector<Entity> expected, found;
    for (const NaiveScene::Node* child : node.children) expected.push_back(child->entity);
    Instance before{};
    for (Instance child = transforms.first_child(self); child; child = transforms.next_sibling(child)) {
        found.push_back(transforms.entity(child));
        EXPECT_EQ(entity_of(transforms.previous_sibling(child)), entity_of(before));
        before = child;
    }
    EXPECT_EQ(found, expected);
}

}  // namespace

// --- links -------------------------------------------------------------------------------------------------------

TEST_F(TransformLinks, linking_to_itself_or_a_descendant_is_refused_and_nothing_changes) {
    const std::vector<Entity> chain = add_chain(5);
    const Status own = link(chain[2], chain[2]);
    EXPECT_FALSE(own.ok());
    EXPECT_NE(own.message().find("to itself"), std::string_view::npos) << own.message();
    const Status below = link(chain[1], chain[4]);
    EXPECT_NE(below.message().find("its descendant"), std::string_view::npos) << below.message();
    transforms.unlink(at_entity(chain[3]));
    ASSERT_TRUE(link(chain[3], chain[2]).ok());  // the order of rows is broken, so links must be followed
    EXPECT_FALSE(link(chain[0], chain[4]).ok());
    for (std::uint32_t i = 1; i < 5; ++i)
        EXPECT_EQ(transforms.entity(transforms.parent(at_entity(chain[i]))), chain[i - 1]);
    EXPECT_VALID(transforms);
}

TEST_F(TransformLinks, a_linked_child_comes_first_and_children_added_together_come_in_order) {  // req: C21-C22
    const std::vector<Entity> ids = create(6);
    const std::vector<std::uint32_t> parents = {kNilRow, 0, 0, 0, 1, kNilRow};
    ASSERT_TRUE(transforms.add(ids, std::vector<Transform>(6), parents).ok());
    EXPECT_EQ(children_of(ids[0]), (std::vector<Entity>{ids[1], ids[2], ids[3]}));
    EXPECT_EQ(children_of(ids[1]), (std::vector<Entity>{ids[4]}));
    ASSERT_TRUE(link(ids[5], ids[0]).ok());
    EXPECT_EQ(children_of(ids[0]), (std::vector<Entity>{ids[5], ids[1], ids[2], ids[3]}));
    ASSERT_TRUE(link(ids[2], ids[0]).ok());
    EXPECT_EQ(children_of(ids[0]), (std::vector<Entity>{ids[5], ids[1], ids[2], ids[3]})) << "it was a child already";
    transforms.restore_order();
    EXPECT_EQ(children_of(ids[0]), (std::vector<Entity>{ids[5], ids[1], ids[2], ids[3]}));
    transforms.unlink(at_entity(ids[1]));
    EXPECT_EQ(children_of(ids[0]), (std::vector<Entity>{ids[5], ids[2], ids[3]}));
    transforms.unlink(at_entity(ids[5]));
    EXPECT_EQ(children_of(ids[0]), (std::vector<Entity>{ids[2], ids[3]}));
    EXPECT_VALID(transforms);
}

TEST_F(TransformLinks, rows_added_parents_first_are_put_into_depth_first_order) {
    const std::vector<Entity> ids = create(7);
    // Breadth first.
    ASSERT_TRUE(
        transforms.add(ids, std::vector<Transform>(7, at(1)), std::vector<std::uint32_t>{kNilRow, 0, 0, 1, 1, 2, 2})
            .ok());
    EXPECT_VALID(transforms);
    const std::uint32_t order[] = {0, 1, 3, 4, 2, 5, 6};
    for (std::uint32_t row = 0; row < 7; ++row) EXPECT_EQ(at_entity(ids[order[row]]).row, row);
    EXPECT_EQ(place(ids[6]).x, 3);
    EXPECT_EQ(children_of(ids[2]), (std::vector<Entity>{ids[5], ids[6]}));
}

TEST_F(TransformLinks, linking_and_unlinking_keep_the_local_or_the_world_pose_as_asked) {  // req: D7
    const std::vector<Entity> ids = create(3);
    const std::vector<Transform> locals = {
        {{1, 2, 3}, about_z(0.7f), {2, 2, 2}}, {{4, 5, 6}, about_z(-0.3f), {1, 1, 1}}, at(1)};
    ASSERT_TRUE(transforms.add(ids, locals, std::vector<std::uint32_t>{kNilRow, kNilRow, 1}).ok());
    const Pose4x4 before = pose_of(locals[1]), leaf_before = before * pose_of(locals[2]);
    ASSERT_TRUE(link(ids[1], ids[0], KeepPose::kWorld).ok());
    EXPECT_LT(difference(before, transforms.world(at_entity(ids[1]))), 1e-6);
    EXPECT_LT(difference(leaf_before, transforms.world(at_entity(ids[2]))), 1e-6);
    EXPECT_NE(transforms.local(at_entity(ids[1])), locals[1]);
    transforms.unlink(at_entity(ids[1]), KeepPose::kWorld);
    EXPECT_LT(difference(before, transforms.world(at_entity(ids[1]))), 1e-6);
    transforms.set_local(at_entity(ids[1]), locals[1]);
    ASSERT_TRUE(link(ids[1], ids[0], KeepPose::kLocal).ok());
    EXPECT_EQ(transforms.local(at_entity(ids[1])), locals[1]);
    EXPECT_LT(difference(pose_of(locals[0]) * before, transforms.world(at_entity(ids[1]))), 1e-6);
    EXPECT_VALID(transforms);
}

TEST_F(TransformLinks, values_of_commands_are_counted_if_they_were_taken_and_links_if_they_were_made_or_cut) {
    const shoal_test::Logged log;
    const std::vector<Entity> ids = create(5);
    ASSERT_TRUE(transforms.add(std::span(ids).first(4), at(1)).ok());
    const auto link_all = [&](const std::vector<Entity>& children, const std::vector<ChildOf>& parents) {
        return *transforms.add_values(
            schema_of<ChildOf>(), children,
            {.images = reinterpret_cast<const std::byte*>(parents.data()), .stride = sizeof(ChildOf)});
    };
    EXPECT_EQ(link_all({ids[0], ids[2], ids[4], ids[3]}, {{ids[1]}, {ids[2]}, {ids[1]}, {ids[4]}}), 1u)
        << "not to itself, without a transform, or to one without";
    EXPECT_EQ(log.lines.size(), 3u);
    EXPECT_EQ(transforms.parent(at_entity(ids[0])), at_entity(ids[1]));
    EXPECT_EQ(*transforms.remove_values(schema_of<ChildOf>(), std::vector<Entity>{ids[1], ids[0], ids[4]}), 1u)
        << "one had a parent";
    EXPECT_FALSE(transforms.parent(at_entity(ids[0])));
    entities.destroy(ids[1]);
    EXPECT_EQ(link_all({ids[0], ids[2]}, {{ids[1]}, {ids[0]}}), 1u) << "not to one that has died in this frame";
    EXPECT_FALSE(transforms.parent(at_entity(ids[0])));
    ASSERT_EQ(log.lines.size(), 4u);
    EXPECT_NE(log.lines[3].find("its parent is dead"), std::string::npos) << log.lines[3];
    const Transform locals[] = {at(2), at(3)};
    EXPECT_EQ(
        *transforms.add_values(schema_of<Transform>(), std::vector<Entity>{ids[3], ids[4]},
                               {.images = reinterpret_cast<const std::byte*>(locals), .stride = sizeof(Transform)}),
        2u)
        << "one was set and one added";
    EXPECT_VALID(transforms);
}

TEST_F(TransformLinks, swapped_rows_keep_every_link) {  // req: C24
    // What moves is swapped into the suffix and out of it, and removing a row moves the last one into the hole.
    // Neighbours in the tree are neighbours in the table here, so parents, children and siblings change places.
    SCOPED_TRACE(seed_text());
    Random random(seed());
    std::uint64_t num_swaps = 0;
    for (int round = 0; round < 200; ++round) {
        TransformManager small(entities, pool, {.mode = TransformMode::kDeferred});
        NaiveScene scene;
        const std::vector<Entity> ids = create(8);
        std::vector<std::uint32_t> parents(8, kNilRow);
        for (std::uint32_t i = 1; i < 8; ++i) parents[i] = random.below(i);
        ASSERT_TRUE(small.add(ids, std::vector<Transform>(8, at(1)), parents).ok());
        for (const Entity entity : ids) scene.add(entity, at(1));
        for (std::uint32_t i = 8; i-- > 1;) scene.link(*scene.find(ids[i]), *scene.find(ids[parents[i]]));
        for (int frame = 0; frame < 9; ++frame) {
            const Entity mover = ids[frame < 3 ? 4 : random.below(8)];
            if (small.has(mover)) small.set_position(small.instance(mover), {1, 0, 0});
            small.compute_moved();
            if (frame == 4 || frame == 6) {
                const Entity gone = ids[1 + random.below(7)];
                if (NaiveScene::Node* node = scene.find(gone)) scene.remove(*node);
                small.remove({&gone, 1});
            }
            ASSERT_VALID(small);
            for (const auto& [bits, node] : scene.nodes) expect_links(small, node);
            if (HasFailure()) FAIL() << "round " << round << ", frame " << frame;
        }
        num_swaps += small.counts().num_swaps;
    }
    EXPECT_GT(num_swaps, 400u) << "rows were to be swapped";
}

TEST_F(TransformLinks, a_million_children_are_linked_and_unlinked_and_destroyed_one_by_one) {
    const std::vector<Entity> ids = create(kLong + 1);
    ASSERT_TRUE(transforms.add(ids, at(1)).ok());
    // The parent is the last row, which moves into every hole before it.
    const Entity parent = ids.back();
    for (std::uint32_t i = 0; i < kLong; ++i) ASSERT_TRUE(link(ids[i], parent).ok());
    for (std::uint32_t i = 0; i < kLong; i += 2) transforms.unlink(at_entity(ids[i]), KeepPose::kLocal);
    for (std::uint32_t i = 0; i < kLong; i += 2) ASSERT_TRUE(link(ids[i], parent).ok());
    EXPECT_EQ(place(ids[0]).x, 2);
    for (std::uint32_t i = kLong; i-- > 1;) ASSERT_EQ(transforms.remove({&ids[i], 1}), 1u);
    EXPECT_EQ(transforms.num_rows(), 2u);
    EXPECT_EQ(transforms.entity(transforms.first_child(at_entity(parent))), ids[0]);
    EXPECT_VALID(transforms);
}

TEST_F(TransformLinks, the_parent_of_a_million_children_is_removed_in_one_pass) {
    const std::vector<Entity> ids = create(kLong + 1);
    std::vector<std::uint32_t> parents(kLong + 1, 0);
    parents[0] = kNilRow;
    ASSERT_TRUE(transforms.add(ids, std::vector<Transform>(kLong + 1, at(1)), parents).ok());
    const std::uint64_t before = num_computed();
    EXPECT_EQ(transforms.remove(std::span(ids).first(1)), 1u);
    EXPECT_LE(num_computed() - before, kLong);
    EXPECT_EQ(place(ids[kLong]).x, 2);
    EXPECT_FALSE(transforms.parent(at_entity(ids[kLong])));
    EXPECT_VALID(transforms);
}

// --- order -------------------------------------------------------------------------------------------------------

TEST_F(TransformLinks, restoring_the_order_makes_each_subtree_one_range_and_then_does_nothing) {
    const std::vector<Entity> ids = create(64);
    ASSERT_TRUE(transforms.add(ids, at(1)).ok());
    for (std::uint32_t i = 0; i < 48; ++i) ASSERT_TRUE(link(ids[i], ids[48 + i % 16]).ok());
    transforms.restore_order();
    EXPECT_EQ(transforms.counts().num_restores, 1u);
    for (std::uint32_t i = 48; i < 64; ++i) {
        const std::uint32_t row = at_entity(ids[i]).row;
        for (const Entity child : children_of(ids[i])) EXPECT_LE(at_entity(child).row - row, 3u);
    }
    transforms.restore_order();
    EXPECT_EQ(transforms.counts().num_restores, 1u);
    EXPECT_VALID(transforms);
}

TEST_F(TransformLinks, in_immediate_mode_settling_brings_parents_and_children_together_again) {  // req: C20
    const std::vector<Entity> ids = create(1000);
    ASSERT_TRUE(transforms.add(ids, at(1)).ok());
    for (std::uint32_t i = 0; i < 500; ++i) ASSERT_TRUE(link(ids[i], ids[999 - i]).ok());
    transforms.settle({.stamp = 2});
    EXPECT_EQ(transforms.counts().num_restores, 0u) << "following links has cost nothing yet";
    for (std::uint32_t i = 0; i < 500; ++i) transforms.set_position(at_entity(ids[999 - i]), {1, 1, 1});
    for (std::uint32_t i = 0; i < 500; ++i) transforms.set_position(at_entity(ids[999 - i]), {2, 1, 1});
    for (std::uint32_t i = 0; i < 2; ++i) transforms.set_position(at_entity(ids[999 - i]), {3, 1, 1});
    EXPECT_EQ(transforms.counts().num_restores, 0u) << "setting poses does not move rows";
    transforms.settle({.stamp = 3});
    EXPECT_EQ(transforms.counts().num_restores, 1u);
    for (std::uint32_t i = 0; i < 500; ++i) EXPECT_EQ(at_entity(ids[i]).row, at_entity(ids[999 - i]).row + 1);
    EXPECT_VALID(transforms);
}
