// Transforms in immediate mode: structure and poses, which are up to date at once or at the end of a batch.

#include "shoal/transform/detail/pose_math.h"
#include "transform_testing.h"

#include <algorithm>
#include <vector>

using namespace shoal;
using namespace shoal_test;

using TransformTest = TransformScene;

// --- basics ------------------------------------------------------------------------------------------------------

TEST_F(TransformTest, a_transform_is_optional_and_a_linked_child_follows_its_parent) {  // req: C1-C2
    const std::vector<Entity> ids = create(3);
    ASSERT_TRUE(transforms.add(std::span(ids).first(2), at(1)).ok());
    EXPECT_TRUE(transforms.has(ids[0]));
    EXPECT_FALSE(transforms.has(ids[2]));
    ASSERT_TRUE(link(ids[1], ids[0]).ok());
    EXPECT_EQ(place(ids[1]), (Vec3{2, 0, 0}));
    transforms.set_local(at_entity(ids[0]), {{10, 0, 0}, about_z(1.57079633f), {2, 2, 2}});
    EXPECT_NEAR(place(ids[1]).x, 10, 1e-5);
    EXPECT_NEAR(place(ids[1]).y, 2, 1e-5);
}

TEST_F(TransformTest, rotation_and_scale_are_kept_apart_so_that_nothing_drifts) {  // req: G10
    const std::vector<Entity> ids = add_chain(2);
    const Transform rest = {{1, 2, 3}, about_z(0.5f), {2, 3, 4}};
    transforms.set_local(at_entity(ids[1]), rest);
    for (int i = 0; i < 10'000; ++i) transforms.set_rotation(at_entity(ids[0]), about_z(float(i)));
    transforms.set_rotation(at_entity(ids[0]), {});
    EXPECT_EQ(transforms.local(at_entity(ids[1])), rest);
    EXPECT_LT(difference(pose_of(at(1)) * pose_of(rest), transforms.world(at_entity(ids[1]))), 1e-6);

    // A rotation that is made of the one before, in each frame, by every setter.
    const Quaternion step = rotation_about({1, 2, 3}, 0.01);
    transforms.set_local(at_entity(ids[0]), {{}, {}, {2, 2, 2}});
    for (int i = 0; i < 100'000; ++i) {
        Transform local = transforms.local(at_entity(ids[0]));
        local.rotation = local.rotation * step;
        if (i % 3 == 0) transforms.set_rotation(at_entity(ids[0]), local.rotation);
        if (i % 3 == 1) transforms.set_local(at_entity(ids[0]), local);
        if (i % 3 == 2) {
            EXPECT_EQ(transforms.set_locals({&ids[0], 1}, {&local, 1}), 1u);
        }
    }
    EXPECT_NEAR(squared_length(transforms.local(at_entity(ids[0])).rotation), 1, 2e-6);
    for (const float along : {transforms.world_scale(at_entity(ids[0])).x, transforms.world_scale(at_entity(ids[0])).z})
        EXPECT_NEAR(along, 2, 1e-5);
}

TEST_F(TransformTest, a_node_costs_at_most_160_bytes) {
    add_chain(kLong);
    const MemoryUse rows = transforms.table().memory_use();
    StoreStatistics statistics;
    ASSERT_EQ(transforms.statistics({&statistics, 1}), 1u);
    EXPECT_EQ(statistics.rows.used_bytes, rows.used_bytes);
    EXPECT_LE((statistics.rows.committed_bytes + statistics.index.committed_bytes) / kLong, 160u);
}

TEST_F(TransformTest, the_schema_is_that_of_the_component_and_the_table_has_columns_beside_it) {  // req: C21-C22
    ASSERT_EQ(transforms.schemas().size(), 1u);
    EXPECT_EQ(transforms.schemas()[0]->id(), schema_of<Transform>().id());
    EXPECT_EQ(transforms.schemas()[0]->layout_hash(), schema_of<Transform>().layout_hash());
    const Schema& rows = transforms.table().schema();
    for (std::size_t i = 0; i < schema_of<Transform>().fields().size(); ++i)
        EXPECT_EQ(rows.fields()[i].name, schema_of<Transform>().fields()[i].name);
    ASSERT_GE(rows.find_field("world"), 0);
    const std::vector<Entity> ids = create(3);
    ASSERT_TRUE(transforms.add(ids, std::vector<Transform>(3, at(1)), std::vector<std::uint32_t>{kNilRow, 0, 0}).ok());
    const Table& table = transforms.table();
    const auto value = [&](std::string_view field, std::uint32_t row) {
        const Field& of = rows.fields()[static_cast<std::size_t>(rows.find_field(field))];
        return table.column(of.first_column) + std::size_t(row) * rows.columns()[of.first_column].element_bytes;
    };
    for (const Entity entity : ids) {
        const std::uint32_t row = at_entity(entity).row;
        EXPECT_EQ(reinterpret_cast<const Vec3*>(value("position", row))->x, 1) << "the local pose";
        EXPECT_EQ(reinterpret_cast<const Matrix3x4*>(value("world", row))->row[0].w, entity == ids[0] ? 1 : 2);
    }
    const auto link = [&](LinkColumn column, std::size_t i) { return table.links(column)[at_entity(ids[i]).row]; };
    EXPECT_EQ(link(LinkColumn::kTreeParent, 2), at_entity(ids[0]).row);
    EXPECT_EQ(link(LinkColumn::kTreeFirstChild, 0), at_entity(ids[1]).row);
    EXPECT_EQ(link(LinkColumn::kTreeNext, 1), at_entity(ids[2]).row);
    EXPECT_EQ(link(LinkColumn::kTreePrevious, 2), at_entity(ids[1]).row);
}

TEST_F(TransformTest, a_setter_stamps_the_columns_that_it_writes_in_the_blocks_that_it_writes) {
    const std::vector<Entity> ids = create(3000);
    ASSERT_TRUE(transforms.add(ids, at(1)).ok());
    std::uint64_t stamp = 1;
    const auto stamped = [&](const char* field) {  // by block
        const Schema& schema = transforms.table().schema();
        const Field& of = schema.fields()[static_cast<std::size_t>(schema.find_field(field))];
        std::string text;
        for (std::uint32_t block = 0; block < 3; ++block)
            text += transforms.table().written_stamp(of.first_column, block) == stamp ? '+' : '-';
        return text;
    };
    const auto all = [&] { return stamped("position") + ' ' + stamped("rotation") + ' ' + stamped("scale"); };
    const auto settle = [&] { transforms.settle({.stamp = ++stamp}); };
    settle();
    EXPECT_EQ(all(), "--- --- ---");
    transforms.set_position(at_entity(ids[0]), {2, 0, 0});
    EXPECT_EQ(all(), "+-- --- ---");
    transforms.set_position(at_entity(ids[1500]), {2, 0, 0});
    EXPECT_EQ(all(), "++- --- ---") << "the block before is not the one that was written last";
    transforms.set_rotation(at_entity(ids[2500]), about_z(1));
    EXPECT_EQ(all(), "++- --+ ---");
    transforms.set_scale(at_entity(ids[1]), {2, 2, 2});
    EXPECT_EQ(all(), "++- --+ +--");
    settle();
    transforms.set_scale(at_entity(ids[1]), {3, 3, 3});
    EXPECT_EQ(all(), "--- --- +--") << "in another frame the same block is stamped again";
    transforms.set_local(at_entity(ids[1100]), at(5));
    EXPECT_EQ(all(), "-+- -+- ++-");
    settle();
    transforms.set_positions(std::span(ids).subspan(1000, 50), std::vector<Vec3>(50, Vec3{7, 0, 0}));
    EXPECT_EQ(all(), "++- --- ---") << "a run of rows in two blocks";
    settle();
    const Entity scattered[] = {ids[2999], ids[3], ids[2998]};
    transforms.set_positions(scattered, std::vector<Vec3>(3, Vec3{8, 0, 0}));
    EXPECT_EQ(all(), "+-+ --- ---");
    settle();
    transforms.set_positions(std::span(ids).subspan(1021, 6), std::vector<Vec3>(6, Vec3{9, 0, 0}));
    EXPECT_EQ(all(), "++- --- ---") << "a few rows, of which the last are in the next block";
    for (int frame = 0; frame < 2; ++frame) {  // what was stamped in another block or frame does not count
        settle();
        for (const Entity entity : {ids[0], ids[1500]}) {
            transforms.set_position(at_entity(entity), {2, 0, 0});
            transforms.set_rotation(at_entity(entity), about_z(2));
        }
        EXPECT_EQ(all(), "++- ++- ---");
    }
    for (int frame = 0; frame < 2; ++frame) {
        settle();
        transforms.set_position(at_entity(ids[0]), {3, 0, 0});
        transforms.set_rotation(at_entity(ids[0]), about_z(3));
        EXPECT_EQ(all(), "+-- +-- ---");
    }
}

// --- immediate ---------------------------------------------------------------------------------------------------

TEST_F(TransformTest, after_setting_a_local_pose_the_subtree_is_up_to_date_at_once) {
    const std::vector<Entity> chain = add_chain(50);
    transforms.set_position(at_entity(chain[10]), {100, 0, 0});
    EXPECT_EQ(place(chain[9]).x, 10);
    for (std::uint32_t i = 10; i < 50; ++i) ASSERT_EQ(place(chain[i]).x, 100 + float(i));
}

TEST_F(TransformTest, setting_a_chain_of_n_one_by_one_from_its_root_computes_n_n_plus_1_halves) {  // req: C9-C10
    constexpr std::uint64_t kNodes = 1000;
    const std::vector<Entity> chain = add_chain(kNodes);
    const std::uint64_t before = num_computed();
    for (const Entity entity : chain) transforms.set_position(at_entity(entity), {2, 0, 0});
    EXPECT_EQ(num_computed() - before, kNodes * (kNodes + 1) / 2);
    EXPECT_EQ(place(chain.back()).x, 2 * kNodes);
}

TEST_F(TransformTest, setting_only_the_root_of_n_computes_n) {
    const std::vector<Entity> chain = add_chain(1000);
    const std::uint64_t before = num_computed();
    transforms.set_position(at_entity(chain[0]), {5, 0, 0});
    EXPECT_EQ(num_computed() - before, 1000u);
}

TEST_F(TransformTest, setting_a_leaf_computes_one) {
    const std::vector<Entity> chain = add_chain(100);
    const std::uint64_t before = num_computed();
    transforms.set_position(at_entity(chain.back()), {5, 0, 0});
    EXPECT_EQ(num_computed() - before, 1u);
}

TEST_F(TransformTest, a_chain_of_a_million_works) {  // req: C23
    const std::vector<Entity> chain = add_chain(kLong);
    transforms.set_position(at_entity(chain[0]), {0, 1, 0});
    EXPECT_EQ(place(chain.back()).x, float(kLong - 1));
    EXPECT_EQ(place(chain.back()).y, 1);
    EXPECT_VALID(transforms);
}

TEST_F(TransformTest, a_chain_of_a_million_is_linked_one_by_one_and_walked) {
    const std::vector<Entity> ids = create(kLong);
    ASSERT_TRUE(transforms.add(ids, at(1)).ok());
    const std::uint64_t before = num_computed();
    // No child has children yet, so there is no walk up and no subtree to compute.
    for (std::uint32_t i = 1; i < kLong; ++i) ASSERT_TRUE(link(ids[i], ids[i - 1]).ok());
    EXPECT_EQ(num_computed() - before, kLong - 1u);
    EXPECT_EQ(place(ids.back()).x, float(kLong));
    std::uint32_t num_seen = 0;
    const Instance root = at_entity(ids[0]);
    for (Instance i = root; i; i = transforms.next_in_subtree(i, root)) ++num_seen;
    EXPECT_EQ(num_seen, kLong);
    transforms.restore_order();
    transforms.set_position(at_entity(ids[0]), {0, 0, 0});
    EXPECT_EQ(place(ids.back()).x, float(kLong - 1));
    EXPECT_VALID(transforms);
}

// --- batches -----------------------------------------------------------------------------------------------------

TEST_F(TransformTest, a_batch_computes_every_moved_subtree_once) {  // req: C11
    constexpr std::uint64_t kNodes = 1000;
    const std::vector<Entity> chain = add_chain(kNodes);
    const std::uint64_t before = num_computed();
    {
        const TransformBatch batch(transforms);
        for (const Entity entity : chain) transforms.set_position(at_entity(entity), {2, 0, 0});
        for (std::size_t i = chain.size(); i-- > 0;) transforms.set_position(at_entity(chain[i]), {3, 0, 0});
        EXPECT_EQ(num_computed(), before);
    }
    EXPECT_EQ(num_computed() - before, kNodes);
    EXPECT_EQ(place(chain.back()).x, 3 * kNodes);
}

TEST_F(TransformTest, a_span_call_computes_every_moved_subtree_once) {
    constexpr std::uint64_t kNodes = 1000;
    std::vector<Entity> chain = add_chain(kNodes);
    std::reverse(chain.begin(), chain.end());
    const std::uint64_t before = num_computed();
    EXPECT_EQ(transforms.set_positions(chain, std::vector<Vec3>(kNodes, Vec3{2, 0, 0})), kNodes);
    EXPECT_EQ(num_computed() - before, kNodes);
    EXPECT_EQ(transforms.set_locals(chain, std::vector<Transform>(kNodes, at(4))), kNodes);
    EXPECT_EQ(num_computed() - before, 2 * kNodes);
    EXPECT_EQ(place(chain.front()).x, 4 * kNodes);
}

TEST_F(TransformTest, a_few_movers_below_each_other_are_computed_once_in_any_order) {
    const std::vector<Entity> chain = add_chain(100);
    add_chain(10'000);  // so that the list is short compared with the table and is not sorted
    for (const bool broken : {false, true}) {
        if (broken) {
            transforms.unlink(at_entity(chain[99]));
            ASSERT_TRUE(link(chain[99], chain[98]).ok());
        }
        const std::uint64_t before = num_computed();
        {
            const TransformBatch batch(transforms);
            for (const std::uint32_t i : {90u, 50u, 70u, 20u, 60u})
                transforms.set_position(at_entity(chain[i]), {2, 0, 0});
        }
        EXPECT_EQ(num_computed() - before, 80u);
        EXPECT_VALID(transforms);
    }
}

TEST_F(TransformTest, the_outermost_of_nested_batches_computes) {
    const std::vector<Entity> chain = add_chain(10);
    const std::uint64_t before = num_computed();
    {
        const TransformBatch outer(transforms);
        {
            const TransformBatch inner(transforms);
            transforms.set_position(at_entity(chain[3]), {2, 0, 0});
        }
        transforms.set_positions(std::span(chain).first(1), std::vector<Vec3>{{7, 0, 0}});
        EXPECT_EQ(num_computed(), before);
        EXPECT_VALID(transforms);
    }
    EXPECT_EQ(num_computed() - before, 10u);
    EXPECT_EQ(place(chain.back()).x, 17);
}

TEST_F(TransformTest, rows_may_be_added_removed_and_linked_in_a_batch) {
    const std::vector<Entity> chain = add_chain(20);
    const std::vector<Entity> more = create(5);
    {
        const TransformBatch batch(transforms);
        transforms.set_position(at_entity(chain[19]), {50, 0, 0});
        transforms.set_position(at_entity(chain[0]), {0, 8, 0});
        EXPECT_EQ(transforms.remove(std::span(chain).subspan(5, 1)), 1u);
        ASSERT_TRUE(transforms.add(more, at(1)).ok());
        transforms.set_position(at_entity(more[2]), {3, 0, 0});
        ASSERT_TRUE(link(more[2], chain[19]).ok());
        transforms.unlink(at_entity(chain[10]), KeepPose::kWorld);
        EXPECT_VALID(transforms);
    }
    EXPECT_VALID(transforms);
    EXPECT_EQ(place(chain[10]), (Vec3{10, 8, 0}));
    EXPECT_EQ(place(more[2]), (Vec3{18 + 50 + 3, 8, 0}));
}

TEST_F(TransformTest, entities_without_a_transform_are_skipped_and_not_counted) {
    const std::vector<Entity> ids = create(4);
    ASSERT_TRUE(transforms.add(std::span(ids).first(2), at(1)).ok());
    EXPECT_EQ(transforms.set_positions(ids, std::vector<Vec3>(4, Vec3{5, 6, 7})), 2u);
    std::vector<Vec3> positions(4, Vec3{9, 9, 9});
    EXPECT_EQ(transforms.world_positions(ids, positions), 2u);
    EXPECT_EQ(positions[1], (Vec3{5, 6, 7}));
    EXPECT_EQ(positions[2], Vec3{});
    std::vector<Matrix3x4> poses(4);
    poses[3].row[0].w = 9;
    EXPECT_EQ(transforms.world_poses(ids, poses), 2u);
    EXPECT_TRUE(same_bits(poses[0], transforms.world(at_entity(ids[0]))));
    EXPECT_TRUE(same_bits(poses[3], {}));
}

// --- world poses -------------------------------------------------------------------------------------------------

TEST_F(TransformTest, setting_a_world_pose_recomputes_the_local_one) {
    Random random(seed());
    const std::vector<Entity> chain = add_chain(4);
    for (int i = 0; i < 200; ++i) {
        for (const Entity entity : chain) transforms.set_local(at_entity(entity), random_pose(random));
        const Entity target = create(1)[0];
        ASSERT_TRUE(transforms.add({&target, 1}, random_pose(random)).ok());
        const Matrix3x4 wanted = transforms.world(at_entity(target));
        ASSERT_TRUE(transforms.set_world_pose(at_entity(chain[2]), wanted));
        ASSERT_LT(difference(pose_of(transforms.local(at_entity(target))), transforms.world(at_entity(chain[2]))),
                  1e-5);
        const Transform local = transforms.local(at_entity(chain[2]));
        const Quaternion q = local.rotation;
        EXPECT_NEAR(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w, 1, 1e-5);
    }
    EXPECT_VALID(transforms);
}

TEST_F(TransformTest, under_an_unevenly_scaled_parent_the_nearest_pose_is_taken_and_false_returned) {
    const std::vector<Entity> chain = add_chain(2);
    transforms.set_local(at_entity(chain[0]), {{}, {}, {4, 1, 1}});
    transforms.set_local(at_entity(chain[1]), {{}, about_z(0.7853982f), {1, 1, 1}});
    Matrix3x4 wanted;
    wanted.row[0].w = 8;
    EXPECT_TRUE(transforms.set_world_pose(at_entity(chain[1]), wanted))
        << "a child that is aligned with the axes is not sheared";
    EXPECT_EQ(transforms.local(at_entity(chain[1])).position, (Vec3{2, 0, 0}));
    EXPECT_NEAR(transforms.local(at_entity(chain[1])).scale.x, 0.25f, 1e-6);
    // A turned cube under a stretched parent would have to be sheared.
    ASSERT_TRUE(transforms.add(std::vector<Entity>{create(1)[0]}, at(0)).ok());
    const Quaternion turn = about_z(0.5f);
    wanted = {};
    wanted.row[0].x = wanted.row[1].y = 1 - 2 * turn.z * turn.z;
    wanted.row[0].y = -2 * turn.z * turn.w;
    wanted.row[1].x = 2 * turn.z * turn.w;
    EXPECT_FALSE(transforms.set_world_pose(at_entity(chain[1]), wanted));
    // No pose with a slightly different rotation or scale is nearer.
    const Transform found = transforms.local(at_entity(chain[1]));
    const auto distance = [&](const Transform& local) {
        const Pose4x4 pose = pose_of(local);
        const float goal[3][3] = {
            {wanted.row[0].x / 4, wanted.row[0].y / 4, 0}, {wanted.row[1].x, wanted.row[1].y, 0}, {0, 0, 1}};
        double sum = 0;
        for (int i = 0; i < 3; ++i)
            for (int j = 0; j < 3; ++j) sum += std::pow(pose.m[i][j] - goal[i][j], 2);
        return sum;
    };
    const double best = distance(found);
    EXPECT_GT(best, 1e-3);
    for (const float step : {-0.01f, 0.01f}) {
        const float half = step / 2;
        const Quaternion q = found.rotation;
        const Quaternion turned = {q.x + half * q.y, q.y - half * q.x, q.z + half * q.w, q.w - half * q.z};
        EXPECT_GT(distance({found.position, turned, found.scale}), best);
        EXPECT_GT(distance({found.position, q, {found.scale.x + step, found.scale.y, found.scale.z}}), best);
        EXPECT_GT(distance({found.position, q, {found.scale.x, found.scale.y + step, found.scale.z}}), best);
    }
}

TEST_F(TransformTest, world_rotation_and_scale_are_those_of_the_axes) {
    const std::vector<Entity> chain = add_chain(2);
    transforms.set_local(at_entity(chain[0]), {{1, 0, 0}, about_z(0.5f), {2, 2, 2}});
    transforms.set_local(at_entity(chain[1]), {{1, 0, 0}, about_z(0.25f), {-1, 1, 1}});
    const Quaternion rotation = transforms.world_rotation(at_entity(chain[1]));
    EXPECT_NEAR(std::abs(rotation.z), std::sin(0.375f), 1e-6);
    const Vec3 scale = transforms.world_scale(at_entity(chain[1]));
    EXPECT_NEAR(scale.x, -2, 1e-5);
    EXPECT_NEAR(scale.y, 2, 1e-5);
}

// --- input -------------------------------------------------------------------------------------------------------

TEST_F(TransformTest, adding_sets_existing_transforms_skips_dead_entities_and_counts_repeated_ones_as_set) {
    const std::vector<Entity> ids = create(6);
    ASSERT_TRUE(transforms.add(std::span(ids).first(1), at(1)).ok());
    entities.destroy(ids[2]);
    const std::vector<Entity> some = {ids[0], ids[1], ids[2], ids[3], ids[1], ids[4]};
    const std::vector<Transform> locals = {at(2), at(3), at(4), at(5), at(6), at(7)};
    // The dead entity is between 3 and 1, so its child gets its parent.
    const std::vector<std::uint32_t> parents = {kNilRow, 0, 1, 2, kNilRow, 3};
    const Result<AddCounts> counts = transforms.add(some, locals, parents);
    ASSERT_TRUE(counts.ok());
    EXPECT_EQ(counts->num_added, 3u);
    EXPECT_EQ(counts->num_set, 2u);
    EXPECT_EQ(counts->num_skipped, 1u);
    EXPECT_EQ(place(ids[0]).x, 2);
    EXPECT_EQ(place(ids[1]).x, 2 + 6) << "the later of two poses, below the first";
    EXPECT_EQ(place(ids[3]).x, 2 + 6 + 5);
    EXPECT_EQ(place(ids[4]).x, 2 + 6 + 5 + 7);
    EXPECT_VALID(transforms);
}

TEST_F(TransformTest, a_span_may_be_the_entities_of_the_manager) {
    add_chain(100);
    EXPECT_EQ(transforms.remove(transforms.table().entities().first(60)), 60u);
    EXPECT_VALID(transforms);
    ASSERT_TRUE(transforms.add(transforms.table().entities(), at(3)).ok());
    EXPECT_EQ(transforms.num_rows(), 40u);
    EXPECT_VALID(transforms);
}

TEST_F(TransformTest, beyond_its_capacity_nothing_is_added) {
    TransformManager few(entities, pool, {.capacity_rows = 3});
    const std::vector<Entity> ids = create(4);
    const Result<AddCounts> counts = few.add(ids, at(1));
    ASSERT_FALSE(counts.ok());
    EXPECT_NE(counts.message().find("at most 3"), std::string_view::npos) << counts.message();
    EXPECT_EQ(few.num_rows(), 0u);
    EXPECT_FALSE(few.has(ids[0]));
    EXPECT_TRUE(few.add(std::span(ids).first(3), at(1)).ok());
    EXPECT_VALID(few);
}

TEST_F(TransformTest, an_empty_manager_answers) {
    EXPECT_EQ(transforms.remove({}), 0u);
    EXPECT_TRUE(transforms.add({}, at(1)).ok());
    transforms.restore_order();
    transforms.settle({.stamp = 2});
    EXPECT_TRUE(transforms.worlds().empty());
    EXPECT_VALID(transforms);
}

TEST_F(TransformTest, bookkeeping_memory_does_not_leak) {
    const LeakCheck leaks;
    EntityManager own_entities;
    std::vector<Entity> ids(100);
    ASSERT_TRUE(own_entities.create(ids).ok());
    PagePool own_pool;
    TransformManager own(own_entities, own_pool, {.mode = TransformMode::kDeferred});
    ASSERT_TRUE(own.add(ids, at(1)).ok());
    for (int frame = 0; frame < 3; ++frame) {
        own.set_positions(ids, std::vector<Vec3>(100, Vec3{float(frame), 0, 0}));
        own.compute_moved();
    }
}

#if SHOAL_CHECKED
using TransformDeathTest = TransformTest;

TEST_F(TransformDeathTest, in_checked_builds_unsound_poses_end_the_program) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    const Instance i = at_entity(add_chain(1)[0]);
    EXPECT_DEATH(transforms.set_rotation(i, {0, 0, 0, 0}), "length 1");
    EXPECT_DEATH(transforms.set_rotation(i, {0, 0, 0, NAN}), "length 1");
    EXPECT_DEATH(transforms.set_scale(i, {1, 0, 1}), "scale is zero");
    EXPECT_DEATH(transforms.set_scale(i, {1, INFINITY, 1}), "not a number");
    EXPECT_DEATH(transforms.set_position(i, {NAN, 0, 0}), "not a number");
}
#else
TEST_F(TransformTest, without_checks_a_rotation_is_normalised_or_becomes_the_identity) {
    const Instance i = at_entity(add_chain(1)[0]);
    transforms.set_rotation(i, {0, 0, 0, 4});
    EXPECT_EQ(transforms.local(i).rotation, (Quaternion{0, 0, 0, 1}));
    transforms.set_rotation(i, {0, 0, 0, 0});
    EXPECT_EQ(transforms.local(i).rotation, Quaternion{});
    transforms.set_rotation(i, {NAN, 0, 0, 1});
    EXPECT_EQ(transforms.local(i).rotation, Quaternion{});
}
#endif
