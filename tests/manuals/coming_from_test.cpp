// The last columns of the tables of docs/guide/coming_from.md: a test of the structure finds each call of them here.

#include "shoal/command/commands.h"
#include "shoal/components/activity.h"
#include "shoal/components/ownership.h"
#include "shoal/inspect/describe_entity.h"
#include "shoal/inspect/report.h"
#include "shoal/react/observers.h"
#include "shoal/react/relations.h"
#include "shoal/transform/transform.h"
#include "shoal/world/copy.h"
#include "shoal/world/world.h"
#include "support/testing.h"

#include <gtest/gtest.h>
#include <vector>

namespace coming_from {

using namespace shoal;

struct Body {
    Vec3 position{}, velocity{};
};
SHOAL_COMPONENT(Body, position, velocity)
struct Asleep {
    float since = 0;
};
SHOAL_COMPONENT((Asleep, enableable), since)
struct Gravity {
    float z = -9.81f;
};
SHOAL_COMPONENT((Gravity, singleton), z)
struct Hit {
    Entity who;
};

/// Where nothing is shown for the case that there is no memory, a program tests the result.
struct ComingFrom : ::testing::Test {
    EntityManager entities;
    World world{entities};
    Database& sea = world.database();
    const Body body{.velocity = {1, 0, 0}};
};

TEST_F(ComingFrom, entities_and_components) {
    const Result<Entity> e = sea.create(Body{});
    std::vector<Entity> many(1000);
    EXPECT_TRUE(sea.create<Body>(many, 0));
    EXPECT_TRUE(sea.add(*e, Asleep{}));
    EXPECT_TRUE(sea.has<Asleep>(*e));
    EXPECT_TRUE(sea.remove<Asleep>(*e));
    const DatabaseRow row = sea.find(*e);
    sea.set<&Body::position>(row, {1, 2, 3});
    EXPECT_EQ(sea.get<&Body::position>(row), (Vec3{1, 2, 3}));
    const auto position = sea.field<&Body::position>();
    EXPECT_EQ(*position.find(*e), (Vec3{1, 2, 3}));
    EXPECT_TRUE(entities.alive(*e));
    EXPECT_EQ(describe(world, *e).substr(0, 6), "entity");
    const WorldReport report = report_world(world);
    EXPECT_EQ(report.num_entities, 1001u);
    entities.destroy(*e);
    EXPECT_FALSE(entities.alive(*e));
}

TEST_F(ComingFrom, managers) {
    auto& bodies = world.manager<Body>();
    std::vector<Entity> made(1000);
    EXPECT_TRUE(entities.create(made));
    const Entity e = entities.create().value();
    EXPECT_TRUE(bodies.add(e, body));
    const Instance i = bodies.instance(e);
    bodies.set<&Body::position>(i, {1, 2, 3});
    EXPECT_EQ(bodies.get<&Body::position>(i).x, 1);
    EXPECT_TRUE(bodies.has(e));
    EXPECT_EQ(bodies.value(i).velocity, body.velocity);
    EXPECT_TRUE(bodies.remove(e));
    entities.destroy(e);
    EXPECT_FALSE(entities.alive(e));
}

TEST_F(ComingFrom, loops) {
    const Entity e = sea.create(body, Asleep{}).value();
    auto moving = world.query<Write<&Body::position>, Read<&Body::velocity>, Without<Asleep>>();
    moving.for_each([](auto&& p, Vec3 v) { p += v; });
    EXPECT_EQ(sea.get<&Body::position>(sea.find(e)), Vec3{});
    EXPECT_TRUE(sea.remove<Asleep>(e));
    world.schedule().add("move", moving, [](const PassContext& frame, auto&& p, Vec3 v) { p += v * frame.dt; });
    world.schedule().add("draw", {reads(sea)}, [](PassContext&) {}).after("move");
    world.schedule().add("think", {reads(sea)}, [](PassContext&) {}).every_seconds(0.5f);
    world.step(1.0f / 64);
    EXPECT_EQ(sea.get<&Body::position>(sea.find(e)).x, 1.0f / 64);
    const std::uint64_t seen = world.stamp();
    sea.set<&Body::position>(sea.find(e), {});
    int num_changed = 0;
    const auto drawn = world.query<Read<&Body::position>>();
    drawn.changed_since(seen).for_each([&](Vec3) { ++num_changed; });
    EXPECT_EQ(num_changed, 1);
    const auto changed = world.query<Changed<Body>, Read<&Body::position>>();
    changed.for_each([](Vec3) { FAIL() << "in its first loop nothing was there before"; });
    sea.set<&Body::position>(sea.find(e), {3, 0, 0});
    changed.for_each([&](Vec3 position) { EXPECT_EQ(position.x, 3); });
    world.query<Added<Body>>().for_each([&](Entity) { ++num_changed; });
    EXPECT_GT(num_changed, 1) << "all that are there";
    const auto query = world.query<Read<&Asleep::since>>();
    query.sorted_by<&Asleep::since>().for_each([before = 0.0f](float since) mutable {
        EXPECT_LE(before, since);
        before = since;
    });
    world.query<Removed<Body>>().for_each([](const Body&) { FAIL() << "nothing had gone before"; });
    EXPECT_TRUE(world.schedule().enable("think", false));
}

TEST_F(ComingFrom, changes_events_and_things_that_are_there_once) {
    const Entity old = sea.create(body).value();
    Events<Hit>& hits = world.events<Hit>();
    ThreadedExecutor workers;
    world.singleton<Gravity>().z = -5;
    world.schedule().add("set", world.query<Singleton<Write<&Gravity::z>>>(), [](float& z) { z = -10; });
    world.schedule().add("fall", world.query<Write<&Body::velocity>, Singleton<Read<&Gravity::z>>>(), {writes(hits)},
                         [&](const PassContext& frame, Commands& commands, Entity e, auto&& v, float gravity) {
                             v.z += gravity * frame.dt;
                             hits.write({e});
                             commands.create(Body{});
                             commands.add(e, Asleep{});
                             commands.remove<Asleep>(e);
                             commands.destroy(e);
                         });
    world.schedule().add("hurt", {reads(hits)}, [&](PassContext&) {
        for (const Hit& hit : hits.read()) EXPECT_EQ(hit.who, old);
    });
    world.schedule().run(workers, 1, 0);
    world.settle();
    EXPECT_FALSE(entities.alive(old));
    EXPECT_EQ(sea.num_rows(), 1u);
}

struct Likes {
    Entity whom;
};
SHOAL_COMPONENT(Likes, (whom, relation(cleared)))

TEST_F(ComingFrom, observers_relations_and_copies) {
    std::size_t num_told = 0;
    const auto tell = [&](std::span<const Entity> entities) { num_told += entities.size(); };
    sea.component<Body>();
    sea.component<Likes>();
    world.observers().on_add<Body>(tell);
    world.observers().on_remove<Body>(tell);
    const Result<Entity> e = sea.create(Body{});
    const Entity friendly = sea.create(Body{}, Likes{*e}).value();
    world.settle();
    for (const Entity other : world.relations().referrers<&Likes::whom>(*e)) EXPECT_EQ(other, friendly);
    EXPECT_TRUE(copy(world, *e));
    EXPECT_TRUE(world.activity().set_active(*e, false));
    entities.destroy(*e);
    world.settle();
    EXPECT_EQ(num_told, 4u) << "two and a copy have come, one has gone";
    EXPECT_EQ(sea.get<&Likes::whom>(sea.find(friendly)), kNullEntity);
}

int num_deaths = 0;

TEST_F(ComingFrom, parents_owners_and_deaths) {
    Entity made[3];
    ASSERT_TRUE(entities.create(made));
    const auto [parent, child, shadow] = made;
    TransformManager& transforms = world.transforms();
    EXPECT_TRUE(transforms.add({&parent, 1}, Transform{}));
    EXPECT_TRUE(transforms.add({&child, 1}, Transform{.position = {1, 0, 0}}));
    EXPECT_TRUE(transforms.link(transforms.instance(child), transforms.instance(parent)));
    const Vec3 at = transforms.world_position(transforms.instance(child));
    EXPECT_EQ(at.x, 1);
    EXPECT_EQ((world.query<Read<&WorldPose::matrix>>().num_rows()), 2u);
    OwnershipManager& owners = world.ownership();
    EXPECT_TRUE(owners.own(child, shadow));
    auto count = [](void*, std::span<const Entity> dead) { num_deaths += int(dead.size()); };
    const DestructionCallback callback = entities.add_destruction_callback(count, nullptr);
    entities.destroy(child);
    EXPECT_EQ(num_deaths, 2);
    entities.remove_destruction_callback(callback);
}

}  // namespace coming_from
