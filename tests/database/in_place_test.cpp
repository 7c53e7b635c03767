// Rows that are made in one call, with values of their own and components that are disabled: from spans, or filled where
// they are.

#include "support/database_testing.h"

#include <gtest/gtest.h>
#include <stdexcept>
#include <vector>

namespace shoal_test {
namespace {

struct InPlace : ::testing::Test, DatabaseFixture {
    void TearDown() override { EXPECT_EQ(database.validate().message(), ""); }
};

TEST_F(InPlace, values_of_their_own_come_with_disabled_components) {
    std::vector<Entity> made(100), inserted = make(100);
    std::vector<Mass> masses(100);
    std::vector<Asleep> naps(100);
    for (std::size_t i = 0; i < 100; ++i) masses[i].value = float(i), naps[i].since = std::uint32_t(i);
    ASSERT_TRUE((database.create<Mass, Disabled<Asleep>>(made, 3, masses, naps).ok()));
    ASSERT_EQ((database.insert<Disabled<Asleep>, Mass>(inserted, naps, masses)->num_added), 100u);
    for (const std::vector<Entity>& entities_of : {made, inserted})
        for (std::size_t i = 0; i < 100; ++i) {
            const DatabaseRow row = database.find(entities_of[i]);
            EXPECT_FALSE(database.has<Asleep>(entities_of[i]));
            EXPECT_EQ(database.get<&Asleep::since>(row), i) << "waits in the row";
            EXPECT_EQ(database.get<&Mass::value>(row), float(i));
        }
    EXPECT_EQ(database.find(made[0]).table->zone(), 3u);
}

TEST_F(InPlace, every_layout_of_columns_is_written_where_it_is) {
    std::vector<Entity> made(77);
    std::size_t num_calls = 0;
    const auto fill = [&](const NewRows& rows) {
        ++num_calls;
        ASSERT_EQ(rows.size(), made.size());
        EXPECT_EQ(rows.first(), 0u);
        const Column position = rows.column<&Position::value>();
        const Column velocity = rows.column<&Velocity::value>();  // split
        const Column kind = rows.column<&Body::kind>();           // in a struct kept whole
        const Column text = rows.column<&Title::text>();          // only C++ knows it
        const Column since = rows.column<all_fields<Asleep>>();
        for (std::size_t i = 0; i < rows.size(); ++i) {
            EXPECT_EQ(rows.entities()[i], made[i]);
            position[i] = {float(i), 0, 1};
            velocity[i] = {1, float(i), 2};
            kind[i] = std::uint8_t(i);
            text[i] = std::to_string(i);
            since[i] = Asleep{std::uint32_t(i)};
        }
    };
    ASSERT_TRUE((database.create_in_place<Position, Velocity, Body, Title, Disabled<Asleep>, Hungry>(made, 5, fill)));
    EXPECT_EQ(num_calls, 1u);
    for (std::size_t i = 0; i < made.size(); ++i) {
        const DatabaseRow row = database.find(made[i]);
        EXPECT_EQ(row.table->zone(), 5u);
        EXPECT_EQ(database.get<&Position::value>(row), (Vec3{float(i), 0, 1}));
        EXPECT_EQ(database.get<&Velocity::value>(row), (Vec3{1, float(i), 2}));
        EXPECT_EQ(database.get<&Body::kind>(row), i);
        EXPECT_EQ(database.get<&Body::energy>(row), 3) << "nobody wrote it";
        EXPECT_EQ(database.get<&Title::text>(row), std::to_string(i));
        EXPECT_EQ(database.get<&Title::number>(row), 4u) << "nobody wrote it";
        EXPECT_EQ(database.get<&Asleep::since>(row), i);
        EXPECT_FALSE(database.has<Asleep>(made[i]));
        EXPECT_TRUE(database.has<Hungry>(made[i]));
    }
}

TEST_F(InPlace, rows_that_are_not_filled_have_defaults_in_memory_that_was_used_before) {
    std::vector<Entity> made(500);
    const auto fill = [](const NewRows& rows) {
        for (std::size_t i = 0; i < rows.size(); ++i) {
            rows.column<&Mass::value>()[i] = 99;
            rows.column<&Asleep::since>()[i] = 99;
        }
    };
    ASSERT_TRUE((database.create_in_place<Mass, Disabled<Asleep>>(made, fill)));
    database.destroy(made);
    ASSERT_TRUE((database.create_in_place<Mass, Asleep>(made, [](const NewRows& rows) {
        for (std::size_t i = 0; i < rows.size(); i += 2) rows.column<&Mass::value>()[i] = float(i);
    })));
    for (std::size_t i = 0; i < made.size(); ++i) {
        EXPECT_EQ(database.get<&Mass::value>(database.find(made[i])), i % 2 == 0 ? float(i) : 5);
        EXPECT_EQ(database.get<&Asleep::since>(database.find(made[i])), 7u);
        EXPECT_TRUE(database.has<Asleep>(made[i]));
    }
}

// Entities die elsewhere, and their rows wait for the next settle: those of new entities on their indices do not follow
// each other.
TEST_F(InPlace, each_run_of_rows_is_filled_and_says_whose_it_is) {
    EntityManager few({.minimum_free_ids = 1, .max_entities = 64});
    Database sea(few, pool);
    std::vector<Entity> old(40), made(40);
    ASSERT_TRUE(sea.create<Mass>(old, 0));
    for (std::size_t i = 0; i < 40; i += 3) few.destroy(old[i]);
    std::vector<Entity> others(10);
    ASSERT_TRUE(few.create(others));
    std::vector<bool> is_filled(40, false);
    for (std::size_t i = 1; i < 40; i += 3) few.destroy(old[i]);
    made.resize(30);
    const auto fill = [&](const NewRows& rows) {
        const Column mass = rows.column<&Mass::value>();
        for (std::size_t i = 0; i < rows.size(); ++i) {
            EXPECT_EQ(rows.entities()[i], made[rows.first() + i]);
            EXPECT_FALSE(is_filled[rows.first() + i]);
            is_filled[rows.first() + i] = true;
            mass[i] = float(rows.first() + i);
        }
    };
    ASSERT_TRUE(sea.create_in_place<Mass>(made, fill));
    for (std::size_t i = 0; i < made.size(); ++i) {
        EXPECT_TRUE(is_filled[i]);
        EXPECT_EQ(sea.get<&Mass::value>(sea.find(made[i])), float(i));
    }
    EXPECT_EQ(sea.validate().message(), "");
}

TEST_F(InPlace, what_cannot_be_made_is_not_filled) {
    Database full(entities, pool, {.capacity_rows = 3});
    std::vector<Entity> made(4), none;
    bool is_called = false;
    const auto fill = [&](const NewRows&) { is_called = true; };
    EXPECT_FALSE(full.create_in_place<Mass>(made, fill));
    EXPECT_TRUE(full.create_in_place<Mass>(none, fill)) << "of none there are no rows";
    EXPECT_FALSE(is_called);
    for (const Entity entity : made) EXPECT_EQ(entity, kNullEntity);
}

TEST_F(InPlace, while_rows_are_filled_they_stay_where_they_are) {
    std::vector<Entity> made(3);
    database.component<Asleep>();
    EXPECT_DEATH(static_cast<void>(database.create_in_place<Mass>(
                     made, [&](const NewRows&) { static_cast<void>(database.add(made[0], Asleep{})); })),
                 "while a loop ran over its rows");
    EXPECT_DEATH(
        static_cast<void>(
            database.create_in_place<Mass>(made, [](const NewRows& rows) { rows.column<&Position::value>()[0] = {}; })),
        "a column of \"position\" was asked of new rows that have \"mass\"; name the component type in the call");
    EXPECT_THROW(static_cast<void>(database.create_in_place<Mass>(
                     made, [](const NewRows&) { throw std::runtime_error("no values"); })),
                 std::runtime_error);
    EXPECT_TRUE(database.has<Mass>(made[2])) << "it was made, and has defaults";
    EXPECT_EQ(database.add(made[0], Asleep{})->num_added, 1u) << "and rows may move again";
}

TEST_F(InPlace, a_manager_fills_the_rows_of_those_that_live) {
    Manager<Body> bodies(entities, pool);
    std::vector<Entity> owners = make(50);
    ASSERT_TRUE(bodies.add(owners[7], Body{.energy = 1, .kind = 9}));
    entities.destroy(owners[20]);
    std::vector<int> num_filled(50, 0);
    const Result<AddCounts> counts = bodies.add_in_place(owners, [&](const NewRows& rows) {
        const Column energy = rows.column<&Body::energy>();
        for (std::size_t i = 0; i < rows.size(); ++i) {
            EXPECT_EQ(rows.entities()[i], owners[rows.first() + i]);
            ++num_filled[rows.first() + i];
            energy[i] = double(rows.first() + i);
        }
    });
    ASSERT_TRUE(counts);
    EXPECT_EQ(counts->num_added, 48u);
    EXPECT_EQ(counts->num_set, 1u);
    EXPECT_EQ(counts->num_skipped, 1u);
    for (std::size_t i = 0; i < 50; ++i) {
        EXPECT_EQ(num_filled[i], i == 20 ? 0 : 1);
        if (i == 20) continue;
        EXPECT_EQ(bodies.get<&Body::energy>(bodies.instance(owners[i])), double(i));
        EXPECT_EQ(bodies.get<&Body::kind>(bodies.instance(owners[i])), 1) << "nobody wrote it";
    }
    EXPECT_DEATH(static_cast<void>(bodies.add_in_place(owners, [&](const NewRows&) { bodies.remove(owners[0]); })),
                 "while a loop ran over its rows");
    const Result<AddCounts> again = bodies.add_in_place(bodies.entities(), [](const NewRows& rows) {
        for (double& energy : rows.column<&Body::energy>()) energy = 2;
    });
    EXPECT_EQ(again->num_set, 49u) << "the list of the owners may be given";
    EXPECT_EQ(bodies.get<&Body::energy>(bodies.instance(owners[7])), 2);
}

}  // namespace
}  // namespace shoal_test
