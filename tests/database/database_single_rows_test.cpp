// Calls for one entity go short ways, and gathers for many look ahead: what they leave is the same.

#include "support/allocation_count.h"
#include "support/database_testing.h"

#include <gtest/gtest.h>
#include <vector>

namespace shoal_test {

struct Tiny {
    std::uint8_t value = 0;
};
SHOAL_COMPONENT(Tiny, value)
struct Narrow {
    std::uint16_t value = 0;
};
SHOAL_COMPONENT(Narrow, value)
struct Wide {
    double value = 0;
};
SHOAL_COMPONENT(Wide, value)
struct Turned {
    Quaternion value;
};
SHOAL_COMPONENT(Turned, value)
struct Odd {
    float values[5] = {};
};
SHOAL_COMPONENT(Odd, values)
struct Burning {};
SHOAL_COMPONENT((Burning, enableable))
struct Frozen {};
SHOAL_COMPONENT((Frozen, enableable))
struct Glowing {};
SHOAL_COMPONENT((Glowing, enableable))

namespace {

struct SingleRows : ::testing::Test, DatabaseFixture {
    void TearDown() override {
        const Status status = database.validate();
        EXPECT_TRUE(status.ok()) << status.message();
    }
    /// Entities with one component of every element size, all of them telling their number.
    std::vector<Entity> create_all_sizes(std::size_t n) {
        std::vector<Entity> out(n);
        EXPECT_TRUE(entities.create(out).ok());
        for (std::size_t i = 0; i < n; ++i) {
            const auto f = float(i);
            EXPECT_TRUE(*(database.insert(out[i], 0, Tiny{std::uint8_t(i)}, Narrow{std::uint16_t(i)},
                                          Position{{f, 0, f}}, Wide{f}, Turned{{f, 0, 0, f}}, Odd{{f, 0, 0, 0, f}})));
        }
        return out;
    }
    void expect_all_sizes(Entity entity, std::size_t i) {
        const DatabaseRow row = database.find(entity);
        const auto f = float(i);
        ASSERT_TRUE(row);
        EXPECT_EQ(database.get<&Tiny::value>(row), std::uint8_t(i));
        EXPECT_EQ(database.get<&Narrow::value>(row), std::uint16_t(i));
        EXPECT_EQ(database.get<&Position::value>(row), (Vec3{f, 0, f}));
        EXPECT_EQ(database.get<&Wide::value>(row), f);
        EXPECT_EQ(database.get<&Turned::value>(row).w, f);
        EXPECT_EQ(database.get<&Odd::values>(row)[0], f);
        EXPECT_EQ(database.get<&Odd::values>(row)[4], f);
    }
};

TEST_F(SingleRows, an_entity_is_made_of_its_values_in_one_call) {
    const Result<Entity> first = database.create(Position{{1, 2, 3}}, Tiny{4});
    const Result<Entity> far = database.create(Zone(9), Tiny{5}, Burning{});
    ASSERT_TRUE(first && far);
    const DatabaseRow row = database.find(*first);
    EXPECT_EQ(row.table->zone(), 0u);
    EXPECT_EQ(database.get<&Position::value>(row), (Vec3{1, 2, 3}));
    EXPECT_EQ(database.get<&Tiny::value>(row), 4);
    EXPECT_EQ(database.find(*far).table->zone(), 9u);
    EXPECT_TRUE(database.has<Burning>(*far));
    EXPECT_FALSE(database.has<Position>(*far));
}

TEST_F(SingleRows, an_entity_that_cannot_be_made_leaves_nothing) {
    Database full(entities, pool, {.capacity_rows = 2});
    ASSERT_TRUE(full.create(Tiny{1}) && full.create(Tiny{2}));
    const std::uint32_t num_alive = entities.num_alive();
    const Result<Entity> third = full.create(Tiny{3});
    EXPECT_FALSE(third);
    Entity out = *entities.create();
    const Status status = full.create<Tiny>({&out, 1}, 0, Tiny{3});
    EXPECT_FALSE(status.ok());
    EXPECT_EQ(out, kNullEntity);
    EXPECT_EQ(entities.num_alive(), num_alive + 1) << "the one that was made above, outside";
}

TEST_F(SingleRows, columns_of_all_sizes_come_along_and_holes_are_filled) {
    const std::vector<Entity> out = create_all_sizes(300);
    for (std::size_t i = 0; i < 300; i += 3) EXPECT_EQ(database.add(out[i], Mass{float(i)})->num_added, 1u);
    for (std::size_t i = 0; i < 300; i += 6) EXPECT_TRUE(*database.remove<Mass>(out[i]));
    for (std::size_t i = 0; i < 300; i += 5) EXPECT_TRUE(database.destroy(out[i]));
    for (std::size_t i = 0; i < 300; ++i) {
        if (i % 5 == 0) {
            EXPECT_FALSE(database.has_row(out[i]));
            continue;
        }
        expect_all_sizes(out[i], i);
        ASSERT_EQ(database.has<Mass>(out[i]), i % 6 == 3);
        if (i % 6 != 3) continue;
        EXPECT_EQ(database.get<&Mass::value>(database.find(out[i])), float(i));
    }
}

TEST_F(SingleRows, columns_of_all_sizes_can_be_left_behind) {
    const std::vector<Entity> out = create_all_sizes(100);
    for (std::size_t i = 0; i < 100; i += 2) EXPECT_TRUE(*(database.remove<Tiny, Narrow, Wide, Turned, Odd>(out[i])));
    for (std::size_t i = 0; i < 100; ++i) {
        if (i % 2 != 0) {
            expect_all_sizes(out[i], i);
            continue;
        }
        EXPECT_FALSE(database.has<Tiny>(out[i]) || database.has<Odd>(out[i]));
        EXPECT_EQ(database.get<&Position::value>(database.find(out[i])).z, float(i));
    }
}

TEST_F(SingleRows, several_components_come_at_once_each_with_its_value) {
    std::vector<Entity> out(50);
    ASSERT_TRUE((database.create<Position>(out, 0).ok()));
    for (std::size_t i = 0; i < 50; ++i)
        EXPECT_EQ(database.add(out[i], Mass{float(i)}, Wide{double(i)}, Narrow{std::uint16_t(i)})->num_added, 1u);
    for (std::size_t i = 0; i < 50; ++i) {
        const DatabaseRow row = database.find(out[i]);
        EXPECT_EQ(database.get<&Mass::value>(row), float(i));
        EXPECT_EQ(database.get<&Wide::value>(row), double(i));
        EXPECT_EQ(database.get<&Narrow::value>(row), i);
    }
}

TEST_F(SingleRows, enableable_components_of_one_table_are_disabled_each_by_itself) {
    std::vector<Entity> out(100), cold(100);
    ASSERT_TRUE((database.create<Position, Burning, Frozen>(out, 0).ok()));
    ASSERT_TRUE((database.create<Position, Frozen>(cold, 0).ok()));
    for (std::size_t i = 0; i < 100; ++i) {
        EXPECT_TRUE(*database.remove<Frozen>(out[i]));
        EXPECT_EQ(i % 2 == 0 && *database.remove<Burning>(out[i]), i % 2 == 0);
        EXPECT_EQ(i % 3 == 0 && database.add(out[i], Frozen{})->num_added == 1, i % 3 == 0);
        EXPECT_FALSE(*database.remove<Glowing>(out[i])) << "never heard of before";
        EXPECT_FALSE(*database.remove<Burning>(cold[i])) << "its archetype lacks it";
        EXPECT_TRUE(*database.remove<Frozen>(cold[i]));
        EXPECT_FALSE(*database.remove<Frozen>(cold[i]));
    }
    for (std::size_t i = 0; i < 100; ++i) {
        EXPECT_EQ(database.has<Burning>(out[i]), i % 2 != 0);
        EXPECT_EQ(database.has<Frozen>(out[i]), i % 3 == 0);
        EXPECT_FALSE(database.has<Frozen>(cold[i]));
    }
}

// --- in one call -----------------------------------------------------------------------------------------------------

TEST_F(SingleRows, many_are_enabled_and_disabled_in_one_call_where_they_are) {
    constexpr std::size_t kEach = 3'000;
    std::vector<Entity> hot(kEach), cold(kEach), both, plain(10);
    ASSERT_TRUE((database.create<Position, Burning, Frozen>(hot, 0).ok()));
    ASSERT_TRUE((database.create<Burning>(cold, 7).ok()));
    ASSERT_TRUE((database.create<Position>(plain, 0).ok()));
    for (std::size_t i = 0; i < kEach; ++i) both.push_back(hot[i * 7 % kEach]), both.push_back(cold[i * 11 % kEach]);
    both.push_back(kNullEntity);
    const DatabaseRow before[] = {database.find(both[0]), database.find(both[1])};
    {
        const AllocationCount allocations;
        EXPECT_EQ(*database.remove<Burning>(both), 2 * kEach);
        const Result<AddCounts> again = database.add(std::span<const Entity>(both).first(100), Burning{});
        EXPECT_EQ(again->num_added, 100u);
        const Result<AddCounts> rest = database.add(both, Burning{});
        EXPECT_EQ(rest->num_added, 2 * kEach - 100);
        EXPECT_EQ(rest->num_set, 100u);
        EXPECT_EQ(rest->num_skipped, 1u);
        EXPECT_EQ(allocations.count(), 0u) << "nothing was put in order";
    }
    EXPECT_EQ(database.find(both[0]), before[0]);
    EXPECT_EQ(database.find(both[1]), before[1]);
    both.insert(both.end(), plain.begin(), plain.end());
    EXPECT_EQ((*database.remove<Burning, Glowing>(both)), 2 * kEach) << "others have neither";
    for (const Entity entity : both) EXPECT_FALSE(database.has<Burning>(entity));
    EXPECT_TRUE(database.has<Frozen>(hot[5])) << "of which nothing was said";
}

TEST_F(SingleRows, rows_that_are_enabled_in_one_call_are_stamped) {
    std::vector<Entity> all(3'000);
    ASSERT_TRUE((database.create<Position, Burning>(all, 0).ok()));
    const Table& table = database.find(all[0]).table->table();
    std::uint64_t stamp = 1;
    const auto expect_stamped = [&](std::size_t i, auto&& change) {
        database.settle({.stamp = ++stamp});
        change(std::span<const Entity>(all).subspan(i, 2));
        for (std::uint32_t block = 0; block < 3; ++block)
            EXPECT_EQ(table.placed_stamp(block) == stamp, block == i / kRowsPerStampBlock) << block;
    };
    expect_stamped(2'500, [&](std::span<const Entity> some) { EXPECT_EQ(*database.remove<Burning>(some), 2u); });
    expect_stamped(1'100, [&](std::span<const Entity> some) { EXPECT_EQ(*database.remove<Burning>(some), 2u); });
    expect_stamped(2'500,
                   [&](std::span<const Entity> some) { EXPECT_EQ(database.add(some, Burning{})->num_added, 2u); });
    database.settle({.stamp = ++stamp});
    EXPECT_EQ(database.add(std::span<const Entity>(all).subspan(2'500, 2), Burning{})->num_set, 2u);
    EXPECT_LT(table.placed_stamp(2), stamp) << "nothing has changed";
}

TEST_F(SingleRows, when_one_of_many_cannot_move_none_is_enabled) {
    Database full(entities, pool, {.capacity_rows = 4});
    std::vector<Entity> all(4), others(4), there(2);
    ASSERT_TRUE((full.create<Burning>(all, 0).ok() && full.create<Tiny>(others, 0).ok()));
    ASSERT_TRUE((full.create<Tiny, Burning>(there, 0).ok()));
    ASSERT_EQ(*full.remove<Burning>(all), 4u);
    all.insert(all.end(), others.begin(), others.end());
    EXPECT_FALSE(full.add(all, Burning{}).ok()) << "the table has room for two";
    for (const Entity entity : all) EXPECT_FALSE(full.has<Burning>(entity));
    all.resize(6);
    EXPECT_EQ(full.add(all, Burning{})->num_added, 6u);
    for (const Entity entity : all) EXPECT_TRUE(full.has<Burning>(entity));
    EXPECT_EQ(full.validate().message(), "");
}

TEST_F(SingleRows, gathers_of_many_find_what_gathers_of_few_find) {
    constexpr std::size_t kMany = 40'000;
    std::vector<Entity> out(kMany);
    std::vector<Mass> masses(kMany);
    for (std::size_t i = 0; i < kMany; ++i) masses[i].value = float(i);
    ASSERT_TRUE((database.create<Mass>(out, 0, masses).ok()));
    std::vector<Entity> other(100), asked;
    ASSERT_TRUE((database.create<Position>(other, 0).ok()));
    ASSERT_TRUE(database.add(std::span<const Entity>(out).subspan(1000, 5000), Velocity{}).ok());
    database.destroy(std::span<const Entity>(out).subspan(3000, 500));
    for (std::size_t i = 0; i < kMany; ++i) asked.push_back(out[i * 7919 % kMany]);
    asked.insert(asked.end(), other.begin(), other.end());
    asked.push_back(kNullEntity);
    const auto expect_gathered = [&] {
        std::vector<float> gathered(asked.size());
        EXPECT_EQ(database.gather<&Mass::value>(asked, gathered, -1), kMany - 500);
        for (std::size_t i = 0; i < asked.size(); ++i) {
            const DatabaseRow row = database.find(asked[i]);
            const bool there = row && database.has<Mass>(asked[i]);
            ASSERT_EQ(gathered[i], there ? database.get<&Mass::value>(row) : -1) << i;
        }
    };
    expect_gathered();
    asked.insert(asked.begin(), make_entity(kMaxEntities - 1, 3));  // no row index reaches so far
    expect_gathered();
}

}  // namespace
}  // namespace shoal_test
