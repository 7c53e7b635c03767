// A listed set of archetypes over a database: the same calls, checked.

#include "shoal/query/typed_database.h"

#include "support/database_testing.h"

#include <gtest/gtest.h>
#include <vector>

namespace shoal_test {
namespace {

struct Fuel {
    double energy = 3;
};
SHOAL_COMPONENT(Fuel, energy)

using Types = Archetypes<Has<Position, Velocity>, Has<Position, Mass, Asleep>, Has<Velocity, Mass, Position>,
                         Has<Position>, Has<Fuel, Mass>>;
using Sea = TypedDatabase<Types>;

static_assert(std::is_same_v<Sea::Components, Has<Position, Velocity, Mass, Asleep, Fuel>>);
static_assert(Sea::component<Position>().number == 0 && Sea::component<Fuel>().number == 4);
static_assert(Sea::kListed<Velocity, Position> && Sea::kListed<Position, Velocity, Mass>);
static_assert(!Sea::kListed<Velocity> && !Sea::kListed<Position, Mass> && !Sea::kListed<>);
static_assert(Sea::kNumWith<Position> == 4 && Sea::kNumWith<Mass, Position> == 2 && Sea::kNumWith<Marked> == 0);
static_assert(Sea::kNumMatching<Read<&Position::value>> == 4);
static_assert(Sea::kNumMatching<Write<&Position::value>, With<Mass>> == 2);
static_assert(Sea::kNumMatching<Read<&Position::value>, Without<Mass>> == 2);
static_assert(Sea::kNumMatching<Read<&Position::value>, Without<Asleep>> == 4, "an enableable one may be disabled");
static_assert(Sea::kNumMatching<Read<&Mass::value>, Maybe<&Fuel::energy>> == 3);
static_assert(Sea::kNumMatching<Read<&Velocity::value>, With<Fuel>> == 0);

/// A state hash of one database.
std::uint64_t hash_of(const Database& database) {
    std::uint64_t hash = 1;
    for (const DatabaseTable* table : database.all_tables()) {
        if (table == nullptr) continue;
        hash = hash * 31 + table->zone();
        for (const ComponentType enableable : table->type().enableable())
            for (std::uint32_t row = 0; row < table->num_rows(); ++row) hash = hash * 31 + table->has(enableable, row);
        hash = hash_bytes(table->entities().data(), table->entities().size_bytes(), hash);
        const Schema& schema = table->type().schema();
        for (std::uint32_t c = 0; c < schema.columns().size(); ++c)
            hash = hash_bytes(table->table().column(c),
                              std::size_t(schema.columns()[c].element_bytes) * table->num_rows(), hash);
    }
    return hash;
}

template <class T>
bool same(const T& a, const T& b) {
    return a == b;
}
bool same(const AddCounts& a, const AddCounts& b) {
    return a.num_added == b.num_added && a.num_set == b.num_set && a.num_skipped == b.num_skipped;
}

struct TypedDatabases : ::testing::Test, DatabaseFixture {
    Sea sea{database};
};

// The same operations through the view and without it end in the same state.
// req: E1-E2
TEST_F(TypedDatabases, the_view_does_what_the_database_does) {
    SCOPED_TRACE(seed_text());
    Random random(seed());
    EntityManager others({.minimum_free_ids = 1});
    Database plain(others, pool);
    plain.archetype<Position, Velocity, Mass, Asleep, Fuel>();  // numbers them alike
    std::vector<Entity> made;
    std::int64_t num_refused = 0, num_steps = scaled_operations(20'000);
    for (std::int64_t step = 0; step < num_steps; ++step) {
        const auto zone = static_cast<Zone>(random.below(3));
        const float x = float(random.below(1000));
        const Entity one = made.empty() ? Entity() : made[random.below(made.size())];
        Entity a[2], b[2];
        const auto both = [&](auto&& change) {  // through the view; and if it is not refused, without
            const auto result = change(sea);
            if (!result) {
                ++num_refused;
                return;
            }
            const auto plain_result = change(plain);
            ASSERT_TRUE(plain_result.ok());
            EXPECT_TRUE(same(*result, *plain_result)) << "step " << step;
        };
        switch (random.below(11)) {
            case 0:
                ASSERT_TRUE((sea.create<Position, Velocity>(a, zone).ok()));
                ASSERT_TRUE((plain.create<Position, Velocity>(b, zone).ok()));
                break;
            case 1:
                ASSERT_TRUE((sea.create<Fuel, Mass>(a, zone, Fuel{x}, Mass{x}).ok()));
                ASSERT_TRUE((plain.create<Fuel, Mass>(b, zone, Fuel{x}, Mass{x}).ok()));
                break;
            case 2:
                ASSERT_TRUE((sea.create<Mass, Asleep, Position>(a, zone).ok()));
                ASSERT_TRUE((plain.create<Mass, Asleep, Position>(b, zone).ok()));
                break;
            case 3:
                both([&](auto& to) { return to.add(one, Mass{x}); });
                break;
            case 4:
                both([&](auto& to) { return to.template remove<Mass>(one); });
                break;
            case 5:
                both([&](auto& to) { return to.add(std::span(made).first(made.size() / 2), Position{{x, 1, 2}}); });
                break;
            case 6:
                both([&](auto& to) { return to.template remove<Asleep>(one); });
                break;
            case 7:
                both([&](auto& to) { return to.template remove<Velocity>(std::span(made).last(made.size() / 3)); });
                break;
            case 8:  // dies elsewhere; its row stays until it settles
                EXPECT_EQ(entities.destroy(one), others.destroy(one));
                break;
            case 9:
                if (random.below(4) != 0) break;
                database.settle({});
                plain.settle({});
                break;
            default:
                if (const DatabaseRow row = sea.find(one); row && sea.has<Position>(one)) {
                    EXPECT_EQ(sea.get<&Position::value>(row), database.get<&Position::value>(row));
                    sea.set<&Position::value>(row, {x, x, x});
                    plain.set<&Position::value>(plain.find(one), {x, x, x});
                }
        }
        if (a[0]) made.insert(made.end(), {a[0], a[1]});
        ASSERT_EQ(a[0], b[0]) << "both give out the same ids";
        if (made.size() > 60) {
            EXPECT_EQ(database.destroy(made), plain.destroy(made));
            made.clear();
        }
        sea.query<Write<&Position::value>, Read<&Velocity::value>>().for_each([](auto&& p, Vec3 v) { p += v; });
        query<Write<&Position::value>, Read<&Velocity::value>>(plain).for_each([](auto&& p, Vec3 v) { p += v; });
        ASSERT_EQ(hash_of(database), hash_of(plain)) << "after step " << step;
        ASSERT_TRUE(sea.validate().ok()) << sea.validate().message();
    }
    EXPECT_GT(num_refused, num_steps / 20);
    EXPECT_LT(num_refused, num_steps / 2);
}

// req: E1-E2
TEST_F(TypedDatabases, what_leads_to_no_listed_archetype_is_refused_whole) {
    std::vector<Entity> fish(3), stones(2);
    ASSERT_TRUE((sea.create<Position>(fish, 0).ok()));
    ASSERT_TRUE((sea.create<Fuel, Mass>(stones, 0).ok()));
    const std::uint64_t changes = database.num_structural_changes();
    EXPECT_EQ(sea.add(fish[0], Mass{}).message(),
              "an entity of \"position\" would become one of \"position+mass\", which is no listed archetype");
    const Entity all[] = {fish[0], fish[1], stones[0]};
    EXPECT_EQ(sea.add(all, Velocity{}).message(),
              "an entity of \"mass+fuel\" would become one of \"velocity+mass+fuel\", which is no listed archetype");
    EXPECT_FALSE(sea.remove<Position>(fish[0]));
    EXPECT_EQ(database.num_structural_changes(), changes);
    EXPECT_TRUE(sea.add(fish[0], Velocity{}));
    EXPECT_TRUE(sea.add(fish[0], Mass{}));
    EXPECT_TRUE(sea.add(fish[1], Asleep{}, Mass{}));
    EXPECT_TRUE(sea.remove<Asleep>(fish[1])) << "its bit, not its archetype";
    EXPECT_TRUE(sea.validate().ok());
}

TEST_F(TypedDatabases, a_call_about_the_dead_vouches_for_no_archetype) {
    std::vector<Entity> fish(2);
    ASSERT_TRUE(sea.create<Position>(fish, 0).ok());
    entities.destroy(fish[0]);
    EXPECT_TRUE(database.has_row(fish[0])) << "until it settles";
    EXPECT_EQ(sea.add(fish[0], Mass{})->num_skipped, 1u);
    EXPECT_FALSE(sea.add(fish[1], Mass{}));
    EXPECT_TRUE(sea.validate().ok());
}

TEST_F(TypedDatabases, the_dead_lose_nothing_that_would_make_them_of_no_listed_archetype) {
    std::vector<Entity> fish(2);
    ASSERT_TRUE((sea.create<Position, Velocity, Mass>(fish, 0).ok()));
    entities.destroy(fish);
    EXPECT_FALSE(sea.remove<Position>(fish[0]));
    EXPECT_FALSE(sea.remove<Position>(fish));
    EXPECT_EQ(sea.validate().message(), "");
    EXPECT_TRUE(*sea.remove<Mass>(fish[0])) << "as the database does, until it settles";
    EXPECT_EQ(sea.validate().message(), "");
}

TEST_F(TypedDatabases, an_archetype_of_no_components_may_be_listed) {
    Database other(entities, pool);
    TypedDatabase<Archetypes<Has<>, Has<Position>>> view(other);
    std::vector<Entity> made(1);
    ASSERT_TRUE(view.create<Position>(made, 0).ok());
    EXPECT_TRUE(*view.remove<Position>(made[0]));
    EXPECT_EQ(view.validate().message(), "");
    EXPECT_EQ(view.add(made[0], Position{{1, 2, 3}})->num_added, 1u);
    EXPECT_EQ(view.get<&Position::value>(view.find(made[0])), (Vec3{1, 2, 3}));
    other.destroy(made);
}

TEST_F(TypedDatabases, rows_that_came_past_the_view_are_found) {
    ASSERT_TRUE(database.insert(make(1)[0], 6, Marked{}));
    EXPECT_EQ(sea.validate().message(), "zone 6 holds 1 entities of \"marked\", which is no listed archetype");
}

TEST_F(TypedDatabases, a_query_of_the_view_joins_managers) {
    Manager<Title> titles(entities, pool);
    std::vector<Entity> fish(3);
    ASSERT_TRUE((sea.create<Position>(fish, 0, Position{{1, 2, 3}}).ok()));
    ASSERT_TRUE(titles.add(fish[1], Title{"cod", 8}));
    int sum = 0;
    sea.query<Read<&Position::value>, Maybe<&Title::number>>(titles).for_each(
        [&](const Vec3& place, const std::uint32_t* number) { sum += int(place.x) + (number ? int(*number) : 0); });
    EXPECT_EQ(sum, 11);
    sea.query<Read<&Position::value>, Read<&Title::number>>(titles).for_each(
        [&](const Vec3&, std::uint32_t number) { sum += 100 * int(number); });
    EXPECT_EQ(sum, 811);
}

}  // namespace
}  // namespace shoal_test
