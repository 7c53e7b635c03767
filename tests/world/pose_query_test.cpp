// Queries that write poses: what they write is checked, and the subtrees of the rows that they visit are computed.

#include "shoal/components/activity.h"
#include "shoal/transform/transform.h"
#include "shoal/world/world.h"
#include "support/testing.h"
#include "support/thread_pool_executor.h"

#include <cmath>
#include <cstring>
#include <vector>

// Named, because g++ gives queries over members of types in an unnamed namespace a name that other sources may give theirs.
namespace pose_query_test {
namespace {

using namespace shoal;

struct Hull {
    Vec3 position{};
    int number = 0;
};
SHOAL_COMPONENT(Hull, (position, split), number)
struct Mast {
    int height = 0;
};
SHOAL_COMPONENT(Mast, height)
struct Crew {
    int size = 0;
    float morale = 0;
};
SHOAL_COMPONENT((Crew, whole), size, morale)

/// A line of three transforms: a hull, a mast on it, and a pole on that.
class PoseQuery : public ::testing::Test {
protected:
    PoseQuery() {
        made.resize(4);
        EXPECT_TRUE(entities.create(made).ok());
        const Transform locals[] = {{.position = {0, 0, 4}}, {.position = {1, 0, 0}}, {.position = {0, 2, 0}}};
        const std::uint32_t parents[] = {kNilRow, 0, 1};
        EXPECT_TRUE(world.transforms().add(std::span(made).first(3), locals, parents).ok());
    }

    EntityManager entities;
    World world{entities};
    std::vector<Entity> made;
};

using PoseQueryDeath = PoseQuery;

TEST_F(PoseQueryDeath, a_query_that_writes_a_pose_that_is_not_sound_ends_a_checked_program_with_the_entity) {
    if (SHOAL_CHECKED == 0) GTEST_SKIP() << "unchecked builds mend rotations";
    const auto write = [&](auto&& query, auto value) { query.for_each([&](auto&& field) { field = value; }); };
    EXPECT_DEATH(write(world.query<Write<&Transform::rotation>>(), Quaternion{0, 0, 0, 2}),
                 "a query gave entity .* a rotation that is not of length 1; pass it through normalized");
    EXPECT_DEATH(write(world.query<Write<&Transform::scale>>(), Vec3{1, 0, 1}), "a query gave entity .* a scale that");
    EXPECT_DEATH(write(world.query<Write<&Transform::position>>(), Vec3{1 / std::sin(0.f), 0, 1}),
                 "a query gave entity .* a position that is infinite");
}

TEST_F(PoseQuery, a_rotation_that_a_query_writes_is_normalised_when_the_loop_ends) {
    if (SHOAL_CHECKED != 0) GTEST_SKIP() << "checked builds end the program";
    world.query<Write<&Transform::rotation>>().for_each([](auto&& rotation) { rotation = Quaternion{0, 0, 0, -2}; });
    const TransformManager& transforms = world.transforms();
    EXPECT_EQ(transforms.local(transforms.instance(made[0])).rotation, (Quaternion{0, 0, 0, -1}));
    EXPECT_EQ(transforms.world_position(transforms.instance(made[2])), (Vec3{1, 2, 4}));
}

TEST_F(PoseQuery, a_query_that_writes_poses_computes_the_subtrees_of_the_rows_that_it_visits) {
    TransformManager& transforms = world.transforms();
    std::vector<Entity> others(5000);
    ASSERT_TRUE(entities.create(others).ok());
    ASSERT_TRUE(transforms.add(others).ok());
    ASSERT_TRUE(world.manager<Mast>().add(made[1], {5}).ok());
    const std::uint64_t before = transforms.counts().num_worlds_computed;
    const auto raised = world.query<Write<&Transform::position>, Read<&Mast::height>>();
    raised.for_each([](auto&& position, int height) { position.z += float(height); });
    EXPECT_EQ(transforms.world_position(transforms.instance(made[2])), (Vec3{1, 2, 9}));
    EXPECT_EQ(transforms.counts().num_worlds_computed - before, 2u) << "the pole and what is on it";
    raised.changed_since(world.stamp() + 1).for_each([](auto&&, int) { FAIL(); });
    EXPECT_EQ(transforms.counts().num_worlds_computed - before, 2u) << "nothing was visited";
}

TEST_F(PoseQuery, a_query_that_writes_poses_passes_over_inactive_entities) {
    TransformManager& transforms = world.transforms();
    const std::uint64_t before = transforms.counts().num_worlds_computed;
    ASSERT_TRUE(world.activity().set_active(made[1], false).ok());
    world.query<Write<&Transform::position>>().for_each([](Vec3& position) { position.z += 1; });
    EXPECT_EQ(transforms.local(transforms.instance(made[1])).position, (Vec3{1, 0, 0}));
    EXPECT_EQ(transforms.world_position(transforms.instance(made[2])), (Vec3{1, 2, 5})) << "it follows its parent";
    EXPECT_EQ(transforms.counts().num_worlds_computed - before, 3u);
}

TEST_F(PoseQuery, a_batch_computes_what_queries_have_written_when_it_ends) {
    TransformManager& transforms = world.transforms();
    {
        const TransformBatch batch(transforms);
        for (int i = 0; i < 3; ++i)
            world.query<Write<&Transform::position>, Without<ChildOf>>().for_each([](Vec3& p) { p.x += 1; });
        EXPECT_EQ(transforms.world_position(transforms.instance(made[2])), (Vec3{1, 2, 4}));
    }
    EXPECT_EQ(transforms.world_position(transforms.instance(made[2])), (Vec3{4, 2, 4}));
}

/// Two worlds with the same trees: one is moved by queries, the other one by setters.
class MovedByQueries {
public:
    MovedByQueries(Random& random, TransformMode mode) : random_(random) {
        made.resize(3000);
        EXPECT_TRUE(entities.create(made).ok());
        std::vector<Transform> locals;
        std::vector<std::uint32_t> parents;
        for (std::uint32_t i = 0; i < made.size(); ++i) {
            locals.push_back({.position = {random.unit(), random.unit(), random.unit()}});
            parents.push_back(i == 0 || random.below(3) == 0 ? kNilRow : random.below(i));
        }
        for (World* world : {&queried, &set}) {
            world->transforms({.mode = mode});
            EXPECT_TRUE(world->transforms().add(made, locals, parents).ok());
        }
        for (std::uint32_t i = 0; i < made.size(); ++i) {
            EXPECT_TRUE(random.below(4) != 0 || queried.manager<Crew>().add(made[i], {int(i), 1}).ok());
            EXPECT_TRUE(random.below(2) != 0 || queried.database().add(made[i], Hull{{1, 2, 3}, int(i)}).ok());
        }
    }

    /// Moves some in one way in both worlds.
    void move(Executor& executor) {
        const float angle = random_.unit();
        const Quaternion turned{0, std::sin(angle), 0, std::cos(angle)};
        TransformManager& transforms = set.transforms();
        const auto each = [&](auto&& query, auto&& write) {
            random_.below(2) == 0 ? query.for_each(write) : query.for_each(executor, write);
        };
        switch (random_.below(5)) {
            case 0:  // alone
                each(queried.query<Write<&Transform::position>>(), [](Vec3& p) { p.x += 1; });
                for (const Entity e : made) shift(e, {1, 0, 0});
                return;
            case 1:  // driven by a manager
                each(queried.query<Read<&Crew::size>, Write<&Transform::position>>(), [](int, Vec3& p) { p.y += 1; });
                for (const Entity e : made)
                    if (queried.manager<Crew>().has(e)) shift(e, {0, 1, 0});
                return;
            case 2:  // drives the join
                each(queried.query<Write<&Transform::rotation>, Without<Crew>>(), [&](auto&& q) { q = turned; });
                for (const Entity e : made)
                    if (!queried.manager<Crew>().has(e)) transforms.set_rotation(transforms.instance(e), turned);
                return;
            case 3:  // whole components, with the database
                each(queried.query<Write<all_fields<Transform>>, Read<&Hull::position>>(), [&](auto&& t, Vec3 by) {
                    t.position += by;
                    t.rotation = turned;
                    t.scale = {2, 2, 2};
                });
                for (const Entity e : made) {
                    if (!queried.database().has<Hull>(e)) continue;
                    const Vec3 position = transforms.local(transforms.instance(e)).position + Vec3{1, 2, 3};
                    transforms.set_local(transforms.instance(e), {position, turned, {2, 2, 2}});
                }
                return;
            default:  // batches of rows side by side
                queried.query<Write<&Transform::scale>, With<ChildOf>>().for_each_batch(executor, [&](auto&& batch) {
                    for (auto&& scale : batch.template column<&Transform::scale>()) scale = {angle + 1, 1, 1};
                });
                for (const Entity e : made)
                    if (transforms.parent(transforms.instance(e)))
                        transforms.set_scale(transforms.instance(e), {angle + 1, 1, 1});
        }
    }
    void compute(Executor& executor) {
        for (World* world : {&queried, &set})
            if (world->transforms().mode() == TransformMode::kDeferred) world->transforms().compute_moved(&executor);
    }
    void expect_equal() {
        const TransformManager &a = queried.transforms(), &b = set.transforms();
        ASSERT_TRUE(a.validate().ok()) << a.validate().message();
        for (const Entity e : made) {
            ASSERT_EQ(a.local(a.instance(e)), b.local(b.instance(e)));
            ASSERT_EQ(std::memcmp(&a.world(a.instance(e)), &b.world(b.instance(e)), sizeof(Matrix3x4)), 0);
        }
    }

    EntityManager entities;
    World queried{entities}, set{entities};
    std::vector<Entity> made;

private:
    void shift(Entity entity, Vec3 by) {
        TransformManager& transforms = set.transforms();
        const Instance instance = transforms.instance(entity);
        transforms.set_position(instance, transforms.local(instance).position + by);
    }

    Random& random_;
};

// req: F5
TEST(TransformsOfQueries, give_the_world_poses_that_setters_give_bit_for_bit) {
    SCOPED_TRACE(shoal_test::seed_text());
    Random random(shoal_test::seed());
    shoal_test::ThreadPoolExecutor pool(3);
    for (const TransformMode mode : {TransformMode::kImmediate, TransformMode::kDeferred}) {
        MovedByQueries both(random, mode);
        for (int round = 0; round < 12; ++round) {
            for (int i = 0; i < 2; ++i) both.move(pool);
            both.compute(pool);
            ASSERT_NO_FATAL_FAILURE(both.expect_equal());
        }
    }
}

TEST(TransformsOfQueries, are_written_by_passes_and_read_by_later_ones) {
    shoal_test::ThreadPoolExecutor pool(3);
    EntityManager entities;
    World world(entities, {.executor = &pool});
    std::vector<Entity> made(20'000);
    ASSERT_TRUE(entities.create(made).ok());
    ASSERT_TRUE(world.transforms().add(made).ok());
    for (std::uint32_t i = 1; i < 100; ++i) ASSERT_TRUE(world.transforms().link({i * 200}, {i * 200 - 1}).ok());
    world.schedule().add("drift", world.query<Write<&Transform::position>>(),
                         [](const PassContext& frame, Vec3& p) { p.x += frame.dt; });
    ASSERT_TRUE(world.manager<Crew>().add(made).ok());
    world.schedule().add("look", world.query<Read<&WorldPose::matrix>, Write<&Crew::morale>>(),
                         [](const Matrix3x4& pose, float& morale) { morale = pose.row[0].w; });
    world.step(1);
    float sum = 0;
    world.query<Read<&Crew::morale>>().for_each([&](float morale) { sum += morale; });
    EXPECT_EQ(sum, 20'000 + 99);
}

}  // namespace
}  // namespace pose_query_test
