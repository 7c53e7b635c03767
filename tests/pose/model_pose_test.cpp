// Model poses: trees, instances, what is computed, constraints.

#include "shoal/pose/model_pose.h"

#include "model_pose_testing.h"
#include "shoal/job/executor.h"
#include "shoal/state/snapshot.h"
#include "shoal/table/detail/field_part.h"
#include "support/changed_state.h"
#include "support/thread_pool_executor.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

namespace shoal {
namespace {

// req: C5-C8
TEST_F(ModelPoses, a_node_is_relative_to_its_parent_and_the_first_to_the_entity) {
    const NodeTreeId tree = add_tree(leg());
    const Entity entity = create(1)[0];
    ASSERT_TRUE(models.add({&entity, 1}, tree).ok());
    expect_at(place(models.model(at(entity), 0)), {0, 0, 1});
    expect_at(place(models.model(at(entity), 1)), {1, 0, 1});
    expect_at(place(models.model(at(entity), 2)), {1, 1, 1});
    expect_at(place(models.model(at(entity), 3)), {-1, 0, 1});
    expect_at(place(models.model(at(entity), 4)), {1, 1.25f, 1});
    EXPECT_EQ(models.compute(), 0u) << "a new instance is in its default pose";
    expect_valid(models);
}

// req: C5-C8
TEST_F(ModelPoses, a_model_pose_needs_no_transform_and_its_place_in_the_world_is_one_product) {
    const NodeTreeId tree = add_tree(leg());
    const Entities e = create(2);
    ASSERT_TRUE(models.add(e, tree).ok());
    models.compute();
    const std::vector<Matrix3x4> before(models.models(at(e[0])).begin(), models.models(at(e[0])).end());
    ASSERT_TRUE(transforms.add(std::span(e).first(1), {.position = {10, 20, 30}, .rotation = kQuarterTurn}).ok());
    EXPECT_EQ(models.compute(), 0u) << "where the entity is does not matter to its model";
    for (std::uint32_t node = 0; node < 5; ++node) {
        EXPECT_EQ(models.model(at(e[0]), node), before[node]);
        expect_near(models.node_world(at(e[0]), node),
                    plain_product(transforms.world(transforms.instance(e[0])), before[node]));
        EXPECT_EQ(models.node_world(at(e[1]), node), models.model(at(e[1]), node)) << "no transform: at the origin";
    }
    expect_at(place(models.node_world(at(e[0]), 4)), {10 - 1.25f, 20 + 1, 31});
}

TEST_F(ModelPoses, only_what_changed_is_computed) {
    const NodeTreeId tree = add_tree(leg());
    const Entities e = create(100);
    ASSERT_TRUE(models.add(e, tree).ok());
    EXPECT_EQ(models.compute(), 0u) << "new instances are in their default pose";
    models.set_local(at(e[17]), 2, {.position = {3, 0, 0}});
    models.set_local(at(e[17]), 4, {.position = {1, 0, 0}});
    models.set_local(at(e[60]), 4, {.position = {1, 0, 0}});
    EXPECT_EQ(models.compute(), 3u + 1u) << "from the first changed node on";
    expect_at(place(models.model(at(e[17]), 4)), {1, 4, 1});
    EXPECT_EQ(models.local(at(e[17]), 2).position, (Vec3{3, 0, 0}));
    expect_valid(models);
    const std::vector<Transform> locals(5, Transform{.position = {0, 1, 0}});
    models.set_locals(at(e[3]), locals);
    EXPECT_EQ(models.compute(), 5u);
    expect_at(place(models.model(at(e[3]), 4)), {0, 4, 0});
}

TEST_F(ModelPoses, a_false_state_is_refused_and_leaves_a_manager_without_models_that_can_load_another) {
    add_tree(leg());
    const NodeTreeId tree = add_tree(leg());
    const Entities e = create(3);
    ASSERT_TRUE(models.add(e, tree).ok());
    models.compute();
    models.set_node_world(at(e[0]), 1, {});
    models.set_local(at(e[1]), 2, {.position = {3, 0, 0}});
    Snapshot saved;
    SnapshotWriter to(saved);
    models.save(to);
    /// Puts a number in place of one of a part, or, without one, removes the last.
    const auto refusal = [&](std::string_view path, std::size_t index, std::optional<std::uint32_t> number) {
        const Snapshot changed = shoal_test::with_part(saved, path, [&](std::vector<std::byte>& bytes) {
            if (number)
                std::memcpy(bytes.data() + index * sizeof *number, &*number, sizeof *number);
            else
                bytes.resize(bytes.size() - sizeof *number);
        });
        SnapshotReader from(changed, false), whole(saved, false);
        const Status status = models.load(from);
        EXPECT_EQ(models.num_instances(), 0u) << path;
        EXPECT_EQ(models.num_trees(), 0u) << path;
        EXPECT_EQ(models.tables().size(), 1u) << path;
        expect_valid(models);
        EXPECT_TRUE(models.load(whole).ok()) << path;
        EXPECT_EQ(models.num_trees(), 2u) << path;
        return std::string(status.message());
    };
    const auto expect_refused = [&](std::string_view path, std::size_t index, std::optional<std::uint32_t> number,
                                    std::string_view reason) {
        const std::string message = refusal(path, index, number);
        EXPECT_NE(message.find(reason), std::string::npos) << path << ": " << message;
    };
    constexpr std::size_t kUseOfSecond = 4;  // three words for each tree
    expect_refused("num_slots", 0, 1, "the tree in slot 1 is invalid");
    expect_refused("trees", kUseOfSecond, 3, "the tree in slot 1 is invalid");
    expect_refused("trees", kUseOfSecond, 0, "the tree in slot 1 is invalid");
    expect_refused("trees", 3, 0, "the tree in slot 0 is invalid");
    expect_refused("tree/1/first_changed", 1, 5, "there is no node 5");
    expect_refused("tree/1/first_changed", 0, std::nullopt, "15 nodes in 2 instances of 5");
    expect_refused("tree/1/changed_groups", 0, 1, "there is no such group");
    expect_refused("tree/1/changed_groups", 0, std::nullopt, "block 0 has changed, and is in none of them");
    expect_refused("moved_nodes", 0, 5, "a node that was moved is none");
    expect_refused("moved_nodes", 0, std::nullopt, "there are not as many as nodes");
    const Snapshot twice = shoal_test::with_part(saved, "tree/1/changed_groups", [](std::vector<std::byte>& bytes) {
        bytes.resize(2 * bytes.size());  // group 0, as the first
    });
    SnapshotReader from_twice(twice, false), from(saved, false);
    EXPECT_NE(models.load(from_twice).message().find("or it is there twice"), std::string_view::npos);
    ASSERT_TRUE(models.load(from).ok());
    EXPECT_EQ(models.apply_constraints(), 2u) << "foot and toe follow the knee";
    EXPECT_EQ(models.compute(), 4u + 3u) << "from the changed nodes on";
    expect_valid(models);
}

TEST_F(ModelPoses, a_field_of_a_node_can_be_written_but_its_model_pose_is_computed) {
    const NodeTreeId tree = add_tree(leg());
    const Entities e = create(2);
    ASSERT_TRUE(models.add(e, tree).ok());
    const Schema& schema = schema_of<NodePose>();
    const Transform other{{2, 3, 4}, kQuarterTurn, {2, 2, 2}};
    const Matrix3x4 matrix = matrix_of(other);
    for (const Field& field : schema.fields()) {
        const bool is_local = field.struct_offset < sizeof other;
        const auto* const value = is_local ? reinterpret_cast<const std::byte*>(&other) + field.struct_offset
                                           : reinterpret_cast<const std::byte*>(&matrix);
        const Status status =
            models.write_field(models.find_row(schema.id(), e[1], 2), field_part(schema, field), value);
        EXPECT_EQ(status.ok(), is_local) << field.name << ": " << status.message();
    }
    EXPECT_EQ(models.local(at(e[1]), 2), other);
    EXPECT_EQ(models.local(at(e[0]), 2), leg().local(2)) << "it is of another instance";
    expect_at(place(models.model(at(e[1]), 2)), {1, 1, 1});
    EXPECT_FALSE(models.find_row(schema.id(), e[1], 5)) << "there are five nodes";
    EXPECT_FALSE(models.find_row(schema_of<ModelPose>().id(), e[1], 1)) << "an entity has one model";
    EXPECT_FALSE(models.find_columns(schema_of<ModelPose>()).has_fields);
}

TEST_F(ModelPoses, whole_columns_can_be_written) {
    const NodeTreeId tree = add_tree(leg());
    const Entities e = create(9);
    ASSERT_TRUE(models.add(e, tree).ok());
    models.compute();
    const NodeLocals locals = models.write_locals(tree);
    ASSERT_EQ(locals.positions.size(), 45u);
    for (const Entity entity : e)
        locals.positions[models.block(at(entity)) * 5] = {0, 0, static_cast<float>(entity.index())};
    EXPECT_EQ(models.compute(), 45u);
    for (const Entity entity : e)
        expect_at(place(models.model(at(entity), 4)), {1, 1.25f, static_cast<float>(entity.index())});
    expect_valid(models);
}

TEST_F(ModelPoses, nodes_are_found_by_name) {
    const NodeTreeId tree = add_tree(leg());
    EXPECT_EQ(models.find_node(tree, StringId("toe")), 4u);
    EXPECT_EQ(models.find_node(tree, StringId("hip")), 0u);
    EXPECT_EQ(models.find_node(tree, StringId("wing")), kNilRow);
    EXPECT_EQ(models.find_node(tree, StringId()), kNilRow);
    EXPECT_EQ(models.nodes(tree).parents[4], 2u);
}

TEST_F(ModelPoses, an_invalid_tree_is_refused) {
    const auto refused = [&](auto&& spoil, std::string_view reason) {
        TreeSource tree = leg();
        spoil(tree);
        const Result<NodeTreeId> id = models.add_node_tree(tree.view());
        ASSERT_FALSE(id.ok()) << reason;
        EXPECT_NE(id.message().find(reason), std::string_view::npos) << id.message();
    };
    const float nan = std::nanf("");
    refused([](TreeSource& t) { t = {}; }, "1 to 65536 nodes");
    refused([](TreeSource& t) { t.parents[1] = 1; }, "node 1 of a node tree: its parent does not come before it");
    refused([](TreeSource& t) { t.parents[1] = 4; }, "its parent");
    refused([](TreeSource& t) { t.names[3] = t.names[1]; }, "nodes 1 and 3 of a node tree have the same name");
    refused([](TreeSource& t) { t.names[3] = StringId(); }, "no name");
    refused([&](TreeSource& t) { t.positions[2].y = nan; }, "node 2 of a node tree: its position");
    refused([&](TreeSource& t) { t.rotations[2].y = nan; }, "its rotation");
    refused([](TreeSource& t) { t.rotations[0] = {0, 0, 0, 0}; }, "its rotation");
    refused([](TreeSource& t) { t.scales[0].z = 0; }, "its scale is zero");
    refused([&](TreeSource& t) { t.scales[0].z = nan; }, "its scale is infinite");
    refused([](TreeSource& t) { t.scales.pop_back(); }, "per node");
    EXPECT_EQ(models.num_trees(), 0u);
    const TreeSource longest = [] {
        TreeSource tree;
        for (std::uint32_t i = 0; i < kMaxNodesPerTree; ++i)
            tree.add(std::to_string(i).c_str(), i == 0 ? kNilRow : i - 1, {.position = {1, 0, 0}});
        return tree;
    }();
    const NodeTreeId chain = add_tree(longest);
    const Entity entity = create(1)[0];
    ASSERT_TRUE(models.add({&entity, 1}, chain).ok());
    expect_at(place(models.model(at(entity), kMaxNodesPerTree - 1)), {float(kMaxNodesPerTree), 0, 0});
}

TEST_F(ModelPoses, a_tree_from_memory_stays_until_it_is_removed) {
    const NodeTreeId tree = add_tree(leg());
    const Entity entity = create(1)[0];
    ASSERT_TRUE(models.add({&entity, 1}, tree).ok());
    EXPECT_FALSE(models.remove_node_tree(tree).ok()) << "it has an instance";
    EXPECT_EQ(models.remove({&entity, 1}), 1u);
    EXPECT_EQ(models.num_trees(), 1u);
    ASSERT_TRUE(models.remove_node_tree(tree).ok());
    EXPECT_EQ(models.num_trees(), 0u);
    const NodeTreeId other = add_tree(leg());
    EXPECT_NE(tree, other);
    EXPECT_DEATH(models.nodes(tree), "was removed");
}

TEST_F(ModelPoses, a_second_add_resets_an_instance_or_replaces_its_tree) {
    const NodeTreeId tree = add_tree(leg());
    TreeSource two;
    two.add("a", kNilRow, {.position = {7, 0, 0}});
    two.add("b", 0, {.position = {1, 0, 0}});
    const NodeTreeId other = add_tree(two);
    const Entities e = create(3);
    entities.destroy(e[2]);
    const Result<AddCounts> counts = models.add(e, tree);
    EXPECT_EQ(counts->num_added, 2u);
    EXPECT_EQ(counts->num_skipped, 1u);
    models.set_local(at(e[0]), 0, {.position = {5, 5, 5}});
    EXPECT_EQ(models.add({e.data(), 1}, tree)->num_set, 1u);
    EXPECT_EQ(models.local(at(e[0]), 0).position, (Vec3{0, 0, 1}));
    EXPECT_EQ(models.add({e.data(), 1}, other)->num_set, 1u);
    EXPECT_EQ(models.tree(at(e[0])), other);
    EXPECT_EQ(models.tree(at(e[1])), tree);
    EXPECT_EQ(models.num_instances(tree), 1u);
    expect_at(place(models.model(at(e[0]), 1)), {8, 0, 0});
    expect_valid(models);
}

TEST_F(ModelPoses, of_a_new_instance_are_those_of_the_default_pose_whosever_rows_it_has_got) {
    const NodeTreeId tree = add_tree(leg());
    const Entities made = create(2);
    const auto expect_default_pose = [&](Entity entity) {
        expect_at(place(models.model(at(entity), 4)), {1, 1.25f, 1});
        expect_valid(models);
    };
    ASSERT_TRUE(models.add(made, tree).ok());
    const std::vector<Transform> locals(5, Transform{.position = {0, 1, 0}});
    for (const Entity entity : made) models.set_locals(at(entity), locals);
    models.compute();
    models.remove({&made[1], 1});
    ASSERT_TRUE(models.add({&made[1], 1}, tree).ok());
    expect_default_pose(made[1]);
    models.set_locals(at(made[0]), locals);
    ASSERT_TRUE(models.add({&made[0], 1}, tree).ok());
    expect_default_pose(made[0]);
    EXPECT_EQ(models.compute(), 0u) << "what was to be computed of the pose before is forgotten";
    expect_default_pose(made[0]);
}

TEST_F(ModelPoses, dead_entities_are_skipped_and_repeated_ones_get_one_instance) {
    const NodeTreeId tree = add_tree(leg());
    const Entities e = create(3);
    entities.destroy(e[2]);
    const Entity foreign{e[0].id + (EntityBits(7) << kIndexBits)};
    const Entities some = {e[0], kNullEntity, e[2], e[0], foreign, e[1], Entity{EntityBits(~0ull)}};
    const Result<AddCounts> counts = models.add(some, tree);
    ASSERT_TRUE(counts.ok());
    EXPECT_EQ(counts->num_added, 2u);
    EXPECT_EQ(counts->num_set, 1u);
    EXPECT_EQ(counts->num_skipped, 4u);
    EXPECT_EQ(models.add(models.tables()[1]->entities(), tree)->num_set, 10u) << "its own column, with five nodes each";
    EXPECT_EQ(models.remove(Entities{e[1], kNullEntity, e[2], foreign, e[1]}), 1u);
    EXPECT_EQ(models.num_instances(), 1u);
    expect_valid(models);
}

TEST_F(ModelPoses, instances_share_their_tree) {
    constexpr std::uint32_t kNodes = 100, kInstances = 2000;
    const NodeTreeId tree = add_tree(random_tree(random, kNodes));
    StoreStatistics statistics;
    models.statistics({&statistics, 1});
    const std::size_t rows_before = statistics.rows.used_bytes, bookkeeping = bookkeeping_bytes();
    const Entities e = create(kInstances);
    ASSERT_TRUE(models.add(e, tree).ok());
    models.statistics({&statistics, 1});
    EXPECT_EQ(statistics.num_rows, kInstances);
    std::size_t used_bytes = 0;
    for (const Table* table : models.tables()) used_bytes += table->memory_use().used_bytes;
    EXPECT_EQ(statistics.rows.used_bytes, used_bytes) << "those of all tables";
    const std::size_t row_bytes = sizeof(Entity) + sizeof(Vec3) * 2 + sizeof(Quaternion) + sizeof(Matrix3x4);
    EXPECT_LE(statistics.rows.used_bytes - rows_before,
              kInstances * (kNodes * row_bytes + sizeof(Entity) + 8) + 100'000);
    // A row of a node has marks of a bit in each column. A tree would take 16 bytes and more of each.
    EXPECT_LE(bookkeeping_bytes() - bookkeeping, kInstances * (kNodes + 16) + 100'000) << "not a tree each";
}

TEST_F(ModelPoses, an_entity_in_two_worlds_has_a_place_and_a_pose_in_each) {
    TransformManager other_transforms(entities, pool);
    ModelPoseManager other_models(entities, pool, {.transforms = &other_transforms});
    const NodeTreeId tree = add_tree(leg());
    const NodeTreeId other_tree = *other_models.add_node_tree(leg().view());
    const Entities e = create(2);
    ASSERT_TRUE(transforms.add(e, {.position = {1, 0, 0}}).ok());
    ASSERT_TRUE(other_transforms.add(e, {.position = {0, 50, 0}}).ok());
    ASSERT_TRUE(models.add(e, tree).ok());
    ASSERT_TRUE(other_models.add(e, other_tree).ok());
    other_models.set_local(other_models.instance(e[0]), 1, {.position = {9, 0, 0}});
    models.compute();
    other_models.compute();
    expect_at(place(models.node_world(models.instance(e[0]), 1)), {2, 0, 1});
    expect_at(place(other_models.node_world(other_models.instance(e[0]), 1)), {9, 50, 1});

    entities.destroy(e[0]);
    models.settle({});
    EXPECT_FALSE(models.has(e[0]));
    EXPECT_TRUE(other_models.has(e[0])) << "until the other world settles";
    other_models.settle({});
    EXPECT_FALSE(other_models.has(e[0]));
    EXPECT_TRUE(models.has(e[1]) && other_models.has(e[1]));
    expect_valid(models);
    expect_valid(other_models);
}

TEST_F(ModelPoses, a_new_entity_with_the_index_of_a_dead_one_inherits_no_pose) {
    const NodeTreeId tree = add_tree(leg());
    const Entities e = create(2);
    ASSERT_TRUE(models.add(e, tree).ok());
    models.set_local(at(e[0]), 0, {.position = {5, 5, 5}});
    entities.destroy(e[0]);
    const Entity newer = create(1)[0];
    ASSERT_EQ(newer.index(), e[0].index());
    EXPECT_FALSE(models.has(newer));
    ASSERT_TRUE(models.add({&newer, 1}, tree).ok());
    EXPECT_EQ(models.num_instances(), 2u) << "the dead one made way";
    EXPECT_EQ(models.local(at(newer), 0).position, (Vec3{0, 0, 1}));
    models.settle({});
    EXPECT_TRUE(models.has(newer));
    expect_valid(models);
}

TEST_F(ModelPoses, after_more_deaths_than_the_list_holds_all_instances_are_checked) {
    EntityManager forgetful({.max_death_list = 10});
    ModelPoseManager late(forgetful, pool);
    const NodeTreeId tree = *late.add_node_tree(leg().view());
    Entities e(100);
    ASSERT_TRUE(forgetful.create(e).ok());
    ASSERT_TRUE(late.add(e, tree).ok());
    for (std::size_t i = 0; i < 50; ++i) forgetful.destroy(e[i * 2]);
    late.settle({});
    EXPECT_EQ(late.num_instances(), 50u);
    for (std::size_t i = 0; i < 100; ++i) EXPECT_EQ(late.has(e[i]), i % 2 == 1) << i;
    expect_valid(late);
}

TEST_F(ModelPoses, too_many_instances_are_refused_and_nothing_changes) {
    ModelPoseManager small(entities, pool, {.capacity_rows = 23});
    const NodeTreeId tree = *small.add_node_tree(leg().view());
    const Entities e = create(5);
    const Result<AddCounts> refused = small.add(e, tree);
    ASSERT_FALSE(refused.ok());
    EXPECT_NE(refused.message().find("5 more instances do not fit"), std::string_view::npos) << refused.message();
    EXPECT_EQ(small.num_instances(), 0u);
    ASSERT_TRUE(small.add(std::span(e).first(4), tree).ok());
    expect_valid(small);
}

// --- any number of workers -----------------------------------------------------------------------------------------

/// Returns everything that is computed in some frames of random changes.
std::vector<Matrix3x4> simulate_frames(Executor* executor) {
    EntityManager entities;
    PagePool pool;
    TransformManager transforms(entities, pool);
    ModelPoseManager models(entities, pool, {.transforms = &transforms});
    Random random(shoal_test::seed());
    const NodeTreeId trees[] = {*models.add_node_tree(random_tree(random, 23).view()),
                                *models.add_node_tree(random_tree(random, 150).view())};
    Entities e(1500);
    EXPECT_TRUE(entities.create(e).ok());
    std::vector<Matrix3x4> result;
    for (std::size_t i = 0; i < e.size(); ++i) {
        EXPECT_TRUE(models.add({&e[i], 1}, trees[i % 2]).ok());
        EXPECT_TRUE(transforms.add({&e[i], 1}, random_pose(random)).ok());
    }
    const int num_frames = shoal_test::kThreadSanitized ? 1 : 3;
    for (int frame = 0; frame < num_frames; ++frame) {
        models.compute(executor);
        for (int i = 0; i < 2000; ++i)
            models.set_local(models.instance(e[random.below(1500)]), random.below(23), random_pose(random));
        models.compute(executor);
        for (int i = 0; i < 500; ++i)
            models.set_node_world(models.instance(e[random.below(1500)]), random.below(23),
                                  matrix_of(random_pose(random)));
        models.apply_constraints(executor);
        for (const NodeTreeId tree : trees) {
            const std::size_t first = result.size();
            result.resize(first + models.models(tree).size());
            models.world_poses(tree, std::span(result).subspan(first), executor);
            for (std::size_t i = 0; executor == nullptr && i < e.size(); ++i)
                if (const Instance at = models.instance(e[i]); models.tree(at) == tree) {
                    const std::uint32_t num_nodes = models.nodes(tree).num_nodes(), node = num_nodes - 1;
                    EXPECT_EQ(result[first + models.block(at) * num_nodes + node], models.node_world(at, node));
                }
        }
    }
    return result;
}

TEST(ModelPoseWorkers, results_are_the_same_for_any_number_of_workers) {
    SCOPED_TRACE(shoal_test::seed_text());
    const std::vector<Matrix3x4> serial = simulate_frames(nullptr);
    for (const unsigned num_workers : {1u, 2u, 3u, 5u}) {
        shoal_test::ThreadPoolExecutor executor(num_workers);
        const std::vector<Matrix3x4> parallel = simulate_frames(&executor);
        ASSERT_EQ(parallel.size(), serial.size());
        EXPECT_EQ(std::memcmp(parallel.data(), serial.data(), serial.size() * sizeof(Matrix3x4)), 0) << num_workers;
    }
}

// --- constraints -----------------------------------------------------------------------------------------------------

/// Keeps the feet of all models on the ground, z = 0 in the world.
struct FeetOnTheGround {
    NodeTreeId tree;
    const Entities& entities;
    int num_moved = 0;

    static void apply(void* context, ModelPoseManager& models) {
        auto& self = *static_cast<FeetOnTheGround*>(context);
        const std::uint32_t foot = models.find_node(self.tree, StringId("foot"));
        for (const Entity entity : self.entities) {
            Matrix3x4 world = models.node_world(models.instance(entity), foot);
            if (world.row[2].w >= 0) continue;
            world.row[2].w = 0;
            models.set_node_world(models.instance(entity), foot, world);
            ++self.num_moved;
        }
    }
};

// req: C5-C8
TEST_F(ModelPoses, a_constraint_in_a_later_pass_keeps_a_foot_on_the_ground) {
    const NodeTreeId tree = add_tree(leg());
    const Entities e = create(3);
    ASSERT_TRUE(models.add(e, tree).ok());
    const float heights[] = {-3, 2, -1.5f};
    for (std::size_t i = 0; i < 3; ++i)
        ASSERT_TRUE(transforms.add({&e[i], 1}, {.position = {0, 0, heights[i]}, .rotation = kQuarterTurn}).ok());
    FeetOnTheGround ground{tree, e};
    models.add_constraint(FeetOnTheGround::apply, &ground);
    for (int frame = 0; frame < 3; ++frame) {
        EXPECT_EQ(models.compute(), frame == 0 ? 0u : 2u * 3) << "what was moved starts again from local poses";
        expect_valid(models);
        EXPECT_EQ(models.apply_constraints(), 2u) << "the toes of two models follow, and nothing else";
        EXPECT_EQ(ground.num_moved, 2 * (frame + 1));
        for (std::size_t i = 0; i < 3; ++i) {
            const float ground_or_air = std::max(heights[i] + 1, 0.0f);
            expect_at(place(models.node_world(at(e[i]), 1)), {0, 1, heights[i] + 1});
            expect_at(place(models.node_world(at(e[i]), 2)), {-1, 1, ground_or_air});
            expect_at(place(models.node_world(at(e[i]), 4)), {-1.25f, 1, ground_or_air});
            expect_at(models.local(at(e[i]), 2).position, {1, 0, 0});
        }
    }
    models.remove_constraint(&ground);
    models.compute();
    EXPECT_EQ(models.apply_constraints(), 0u);
    expect_at(place(models.node_world(at(e[0]), 2)), {-1, 1, -2});
    EXPECT_DEATH(models.remove_constraint(&ground), "no constraint");
}

TEST_F(ModelPoses, nodes_that_are_moved_together_stay_where_they_were_put) {
    const NodeTreeId tree = add_tree(leg());
    const Entities e = create(1);
    ASSERT_TRUE(models.add(e, tree).ok());
    ASSERT_TRUE(transforms.add(e, {.position = {0, 0, -5}}).ok());
    models.compute();
    const Matrix3x4 foot = matrix_of({.position = {4, 4, 4}}), hip = matrix_of({.position = {0, 0, 10}});
    models.set_node_world(at(e[0]), 2, foot);
    models.set_node_world(at(e[0]), 0, hip);
    EXPECT_EQ(models.apply_constraints(), 3u) << "knee, tail and toe";
    expect_at(place(models.node_world(at(e[0]), 1)), {1, 0, 10});
    expect_at(place(models.node_world(at(e[0]), 2)), {4, 4, 4});
    expect_at(place(models.node_world(at(e[0]), 4)), {4.25f, 4, 4});
    models.set_node_world(at(e[0]), 1, matrix_of({.position = {0, 0, 1}}));
    EXPECT_EQ(models.apply_constraints(), 2u);
    expect_at(place(models.node_world(at(e[0]), 2)), {1, 0, 1});
    expect_at(place(models.node_world(at(e[0]), 3)), {-1, 0, 10});
}

TEST_F(ModelPoses, an_instance_that_gets_another_tree_forgets_its_moved_nodes) {
    const NodeTreeId tree = add_tree(leg());
    TreeSource one;
    one.add("only", kNilRow, {.position = {7, 0, 0}});
    const NodeTreeId small = add_tree(one);
    const Entities e = create(2);
    ASSERT_TRUE(models.add(e, tree).ok());
    models.compute();
    for (const Entity entity : e) models.set_node_world(at(entity), 2, {});
    ASSERT_TRUE(models.add({e.data(), 1}, small).ok());  // it has no node 2
    ASSERT_TRUE(models.add({&e[1], 1}, tree).ok());
    EXPECT_EQ(models.apply_constraints(), 0u);
    EXPECT_EQ(models.compute(), 0u);
    expect_at(place(models.model(at(e[0]), 0)), {7, 0, 0});
    expect_at(place(models.model(at(e[1]), 2)), {1, 1, 1});
    expect_valid(models);
}

TEST_F(ModelPoses, moved_nodes_of_a_removed_instance_are_forgotten) {
    const NodeTreeId tree = add_tree(leg());
    const Entities e = create(2);
    ASSERT_TRUE(models.add(e, tree).ok());
    models.compute();
    for (const Entity entity : e) models.set_node_world(at(entity), 2, matrix_of({}));
    models.remove({&e[0], 1});
    EXPECT_EQ(models.apply_constraints(), 1u);
    expect_at(place(models.model(at(e[1]), 4)), {0.25f, 0, 0});
}

}  // namespace
}  // namespace shoal
