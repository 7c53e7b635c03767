// Queries over a world: the rows do not depend on which store keeps a component type.

#include "shoal/components/activity.h"
#include "shoal/components/ownership.h"
#include "shoal/components/tag.h"
#include "shoal/pose/model_pose.h"
#include "shoal/query/text_query.h"
#include "shoal/transform/transform.h"
#include "shoal/world/world.h"
#include "support/keep_in.h"
#include "support/rendezvous.h"
#include "support/testing.h"
#include "support/thread_pool_executor.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <set>
#include <vector>

// Named, because g++ gives queries over members of types in an unnamed namespace a name that other sources may give theirs.
namespace world_query_test {
namespace {

using namespace shoal;

struct Hull {
    Vec3 position{};
    int number = 0;
};
SHOAL_COMPONENT(Hull, (position, split), number)
struct Mast {
    int height = 0;
};
SHOAL_COMPONENT(Mast, height)
/// An entity may have several.
struct Flag {
    int colour = 0;
    Vec3 size;
};
SHOAL_COMPONENT((Flag, many), colour, (size, split))
struct Anchored {
    int depth = 0;
};
SHOAL_COMPONENT((Anchored, enableable), depth)
struct Crew {
    int size = 0;
    float morale = 0;
};
SHOAL_COMPONENT((Crew, whole), size, morale)

struct Breeze {
    float force = 0;
    Vec3 from{};
};
SHOAL_COMPONENT((Breeze, singleton), force, from)

/// What a query should find of an entity.
struct Boat {
    Entity entity;
    int number = 0, height = -1, depth = -1, size = -1;  // -1: it lacks the component
};

/// Bits of what is kept in the database; the rest is in managers of different indexes.
enum : unsigned { kHull = 1, kMast = 2, kAnchored = 4, kCrew = 8 };

class Harbour {
public:
    explicit Harbour(unsigned in_database) : in_database_(in_database) {
        keep<Hull>(kHull, RowIndexKind::kPaged);
        keep<Mast>(kMast, RowIndexKind::kHash);
        keep<Anchored>(kAnchored, RowIndexKind::kPaged);
        keep<Crew>(kCrew, RowIndexKind::kIdentity);
    }

    /// Adds boats in random order, and takes some components away again, so that rows lie in different orders.
    void fill(Random& random, std::size_t num_boats) {
        std::vector<Entity> made(num_boats);
        ASSERT_TRUE(entities.create(made).ok());
        for (const Entity entity : made) boats.push_back({entity});
        for (std::size_t i = 0; i < boats.size(); ++i) boats[i].number = static_cast<int>(i);
        for (int round = 0; round < 2; ++round)
            for (Boat& boat : boats)
                change(boats[random.below(static_cast<std::uint32_t>(boats.size()))], random), change(boat, random);
        for (const Boat& boat : boats) ASSERT_TRUE(give(kHull, boat.entity, Hull{{}, boat.number}));
    }

    EntityManager entities;
    World world{entities};
    std::vector<Boat> boats;

private:
    template <class T>
    void keep(unsigned bit, RowIndexKind index) {
        shoal_test::keep_in<T>(world, (in_database_ & bit) != 0, index);
    }
    template <class T>
    bool give(unsigned bit, Entity entity, const T& value) {
        return (in_database_ & bit) != 0 ? world.database().add(entity, value).ok()
                                         : world.manager<T>().add(entity, value).ok();
    }
    template <class T>
    void take(unsigned bit, Entity entity) {
        if ((in_database_ & bit) != 0)
            ASSERT_TRUE(world.database().remove<T>(entity).ok());
        else
            world.manager<T>().remove(entity);
    }
    template <class T>
    void change_one(unsigned bit, Entity entity, int& now, int value, const T& component) {
        now = value;
        if (value < 0)
            take<T>(bit, entity);
        else
            ASSERT_TRUE(give(bit, entity, component));
    }
    void change(Boat& boat, Random& random) {
        const int value = static_cast<int>(random.below(30)) - 10;
        const int given = value < 0 ? -1 : value;
        switch (random.below(3)) {
            case 0:
                return change_one(kMast, boat.entity, boat.height, given, Mast{given});
            case 1:
                return change_one(kAnchored, boat.entity, boat.depth, given, Anchored{given});
            default:
                return change_one(kCrew, boat.entity, boat.size, given, Crew{given, 1});
        }
    }

    unsigned in_database_;
};

class AnyOwningStore : public ::testing::TestWithParam<unsigned> {
protected:
    AnyOwningStore() : random(shoal_test::seed()), harbour(GetParam()) { harbour.fill(random, 700); }

    Random random;
    Harbour harbour;
};

// req: F5
TEST_P(AnyOwningStore, a_query_visits_the_same_entities_with_the_same_values) {
    SCOPED_TRACE(shoal_test::seed_text());
    const auto sailing = harbour.world.query<Read<&Mast::height>, Write<&Hull::position>, Read<&Hull::number>,
                                             Without<Anchored>, Maybe<&Crew::size>>();
    std::map<Entity, std::pair<int, int>> visited;
    sailing.for_each([&](Entity entity, int height, auto&& position, int number, const int* size) {
        EXPECT_TRUE(visited.insert({entity, {height, size == nullptr ? -1 : *size}}).second);
        position += Vec3{float(height), float(number), 1};
    });
    std::size_t expected = 0;
    for (const Boat& boat : harbour.boats) {
        const bool matches = boat.height >= 0 && boat.depth < 0;
        expected += matches;
        ASSERT_EQ(visited.count(boat.entity), matches);
        if (!matches) continue;
        ASSERT_EQ(visited[boat.entity], std::pair(boat.height, boat.size));
    }
    EXPECT_EQ(visited.size(), expected);
    harbour.world.query<Read<&Hull::position>, Read<&Hull::number>>().for_each([&](Entity entity, Vec3 position,
                                                                                   int number) {
        const Boat& boat = harbour.boats[static_cast<std::size_t>(number)];
        ASSERT_EQ(boat.entity, entity);
        ASSERT_EQ(position, boat.height >= 0 && boat.depth < 0 ? (Vec3{float(boat.height), float(number), 1}) : Vec3{});
    });
}

TEST_P(AnyOwningStore, batches_show_what_rows_show) {
    const auto manned = harbour.world.query<Read<&Crew::size>, With<Mast>, Read<&Hull::number>>();
    std::map<Entity, int> by_row, by_batch;
    manned.for_each([&](Entity entity, int size, int number) { by_row[entity] = size * 1000 + number; });
    manned.for_each_batch([&](auto&& batch) {
        const auto sizes = batch.template column<&Crew::size>();
        const auto numbers = batch.template column<&Hull::number>();
        for (std::uint32_t i = 0; i < batch.num_rows(); ++i) {
            const bool is_on = (batch.rows_of_word(i / 64) >> (i % 64) & 1) != 0;
            EXPECT_TRUE(is_on && by_batch.insert({batch.entities()[i], sizes[i] * 1000 + numbers[i]}).second);
        }
    });
    EXPECT_EQ(by_batch, by_row);
    EXPECT_GT(by_row.size(), 50u);
}

TEST_P(AnyOwningStore, loops_on_workers_give_what_a_loop_on_one_thread_gives) {
    shoal_test::ThreadPoolExecutor pool(3);
    const auto raise = harbour.world.query<Write<&Hull::number>, Read<&Mast::height>, With<Crew>>();
    raise.for_each([](int& number, int height) { number += height * 1000; });
    raise.for_each(pool, [](int& number, int height) { number -= height * 1000; });
    std::size_t num_boats = 0;
    harbour.world.query<Read<&Hull::number>>().for_each([&](Entity entity, int number) {
        ASSERT_EQ(harbour.boats[static_cast<std::size_t>(number)].entity, entity);
        ++num_boats;
    });
    EXPECT_EQ(num_boats, harbour.boats.size());
}

TEST_P(AnyOwningStore, changed_since_visits_what_was_written) {
    harbour.world.settle();
    harbour.world.settle();
    const std::uint64_t stamp = harbour.world.stamp();
    const auto masts = harbour.world.query<Read<&Mast::height>, Read<&Hull::number>>();
    std::size_t num_before = 0, num_after = 0;
    masts.changed_since(stamp).for_each([&](int, int) { ++num_before; });
    EXPECT_EQ(num_before, 0u);
    harbour.world.query<Write<&Mast::height>>().for_each([](int& height) { height += 1; });
    masts.changed_since(stamp).for_each([&](int, int) { ++num_after; });
    std::size_t num_masts = 0;
    for (const Boat& boat : harbour.boats) num_masts += boat.height >= 0;
    EXPECT_EQ(num_after, num_masts);
}

TEST_P(AnyOwningStore, any_of_asks_for_one_of_several_component_types) {
    std::map<Entity, bool> visited;
    harbour.world.query<Read<&Hull::number>, AnyOf<Anchored, Crew>, Without<Mast>>().for_each(
        [&](Entity entity, int) { EXPECT_TRUE(visited.insert({entity, true}).second); });
    std::size_t expected = 0;
    for (const Boat& boat : harbour.boats) {
        const bool matches = boat.height < 0 && (boat.depth >= 0 || boat.size >= 0);
        expected += matches;
        ASSERT_EQ(visited.count(boat.entity), matches) << boat.number;
    }
    EXPECT_EQ(visited.size(), expected);
}

TEST_P(AnyOwningStore, of_each_any_of_one_must_be_there) {
    std::size_t num_visited = 0, expected = 0;
    harbour.world.query<Read<&Hull::number>, AnyOf<Anchored, Crew>, AnyOf<Mast, Crew>>().for_each(
        [&](int) { ++num_visited; });
    for (const Boat& boat : harbour.boats)
        expected += (boat.depth >= 0 || boat.size >= 0) && (boat.height >= 0 || boat.size >= 0);
    EXPECT_EQ(num_visited, expected);
    EXPECT_LT(expected, harbour.boats.size());
}

TEST_P(AnyOwningStore, a_type_may_be_read_and_be_one_of_several) {
    std::size_t num_visited = 0, expected = 0;
    harbour.world.query<Read<&Mast::height>, Maybe<&Anchored::depth>, AnyOf<Anchored, Crew>>().for_each(
        [&](Entity, int, const int*) { ++num_visited; });
    for (const Boat& boat : harbour.boats) expected += boat.height >= 0 && (boat.depth >= 0 || boat.size >= 0);
    EXPECT_EQ(num_visited, expected);
}

TEST_P(AnyOwningStore, what_a_query_may_find_counts_as_read_for_changes) {
    harbour.world.settle();
    harbour.world.settle();
    const std::uint64_t stamp = harbour.world.stamp();
    harbour.world.query<Write<&Mast::height>>().for_each([](int& height) { height += 1; });
    const auto hulls = harbour.world.query<Read<&Hull::number>, Maybe<&Mast::height>>().changed_since(stamp);
    std::map<Entity, int> by_row, by_batch;
    hulls.for_each([&](Entity entity, int, const int*) { ++by_row[entity]; });
    hulls.for_each_batch([&](auto&& batch) {
        for (const Entity entity : batch.entities())
            if (entity) ++by_batch[entity];
    });
    for (const Boat& boat : harbour.boats) ASSERT_TRUE(boat.height < 0 || by_row[boat.entity] == 1);
    for (const auto& [entity, count] : by_row) ASSERT_EQ(by_batch[entity], count);
}

INSTANTIATE_TEST_SUITE_P(Stores, AnyOwningStore, ::testing::Range(0u, 16u));

/// Flags in a manager, or in the database.
class Flagged : public ::testing::TestWithParam<bool> {
protected:
    Flagged() {
        if (GetParam())
            world.database().component<Flag>();
        else
            world.manager<Flag>();
        world.manager<Crew>();
        EXPECT_TRUE(entities.create(made).ok());
        Commands& commands = world.commands();
        for (int i = 0; i < 2000; ++i) {
            for (int k = 0; k < i % 4; ++k) commands.add(made[static_cast<std::size_t>(i)], Flag{10 * i + k, {}});
            if (i % 3 == 0) commands.add(made[static_cast<std::size_t>(i)], Mast{i});
            if (i % 4 != 0) expected.insert({i, i % 4});
        }
        world.settle();
    }
    int number_of(Entity entity) const {
        return static_cast<int>(std::find(made.begin(), made.end(), entity) - made.begin());
    }

    void remove_second(Entity entity) {
        if (GetParam()) return static_cast<void>(world.database().remove_value<Flag>(entity, 1).value());
        auto& flags = world.manager<Flag>();
        flags.remove(flags.next(flags.instance(entity)));
    }

    EntityManager entities;
    World world{entities};
    std::vector<Entity> made = std::vector<Entity>(2000);
    std::map<int, int> expected;  // how many flags
};

TEST_P(Flagged, a_query_that_asks_for_nothing_else_visits_each_value) {
    std::map<int, int> visited;
    const auto colours = world.query<Read<&Flag::colour>>();
    colours.for_each([&](Entity entity, int colour) {
        EXPECT_EQ(colour / 10, number_of(entity));
        ++visited[number_of(entity)];
    });
    EXPECT_EQ(visited, expected);
    EXPECT_EQ(colours.num_rows(), 3000u);
    world.query<Write<all_fields<Flag>>>().for_each([](auto&& flag) {
        Flag value = flag;
        value.size = {float(value.colour), 1, 2};
        flag = value;
    });
    std::size_t num_sized = 0;
    world.query<Read<all_fields<Flag>>>().for_each(
        [&](const Flag& flag) { num_sized += flag.size == Vec3{float(flag.colour), 1, 2}; });
    EXPECT_EQ(num_sized, 3000u);
    visited.clear();
    colours.for_each_batch([&](auto&& batch) {
        const auto column = batch.template column<&Flag::colour>();
        for (std::uint32_t i = 0; i < batch.num_rows(); ++i) {
            EXPECT_EQ(column[i] / 10, number_of(batch.entities()[i]));
            ++visited[number_of(batch.entities()[i])];
        }
    });
    EXPECT_EQ(visited, expected);
    shoal_test::ThreadPoolExecutor workers(3);
    std::atomic<std::uint64_t> sum = 0;
    world.query<With<Flag>>().grain(64).for_each(workers, [&](Entity) { ++sum; });
    EXPECT_EQ(sum, 3000u);
}

TEST_P(Flagged, beside_other_terms_an_entity_is_visited_once) {
    std::size_t num_with = 0, num_without = 0, num_any = 0;
    world.query<Read<&Mast::height>, With<Flag>>().for_each([&](int) { ++num_with; });
    world.query<Read<&Mast::height>, Without<Flag>>().for_each([&](int) { ++num_without; });
    world.query<With<Mast>, AnyOf<Flag, Crew>>().for_each([&](Entity) { ++num_any; });
    EXPECT_EQ(num_with, 500u);
    EXPECT_EQ(num_without, 167u);
    EXPECT_EQ(num_any, 500u);
}

TEST(FlaggedAlone, an_entity_with_several_values_is_visited_once_when_these_lead_a_query_that_does_not_read_them) {
    EntityManager entities;
    World world(entities);
    std::vector<Entity> all(20);
    ASSERT_TRUE(entities.create(all).ok());
    ASSERT_TRUE(world.manager<Mast>().add(std::span(all).subspan(10), Mast{}).ok());
    for (int i = 0; i < 20; ++i)
        for (int k = 0; k <= i % 3; ++k)
            ASSERT_TRUE(world.manager<Flag>().add(all[std::size_t(i)], {.colour = k, .size = {}}).ok());
    std::vector<Entity> visited;
    world.query<With<Flag>, Without<Mast>>().for_each([&](Entity entity) { visited.push_back(entity); });
    std::sort(visited.begin(), visited.end());
    EXPECT_EQ(visited, std::vector<Entity>(all.begin(), all.begin() + 10));
}

TEST_P(Flagged, a_query_that_reads_values_beside_other_terms_visits_each_value) {
    for (std::size_t i = 3; i < made.size(); i += 36) remove_second(made[i]);  // of three, with a mast
    for (std::size_t i = 0; i < made.size(); i += 17) entities.destroy(made[i]);
    world.settle();
    std::map<int, int> all, with_mast, visited;
    for (int i = 0; i < 2000; ++i)
        for (int k = 0; k < i % 4 && i % 17 != 0; ++k) {
            if (i % 36 == 3 && k == 1) continue;
            all[10 * i + k] = 1;
            if (i % 3 == 0) with_mast[10 * i + k] = 1;
        }
    const auto masts = world.query<Read<&Mast::height>, Read<&Flag::colour>, Without<Crew>>();
    masts.for_each([&](Entity entity, int height, int colour) {
        EXPECT_EQ(colour / 10, number_of(entity));
        EXPECT_EQ(height, number_of(entity));
        ++visited[colour];
    });
    EXPECT_EQ(visited, with_mast);
    EXPECT_GE(masts.num_rows(), with_mast.size());
    visited.clear();
    world.query<Read<&Flag::colour>, Maybe<&Mast::height>>().for_each([&](int colour, const int* height) {
        EXPECT_EQ(height != nullptr, colour / 10 % 3 == 0);
        ++visited[colour];
    });
    EXPECT_EQ(visited, all);
    visited.clear();
    masts.for_each_batch([&](auto&& batch) {
        for (const int colour : batch.template column<&Flag::colour>()) ++visited[colour];
    });
    EXPECT_EQ(visited, with_mast);
    std::atomic<int> num_visited = 0;
    shoal_test::ThreadPoolExecutor workers(3);
    masts.grain(64).for_each(workers, [&](int, int) { ++num_visited; });
    EXPECT_EQ(num_visited, int(with_mast.size()));
}

TEST_P(Flagged, values_and_what_is_beside_them_are_written_once_for_each_value) {
    shoal_test::ThreadPoolExecutor workers(3);
    world.query<Write<&Flag::size>, Read<&Flag::colour>, Read<&Mast::height>>().grain(64).for_each(
        workers, [](auto&& size, int colour, int height) { size = {float(colour), float(height), 0}; });
    world.query<Read<all_fields<Flag>>>().for_each([&](Entity entity, const Flag& flag) {
        const int i = number_of(entity);
        EXPECT_EQ(flag.size, i % 3 == 0 ? (Vec3{float(flag.colour), float(i), 0}) : Vec3{});
    });
    const std::uint64_t stamp = world.stamp();
    world.query<Write<&Mast::height>, Read<&Flag::colour>>().grain(64).for_each(
        workers, [](auto&& height, int) { height += 1; });
    world.query<Read<&Mast::height>, Without<Crew>>().for_each(
        [&](Entity entity, int height) { EXPECT_EQ(height, number_of(entity) + number_of(entity) % 4); });
    std::size_t num_changed = 0;
    world.query<Read<&Mast::height>, Read<&Flag::colour>>().changed_since(stamp).for_each(
        [&](int, int) { ++num_changed; });
    EXPECT_EQ(num_changed, 1001u);
    ASSERT_TRUE(world.activity().set_active(made[3], false).ok());
    std::size_t num_active = 0;
    const auto both = world.query<Read<&Mast::height>, Read<&Flag::colour>>();
    both.for_each([&](int, int) { ++num_active; });
    both.with_inactive().for_each([&](int, int) { ++num_active; });
    EXPECT_EQ(num_active, 998u + 1001u);
}

TEST_P(Flagged, what_is_written_once_for_each_value_is_written_in_the_order_of_the_values_by_any_number_of_workers) {
    std::map<Entity, int> heights;
    const auto raised = [](int height, int colour) { return (height * 31 + colour) % 100'003; };
    const auto both = world.query<Write<&Mast::height>, Read<&Flag::colour>>().grain(64);
    world.query<Read<&Mast::height>>().for_each([&](Entity entity, int height) { heights[entity] = height; });
    for (const unsigned num_workers : {1u, 2u, 4u}) {
        shoal_test::ThreadPoolExecutor workers(num_workers);
        world.query<Read<&Mast::height>, Read<&Flag::colour>>().for_each(
            [&](Entity entity, int, int colour) { heights[entity] = raised(heights[entity], colour); });
        both.for_each(workers, [&](auto&& height, int colour) { height = raised(height, colour); });
        world.query<Read<&Mast::height>>().for_each(
            [&](Entity entity, int height) { ASSERT_EQ(height, heights[entity]) << num_workers; });
    }
}

TEST_P(Flagged, changed_since_tells_of_every_value) {
    const auto colours = world.query<Read<&Flag::colour>>();
    world.settle();
    std::size_t num_changed = 0;
    colours.changed_since(world.stamp()).for_each([&](int) { ++num_changed; });
    EXPECT_EQ(num_changed, 0u);
    world.query<Write<&Flag::colour>>().for_each([](auto&& colour) { colour += 0; });
    colours.changed_since(world.stamp()).for_each([&](int) { ++num_changed; });
    EXPECT_EQ(num_changed, 3000u);
}

INSTANTIATE_TEST_SUITE_P(Stores, Flagged, ::testing::Bool());

TEST(FlaggedZones, values_are_in_the_zone_of_their_entity) {
    EntityManager entities;
    PagePool pool;
    Database database(entities, pool);
    std::vector<Entity> made(300);
    ASSERT_TRUE(database.create<Mast>(made, 0).ok());
    for (std::size_t i = 0; i < made.size(); ++i)
        for (std::size_t k = 0; k < i % 3; ++k) ASSERT_TRUE(database.add(made[i], Flag{int(i), {}}).ok());
    ASSERT_TRUE(database.move(std::span<const Entity>(made).first(100), 5).ok());
    const auto flags = query<Read<&Flag::colour>>(database);
    std::size_t num_here = 0, num_all = 0;
    flags.for_each([&](int) { ++num_all; });
    flags.in({5}).for_each([&](int colour) { num_here += colour < 100 ? 1 : 1000; });
    EXPECT_EQ(num_all, 300u);
    EXPECT_EQ(num_here, 99u);
    num_all = num_here = 0;
    const auto masts = query<Read<&Flag::colour>, Read<&Mast::height>>(database);
    masts.for_each([&](int, int) { ++num_all; });
    masts.in({5}).for_each([&](int colour, int) { num_here += colour < 100 ? 1 : 1000; });
    EXPECT_EQ(num_all, 300u);
    EXPECT_EQ(num_here, 99u);
}

// --- stores of other kinds ---------------------------------------------------------------------------------------

class SceneQuery : public ::testing::Test {
protected:
    SceneQuery() {
        made.resize(4);
        EXPECT_TRUE(entities.create(made).ok());
        const Transform locals[] = {{.position = {0, 0, 4}}, {.position = {1, 0, 0}}, {.position = {0, 2, 0}}};
        const std::uint32_t parents[] = {kNilRow, 0, 1};
        EXPECT_TRUE(world.transforms().add(std::span(made).first(3), locals, parents).ok());
        for (const Entity entity : made) EXPECT_TRUE(crews.add(entity, {static_cast<int>(entity.index())}).ok());
    }

    EntityManager entities;
    World world{entities};
    Manager<Crew>& crews = world.manager<Crew>();
    std::vector<Entity> made;
};

TEST_F(SceneQuery, local_and_world_poses_are_fields_as_others) {
    std::map<Entity, std::pair<Vec3, Vec3>> found;
    world.query<Read<&Transform::position>, Read<&WorldPose::matrix>, With<Crew>>().for_each(
        [&](Entity entity, Vec3 local, const Matrix3x4& pose) {
            found[entity] = {local, {pose.row[0].w, pose.row[1].w, pose.row[2].w}};
        });
    ASSERT_EQ(found.size(), 3u);
    EXPECT_EQ(found[made[2]].first, (Vec3{0, 2, 0}));
    EXPECT_EQ(found[made[2]].second, (Vec3{1, 2, 4}));
}

/// Entities with transforms, each but every eighth a child of the one before, and crews of two thirds of them, in
/// another order.
class Convoys : public ::testing::TestWithParam<bool> {
protected:
    Convoys() {
        std::vector<Transform> locals(made.size());
        std::vector<std::uint32_t> parents(made.size());
        for (std::uint32_t i = 0; i < made.size(); ++i) parents[i] = i % 8 == 0 ? kNilRow : i - 1;
        EXPECT_TRUE(entities.create(made).ok());
        EXPECT_TRUE(world.transforms().add(made, locals, parents).ok());
        for (std::size_t i = 0; i < made.size(); ++i) {
            const std::size_t k = i * 7 % made.size();
            const bool is_added = k % 3 == 0 || world.manager<Crew>().add(made[k], {int(k % 5)}).ok();
            EXPECT_TRUE(is_added);
        }
    }

    /// Moves those with a crew, driven by the crews, in a loop of a compiled query or one from text.
    void move(Executor& executor, shoal_test::Rendezvous& threads) {
        if (!GetParam()) {
            world.query<Write<&Transform::position>, Read<&Crew::size>>().grain(64).for_each(
                executor, [&](auto&& position, int size) { threads.enter(), position.x += float(size); });
            return;
        }
        const Result<TextQuery> text = TextQuery::make(world.directory(), "&transform, crew");
        ASSERT_TRUE(text.ok());
        text->for_each_batch(executor, [&](const TextBatch& batch) {
            threads.enter();
            for (std::uint32_t i = 0; i < batch.num_rows(); ++i)
                batch.column(0, 0).write<Vec3>(i)->x += float(batch.column(1, 0).read<Crew>(i)->size);
        });
    }

    EntityManager entities;
    World world{entities};
    std::vector<Entity> made = std::vector<Entity>(9000);
};

TEST_P(Convoys, threads_share_a_loop_that_writes_poses_and_world_poses_follow) {
    float moved = 0;
    for (const unsigned num_workers : {1u, 2u, 4u}) {
        shoal_test::ThreadPoolExecutor executor(num_workers);
        shoal_test::Rendezvous threads(std::min(num_workers, 2u));
        move(executor, threads);
        moved += 1;
        EXPECT_GE(threads.num_threads(), std::min(num_workers, 2u)) << "one thread has run the loop alone";
        float x = 0;
        for (std::size_t i = 0; i < made.size(); ++i) {
            x = (i % 8 == 0 ? 0 : x) + (i % 3 != 0 ? moved * float(i % 5) : 0);
            const TransformManager& transforms = world.transforms();
            ASSERT_EQ(transforms.world(transforms.instance(made[i])).row[0].w, x) << i << " of " << num_workers;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(TypedOrText, Convoys, ::testing::Bool());

TEST_F(SceneQuery, a_field_of_the_parent_is_null_for_roots_and_for_those_without_a_transform) {
    std::map<Entity, int> parents;
    world.query<With<Crew>, Parent<Read<&Crew::size>>, Parent<Read<&WorldPose::matrix>>>().for_each(
        [&](Entity entity, const int* size, const Matrix3x4* pose) {
            EXPECT_EQ(size == nullptr, pose == nullptr);
            parents[entity] = size == nullptr ? -1 : *size;
        });
    const int first = static_cast<int>(made[0].index()), second = static_cast<int>(made[1].index());
    EXPECT_EQ(parents, (std::map<Entity, int>{{made[0], -1}, {made[1], first}, {made[2], second}, {made[3], -1}}));
}

TEST_F(SceneQuery, a_parent_without_the_component_gives_null) {
    crews.remove(made[1]);
    std::map<Entity, bool> has_size;
    world.query<With<Transform>, Parent<Read<&Crew::size>>>().for_each(
        [&](Entity entity, const int* size) { has_size[entity] = size != nullptr; });
    EXPECT_EQ(has_size, (std::map<Entity, bool>{{made[0], false}, {made[1], true}, {made[2], false}}));
}

TEST_F(SceneQuery, the_parent_is_read_where_there_is_one_alone_and_beside_other_stores) {
    using Parents = std::map<Entity, Entity>;
    TransformManager& transforms = world.transforms();
    ASSERT_TRUE(world.database().add(made[2], Mast{7}).ok());
    world.manager<Flag>();  // nobody has one
    const auto expect_parents = [&](const Parents& expected) {
        Parents alone, joined, optional, with_poses;
        world.query<Read<&ChildOf::parent>>().for_each([&](Entity child, Entity parent) { alone[child] = parent; });
        world.query<Read<&Crew::size>, Read<&ChildOf::parent>>().for_each(
            [&](Entity child, int, Entity parent) { joined[child] = parent; });
        world.query<With<Crew>, Maybe<&ChildOf::parent>>().for_each([&](Entity child, const Entity* parent) {
            if (parent != nullptr) optional[child] = *parent;
        });
        world.query<Read<&ChildOf::parent>, Read<&WorldPose::matrix>>().for_each(
            [&](Entity child, Entity parent, const Matrix3x4& pose) {
                with_poses[child] = parent;
                EXPECT_EQ(pose, transforms.world(transforms.instance(child)));
            });
        std::set<Entity> children, with_one, with_either, without, of_text, others;
        for (const auto& [child, parent] : expected) children.insert(child);
        for (const Entity entity : made)
            if (!expected.contains(entity)) others.insert(entity);
        world.query<With<Crew>, With<ChildOf>>().for_each([&](Entity child) { with_one.insert(child); });
        world.query<With<Crew>, AnyOf<ChildOf, Flag>>().for_each([&](Entity child) { with_either.insert(child); });
        world.query<With<Crew>, Without<ChildOf>>().for_each([&](Entity other) { without.insert(other); });
        const Result<TextQuery> text = TextQuery::make(world.directory(), "crew, child_of|flag");
        ASSERT_TRUE(text.ok()) << text.status().message();
        text->for_each_batch(
            [&](const TextBatch& batch) { of_text.insert(batch.entities().begin(), batch.entities().end()); });
        EXPECT_EQ(with_one, children);
        EXPECT_EQ(with_either, children);
        EXPECT_EQ(of_text, children);
        EXPECT_EQ(without, others);
        EXPECT_EQ(alone, expected);
        EXPECT_EQ(joined, expected);
        EXPECT_EQ(optional, expected);
        EXPECT_EQ(with_poses, expected);
    };
    expect_parents({{made[1], made[0]}, {made[2], made[1]}});
    world.query<Read<&Mast::height>, Read<&ChildOf::parent>, Parent<Read<&ChildOf::parent>>>().for_each(
        [&](Entity child, int, Entity parent, const Entity* grandparent) {
            EXPECT_EQ(child, made[2]);
            EXPECT_EQ(parent, made[1]);
            ASSERT_NE(grandparent, nullptr);
            EXPECT_EQ(*grandparent, made[0]);
        });
    world.query<With<Crew>, Parent<Read<&ChildOf::parent>>>().for_each(
        [&](Entity child, const Entity* grandparent) { EXPECT_EQ(grandparent != nullptr, child == made[2]); });
    const std::uint64_t linked_at = (world.settle(), world.stamp());
    ASSERT_TRUE(transforms.add({&made[3], 1}).ok());
    ASSERT_TRUE(transforms.link(transforms.instance(made[0]), transforms.instance(made[3])).ok());
    expect_parents({{made[0], made[3]}, {made[1], made[0]}, {made[2], made[1]}});
    int num_changed = 0;
    world.query<Read<&ChildOf::parent>>().changed_since(linked_at).for_each([&](Entity) { ++num_changed; });
    EXPECT_NE(num_changed, 0) << "a link counts as written";
    transforms.remove({&made[1], 1});
    expect_parents({{made[0], made[3]}});
    transforms.unlink(transforms.instance(made[0]));
    expect_parents({});
    world.commands().add(made[2], ChildOf{made[0]});
    world.settle();
    expect_parents({{made[2], made[0]}});
    EXPECT_TRUE(transforms.validate().ok()) << transforms.validate().message();
}

TEST_F(SceneQuery, a_query_that_names_a_parent_makes_the_transforms) {
    World other(entities);
    Manager<Crew>& sailors = other.manager<Crew>();
    ASSERT_TRUE(sailors.add(made[0], {4}).ok());
    int num_visited = 0;
    other.query<Read<&Crew::size>, Parent<Read<&Crew::size>>>().for_each([&](int size, const int* of_parent) {
        EXPECT_EQ(size, 4);
        EXPECT_EQ(of_parent, nullptr);
        ++num_visited;
    });
    EXPECT_EQ(num_visited, 1);
    EXPECT_NE(find_transforms(other.directory()), nullptr);
}

TEST_F(SceneQuery, who_owns_others_and_is_owned_by_nobody_does_not_count_as_owned) {
    auto& owners = world.ownership();
    ASSERT_TRUE(owners.own(made[0], made[1]).ok());
    ASSERT_TRUE(owners.own(made[1], made[2]).ok());
    std::map<Entity, Entity> owner_of;
    world.query<Read<&Owned::owner>>().for_each([&](Entity entity, Entity owner) { owner_of[entity] = owner; });
    EXPECT_EQ(owner_of, (std::map<Entity, Entity>{{made[1], made[0]}, {made[2], made[1]}}));
    std::vector<Entity> free;
    world.query<With<Crew>, Without<Owned>>().for_each([&](Entity entity) { free.push_back(entity); });
    EXPECT_EQ(free, (std::vector<Entity>{made[0], made[3]}));
}

TEST_F(SceneQuery, an_entity_with_several_tags_is_visited_once) {
    TagManager tags(world.manager<Tag>(), world.strings());
    ASSERT_TRUE(tags.add_tag(made[0], "fast").ok());
    ASSERT_TRUE(tags.add_tag(made[0], "red").ok());
    ASSERT_TRUE(tags.add_tag(made[3], "red").ok());
    std::vector<Entity> tagged;
    world.query<With<Tag>, With<Crew>>().for_each([&](Entity entity) { tagged.push_back(entity); });
    EXPECT_EQ(tagged, (std::vector<Entity>{made[0], made[3]}));
    tagged.clear();
    world.query<With<Tag>, Maybe<&Crew::size>>().for_each([&](Entity entity, const int*) { tagged.push_back(entity); });
    std::sort(tagged.begin(), tagged.end(), [](Entity a, Entity b) { return a.index() < b.index(); });
    EXPECT_EQ(tagged, (std::vector<Entity>{made[0], made[3]})) << "though the tags drive";
}

// --- tags --------------------------------------------------------------------------------------------------------

/// Entities with up to three tags, in random order, and what lies in the stores of a Harbour.
class TaggedHarbour : public ::testing::TestWithParam<unsigned> {
protected:
    TaggedHarbour() {
        harbour.fill(random_, 3000);
        for (const Boat& boat : boats)
            for (int tag = 0; tag < 3; ++tag)
                if (random_.below(static_cast<std::uint32_t>(3 + 20 * tag)) == 0) give_tag(boat.entity, tag);
    }
    static std::string_view name(int tag) { return tag == 0 ? "common" : tag == 1 ? "rare" : "rarest"; }
    void give_tag(Entity entity, int tag) {
        ASSERT_TRUE(tags_.add_tag(entity, name(tag)));
        model_[entity] |= 1u << tag;
    }
    void take_tag(Entity entity, int tag) {
        ASSERT_EQ(tags_.remove_tag(entity, name(tag)), (model_[entity] >> tag & 1) != 0);
        model_[entity] &= ~(1u << tag);
    }
    bool has(Entity entity, int tag) const {
        const auto found = model_.find(entity);
        return found != model_.end() && (found->second >> tag & 1) != 0;
    }
    template <class Wanted>
    std::vector<Entity> expected(Wanted&& wanted) const {
        std::vector<Entity> found;
        for (const Boat& boat : boats)
            if (wanted(boat)) found.push_back(boat.entity);
        return sorted(found);
    }
    static std::vector<Entity> sorted(std::vector<Entity> found) {
        std::sort(found.begin(), found.end(), [](Entity a, Entity b) { return a.id < b.id; });
        return found;
    }
    template <class Query>
    static std::vector<Entity> visited(const Query& query) {
        std::vector<Entity> found;
        query.for_each_batch(
            [&](auto&& batch) { found.insert(found.end(), batch.entities().begin(), batch.entities().end()); });
        return sorted(found);
    }

    Random random_{shoal_test::seed()};
    Harbour harbour{GetParam()};
    World& world = harbour.world;
    EntityManager& entities = harbour.entities;
    const std::vector<Boat>& boats = harbour.boats;
    TagManager tags_{world.manager<Tag>(), world.strings()};
    std::map<Entity, unsigned> model_;
};

// req: G9
TEST_P(TaggedHarbour, a_query_visits_the_entities_of_a_tag_whichever_side_drives) {
    const auto common = world.query<Read<&Hull::number>, Maybe<&Mast::height>>().tagged("common");
    const auto both = world.query<Read<&Hull::number>, With<Mast>>().tagged("common").tagged("rare");
    const auto alone = world.query<>().tagged("rare");
    const auto few = world.query<Read<&Hull::number>, Without<Crew>>().untagged("common").tagged("rare");
    const auto most = world.query<Read<&Hull::number>, With<Mast>>().untagged("common");
    for (int round = 0; round < 3; ++round) {
        std::vector<Entity> found;
        common.for_each([&](Entity entity, int number, const int* height) {
            found.push_back(entity);
            const auto it = std::find_if(boats.begin(), boats.end(), [&](const Boat& b) { return b.number == number; });
            EXPECT_EQ(it->entity, entity);
            EXPECT_EQ(height == nullptr ? -1 : *height, it->height);
        });
        EXPECT_EQ(sorted(found), expected([&](const Boat& b) { return has(b.entity, 0); }));
        EXPECT_EQ(visited(both),
                  expected([&](const Boat& b) { return has(b.entity, 0) && has(b.entity, 1) && b.height >= 0; }));
        EXPECT_EQ(visited(alone), expected([&](const Boat& b) { return has(b.entity, 1); }));
        EXPECT_EQ(visited(few),
                  expected([&](const Boat& b) { return !has(b.entity, 0) && has(b.entity, 1) && b.size < 0; }));
        EXPECT_EQ(visited(most), expected([&](const Boat& b) { return !has(b.entity, 0) && b.height >= 0; }));
        found.clear();
        alone.for_each([&](Entity entity) { found.push_back(entity); });
        EXPECT_EQ(sorted(found), visited(alone));
        for (int i = 0; i < 200; ++i) {
            const Entity entity = boats[random_.below(3000)].entity;
            const int tag = static_cast<int>(random_.below(3));
            if (random_.below(2) == 0)
                give_tag(entity, tag);
            else
                take_tag(entity, tag);
        }
    }
}

TEST_P(TaggedHarbour, the_shortest_list_drives) {
    const Store& tag_store = world.manager<Tag>().core();
    const auto rare = world.query<Read<&Hull::number>>().tagged("rare");
    EXPECT_EQ(&rare.driver(), &tag_store);
    EXPECT_EQ(rare.num_rows(), tags_.entities_with("rare").size());
    const auto two = world.query<>().tagged("common").tagged("rarest");
    EXPECT_EQ(two.num_rows(), tags_.entities_with("rarest").size());
    for (const Boat& boat : boats) give_tag(boat.entity, 1);
    ASSERT_TRUE(tags_.add_tag(*entities.create(), "rare"));
    EXPECT_NE(&rare.driver(), &tag_store) << "fewer have a hull";
    EXPECT_EQ(visited(rare).size(), 3000u);
}

TEST_P(TaggedHarbour, loops_on_workers_visit_the_tagged_in_the_same_order) {
    for (const Boat& boat : boats) give_tag(boat.entity, 0);
    const auto order = [&](std::uint32_t num_workers) {
        shoal_test::ThreadPoolExecutor pool(num_workers);
        Events<int> seen;
        const auto tagged = world.query<Read<&Hull::number>>().tagged("common").grain(64);
        tagged.for_each(pool, [&seen](int number) { seen.write(number); });
        return std::vector<int>(seen.read().begin(), seen.read().end());
    };
    const std::vector<int> one = order(1);
    EXPECT_EQ(one.size(), 3000u);
    EXPECT_EQ(order(3), one);
}

INSTANTIATE_TEST_SUITE_P(TaggedHarbour, TaggedHarbour, ::testing::Values(0u, kHull | kMast | kAnchored | kCrew, kHull));

TEST_F(SceneQuery, who_dies_leaves_the_list_of_its_tag_when_the_world_settles) {
    TagManager tags(world.manager<Tag>(), world.strings());
    const auto fast = world.query<>().tagged("fast");
    const auto fast_crews = world.query<Write<&Crew::size>>().tagged("fast");
    const auto count = [&] {
        int num = 0;
        fast.for_each([&](Entity) { ++num; });
        return num;
    };
    EXPECT_EQ(count(), 0) << "a tag that nobody has";
    for (const Entity entity : made) ASSERT_TRUE(tags.add_tag(entity, "fast"));
    EXPECT_EQ(count(), 4);
    entities.destroy(made[2]);
    world.settle();
    EXPECT_EQ(count(), 3);
    const Entity next = *entities.create();
    EXPECT_EQ(count(), 3) << "not even with the index of a dead one";
    world.commands().add(next, Tag{StringId("fast")});
    world.commands().remove<Tag>(made[0]);
    world.settle();
    EXPECT_EQ(count(), 3);
    ASSERT_TRUE(world.manager<Crew>().add(next, {7}).ok());
    std::vector<Entity> written;
    fast_crews.for_each([&](Entity entity, auto&& size) {
        size = 100;
        written.push_back(entity);
    });
    std::sort(written.begin(), written.end());
    EXPECT_EQ(written, (std::vector<Entity>{made[1], made[3], next}));
    EXPECT_EQ(crews.get<&Crew::size>(crews.instance(made[3])), 100);
    ASSERT_TRUE(world.activity().set_active(made[1], false));
    EXPECT_EQ(count(), 2) << "inactive entities are passed over";
}

TEST_F(SceneQuery, a_tag_is_not_given_while_a_loop_runs_over_the_tagged) {
    TagManager tags(world.manager<Tag>(), world.strings());
    ASSERT_TRUE(tags.add_tag(made[0], "fast"));
    const auto fast = world.query<>().tagged("fast");
    EXPECT_DEATH(fast.for_each([&](Entity) { static_cast<void>(tags.add_tag(made[1], "fast")); }),
                 "of a manager for \"tag\" was called while a loop ran over its rows");
    EXPECT_DEATH(world.query<>().for_each([](Entity) {}), "name a component, or a tag");
}

TEST_F(SceneQuery, tags_in_the_database_have_no_lists_for_queries) {
    ASSERT_TRUE(world.directory().claim<Tag>(world.database()));
    EXPECT_DEATH(world.query<>().tagged("fast"), "call World::manager<Tag>\\(\\) before tags are used");
}

TEST_F(SceneQuery, a_model_pose_is_had_or_lacked_and_its_fields_are_refused) {
    auto& models = world.make_store<ModelPoseManager>();
    const StringId names[] = {StringId("root")};
    const std::uint32_t parents[] = {kNilRow};
    const Vec3 positions[] = {{}}, scales[] = {{1, 1, 1}};
    const Quaternion rotations[] = {{}};
    const Result<NodeTreeId> tree = models.add_node_tree(
        {.names = names, .parents = parents, .positions = positions, .rotations = rotations, .scales = scales});
    ASSERT_TRUE(tree.ok() && models.add(std::span(made).subspan(1, 2), *tree).ok());
    std::vector<Entity> with, without;
    world.query<With<ModelPose>, Read<&Crew::size>>().for_each([&](Entity entity, int) { with.push_back(entity); });
    world.query<Without<ModelPose>, Read<&Crew::size>>().for_each(
        [&](Entity entity, int) { without.push_back(entity); });
    EXPECT_EQ(with, (std::vector<Entity>{made[1], made[2]}));
    EXPECT_EQ(without, (std::vector<Entity>{made[0], made[3]}));
    EXPECT_DEATH((world.query<Read<&ModelPose::names>>()), "whose store keeps its fields in another form; say With");
}

TEST_F(SceneQuery, the_terms_say_which_of_two_databases_is_asked) {
    PagePool pool;
    Database second(entities, pool);
    ASSERT_TRUE(world.database().add(made[0], Anchored{1}).ok());
    ASSERT_TRUE(world.attach(second));
    ASSERT_TRUE(second.add(made[1], Mast{4}).ok());
    std::vector<Entity> found;
    world.query<Read<&Mast::height>, Read<&Crew::size>>().for_each(
        [&](Entity entity, int, int) { found.push_back(entity); });
    world.query<Read<&Mast::height>, With<Crew>>().for_each([&](Entity entity, int) { found.push_back(entity); });
    EXPECT_EQ(found, (std::vector<Entity>{made[1], made[1]}));
    EXPECT_DEATH((world.query<Read<&Mast::height>, Read<&Anchored::depth>>()), "components of two databases");
    EXPECT_EQ(TextQuery::make(world.directory(), "mast, anchored").status().message(),
              "1:7: the components are in two databases, of which a query joins one; make a query for each");
}

TEST_F(SceneQuery, the_database_of_a_world_is_the_first_that_was_attached) {
    PagePool pool;
    Database first(entities, pool), second(entities, pool), third(entities, pool);
    ASSERT_TRUE(world.attach(first) && world.attach(second) && world.attach(third));
    EXPECT_EQ(&world.database(), &first);
    ASSERT_TRUE(second.add(made[1], Mast{4}).ok());
    world.commands().add(made[2], Mast{5});
    world.settle();
    EXPECT_TRUE(second.has<Mast>(made[2])) << "commands reach the owning store of a type, whichever database has them";
    world.detach(first);
    EXPECT_EQ(&world.database(), &second) << "the next that was attached takes its place";
    world.detach(third);
    EXPECT_EQ(&world.database(), &second);
}

TEST_F(SceneQuery, a_loop_over_poses_refuses_that_their_rows_are_ordered_anew) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(world.query<Read<&Transform::position>>().for_each([&](Vec3) { world.transforms().restore_order(); }),
                 "while a loop ran over its rows");
}

TEST_F(SceneQuery, a_pass_that_reads_poses_waits_for_one_that_sets_them) {
    std::vector<Access> accesses;
    for (const Access& access : world.query<Read<&WorldPose::matrix>, Parent<Read<&Crew::size>>>().accesses())
        accesses.push_back(access);
    const Access sets_positions = writes<&Transform::position>(world.transforms());
    EXPECT_TRUE(conflict(accesses[0], sets_positions)) << "world poses follow local ones";
    EXPECT_TRUE(conflict(accesses[2], sets_positions)) << "links say who is the parent";
    EXPECT_TRUE(conflict(accesses[1], writes<&Crew::size>(crews)));
}

/// Two component types in tables of their own.
struct Yard final : Store {
    Yard(EntityManager& entities, PagePool& pool)
        : hulls(schema_of<Hull>(), entities, pool), masts(schema_of<Mast>(), entities, pool) {}
    std::span<const Schema* const> schemas() const override { return both; }
    OwnedColumns find_columns(const Schema& component) override {
        const OwnedColumns found = hulls.find_columns(component);
        if (found && is_deep) return {.rows = &hulls, .first_column = 64, .is_source = true};
        if (found && computes_hulls) return {.rows = &hulls, .first_column = found.first_column, .is_read_only = true};
        return found ? found : masts.find_columns(component);
    }
    Status spawn(const SpawnBatch&) override { return Status::error("not here"); }
    void drop(std::span<const Entity> dropped) override { hulls.remove(dropped), masts.remove(dropped); }
    void settle(const SettleContext& context) override { hulls.settle(context), masts.settle(context); }
    std::span<const Table* const> tables() const override { return {}; }
    std::size_t statistics(std::span<StoreStatistics>) const override { return 0; }

    OwnedRows hulls, masts;
    bool is_deep = false;  // many columns come before those of a hull
    bool computes_hulls = false;
    const Schema* both[2] = {&schema_of<Hull>(), &schema_of<Mast>()};
};

/// Makes the plan of a query that reads or writes all columns of a component type.
void make_plan(ComponentDirectory& directory, const Schema& component, bool writes) {
    const detail::PlanTerm term{.component = &component,
                                .is_field = true,
                                .writes = writes,
                                .num_columns = static_cast<std::uint16_t>(component.columns().size())};
    detail::QueryPlan(directory, {&term, 1});
}

TEST_F(SceneQuery, a_store_that_is_told_of_writes_has_the_columns_among_its_first_64) {
    Yard yard(entities, world.pool());
    yard.is_deep = true;
    ComponentDirectory directory(entities);
    ASSERT_TRUE(directory.add(yard));
    EXPECT_DEATH(make_plan(directory, schema_of<Hull>(), true), "written in columns 0 to 63");
    make_plan(directory, schema_of<Hull>(), false);
}

TEST_F(SceneQuery, a_store_may_keep_two_component_types_in_tables_of_their_own) {
    Yard& yard = world.make_store<Yard>();
    const Mast mast{7};
    const AddedValues sevens{.images = reinterpret_cast<const std::byte*>(&mast)};
    ASSERT_TRUE(yard.hulls.add_values(schema_of<Hull>(), made, {}).ok());
    ASSERT_TRUE(yard.masts.add_values(schema_of<Mast>(), std::span(made).subspan(1, 2), sevens).ok());
    std::map<Entity, int> heights;
    world.query<Read<&Hull::number>, Read<&Mast::height>>().for_each(
        [&](Entity entity, int, int height) { heights[entity] = height; });
    EXPECT_EQ(heights, (std::map<Entity, int>{{made[1], 7}, {made[2], 7}}));
}

TEST_F(SceneQuery, passes_run_over_queries_of_worlds_and_declare_their_fields) {
    world.database();
    world.schedule().add("grow", world.query<Write<&Crew::size>, Read<&Transform::position>>(),
                         [](const PassContext&, Commands& commands, Entity entity, int& size, Vec3 position) {
                             size += static_cast<int>(position.z);
                             if (position.y > 0) commands.destroy(entity);
                         });
    world.step(0.1f);
    EXPECT_EQ(crews.get<&Crew::size>(crews.instance(made[0])), static_cast<int>(made[0].index()) + 4);
    EXPECT_FALSE(entities.alive(made[2]));
}

TEST(LiveZones, are_those_that_they_have_when_a_loop_begins_until_a_query_gets_others) {
    EntityManager entities;
    World world(entities);
    Database& database = world.database();
    for (const Zone zone : {1, 2, 3, 3}) ASSERT_TRUE(database.create(zone, Crew{.size = int(zone)}).ok());
    const auto sum_of = [](auto query) {
        int sum = 0;
        query.for_each([&](int size) { sum += size; });
        return sum;
    };
    LiveZones live(ZoneSet{1, 2}), others(ZoneSet{1});
    auto query = world.query<Read<&Crew::size>>().in(live);
    EXPECT_EQ(sum_of(query), 3);
    live.set(ZoneSet{3});
    EXPECT_EQ(sum_of(query), 6);
    EXPECT_EQ(sum_of(query.in({2})), 2);
    EXPECT_EQ(sum_of(query.in(others)), 1);
    EXPECT_EQ(sum_of(query.in({2}).in(live)), 6);
    live.set(ZoneSet());
    EXPECT_EQ(sum_of(query), 0);
}

TEST_F(SceneQuery, zones_are_those_of_the_database_whatever_the_terms_are) {
    Database& database = world.database();
    ASSERT_TRUE(database.add(std::span(made).first(2), Mast{1}).ok());
    ASSERT_TRUE(database.move(made[1], 3).ok());
    std::vector<Entity> found;
    world.query<Read<&Crew::size>>().in({3}).for_each([&](Entity entity, int) { found.push_back(entity); });
    EXPECT_EQ(found, std::vector<Entity>{made[1]});
}

using SceneQueryDeath = SceneQuery;

TEST_F(SceneQueryDeath, a_component_type_that_no_store_keeps_ends_the_program_with_its_name) {
    EXPECT_DEATH((world.query<Read<&Mast::height>, Read<&Crew::size>>()),
                 "names \"mast\", which none of its stores keeps; call world.manager<T>\\(\\)");
}

TEST_F(SceneQueryDeath, parents_are_not_written_by_queries) {
    static_assert(kIsComputed<ChildOf> && kIsComputed<WorldPose>, "Write does not compile");
    world.transforms();
    EXPECT_DEATH(make_plan(world.directory(), schema_of<ChildOf>(), true),
                 "\"child_of\", which its store computes; say Read, and link transforms with "
                 "Commands::add\\(child, ChildOf\\{parent\\}\\) or TransformManager::link\\(\\)");
}

TEST_F(SceneQueryDeath, what_a_store_computes_is_not_written_though_its_declaration_does_not_say_computed) {
    Yard yard(entities, world.pool());
    yard.computes_hulls = true;
    ComponentDirectory directory(entities);
    ASSERT_TRUE(directory.add(yard));
    EXPECT_DEATH(make_plan(directory, schema_of<Hull>(), true),
                 "names \"hull\", which its store computes; say Read, and set what it is computed from");
    make_plan(directory, schema_of<Hull>(), false);
}

/// Boats in random trees, of which the stores keep some component types in the database.
class Convoy : public ::testing::TestWithParam<unsigned> {
protected:
    Convoy() {
        harbour.fill(random, 700);
        TransformManager& transforms = harbour.world.transforms();
        for (std::size_t i = 0; i < boats.size(); ++i) {
            if (random.below(5) == 0) continue;
            EXPECT_TRUE(transforms.add({&boats[i].entity, 1}, Transform{}).ok());
            const std::size_t above = random.below(static_cast<std::uint32_t>(i + 1));
            if (above == i || !transforms.has(boats[above].entity) || random.below(4) == 0) continue;
            EXPECT_TRUE(
                transforms.link(transforms.instance(boats[i].entity), transforms.instance(boats[above].entity)));
            parent[boats[i].number] = boats[above].number;
        }
    }
    /// What a field of the parent should be; -1: null.
    int of_parent(int number, int Boat::* field) const {
        const auto found = parent.find(number);
        return found == parent.end() ? -1 : boats[static_cast<std::size_t>(found->second)].*field;
    }

    Random random{shoal_test::seed()};
    Harbour harbour{GetParam()};
    World& world = harbour.world;
    const std::vector<Boat>& boats = harbour.boats;
    std::map<int, int> parent;
};

TEST_P(Convoy, a_field_of_the_parent_is_found_wherever_it_is_kept) {
    SCOPED_TRACE(shoal_test::seed_text());
    std::size_t num_visited = 0;
    world
        .query<Read<&Hull::number>, Parent<Read<&Mast::height>>, Parent<Read<&Hull::number>>,
               Parent<Read<&Anchored::depth>>, Maybe<&Mast::height>>()
        .for_each([&](int number, const int* height, const int* above, const int* depth, const int* own) {
            ++num_visited;
            ASSERT_EQ(height == nullptr ? -1 : *height, of_parent(number, &Boat::height));
            ASSERT_EQ(above == nullptr ? -1 : *above, of_parent(number, &Boat::number));
            ASSERT_EQ(depth == nullptr ? -1 : *depth, of_parent(number, &Boat::depth))
                << "a disabled one counts as missing";
            ASSERT_EQ(own == nullptr ? -1 : *own, boats[static_cast<std::size_t>(number)].height);
        });
    EXPECT_EQ(num_visited, boats.size());
    std::vector<int> in_batches, in_rows;
    const auto tall = world.query<Read<&Mast::height>, Parent<Read<&Crew::size>>, Read<&Hull::number>>();
    tall.for_each([&](int, const int* size, int number) {
        ASSERT_EQ(size == nullptr ? -1 : *size, of_parent(number, &Boat::size));
        in_rows.push_back(number);
    });
    tall.for_each_batch([&](auto&& batch) {
        for (const int number : batch.template column<&Hull::number>()) in_batches.push_back(number);
    });
    std::sort(in_rows.begin(), in_rows.end());
    std::sort(in_batches.begin(), in_batches.end());
    EXPECT_EQ(in_batches, in_rows);
}

TEST_P(Convoy, text_names_the_parent_as_well) {
    SCOPED_TRACE(shoal_test::seed_text());
    const Result<TextQuery> query = TextQuery::make(world.directory(), "hull, ^mast, ^anchored.depth >= 10, ^hull");
    ASSERT_TRUE(query.ok()) << query.status().message();
    std::size_t num_visited = 0;
    query->for_each_batch([&](const TextBatch& batch) {
        for (std::uint32_t i = 0; i < batch.num_rows(); ++i) {
            const int number = *batch.column(0, 3).read<int>(i);
            const int* const height = batch.column(1, 0).read<int>(i);
            ASSERT_EQ(height == nullptr ? -1 : *height, of_parent(number, &Boat::height));
            ASSERT_EQ(*batch.column(2, 0).read<int>(i), of_parent(number, &Boat::depth));
            ASSERT_EQ(*batch.column(3, 3).read<int>(i), of_parent(number, &Boat::number));
            ++num_visited;
        }
    });
    std::size_t expected = 0;
    for (const Boat& boat : boats) expected += of_parent(boat.number, &Boat::depth) >= 10;
    EXPECT_EQ(num_visited, expected);
    EXPECT_GT(expected, 0u);
}

TEST_P(Convoy, text_asks_for_one_of_several_component_types) {
    const Result<TextQuery> query = TextQuery::make(world.directory(), "hull, mast | crew|anchored, hull.number < 500");
    ASSERT_TRUE(query.ok()) << query.status().message();
    std::size_t num_visited = 0, expected = 0;
    query->for_each_batch([&](const TextBatch& batch) { num_visited += batch.num_rows(); });
    for (const Boat& boat : boats)
        expected += boat.number < 500 && (boat.height >= 0 || boat.size >= 0 || boat.depth >= 0);
    EXPECT_EQ(num_visited, expected);
    EXPECT_EQ(TextQuery::make(world.directory(), "hull, mast | crow").status().message(),
              "1:14: no store keeps a component \"crow\"; did you mean \"crew\"?");
}

TEST_P(Convoy, text_on_workers_gives_what_it_gives_on_one_thread) {
    const auto fill = [&](Executor* executor) {
        const Result<TextQuery> query = TextQuery::make(world.directory(), "&hull, hull.number >= 100");
        const auto raise = [](const TextBatch& batch) {
            for (std::uint32_t i = 0; i < batch.num_rows(); ++i) ++*batch.column(0, 3).write<int>(i);
        };
        const std::uint64_t before = world.stamp();
        world.settle();
        if (executor != nullptr)
            query->for_each_batch(*executor, raise);
        else
            query->for_each_batch(raise);
        std::vector<int> numbers;
        world.query<Read<&Hull::number>>().changed_since(before + 1).for_each([&](int n) { numbers.push_back(n); });
        std::sort(numbers.begin(), numbers.end());
        return numbers;
    };
    std::vector<int> expected;
    for (const Boat& boat : boats) expected.push_back(boat.number + (boat.number >= 100 ? 1 : 0));
    EXPECT_EQ(fill(nullptr), expected);
    shoal_test::ThreadPoolExecutor three(3);
    for (int& number : expected) number += number >= 100 ? 1 : 0;
    EXPECT_EQ(fill(&three), expected) << "what threads have written is marked";
}

INSTANTIATE_TEST_SUITE_P(Stores, Convoy, ::testing::Values(0u, kMast, kHull | kMast, kMast | kAnchored | kCrew, 15u));

TEST_F(SceneQuery, fields_of_parents_may_be_all_that_a_query_asks_of_the_database) {
    ASSERT_TRUE(world.database().add(made[0], Mast{1}).ok());
    ASSERT_TRUE(world.database().add(made[1], Mast{2}, Anchored{3}).ok());
    ASSERT_TRUE(world.database().remove<Mast>(made[2]).ok());
    std::map<Entity, int> found;
    world.query<With<Crew>, Parent<Read<&Mast::height>>>().for_each(
        [&](Entity entity, const int* height) { found[entity] = height == nullptr ? -1 : *height; });
    EXPECT_EQ(found, (std::map<Entity, int>{{made[0], -1}, {made[1], 1}, {made[2], 2}, {made[3], -1}}));
}

// --- text --------------------------------------------------------------------------------------------------------

TEST_F(SceneQuery, text_names_tags) {
    EXPECT_EQ(TextQuery::make(world.directory(), "crew, #fast").status().message(),
              "1:8: no store keeps tags yet; call World::manager<Tag>() before the query is made");
    TagManager tags(world.manager<Tag>(), world.strings());
    ASSERT_TRUE(tags.add_tag(made[0], "fast") && tags.add_tag(made[3], "fast") && tags.add_tag(made[3], "needs light"));
    const auto found = [&](std::string_view text) {
        const Result<TextQuery> query = TextQuery::make(world.directory(), text);
        EXPECT_TRUE(query.ok()) << query.status().message();
        std::vector<Entity> entities;
        query->for_each_batch([&](const TextBatch& batch) {
            entities.insert(entities.end(), batch.entities().begin(), batch.entities().end());
        });
        return entities;
    };
    using Found = std::vector<Entity>;
    EXPECT_EQ(found("#fast"), (Found{made[0], made[3]}));
    EXPECT_EQ(found("crew, #fast, !#\"needs light\""), Found{made[0]});
    EXPECT_EQ(found("transform, !#fast"), (Found{made[1], made[2]}));
    EXPECT_EQ(found("#fast, # \"needs light\", ?transform"), Found{made[3]});
    EXPECT_EQ(found("#slow"), Found{}) << "a tag that nobody has is no error";
    const Result<TextQuery> fast = TextQuery::make(world.directory(), "crew, #fast");
    EXPECT_EQ(&fast->driver(), &world.manager<Tag>().core());
    const std::map<std::string, std::string> mistakes = {
        {"?#fast", "1:2: a tag is had or lacked, so ? says nothing of it; write #name or !#name"},
        {"crew, #\"\", transform", "1:7: a tag needs a name"},
        {"crew, #, transform", "1:8: a value is expected; give a number, true, false, a name or a text in quotes"},
        {"!#fast", "1:1: no term says whose rows to visit; name a component type without a sign"},
    };
    for (const auto& [text, message] : mistakes)
        EXPECT_EQ(TextQuery::make(world.directory(), text).status().message(), message);
}

TEST_F(SceneQuery, text_names_the_one_component_that_a_world_has) {
    EXPECT_EQ(TextQuery::make(world.directory(), "crew, $breeze").status().message().substr(0, 7), "1:8: no");
    world.singleton<Breeze>().force = 3;
    world.singleton<Breeze>().from = {1, 2, 3};
    const auto count = [&](std::string_view text) {
        const Result<TextQuery> query = TextQuery::make(world.directory(), text);
        EXPECT_TRUE(query.ok()) << query.status().message();
        std::size_t rows = 0;
        query->for_each_batch([&](const TextBatch& batch) {
            rows += batch.num_rows();
            for (std::uint32_t i = 0; i < batch.num_rows(); ++i) {
                EXPECT_EQ(reinterpret_cast<const Breeze*>(batch.column(1, 0).at(i))->from, (Vec3{1, 2, 3}));
                EXPECT_EQ(batch.column(1, 0).values<Breeze>().size(), 0u);
                float force = 0;
                EXPECT_TRUE(batch.read(1, *find_field_part(schema_of<Breeze>(), "force"), i,
                                       reinterpret_cast<std::byte*>(&force)));
                EXPECT_EQ(force, 3);
            }
        });
        return rows;
    };
    EXPECT_EQ(count("crew, $breeze"), 4u);
    EXPECT_EQ(count("transform, $breeze"), 3u);
    EXPECT_EQ(count("crew, $breeze.force > 2"), 4u);
    EXPECT_EQ(count("crew, $breeze.force > 3"), 0u);
    const Result<TextQuery> query = TextQuery::make(world.directory(), "crew, $breeze");
    EXPECT_TRUE(conflict(query->accesses()[1],
                         writes<&Breeze::force>(world.directory().singletons().require(schema_of<Breeze>()))));
    entities.destroy(world.directory().singletons().entity());
    world.settle();
    query->for_each_batch([](const TextBatch&) { ADD_FAILURE() << "the singleton is not there"; });
    EXPECT_EQ(TextQuery::make(world.directory(), "$crew, transform").status().message(),
              "1:2: \"crew\" is not declared singleton, so rows have their own; write crew");
}

TEST(TextQueryOfWorld, finds_transforms_and_world_poses_and_writes_what_stores_compute_from) {
    EntityManager entities;
    World world(entities);
    std::vector<Entity> made(4);
    ASSERT_TRUE(entities.create(made).ok());
    for (std::size_t i = 0; i < 4; ++i)
        ASSERT_TRUE(world.transforms().add({&made[i], 1}, Transform{.position = {float(i), 0, 0}}).ok());
    ASSERT_TRUE(world.manager<Mast>().add(made[2], {5}).ok());
    const Result<TextQuery> far = TextQuery::make(world.directory(), "transform, transform.position.x >= 2, !mast");
    ASSERT_TRUE(far.ok()) << far.status().message();
    std::vector<Entity> visited;
    far->for_each_batch([&](const TextBatch& batch) {
        visited.insert(visited.end(), batch.entities().begin(), batch.entities().end());
        EXPECT_EQ(*batch.column(0, 0).read<Vec3>(0), (Vec3{3, 0, 0}));
    });
    EXPECT_EQ(visited, std::vector<Entity>{made[3]});
    EXPECT_EQ(TextQuery::make(world.directory(), "transform, &world_pose").status().message(),
              "1:13: the store of \"world_pose\" computes it, and does not let it be written; write "
              "\"transform\", or call TransformManager::set_world_pose()");
    TransformManager& transforms = world.transforms();
    ASSERT_TRUE(transforms.link(transforms.instance(made[1]), transforms.instance(made[3])));
    const auto move = [&](const char* text, auto&& run) {
        const Result<TextQuery> query = TextQuery::make(world.directory(), text);
        ASSERT_TRUE(query.ok()) << query.status().message();
        run(*query, [](const TextBatch& batch) {
            for (std::uint32_t i = 0; i < batch.num_rows(); ++i) batch.column(0, 0).write<Vec3>(i)->y += 5;
        });
    };
    move("&transform, transform.position.x >= 2", [](const TextQuery& query, auto&& f) { query.for_each_batch(f); });
    shoal_test::ThreadPoolExecutor two(2);
    move("&transform", [&](const TextQuery& query, auto&& f) { query.for_each_batch(two, f); });
    std::map<Entity, float> heights;
    const Result<TextQuery> all = TextQuery::make(world.directory(), "world_pose");
    ASSERT_TRUE(all.ok()) << all.status().message();
    all->for_each_batch([&](const TextBatch& batch) {
        for (std::uint32_t i = 0; i < batch.num_rows(); ++i)
            heights[batch.entities()[i]] = batch.column(0, 0).read<Matrix3x4>(i)->row[1].w;
    });
    EXPECT_EQ(heights, (std::map<Entity, float>{{made[0], 5}, {made[1], 15}, {made[2], 10}, {made[3], 10}}));
    for (const char* text :
         {"world_pose, world_pose.position.y > 10", "world_pose.matrix.position.y > 10, world_pose"}) {
        const Result<TextQuery> high = TextQuery::make(world.directory(), text);
        ASSERT_TRUE(high.ok()) << high.status().message();
        high->for_each_batch([&](const TextBatch& batch) {
            EXPECT_EQ(std::vector<Entity>(batch.entities().begin(), batch.entities().end()),
                      std::vector<Entity>{made[1]});
        });
    }
    const Result<TextQuery> children = TextQuery::make(world.directory(), "child_of, transform");
    ASSERT_TRUE(children.ok()) << children.status().message();
    std::map<Entity, Entity> parents;
    children->for_each_batch([&](const TextBatch& batch) {
        for (std::uint32_t i = 0; i < batch.num_rows(); ++i)
            parents[batch.entities()[i]] = *batch.column(0, 0).read<Entity>(i);
    });
    EXPECT_EQ(parents, (std::map<Entity, Entity>{{made[1], made[3]}}));
    EXPECT_EQ(TextQuery::make(world.directory(), "&child_of").status().message(),
              "1:2: the store of \"child_of\" computes it, and does not let it be written; link transforms with "
              "Commands::add(child, ChildOf{parent}) or TransformManager::link()");
}

}  // namespace
}  // namespace world_query_test
