// Commands of passes that run side by side: the result is the same for any number of workers.

#include "shoal/command/commands.h"
#include "shoal/components/point_mass.h"
#include "shoal/save/state_hash.h"
#include "shoal/world/world.h"

#include "support/testing.h"
#include "support/thread_pool_executor.h"

#include <algorithm>
#include <vector>

namespace {

using namespace shoal;

struct Position {
    Vec3 value{};
};
SHOAL_COMPONENT(Position, (value, split))
struct Age {
    std::uint32_t frames = 0;
};
SHOAL_COMPONENT(Age, frames)
struct Friend {
    Entity other;
};
SHOAL_COMPONENT(Friend, other)
struct Asleep {};
SHOAL_COMPONENT((Asleep, enableable))

struct Chart {
    float heights[20'000]{};  // does not fit into a block of commands
};
SHOAL_COMPONENT(Chart, heights)

constexpr Zone kNumZones = 40;

/// A sea that creates, destroys, moves and changes entities, depending only on ids, frames and the seed.
struct Sea {
    explicit Sea(Executor& executor)
        : world(entities, {.executor = &executor}), sea(world.database()), masses(world.manager<PointMass>()) {
        std::vector<Entity> first(30'000);
        EXPECT_TRUE((sea.create<Position, Age>(first, 0).ok()));
        EXPECT_TRUE(masses.add(std::span(first).first(9000)));
        Schedule& schedule = world.schedule();
        schedule.add("breed", query<Read<&Position::value>, Read<&Age::frames>>(sea),
                     [this](Commands& commands, Entity self, const Vec3& place, std::uint32_t age) {
                         Random random = random_of(self, 1);
                         if (random.below(20) != 0) return;
                         const Entity egg = commands.create(random.below(kNumZones), Position{place}, Age{});
                         commands.add(self, Friend{egg});
                         if (age % 2 == 0) commands.add(egg, Friend{self});
                         if (random.below(9) == 0) commands.destroy(egg);
                     });
        schedule.add("age", query<Write<&Age::frames>, Without<Asleep>>(sea),
                     [this](Commands& commands, Entity self, std::uint32_t& age) {
                         Random random = random_of(self, 2);
                         if (++age > 15 + random.below(20)) commands.destroy(self);
                         if (random.below(10) == 0) commands.add(self, Asleep{});
                     });
        schedule.add("swim", query<Write<&Position::value>>(sea),
                     [this](Commands& commands, Entity self, auto&& place) {
                         Random random = random_of(self, 3);
                         place += Vec3{random.unit(), 0, 1};
                         if (random.below(4) == 0) commands.move(self, random.below(kNumZones));
                     });
        schedule.add("wake", query<With<Asleep>>(sea), [this](Commands& commands, Entity self) {
            if (random_of(self, 4).below(3) == 0) commands.remove<Asleep>(self);
        });
        schedule.add("part", query<Read<&Friend::other>>(sea), [this](Commands& commands, Entity self, Entity other) {
            if (!entities.alive(other)) commands.remove<Friend>(self);
        });
        schedule.add("sink", query<Read<&PointMass::mass>>(masses), [this](Commands& commands, Entity self, float) {
            if (random_of(self, 5).below(50) == 0) commands.destroy(self);
        });
        schedule.add("spawn", {reads(sea)}, [this](PassContext& context) {
            Commands& commands = sea.commands();
            for (std::uint32_t i = 0; i < 500; ++i)
                commands.create((i + context.frame) % kNumZones, Position{}, Age{i % 7});
        });
    }
    Random random_of(Entity self, std::uint64_t pass) const {
        Random random(shoal_test::seed() + self.id * 31 + world.frame() * 1'000'003 + pass * 77);
        random.next();
        return random;
    }

    EntityManager entities;
    World world;
    Database& sea;
    Manager<PointMass>& masses;
};

// req: E13
TEST(WorldCommands, the_state_is_the_same_for_1_2_3_and_8_workers) {
    SCOPED_TRACE(shoal_test::seed_text());
    SerialExecutor serial;
    Sea reference(serial);
    std::vector<std::uint64_t> hashes;
    const auto num_frames = std::size_t(std::max<std::int64_t>(shoal_test::scaled_operations(40), 12));
    for (std::size_t frame = 0; frame < num_frames; ++frame) {
        reference.world.step(0);
        hashes.push_back(state_hash(reference.world));
    }
    EXPECT_EQ(reference.sea.validate().message(), "");
    const SettleCounts total = reference.world.settle_statistics().total;
    EXPECT_GT(total.num_created, num_frames * 500);
    EXPECT_GT(total.num_destroyed, num_frames * 10);
    EXPECT_GT(total.num_moved, num_frames * 1000);
    EXPECT_GT(total.num_dropped, num_frames);
    EXPECT_GT(total.num_removed, num_frames) << "rows of managers";
    for (const unsigned num_workers : {1u, 2u, 3u, 8u}) {
        if (shoal_test::kThreadSanitized && num_workers != 3) continue;
        shoal_test::ThreadPoolExecutor executor(num_workers);
        Sea sea(executor);
        for (std::size_t frame = 0; frame < num_frames; ++frame) {
            sea.world.step(0);
            ASSERT_EQ(state_hash(sea.world), hashes[frame]) << num_workers << " workers, frame " << frame;
        }
        EXPECT_EQ(sea.world.settle_statistics().total.num_dropped, total.num_dropped);
    }
}

TEST(WorldCommands, commands_count_in_the_order_of_the_schedule_whichever_pass_runs_first) {
    for (const bool reversed : {false, true}) {
        EntityManager entities;
        shoal_test::ThreadPoolExecutor executor(2);
        World world(entities, {.executor = &executor});
        Database& sea = world.database();
        Entity fish;
        ASSERT_TRUE((sea.create<Age>(std::span(&fish, 1), 0).ok()));
        const auto add = [&](const char* name, std::uint32_t age) {
            return world.schedule().add(name, {reads(sea)},
                                        [&sea, fish, age](PassContext&) { sea.commands().add(fish, Age{age}); });
        };
        PassOrder first = add("a", 1);
        add("b", 2);
        if (reversed) first.after("b");
        world.step(0);
        EXPECT_EQ(sea.get<&Age::frames>(sea.find(fish)), reversed ? 1u : 2u);
    }
}

TEST(WorldCommands, entities_that_only_managers_know_die_before_any_store_settles) {
    EntityManager entities;
    World world(entities);
    Manager<PointMass>& masses = world.manager<PointMass>({.death = DeathPolicy::kAtSettle});  // settles first
    std::vector<Entity> stones(10);
    ASSERT_TRUE(entities.create(stones));
    ASSERT_TRUE(masses.add(stones));
    world.schedule().add("break", query<Read<&PointMass::mass>>(masses), [&](Commands& commands, Entity stone, float) {
        if (stone != stones[0]) commands.destroy(stone);
    });
    world.step(0);
    EXPECT_EQ(masses.num_rows(), 1u);
    EXPECT_EQ(world.settle_statistics().last.num_destroyed, 9u);
    EXPECT_EQ(world.settle_statistics().last.num_removed, 9u);
}

TEST(WorldCommands, a_value_that_is_larger_than_a_block_gets_one_of_its_own_although_others_are_free) {
    EntityManager entities;
    World world(entities);
    std::vector<Entity> ships(5000);
    ASSERT_TRUE(world.database().create<Age>(ships, 0).ok());
    Chart chart;
    for (std::size_t i = 0; i < std::size(chart.heights); ++i) chart.heights[i] = float(i);
    for (int round = 0; round < 2; ++round) {
        for (const Entity ship : ships) world.commands().add(ship, Position{{1, 2, 3}});
        world.settle();  // from now on, there are free blocks
        for (std::size_t i = 0; i < 3; ++i) world.commands().add(ships[i], chart);
        world.settle();
        for (std::size_t i = 0; i < 3; ++i) {
            const auto heights = world.get<&Chart::heights>(ships[i]);
            ASSERT_NE(heights, nullptr);
            EXPECT_TRUE(std::ranges::equal(*heights, chart.heights)) << i;
        }
    }
}

TEST(WorldCommands, two_databases_keep_their_commands_apart) {
    EntityManager entities;
    World world(entities);
    Database& sea = world.database();
    Database lake(entities, world.pool());  // does not belong to the world: its owner settles it
    world.schedule().add("both", [&](PassContext&) {
        sea.commands().create(1, Age{1});
        lake.commands().create(2, Age{2});
    });
    world.step(0);
    EXPECT_EQ(sea.num_rows(1), 1u);
    EXPECT_EQ(lake.num_rows(), 0u);
    lake.settle({});
    EXPECT_EQ(lake.num_rows(2), 1u);
    EXPECT_EQ(sea.num_rows(), 1u);
}

TEST(WorldCommandsDeathTest, passes_do_not_change_a_database_at_once) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EntityManager entities;
    World world(entities);
    Database& sea = world.database();
    Entity fish;
    ASSERT_TRUE((sea.create<Age>(std::span(&fish, 1), 0).ok()));
    const char* const kMessage = "take a Commands&";
    world.schedule().add("now", [&](PassContext&) { sea.destroy(fish); });
    EXPECT_DEATH(world.step(0), kMessage);
    ASSERT_TRUE(world.schedule().remove("now").ok());
    world.schedule().add("now", [&](PassContext&) { static_cast<void>(sea.add(fish, Asleep{})); });
    EXPECT_DEATH(world.step(0), "named for the first time while passes or loops ran; register it before, and ask");
    world.schedule().clear();
    world.step(0);
    EXPECT_TRUE(sea.destroy(fish));
}

// --- worlds of managers only -------------------------------------------------------------------------------------

struct Minnow {
    float age = 0;
};
SHOAL_COMPONENT(Minnow, age)

struct ManagersOnly : ::testing::TestWithParam<std::uint32_t> {
    ManagersOnly() {
        EXPECT_TRUE(entities.create(school).ok());
        EXPECT_TRUE(minnows.add(school).ok());
    }

    std::vector<Entity> school = std::vector<Entity>(10'000);
    EntityManager entities;
    ThreadedExecutor executor{GetParam()};
    World world{entities, {.executor = &executor}};
    Manager<Minnow>& minnows = world.manager<Minnow>();
};
INSTANTIATE_TEST_SUITE_P(Workers, ManagersOnly, ::testing::Values(1u, 2u));

TEST_P(ManagersOnly, a_world_carries_out_the_commands_of_its_passes) {
    const auto all = world.query<Write<&Minnow::age>>();  // made before anything keeps commands
    world.schedule().add("age", all, [&](Commands& commands, Entity self, float& age) {
        if (++age == 2) commands.destroy(self);
    });
    world.schedule().add("spare", [&](PassContext&) {
        world.commands().create(0, Minnow{-100});
        all.for_each([&](Commands& commands, Entity self, float& age) {
            if (self == school[3] && age == 1) commands.add(self, Minnow{-100});
        });
    });
    EXPECT_EQ(find_database(world.directory()), nullptr);
    world.step(1);
    EXPECT_EQ(minnows.num_rows(), 10'001u);
    world.step(1);
    EXPECT_EQ(entities.num_alive(), 3u);
    EXPECT_TRUE(entities.alive(school[3]));
}

TEST_P(ManagersOnly, a_loop_outside_of_passes_may_ask_for_changes_too) {
    const auto all = world.query<Read<&Minnow::age>>();
    all.for_each(executor, [](Commands& commands, Entity self, float) { commands.destroy(self); });
    world.commands().create(0, Minnow{3});
    EXPECT_EQ(minnows.num_rows(), 10'000u) << "until the world settles";
    world.settle();
    ASSERT_EQ(minnows.num_rows(), 1u);
    EXPECT_EQ(minnows.column<&Minnow::age>()[0], 3);
}

TEST_P(ManagersOnly, commands_make_a_database_only_for_what_no_store_keeps) {
    const std::uint64_t before = state_hash(world);
    world.schedule().add("look", {reads(minnows)}, [](PassContext&) {});
    world.commands().add(school[0], Minnow{0});
    world.step(1);
    EXPECT_EQ(state_hash(world), before);
    EXPECT_EQ(find_database(world.directory()), nullptr);
    Database& sea = world.database({.first_zone = 5, .capacity_rows = 2});
    ASSERT_TRUE(sea.add(school[0], Age{}).ok());
    EXPECT_EQ(sea.find(school[0]).table->zone(), 5u) << "the options of the first call that names the database count";
    ASSERT_TRUE(sea.add(school[1], Age{}).ok());
    EXPECT_FALSE(sea.add(school[2], Age{}).ok()) << "a table has room for two";
    world.database({.first_zone = 6});
    EXPECT_EQ(sea.find(school[0]).table->zone(), 5u);
}

TEST_P(ManagersOnly, an_attached_database_asks_the_world_for_changes) {
    PagePool pool;
    Database own(entities, pool);
    ASSERT_TRUE(world.attach(own).ok());
    own.commands().destroy(school[0]);
    EXPECT_EQ(WaitingCommands::of_directory(world.directory()).num_waiting(), 1u)
        << "its commands are those of the world";
    world.commands().add(school[1], Age{3});
    world.settle();
    EXPECT_FALSE(entities.alive(school[0]));
    EXPECT_EQ(find_database(world.directory()), &own) << "no other was made";
    EXPECT_EQ(own.num_rows(), 1u) << "what nobody keeps goes there";
    world.detach(own);
}

TEST_P(ManagersOnly, functions_of_loops_take_the_commands_of_their_chunk) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto all = world.query<Read<&Minnow::age>>();
    world.schedule().add("ask", all, [&](Entity self, float) { world.commands().destroy(self); });
    EXPECT_DEATH(world.step(1), "take a Commands& as its first argument");
    EXPECT_EQ(WaitingCommands::of_directory(world.directory()).num_waiting(), 0u);
}

TEST_P(ManagersOnly, a_database_that_ends_leaves_commands_about_its_component_types_to_others) {
    PagePool pool;
    {
        Database own(entities, pool);
        own.component<Age>();
        ASSERT_TRUE(world.attach(own).ok());
        const ComponentType age = own.component<Age>();
        const Age given{7};
        const ComponentValues values[] = {{.component = age, .images = reinterpret_cast<const std::byte*>(&given)}};
        own.commands().add(school[0], own, values);
        own.commands().add(school[1], own.schema(age), reinterpret_cast<const std::byte*>(&given));
        own.commands().remove(school[2], own, {&age, 1});
    }
    EXPECT_EQ(WaitingCommands::of_directory(world.directory()).num_waiting(), 3u);
    world.settle();
    EXPECT_EQ(world.database().num_rows(), 2u);
    EXPECT_EQ(*world.get<std::uint32_t>(school[1], "age.frames"), 7u);
}

TEST_P(ManagersOnly, a_database_in_which_commands_wait_is_settled_before_it_is_attached) {
    PagePool pool;
    Database own(entities, pool);
    own.commands().add(school[0], Age{3});
    EXPECT_EQ(world.attach(own).message(), "commands wait in the database; settle it before it is attached");
    EXPECT_EQ(find_database(world.directory()), nullptr);
    own.settle({});
    EXPECT_EQ(own.num_rows(), 1u);
    ASSERT_TRUE(world.attach(own).ok());
    own.commands().add(school[1], Age{4});
    world.detach(own);
    own.settle({});
    EXPECT_EQ(own.num_rows(), 1u) << "what it asked of the world waits there";
    world.settle();
    EXPECT_EQ(own.num_rows(), 1u) << "which carries it out in stores of its own";
    EXPECT_EQ(world.database().num_rows(), 1u);
}

TEST_P(ManagersOnly, passes_that_no_world_steps_ask_for_changes_too) {
    world.schedule().add("ask", [&](PassContext&) { world.commands().destroy(school[0]); });
    world.schedule().run(world.executor(), 1, 0);
    EXPECT_TRUE(entities.alive(school[0]));
    world.settle();
    EXPECT_FALSE(entities.alive(school[0]));
}

}  // namespace
