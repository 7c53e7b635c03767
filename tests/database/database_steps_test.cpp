// Calls for one entity remember the way that the last one took, with the addresses of all columns. What happens when
// that way is gone.

#include "support/database_testing.h"

#include <gtest/gtest.h>
#include <vector>

namespace shoal_test {
namespace {

struct Fish {
    double length = 0;
};
SHOAL_COMPONENT(Fish, length)

struct Steps : ::testing::Test, DatabaseFixture {
    void TearDown() override { EXPECT_EQ(database.validate().message(), ""); }

    std::vector<Entity> create_fish(std::size_t count) {
        std::vector<Entity> out(count);
        std::vector<Fish> fish(count);
        std::vector<Position> positions(count);
        for (std::size_t i = 0; i < count; ++i) fish[i] = {double(i)}, positions[i] = {{float(i), 1, 2}};
        EXPECT_TRUE((database.create<Fish, Position>(out, 0, fish, positions).ok()));
        return out;
    }
    void expect_fish(std::span<const Entity> made) const {
        for (std::size_t i = 0; i < made.size(); ++i) {
            const DatabaseRow row = database.find(made[i]);
            ASSERT_TRUE(row);
            ASSERT_EQ(database.get<&Fish::length>(row), double(i));
            ASSERT_EQ(database.get<&Position::value>(row), (Vec3{float(i), 1, 2}));
        }
    }
    void expect_masses(std::span<const Entity> made) const {
        for (std::size_t i = 0; i < made.size(); ++i)
            ASSERT_EQ(database.get<&Mass::value>(database.find(made[i])), float(i));
    }
    void settle() { database.settle({.stamp = ++stamp_}); }

    std::uint64_t stamp_ = 0;
};

// The target grows out of its slab into a range of its own, several blocks later; the source shrinks to nothing.
TEST_F(Steps, tables_that_come_to_lie_elsewhere_on_the_way_get_every_row_whole) {
    const std::vector<Entity> made = create_fish(30'000);
    for (int round = 0; round < 2; ++round) {
        for (std::size_t i = 0; i < made.size(); ++i) ASSERT_EQ(database.add(made[i], Mass{float(i)})->num_added, 1u);
        expect_fish(made);
        expect_masses(made);
        EXPECT_EQ(database.validate().message(), "");
        for (const Entity entity : made) ASSERT_TRUE(*database.remove<Mass>(entity));
        expect_fish(made);
        EXPECT_EQ(database.validate().message(), "");
    }
}

TEST_F(Steps, tables_that_gave_their_memory_back_are_not_written_to_where_they_were) {
    std::vector<Entity> made = create_fish(5'000);
    for (int round = 0; round < 3; ++round) {
        for (std::size_t i = 0; i < made.size(); ++i) ASSERT_EQ(database.add(made[i], Mass{float(i)})->num_added, 1u);
        for (std::size_t i = 0; i < made.size(); ++i) ASSERT_TRUE(*database.remove<Mass>(made[i]));
        for (int i = 0; i < 400; ++i) settle();  // the empty table goes
        expect_fish(made);
        database.destroy(made);
        for (int i = 0; i < 400; ++i) settle();
        made = create_fish(5'000);
    }
    expect_fish(made);
}

TEST_F(Steps, an_entity_that_is_made_when_its_table_has_gone_lies_in_a_new_one) {
    for (int round = 0; round < 3; ++round) {
        const Entity first = *database.create(Fish{1}, Position{}), second = *database.create(Fish{2}, Position{});
        EXPECT_EQ(database.num_rows(), 2u);
        EXPECT_EQ(database.get<&Fish::length>(database.find(second)), 2);
        ASSERT_TRUE(database.destroy(first) && database.destroy(second));
        for (int i = 0; i < 40; ++i) settle();  // empty tables go
        EXPECT_TRUE(database.tables().empty());
    }
}

TEST_F(Steps, the_dead_gain_nothing_while_their_rows_wait) {
    const std::vector<Entity> made = create_fish(10);
    std::vector<Entity> sleepers(2);
    ASSERT_TRUE((database.create<Asleep>(sleepers, 0).ok()));
    for (std::size_t i = 0; i < 4; ++i) ASSERT_EQ(database.add(made[i], Mass{1})->num_added, 1u);
    for (const Entity entity : sleepers) ASSERT_TRUE(*database.remove<Asleep>(entity));
    entities.destroy(made[5]);
    entities.destroy(sleepers[1]);
    EXPECT_EQ(database.add(made[5], Mass{1})->num_skipped, 1u);
    EXPECT_EQ(database.add(sleepers[1], Asleep{})->num_skipped, 1u);
    EXPECT_EQ(database.add(made[6], Mass{1})->num_added, 1u) << "others do";
    EXPECT_EQ(database.add(sleepers[0], Asleep{})->num_added, 1u);
    settle();
    EXPECT_FALSE(database.has_row(made[5]));
    EXPECT_EQ(database.add(made[7], Mass{1})->num_added, 1u);
}

TEST_F(Steps, short_ways_are_closed_while_a_loop_runs) {
    const std::vector<Entity> made = create_fish(10);
    std::vector<Entity> sleepers(2);
    ASSERT_TRUE((database.create<Asleep>(sleepers, 0).ok()));
    for (std::size_t i = 0; i < 4; ++i) ASSERT_EQ(database.add(made[i], Mass{1})->num_added, 1u);
    ASSERT_TRUE(*database.remove<Mass>(made[0]));
    ASSERT_TRUE(*database.remove<Mass>(made[1]));
    ASSERT_TRUE(*database.remove<Asleep>(sleepers[0]));
    const Entity fresh = make(1).front();
    {
        const DatabaseLock lock(database), another(database);
        EXPECT_DEATH(static_cast<void>(database.add(made[5], Mass{1})), "while a loop ran over its rows");
        EXPECT_DEATH(static_cast<void>(database.remove<Mass>(made[2])), "while a loop ran over its rows");
        EXPECT_DEATH(static_cast<void>(database.remove<Asleep>(sleepers[1])), "while a loop ran over its rows");
        EXPECT_DEATH(static_cast<void>(database.insert(fresh, 0, Fish{}, Position{})),
                     "while a loop ran over its rows");
    }
    EXPECT_EQ(database.add(made[5], Mass{1})->num_added, 1u) << "and open again";
}

// --- beside enableable component types ----------------------------------------------------------------------------

struct Drowsy : Steps {
    /// Fish of which some sleep, and some are hungry.
    std::vector<Entity> create_drowsy(std::size_t count) {
        std::vector<Entity> out = create_fish(count);
        EXPECT_TRUE(database.add(out, Asleep{}, Hungry{}).ok());
        for (std::size_t i = 0; i < count; ++i) {
            if (i % 3 != 0) EXPECT_TRUE(*database.remove<Asleep>(out[i]));
            if (i % 5 != 0) EXPECT_TRUE(*database.remove<Hungry>(out[i]));
        }
        return out;
    }
    void expect_drowsy(std::span<const Entity> made) const {
        expect_fish(made);
        for (std::size_t i = 0; i < made.size(); ++i) {
            ASSERT_EQ(database.has<Asleep>(made[i]), i % 3 == 0) << i;
            ASSERT_EQ(database.has<Hungry>(made[i]), i % 5 == 0) << i;
        }
    }
    template <bool kAdds, class... Ts>
    bool is_way_short(Entity entity) {
        return bool(RowMove::find<kAdds>(database, entity, detail::ListSlot<Ts...>::key()));
    }
    /// The entities of a list, in disorder.
    static std::vector<std::size_t> disorder(std::size_t count) {
        std::vector<std::size_t> order(count);
        for (std::size_t i = 0; i < count; ++i) order[i] = i * 7919 % count;
        return order;
    }
};

TEST_F(Drowsy, rows_take_the_short_way_with_their_bits) {
    const std::vector<Entity> made = create_drowsy(1'000);
    ASSERT_TRUE((database.reserve<Fish, Position, Asleep, Hungry, Mass>(made.size()).ok()));
    for (const std::size_t i : disorder(made.size())) {
        if (i == 0) continue;  // it stays, and then no table becomes empty
        ASSERT_EQ(database.add(made[i], Mass{float(i)})->num_added, 1u);
        ASSERT_TRUE((is_way_short<true, Mass>(made[0]))) << i;
    }
    expect_drowsy(made);
    for (std::size_t i = 1; i < made.size(); ++i)
        ASSERT_EQ(database.get<&Mass::value>(database.find(made[i])), float(i));
    for (const std::size_t i : disorder(made.size())) {
        if (i < 2) continue;
        ASSERT_TRUE(*database.remove<Mass>(made[i]));
        ASSERT_TRUE((is_way_short<false, Mass>(made[1]))) << i;
    }
    expect_drowsy(made);
}

TEST_F(Drowsy, more_rows_than_the_bits_reach_take_the_way_all_the_same) {
    const std::vector<Entity> made = create_drowsy(70'000);
    for (const std::size_t i : disorder(made.size())) ASSERT_EQ(database.add(made[i], Mass{1})->num_added, 1u);
    expect_drowsy(made);
}

TEST_F(Drowsy, an_enableable_component_comes_by_the_short_way) {
    const std::vector<Entity> made = create_fish(500);
    ASSERT_TRUE((database.reserve<Fish, Position, Asleep>(made.size()).ok()));
    for (std::size_t i = 1; i < made.size(); ++i) {
        ASSERT_EQ(database.add(made[i], Asleep{std::uint32_t(i)})->num_added, 1u);
        ASSERT_TRUE((is_way_short<true, Asleep>(made[0]))) << i;
        ASSERT_TRUE(database.has<Asleep>(made[i]));
    }
    expect_fish(made);
    for (std::size_t i = 1; i < made.size(); ++i) ASSERT_EQ(database.get<&Asleep::since>(database.find(made[i])), i);
}

TEST_F(Drowsy, what_a_call_names_is_enabled_or_disabled_on_the_way) {
    const std::vector<Entity> made = create_drowsy(300);
    for (const std::size_t i : disorder(made.size()))
        ASSERT_EQ(database.add(made[i], Mass{1}, Asleep{std::uint32_t(i)})->num_added, 1u);
    for (std::size_t i = 0; i < made.size(); ++i) {
        ASSERT_TRUE(database.has<Asleep>(made[i])) << i;
        ASSERT_EQ(database.get<&Asleep::since>(database.find(made[i])), i);
        ASSERT_EQ(database.has<Hungry>(made[i]), i % 5 == 0) << i;
    }
    for (const std::size_t i : disorder(made.size())) ASSERT_TRUE((*database.remove<Mass, Hungry>(made[i])));
    for (std::size_t i = 0; i < made.size(); ++i) {
        ASSERT_TRUE(database.has<Asleep>(made[i])) << i;
        ASSERT_FALSE(database.has<Hungry>(made[i])) << i;
    }
    expect_fish(made);
}

TEST_F(Drowsy, entities_inserted_one_by_one_have_what_was_given_enabled_or_not) {
    const std::vector<Entity> made = make(70'000);
    for (std::size_t i = 0; i < made.size(); ++i) {
        const Fish fish{double(i)};
        const Position position{{float(i), 1, 2}};
        const Asleep asleep{std::uint32_t(i)};
        ASSERT_TRUE(*(i % 3 == 0 ? database.insert(made[i], asleep, fish, Disabled{Hungry{}}, position)
                                 : database.insert(made[i], Disabled{asleep}, fish, Hungry{}, position)));
    }
    expect_fish(made);
    for (std::size_t i = 0; i < made.size(); ++i) {
        ASSERT_EQ(database.has<Asleep>(made[i]), i % 3 == 0) << i;
        ASSERT_EQ(database.has<Hungry>(made[i]), i % 3 != 0) << i;
        ASSERT_EQ(database.get<&Asleep::since>(database.find(made[i])), i);
    }
}

// --- many tables ---------------------------------------------------------------------------------------------------

// Table numbers then take more than the 16 bits that the directory keeps at first, and that the short ways know.
TEST_F(Steps, with_more_tables_than_16_bits_can_number_calls_for_one_entity_do_the_same) {
    constexpr Zone kNumZones = 33'000;
    std::vector<Entity> made(kNumZones);
    for (Zone zone = 0; zone < kNumZones; ++zone) {
        ASSERT_TRUE(database.create<Position>(std::span(made).subspan(zone, 1), zone).ok());
        if (zone % 2 == 1) continue;
        Entity other[1];
        ASSERT_TRUE((database.create<Position, Mass>(other, zone).ok()));
    }
    for (Zone zone = 0; zone < kNumZones; ++zone) ASSERT_EQ(database.add(made[zone], Mass{float(zone)})->num_added, 1u);
    std::vector<Entity> fish = create_fish(50);
    for (std::size_t i = 0; i < fish.size(); ++i) ASSERT_EQ(database.add(fish[i], Mass{float(i)})->num_added, 1u);
    EXPECT_GT(database.all_tables().size(), std::size_t(1) << 16);
    expect_fish(fish);
    expect_masses(fish);
    expect_masses(made);
    for (std::size_t i = 0; i < fish.size(); ++i) ASSERT_TRUE(*database.remove<Mass>(fish[i]));
    expect_fish(fish);
}

}  // namespace
}  // namespace shoal_test
