// Queries over a world: the rows do not depend on which store keeps a component type.

#include "shoal/components/ownership.h"
#include "shoal/components/tag.h"
#include "shoal/pose/model_pose.h"
#include "shoal/query/text_query.h"
#include "shoal/transform/transform.h"
#include "shoal/world/world.h"
#include "support/homes.h"
#include "support/testing.h"
#include "support/thread_pool_executor.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <map>
#include <vector>

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
SHOAL_COMPONENT((Anchored, toggled), depth)
struct Crew {
    int size = 0;
    float morale = 0;
};
SHOAL_COMPONENT((Crew, whole), size, morale)

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

class AnyHome : public ::testing::TestWithParam<unsigned> {
protected:
    AnyHome() : random(shoal_test::seed()), harbour(GetParam()) { harbour.fill(random, 700); }

    Random random;
    Harbour harbour;
};

// req: F5
TEST_P(AnyHome, a_query_visits_the_same_entities_with_the_same_values) {
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

TEST_P(AnyHome, batches_show_what_rows_show) {
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

TEST_P(AnyHome, loops_on_workers_give_what_a_loop_on_one_thread_gives) {
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

TEST_P(AnyHome, changed_since_visits_what_was_written) {
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

TEST_P(AnyHome, any_of_asks_for_one_of_several_component_types) {
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

TEST_P(AnyHome, a_type_may_be_read_and_be_one_of_several) {
    std::size_t num_visited = 0, expected = 0;
    harbour.world.query<Read<&Mast::height>, Maybe<&Anchored::depth>, AnyOf<Anchored, Crew>>().for_each(
        [&](Entity, int, const int*) { ++num_visited; });
    for (const Boat& boat : harbour.boats) expected += boat.height >= 0 && (boat.depth >= 0 || boat.size >= 0);
    EXPECT_EQ(num_visited, expected);
}

TEST_P(AnyHome, what_a_query_may_find_counts_as_read_for_changes) {
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

INSTANTIATE_TEST_SUITE_P(Homes, AnyHome, ::testing::Range(0u, 16u));

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
    world.query<Read<&Mast::height>>().for_each(
        [&](Entity entity, int height) { EXPECT_EQ(height, number_of(entity) + number_of(entity) % 4); });
    std::size_t num_changed = 0;
    world.query<Read<&Mast::height>, Read<&Flag::colour>>().changed_since(stamp).for_each(
        [&](int, int) { ++num_changed; });
    EXPECT_EQ(num_changed, 1001u);
    ASSERT_TRUE(world.set_active(made[3], false).ok());
    std::size_t num_active = 0;
    const auto both = world.query<Read<&Mast::height>, Read<&Flag::colour>>();
    both.for_each([&](int, int) { ++num_active; });
    both.with_inactive().for_each([&](int, int) { ++num_active; });
    EXPECT_EQ(num_active, 998u + 1001u);
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

INSTANTIATE_TEST_SUITE_P(Homes, Flagged, ::testing::Bool());

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
    world.query<Read<&Mast::height>>().for_each([&](Entity entity, int) { found.push_back(entity); });
    EXPECT_EQ(found, (std::vector<Entity>{made[1], made[1]}));
    EXPECT_DEATH((world.query<Read<&Mast::height>, Read<&Anchored::depth>>()), "components of two databases");
}

TEST_F(SceneQuery, a_loop_over_poses_refuses_that_their_rows_are_ordered_anew) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(world.query<Read<&Transform::position>>().for_each([&](Vec3) { world.transforms().restore_order(); }),
                 "while a loop ran over them");
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

TEST_F(SceneQuery, a_store_that_is_told_of_writes_has_the_columns_among_its_first_64) {
    Yard yard(entities, world.pool());
    yard.is_deep = true;
    Store* const stores[] = {&yard};
    EXPECT_DEATH(detail::find_home(stores, schema_of<Hull>(), {true, true, false}), "written in columns 0 to 63");
    detail::find_home(stores, schema_of<Hull>(), {true, false, false});
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

TEST_F(SceneQueryDeath, what_a_store_computes_is_not_written_though_its_declaration_does_not_say_computed) {
    Yard yard(entities, world.pool());
    yard.computes_hulls = true;
    Store* const stores[] = {&yard};
    EXPECT_DEATH(detail::find_home(stores, schema_of<Hull>(), {true, true, false}),
                 "names \"hull\", which its store computes; say Read, and set what it is computed from");
    detail::find_home(stores, schema_of<Hull>(), {true, false, false});
}

TEST_F(SceneQueryDeath, a_query_that_writes_a_pose_that_is_not_sound_ends_a_checked_program_with_the_entity) {
    if (SHOAL_CHECKED == 0) GTEST_SKIP() << "unchecked builds mend rotations";
    const auto write = [&](auto&& query, auto value) { query.for_each([&](auto&& field) { field = value; }); };
    EXPECT_DEATH(write(world.query<Write<&Transform::rotation>>(), Quaternion{0, 0, 0, 2}),
                 "a query gave entity .* a rotation that is not of length 1; normalise it");
    EXPECT_DEATH(write(world.query<Write<&Transform::scale>>(), Vec3{1, 0, 1}), "a query gave entity .* a scale that");
    EXPECT_DEATH(write(world.query<Write<&Transform::position>>(), Vec3{1 / std::sin(0.f), 0, 1}),
                 "a query gave entity .* a position that is infinite");
}

TEST_F(SceneQuery, a_rotation_that_a_query_writes_is_normalised_when_the_loop_ends) {
    if (SHOAL_CHECKED != 0) GTEST_SKIP() << "checked builds end the program";
    world.query<Write<&Transform::rotation>>().for_each([](auto&& rotation) { rotation = Quaternion{0, 0, 0, -2}; });
    const TransformManager& transforms = world.transforms();
    EXPECT_EQ(transforms.local(transforms.instance(made[0])).rotation, (Quaternion{0, 0, 0, -1}));
    EXPECT_EQ(transforms.world_position(transforms.instance(made[2])), (Vec3{1, 2, 4}));
}

TEST_F(SceneQuery, a_query_that_writes_poses_computes_the_subtrees_of_the_rows_that_it_visits) {
    TransformManager& transforms = world.transforms();
    std::vector<Entity> others(5000);
    ASSERT_TRUE(entities.create(others).ok());
    ASSERT_TRUE(transforms.add(others).ok());
    ASSERT_TRUE(world.manager<Mast>().add(made[1], {5}).ok());
    const std::uint64_t before = transforms.counts().num_worlds_computed;
    const auto raised = world.query<Write<&Transform::position>, Read<&Mast::height>>();
    raised.for_each([](auto&& position, int height) { position.z += float(height); });
    EXPECT_EQ(transforms.world_position(transforms.instance(made[2])), (Vec3{1, 2, 9}));
    EXPECT_EQ(transforms.counts().num_worlds_computed - before, 2u) << "the pole and what is on it";
    raised.changed_since(world.stamp() + 1).for_each([](auto&&, int) { FAIL(); });
    EXPECT_EQ(transforms.counts().num_worlds_computed - before, 2u) << "nothing was visited";
}

TEST_F(SceneQuery, a_query_that_writes_poses_passes_over_inactive_entities) {
    TransformManager& transforms = world.transforms();
    const std::uint64_t before = transforms.counts().num_worlds_computed;
    ASSERT_TRUE(world.set_active(made[1], false).ok());
    world.query<Write<&Transform::position>>().for_each([](Vec3& position) { position.z += 1; });
    EXPECT_EQ(transforms.local(transforms.instance(made[1])).position, (Vec3{1, 0, 0}));
    EXPECT_EQ(transforms.world_position(transforms.instance(made[2])), (Vec3{1, 2, 5})) << "it follows its parent";
    EXPECT_EQ(transforms.counts().num_worlds_computed - before, 3u);
}

TEST_F(SceneQuery, a_batch_computes_what_queries_have_written_when_it_ends) {
    TransformManager& transforms = world.transforms();
    {
        const TransformBatch batch(transforms);
        for (int i = 0; i < 3; ++i)
            world.query<Write<&Transform::position>, Without<ChildOf>>().for_each([](Vec3& p) { p.x += 1; });
        EXPECT_EQ(transforms.world_position(transforms.instance(made[2])), (Vec3{1, 2, 4}));
    }
    EXPECT_EQ(transforms.world_position(transforms.instance(made[2])), (Vec3{4, 2, 4}));
}

/// Two worlds with the same trees: one is moved by queries, the other one by setters.
class MovedByQueries {
public:
    MovedByQueries(Random& random, TransformMode mode) : random_(random) {
        made.resize(3000);
        EXPECT_TRUE(entities.create(made).ok());
        std::vector<Transform> locals;
        std::vector<std::uint32_t> parents;
        for (std::uint32_t i = 0; i < made.size(); ++i) {
            locals.push_back({.position = {random.unit(), random.unit(), random.unit()}});
            parents.push_back(i == 0 || random.below(3) == 0 ? kNilRow : random.below(i));
        }
        for (World* world : {&queried, &set}) {
            world->transforms({.mode = mode});
            EXPECT_TRUE(world->transforms().add(made, locals, parents).ok());
        }
        for (std::uint32_t i = 0; i < made.size(); ++i) {
            EXPECT_TRUE(random.below(4) != 0 || queried.manager<Crew>().add(made[i], {int(i), 1}).ok());
            EXPECT_TRUE(random.below(2) != 0 || queried.database().add(made[i], Hull{{1, 2, 3}, int(i)}).ok());
        }
    }

    /// Moves some in one way in both worlds.
    void move(Executor& executor) {
        const float angle = random_.unit();
        const Quaternion turned{0, std::sin(angle), 0, std::cos(angle)};
        TransformManager& transforms = set.transforms();
        const auto each = [&](auto&& query, auto&& write) {
            random_.below(2) == 0 ? query.for_each(write) : query.for_each(executor, write);
        };
        switch (random_.below(5)) {
            case 0:  // alone
                each(queried.query<Write<&Transform::position>>(), [](Vec3& p) { p.x += 1; });
                for (const Entity e : made) shift(e, {1, 0, 0});
                return;
            case 1:  // driven by a manager
                each(queried.query<Read<&Crew::size>, Write<&Transform::position>>(), [](int, Vec3& p) { p.y += 1; });
                for (const Entity e : made)
                    if (queried.manager<Crew>().has(e)) shift(e, {0, 1, 0});
                return;
            case 2:  // drives the join
                each(queried.query<Write<&Transform::rotation>, Without<Crew>>(), [&](auto&& q) { q = turned; });
                for (const Entity e : made)
                    if (!queried.manager<Crew>().has(e)) transforms.set_rotation(transforms.instance(e), turned);
                return;
            case 3:  // whole components, with the database
                each(queried.query<Write<all_fields<Transform>>, Read<&Hull::position>>(), [&](auto&& t, Vec3 by) {
                    t.position += by;
                    t.rotation = turned;
                    t.scale = {2, 2, 2};
                });
                for (const Entity e : made) {
                    if (!queried.database().has<Hull>(e)) continue;
                    const Vec3 position = transforms.local(transforms.instance(e)).position + Vec3{1, 2, 3};
                    transforms.set_local(transforms.instance(e), {position, turned, {2, 2, 2}});
                }
                return;
            default:  // batches of rows side by side
                queried.query<Write<&Transform::scale>, With<ChildOf>>().for_each_batch(executor, [&](auto&& batch) {
                    for (auto&& scale : batch.template column<&Transform::scale>()) scale = {angle + 1, 1, 1};
                });
                for (const Entity e : made)
                    if (transforms.parent(transforms.instance(e)))
                        transforms.set_scale(transforms.instance(e), {angle + 1, 1, 1});
        }
    }
    void compute(Executor& executor) {
        for (World* world : {&queried, &set})
            if (world->transforms().mode() == TransformMode::kDeferred) world->transforms().compute_moved(&executor);
    }
    void expect_equal() {
        const TransformManager &a = queried.transforms(), &b = set.transforms();
        ASSERT_TRUE(a.validate().ok()) << a.validate().message();
        for (const Entity e : made) {
            ASSERT_EQ(a.local(a.instance(e)), b.local(b.instance(e)));
            ASSERT_EQ(std::memcmp(&a.world(a.instance(e)), &b.world(b.instance(e)), sizeof(Matrix3x4)), 0);
        }
    }

    EntityManager entities;
    World queried{entities}, set{entities};
    std::vector<Entity> made;

private:
    void shift(Entity entity, Vec3 by) {
        TransformManager& transforms = set.transforms();
        const Instance instance = transforms.instance(entity);
        transforms.set_position(instance, transforms.local(instance).position + by);
    }

    Random& random_;
};

// req: F5
TEST(TransformsOfQueries, give_the_world_poses_that_setters_give_bit_for_bit) {
    SCOPED_TRACE(shoal_test::seed_text());
    Random random(shoal_test::seed());
    shoal_test::ThreadPoolExecutor pool(3);
    for (const TransformMode mode : {TransformMode::kImmediate, TransformMode::kDeferred}) {
        MovedByQueries both(random, mode);
        for (int round = 0; round < 12; ++round) {
            for (int i = 0; i < 2; ++i) both.move(pool);
            both.compute(pool);
            ASSERT_NO_FATAL_FAILURE(both.expect_equal());
        }
    }
}

TEST(TransformsOfQueries, are_written_by_passes_and_read_by_later_ones) {
    shoal_test::ThreadPoolExecutor pool(3);
    EntityManager entities;
    World world(entities, {.executor = &pool});
    std::vector<Entity> made(20'000);
    ASSERT_TRUE(entities.create(made).ok());
    ASSERT_TRUE(world.transforms().add(made).ok());
    for (std::uint32_t i = 1; i < 100; ++i) ASSERT_TRUE(world.transforms().link({i * 200}, {i * 200 - 1}).ok());
    world.schedule().add("drift", world.query<Write<&Transform::position>>(),
                         [](const PassContext& frame, Vec3& p) { p.x += frame.dt; });
    ASSERT_TRUE(world.manager<Crew>().add(made).ok());
    world.schedule().add("look", world.query<Read<&WorldPose::matrix>, Write<&Crew::morale>>(),
                         [](const Matrix3x4& pose, float& morale) { morale = pose.row[0].w; });
    world.step(1);
    float sum = 0;
    world.query<Read<&Crew::morale>>().for_each([&](float morale) { sum += morale; });
    EXPECT_EQ(sum, 20'000 + 99);
}

TEST_F(SceneQueryDeath, a_parent_s_field_in_the_database_is_refused) {
    ASSERT_TRUE(world.database().add(made[0], Mast{1}).ok());
    EXPECT_DEATH((world.query<With<Crew>, Parent<Read<&Mast::height>>>()), "of a parent, which the database keeps");
}

TEST(TextQueryOfWorld, finds_transforms_and_does_not_write_what_stores_derive_from) {
    EntityManager entities;
    World world(entities);
    std::vector<Entity> made(4);
    ASSERT_TRUE(entities.create(made).ok());
    for (std::size_t i = 0; i < 4; ++i)
        ASSERT_TRUE(world.transforms().add({&made[i], 1}, Transform{.position = {float(i), 0, 0}}).ok());
    ASSERT_TRUE(world.manager<Mast>().add(made[2], {5}).ok());
    const Result<TextQuery> far = TextQuery::make(world.stores(), "transform, transform.position.x >= 2, !mast");
    ASSERT_TRUE(far.ok()) << far.status().message();
    std::vector<Entity> visited;
    far->for_each_batch([&](const TextBatch& batch) {
        visited.insert(visited.end(), batch.entities().begin(), batch.entities().end());
        EXPECT_EQ(*batch.column(0, 0).read<Vec3>(0), (Vec3{3, 0, 0}));
    });
    EXPECT_EQ(visited, std::vector<Entity>{made[3]});
    EXPECT_EQ(TextQuery::make(world.stores(), "&transform").status().message(),
              "1:2: the store of \"transform\" computes more from it, so a text query does not write it; use a query "
              "with C++ types, or set it through the store");
}

}  // namespace
