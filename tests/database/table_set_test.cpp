// The tables of a database, by archetype and zone.

#include "shoal/database/detail/table_set.h"

#include "shoal/base/random.h"
#include "shoal/database/detail/archetype_graph.h"
#include "support/database_fixture.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>
#include <vector>

namespace shoal_test {
namespace {

struct Tables : ::testing::Test {
    Tables() {
        const ComponentType mass = *graph.add_component(schema_of<Mass>());
        const ComponentType position = *graph.add_component(schema_of<Position>());
        types = {&graph.archetype({}), &graph.archetype({&mass, 1}), &graph.archetype({&position, 1}),
                 &graph.archetype(std::array{mass, position})};
    }
    void TearDown() override { EXPECT_EQ(tables.validate().message(), ""); }

    /// Gives a table one row more, or one less.
    void change_rows(DatabaseTable& table, bool adds) {
        if (adds) {
            const Entity entity = make_entity(next_index++, 1);
            ASSERT_TRUE(directory.reserve(entity.index()).ok());
            ASSERT_TRUE(table.table().reserve(1).ok());
            directory.rows().set(entity, table.table().append({&entity, 1}));
            directory.set_table(entity.index(), table.number());
        } else {
            table.table().remove(table.num_rows() - 1);
        }
        tables.note_rows(table);
    }
    std::set<const DatabaseTable*> of_zone(Zone zone) const {
        std::set<const DatabaseTable*> result;
        tables.for_each_of_zone(zone, [&](const DatabaseTable& table) { EXPECT_TRUE(result.insert(&table).second); });
        return result;
    }

    LeakCheck leaks;
    PagePool pool;
    ArchetypeGraph graph;
    DatabaseDirectory directory;
    TableSet tables{pool, directory, 1000};
    std::vector<const Archetype*> types;
    std::uint32_t next_index = 1;
};

TEST_F(Tables, there_is_one_for_an_archetype_in_a_zone) {
    EXPECT_EQ(tables.find(*types[1], 7), nullptr);
    DatabaseTable& table = **tables.find_or_make(*types[1], 7);
    EXPECT_EQ(*tables.find_or_make(*types[1], 7), &table);
    EXPECT_EQ(tables.find(*types[1], 7), &table);
    EXPECT_EQ(&tables[table.number()], &table);
    EXPECT_EQ(tables.find(*types[2], 7), nullptr);
    EXPECT_EQ(tables.find(*types[1], 8), nullptr);
    EXPECT_EQ(of_zone(7), std::set<const DatabaseTable*>{&table});
    EXPECT_TRUE(of_zone(8).empty());
    EXPECT_DEATH(static_cast<void>(tables.find_or_make(*types[1], kMaxZones)), "zones are 0 to kMaxZones - 1");
}

TEST_F(Tables, a_table_that_stays_empty_goes_and_its_number_is_used_again) {
    DatabaseTable& kept = **tables.find_or_make(*types[1], 1);
    change_rows(kept, true);
    const std::uint32_t number = (*tables.find_or_make(*types[2], 1))->number();
    const std::uint64_t epoch = tables.epoch();
    int num_settles = 1;
    while (!tables.settle_memory()) ASSERT_LT(++num_settles, 100);
    EXPECT_GT(num_settles, 8) << "not at once";
    EXPECT_GT(tables.epoch(), epoch);
    EXPECT_EQ(tables.by_number()[number], nullptr);
    EXPECT_EQ(tables.list().size(), 1u);
    EXPECT_EQ(of_zone(1), std::set<const DatabaseTable*>{&kept});
    const std::uint64_t later = tables.epoch();
    EXPECT_EQ((*tables.find_or_make(*types[3], 2))->number(), number);
    EXPECT_GT(tables.epoch(), later) << "whoever has kept the number must look again";
    for (num_settles = 1; !tables.settle_memory(); ++num_settles) ASSERT_LT(num_settles, 100);
    EXPECT_GT(num_settles, 8) << "how long the table before was empty does not count";
    change_rows(kept, false);
}

TEST_F(Tables, a_table_that_is_empty_now_and_then_stays) {
    DatabaseTable& table = **tables.find_or_make(*types[1], 1);
    for (int change = 0; change < 100; ++change) {
        change_rows(table, change % 2 == 0);
        for (int settle = 0; settle < 5; ++settle) EXPECT_FALSE(tables.settle_memory()) << change;
    }
    EXPECT_EQ(tables.find(*types[1], 1), &table);
}

TEST_F(Tables, are_what_a_map_says_after_every_change) {
    SCOPED_TRACE(seed_text());
    Random random(seed());
    std::map<std::pair<Zone, const Archetype*>, DatabaseTable*> known;
    for (int step = 0; step < 4000; ++step) {
        const auto zone = static_cast<Zone>(random.below(5));
        const Archetype* const type = types[random.below(4)];
        const std::uint64_t epoch = tables.epoch();
        if (random.below(3) != 0) {
            const std::size_t num_before = tables.by_number().size();
            DatabaseTable* const table = *tables.find_or_make(*type, zone);
            if (known.insert({{zone, type}, table}).second) {
                EXPECT_EQ(tables.by_number().size() == num_before, tables.epoch() != epoch);
            }
            ASSERT_EQ((known[{zone, type}]), table);
            if (const bool adds = random.below(3) == 0; adds || table->num_rows() != 0) change_rows(*table, adds);
        } else if (tables.settle_memory()) {
            EXPECT_NE(tables.epoch(), epoch);
            std::erase_if(known, [&](const auto& entry) {
                return tables.find(*entry.first.second, entry.first.first) == nullptr;
            });
        }
        ASSERT_EQ(tables.list().size(), known.size());
        std::size_t num_tables = 0;
        for (Zone each = 0; each < 5; ++each) num_tables += of_zone(each).size();
        ASSERT_EQ(num_tables, known.size());
        for (const auto& [place, table] : known) {
            ASSERT_EQ(tables.find(*place.second, place.first), table);
            ASSERT_EQ(test_bit(tables.occupied().data(), table->number()), table->num_rows() != 0);
        }
    }
    EXPECT_GT(tables.epoch(), 10u) << "tables have gone, or the test shows little";
}

}  // namespace
}  // namespace shoal_test
