// What a database costs, and what it gives back.

#include "support/address_space.h"
#include "support/database_testing.h"

#include <gtest/gtest.h>
#include <vector>

namespace shoal_test {
namespace {

/// Bytes that tables, directory, shared slabs and bookkeeping of a database take.
std::size_t committed_bytes(const Database& database, const PagePool& pool, std::size_t bookkeeping_before) {
    std::vector<StoreStatistics> statistics(database.schemas().size());
    database.statistics(statistics);
    std::size_t in_tables = 0, in_slabs = 0, result = bookkeeping_bytes() - bookkeeping_before;
    for (const StoreStatistics& one : statistics) result += one.index.committed_bytes;
    for (const Table* table : database.tables())
        (table->in_slab() ? in_slabs : in_tables) += table->memory_use().committed_bytes;
    EXPECT_LE(in_slabs, pool.statistics().slab_committed_bytes);
    return result + in_tables + pool.statistics().slab_committed_bytes + pool.statistics().kept_bytes;
}

/// Component types with one column of four bytes each, made at run time.
std::vector<ComponentType> make_components(Database& database, int count) {
    std::vector<ComponentType> result;
    for (int i = 0; i < count; ++i) {
        ComponentDefinition definition{.name = "part_" + std::to_string(i)};
        definition.fields.push_back({.name = "value", .type = FieldType::kFloat});
        result.push_back(*database.add_component(*Schema::make(definition)));
    }
    return result;
}

TEST(DatabaseMemory, what_room_was_made_for_needs_no_more_memory) {
    EntityManager entities;
    PagePool pool;
    Database database(entities, pool, {.capacity_rows = 100'000});
    ASSERT_TRUE((database.reserve<Position, Mass>(50'000, 3)));
    ASSERT_EQ(database.tables().size(), 1u);
    const std::uint64_t placement = database.tables()[0]->placement();
    std::vector<Entity> made(50'000);
    ASSERT_TRUE((database.create<Position, Mass>(made, 3)));
    ASSERT_EQ(database.tables().size(), 1u);
    EXPECT_EQ(database.tables()[0]->placement(), placement) << "no column has moved";
    EXPECT_FALSE((database.reserve<Position, Mass>(60'000, 3)));
    EXPECT_TRUE(database.reserve<Mass>(10)) << "in the first zone";
}

/// In a process with little address space: adds values until it fails, and returns 0 if nothing had changed then.
int add_values_until_memory_is_short() {
    EntityManager entities;
    PagePool pool;
    Database database(entities, pool);
    std::vector<Entity> made(20'000);
    if (!entities.create(made)) return 2;
    std::uint32_t num_values = 0;
    for (;;) {
        const std::uint64_t changes = database.num_structural_changes();
        const Result<AddCounts> counts = database.add(made, Tally{.number = num_values});
        if (!counts && database.num_structural_changes() != changes) return 3;
        if (!counts) break;
        ++num_values;
    }
    if (num_values < 2 || !database.validate()) return 4;
    for (const Entity entity : made) {
        if (database.num_values<Tally>(entity) != num_values) return 5;
        if (database.get_value<&Tally::number>(entity, 0) != num_values - 1) return 6;
    }
    // What goes makes room for what comes.
    for (const Entity entity : made)
        if (!*database.remove_value<Tally>(entity, 1)) return 7;
    if (!database.add(std::span(made).first(1000), Tally{})) return 8;
    return database.validate().ok() ? 0 : 9;
}

TEST(DatabaseMemory, without_address_space_no_entity_gets_another_value) {
    if (kSanitized) GTEST_SKIP() << "sanitizers need the whole address space";
    if (sizeof(EntityBits) == 8) GTEST_SKIP() << "wide ids reserve more";
    EXPECT_EQ(with_address_space(std::size_t(100) << 20, add_values_until_memory_is_short), 0);
}

// req: F3
TEST(DatabaseMemory, thousands_of_tables_with_a_row_each_are_small) {
    const std::size_t before = bookkeeping_bytes();
    EntityManager entities;
    PagePool pool;
    Database database(entities, pool);
    const std::vector<ComponentType> parts = make_components(database, 10);
    const Archetype* types[3];
    for (std::size_t i = 0; i < 3; ++i)
        types[i] = &database.archetype(std::span<const ComponentType>(parts).subspan(i, 8));
    for (Zone zone = 0; zone < 577; ++zone)
        for (const Archetype* type : types) {
            Entity out;
            ASSERT_TRUE(database.create({&out, 1}, *type, zone).ok());
        }
    EXPECT_EQ(database.tables().size(), 577u * 3);
    EXPECT_EQ(database.num_rows(), 577u * 3);
    EXPECT_TRUE(database.validate().ok());
    EXPECT_LE(committed_bytes(database, pool, before), std::size_t(12) << 20);
}

// req: E14
TEST(DatabaseMemory, ten_thousand_archetypes_are_all_found_again) {
    EntityManager entities;
    PagePool pool;
    Database database(entities, pool);
    const std::vector<ComponentType> parts = make_components(database, 14);
    std::vector<Entity> made;
    for (std::uint32_t mask = 0; mask < 10'000; ++mask) {
        std::vector<ComponentType> chosen;
        for (std::uint32_t bit = 0; bit < 14; ++bit)
            if (mask >> bit & 1) chosen.push_back(parts[bit]);
        Entity out;
        ASSERT_TRUE(database.create({&out, 1}, database.archetype(chosen), mask % 7).ok());
        made.push_back(out);
    }
    EXPECT_EQ(database.archetypes().size(), 10'000u);
    const ComponentType first[] = {parts[0]};
    EXPECT_EQ(*database.remove(made, first), 5000u);
    for (std::uint32_t mask = 0; mask < 10'000; ++mask)
        for (std::uint32_t bit = 0; bit < 14; ++bit)
            ASSERT_EQ(database.has(made[mask], parts[bit]), bit != 0 && (mask >> bit & 1) != 0) << mask;
    EXPECT_TRUE(database.validate().ok());
    DatabaseMatch match(database, {&parts[3], 1}, {&parts[4], 1});
    std::uint32_t expected = 0;
    for (std::uint32_t mask = 0; mask < 10'000; ++mask) expected += (mask >> 3 & 1) == 1 && (mask >> 4 & 1) == 0;
    EXPECT_EQ(match.num_rows(), expected);
}

TEST(DatabaseMemory, more_than_65536_tables_are_possible) {
    EntityManager entities;
    PagePool pool;
    Database database(entities, pool);
    std::vector<Entity> made(70'000);
    for (Zone zone = 0; zone < 70'000; ++zone) {
        const Mass mass{float(zone)};
        ASSERT_TRUE((database.create<Mass>({&made[zone], 1}, zone, mass).ok()));
    }
    for (Zone zone = 0; zone < 70'000; ++zone) {
        const DatabaseRow row = database.find(made[zone]);
        ASSERT_TRUE(row);
        ASSERT_EQ(row.table->zone(), zone);
        ASSERT_EQ(database.get<&Mass::value>(row), float(zone));
    }
    EXPECT_TRUE(*database.move(made[69'999], 3));
    EXPECT_EQ(database.num_rows(3), 2u);
    EXPECT_EQ(database.destroy(made), 70'000u);
    EXPECT_EQ(database.num_rows(), 0u);
}

TEST(DatabaseMemory, an_entity_of_28_bytes_costs_at_most_42) {
    constexpr std::uint32_t kCount = 1'000'000;
    const std::size_t before = bookkeeping_bytes();
    EntityManager entities;
    PagePool pool;
    Database database(entities, pool);
    std::vector<Entity> made(kCount);
    ASSERT_TRUE((database.create<Position, Velocity, Mass>(made, 0).ok()));
    const std::size_t bytes = committed_bytes(database, pool, before) + entities.memory_use().committed_bytes;
    // A wide id is that much longer in its row, in the index, and in the list of generations.
    constexpr double kWider = 3.0 * (sizeof(Entity) - sizeof(std::uint32_t));
    EXPECT_LE(double(bytes) / kCount, 42.0 + kWider);
}

TEST(DatabaseMemory, memory_goes_back_after_a_burst) {
    EntityManager entities;
    PagePool pool;
    Database database(entities, pool);
    std::vector<Entity> few(100), many(200'000);
    ASSERT_TRUE((database.create<Position, Velocity, Mass>(few, 0).ok()));
    const std::size_t quiet = bookkeeping_bytes();
    ASSERT_TRUE((database.create<Position, Velocity, Mass, Asleep>(many, 1).ok()));
    ASSERT_TRUE(database.add(std::span<const Entity>(many).first(100'000), Title{}).ok());
    for (Zone zone = 0; zone < 100; ++zone) ASSERT_TRUE(*database.move(many[zone], zone + 100));
    database.destroy(many);
    Settler settler;
    for (int i = 0; i < 60; ++i) {
        settler.settle(database);
        pool.trim();
    }
    std::size_t committed = pool.statistics().slab_committed_bytes + pool.statistics().kept_bytes;
    for (const Table* table : database.tables()) committed += table->memory_use().committed_bytes;
    EXPECT_LE(committed, std::size_t(1) << 20);
    EXPECT_EQ(database.tables().size(), 1u) << "tables that stay empty go";
    EXPECT_LE(bookkeeping_bytes(), quiet + (std::size_t(64) << 10));
    EXPECT_TRUE(database.validate().ok());
    ASSERT_TRUE((database.create<Position, Velocity, Mass, Asleep>(many, 1).ok()));
    EXPECT_TRUE(database.validate().ok());
}

TEST(DatabaseMemory, statistics_tell_of_every_component_type) {
    EntityManager entities;
    PagePool pool;
    Database database(entities, pool);
    std::vector<Entity> light(300), heavy(200);
    ASSERT_TRUE((database.create<Position>(light, 0).ok()));
    ASSERT_TRUE((database.create<Position, Mass, Asleep>(heavy, 1).ok()));
    entities.destroy(std::span<const Entity>(heavy).first(50));
    std::vector<StoreStatistics> statistics(database.schemas().size());
    ASSERT_EQ(database.statistics(statistics), 3u);
    EXPECT_EQ(statistics[0].component, "position");
    EXPECT_EQ(statistics[0].num_rows, 500u);
    EXPECT_EQ(statistics[0].num_dead_rows, 50u);
    EXPECT_EQ(statistics[1].num_rows, 200u);
    std::size_t used = 0, of_tables = 0;
    for (const StoreStatistics& one : statistics) used += one.rows.used_bytes;
    for (const Table* table : database.tables()) of_tables += table->memory_use().used_bytes;
    EXPECT_NEAR(double(used), double(of_tables + 25), 6) << "all bytes, those of bits included, are told of once";
    EXPECT_GE(statistics[0].index.used_bytes, statistics[1].index.used_bytes);
    EXPECT_GT(statistics[1].index.used_bytes, 0u);
}

}  // namespace
}  // namespace shoal_test
