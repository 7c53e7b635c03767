// A call may be given any span, those of columns that it changes included.

#include "support/database_testing.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace shoal_test {
namespace {

struct Doomed {
    std::uint32_t reason = 0;
};
SHOAL_COMPONENT(Doomed, reason)

struct Target {
    Entity entity;
};
SHOAL_COMPONENT(Target, entity)

struct Arguments : ::testing::Test, DatabaseFixture {
    void TearDown() override { EXPECT_EQ(database.validate().message(), ""); }

    /// Entities in one table, each of which names another one as its target: the last one the first.
    std::vector<Entity> create_targets(std::uint32_t count) {
        std::vector<Entity> made(count);
        EXPECT_TRUE((database.create<Mass, Target>(made, 0).ok()));
        for (std::uint32_t i = 0; i < count; ++i) {
            database.set<&Mass::value>(database.find(made[i]), float(i));
            database.set<&Target::entity>(database.find(made[i]), made[count - 1 - i]);
        }
        return made;
    }
    std::span<const Entity> targets_of(Entity entity) const {
        return database.find(entity).table->column<&Target::entity>(database.find_component<Target>());
    }
    void expect_masses(const std::vector<Entity>& made) const {
        for (std::size_t i = 0; i < made.size(); ++i)
            ASSERT_EQ(database.get<&Mass::value>(database.find(made[i])), float(i));
    }
};

TEST_F(Arguments, destroyed_entities_may_be_named_by_a_manager_that_drops_them_by_callback) {
    for (const std::uint32_t count : {4u, 2u, 1u}) {
        Manager<Doomed> doomed(entities, pool, {.death = DeathPolicy::kByCallback});
        std::vector<Entity> made(4);
        ASSERT_TRUE((database.create<Mass>(made, 0).ok()));
        ASSERT_TRUE(doomed.add(made).ok());
        EXPECT_EQ(database.destroy(doomed.core().table().entities().first(count)), count);
        for (std::uint32_t i = 0; i < 4; ++i) {
            EXPECT_EQ(entities.alive(made[i]), i >= count);
            EXPECT_EQ(database.has_row(made[i]), i >= count);
        }
        database.destroy(made);
        EXPECT_EQ(database.num_rows(), 0u);
    }
}

// Rows with text go one by one, and each that goes brings the last one into its place.
TEST_F(Arguments, entities_of_a_call_may_be_a_column_of_the_table_that_it_changes) {
    constexpr std::uint32_t kCount = 100;
    std::vector<Entity> made = create_targets(kCount);
    ASSERT_TRUE(database.add(made, Title{}).ok());
    EXPECT_EQ(database.add(targets_of(made[0]).subspan(20, 60), Position{})->num_added, 60u);
    for (std::uint32_t i = 0; i < kCount; ++i) EXPECT_EQ(database.has<Position>(made[i]), i >= 20 && i < 80) << i;
    EXPECT_EQ(*database.remove<Position>(targets_of(made[30])), 60u);
    for (std::uint32_t i = 0; i < kCount; ++i) EXPECT_FALSE(database.has<Position>(made[i])) << i;
    const std::span<const Entity> some = targets_of(made[0]).subspan(10, 50);
    const std::vector<Entity> moved(some.begin(), some.end());
    EXPECT_EQ(*database.move(some, 3), 50u);
    for (const Entity entity : moved) EXPECT_EQ(database.find(entity).table->zone(), 3u);
    expect_masses(made);
    const std::span<const Entity> others = targets_of(moved[0]);
    const std::vector<Entity> dropped(others.begin(), others.end());
    database.drop(others);
    for (const Entity entity : dropped) EXPECT_FALSE(database.has_row(entity));
    EXPECT_EQ(database.num_rows(), 50u);
    database.destroy(made);
}

TEST_F(Arguments, newcomers_may_be_named_by_the_table_to_which_they_come) {
    constexpr std::size_t kCount = 5'000;
    const std::vector<Entity> born = make(kCount);
    std::vector<Entity> made(kCount);
    std::vector<Target> targets(kCount);
    for (std::size_t i = 0; i < kCount; ++i) targets[i].entity = born[i];
    ASSERT_TRUE((database.create<Target>(made, 0, targets).ok()));
    ASSERT_TRUE(database.insert(targets_of(made[0]), database.archetype<Target>(), 0).ok()) << "its memory moves";
    for (const Entity entity : born) ASSERT_TRUE(database.has<Target>(entity));
    EXPECT_EQ(database.num_rows(), 2 * kCount);
}

TEST_F(Arguments, values_of_newcomers_may_be_columns_of_their_table) {
    for (const std::uint32_t count : {10u, 3'000u}) {
        const std::vector<Entity> made = create_targets(count);
        const DatabaseTable& table = *database.find(made[0]).table;
        const ComponentType mass = database.component<Mass>();
        const std::byte* const column[] = {table.table().column(table.first_column(mass))};
        const ComponentValues values[] = {{.component = mass, .columns = column}};
        std::vector<Entity> copies(count);
        ASSERT_TRUE(database.create(copies, table.type(), 0, values).ok());
        expect_masses(made);
        expect_masses(copies);
        database.destroy(made);
        database.destroy(copies);
    }
}

TEST_F(Arguments, values_of_newcomers_may_be_columns_of_a_table_that_loses_the_row_of_a_dead_one_to_them) {
    const std::vector<Entity> made = create_targets(10);
    const DatabaseTable& table = *database.find(made[0]).table;
    const ComponentType mass = database.component<Mass>();
    entities.destroy(made[2]);
    Entity newer = *entities.create();
    while (newer.index() != made[2].index()) newer = *entities.create();
    ASSERT_EQ(table.num_rows(), 10u) << "the row of the dead one is still there";
    const std::byte* const column[] = {table.table().column(table.first_column(mass)) + 2 * sizeof(float)};
    const float expected = table.column<&Mass::value>(mass)[2];
    const ComponentValues values[] = {{.component = mass, .columns = column}};
    EXPECT_EQ(database.insert({&newer, 1}, database.archetype<Mass>(), 1, values)->num_added, 1u);
    EXPECT_EQ(database.get<&Mass::value>(database.find(newer)), expected);
    EXPECT_EQ(table.num_rows(), 9u);
    EXPECT_EQ(database.validate().message(), "");
}

TEST_F(Arguments, values_of_a_call_may_be_columns_of_the_tables_that_it_changes) {
    struct Case {
        std::uint32_t count, step;
        bool one_by_one;  // for their text, and each that goes brings the last one into its place
    };
    for (const Case now : {Case{100, 1, false}, Case{100, 3, true}, Case{3'000, 1, true}, Case{3'000, 7, false}}) {
        const std::vector<Entity> made = create_targets(now.count);
        ASSERT_TRUE(!now.one_by_one || database.add(made, Title{}).ok());
        const DatabaseTable& table = *database.find(made[0]).table;
        const ComponentType mass = database.component<Mass>(), fuel = *database.add_component([] {
            ComponentDefinition definition{.name = "fuel"};
            definition.fields.push_back({.name = "value", .type = FieldType::kFloat});
            return *Schema::make(definition);
        }());
        const std::byte* const column[] = {table.table().column(table.first_column(mass))};
        const ComponentValues values[] = {{.component = fuel, .columns = column}};
        std::vector<Entity> some;
        for (std::uint32_t i = 0; i < now.count; i += now.step) some.push_back(made[i]);
        ASSERT_TRUE(database.add(some, values).ok());
        for (std::uint32_t i = 0; i < some.size(); ++i) {
            const DatabaseRow row = database.find(some[i]);
            const auto* const fuels =
                reinterpret_cast<const float*>(row.table->table().column(row.table->first_column(fuel)));
            ASSERT_EQ(fuels[row.row], float(i));
        }
        // Those that are left, with values of the table to which they come, whose memory may move.
        const DatabaseTable& target = *database.find(some[0]).table;
        const std::byte* const fuels[] = {target.table().column(target.first_column(fuel))};
        const ComponentValues of_target[] = {{.component = fuel, .columns = fuels}};
        const std::vector<float> wanted(reinterpret_cast<const float*>(fuels[0]),
                                        reinterpret_cast<const float*>(fuels[0]) + some.size());
        std::vector<Entity> rest = make(some.size() / 3);  // newcomers have no row
        for (std::uint32_t i = 0; i < now.count && rest.size() < some.size(); ++i)
            if (i % now.step != 0) rest.push_back(made[i]);
        ASSERT_TRUE(database.add(rest, of_target).ok());
        for (std::uint32_t i = 0; i < rest.size(); ++i) {
            const DatabaseRow row = database.find(rest[i]);
            const auto* const given =
                reinterpret_cast<const float*>(row.table->table().column(row.table->first_column(fuel)));
            ASSERT_EQ(given[row.row], wanted[i]) << i;
        }
        expect_masses(made);
        database.destroy(rest);
        database.destroy(made);
    }
}

struct Depth {
    double value = 0;
};
SHOAL_COMPONENT(Depth, value)
struct Reach {
    float near = 0;
    double far = 0;
};
SHOAL_COMPONENT(Reach, near, far)
struct Crate {
    float width = 0;
    std::int32_t number = 0;
};
SHOAL_COMPONENT((Crate, whole), width, number)
struct Box {
    float width = 0;
    std::int32_t number = 0;
};
SHOAL_COMPONENT((Box, whole), width, number)

TEST_F(Arguments, images_and_some_of_several_columns_may_lie_in_the_table_that_a_call_changes) {
    const ComponentType mass = database.component<Mass>(), depth = database.component<Depth>(),
                        crate = database.component<Crate>(), box = database.component<Box>(),
                        reach = database.component<Reach>();
    for (const bool goes_singly : {false, true})
        for (const std::size_t stride : {std::size_t(0), sizeof(Crate)})
            for (const bool is_near_inside : {false, true}) {
                constexpr std::uint32_t kCount = 100;
                const std::vector<Entity> made = create_targets(kCount);
                for (std::uint32_t i = 0; i < kCount; ++i)
                    ASSERT_TRUE(database.add(made[i], Depth{i * 0.5}, Crate{float(i), -std::int32_t(i)}).ok());
                ASSERT_TRUE(!goes_singly || database.add(made, Title{}).ok());
                const DatabaseTable& table = *database.find(made[0]).table;
                std::vector<Entity> some;
                for (std::uint32_t i = 1; i < kCount; i += goes_singly ? 3 : 1) some.push_back(made[i]);
                std::vector<float> nears(kCount, 7);
                std::vector<double> fars(kCount, 9);
                const auto column_of = [&](ComponentType component) {
                    return table.table().column(table.first_column(component));
                };
                const std::byte* const columns[] = {
                    is_near_inside ? column_of(mass) : reinterpret_cast<const std::byte*>(nears.data()),
                    is_near_inside ? reinterpret_cast<const std::byte*>(fars.data()) : column_of(depth)};
                const ComponentValues values[] = {
                    {.component = box, .images = column_of(crate) + sizeof(Crate), .stride = stride},
                    {.component = reach, .columns = columns}};
                ASSERT_EQ(database.add(some, values)->num_added, some.size());
                for (std::uint32_t i = 0; i < some.size(); ++i) {
                    const DatabaseRow at = database.find(some[i]);
                    const float number = stride == 0 ? 1 : float(i + 1);
                    ASSERT_EQ(database.get<&Box::width>(at), number) << i;
                    ASSERT_EQ(database.get<&Box::number>(at), -std::int32_t(number)) << i;
                    ASSERT_EQ(database.get<&Reach::near>(at), is_near_inside ? float(i) : 7) << i;
                    ASSERT_EQ(database.get<&Reach::far>(at), is_near_inside ? 9 : i * 0.5) << i;
                }
                database.destroy(made);
            }
}

TEST_F(Arguments, the_dead_among_the_entities_of_a_call_are_skipped_and_counted) {
    for (const std::size_t count : {5u, 100u}) {
        std::vector<Entity> made(count);
        ASSERT_TRUE(database.create<Mass>(made, 0).ok());
        const std::vector<Entity> dead = {made[1], made[count / 2], made[count - 1]};
        entities.destroy(dead);  // their rows stay until the database settles
        const auto num_living = static_cast<std::uint32_t>(count - dead.size());
        const auto expect = [&](const Result<AddCounts>& counts, std::uint32_t num_added) {
            ASSERT_TRUE(counts.ok()) << counts.message();
            EXPECT_EQ(counts->num_added, num_added);
            EXPECT_EQ(counts->num_set, num_living - num_added);
            EXPECT_EQ(counts->num_skipped, dead.size());
        };
        const std::span<const Entity> all(made);
        for (const bool is_settled : {false, true}) {
            if (is_settled) database.settle({});
            expect(database.add(all, Position{{1, 2, 3}}), is_settled ? 0 : num_living);
            expect(database.add(all, Position{{4, 5, 6}}), 0);
            expect(database.add(all, Disabled<Asleep>{}, Disabled<Hungry>{}), is_settled ? 0 : num_living);
            expect(database.add(all, Hungry{}), num_living);
            expect(database.add(all, Hungry{}), 0);
            expect(database.add(all, Disabled<Hungry>{}), 0);
            EXPECT_FALSE(database.has<Hungry>(made[0]));
            expect(database.add(all, Hungry{}, Asleep{9}), num_living);
            expect(database.add(all, Hungry{}, Disabled<Asleep>{}), 0);
            expect(database.add(all, Hungry{}, Asleep{3}), num_living);
            EXPECT_EQ(database.get<&Asleep::since>(database.find(made[0])), 3u);
            expect(database.add(all, Marked{}, Velocity{}), is_settled ? 0 : num_living);
        }
        EXPECT_EQ(database.num_rows(), num_living);
        EXPECT_EQ(database.add(all, Mass{1})->num_skipped, dead.size());
        database.destroy(made);
    }
}

TEST_F(Arguments, rows_of_those_that_a_callback_destroys_meanwhile_go_at_the_settle) {
    std::vector<Entity> made(60);  // too many for a sweep
    ASSERT_TRUE(database.create<Mass>(made, 4).ok());
    EXPECT_FALSE(*database.move(made[0], 4)) << "it is there";
    EXPECT_EQ(*database.move(made, 4), 0u);
    struct Victims {
        EntityManager& entities;
        std::vector<Entity> left;
    } victims{entities, {made[4], made[5]}};
    const DestructionCallback callback = entities.add_destruction_callback(
        [](void* context, std::span<const Entity>) {
            auto& [all, left] = *static_cast<Victims*>(context);
            if (left.empty()) return;
            const Entity next = left.back();
            left.pop_back();
            all.destroy(next);
        },
        &victims);
    EXPECT_EQ(database.destroy(std::span(made).first(2)), 2u);
    EXPECT_EQ(entities.num_alive(), 56u);
    entities.destroy(made[2]);
    EXPECT_EQ(database.destroy(std::span(made).subspan(2, 2)), 1u) << "one of them has died before";
    entities.remove_destruction_callback(callback);
    database.settle({});
    EXPECT_EQ(database.num_rows(), 54u);
    database.destroy(made);
}

TEST_F(Arguments, newcomers_with_the_highest_indices_come_with_others_that_have_rows) {
    const std::vector<Entity> made = make(70'000);
    ASSERT_TRUE(database.insert(made[0], 0, Mass{}).ok());
    const std::vector<Entity> some = {made[0], made[1], made.back()};
    EXPECT_EQ(database.add(std::span<const Entity>(some), Position{})->num_added, 3u);
    for (const Entity entity : some) EXPECT_TRUE(database.has<Position>(entity));
}

TEST_F(Arguments, component_types_that_are_not_registered_end_the_program) {
    const std::vector<Entity> made = make(3);
    const ComponentType unknown = database.find_component(schema_of<Body>().id());
    ASSERT_FALSE(unknown);
    const ComponentType foreign{77};
    for (const ComponentType component : {unknown, foreign}) {
        const ComponentValues values[] = {{.component = component}};
        EXPECT_DEATH(static_cast<void>(database.add(made, values)), "not registered in this database");
        EXPECT_DEATH(static_cast<void>(database.add({made.data(), 1}, values)), "not registered in this database");
        EXPECT_DEATH(static_cast<void>(database.remove(made, {&component, 1})), "not registered in this database");
        EXPECT_DEATH(static_cast<void>(database.archetype({&component, 1})), "not registered in this database");
        EXPECT_DEATH(static_cast<void>(database.schema(component)), "not registered in this database");
        const Archetype& bare = database.archetype({});
        EXPECT_DEATH(static_cast<void>(database.insert(made, bare, 0, values)), "the archetype lacks");
        EXPECT_FALSE(database.has(made[0], component));
    }
}

TEST_F(Arguments, the_field_of_a_row_that_is_not_there_ends_the_program_and_names_component_and_entity) {
    std::vector<Entity> made(2);
    ASSERT_TRUE((database.create<Mass>(made, 0).ok()));
    database.component<Position>();
    const DatabaseRow row = database.find(made[1]);
    const std::string lacks =
        "entity " + std::to_string(made[1].index()) + " .generation 1. has no \"position\"; ask has";
    EXPECT_DEATH(static_cast<void>(database.get<&Position::value>(row)), lacks);
    EXPECT_DEATH(database.set<&Position::value>(row, {}), lacks);
    EXPECT_DEATH(static_cast<void>(database.get<&Mass::value>({})), "\"mass\" was asked of no row: the entity is dead");
    database.destroy({made.data(), 1});
#if SHOAL_CHECKED
    constexpr const char* kIsGone = "\"mass\" was asked of a row that is older than the last removal or move of rows";
#else
    constexpr const char* kIsGone = "\"mass\" was asked of row 1 of a table with 1: it";
#endif
    EXPECT_DEATH(static_cast<void>(database.get<&Mass::value>(row)), kIsGone);
}

TEST_F(Arguments, a_column_that_a_table_lacks_ends_the_program) {
    std::vector<Entity> made(1);
    ASSERT_TRUE((database.create<Mass>(made, 0).ok()));
    DatabaseTable& table = *database.find(made[0]).table;
    const ComponentType position = database.component<Position>();
    EXPECT_DEATH(static_cast<void>(std::as_const(table).column<&Position::value>(position)), "does not have");
    EXPECT_DEATH(static_cast<void>(table.unmarked_column<&Position::value>(position)), "does not have");
    EXPECT_DEATH(table.mark_written<&Position::value>(position, {0, 1}), "does not have");
}

}  // namespace
}  // namespace shoal_test
