// Commands: what each of the rules says. Random ones are in command_oracle_test.cpp.

#include "shoal/command/commands.h"

#include "shoal/base/log.h"
#include "shoal/query/query.h"
#include "shoal/state/snapshot.h"
#include "shoal/store/detail/component_directory.h"
#include "shoal/store/detail/waiting_commands.h"
#include "support/database_testing.h"
#include "support/thread_pool_executor.h"

#include <memory>
#include <string>
#include <vector>

namespace {

using namespace shoal_test;

constexpr Zone kReef = 3, kDeep = 900;

/// Does something when it ends.
struct Cargo {
    std::shared_ptr<const int> weight;
};
SHOAL_COMPONENT(Cargo, weight)

class CommandsTest : public testing::Test, protected DatabaseFixture {
protected:
    SettleCounts settle() {
        SettleCounts counts;
        database.settle({.stamp = ++stamp, .counts = &counts});
        EXPECT_EQ(database.validate().message(), "");
        return counts;
    }
    template <class... Ts>
    std::vector<Entity> made(std::size_t count, Zone zone, const Ts&... values) {
        std::vector<Entity> result(count);
        EXPECT_TRUE(database.create<Ts...>(result, zone, values...).ok());
        return result;
    }
    /// Makes entities with a speed there and a position here.
    std::vector<Entity> make_divers(Manager<Velocity>& speeds) {
        const std::vector<Entity> divers = create(entities, 4);
        EXPECT_TRUE(speeds.add(divers));
        EXPECT_TRUE(database.insert<Position>(divers, 0, std::vector<Position>(divers.size())));
        return divers;
    }
    /// The owners of all rows in a zone.
    std::vector<Entity> in(Zone zone) {
        std::vector<Entity> result;
        database.for_each_table_of_zone(zone, [&](DatabaseTable& table) {
            result.insert(result.end(), table.entities().begin(), table.entities().end());
        });
        return result;
    }
    float mass_of(Entity entity) { return database.get<&Mass::value>(database.find(entity)); }

    std::uint64_t stamp = 1;
};

TEST_F(CommandsTest, nothing_happens_before_the_database_settles) {
    const std::vector<Entity> fish = made(2, kReef, Mass{1});
    Commands& commands = database.commands();
    commands.destroy(fish[0]);
    commands.move(fish[1], kDeep);
    commands.add(fish[1], Marked{});
    commands.create(kReef, Mass{2});
    EXPECT_TRUE(entities.alive(fish[0]));
    EXPECT_EQ(in(kReef), fish);
    const SettleCounts counts = settle();
    EXPECT_EQ(counts.num_created, 1u);
    EXPECT_EQ(counts.num_destroyed, 1u);
    EXPECT_EQ(counts.num_moved, 2u) << "once to another zone, once to another archetype";
    EXPECT_EQ(counts.num_dropped, 0u);
    EXPECT_FALSE(entities.alive(fish[0]));
    EXPECT_EQ(in(kDeep), std::vector{fish[1]});
    EXPECT_TRUE(database.has<Marked>(fish[1]));
    ASSERT_EQ(in(kReef).size(), 1u);
    EXPECT_EQ(mass_of(in(kReef).front()), 2);
    EXPECT_EQ(settle().num_created, 0u) << "what is done is done once";
}

TEST_F(CommandsTest, a_pending_entity_is_dead_to_all_but_its_chunk) {
    const Entity pending = database.commands().create(kReef, Mass{2});
    EXPECT_TRUE(is_pending(pending));
    EXPECT_TRUE(pending);
    EXPECT_FALSE(entities.alive(pending));
    EXPECT_FALSE(database.find(pending));
    EXPECT_FALSE(entities.destroy(pending));
    EXPECT_EQ(database.add(pending, Marked{})->num_skipped, 1u);
    EXPECT_FALSE(is_pending(made(1, kReef, Mass{1}).front()));
    EXPECT_FALSE(is_pending(kNullEntity));
    settle();
    EXPECT_FALSE(entities.alive(pending)) << "nor later";
}

TEST_F(CommandsTest, a_pending_entity_is_named_by_later_commands_and_in_their_values) {
    const Entity owner = made(1, kReef, Body{.target = kNullEntity}).front();
    Commands& commands = database.commands();
    const Entity egg = commands.create(kReef, Mass{4});
    commands.add(egg, Marked{});
    commands.move(egg, kDeep);
    commands.add(owner, Body{.target = egg});
    const Entity twin = commands.create(kDeep, Body{.target = egg});
    commands.add(egg, Body{.target = twin});
    EXPECT_EQ(settle().num_dropped, 0u);
    const Entity made_egg = database.get<&Body::target>(database.find(owner));
    ASSERT_TRUE(entities.alive(made_egg));
    EXPECT_EQ(mass_of(made_egg), 4);
    EXPECT_TRUE(database.has<Marked>(made_egg));
    EXPECT_EQ(database.find(made_egg).table->zone(), kDeep);
    const Entity made_twin = database.get<&Body::target>(database.find(made_egg));
    EXPECT_EQ(database.get<&Body::target>(database.find(made_twin)), made_egg);
}

TEST_F(CommandsTest, destroying_wins_over_everything_and_counts_once) {
    const std::vector<Entity> fish = made(3, kReef, Mass{1});
    Commands& commands = database.commands();
    commands.add(fish[0], Marked{});
    commands.destroy(fish[0]);
    commands.move(fish[0], kDeep);
    commands.destroy(fish[0]);
    commands.remove<Mass>(fish[0]);
    const SettleCounts counts = settle();
    EXPECT_EQ(counts.num_destroyed, 1u);
    EXPECT_EQ(counts.num_moved, 0u);
    EXPECT_EQ(counts.num_dropped, 4u);
    EXPECT_EQ(in(kReef), (std::vector{fish[2], fish[1]}));
    EXPECT_TRUE(in(kDeep).empty());
}

TEST_F(CommandsTest, a_pending_entity_that_is_destroyed_is_never_made) {
    const std::uint64_t num_before = entities.num_alive();
    const Entity owner = made(1, kReef, Body{.target = kNullEntity}).front();
    Commands& commands = database.commands();
    const Entity egg = commands.create(kReef, Mass{4});
    commands.add(owner, Body{.target = egg});
    commands.add(egg, Marked{});
    commands.destroy(egg);
    const SettleCounts counts = settle();
    EXPECT_EQ(counts.num_created, 0u);
    EXPECT_EQ(counts.num_destroyed, 0u);
    EXPECT_EQ(counts.num_dropped, 1u) << "a component for nobody";
    EXPECT_EQ(entities.num_alive(), num_before + 1);
    EXPECT_EQ(database.get<&Body::target>(database.find(owner)), kNullEntity);
}

TEST_F(CommandsTest, the_last_move_counts) {
    const std::vector<Entity> fish = made(2, kReef, Mass{1});
    Commands& commands = database.commands();
    commands.move(fish[0], kDeep);
    commands.move(fish[1], 7);
    commands.move(fish[0], 7);
    commands.move(fish[1], kDeep);
    EXPECT_EQ(settle().num_moved, 2u);
    EXPECT_EQ(in(7), std::vector{fish[0]});
    EXPECT_EQ(in(kDeep), std::vector{fish[1]});
}

TEST_F(CommandsTest, rows_lie_in_the_order_of_the_commands_that_make_or_move_them) {
    constexpr std::uint32_t kCount = 1000;  // so that later commands of a list are carried out apart from the first few
    for (std::uint32_t i = 0; i < kCount; ++i) database.commands().create(i % 2 == 0 ? kReef : kDeep, Mass{float(i)});
    settle();
    std::vector<Entity> expected[2];
    for (const Zone zone : {kReef, kDeep}) {
        const std::vector<Entity> made = in(zone);
        ASSERT_EQ(made.size(), kCount / 2);
        for (std::uint32_t i = 0; i < made.size(); ++i)
            EXPECT_EQ(mass_of(made[i]), float(2 * i + (zone == kReef ? 0 : 1))) << "made in zone " << zone;
        for (std::uint32_t i = 0; i < made.size(); ++i) expected[i % 2].push_back(made[i * 37 % made.size()]);
    }
    for (std::uint32_t i = 0; i < kCount / 2; ++i) {
        database.commands().move(expected[0][i], 5);
        database.commands().move(expected[1][i], 6);
    }
    settle();
    EXPECT_EQ(in(5), expected[0]);
    EXPECT_EQ(in(6), expected[1]);
}

// req: D7
TEST_F(CommandsTest, of_adds_and_removes_of_a_component_type_the_last_counts) {
    const std::vector<Entity> fish = made(4, kReef, Mass{1});
    Commands& commands = database.commands();
    commands.add(fish[0], Mass{2});
    commands.add(fish[0], Position{{1, 2, 3}}, Mass{3});
    commands.remove<Mass, Position>(fish[1]);
    commands.add(fish[1], Mass{4});
    commands.add(fish[2], Position{{1, 1, 1}});
    commands.remove<Position, Mass>(fish[2]);
    commands.remove<Mass>(fish[3]);
    EXPECT_EQ(settle().num_moved, 3u) << "fish 1 has what it had";
    EXPECT_EQ(mass_of(fish[0]), 3);
    EXPECT_EQ(database.get<&Position::value>(database.find(fish[0])), (Vec3{1, 2, 3}));
    EXPECT_EQ(mass_of(fish[1]), 4);
    EXPECT_FALSE(database.has<Mass>(fish[2]));
    EXPECT_FALSE(database.has<Position>(fish[2]));
    EXPECT_EQ(database.find(fish[3]).table->type().components().size(), 0u);
}

TEST_F(CommandsTest, the_last_of_consecutive_entities_may_have_been_named_before_them) {
    const std::vector<Entity> fish = made(10, kReef, Marked{});
    Commands& commands = database.commands();
    for (std::size_t i = 0; i < 8; ++i) commands.add(fish[i], Mass{1});  // as many as are kept together at first
    commands.remove<Mass>(fish[9]);
    commands.add(fish[8], Mass{2});
    commands.add(fish[9], Mass{3});
    EXPECT_EQ(settle().num_moved, fish.size());
    ASSERT_TRUE(database.has<Mass>(fish[9])) << "the add came after the remove";
    EXPECT_EQ(mass_of(fish[9]), 3);
}

TEST_F(CommandsTest, commands_of_passes_are_carried_out_in_the_order_of_the_passes_and_not_of_asking) {
    const Entity fish = made(1, kReef, Mass{1}).front();
    const auto move_in_pass = [&](std::uint32_t number, Zone zone) {
        const WorkScope pass(number);
        database.commands().move(fish, zone);
    };
    move_in_pass(2, kDeep);
    move_in_pass(1, 7);
    move_in_pass(2, 9);
    move_in_pass(1, 8);
    EXPECT_EQ(settle().num_moved, 1u);
    EXPECT_EQ(in(9), std::vector{fish});
}

TEST_F(CommandsTest, what_is_said_of_the_dead_is_dropped_and_counted) {
    const std::vector<Entity> fish = made(1, kReef, Mass{1});
    entities.destroy(fish);
    Commands& commands = database.commands();
    commands.destroy(fish[0]);
    commands.move(fish[0], kDeep);
    commands.add(fish[0], Marked{});
    commands.remove<Mass>(kNullEntity);
    const SettleCounts counts = settle();
    EXPECT_EQ(counts.num_dropped, 4u);
    EXPECT_EQ(database.num_rows(), 0u);
}

TEST_F(CommandsTest, a_pending_entity_of_another_chunk_or_frame_is_dropped_and_counted) {
    const std::vector<Entity> fish = made(2, kReef, Body{.target = kNullEntity});
    const Entity old = database.commands().create(kReef, Mass{1});
    settle();
    Entity other;
    const auto all = query<Read<&Body::energy>>(database);
    all.for_each([&](Commands& commands, Entity entity, double) {
        if (entity == fish[0]) other = commands.create(kReef, Mass{2});
    });
    all.for_each([&](Commands& commands, Entity entity, double) {
        commands.add(entity, Body{.target = entity == fish[0] ? other : old});
        commands.destroy(entity == fish[0] ? other : old);
        commands.move(old, kDeep);
    });
    const SettleCounts counts = settle();
    EXPECT_EQ(counts.num_created, 1u);
    EXPECT_EQ(counts.num_destroyed, 0u);
    EXPECT_EQ(counts.num_dropped, 4u);
    for (const Entity entity : fish)
        EXPECT_EQ(database.get<&Body::target>(database.find(entity)), kNullEntity) << "nothing pending is ever seen";
}

TEST_F(CommandsTest, a_pending_id_that_was_not_given_out_names_nobody) {
    database.commands().create(kReef, Mass{1});
    Entity later[8];
    database.commands().create<Mass>(later, kReef, Mass{2});
    settle();
    const std::vector<Entity> fish = in(kReef);
    const Entity last = database.commands().create(kReef, Mass{3});
    database.commands().destroy(Entity{last.id + 1});
    database.commands().move(Entity{last.id + 2}, kDeep);
    const SettleCounts counts = settle();
    EXPECT_EQ(counts.num_created, 1u);
    EXPECT_EQ(counts.num_dropped, 2u);
    EXPECT_EQ(database.num_rows(kReef), fish.size() + 1);
    EXPECT_EQ(database.num_rows(kDeep), 0u);
}

TEST_F(CommandsTest, settles_that_make_nothing_do_not_use_up_pending_ids) {
    const Entity old = database.commands().create(kReef, Mass{1});
    for (int i = 0; i < 64; ++i) settle();
    database.commands().create(kReef, Mass{2});
    database.commands().destroy(old);
    const SettleCounts counts = settle();
    EXPECT_EQ(counts.num_created, 1u);
    EXPECT_EQ(counts.num_dropped, 1u);
}

TEST_F(CommandsTest, entities_without_a_row_here_can_be_destroyed_and_given_components) {
    const std::vector<Entity> strangers = make(3);
    Commands& commands = database.commands();
    commands.destroy(strangers[0]);
    commands.add(strangers[1], Mass{8});
    commands.move(strangers[2], kDeep);
    commands.remove<Mass>(strangers[2]);
    const SettleCounts counts = settle();
    EXPECT_EQ(counts.num_destroyed, 1u);
    EXPECT_EQ(counts.num_dropped, 0u);
    EXPECT_EQ(in(0), std::vector{strangers[1]});
    EXPECT_EQ(mass_of(strangers[1]), 8);
    EXPECT_FALSE(database.has_row(strangers[2]));
}

TEST_F(CommandsTest, enableable_and_opaque_components_come_and_go_with_their_values) {
    const std::vector<Entity> fish = made(20, kReef, Title{.text = "as it was", .number = 1});
    Commands& commands = database.commands();
    for (std::size_t i = 0; i < fish.size(); ++i) {
        commands.add(fish[i], Asleep{.since = std::uint32_t(i)}, Title{.text = std::string(i * 9, 'z'), .number = 2});
        if (i % 2 == 0) commands.remove<Asleep>(fish[i]);
        if (i % 3 == 0) commands.remove<Title>(fish[i]);
    }
    commands.create(kDeep, Title{.text = "a text that does not fit in place, ever", .number = 5});
    const Entity lost = commands.create(kDeep, Title{.text = "another text that does not fit in place", .number = 6});
    commands.destroy(lost);
    settle();
    for (std::size_t i = 0; i < fish.size(); ++i) {
        EXPECT_EQ(database.has<Asleep>(fish[i]), i % 2 == 1);
        if (i % 2 == 1) {
            EXPECT_EQ(database.get<&Asleep::since>(database.find(fish[i])), i);
        }
        ASSERT_EQ(database.has<Title>(fish[i]), i % 3 != 0);
        if (i % 3 != 0) {
            EXPECT_EQ(database.get<&Title::text>(database.find(fish[i])), std::string(i * 9, 'z'));
        }
    }
    ASSERT_EQ(in(kDeep).size(), 1u);
    EXPECT_EQ(database.get<&Title::text>(database.find(in(kDeep)[0])), "a text that does not fit in place, ever");
}

TEST_F(CommandsTest, enableable_components_are_created_and_added_disabled) {
    const std::vector<Entity> fish = made(200, kReef, Mass{});
    Commands& commands = database.commands();
    for (const Entity entity : fish) {
        commands.add(entity, Disabled{Asleep{.since = 5}}, Position{});
        if (entity == fish[3]) commands.add(entity, Asleep{.since = 6});
    }
    commands.create(kDeep, Disabled{Asleep{.since = 7}}, Title{.text = "asleep", .number = 1});
    settle();
    for (const Entity entity : fish) {
        ASSERT_EQ(database.has<Asleep>(entity), entity == fish[3]) << "the last command counts";
        ASSERT_EQ(database.get<&Asleep::since>(database.find(entity)), entity == fish[3] ? 6u : 5u);
    }
    ASSERT_EQ(in(kDeep).size(), 1u);
    EXPECT_FALSE(database.has<Asleep>(in(kDeep)[0]));
    EXPECT_EQ(database.get<&Asleep::since>(database.find(in(kDeep)[0])), 7u);
    database.commands().add(in(kDeep)[0], Asleep{.since = 8});
    database.commands().add(in(kDeep)[0], Disabled{Asleep{.since = 9}});
    settle();
    EXPECT_FALSE(database.has<Asleep>(in(kDeep)[0]));
    EXPECT_EQ(database.get<&Asleep::since>(database.find(in(kDeep)[0])), 9u);
}

TEST_F(CommandsTest, commands_that_never_settle_leave_nothing_behind) {
    const LeakCheck leaks;
    EntityManager others;
    Database other(others, pool);
    other.commands().create(kReef, Title{.text = std::string(100, 'q')});
    other.commands().add(kNullEntity, Title{.text = std::string(100, 'r')});
}

TEST_F(CommandsTest, component_types_that_are_known_at_run_time_only_have_commands_too) {
    const ComponentType mass = database.component<Mass>(), position = database.component<Position>();
    const ComponentType body = database.component<Body>(), marked = database.component<Marked>();
    const Entity fish = made(1, kReef, Velocity{}).front();
    const Mass heavy{50};
    const Vec3 place{4, 5, 6};
    const auto* const column = reinterpret_cast<const std::byte*>(&place);
    const ComponentValues given[] = {{.component = mass, .images = reinterpret_cast<const std::byte*>(&heavy)},
                                     {.component = position, .columns = {&column, 1}},
                                     {.component = marked}};
    Commands& commands = database.commands();
    commands.add(fish, database, given);
    const ComponentType types[] = {mass, position};
    const Entity rock = commands.create(database, database.archetype(types), kDeep, std::span(given).first(1));
    const Body tied{.target = rock};
    const ComponentValues tie[] = {{.component = body, .images = reinterpret_cast<const std::byte*>(&tied)}};
    commands.add(fish, database, tie);
    const ComponentType gone[] = {database.component<Velocity>()};
    commands.remove(fish, database, gone);
    EXPECT_EQ(settle().num_dropped, 0u);
    EXPECT_EQ(mass_of(fish), 50);
    EXPECT_EQ(database.get<&Position::value>(database.find(fish)), place);
    EXPECT_TRUE(database.has<Marked>(fish));
    EXPECT_FALSE(database.has<Velocity>(fish));
    ASSERT_EQ(in(kDeep).size(), 1u);
    EXPECT_EQ(database.get<&Body::target>(database.find(fish)), in(kDeep)[0]);
    EXPECT_EQ(mass_of(in(kDeep)[0]), 50);
    EXPECT_EQ(database.get<&Position::value>(database.find(in(kDeep)[0])), Position{}.value) << "its default";
}

TEST_F(CommandsTest, component_types_are_registered_when_the_database_settles) {
    database.commands().create(kReef, Mass{1}, Position{});
    EXPECT_FALSE(database.find_component<Mass>());
    settle();
    EXPECT_TRUE(database.find_component<Mass>());
}

TEST_F(CommandsTest, many_rows_in_many_zones_keep_their_values) {
    Commands& commands = database.commands();
    std::vector<Entity> pending(5000);
    for (std::uint32_t i = 0; i < 5000; ++i)
        pending[i] = commands.create(i % 37, Mass{float(i)}, Position{{float(i), 0, 0}});
    for (std::uint32_t i = 0; i < 5000; i += 7) commands.destroy(pending[i]);
    const SettleCounts counts = settle();
    EXPECT_EQ(counts.num_created, 5000u - 715u);
    std::size_t num_found = 0;
    for (Zone zone = 0; zone < 37; ++zone)
        for (const Entity entity : in(zone)) {
            const auto i = std::uint32_t(mass_of(entity));
            EXPECT_EQ(i % 37, zone);
            EXPECT_NE(i % 7, 0u);
            EXPECT_EQ(database.get<&Position::value>(database.find(entity)).x, float(i));
            ++num_found;
        }
    EXPECT_EQ(num_found, 5000u - 715u);
}

TEST_F(CommandsTest, the_function_of_a_loop_may_take_commands_with_and_without_the_entity) {
    made(10, kReef, Mass{1});
    Manager<Velocity> speeds(entities, pool);
    const std::vector<Entity> divers = make_divers(speeds);
    ComponentDirectory both(entities);
    ASSERT_TRUE(both.add(database).ok());
    ASSERT_TRUE(both.add(speeds.core()).ok());
    SerialExecutor executor;
    const auto heavy = query<Read<&Mass::value>>(database);
    heavy.for_each([](Commands& commands, float mass) { commands.create(20, Mass{mass}); });
    heavy.for_each(executor, [](Commands& commands, Entity, float mass) { commands.create(21, Mass{mass}); });
    heavy.for_each_batch([](Commands& commands, const auto& batch) { commands.destroy(batch.entities().first(1)); });
    heavy.for_each_batch(executor,
                         [](Commands& commands, const auto& batch) { commands.move(batch.entities()[1], 22); });
    query<Read<&Position::value>, Read<&Velocity::value>>(database, speeds)
        .for_each(executor,
                  [](Commands& commands, Entity diver, const Vec3&, const Vec3&) { commands.add(diver, Mass{}); });
    query<Read<&Velocity::value>>(speeds).for_each(
        executor, [](Commands& commands, Entity diver, const Vec3&) { commands.move(diver, 23); });
    auto later = [](Commands& commands, float) { commands.create(24, Mass{}); };
    heavy.start(executor, later).wait();
    SettleCounts counts;
    WaitingCommands::of_directory(both).apply(&counts);
    EXPECT_EQ(in(20).size(), 10u);
    EXPECT_EQ(in(21).size(), 10u);
    EXPECT_EQ(in(kReef).size(), 8u);
    EXPECT_EQ(in(22).size(), 1u);
    EXPECT_EQ(in(23).size(), 4u);
    EXPECT_EQ(in(24).size(), 10u);
    for (const Entity diver : divers) EXPECT_TRUE(database.has<Mass>(diver));
    EXPECT_EQ(counts.num_destroyed, 1u);
}

// The log holds the last reference to a value that nobody got.
TEST_F(CommandsTest, a_function_uses_several_lists_of_one_kind_over_the_rows_of_several_tables) {
    constexpr std::size_t kNumZones = 7, kRows = 90;
    for (Zone zone = 0; zone < kNumZones; ++zone) made(kRows, zone, Mass{0});
    std::vector<Entity> fish;  // in the order of the loop
    Entity last;
    query<Read<&Mass::value>>(database).for_each([&](Commands& commands, Entity self, float) {
        const std::size_t i = fish.size();
        fish.push_back(self);
        last = commands.create(kReef, Body{.target = last});  // a chain over all tables
        if (i % 3 == 0) commands.add(self, Body{.target = last});
        if (i % 3 == 1) commands.add(self, Mass{float(i)}, Marked{});
        if (i % 3 == 2) commands.remove<Mass>(self), commands.add(self, Marked{});
        if (i % 5 == 0) commands.add(self, Mass{-float(i)});
    });
    ASSERT_EQ(fish.size(), kNumZones * kRows);
    const SettleCounts counts = settle();
    EXPECT_EQ(counts.num_created, fish.size());
    EXPECT_EQ(counts.num_dropped, 0u);
    Entity before;
    for (std::size_t i = 0; i < fish.size(); ++i) {
        SCOPED_TRACE(i);
        ASSERT_EQ(database.has<Marked>(fish[i]), i % 3 != 0);
        ASSERT_EQ(database.has<Mass>(fish[i]), i % 3 != 2 || i % 5 == 0);
        if (i % 5 == 0 || i % 3 == 1) {
            ASSERT_EQ(mass_of(fish[i]), i % 5 == 0 ? -float(i) : float(i));
        }
        ASSERT_EQ(database.has<Body>(fish[i]), i % 3 == 0);
        if (i % 3 != 0) continue;
        const Entity link = database.get<&Body::target>(database.find(fish[i]));
        Entity at = link;
        for (int step = 0; step < 3 && at != before; ++step) at = database.get<&Body::target>(database.find(at));
        ASSERT_EQ(at, before) << "three links on from the one before";
        before = link;
    }
}

TEST_F(CommandsTest, a_value_that_ends_with_its_command_may_ask_for_further_changes) {
    const Entity fish = made(1, kReef, Mass{1}).front(), dead = made(1, kReef, Mass{2}).front();
    database.destroy(dead);
    const auto end = [&](const int* weight) {
        delete weight;
        database.commands().move(fish, kDeep);
    };
    database.commands().add(dead, Cargo{std::shared_ptr<const int>(new int(3), end)});
    EXPECT_EQ(settle().num_dropped, 1u);
    EXPECT_EQ(settle().num_moved, 1u);
    EXPECT_EQ(in(kDeep), std::vector<Entity>{fish});
}

TEST_F(CommandsTest, a_value_that_ends_with_the_database_may_ask_for_changes_in_vain) {
    EntityManager others;
    Entity fish;
    {
        Database sea(others, pool);
        fish = *sea.create(Mass{1});
        const auto end = [&](const int* weight) {
            delete weight;
            sea.commands().destroy(fish);
        };
        sea.commands().add(fish, Cargo{std::shared_ptr<const int>(new int(3), end)});
    }
    EXPECT_TRUE(others.alive(fish));
}

// On the thread of the pass as on those that help it.
TEST_F(CommandsTest, a_function_of_a_loop_that_asks_for_the_commands_of_its_pass_ends_the_program) {
    made(10, kReef, Mass{1});
    Manager<Velocity> speeds(entities, pool);
    const std::vector<Entity> divers = make_divers(speeds);
    SerialExecutor executor;
    const WorkScope pass(1);
    const auto ask = [&](auto&&...) { database.commands().create(kDeep, Mass{}); };
    const auto heavy = query<Read<&Mass::value>>(database);
    const auto diving = query<Read<&Position::value>, Read<&Velocity::value>>(database, speeds);
    constexpr const char* kMessage = "a function of a loop asked for the commands of its pass";
    EXPECT_DEATH(heavy.for_each([&](float) { ask(); }), kMessage);
    EXPECT_DEATH(heavy.for_each(executor, [&](float) { ask(); }), kMessage);
    EXPECT_DEATH(heavy.for_each_batch(ask), kMessage);
    EXPECT_DEATH(heavy.for_each_batch(executor, ask), kMessage);
    EXPECT_DEATH(diving.for_each([&](const Vec3&, const Vec3&) { ask(); }), kMessage);
    EXPECT_DEATH(diving.for_each(executor, [&](const Vec3&, const Vec3&) { ask(); }), kMessage);
    ask();
    EXPECT_EQ(settle().num_created, 1u) << "the pass itself may ask";
}

TEST_F(CommandsTest, component_types_that_are_not_registered_end_the_program) {
    Commands& commands = database.commands();
    for (const ComponentType component : {ComponentType(), ComponentType{99}}) {
        const std::array<std::byte, 16> value{};
        const ComponentValues values[] = {{.component = component, .images = value.data()}};
        EXPECT_DEATH(commands.add(kNullEntity, database, values), "not registered in this database");
        EXPECT_DEATH(commands.remove(kNullEntity, database, {&component, 1}), "not registered in this database");
    }
}

TEST_F(CommandsTest, what_destruction_callbacks_ask_for_waits_for_the_next_settle) {
    const std::vector<Entity> fish = made(3, kReef, Mass{1});
    const DestructionCallback callback = entities.add_destruction_callback(
        [](void* self, std::span<const Entity> dead) {
            for (std::size_t i = 0; i < dead.size(); ++i)
                static_cast<Database*>(self)->commands().create(kDeep, Mass{9});
        },
        &database);
    database.commands().destroy(fish);
    database.commands().create(kReef, Mass{2});
    EXPECT_EQ(settle().num_created, 1u);
    EXPECT_EQ(in(kDeep).size(), 0u);
    EXPECT_EQ(settle().num_created, 3u);
    EXPECT_EQ(in(kDeep).size(), 3u);
    entities.remove_destruction_callback(callback);
}

TEST_F(CommandsTest, entities_that_there_is_no_id_for_are_dropped_and_logged) {
    EntityManager few({.minimum_free_ids = 1, .max_entities = 10});
    Database small(few, pool);
    std::string logged;
    set_log_hook([](void* text, LogLevel, std::string_view message) { *static_cast<std::string*>(text) = message; },
                 &logged);
    std::uint64_t time = 1;
    const auto settle_small = [&] {
        SettleCounts counts;
        small.settle({.stamp = ++time, .counts = &counts});
        EXPECT_EQ(small.validate().message(), "");
        return counts;
    };
    small.commands().create(kReef, Body{});
    small.commands().create(kReef, Mass{1});
    EXPECT_EQ(settle_small().num_created, 2u);
    EXPECT_TRUE(logged.empty()) << logged;
    Entity fish;
    query<With<Body>>(small).for_each([&](Entity entity) { fish = entity; });
    const Entity egg = small.commands().create(kReef, Mass{2});
    for (int i = 0; i < 10; ++i) small.commands().create(kReef, Mass{2});
    small.commands().set<&Body::target>(fish, egg);
    small.commands().add(egg, Marked{});
    const SettleCounts counts = settle_small();
    EXPECT_EQ(counts.num_created, 0u);
    EXPECT_EQ(counts.num_dropped, 12u) << "also what was said of one of them";
    EXPECT_NE(logged.find("11 entities"), std::string::npos) << logged;
    EXPECT_EQ(few.num_alive(), 2u);
    EXPECT_EQ(small.num_rows(), 2u);
    EXPECT_EQ(small.get<&Body::target>(small.find(fish)), kNullEntity);
    small.commands().create(kReef, Mass{3});
    EXPECT_EQ(settle_small().num_created, 1u) << "the next settle is as before";
    set_log_hook(nullptr, nullptr);
}

TEST_F(CommandsTest, commands_that_are_discarded_are_never_done_and_their_pending_entities_are_nobody) {
    const std::vector<Entity> fish = made(2, kReef, Mass{1});
    const Entity old = database.commands().create(kReef, Mass{2});
    database.commands().destroy(fish[0]);
    WaitingCommands::of_directory(*database.component_directory()).discard();
    const Entity egg = database.commands().create(kDeep, Body{});
    database.commands().destroy(old);
    database.commands().add(fish[1], Body{.target = old});
    EXPECT_NE(egg, old);
    const SettleCounts counts = settle();
    EXPECT_EQ(counts.num_created, 1u);
    EXPECT_EQ(counts.num_destroyed, 0u);
    EXPECT_EQ(counts.num_dropped, 1u);
    EXPECT_EQ(in(kDeep).size(), 1u);
    EXPECT_EQ(database.get<&Body::target>(database.find(fish[1])), kNullEntity);
    EXPECT_EQ(settle().num_created, 0u);
}

TEST_F(CommandsTest, none_wait_after_a_state_that_could_not_be_loaded) {
    const std::vector<Entity> fish = made(1, kReef, Mass{1});
    database.commands().destroy(fish[0]);
    const Snapshot empty;
    SnapshotReader from(empty);
    EXPECT_FALSE(database.load(from));
    const SettleCounts counts = settle();
    EXPECT_EQ(counts.num_destroyed + counts.num_dropped, 0u);
    EXPECT_TRUE(entities.alive(fish[0]));
}

TEST_F(CommandsTest, frames_that_ask_for_the_same_take_no_new_memory) {
    std::vector<Entity> fish = made(3000, kReef, Mass{1});
    const auto all = query<Read<&Mass::value>>(database);
    std::size_t held = 0;
    for (int frame = 0; frame < 40; ++frame) {
        all.for_each([&](Commands& commands, Entity entity, float mass) {
            commands.destroy(entity);
            commands.create(mass == 1 ? kDeep : kReef, Mass{3 - mass});
        });
        settle();
        EXPECT_EQ(database.num_rows(), 3000u);
        if (frame == 20) held = bookkeeping_bytes();
    }
    EXPECT_EQ(bookkeeping_bytes(), held);
}

TEST_F(CommandsTest, memory_goes_back_after_a_burst) {
    settle();
    database.commands().create(kReef, Mass{});
    settle();
    const std::size_t held = bookkeeping_bytes();
    for (int i = 0; i < 200'000; ++i) database.commands().move(kNullEntity, kReef);
    EXPECT_EQ(settle().num_dropped, 200'000u);
    EXPECT_GT(bookkeeping_bytes(), held + 1'000'000);
    for (int frame = 0; frame < 300; ++frame) settle();
    EXPECT_LT(bookkeeping_bytes(), held + 100'000);
}

using CommandsDeathTest = CommandsTest;

TEST_F(CommandsDeathTest, a_function_of_a_loop_cannot_ask_for_the_commands_of_its_pass) {
    made(1, kReef, Mass{1});
    EXPECT_DEATH(query<Read<&Mass::value>>(database).for_each([&](float) { database.commands(); }),
                 "take a Commands& as its first argument");
    EXPECT_DEATH(query<Read<&Mass::value>>(database).for_each([&](Entity entity, float) { database.destroy(entity); }),
                 "take a Commands&");
}

TEST_F(CommandsDeathTest, commands_cannot_be_kept_beyond_a_settle) {
    Commands& commands = database.commands();
    const Entity fish = made(1, kReef, Mass{1}).front();
    commands.destroy(kNullEntity);
    settle();
    EXPECT_DEATH(commands.destroy(fish), "kept beyond a settle");
    EXPECT_DEATH(commands.create(kReef, Mass{}), "kept beyond a settle");
    database.commands().destroy(fish);
    EXPECT_EQ(settle().num_destroyed, 1u);
}

TEST_F(CommandsDeathTest, there_are_only_so_many_zones) {
    EXPECT_DEATH(database.commands().create(kMaxZones, Mass{}), "zones are 0 to kMaxZones - 1");
    EXPECT_DEATH(database.commands().move(kNullEntity, kMaxZones), "zones are 0 to kMaxZones - 1");
}

// --- fields ------------------------------------------------------------------------------------------------------

TEST_F(CommandsTest, a_field_is_set_when_the_database_settles_and_is_marked) {
    const std::vector<Entity> fish = made(2, kReef, Mass{1}, Velocity{});
    settle();
    const std::uint64_t since = stamp;
    database.commands().set<&Mass::value>(fish[1], 7);
    database.commands().set<&Velocity::value>(fish[0], {1, 2, 3});
    EXPECT_EQ(mass_of(fish[1]), 1);
    const SettleCounts counts = settle();
    EXPECT_EQ(mass_of(fish[1]), 7);
    EXPECT_EQ(database.get<&Velocity::value>(database.find(fish[0])), Vec3(1, 2, 3));
    EXPECT_EQ(counts.num_moved + counts.num_dropped, 0u);
    std::vector<Entity> changed;
    query<Read<&Mass::value>>(database).changed_since(since).for_each(
        [&](Entity one, float) { changed.push_back(one); });
    EXPECT_EQ(changed, fish) << "their block";
}

TEST_F(CommandsTest, of_several_sets_of_a_field_the_last_counts) {
    const Entity fish = made(1, kReef, Mass{1}, Velocity{})[0];
    Commands& commands = database.commands();
    for (const float mass : {2.0f, 3.0f, 4.0f}) commands.set<&Mass::value>(fish, mass);
    commands.set<&Velocity::value>(fish, {0, 0, 1});
    commands.set<&Mass::value>(fish, 5);
    EXPECT_EQ(settle().num_dropped, 0u);
    EXPECT_EQ(mass_of(fish), 5);
}

// req: D7
TEST_F(CommandsTest, a_set_is_of_the_component_that_was_added_before_it_and_a_later_add_takes_its_place) {
    const std::vector<Entity> fish = made(3, kReef, Position{});
    Commands& commands = database.commands();
    commands.add(fish[0], Mass{2});
    commands.set<&Mass::value>(fish[0], 3);
    commands.set<&Mass::value>(fish[1], 3);
    commands.add(fish[1], Mass{2});
    commands.add(fish[2], Mass{2});
    commands.set<&Mass::value>(fish[2], 3);
    commands.add(fish[2], Velocity{});
    EXPECT_EQ(settle().num_dropped, 0u);
    EXPECT_EQ(mass_of(fish[0]), 3);
    EXPECT_EQ(mass_of(fish[1]), 2);
    EXPECT_EQ(mass_of(fish[2]), 3) << "the later add is of another component type";
}

TEST_F(CommandsTest, a_set_before_a_remove_does_not_count_and_one_after_it_is_dropped) {
    const std::vector<Entity> fish = made(2, kReef, Mass{1});
    Commands& commands = database.commands();
    commands.set<&Mass::value>(fish[0], 3);
    commands.remove<Mass>(fish[0]);
    commands.remove<Mass>(fish[1]);
    commands.set<&Mass::value>(fish[1], 3);
    const SettleCounts counts = settle();
    EXPECT_EQ(counts.num_dropped, 1u);
    EXPECT_EQ(counts.num_moved, 2u);
    EXPECT_FALSE(database.has<Mass>(fish[0]) || database.has<Mass>(fish[1]));
}

TEST_F(CommandsTest, fields_of_pending_entities_are_set_and_fields_that_refer_to_them_are_translated) {
    const Entity fish = made(1, kReef, Body{})[0];
    Commands& commands = database.commands();
    const Entity egg = commands.create(kReef, Body{}, Mass{1});
    commands.set<&Mass::value>(egg, 4);
    commands.set<&Body::target>(fish, egg);
    commands.set<&Body::target>(egg, fish);
    EXPECT_EQ(settle().num_dropped, 0u);
    const Entity made_egg = database.get<&Body::target>(database.find(fish));
    EXPECT_EQ(mass_of(made_egg), 4);
    EXPECT_EQ(database.get<&Body::target>(database.find(made_egg)), fish);
}

TEST_F(CommandsTest, sets_are_dropped_and_counted_without_the_entity_or_the_component) {
    const std::vector<Entity> fish = made(4, kReef, Position{});
    ASSERT_TRUE(database.add(fish[2], Disabled{Asleep{7}}).ok());
    Commands& commands = database.commands();
    commands.set<&Position::value>(fish[0], {9, 9, 9});
    commands.destroy(fish[0]);
    commands.set<&Mass::value>(fish[1], 3);
    commands.set<&Asleep::since>(fish[2], 8);
    commands.set<&Position::value>(fish[3], {9, 9, 9});
    EXPECT_EQ(settle().num_dropped, 3u);
    EXPECT_FALSE(database.has<Mass>(fish[1])) << "a set gives nothing";
    EXPECT_EQ(database.get<&Asleep::since>(database.find(fish[2])), 7u);
    EXPECT_EQ(database.get<&Position::value>(database.find(fish[3])).x, 9);
}

TEST_F(CommandsTest, a_plain_field_beside_one_that_only_cpp_knows_is_set) {
    const Entity book = made(1, kReef, Title{"a shelf", 1})[0];
    database.commands().set<&Title::number>(book, 12);
    EXPECT_EQ(settle().num_dropped, 0u);
    EXPECT_EQ(database.get<&Title::number>(database.find(book)), 12u);
    EXPECT_EQ(database.get<&Title::text>(database.find(book)), "a shelf");
}

TEST_F(CommandsTest, of_many_values_the_first_is_set_when_all_adds_are_made) {
    const Entity fish = made(1, kReef, Tally{{}, 1})[0];
    Commands& commands = database.commands();
    commands.set<&Tally::number>(fish, 9);
    commands.add(fish, Tally{{}, 2});
    EXPECT_EQ(settle().num_dropped, 0u);
    EXPECT_EQ(database.get_value<&Tally::number>(fish, 0), 9u);
    EXPECT_EQ(database.get_value<&Tally::number>(fish, 1), 1u);
    database.commands().set<&Tally::number>(fish, 8);
    database.commands().remove<Tally>(fish);
    EXPECT_EQ(settle().num_dropped, 0u);
    EXPECT_EQ(database.num_values<Tally>(fish), 0u);
}

TEST_F(CommandsTest, a_loop_sets_fields_for_any_number_of_workers) {
    const std::vector<Entity> fish = made(9000, kReef, Mass{1}, Body{});
    ThreadPoolExecutor executor(3);
    query<With<Mass>>(database).grain(512).for_each(executor, [&](Commands& commands, Entity self) {
        commands.set<&Mass::value>(self, float(self.index()));
        commands.set<&Body::target>(self, fish[self.index() % fish.size()]);
        if (self.index() % 3 == 0) commands.set<&Mass::value>(self, 0.5f);
    });
    EXPECT_EQ(settle().num_dropped, 0u);
    for (const Entity one : fish) {
        ASSERT_EQ(mass_of(one), one.index() % 3 == 0 ? 0.5f : float(one.index()));
        ASSERT_EQ(database.get<&Body::target>(database.find(one)), fish[one.index() % fish.size()]);
    }
}

}  // namespace
