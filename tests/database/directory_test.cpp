// Where the row of each entity is.

#include "shoal/database/detail/directory.h"

#include "shoal/base/random.h"
#include "shoal/entity/entity_manager.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace shoal_test {
namespace {

using namespace shoal;

void put(DatabaseDirectory& directory, Entity entity, std::uint32_t table, std::uint32_t row) {
    directory.rows().set(entity, row);
    directory.set_table(entity.index(), table);
}

// With few tables, and with more than fit into two bytes.
TEST(DatabaseDirectories, find_what_a_map_holds_and_nothing_else) {
    SCOPED_TRACE(seed_text());
    for (const std::uint32_t num_tables : {10u, 100'000u}) {
        Random random(seed());
        DatabaseDirectory directory;
        std::map<std::uint32_t, std::pair<Entity, DatabaseDirectory::Location>> places;  // by entity index
        EXPECT_FALSE(directory.find(make_entity(5, 1)));
        ASSERT_TRUE(directory.reserve(500).ok());
        ASSERT_TRUE(directory.reserve_tables(num_tables).ok());
        for (int step = 0; step < 20'000; ++step) {
            const Entity entity =
                make_entity(std::uint32_t(1 + random.below(2000)), std::uint32_t(1 + random.below(3)));
            const auto table = static_cast<std::uint32_t>(random.below(num_tables));
            const auto row = static_cast<std::uint32_t>(random.below(1000));
            ASSERT_TRUE(directory.reserve(entity.index()).ok());
            put(directory, entity, table, row);
            places[entity.index()] = {entity, {table, row}};
            const Entity other = make_entity(std::uint32_t(1 + random.below(2000)), std::uint32_t(1 + random.below(3)));
            const auto known = places.find(other.index());
            const DatabaseDirectory::Location found = directory.find(other);
            if (known == places.end() || known->second.first != other) {
                ASSERT_FALSE(found);
                continue;
            }
            ASSERT_EQ(found.table, known->second.second.table);
            ASSERT_EQ(found.row, known->second.second.row);
        }
    }
}

TEST(DatabaseDirectories, are_total) {
    DatabaseDirectory directory;
    ASSERT_TRUE(directory.reserve(10).ok());
    EXPECT_FALSE(directory.find(kNullEntity));
    EXPECT_FALSE(directory.find(make_entity(4'000'000, 3)));
    EXPECT_FALSE(directory.find(Entity{static_cast<EntityBits>(~EntityBits(0))}));
}

// A run of consecutive ids, of which one has a row, and the same with two ids swapped.
TEST(DatabaseDirectories, give_rows_to_the_living_at_the_front_that_have_none) {
    for (const std::uint32_t table : {3u, 70'000u})
        for (const bool is_run : {true, false}) {
            EntityManager entities;
            DatabaseDirectory directory;
            std::vector<Entity> batch(1000);
            ASSERT_TRUE(entities.create(batch).ok());
            if (!is_run) std::swap(batch[1], batch[2]);
            ASSERT_TRUE(directory.reserve(2000).ok());
            ASSERT_TRUE(directory.reserve_tables(table + 1).ok());
            put(directory, batch[600], 1, 5);
            EXPECT_EQ(directory.set_leading(batch, entities, table, 7), 600u);
            for (std::uint32_t i = 0; i < 600; ++i) {
                ASSERT_EQ(directory.find(batch[i]).table, table);
                ASSERT_EQ(directory.find(batch[i]).row, 7 + i);
            }
            EXPECT_EQ(directory.find(batch[600]).row, 5u);
            EXPECT_FALSE(directory.find(batch[601]));
            entities.destroy(batch[700]);
            const std::span<const Entity> rest = std::span<const Entity>(batch).subspan(601);
            EXPECT_EQ(directory.set_leading(rest, entities, table, 607), 99u) << "it ends before the dead";
            EXPECT_EQ(directory.set_leading({}, entities, table, 0), 0u);
        }
}

TEST(DatabaseDirectories, short_ways_are_closed_while_rows_are_held_and_with_many_tables) {
    DatabaseDirectory directory;
    const Entity entity = make_entity(5, 1), free = make_entity(6, 1);
    ASSERT_TRUE(directory.reserve(10).ok());
    put(directory, entity, 2, 3);
    EXPECT_TRUE(directory.find_unless_held(entity));
    EXPECT_TRUE(directory.is_free_unless_held(free));
    EXPECT_FALSE(directory.is_free_unless_held(entity));
    directory.hold();
    directory.hold();
    directory.release();
    EXPECT_TRUE(directory.is_held());
    EXPECT_FALSE(directory.find_unless_held(entity));
    EXPECT_FALSE(directory.is_free_unless_held(free));
    EXPECT_TRUE(directory.find(entity)) << "the long way is open";
    directory.release();
    EXPECT_FALSE(directory.is_held());
    EXPECT_TRUE(directory.find_unless_held(entity));
    ASSERT_TRUE(directory.reserve_tables(100'000).ok());
    EXPECT_FALSE(directory.find_unless_held(entity));
    EXPECT_EQ(directory.find(entity).table, 2u);
    EXPECT_DEATH(directory.release(), "rows are released that were not held");
}

}  // namespace
}  // namespace shoal_test
