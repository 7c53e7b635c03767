// What the headers of query and command show.

#include "manuals/fish.h"
#include "shoal/command/commands.h"
#include "shoal/job/executor.h"
#include "shoal/query/detail/held_rows.h"
#include "shoal/query/query.h"
#include "shoal/query/text_query.h"
#include "shoal/query/typed_database.h"
#include "shoal/transform/transform.h"
#include "shoal/world/world.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <vector>

namespace shoal_test {
namespace {

using namespace shoal;

struct Food {
    float energy = 1;
};
SHOAL_COMPONENT(Food, energy)
struct Body {
    Vec3 position{}, velocity{};
    float mass = 1;
};
SHOAL_COMPONENT(Body, (position, split), (velocity, split), mass)
struct Frozen {};
SHOAL_COMPONENT(Frozen)
struct Wind {
    Vec3 force{};
};
SHOAL_COMPONENT(Wind, force)
struct Boat {
    Vec3 position{};
};
SHOAL_COMPONENT(Boat, position)
struct Sail {
    float area = 2;
};
SHOAL_COMPONENT(Sail, area)
struct Shark {
    float hunger = 0;
};
SHOAL_COMPONENT(Shark, hunger)
struct Egg {
    Entity mother;
};
SHOAL_COMPONENT(Egg, mother)
struct Nest {
    Entity egg;
};
SHOAL_COMPONENT(Nest, egg)
struct Algae {};
SHOAL_COMPONENT(Algae)

Vec3 pull_at(const Matrix3x4& pose) { return {pose.row[2].w, 0, 0}; }

struct QueryManuals : ::testing::Test {
    EntityManager entities;
    PagePool pool;
    Database database{entities, pool};
};

TEST_F(QueryManuals, rows_are_visited_by_their_components_and_zones) {
    std::vector<Entity> made(6);
    ASSERT_TRUE(database.create<Body>(made, 3, Body{.velocity = {1, 0, 0}}));
    ASSERT_TRUE(database.add(made[0], Frozen{}));
    ASSERT_TRUE(database.move(made[1], 4));
    ThreadedExecutor executor(2);
    const ZoneSet near = {3};
    const float dt = 0.5f;
    std::size_t num_drawn = 0;
    const auto draw = [&](std::span<const Entity> owners, const auto& positions) {
        EXPECT_EQ(owners.size(), positions.size());
        num_drawn += owners.size();
    };
    // [query/query]
    auto moving = query<Write<&Body::position>, Read<&Body::velocity>, Without<Frozen>>(database);
    moving.for_each([dt](auto&& p, Vec3 v) { p += v * dt; });                     // on this thread
    moving.in(near).for_each(executor, [dt](auto&& p, Vec3 v) { p += v * dt; });  // on all, in some zones
    moving.for_each_batch([&](auto&& batch) {                                     // columns and entities
        draw(batch.entities(), batch.template column<&Body::position>());
    });
    // [query/query]
    EXPECT_EQ(num_drawn, 5u);
    EXPECT_EQ(database.get<&Body::position>(database.find(made[0])), (Vec3{0, 0, 0}));
    EXPECT_EQ(database.get<&Body::position>(database.find(made[1])), (Vec3{0.5f, 0, 0}));
    EXPECT_EQ(database.get<&Body::position>(database.find(made[2])), (Vec3{1, 0, 0}));
}

TEST_F(QueryManuals, stores_are_joined_by_entity) {
    Manager<Body> bodies(entities, pool);
    Manager<Wind> winds(entities, pool);
    Manager<Sail> sails(entities, pool);
    std::vector<Entity> made(3);
    ASSERT_TRUE(database.create<Boat>(made, 0));
    ASSERT_TRUE(bodies.add(made));
    ASSERT_TRUE(winds.add(made[1], {{0, 2, 0}}));
    ASSERT_TRUE(sails.add(made[2]));
    // [query/joins]
    auto pushed = query<Write<&Body::velocity>, Maybe<&Wind::force>>(bodies, winds);
    pushed.for_each([](auto&& v, const Vec3* force) {
        if (force) v += *force;
    });
    auto sailing = query<Write<&Boat::position>, Read<&Sail::area>>(database, sails);  // both have it
    // [query/joins]
    int num_sailing = 0;
    sailing.for_each([&](Vec3& position, float area) { position.x += area, ++num_sailing; });
    EXPECT_EQ(num_sailing, 1);
    EXPECT_EQ(bodies.get<&Body::velocity>(bodies.instance(made[1])), (Vec3{0, 2, 0}));
    EXPECT_EQ(database.get<&Boat::position>(database.find(made[2])), (Vec3{2, 0, 0}));
}

TEST_F(QueryManuals, a_component_is_written_as_one_struct) {
    Manager<Body> bodies(entities, pool);
    Manager<Wind> winds(entities, pool);
    std::vector<Entity> made(2);
    ASSERT_TRUE(entities.create(made).ok());
    ASSERT_TRUE(bodies.add(made).ok());
    ASSERT_TRUE(winds.add(made[1], {{0, 2, 0}}));
    const float dt = 0.5f;
    // [query/all_fields]
    auto falling = query<Write<all_fields<Body>>, Read<&Wind::force>>(bodies, winds);
    falling.for_each([dt](Body& body, Vec3 force) {
        body.velocity += force * (dt / body.mass);
        body.position += body.velocity * dt;
    });
    // [query/all_fields]
    EXPECT_EQ(bodies.value(bodies.instance(made[1])).position, (Vec3{0, 2 * dt * dt, 0}));
    EXPECT_EQ(bodies.value(bodies.instance(made[0])).position, Vec3{});
}

TEST_F(QueryManuals, a_world_finds_the_stores) {
    World world(entities);
    Entity made[2];
    ASSERT_TRUE(entities.create(made));
    world.database().component<Frozen>();
    ASSERT_TRUE(world.manager<Body>().add(made));
    ASSERT_TRUE(world.transforms().add(made, Transform{.position = {0, 0, 7}}));
    ASSERT_TRUE(world.database().add(made[1], Frozen{}));
    // [query/world]
    world.query<Write<&Body::velocity>, Read<&WorldPose::matrix>, Without<Frozen>>().for_each(
        [](auto&& v, const Matrix3x4& pose) { v += pull_at(pose); });
    // [query/world]
    EXPECT_EQ(world.manager<Body>().get<&Body::velocity>(world.manager<Body>().instance(made[0])), (Vec3{7, 0, 0}));
    EXPECT_EQ(world.manager<Body>().get<&Body::velocity>(world.manager<Body>().instance(made[1])), Vec3{});
}

struct Fish {
    float hunger = 3;
};
SHOAL_COMPONENT(Fish, hunger)
struct Weight {
    float mass = 1;
};
SHOAL_COMPONENT((Weight, name("body")), mass)
struct Asleep {};
SHOAL_COMPONENT((Asleep, enableable))

Status feed(World& world) {
    // [query/text_query]
    Result<TextQuery> hungry = TextQuery::make(world.directory(), "fish, &body, !asleep, fish.hunger >= 2.5");
    if (!hungry) return hungry.status();  // 1:15: no store keeps a component "aslep"; did you mean "asleep"?
    hungry->for_each_batch([&](const TextBatch& batch) {
        const TextColumn hunger = batch.column(0, 0), mass = batch.column(1, 0);  // of fish and body
        for (std::uint32_t i = 0; i < batch.num_rows(); ++i) *mass.write<float>(i) -= 0.01f * *hunger.read<float>(i);
    });
    // [query/text_query]
    return {};
}

void double_masses(const TextQuery& query) {
    // [query/held_rows]
    HeldRows held(query);  // rows stay where they are from now on
    for (std::size_t i = 0; i < held.num_batches(); ++i) {
        const TextColumn mass = held.batch(i).column(0, 0);
        for (std::uint32_t k = 0; k < held.batch(i).num_rows(); ++k) *mass.write<float>(k) *= 2;
    }
    held.finish();  // marks what the query writes as written
    // [query/held_rows]
}

TEST_F(QueryManuals, rows_are_held) {
    World world(entities);
    Entity made[3];
    ASSERT_TRUE(entities.create(made));
    ASSERT_TRUE(world.manager<Weight>().add(made));
    double_masses(*TextQuery::make(world.directory(), "&body"));
    EXPECT_EQ(world.manager<Weight>().column<&Weight::mass>()[2], 2);
}

TEST_F(QueryManuals, a_text_names_what_is_visited) {
    World world(entities);
    Entity made[3];
    ASSERT_TRUE(entities.create(made));
    world.database().component<Asleep>();
    ASSERT_TRUE(world.manager<Fish>().add(made));
    ASSERT_TRUE(world.manager<Weight>().add(made));
    ASSERT_TRUE(world.database().add(made[1], Asleep{}));
    world.manager<Fish>().set<&Fish::hunger>(world.manager<Fish>().instance(made[2]), 2);
    ASSERT_TRUE(feed(world).ok());
    const auto masses = world.manager<Weight>().column<&Weight::mass>();
    EXPECT_EQ(masses[0], 1 - 0.01f * 3);
    EXPECT_EQ(masses[1], 1);
    EXPECT_EQ(masses[2], 1);
    const Result<TextQuery> wrong = TextQuery::make(world.directory(), "fish, &body, !aslep");
    EXPECT_EQ(wrong.status().message(), "1:15: no store keeps a component \"aslep\"; did you mean \"asleep\"?");
}

Status move_listed(Database& database, std::span<Entity> fish, Zone near) {
    // [query/typed_database]
    using Types = Archetypes<Has<Position, Velocity>, Has<Position, Food>>;
    TypedDatabase<Types> sea(database);  // numbers the component types: 0, 1, 2
    if (Status s = sea.create<Position, Velocity>(fish, near, Position{}, Velocity{{0, 0, 1}}); !s) return s;
    // sea.create<Velocity, Food>(fish, near) does not compile: no listed archetype has just these components
    sea.query<Write<&Position::value>, Read<&Velocity::value>>().for_each([](Vec3& p, Vec3 v) { p += v; });
    static_assert(sea.kNumMatching<Read<&Position::value>> == 2);
    // [query/typed_database]
    EXPECT_EQ(sea.get<&Position::value>(sea.find(fish[0])), (Vec3{0, 0, 1}));
    return sea.validate();
}

TEST_F(QueryManuals, listed_archetypes_are_created_and_queried) {
    std::vector<Entity> fish(2);
    EXPECT_TRUE(move_listed(database, fish, 0));
}

TEST(CommandManuals, passes_ask_for_changes) {
    constexpr Zone kReef = 5;
    EntityManager entities;
    World world(entities);
    Database sea(entities, world.pool());
    ASSERT_TRUE(world.attach(sea));
    Schedule& schedule = world.schedule();
    std::vector<Entity> sharks(2);
    ASSERT_TRUE((sea.create<Shark, Position>(sharks, 0, Shark{.hunger = 3}, Position{{1, 2, 3}})));
    sea.set<&Shark::hunger>(sea.find(sharks[0]), 10);
    // [command/commands]
    schedule.add("hunt", query<Read<&Shark::hunger>, Read<&Position::value>>(sea),
                 [](Commands& commands, Entity shark, float hunger, const Vec3& place) {
                     if (hunger > 9) return commands.destroy(shark);
                     const Entity egg = commands.create(kReef, Position{place}, Egg{.mother = shark});
                     commands.add(shark, Nest{.egg = egg});  // translated when it settles
                 });
    schedule.add("sow", {writes(sea)}, [&](PassContext&) { sea.commands().create(kReef, Position{}, Algae{}); });
    // [command/commands]
    world.step(0.1f);
    EXPECT_FALSE(entities.alive(sharks[0]));
    const Entity egg = sea.get<&Nest::egg>(sea.find(sharks[1]));
    EXPECT_EQ(sea.get<&Egg::mother>(sea.find(egg)), sharks[1]);
    EXPECT_EQ(sea.get<&Position::value>(sea.find(egg)), (Vec3{1, 2, 3}));
    EXPECT_EQ(sea.num_rows(kReef), 2u);
}

}  // namespace
}  // namespace shoal_test
