// Queries over a database: which rows they visit, what the function gets, what is marked.

#include "shoal/base/random.h"
#include "shoal/command/commands.h"
#include "shoal/database/grid_zones.h"
#include "shoal/query/query.h"
#include "support/testing.h"
#include "support/unreadable_pages.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <set>
#include <vector>

namespace {

using namespace shoal;

struct Position {
    Vec3 value{};
    float heat = 0;
};
SHOAL_COMPONENT(Position, value, heat)
struct Motion {
    Vec3 value{};
};
SHOAL_COMPONENT(Motion, (value, split))
struct Hull {
    float mass = 1;
    std::uint8_t kind = 0;
};
SHOAL_COMPONENT((Hull, whole), mass, kind)
struct Asleep {
    int since = 0;
};
SHOAL_COMPONENT((Asleep, enableable), since)
struct Rare {};
SHOAL_COMPONENT(Rare)
struct Mark {};
SHOAL_COMPONENT(Mark)

class DatabaseQueries : public ::testing::Test {
protected:
    template <class... Ts>
    std::vector<Entity> create(std::size_t count, Zone zone, const Ts&... values) {
        std::vector<Entity> result(count);
        EXPECT_TRUE(database.create<Ts...>(result, zone, values...).ok());
        return result;
    }
    template <class T>
    void remove(std::span<const Entity> from) {
        EXPECT_TRUE(database.remove<T>(from).ok());
    }
    template <class T>
    void add(std::span<const Entity> to, const T& value) {
        EXPECT_TRUE(database.add(to, value).ok());
    }
    template <class Query>
    std::set<Entity> visited(const Query& query) {
        std::set<Entity> result;
        query.for_each([&](Entity entity, const auto&...) { EXPECT_TRUE(result.insert(entity).second); });
        return result;
    }
    static std::set<Entity> set_of(std::span<const Entity> entities) { return {entities.begin(), entities.end()}; }

    EntityManager entities;
    PagePool pool;
    Database database{entities, pool};
};

/// Counts the virtual calls that loops make, and the chunks that they are cut into.
class CallCountingExecutor final : public Executor {
public:
    std::uint32_t num_workers() const override { return ++num_calls, 2; }
    std::uint32_t current_worker() const override { return ++num_calls, 0; }
    void start(std::uint32_t num_chunks, ChunkFunction function, void* context, Fence&) override {
        ++num_calls;
        for (std::uint32_t chunk = 0; chunk < num_chunks; ++chunk) function(context, chunk, 0);
        most_chunks = std::max(most_chunks, num_chunks);
    }
    void wait(Fence&) override { ++num_calls; }

    mutable std::uint32_t num_calls = 0;
    std::uint32_t most_chunks = 0;
};

// req: F5-F7
TEST_F(DatabaseQueries, the_calls_to_an_executor_do_not_grow_with_the_rows) {
    const auto moving = query<Write<&Position::value>, Read<&Motion::value>>(database);
    std::uint32_t calls_before = 0;
    for (const std::uint32_t count : {10'000u, 90'000u}) {
        create<Position, Motion>(count, 0, {}, {{1, 0, 0}});
        CallCountingExecutor executor;
        std::uint32_t num_rows = 0;
        moving.for_each(executor, [&](auto&& p, Vec3 v) { p += v, ++num_rows; });
        EXPECT_EQ(num_rows, count == 10'000 ? 10'000u : 100'000u);
        EXPECT_LE(executor.most_chunks, num_rows / 512);
        EXPECT_LE(executor.num_calls, 10u);
        EXPECT_TRUE(calls_before == 0 || executor.num_calls == calls_before);
        calls_before = executor.num_calls;
    }
}

// req: E9-E11 F5-F7
TEST_F(DatabaseQueries, every_entity_that_has_the_component_types_is_visited_whatever_else_it_has) {
    const auto plain = create<Position>(100, 0, {{1, 0, 0}});
    const auto moving = create<Position, Motion>(70, 0, {{2, 0, 0}}, {{0, 1, 0}});
    const auto heavy = create<Position, Motion, Hull>(65, 3, {{3, 0, 0}}, {{0, 2, 0}}, {7, 1});
    create<Motion>(10, 0, {{9, 9, 9}});
    query<Write<&Position::value>, Read<&Motion::value>>(database).for_each([](auto&& p, Vec3 v) { p += v; });
    const auto expect_all = [&](const std::vector<Entity>& of, Vec3 place, Vec3 motion) {
        for (const Entity entity : of) {
            ASSERT_EQ(Vec3(database.get<&Position::value>(database.find(entity))), place);
            ASSERT_TRUE(motion == Vec3{} || Vec3(database.get<&Motion::value>(database.find(entity))) == motion);
        }
    };
    expect_all(plain, {1, 0, 0}, {});
    expect_all(moving, {2, 1, 0}, {0, 1, 0});
    expect_all(heavy, {3, 2, 0}, {0, 2, 0});
    EXPECT_EQ((query<Write<&Position::value>, Read<&Motion::value>>(database).num_rows()), 135u);
}

TEST_F(DatabaseQueries, with_and_without_choose_entities_and_give_the_function_nothing) {
    const auto plain = create<Position>(10, 0, {});
    const auto moving = create<Position, Motion>(20, 0, {}, {});
    const auto rare = create<Position, Rare>(30, 0, {}, {});
    EXPECT_EQ(visited(query<Read<&Position::heat>, With<Rare>>(database)), set_of(rare));
    EXPECT_EQ(visited(query<Read<&Position::heat>, Without<Rare>, With<Motion>>(database)), set_of(moving));
    EXPECT_EQ(visited(query<Without<Rare>, Read<&Position::heat>, Without<Motion>>(database)), set_of(plain));
    EXPECT_EQ(visited(query<With<Position>>(database)).size(), 60u);
}

TEST_F(DatabaseQueries, a_maybe_field_is_a_pointer_that_is_null_where_the_entity_lacks_it) {
    const auto plain = create<Position>(70, 0, {});
    const auto moving = create<Position, Motion, Hull>(70, 0, {}, {{1, 2, 3}}, {5, 6});
    std::size_t num_with = 0, num_without = 0;
    query<Read<&Position::heat>, Maybe<&Motion::value>, Maybe<&Hull::mass>>(database).for_each(
        [&](Entity entity, float, const Vec3* motion, const float* mass) {
            EXPECT_EQ(motion != nullptr, database.has<Motion>(entity));
            EXPECT_EQ(mass != nullptr, motion != nullptr);
            EXPECT_TRUE(motion == nullptr || *motion == (Vec3{1, 2, 3}));
            EXPECT_TRUE(mass == nullptr || *mass == 5);
            ++(motion != nullptr ? num_with : num_without);
        });
    EXPECT_EQ(num_with, moving.size());
    EXPECT_EQ(num_without, plain.size());
}

TEST_F(DatabaseQueries, a_disabled_component_counts_as_missing) {
    const auto all = create<Position, Asleep>(500, 0, {}, {4});
    const auto never = create<Position>(10, 0, {});
    std::vector<Entity> disabled, on;
    for (std::size_t i = 0; i < all.size(); ++i)
        (i % 3 == 0 || (i >= 128 && i < 200) ? disabled : on).push_back(all[i]);
    remove<Asleep>(disabled);
    EXPECT_EQ(visited(query<Read<&Position::heat>, With<Asleep>>(database)), set_of(on));
    EXPECT_EQ(visited(query<Read<&Asleep::since>>(database)), set_of(on));
    std::set<Entity> awake = set_of(disabled);
    awake.insert(never.begin(), never.end());
    EXPECT_EQ(visited(query<Read<&Position::heat>, Without<Asleep>>(database)), awake);
    query<Read<&Position::heat>, Maybe<&Asleep::since>>(database).for_each(
        [&](Entity entity, float, const int* since) { EXPECT_EQ(since != nullptr, awake.count(entity) == 0); });
}

TEST_F(DatabaseQueries, blending_changes_the_rows_that_are_on_and_no_other) {
    for (const std::size_t count : {1, 63, 64, 65, 130, 1000}) {
        const auto all = create<Position, Motion, Asleep>(count, Zone(count), {{1, 1, 1}, 2}, {{1, 2, 3}}, {});
        std::vector<Entity> disabled;
        for (std::size_t i = 0; i < count; ++i)
            if (i % 5 == 1 || i / 64 == 3 || (i / 64 == 1 && i % 2 == 0)) disabled.push_back(all[i]);
        remove<Asleep>(disabled);
        query<Write<&Position::value>, Read<&Motion::value>, Write<&Position::heat>, With<Asleep>>(database)
            .in({Zone(count)})
            .for_each(blend([](auto&& p, Vec3 v, float& heat) {
                p += v;
                heat = 7;
            }));
        const std::set<Entity> kept = set_of(disabled);
        for (const Entity entity : all) {
            const DatabaseRow row = database.find(entity);
            const bool is_disabled = kept.count(entity) != 0;
            ASSERT_EQ(Vec3(database.get<&Position::value>(row)), (is_disabled ? Vec3{1, 1, 1} : Vec3{2, 3, 4}));
            ASSERT_EQ(database.get<&Position::heat>(row), is_disabled ? 2 : 7);
        }
    }
}

// req: E3-E4
TEST_F(DatabaseQueries, a_loop_over_zones_reads_no_row_of_other_zones) {
    constexpr std::uint32_t kCount = 20'000;
    std::vector<std::vector<Entity>> by_zone;
    for (Zone zone = 0; zone < 6; ++zone) {
        by_zone.push_back(create<Position, Motion>(kCount, zone, {{float(zone), 0, 0}}, {{1, 2, 3}}));
        create<Position, Motion, Hull>(kCount, zone, {{float(zone), 0, 0}}, {{1, 2, 3}}, {});
    }
    const auto moving = query<Write<&Position::value>, Read<&Motion::value>>(database);
    std::uint32_t num_rows = 0;
    {
        shoal_test::UnreadablePages others;
        for (const Table* table : database.tables()) {
            const Zone zone = database.find(table->entities()[0]).table->zone();
            if (zone != 1 && zone != 4) others.add_columns(*table, table->num_rows());
        }
        EXPECT_GT(others.num_bytes(), 8 * kCount * (sizeof(Position) + sizeof(Motion)) * 9 / 10);
        SerialExecutor executor;
        for (const bool parallel : {false, true}) {
            const auto move = [&](auto&& p, Vec3 v) { p += v, ++num_rows; };
            if (parallel)
                moving.in({1, 4}).for_each(executor, move);
            else
                moving.in({1, 4}).for_each(move);
        }
    }
    EXPECT_EQ(num_rows, 2 * 4 * kCount);
    for (Zone zone = 0; zone < 6; ++zone)
        for (const Entity entity : by_zone[zone])
            ASSERT_EQ(Vec3(database.get<&Position::value>(database.find(entity))),
                      (zone == 1 || zone == 4 ? Vec3{float(zone) + 2, 4, 6} : Vec3{float(zone), 0, 0}));
}

// req: E3-E4
TEST_F(DatabaseQueries, entities_are_found_by_radius_in_a_database_and_in_a_join) {
    SCOPED_TRACE(shoal_test::seed_text());
    Random random(shoal_test::seed());
    const GridZones tiles({.origin = {-40, -40, 0}, .tile_size = 8, .num_x = 10, .num_y = 10, .first_zone = 3});
    const auto any = [&] { return float(random.below(100'000)) / 1000 - 50; };
    Manager<Mark> marks(entities, pool);
    std::vector<std::pair<Entity, Vec3>> known;
    for (int i = 0; i < 2000; ++i) {
        const Vec3 place{any(), any(), any()};
        const Entity made = create<Position>(1, tiles.zone_of(place), {place})[0];
        known.emplace_back(made, place);
        if (i % 3 != 0) continue;
        ASSERT_TRUE(marks.add(made));
    }
    const auto all = query<Read<&Position::value>>(database);
    const auto marked = query<Read<&Position::value>, With<Mark>>(database, marks);
    std::uint64_t num_found = 0, num_looked_at = 0;
    for (int i = 0; i < 50; ++i) {
        const Vec3 centre{any(), any(), 0};
        const float radius = float(random.below(12'000)) / 1000;
        const auto is_near = [&](Vec3 place) { return std::hypot(place.x - centre.x, place.y - centre.y) < radius; };
        ZoneSet near;
        tiles.touch_sphere(centre, radius, near);
        std::set<Entity> expected, found, expected_marked, found_marked;
        for (const auto& [entity, place] : known) {
            if (is_near(place)) expected.insert(entity);
            if (is_near(place) && marks.has(entity)) expected_marked.insert(entity);
        }
        all.in(near).for_each([&](Entity entity, Vec3 place) {
            if (is_near(place)) found.insert(entity);
        });
        marked.in(near).for_each([&](Entity entity, Vec3 place) {
            if (is_near(place)) found_marked.insert(entity);
        });
        ASSERT_EQ(found, expected);
        ASSERT_EQ(found_marked, expected_marked);
        num_found += found.size();
        num_looked_at += all.in(near).num_rows();
    }
    EXPECT_GT(num_found, 500u);
    EXPECT_LT(num_looked_at, 50u * known.size() / 4) << "most tiles are left alone";
}

// req: E3-E4
TEST_F(DatabaseQueries, a_zone_is_a_state_that_entities_enter_and_leave) {
    enum State : Zone { kSwims = 10, kRests = 11 };
    const auto fish = create<Position>(1000, kSwims, {});
    const auto more = create<Position, Hull>(1000, kSwims, {}, {});
    const auto swimming = query<Write<&Position::heat>>(database).in({kSwims});
    std::map<Entity, float> expected;
    for (int frame = 0; frame < 6; ++frame) {
        for (const auto& some : {fish, more})
            for (std::size_t i = 0; i < some.size(); ++i) {
                const bool rests = (i + std::size_t(frame)) % 3 == 0;
                ASSERT_TRUE(database.move({&some[i], 1}, rests ? kRests : kSwims));
                if (!rests) expected[some[i]] += 1;
            }
        swimming.for_each([](float& heat) { heat += 1; });
    }
    query<Read<&Position::heat>>(database).for_each(
        [&](Entity entity, float heat) { ASSERT_EQ(heat, expected[entity]) << "it swam in as many frames"; });
    EXPECT_EQ(expected.size(), 2000u);
}

// req: E3-E4
TEST_F(DatabaseQueries, a_zone_set_leaves_other_zones_alone) {
    std::map<Zone, std::vector<Entity>> by_zone;
    for (Zone zone = 0; zone < 200; ++zone) by_zone[zone] = create<Position>(3, zone, {});
    const auto all = query<Write<&Position::heat>>(database);
    std::set<Entity> expected;
    for (const Zone zone : {0, 7, 64, 199}) expected.insert(by_zone[zone].begin(), by_zone[zone].end());
    EXPECT_EQ(visited(all.in({0, 7, 64, 199})), expected);
    EXPECT_EQ(all.in({0, 7, 64, 199}).num_rows(), 12u);
    ZoneSet most;
    most.insert_range(0, 199);
    EXPECT_EQ(all.in(most).num_rows(), 597u);
    EXPECT_EQ(all.in({}).num_rows(), 0u);
    EXPECT_EQ(all.in({100'000}).num_rows(), 0u);
    EXPECT_EQ(all.num_rows(), 600u);
}

struct Barb {
    std::uint32_t length = 0;
};
SHOAL_COMPONENT((Barb, many), length)

TEST_F(DatabaseQueries, accesses_to_other_zones_are_apart_unless_they_name_values_after_the_first) {
    database.component<Hull>();
    const auto are_apart = [](const Access& written, const Access& read) {
        const bool apart = !conflict(written.in(ZoneSet{1, 3}), read.in(ZoneSet{2}));
        EXPECT_EQ(apart, !conflict(read.in(ZoneSet{2}), written.in(ZoneSet{1, 3})));
        EXPECT_TRUE(conflict(written.in(ZoneSet{1, 2}), read.in(ZoneSet{2})));
        EXPECT_TRUE(conflict(written, read.in(ZoneSet{2})));
        return apart;
    };
    const auto hulls = [&](bool write) { return write ? writes<&Hull::mass>(database) : reads<&Hull::mass>(database); };
    const auto barbs = [&](bool write) {
        return write ? writes<&Barb::length>(database) : reads<&Barb::length>(database);
    };
    EXPECT_TRUE(are_apart(writes(database), reads(database)));
    EXPECT_TRUE(are_apart(hulls(true), hulls(false)));
    database.component<Barb>();
    EXPECT_FALSE(are_apart(writes(database), reads(database))) << "these values lie in one table for all zones";
    EXPECT_FALSE(are_apart(barbs(true), barbs(false)));
    EXPECT_FALSE(are_apart(writes(database), barbs(false)));
    EXPECT_FALSE(are_apart(barbs(true), reads(database)));
    EXPECT_TRUE(are_apart(hulls(true), hulls(false)));
}

TEST_F(DatabaseQueries, a_kept_query_finds_archetypes_and_zones_that_came_later) {
    const auto hot = query<Read<&Position::heat>, Without<Rare>>(database);
    EXPECT_EQ(visited(hot).size(), 0u);
    const auto first = create<Position>(5, 0, {});
    EXPECT_EQ(visited(hot).size(), 5u);
    create<Position, Motion>(6, 1, {}, {});
    create<Position, Rare>(6, 1, {}, {});
    EXPECT_EQ(visited(hot).size(), 11u);
    add(std::span(first), Hull{});
    EXPECT_EQ(visited(hot).size(), 11u);
    add(std::span(first), Rare{});
    EXPECT_EQ(visited(hot).size(), 6u);
    for (std::uint64_t stamp = 2; stamp < 40; ++stamp) database.settle({nullptr, stamp});  // empty tables go
    EXPECT_EQ(visited(hot).size(), 6u);
    create<Position, Hull>(9, 5, {}, {});
    EXPECT_EQ(visited(hot).size(), 15u);
}

TEST_F(DatabaseQueries, a_batch_has_the_columns_and_entities_of_one_table) {
    create<Position, Motion>(100, 2, {{1, 2, 3}, 4}, {{5, 6, 7}});
    create<Position>(30, 2, {{1, 2, 3}, 4});
    std::size_t num_rows = 0, num_batches = 0;
    query<Write<&Position::value>, Read<&Position::heat>, Maybe<&Motion::value>>(database).for_each_batch(
        [&](auto&& batch) {
            const auto values = batch.template column<&Position::value>();
            const auto heats = batch.template column<&Position::heat>();
            const auto motions = batch.template column<&Motion::value>();
            static_assert(std::is_same_v<decltype(&values[0]), Vec3*>);
            static_assert(std::is_same_v<decltype(&heats[0]), const float*>);
            EXPECT_EQ(values.size(), batch.num_rows());
            EXPECT_EQ(batch.zone(), 2u);
            EXPECT_EQ(motions.size(), batch.table().type().components().size() == 2 ? batch.num_rows() : 0);
            EXPECT_TRUE(motions.size() == 0 || motions.y()[batch.num_rows() - 1] == 6);
            for (std::uint32_t row = 0; row < batch.num_rows(); ++row) {
                EXPECT_EQ(database.find(batch.entities()[row]).row, row);
                values[row].x = heats[row];
            }
            num_rows += batch.num_rows();
            ++num_batches;
        });
    EXPECT_EQ(num_rows, 130u);
    EXPECT_EQ(num_batches, 2u);
    query<Read<&Position::value>>(database).for_each([](const Vec3& value) { EXPECT_EQ(value.x, 4); });
}

TEST_F(DatabaseQueries, batches_of_jobs_start_at_their_own_rows_and_say_which_are_on) {
    const auto all = create<Position, Hull, Motion, Asleep>(20'000, 0, {}, {}, {}, {});
    for (const Entity entity : all) {
        const auto number = static_cast<float>(database.find(entity).row);
        database.set<&Position::heat>(database.find(entity), number);
        database.set<&Hull::mass>(database.find(entity), number);
        database.set<&Motion::value>(database.find(entity), {number, 0, 0});
    }
    remove<Asleep>(std::span(all).subspan(0, 10'050));
    SerialExecutor executor;
    std::size_t num_on = 0, num_batches = 0;
    query<Read<&Position::heat>, Read<&Hull::mass>, Read<&Motion::value>, With<Asleep>>(database).for_each_batch(
        executor, [&](auto&& batch) {
            ++num_batches;
            const auto first = static_cast<float>(batch.rows().begin);
            EXPECT_EQ(batch.template column<&Position::heat>()[0], first);
            EXPECT_EQ(batch.template column<&Hull::mass>()[1], first + 1);
            EXPECT_EQ(batch.template column<&Motion::value>().x()[2], first + 2);
            for (std::uint32_t word = 0; word * 64 < batch.num_rows(); ++word)
                num_on += static_cast<std::size_t>(std::popcount(batch.rows_of_word(word)));
        });
    EXPECT_EQ(num_on, 9'950u);
    EXPECT_GT(num_batches, 3u);
}

TEST_F(DatabaseQueries, of_any_number_of_rows_those_that_are_enabled_are_visited_and_those_that_are_not) {
    std::vector<Entity> all;
    for (std::size_t count = 0; count < 131; ++count) {
        std::set<Entity> asleep, awake;
        for (std::size_t i = 0; i < all.size(); ++i) {
            const bool sleeps = (i * 7 + count) % 3 == 0;
            if (sleeps)
                add(std::span(all).subspan(i, 1), Asleep{});
            else
                remove<Asleep>(std::span(all).subspan(i, 1));
            (sleeps ? asleep : awake).insert(all[i]);
        }
        ASSERT_EQ(visited(query<Read<&Position::heat>, With<Asleep>>(database)), asleep) << count;
        ASSERT_EQ(visited(query<Read<&Position::heat>, Without<Asleep>>(database)), awake) << count;
        all.push_back(create<Position, Asleep>(1, 0, Position{}, Asleep{})[0]);
    }
    for (; !all.empty(); all.pop_back()) {  // bits of the rows that were there stay
        ASSERT_EQ(visited(query<Read<&Position::heat>, With<Asleep>>(database)).size() +
                      visited(query<Read<&Position::heat>, Without<Asleep>>(database)).size(),
                  all.size());
        ASSERT_TRUE(database.destroy(all.back()));
    }
}

TEST_F(DatabaseQueries, only_written_columns_of_visited_zones_are_marked) {
    const auto here = create<Position, Motion>(3000, 1, {}, {});
    const auto there = create<Position, Motion>(10, 2, {}, {});
    database.settle({nullptr, 7});
    SerialExecutor executor;
    const auto moving = query<Write<&Position::value>, Read<&Motion::value>>(database).in({1});
    const auto stamp = [&](const std::vector<Entity>& of, ComponentType component, std::uint32_t column,
                           std::uint32_t block) {
        const DatabaseTable& table = *database.find(of[0]).table;
        return table.table().written_stamp(table.first_column(component) + column, block);
    };
    for (const bool parallel : {false, true}) {
        database.settle({nullptr, parallel ? 9u : 8u});
        const auto move = [](auto&& p, Vec3 v) { p += v; };
        if (parallel)
            moving.for_each(executor, move);
        else
            moving.for_each(move);
        for (std::uint32_t block = 0; block < 3; ++block) {
            EXPECT_EQ(stamp(here, database.component<Position>(), 0, block), parallel ? 9u : 8u);
            EXPECT_LT(stamp(here, database.component<Position>(), 1, block), 7u);
            EXPECT_LT(stamp(here, database.component<Motion>(), 2, block), 7u);
        }
        EXPECT_LT(stamp(there, database.component<Position>(), 0, 0), 7u);
    }
}

TEST_F(DatabaseQueries, changed_since_visits_blocks_in_which_a_component_was_enabled_or_disabled) {
    const auto all = create<Position, Asleep>(3000, 0, {}, {});
    std::uint64_t stamp = 5;
    const auto awake = query<Read<&Position::heat>, Without<Asleep>>(database);
    const auto blocks_after = [&](const auto& change) {
        database.settle({nullptr, ++stamp});
        change();
        std::set<std::uint32_t> blocks;
        query<Read<&Position::heat>>(database).changed_since(stamp).for_each(
            [&](Entity entity, float) { blocks.insert(database.find(entity).row / 1024); });
        return blocks;
    };
    using Blocks = std::set<std::uint32_t>;
    EXPECT_EQ(blocks_after([] {}), Blocks());
    EXPECT_EQ(blocks_after([&] { ASSERT_TRUE(database.remove<Asleep>(all[1500])); }), Blocks{1});
    EXPECT_EQ(blocks_after([&] { ASSERT_TRUE(database.remove<Asleep>(all[1500])); }), Blocks()) << "it was disabled";
    EXPECT_EQ(blocks_after([&] { ASSERT_TRUE(database.add(all[1500], Asleep{})); }), Blocks{1});
    EXPECT_EQ(blocks_after([&] { ASSERT_TRUE(database.remove<Asleep>(std::span(all).last(10))); }), Blocks{2});
    EXPECT_EQ(blocks_after([&] { ASSERT_TRUE(database.add(std::span(all).last(10), Asleep{})); }), Blocks{2});
    database.commands().remove<Asleep>(all[3]);
    EXPECT_EQ(blocks_after([] {}), Blocks()) << "it counts for who asks since the settle before";
    std::size_t num_awake = 0;
    awake.changed_since(stamp - 1).for_each([&](float) { ++num_awake; });
    EXPECT_EQ(num_awake, 1u);
}

TEST_F(DatabaseQueries, changed_since_visits_blocks_whose_read_fields_were_written) {
    const auto all = create<Position, Motion>(5000, 0, {}, {});
    database.settle({nullptr, 5});
    const auto follow = query<Write<&Position::value>, Read<&Motion::value>, Maybe<&Hull::mass>>(database);
    const auto count = [&](std::uint64_t since) {
        std::set<std::uint32_t> blocks;
        std::size_t num_rows = 0;
        follow.changed_since(since).for_each([&](Entity entity, auto&&, Vec3, const float*) {
            blocks.insert(database.find(entity).row / 1024);
            ++num_rows;
        });
        return std::pair(blocks, num_rows);
    };
    EXPECT_EQ(count(5).second, 0u);
    EXPECT_EQ(count(0).second, 5000u) << "0 stands for all rows";
    const auto at = [&](std::uint32_t row) { return DatabaseRow{database.find(all[0]).table, row}; };
    database.set<&Motion::value>(at(1024), {1, 1, 1});
    database.set<&Motion::value>(at(4999), {1, 1, 1});
    database.set<&Position::value>(at(3000), {1, 1, 1});  // only written by the query
    EXPECT_EQ(count(5), std::pair(std::set<std::uint32_t>({1, 4}), std::size_t(1024 + 904)));
    EXPECT_EQ(count(6).second, 0u);
    database.settle({nullptr, 6});
    database.destroy(database.find(all[0]).table->entities()[0]);  // the last row moves into the first block
    EXPECT_EQ(count(6).first, std::set<std::uint32_t>({0}));
}

TEST_F(DatabaseQueries, changed_since_visits_blocks_in_which_one_of_several_read_fields_was_written) {
    const auto all = create<Position, Motion>(3000, 0, {}, {});
    std::uint64_t stamp = 5;
    const auto rows_after = [&](const auto& change) {
        database.settle({nullptr, ++stamp});
        change();
        std::size_t num_rows = 0;
        query<Read<&Position::value>, Read<&Motion::value>>(database).changed_since(stamp).for_each(
            [&](Vec3, Vec3) { ++num_rows; });
        return num_rows;
    };
    EXPECT_EQ(rows_after([] {}), 0u);
    EXPECT_EQ(rows_after([&] { database.set<&Position::value>(database.find(all[5]), {1, 1, 1}); }), 1024u);
    EXPECT_EQ(rows_after([&] { database.set<&Motion::value>(database.find(all[2999]), {1, 1, 1}); }), 952u);
}

TEST_F(DatabaseQueries, fields_of_managers_are_gathered_by_entity) {
    Manager<Hull> hulls(entities, pool);
    const auto all = create<Position>(300, 0, {});
    for (std::size_t i = 0; i < all.size(); i += 4) ASSERT_TRUE(hulls.add(all[i], {static_cast<float>(i), 0}).ok());
    std::size_t num_found = 0;
    const auto gathering = query<Write<&Position::heat>, Maybe<&Hull::mass>>(database, hulls);
    SerialExecutor executor;
    gathering.for_each(executor, [&](Entity entity, float& heat, const float* mass) {
        EXPECT_EQ(mass != nullptr, hulls.has(entity));
        if (mass != nullptr) heat = *mass;
        num_found += mass != nullptr;
    });
    EXPECT_EQ(num_found, 75u);
    EXPECT_EQ(database.get<&Position::heat>(database.find(all[8])), 8);
}

TEST_F(DatabaseQueries, a_started_loop_marks_when_it_was_waited_for) {
    create<Position>(50'000, 0, {});
    database.settle({nullptr, 3});
    SerialExecutor executor;
    const auto heating = query<Write<&Position::heat>>(database);
    auto heat = [](float& value) { value += 1; };
    const Table& table = (*database.all_tables().begin())->table();
    {
        auto run = heating.start(executor, heat);
        EXPECT_LT(table.written_stamp(1, 0), 3u);
        run.wait();
        EXPECT_EQ(table.written_stamp(1, 0), 3u);
    }
    query<Read<&Position::heat>>(database).for_each([](float value) { ASSERT_EQ(value, 1); });
}

using DatabaseQueriesDeathTest = DatabaseQueries;
TEST_F(DatabaseQueriesDeathTest, structural_calls_inside_a_loop_end_the_program) {
    const auto all = create<Position>(2, 0, {});
    EXPECT_DEATH(query<Read<&Position::heat>>(database).for_each([&](float) { database.destroy(all[0]); }),
                 "while a loop ran over its rows");
}

}  // namespace
