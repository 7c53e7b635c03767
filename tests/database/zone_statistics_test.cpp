// What a database holds per zone adds up to what it holds.

#include "shoal/database/detail/zone_statistics.h"

#include "support/database_testing.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace shoal_test {
namespace {

struct ZoneLedger : ::testing::Test, DatabaseFixture {};

TEST_F(ZoneLedger, rows_are_told_by_zone_and_component_type) {
    ASSERT_TRUE(database.insert<Position>(make(10), 7, std::vector<Position>(10)));
    ASSERT_TRUE(database.insert(make(5)[0], 7, Position{}, Mass{}));
    ASSERT_TRUE(database.insert(make(1)[0], 3, Mass{}, Asleep{}));
    const Array<ZoneStatistics> entries = zone_statistics(database);
    ASSERT_EQ(entries.size(), 4u);
    const auto expect = [&](std::size_t i, Zone zone, std::string_view component, std::uint64_t num_rows) {
        EXPECT_EQ(entries[i].zone, zone);
        EXPECT_EQ(entries[i].held.component, component);
        EXPECT_EQ(entries[i].held.num_rows, num_rows);
        EXPECT_GE(entries[i].held.rows.used_bytes, num_rows * database.schema(entries[i].component).row_bytes());
        EXPECT_LE(entries[i].held.rows.used_bytes, entries[i].held.rows.committed_bytes);
    };
    expect(0, 3, "mass", 1);
    expect(1, 3, "asleep", 1);
    expect(2, 7, "position", 11);
    expect(3, 7, "mass", 1);
}

TEST_F(ZoneLedger, an_empty_database_has_no_zones) { EXPECT_TRUE(zone_statistics(database).empty()); }

// Over all zones it is what the database says, to the byte, whatever is in them.
TEST_F(ZoneLedger, the_zones_add_up_to_the_whole) {
    SCOPED_TRACE(seed_text());
    Random random(seed());
    std::vector<Entity> made;
    database.component<Tally>();  // of which there are several: the first type, and one that is not
    for (std::int64_t step = 0; step < scaled_operations(3000); ++step) {
        const Entity entity = create(entities, 1)[0];
        made.push_back(entity);
        const auto zone = static_cast<Zone>(random.below(40));
        ASSERT_TRUE(database.insert(entity, zone, Mass{}));
        EXPECT_TRUE(random.below(2) == 0 || database.add(entity, Position{}));
        EXPECT_TRUE(random.below(3) == 0 || database.add(entity, Body{}));
        EXPECT_TRUE(random.below(3) == 0 || database.add(entity, Asleep{}));
        EXPECT_TRUE(random.below(4) == 0 || database.add(entity, Marked{}));
        for (std::uint32_t i = random.below(4); i > 0; --i) ASSERT_TRUE(database.add(entity, Tally{}));
        for (std::uint32_t i = random.below(3); i > 0; --i) ASSERT_TRUE(database.add(entity, Page{}));
        const Entity mover = made[random.below(made.size())];
        EXPECT_TRUE(random.below(8) != 0 || database.move(mover, static_cast<Zone>(random.below(40))));
        if (random.below(8) == 0) entities.destroy(made[random.below(made.size())]);  // dead in its row
        if (random.below(100) == 0) database.clear_zone(static_cast<Zone>(random.below(40)));
        if (random.below(200) == 0) database.settle({});
        if (step % 50 != 0) continue;
        std::vector<StoreStatistics> expected(database.statistics({})), sums(expected.size());
        database.statistics(expected);
        const Array<ZoneStatistics> entries = zone_statistics(database);
        for (std::size_t i = 0; i < entries.size(); ++i) {
            const ZoneStatistics& entry = entries[i];
            ASSERT_TRUE(
                i == 0 || entries[i - 1].zone < entry.zone ||
                (entries[i - 1].zone == entry.zone && entries[i - 1].component.number < entry.component.number));
            StoreStatistics& sum = sums[entry.component.number];
            sum.num_rows += entry.held.num_rows;
            sum.num_dead_rows += entry.held.num_dead_rows;
            sum.rows += entry.held.rows;
            sum.index += entry.held.index;
        }
        for (std::size_t i = 0; i < sums.size(); ++i) {
            ASSERT_EQ(sums[i].num_rows, expected[i].num_rows);
            ASSERT_EQ(sums[i].num_dead_rows, expected[i].num_dead_rows);
            ASSERT_EQ(sums[i].rows.used_bytes, expected[i].rows.used_bytes);
            ASSERT_EQ(sums[i].rows.committed_bytes, expected[i].rows.committed_bytes);
            ASSERT_EQ(sums[i].rows.reserved_bytes, expected[i].rows.reserved_bytes);
            ASSERT_EQ(sums[i].index.used_bytes, expected[i].index.used_bytes);
            ASSERT_EQ(sums[i].index.committed_bytes, expected[i].index.committed_bytes);
            ASSERT_EQ(sums[i].index.reserved_bytes, expected[i].index.reserved_bytes);
        }
    }
}

}  // namespace
}  // namespace shoal_test
