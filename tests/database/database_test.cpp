// What a database promises, call by call.

#include "shoal/state/snapshot.h"
#include "support/database_testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

namespace shoal_test {
namespace {

struct Databases : ::testing::Test, DatabaseFixture {
    void TearDown() override {
        const Status status = database.validate();
        EXPECT_TRUE(status.ok()) << status.message();
    }
};

// req: E7
TEST_F(Databases, entities_of_the_same_component_types_and_zone_share_a_table) {
    std::vector<Entity> out(5);
    ASSERT_TRUE((database.create<Position, Mass>(out, 3, Position{{1, 2, 3}}, Mass{4}).ok()));
    const DatabaseRow first = database.find(out[0]);
    for (const Entity entity : out) {
        const DatabaseRow row = database.find(entity);
        ASSERT_TRUE(row);
        EXPECT_EQ(row.table, first.table);
        EXPECT_EQ(database.get<&Position::value>(row), (Vec3{1, 2, 3}));
        EXPECT_EQ(database.get<&Mass::value>(row), 4);
    }
    EXPECT_EQ(first.table->zone(), 3u);
    EXPECT_EQ(first.table->num_rows(), 5u);
    EXPECT_EQ(&first.table->type(), (&database.archetype<Mass, Position>())) << "the order does not matter";
    EXPECT_EQ(database.num_rows(), 5u);
    EXPECT_EQ(database.num_rows(3), 5u);
    EXPECT_EQ(database.num_rows(4), 0u);
}

TEST_F(Databases, what_is_not_given_a_value_gets_its_default) {
    std::vector<Entity> out(3);
    ASSERT_TRUE((database.create<Position, Velocity, Body, Title>(out, 0).ok()));
    for (const Entity entity : out) {
        const DatabaseRow row = database.find(entity);
        EXPECT_EQ(database.get<&Position::value>(row), Vec3{});
        EXPECT_EQ(database.get<&Velocity::value>(row), (Vec3{1, 2, 3}));
        EXPECT_EQ(database.get<&Body::energy>(row), 3);
        EXPECT_EQ(database.get<&Body::kind>(row), 1);
        EXPECT_EQ(database.get<&Title::number>(row), 4u);
    }
}

TEST_F(Databases, every_entity_gets_its_own_value_from_spans) {
    std::vector<Entity> out(100);
    std::vector<Position> positions(100);
    std::vector<Velocity> velocities(100);
    for (std::size_t i = 0; i < 100; ++i) positions[i].value.x = velocities[i].value.y = float(i);
    ASSERT_TRUE((database.create<Position, Velocity>(out, 0, positions, velocities).ok()));
    for (std::size_t i = 0; i < 100; ++i) {
        EXPECT_EQ(database.get<&Position::value>(database.find(out[i])).x, float(i));
        EXPECT_EQ(database.get<&Velocity::value>(database.find(out[i])).y, float(i));
    }
}

TEST_F(Databases, columns_are_copied_as_they_are) {
    const ComponentType mass = database.component<Mass>(), position = database.component<Position>();
    const std::array masses{1.f, 2.f, 3.f};
    const std::byte* const columns[] = {reinterpret_cast<const std::byte*>(masses.data())};
    const ComponentValues values[] = {{.component = mass, .columns = columns}};
    const ComponentType both[] = {position, mass};
    std::vector<Entity> out(3);
    ASSERT_TRUE(database.create(out, database.archetype(both), 0, values).ok());
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(database.get<&Mass::value>(database.find(out[i])), masses[i]);
}

// req: D7 E14 F3
TEST_F(Databases, adding_and_removing_keeps_the_other_values) {
    std::vector<Entity> out(4);
    ASSERT_TRUE((database.create<Position>(out, 1, Position{{1, 1, 1}}).ok()));
    for (std::size_t i = 0; i < 4; ++i) database.set<&Position::value>(database.find(out[i]), {float(i), 0, 0});
    const Result<AddCounts> added = database.add(out[1], Velocity{{9, 8, 7}}, Mass{2});
    ASSERT_TRUE(added.ok());
    EXPECT_EQ(added->num_added, 1u);
    const DatabaseRow row = database.find(out[1]);
    EXPECT_EQ(row.table->zone(), 1u);
    EXPECT_EQ(database.get<&Position::value>(row).x, 1);
    EXPECT_EQ(database.get<&Velocity::value>(row), (Vec3{9, 8, 7}));
    EXPECT_EQ(database.get<&Mass::value>(row), 2);
    EXPECT_EQ(database.get<&Position::value>(database.find(out[3])).x, 3) << "the last row has moved";
    EXPECT_TRUE(*database.remove<Position>(out[1]));
    EXPECT_FALSE(*database.remove<Position>(out[1]));
    EXPECT_FALSE(database.has<Position>(out[1]));
    EXPECT_EQ(database.get<&Mass::value>(database.find(out[1])), 2);
}

TEST_F(Databases, adding_what_is_there_sets_its_value) {
    std::vector<Entity> out(20);
    ASSERT_TRUE((database.create<Position, Mass>(out, 0).ok()));
    const Result<AddCounts> counts = database.add(out, Mass{8});
    ASSERT_TRUE(counts.ok());
    EXPECT_EQ(counts->num_set, 20u);
    EXPECT_EQ(counts->num_added, 0u);
    for (const Entity entity : out) EXPECT_EQ(database.get<&Mass::value>(database.find(entity)), 8);
}

TEST_F(Databases, an_entity_without_a_row_gets_one_by_adding) {
    std::vector<Entity> out = make(20);
    ASSERT_TRUE(database.add(std::span<const Entity>(out).first(10), Mass{1}).ok());
    const Result<AddCounts> counts = database.add(out, Mass{2});
    ASSERT_TRUE(counts.ok());
    EXPECT_EQ(counts->num_added, 10u);
    EXPECT_EQ(counts->num_set, 10u);
    for (const Entity entity : out) EXPECT_EQ(database.get<&Mass::value>(database.find(entity)), 2);
}

TEST_F(Databases, removing_the_last_component_leaves_the_entity_in_its_zone) {
    std::vector<Entity> out(2);
    ASSERT_TRUE((database.create<Mass>(out, 6).ok()));
    EXPECT_EQ(*database.remove<Mass>(out), 2u);
    EXPECT_TRUE(database.has_row(out[0]));
    EXPECT_EQ(database.find(out[0]).table->zone(), 6u);
    EXPECT_TRUE(database.find(out[0]).table->type().components().empty());
    database.drop(out);
    EXPECT_FALSE(database.has_row(out[0]));
    EXPECT_TRUE(entities.alive(out[0]));
}

TEST_F(Databases, stale_and_foreign_handles_have_no_row) {
    std::vector<Entity> out(3);
    ASSERT_TRUE((database.create<Mass>(out, 0).ok()));
    const Entity stale = out[1];
    EXPECT_TRUE(database.destroy(stale));
    EXPECT_FALSE(database.destroy(stale));
    EXPECT_FALSE(database.find(stale));
    std::vector<Entity> reused(3);
    ASSERT_TRUE((database.create<Mass>(reused, 0).ok()));
    EXPECT_EQ(reused[0].index(), stale.index()) << "the index is used again, or the test shows nothing";
    EXPECT_FALSE(database.find(stale));
    EXPECT_FALSE(database.has<Mass>(stale));
    EXPECT_FALSE(database.find(kNullEntity));
    EXPECT_FALSE(database.find(make_entity(4'000'000, 3)));
    EXPECT_EQ(database.add(stale, Position{})->num_skipped, 1u);
}

TEST_F(Databases, rows_of_those_destroyed_elsewhere_go_at_settle) {
    std::vector<Entity> out(40);
    ASSERT_TRUE((database.create<Mass>(out, 0).ok()));
    entities.destroy(std::span<const Entity>(out).first(30));
    EXPECT_EQ(database.num_rows(), 40u);
    Settler().settle(database);
    EXPECT_EQ(database.num_rows(), 10u);
    for (std::size_t i = 30; i < 40; ++i) EXPECT_TRUE(database.has<Mass>(out[i]));
}

TEST_F(Databases, a_new_entity_takes_the_place_of_a_dead_one_on_its_index) {
    std::vector<Entity> out(3);
    ASSERT_TRUE((database.create<Mass>(out, 0).ok()));
    entities.destroy(out[0]);
    std::vector<Entity> reused(1);
    ASSERT_TRUE((database.create<Position>(reused, 2).ok()));
    ASSERT_EQ(reused[0].index(), out[0].index());
    EXPECT_EQ(database.num_rows(), 3u);
    Settler().settle(database);
    EXPECT_TRUE(database.has<Position>(reused[0]));
}

// req: E5-E6
TEST_F(Databases, entities_move_between_zones_with_all_that_they_have) {
    std::vector<Entity> out(30);
    ASSERT_TRUE((database.create<Mass, Title>(out, 0, Mass{3}, Title{"long enough to lie on the heap", 9}).ok()));
    EXPECT_EQ(*database.move(out, 5), 30u);
    EXPECT_EQ(*database.move(out, 5), 0u);
    EXPECT_TRUE(*database.move(out[4], 6));
    for (std::size_t i = 0; i < 30; ++i) {
        const DatabaseRow row = database.find(out[i]);
        EXPECT_EQ(row.table->zone(), i == 4 ? 6u : 5u);
        EXPECT_EQ(database.get<&Title::text>(row), "long enough to lie on the heap");
        EXPECT_EQ(database.get<&Mass::value>(row), 3);
    }
}

TEST_F(Databases, a_cleared_zone_is_empty_and_its_entities_are_dead) {
    std::vector<Entity> here(100), there(100);
    ASSERT_TRUE((database.create<Mass>(here, 1).ok()));
    ASSERT_TRUE((database.create<Mass>(there, 2).ok()));
    ASSERT_TRUE(database.add(std::span<const Entity>(here).first(50), Title{}).ok());
    EXPECT_EQ(database.clear_zone(1), 100u);
    EXPECT_EQ(database.clear_zone(9), 0u);
    EXPECT_EQ(database.num_rows(), 100u);
    for (std::size_t i = 0; i < 100; ++i) {
        EXPECT_FALSE(entities.alive(here[i]));
        EXPECT_FALSE(database.has_row(here[i]));
        EXPECT_TRUE(database.has<Mass>(there[i]));
    }
}

TEST_F(Databases, clearing_a_zone_counts_those_who_die_with_others_of_it) {
    std::vector<Entity> owners(5), owned(5);
    struct Context {
        EntityManager& entities;
        std::span<const Entity> others;
    } context{entities, {}};
    const auto die_too = [](void* self, std::span<const Entity>) {
        static_cast<Context*>(self)->entities.destroy(static_cast<Context*>(self)->others);
    };
    const DestructionCallback callback = entities.add_destruction_callback(die_too, &context);
    for (const std::vector<Entity>* others : {&owned, &owners}) {  // whichever table comes first
        context.others = {};
        ASSERT_TRUE((database.create<Mass>(owners, 1).ok()));
        ASSERT_TRUE((database.create<Position, Mass>(owned, 1).ok()));
        context.others = *others;
        EXPECT_EQ(database.clear_zone(1), 10u);
        EXPECT_EQ(database.num_rows(1), 0u);
    }
    context.others = {};
    ASSERT_TRUE((database.create<Mass>(owners, 2).ok()));
    entities.destroy(owners[0]);
    EXPECT_EQ(database.clear_zone(2), 4u) << "one was dead already";
    entities.remove_destruction_callback(callback);
}

TEST_F(Databases, a_callback_that_brings_newcomers_into_a_cleared_zone_keeps_them) {
    std::vector<Entity> out(20);
    ASSERT_TRUE((database.create<Mass>(out, 1).ok()));
    struct Context {
        Database& database;
        Entity born;
    } context{database, {}};
    entities.add_destruction_callback(
        [](void* self, std::span<const Entity>) {
            auto& context = *static_cast<Context*>(self);
            if (context.born) return;
            ASSERT_TRUE((context.database.create<Mass>({&context.born, 1}, 1, Mass{77}).ok()));
        },
        &context);
    EXPECT_EQ(database.clear_zone(1), 20u);
    EXPECT_EQ(database.num_rows(), 1u);
    EXPECT_EQ(database.get<&Mass::value>(database.find(context.born)), 77);
}

TEST_F(Databases, a_callback_may_settle_while_a_zone_is_cleared) {
    std::vector<Entity> leaving(10), staying(10);
    ASSERT_TRUE((database.create<Position, Mass>(leaving, 5).ok()));
    ASSERT_TRUE(database.create<Position>(staying, 5).ok());
    ASSERT_TRUE(database.move(leaving, 6).ok());
    // Tables that stay empty go: that of those who left.
    const auto settle = [](void* of, std::span<const Entity>) {
        for (int i = 0; i < 40; ++i) static_cast<Database*>(of)->settle({});
    };
    const DestructionCallback callback = entities.add_destruction_callback(settle, &database);
    EXPECT_EQ(database.clear_zone(5), 10u);
    entities.remove_destruction_callback(callback);
    EXPECT_EQ(database.num_rows(), 10u);
    EXPECT_EQ(database.validate().message(), "");
}

TEST_F(Databases, a_call_may_name_the_entities_of_a_table_itself) {
    std::vector<Entity> out(100);
    ASSERT_TRUE((database.create<Mass>(out, 1).ok()));
    ASSERT_TRUE(database.add(database.find(out[0]).table->entities(), Position{}).ok());
    EXPECT_EQ(*database.move(database.find(out[0]).table->entities(), 4), 100u);
    EXPECT_EQ(database.destroy(database.find(out[0]).table->entities()), 100u);
    EXPECT_EQ(database.num_rows(), 0u);
}

TEST_F(Databases, an_entity_named_twice_is_changed_once) {
    std::vector<Entity> out(20);
    ASSERT_TRUE((database.create<Mass>(out, 0).ok()));
    std::vector<Entity> twice = out;
    twice.insert(twice.end(), out.begin(), out.end());
    std::vector<Position> positions(40);
    for (std::size_t i = 0; i < 40; ++i) positions[i].value.x = float(i);
    const Result<AddCounts> counts = database.add<Position>(twice, positions);
    EXPECT_EQ(counts->num_added, 20u);
    EXPECT_EQ(counts->num_set, 20u);
    for (std::size_t i = 0; i < 20; ++i)
        EXPECT_EQ(database.get<&Position::value>(database.find(out[i])).x, float(i + 20)) << "the later value counts";
    EXPECT_EQ(*database.remove<Position>(twice), 20u);
    EXPECT_EQ(*database.move(twice, 3), 20u);
    database.drop(twice);
    EXPECT_EQ(database.num_rows(), 0u);
}

// req: A7
TEST_F(Databases, what_an_entity_has_is_found_by_asking_and_leaves_no_trace_in_the_entity_manager) {
    const std::vector<Entity> made = make(10'000);
    const MemoryUse before = entities.memory_use();
    const auto of = [&](Entity entity) {
        return std::array{database.has<Mass>(entity), database.has<Velocity>(entity), database.has<Tally>(entity)};
    };
    EXPECT_EQ(of(made[0]), (std::array{false, false, false}));
    ASSERT_TRUE(database.add(made, Mass{1}).ok());
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(database.add(std::span(made).subspan(5000), Tally{}).ok());
    ASSERT_TRUE(database.add(made[1], Velocity{}).ok());
    EXPECT_EQ(of(made[0]), (std::array{true, false, false}));
    EXPECT_EQ(of(made[1]), (std::array{true, true, false}));
    EXPECT_EQ(of(made[5000]), (std::array{true, false, true}));
    ASSERT_TRUE(database.remove<Mass>(made[1]).ok());
    EXPECT_EQ(of(made[1]), (std::array{false, true, false}));
    EXPECT_EQ(of(kNullEntity), (std::array{false, false, false}));
    EXPECT_EQ(entities.memory_use().used_bytes, before.used_bytes);
    EXPECT_EQ(entities.memory_use().committed_bytes, before.committed_bytes);
}

// req: F3
TEST_F(Databases, an_enableable_component_comes_and_goes_without_a_move) {
    std::vector<Entity> out(100);
    ASSERT_TRUE((database.create<Mass, Asleep>(out, 0).ok()));
    const DatabaseRow row = database.find(out[10]);
    database.set<&Asleep::since>(row, 99);
    EXPECT_TRUE(*database.remove<Asleep>(out[10]));
    EXPECT_FALSE(*database.remove<Asleep>(out[10]));
    EXPECT_EQ(database.find(out[10]), row);
    EXPECT_FALSE(database.has<Asleep>(out[10]));
    EXPECT_TRUE(database.has<Asleep>(out[11]));
    const auto is_enabled = [&](Entity entity) {
        const ComponentRow at = database.find_row(schema_of<Asleep>().id(), entity, 0);
        EXPECT_TRUE(at) << "its row has a place for one";
        return at.is_enabled;
    };
    EXPECT_FALSE(is_enabled(out[10]));
    EXPECT_TRUE(is_enabled(out[11]));
    EXPECT_EQ(*database.add_values(schema_of<Asleep>(), std::span<const Entity>(out).subspan(10, 2), {}), 2u)
        << "one that is enabled, and one that is given another value";
    EXPECT_TRUE(*database.remove<Asleep>(out[10]));
    const ComponentValues without_value[] = {{.component = database.component<Asleep>()}};
    EXPECT_EQ(database.add({&out[10], 1}, without_value)->num_added, 1u);
    EXPECT_EQ(database.get<&Asleep::since>(row), 99u) << "it has kept its value";
    EXPECT_EQ(database.add(out[10], Asleep{5})->num_set, 1u);
    EXPECT_EQ(database.get<&Asleep::since>(row), 5u);
}

TEST_F(Databases, an_enableable_component_is_created_disabled_with_its_value) {
    const Result<Entity> one = database.create(Mass{3}, Disabled{Asleep{7}});
    ASSERT_TRUE(one.ok()) << one.message();
    std::vector<Entity> out(100);
    ASSERT_TRUE(database.create(out, Disabled{Asleep{8}}, Mass{2}).ok());
    EXPECT_EQ(database.find(out[50]).table->zone(), 0u);
    EXPECT_FALSE(database.has<Asleep>(out[50]));
    ASSERT_TRUE(database.create(out, 4, Disabled{Asleep{8}}, Mass{2}, Hungry{}).ok());
    const Entity in_first = *entities.create();
    EXPECT_TRUE(*database.insert(in_first, Disabled{Asleep{6}}, Mass{1}));
    EXPECT_TRUE(database.has_row(in_first) && !database.has<Asleep>(in_first));
    const Entity inserted = *entities.create(), given = *entities.create();
    EXPECT_TRUE(*database.insert(inserted, 5, Disabled<Asleep>{}));
    EXPECT_FALSE(*database.insert(out[3], 5, Disabled<Asleep>{})) << "it has a row";
    EXPECT_EQ(database.add(given, Mass{1}, Disabled{Asleep{9}})->num_added, 1u);
    for (const Entity entity : {*one, out[0], out[99], inserted, given}) {
        const DatabaseRow row = database.find(entity);
        EXPECT_FALSE(database.has<Asleep>(entity));
        EXPECT_TRUE(row.table->type().has(database.component<Asleep>())) << "it is there";
    }
    EXPECT_TRUE(database.has<Hungry>(out[50])) << "what is not given disabled is enabled";
    EXPECT_EQ(database.find(out[50]).table->zone(), 4u);
    const auto since = [&](Entity entity) { return database.get<&Asleep::since>(database.find(entity)); };
    EXPECT_EQ(since(*one), 7u);
    EXPECT_EQ(since(out[99]), 8u);
    EXPECT_EQ(since(given), 9u);
    const ComponentValues without_value[] = {{.component = database.component<Asleep>()}};
    EXPECT_EQ(database.add({&given, 1}, without_value)->num_added, 1u);
    EXPECT_TRUE(database.has<Asleep>(given));
    EXPECT_EQ(since(given), 9u) << "the value has waited";
    EXPECT_EQ(database.add(given, Disabled{Asleep{10}})->num_set, 1u) << "one that is enabled is disabled";
    EXPECT_FALSE(database.has<Asleep>(given));
    EXPECT_EQ(since(given), 10u);
    std::vector<Entity> plain(300);
    ASSERT_TRUE(database.create<Mass>(plain, 4).ok());
    EXPECT_EQ(database.add(std::span<const Entity>(plain), Disabled{Asleep{11}})->num_added, 300u);
    for (const Entity entity : plain) {
        ASSERT_FALSE(database.has<Asleep>(entity));
        ASSERT_EQ(since(entity), 11u);
    }
    EXPECT_TRUE(database.validate().ok());
}

TEST_F(Databases, each_row_that_comes_goes_or_moves_counts_as_a_change) {
    std::vector<Entity> out = make(100);
    const auto num_changes = [&](auto&& call) {
        const std::uint64_t before = database.num_structural_changes();
        EXPECT_TRUE(call().ok());
        return database.num_structural_changes() - before;
    };
    const std::span<const Entity> all = out, some = all.first(40), one = all.last(1);
    const Velocity velocity;
    const auto* const image = reinterpret_cast<const std::byte*>(&velocity);
    const ComponentType moving[] = {database.component<Velocity>()};
    const ComponentValues faster[] = {{.component = moving[0], .images = image}};
    EXPECT_EQ(num_changes([&] { return database.add(all, Position{}, Mass{}); }), 100u);
    EXPECT_EQ(num_changes([&] { return database.add(some, faster); }), 40u) << "a run moves as a whole";
    EXPECT_EQ(num_changes([&] { return database.add(one, faster); }), 1u);
    EXPECT_EQ(num_changes([&] { return database.add(one, faster); }), 0u) << "it has one, and gets another value";
    EXPECT_EQ(num_changes([&] { return database.add(out[50], Velocity{}); }), 1u);
    EXPECT_EQ(num_changes([&] { return database.remove(one, moving); }), 1u);
    EXPECT_EQ(num_changes([&] { return database.remove(some, moving); }), 40u);
    EXPECT_EQ(num_changes([&] { return database.remove<Velocity>(out[0]); }), 0u) << "it has none";
    EXPECT_EQ(num_changes([&] { return database.add(out[60], Asleep{}); }), 1u);
    EXPECT_EQ(num_changes([&] { return database.remove<Asleep>(out[60]); }), 1u) << "it is disabled";
    EXPECT_EQ(num_changes([&] { return database.remove<Asleep>(out[60]); }), 0u) << "it is disabled";
    const ComponentType asleep[] = {database.component<Asleep>()};
    EXPECT_EQ(num_changes([&] { return database.add(out[60], Asleep{}); }), 1u);
    EXPECT_EQ(num_changes([&] { return database.remove(all.subspan(60, 1), asleep); }), 1u) << "by name, too";
    EXPECT_EQ(num_changes([&] { return database.remove(all.subspan(60, 1), asleep); }), 0u);
    EXPECT_EQ(num_changes([&] { return database.add(out[60], Disabled{Asleep{}}); }), 0u);
    EXPECT_EQ(num_changes([&] { return database.add(out[60], Asleep{}); }), 1u) << "it is enabled";
    EXPECT_EQ(num_changes([&] { return database.add(out[60], Disabled{Asleep{}}); }), 1u) << "it is given disabled";
    EXPECT_EQ(num_changes([&] { return database.move(some, 3); }), 40u);
    const std::uint64_t before = database.num_structural_changes();
    EXPECT_EQ(database.destroy(some), 40u);
    EXPECT_EQ(database.num_structural_changes(), before + 40);
    EXPECT_TRUE(database.destroy(out[99]));
    EXPECT_EQ(database.num_structural_changes(), before + 41);
    std::vector<Entity> scattered, dead;
    for (std::size_t i = 61; i < 97; i += 2) scattered.push_back(out[i]), dead.push_back(out[i + 1]);
    EXPECT_EQ(database.destroy(scattered), 18u);
    EXPECT_EQ(database.num_structural_changes(), before + 59);
    entities.destroy(dead);
    database.settle({.stamp = 2});
    EXPECT_EQ(database.num_structural_changes(), before + 77) << "those that died elsewhere go at settle";
    EXPECT_EQ(num_changes([&] { return database.add(out[60], Tally{}); }), 1u);
    EXPECT_EQ(num_changes([&] { return database.add(out[60], Tally{}); }), 1u) << "another value becomes the first";
    EXPECT_EQ(num_changes([&] { return database.remove_value<Tally>(out[60], 1); }), 1u);
    std::vector<Entity> in_nine(30);
    ASSERT_TRUE(database.create<Mass>(in_nine, 9).ok());
    const std::uint64_t filled = database.num_structural_changes();
    EXPECT_EQ(database.clear_zone(9), 30u);
    EXPECT_EQ(database.num_structural_changes(), filled + 30);
}

TEST_F(Databases, what_is_set_or_enabled_in_place_carries_the_stamp_of_the_frame) {
    std::vector<Entity> out(3 * kRowsPerStampBlock);
    ASSERT_TRUE((database.create<Mass, Velocity, Asleep, Tally>(out, 0).ok()));
    const DatabaseTable& rows = *database.find(out[0]).table;
    std::uint64_t stamp = 1;
    const auto stamped = [&](ComponentType component, std::uint32_t num_columns) {
        std::string text;
        for (std::uint32_t block = 0; block < 3; ++block)
            for (std::uint32_t c = 0; c < num_columns; ++c)
                text += rows.table().written_stamp(rows.first_column(component) + c, block) == stamp ? '+' : '-';
        return text;
    };
    const auto in_mass = [&] { return stamped(database.component<Mass>(), 1); };
    const auto in_velocity = [&] { return stamped(database.component<Velocity>(), 3); };
    const auto settle = [&] { database.settle({.stamp = ++stamp}); };
    settle();
    EXPECT_EQ(database.add(out[1500], Velocity{{4, 5, 6}})->num_set, 1u);
    EXPECT_EQ(in_velocity(), "---+++---");
    EXPECT_EQ(in_mass(), "---");
    settle();
    EXPECT_EQ(database.add(std::span<const Entity>(out).subspan(1000, 100), Velocity{{1, 1, 1}})->num_set, 100u);
    EXPECT_EQ(in_velocity(), "++++++---");
    EXPECT_EQ(in_mass(), "---");
    settle();
    database.set<&Velocity::value>(database.find(out[2500]), {7, 8, 9});
    EXPECT_EQ(in_velocity(), "------+++");
    settle();
    EXPECT_TRUE(*database.remove<Asleep>(out[2500]));
    EXPECT_EQ(in_mass(), "--+") << "enabling counts as placing the row";
    settle();
    EXPECT_FALSE(*database.remove<Asleep>(out[2500]));
    EXPECT_EQ(in_mass(), "---") << "it was disabled";
    const ComponentValues without_value[] = {{.component = database.component<Asleep>()}};
    EXPECT_EQ(database.add({&out[2500], 1}, without_value)->num_added, 1u);
    EXPECT_EQ(in_mass(), "--+");
    settle();
    EXPECT_EQ(database.add({&out[2500], 1}, without_value)->num_added, 0u);
    EXPECT_EQ(in_mass(), "---") << "it was on";
    settle();
    EXPECT_EQ(database.add(out[2500], Disabled{Asleep{3}})->num_set, 1u);
    EXPECT_EQ(in_mass(), "--+") << "one that is given disabled counts";
    settle();
    EXPECT_EQ(database.add(out[2500], Disabled{Asleep{4}})->num_set, 1u);
    EXPECT_EQ(in_mass(), "---") << "it was disabled";
    settle();
    EXPECT_EQ(database.add(std::span<const Entity>(out).subspan(1100, 3), Disabled{Asleep{5}})->num_set, 3u);
    EXPECT_EQ(in_mass(), "-+-");
    settle();
    EXPECT_EQ(database.add(std::span<const Entity>(out).subspan(1101, 1), Asleep{6})->num_added, 1u);
    EXPECT_EQ(in_mass(), "-+-");
    const auto in_tally = [&] { return stamped(database.component<Tally>(), 4); };
    for (std::uint32_t number = 7; number < 9; ++number) {
        settle();
        ASSERT_TRUE(database.add(out[1500], Tally{.number = number}).ok());
        EXPECT_EQ(in_tally(), "----++++----") << "the newest value is the first, in the row";
    }
    settle();
    EXPECT_TRUE(*database.remove_value<Tally>(out[1500], 1));
    EXPECT_EQ(in_tally(), "------------");
    EXPECT_TRUE(*database.remove_value<Tally>(out[1500], 0));
    EXPECT_EQ(in_tally(), "----++++----") << "the second is now the first";
    EXPECT_EQ(database.get<&Tally::number>(database.find(out[1500])), 6u);
    EXPECT_EQ(in_mass(), "---");
}

TEST_F(Databases, further_values_of_a_type_that_comes_later_carry_the_stamp_of_the_frame) {
    const Entity entity = make(1)[0];
    database.settle({.stamp = 7});
    const ComponentType tally = database.component<Tally>();
    ASSERT_TRUE(database.add(entity, Tally{}).ok() && database.add(entity, Tally{}).ok());
    EXPECT_EQ(database.further_values(tally)->table().placed_stamp(0), 7u);
    database.settle({.stamp = 8});
    ASSERT_TRUE(database.add(entity, Tally{}).ok());
    EXPECT_EQ(database.further_values(tally)->table().placed_stamp(0), 8u);
}

TEST_F(Databases, of_several_bits_each_that_flips_is_a_change_with_the_stamp_of_the_frame) {
    std::vector<Entity> made(1);
    ASSERT_TRUE((database.create<Asleep, Hungry>(made, 0).ok()));
    const DatabaseRow at = database.find(made[0]);
    std::uint64_t stamp = 10;
    const auto expect_change = [&](auto change) {
        database.settle({.stamp = ++stamp});
        const std::uint64_t changes = database.num_structural_changes();
        ASSERT_TRUE(change());
        EXPECT_EQ(at.table->table().placed_stamp(0), stamp);
        EXPECT_EQ(database.num_structural_changes(), changes + 1);
    };
    const auto add = [&](auto... values) { return [=, this] { return bool(database.add(made[0], values...)); }; };
    const auto add_all = [&](auto... values) {
        return [=, this] { return bool(database.add(std::span<const Entity>(made), values...)); };
    };
    expect_change(add(Disabled{Asleep{}}, Hungry{}));
    expect_change(add(Disabled{Asleep{}}, Disabled{Hungry{}}));
    expect_change(add(Asleep{}, Disabled{Hungry{}}));
    expect_change(add_all(Asleep{}, Hungry{}));
    expect_change([&] { return *database.remove<Asleep>(made[0]); });
    expect_change([&] { return *database.remove<Asleep, Hungry>(made[0]); });
    expect_change(add_all(Asleep{}, Disabled{Hungry{}}));
    expect_change([&] { return *database.remove<Asleep, Hungry>(made[0]); });
}

TEST_F(Databases, rows_are_arranged_with_all_that_they_have_and_bits_are_set_for_a_whole_table) {
    constexpr std::uint32_t kCount = 1502;  // two blocks of stamps, and not the same from either end
    std::vector<Entity> made(kCount);
    std::vector<Asleep> naps(kCount);
    for (std::uint32_t i = 0; i < kCount; ++i) naps[i].since = i;
    ASSERT_TRUE(database.create<Asleep>(made, 0, naps).ok());
    for (std::uint32_t i = 0; i < kCount; i += 3) ASSERT_TRUE(*database.remove<Asleep>(made[i]));
    std::vector<Entity> wanted = made;
    std::reverse(wanted.begin(), wanted.end());
    std::swap(wanted[3], wanted[50]);
    const DatabaseTable& table = *database.find(made[0]).table;
    database.settle({.stamp = 7});
    std::uint64_t changes = database.num_structural_changes();
    database.arrange(table, wanted);
    EXPECT_TRUE(std::ranges::equal(table.entities(), wanted));
    for (const std::uint32_t block : {0u, 1u}) EXPECT_EQ(table.table().placed_stamp(block), 7u);
    EXPECT_GT(database.num_structural_changes(), changes);
    for (std::uint32_t i = 0; i < kCount; ++i) {
        ASSERT_EQ(database.has<Asleep>(made[i]), i % 3 != 0) << i;
        ASSERT_EQ(database.get<&Asleep::since>(database.find(made[i])), i);
    }
    database.settle({.stamp = 8});
    changes = database.num_structural_changes();
    std::vector<std::uint64_t> bits((kCount + 63) / 64);
    bits[0] = 5, bits[1] = 2;
    database.set_enabled(table, database.component<Asleep>(), bits);
    for (std::uint32_t row = 0; row < kCount; ++row)
        ASSERT_EQ(database.has<Asleep>(wanted[row]), row == 0 || row == 2 || row == 65) << row;
    for (const std::uint32_t block : {0u, 1u}) EXPECT_EQ(table.table().placed_stamp(block), 8u);
    EXPECT_GT(database.num_structural_changes(), changes);
    EXPECT_EQ(database.validate().message(), "");
}

TEST_F(Databases, rows_that_are_named_are_arranged_and_no_others_are_marked) {
    std::vector<Entity> made(60);
    ASSERT_TRUE(database.create<Mass>(made, 0).ok());
    const DatabaseTable& table = *database.find(made[0]).table;
    database.settle({.stamp = 7});
    std::vector<Entity> wanted = made;
    std::swap(wanted[5], wanted[50]), std::swap(wanted[50], wanted[9]);
    const std::uint32_t rows[] = {5, 6, 9, 50};
    database.arrange(table, wanted, std::span<const std::uint32_t>(rows));
    EXPECT_TRUE(std::ranges::equal(table.entities(), wanted));
    for (const std::uint32_t row : {5, 9, 50}) EXPECT_TRUE(table.table().placed_since(0, 7).has(row / 8));
    EXPECT_EQ(table.table().placed_since(0, 7).count(), 3u);
    EXPECT_EQ(database.validate().message(), "");
}

TEST_F(Databases, a_settle_with_an_earlier_stamp_does_not_lead_back) {
    std::vector<Entity> made(2);
    ASSERT_TRUE(database.create<Mass>(std::span(made).first(1), 0).ok());
    database.settle({.stamp = 9});
    database.settle({.stamp = 4});
    ASSERT_TRUE(database.create<Asleep>(std::span(made).last(1), 1).ok());
    for (const Entity entity : made) EXPECT_EQ(database.find(entity).table->table().stamp(), 9u);
}

TEST_F(Databases, bits_follow_their_rows) {
    std::vector<Entity> out(300);
    ASSERT_TRUE((database.create<Mass, Asleep, Hungry>(out, 0).ok()));
    for (std::size_t i = 0; i < 300; ++i) {
        EXPECT_TRUE(i % 3 != 0 || *database.remove<Asleep>(out[i]));
        EXPECT_TRUE(i % 5 != 0 || *database.remove<Hungry>(out[i]));
    }
    ASSERT_TRUE(database.add(std::span<const Entity>(out).subspan(50, 200), Position{}).ok());
    EXPECT_EQ(*database.move(std::span<const Entity>(out).first(120), 7), 120u);
    database.destroy(std::span<const Entity>(out).subspan(60, 30));
    for (std::size_t i = 0; i < 300; ++i) {
        const bool alive = i < 60 || i >= 90;
        EXPECT_EQ(database.has<Asleep>(out[i]), alive && i % 3 != 0) << i;
        EXPECT_EQ(database.has<Hungry>(out[i]), alive && i % 5 != 0) << i;
    }
}

// req: F8-F10
TEST_F(Databases, more_than_64_component_types_fit_into_a_signature) {
    std::vector<ComponentType> components;
    for (int i = 0; i < 150; ++i) {
        ComponentDefinition definition{.name = "part_" + std::to_string(i)};
        definition.fields.push_back({.name = "value", .type = FieldType::kInt32});
        Result<Schema> schema = Schema::make(definition);
        ASSERT_TRUE(schema.ok());
        components.push_back(*database.add_component(*schema));
    }
    std::vector<Entity> out(2);
    ASSERT_TRUE(database.create(out, database.archetype(components), 0).ok());
    const DatabaseRow row = database.find(out[0]);
    EXPECT_EQ(row.table->type().signature().words().size(), 3u);
    EXPECT_EQ(row.table->type().schema().columns().size(), 150u);
    const ComponentType gone[] = {components[149], components[70], components[3]};
    EXPECT_EQ(*database.remove(out, gone), 2u);
    for (std::size_t i = 0; i < components.size(); ++i)
        EXPECT_EQ(database.has(out[1], components[i]), i != 149 && i != 70 && i != 3) << i;
    EXPECT_EQ(database.find(out[0]).table->type().signature().words().size(), 3u);
    EXPECT_EQ(*database.remove(out, std::span<const ComponentType>(components).subspan(60)), 2u);
    EXPECT_EQ(database.find(out[0]).table->type().signature().words().size(), 1u);
}

// req: E14
TEST_F(Databases, archetypes_are_found_again_by_every_way) {
    const Archetype& both = database.archetype<Position, Mass>();
    const Archetype& one = database.archetype<Position>();
    EXPECT_EQ(&database.with(one, database.component<Mass>()), &both);
    EXPECT_EQ(&database.without(both, database.component<Mass>()), &one);
    EXPECT_EQ(&database.with(both, database.component<Mass>()), &both);
    EXPECT_EQ(&database.archetype(std::array{database.component<Mass>(), database.component<Position>()}), &both);
    EXPECT_EQ(database.archetypes().size(), 2u);
}

TEST_F(Databases, a_component_type_of_another_layout_is_refused) {
    database.component<Mass>();
    ComponentDefinition definition{.name = "mass"};
    definition.fields.push_back({.name = "value", .type = FieldType::kDouble});
    const Result<ComponentType> result = database.add_component(*Schema::make(definition));
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.message(),
              "the database has another component type \"mass\": mass v1 {value float}, not mass v1 {value double}");
    definition = {.name = "dish", .enableable = true, .many = true};
    const Result<ComponentType> many = database.add_component(*Schema::make(definition));
    ASSERT_FALSE(many.ok());
    EXPECT_EQ(many.message(),
              "the component \"dish\" may occur several times in an entity, and one bit cannot say which of them are "
              "disabled; leave out `enableable`, or keep it in a component manager");
}

TEST_F(Databases, values_of_another_layout_are_neither_read_nor_written_as_a_c_plus_plus_type) {
    ComponentDefinition definition{.name = "tally", .many = true};
    definition.fields.push_back({.name = "other", .type = FieldType::kUint8});
    const ComponentType other = database.add_component(*Schema::make(definition)).value();
    const Entity owner = entities.create().value();
    const ComponentValues value{.component = other};
    ASSERT_TRUE(database.add({&owner, 1}, {&value, 1}).ok());
    const char* const refused = "the database has another component type \"tally\"";
    EXPECT_DEATH(static_cast<void>(database.get_value<&Tally::number>(owner, 0)), refused);
    EXPECT_DEATH(database.set_value<&Tally::number>(owner, 0, 0x01010101), refused);
    EXPECT_DEATH(database.for_each_value<&Tally::number>(owner, [](auto) {}), refused);
    EXPECT_DEATH(static_cast<void>(database.get<&Tally::number>(database.find(owner))), refused);
    EXPECT_DEATH(database.set<&Tally::number>(database.find(owner), 7), refused);
    EXPECT_DEATH(static_cast<void>(database.field<&Tally::number>()), refused);
}

TEST_F(Databases, one_value_after_another_is_found_from_the_one_before) {
    const Entity owner = entities.create().value();
    for (std::uint32_t i = 0; i < 5; ++i) ASSERT_TRUE(database.add(owner, Tally{.number = i}));
    const ComponentId tally = schema_of<Tally>().id();
    ComponentRow at = database.find_row(tally, owner, 0);
    for (std::uint32_t index = 1; index < 7; ++index) {
        at = database.find_next(at, owner, index);
        const ComponentRow expected = database.find_row(tally, owner, index);
        ASSERT_EQ(bool(at), index < 5);
        ASSERT_EQ(at.table, expected.table);
        if (at) {
            ASSERT_TRUE(at.row == expected.row && at.first_column == expected.first_column);
        }
    }
}

TEST_F(Databases, a_full_table_refuses_a_call_as_a_whole) {
    Database small(entities, pool, {.capacity_rows = 50});
    std::vector<Entity> out(40), more(20);
    ASSERT_TRUE((small.create<Mass>(out, 0).ok()));
    const std::uint64_t num_alive = entities.num_alive();
    const Status refused = small.create<Mass>(more, 0);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.message(), "zone 0 holds 40 entities of \"mass\" and at most 50; 20 more do not fit");
    EXPECT_EQ(more, std::vector<Entity>(20, kNullEntity));
    EXPECT_EQ(entities.num_alive(), num_alive);
    ASSERT_TRUE((small.create<Mass, Position>(more, 0).ok()));
    EXPECT_FALSE(small.add(out, Position{}).ok());
    EXPECT_FALSE(small.remove<Position>(more).ok());
    std::vector<Entity> elsewhere(20);
    ASSERT_TRUE((small.create<Mass>(elsewhere, 1).ok()));
    EXPECT_FALSE(small.move(elsewhere, 0).ok());
    EXPECT_TRUE(small.validate().ok());
    for (const Entity entity : out) EXPECT_FALSE(small.has<Position>(entity));
    for (const Entity entity : more) EXPECT_TRUE(small.has<Position>(entity));
    for (const Entity entity : elsewhere) EXPECT_EQ(small.find(entity).table->zone(), 1u);
}

TEST_F(Databases, matches_follow_new_archetypes_and_tables) {
    const ComponentType mass = database.component<Mass>(), position = database.component<Position>();
    const ComponentType asleep = database.component<Asleep>();
    DatabaseMatch heavy(database, {&mass, 1}, {&position, 1}), awake(database, {&mass, 1}, {&asleep, 1});
    std::vector<Entity> out(70), others(70), third(10);
    ASSERT_TRUE((database.create<Mass>(out, 0).ok()));
    ASSERT_TRUE((database.create<Mass, Position>(others, 1).ok()));
    ASSERT_TRUE((database.create<Mass, Asleep>(third, 2).ok()));
    heavy.refresh();
    awake.refresh();
    EXPECT_EQ(heavy.num_rows(), 80u);
    EXPECT_EQ(awake.num_rows(), 150u);
    EXPECT_TRUE(*database.remove<Asleep>(third[3]));
    std::uint32_t num_awake = 0;
    awake.for_each_table([&](const DatabaseTable& table) {
        EXPECT_EQ(awake.all_rows(table), table.zone() != 2);
        for (std::uint32_t word = 0; word * 64 < table.num_rows(); ++word)
            num_awake += static_cast<std::uint32_t>(std::popcount(awake.rows_of_word(table, word)));
    });
    EXPECT_EQ(num_awake, 141u);
    std::vector<Zone> zones;
    awake.for_each_table(ZoneSet{1, 2, 9}, [&](const DatabaseTable& table) { zones.push_back(table.zone()); });
    std::sort(zones.begin(), zones.end());
    EXPECT_EQ(zones, (std::vector<Zone>{1, 2}));
    database.clear_zone(0);
    for (int i = 0; i < 40; ++i) Settler().settle(database);
    heavy.refresh();
    EXPECT_EQ(heavy.num_rows(), 10u);
}

TEST_F(Databases, a_match_visits_most_zones_in_the_order_of_tables_also_after_tables_have_gone) {
    for (const Zone zone : {9u, 5u, 4u, 3u, 2u, 1u, 0u}) ASSERT_TRUE(database.insert(make(1)[0], zone, Mass{}));
    const ComponentType mass = database.component<Mass>();
    DatabaseMatch heavy(database, {&mass, 1});
    const auto visited = [&] {
        std::vector<Zone> zones;
        heavy.refresh();
        heavy.for_each_table(ZoneSet{0, 5}, [&](const DatabaseTable& table) { zones.push_back(table.zone()); });
        return zones;
    };
    EXPECT_EQ(visited(), (std::vector<Zone>{5, 0}));
    const std::uint64_t epoch = database.table_list_epoch();
    database.clear_zone(9);
    for (int i = 0; i < 40; ++i) database.settle({});
    ASSERT_NE(database.table_list_epoch(), epoch);
    EXPECT_EQ(visited(), (std::vector<Zone>{5, 0}));
}

TEST_F(Databases, a_change_of_several_types_counts_the_entities_that_gain_or_lose_any) {
    std::vector<Entity> made(6);
    ASSERT_TRUE((database.create<Velocity>(std::span(made).first(2), 0).ok()));
    ASSERT_TRUE(database.create<Position>(std::span(made).last(4), 0).ok());
    database.component<Mass>();
    const ComponentChange gains_mass{.component = &schema_of<Mass>()},
        loses_velocity{.component = &schema_of<Velocity>(), .removes = true},
        loses_position{.component = &schema_of<Position>(), .removes = true};
    ChangeCounts counts;
    ASSERT_TRUE(database.change(made, std::array{gains_mass, loses_velocity}, counts));
    EXPECT_EQ(counts.num_changed, 6u);
    counts = {};
    ASSERT_TRUE(database.change(made, std::array{gains_mass, loses_position}, counts));
    EXPECT_EQ(counts.num_changed, 4u);
    EXPECT_EQ(counts.num_left_out, 0u);
}

TEST_F(Databases, zones_that_were_visited_are_taken_once) {
    EXPECT_TRUE(database.take_watched_zones().empty());
    database.watch_zones(true);
    database.note_visit(ZoneSet{3, 5});
    database.note_visit(ZoneSet{4});
    EXPECT_TRUE(database.watched_zones() == (ZoneSet{3, 4, 5}));
    EXPECT_TRUE(database.take_watched_zones() == (ZoneSet{3, 4, 5}));
    EXPECT_TRUE(database.take_watched_zones().empty());
    database.note_visit(ZoneSet{4});
    EXPECT_TRUE(database.watched_zones() == ZoneSet{4});
    database.watch_zones(false);
    EXPECT_TRUE(database.watched_zones().empty());
}

TEST_F(Databases, a_match_that_was_not_refreshed_ends_the_program) {
    const ComponentType mass = database.component<Mass>();
    DatabaseMatch heavy(database, {&mass, 1});
    const auto visit = [](const DatabaseTable&) {};
    heavy.for_each_table(visit);  // it knows all that there is
    std::vector<Entity> out(70);
    ASSERT_TRUE((database.create<Mass>(out, 0).ok()));
    EXPECT_DEATH(heavy.for_each_table(visit), "tables came or went after the match looked at them");
    EXPECT_DEATH(heavy.for_each_table(ZoneSet{0}, visit), "tables came or went after the match looked at them");
    EXPECT_DEATH(heavy.num_rows(), "tables came or went after the match looked at them");
    EXPECT_DEATH(heavy.matches(*database.find(out[0]).table), "the table came after the match looked at tables");
    heavy.refresh();
    EXPECT_EQ(heavy.num_rows(), 70u);
    database.clear_zone(0);
    const std::uint64_t epoch = database.table_list_epoch();
    for (int i = 0; i < 100 && database.table_list_epoch() == epoch; ++i) Settler().settle(database);
    EXPECT_DEATH(heavy.num_rows(), "tables came or went after the match looked at them");
    heavy.refresh();
    EXPECT_EQ(heavy.num_rows(), 0u);
}

TEST_F(Databases, a_structural_call_inside_a_lock_ends_the_program) {
    std::vector<Entity> out(1);
    ASSERT_TRUE((database.create<Mass>(out, 0).ok()));
    const DatabaseLock lock(database);
    EXPECT_DEATH(database.drop(out), "while a loop ran over its rows");
}

TEST_F(Databases, gathered_fields_are_those_of_the_entities) {
    std::vector<Entity> out(500);
    std::vector<Mass> masses(500);
    for (std::size_t i = 0; i < 500; ++i) masses[i].value = float(i);
    ASSERT_TRUE((database.create<Mass>(out, 0, masses).ok()));
    ASSERT_TRUE(database.add(std::span<const Entity>(out).subspan(100, 200), Velocity{}).ok());
    database.destroy(std::span<const Entity>(out).subspan(150, 10));
    std::vector<float> gathered(500);
    EXPECT_EQ(database.gather<&Mass::value>(out, gathered, -1), 490u);
    for (std::size_t i = 0; i < 500; ++i) EXPECT_EQ(gathered[i], i >= 150 && i < 160 ? -1 : float(i));
}

}  // namespace
}  // namespace shoal_test
