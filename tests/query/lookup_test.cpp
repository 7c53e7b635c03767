// One field of any entity, by its C++ member: whichever store keeps the component, it is found and set as by the calls of
// that store.

#include "shoal/query/lookup.h"

#include "shoal/base/random.h"
#include "shoal/query/query.h"
#include "shoal/state/snapshot.h"
#include "shoal/store/detail/component_directory.h"
#include "support/testing.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace {

using namespace shoal;

struct Hull {
    float length = 1;
    Vec3 place{}, speed{};
};
SHOAL_COMPONENT(Hull, length, (place, split), speed)
struct Mast {
    float height = 2;
    std::uint32_t age = 0;
};
SHOAL_COMPONENT((Mast, whole), height, age)
struct Anchor {
    std::uint32_t depth = 0;
};
SHOAL_COMPONENT((Anchor, enableable), depth)
struct Oar {
    std::uint32_t number = 0;
};
SHOAL_COMPONENT((Oar, many), number)
struct Bell {
    std::string engraving;
    std::uint32_t strikes = 0;
};
SHOAL_COMPONENT(Bell, engraving, strikes)
struct Wake {
    std::uint32_t length = 0;
};
SHOAL_COMPONENT(Wake, length)

/// The same component types in managers or, where that is asked for, in a database.
struct Lookups : testing::TestWithParam<bool> {
    Lookups() {
        if (GetParam()) {
            EXPECT_TRUE(directory.add(database).ok());
            database.component<Hull>(), database.component<Mast>(), database.component<Oar>();
            database.component<Bell>(), database.component<Anchor>();
        } else {
            for (Store* store : {&hulls.core(), &masts.core(), &oars.core(), &bells.core()})
                EXPECT_TRUE(directory.add(*store).ok());
        }
        EXPECT_TRUE(entities.create(ships).ok());
    }

    template <class T>
    void add(Entity entity, const T& value, Manager<T>& manager) {
        if (GetParam())
            ASSERT_TRUE(database.add(entity, value).ok());
        else
            ASSERT_TRUE(manager.add(entity, value).ok());
    }
    void remove_hull(Entity entity) {
        if (GetParam())
            ASSERT_TRUE(database.remove<Hull>(entity).ok());
        else
            hulls.remove(entity);
    }
    template <auto kMember>
    std::uint64_t num_changed(std::uint64_t since) {
        std::uint64_t count = 0;
        query<Read<kMember>>(directory).changed_since(since).for_each([&](const auto&) { ++count; });
        return count;
    }

    EntityManager entities;
    PagePool pool;
    Database database{entities, pool};
    Manager<Hull> hulls{entities, pool};
    Manager<Mast> masts{entities, pool};
    Manager<Oar> oars{entities, pool};
    Manager<Bell> bells{entities, pool};
    ComponentDirectory directory{entities};
    std::vector<Entity> ships = std::vector<Entity>(4);
};

// req: H10
TEST_P(Lookups, find_fields_of_every_layout) {
    add(ships[1], Hull{7, {1, 2, 3}, {4, 5, 6}}, hulls);
    add(ships[1], Mast{8, 9}, masts);
    add(ships[1], Bell{"Argo", 3}, bells);
    EXPECT_EQ(*Lookup<&Hull::length>(directory).find(ships[1]), 7);
    EXPECT_EQ(*Lookup<&Hull::place>(directory).find(ships[1]), Vec3(1, 2, 3));
    EXPECT_EQ(Lookup<&Hull::place>(directory).find(ships[1])->y, 2);
    EXPECT_EQ(*Lookup<&Hull::speed>(directory).find(ships[1]), Vec3(4, 5, 6));
    EXPECT_EQ(*Lookup<&Mast::height>(directory).find(ships[1]), 8);
    EXPECT_EQ(*Lookup<&Mast::age>(directory).find(ships[1]), 9u);
    EXPECT_EQ(*Lookup<&Bell::engraving>(directory).find(ships[1]), "Argo") << "a type that only C++ knows";
}

TEST_P(Lookups, find_nothing_where_there_is_nothing) {
    add(ships[1], Hull{}, hulls);
    add(ships[2], Mast{}, masts);
    const Lookup<&Hull::length> length(directory);
    EXPECT_EQ(length.find(ships[0]), nullptr);
    EXPECT_EQ(length.find(ships[2]), nullptr);
    EXPECT_EQ(length.find(kNullEntity), nullptr);
    EXPECT_EQ(length.find({0xFFFFFF}), nullptr);
    EXPECT_TRUE(Lookup<&Hull::place>(directory).find(ships[2]) == nullptr);
    entities.destroy(ships[1]);
    EXPECT_EQ(length.find(ships[1]), nullptr) << "its row is still there";
    EXPECT_EQ(Lookup<&Hull::length>::once(directory).find(ships[1]), nullptr);
    EXPECT_EQ(length.set(ships[1], 3).message(), "entity 2:1 is dead");
    EXPECT_EQ(length.set(ships[2], 3).message(), "entity 3:1 has no \"hull\"");
    EXPECT_EQ(length.set(kNullEntity, 3).message(), "entity null is no entity");
}

// req: H10
TEST_P(Lookups, set_fields_of_every_layout_and_mark_no_others) {
    add(ships[1], Hull{}, hulls);
    add(ships[1], Mast{}, masts);
    add(ships[1], Bell{"Argo", 0}, bells);
    for (Store* store : directory.stores()) store->settle({.stamp = 7});
    ASSERT_TRUE(Lookup<&Hull::place>(directory).set(ships[1], {4, 5, 6}).ok());
    ASSERT_TRUE(Lookup<&Mast::age>(directory).set(ships[1], 40).ok());
    ASSERT_TRUE(Lookup<&Bell::strikes>(directory).set(ships[1], 8).ok());
    EXPECT_EQ(*Lookup<&Hull::place>(directory).find(ships[1]), Vec3(4, 5, 6));
    EXPECT_EQ(*Lookup<&Mast::age>(directory).find(ships[1]), 40u);
    EXPECT_EQ(*Lookup<&Mast::height>(directory).find(ships[1]), 2) << "it lies beside";
    EXPECT_EQ(*Lookup<&Bell::strikes>(directory).find(ships[1]), 8u);
    EXPECT_EQ(num_changed<&Hull::place>(7), 1u);
    EXPECT_EQ(num_changed<&Hull::speed>(7), 0u);
    EXPECT_EQ(num_changed<&Bell::strikes>(7), 1u);
}

TEST_P(Lookups, of_many_values_are_about_the_first) {
    add(ships[0], Oar{1}, oars);
    add(ships[0], Oar{2}, oars);
    const Lookup<&Oar::number> number(directory);
    const std::uint32_t first = *number.find(ships[0]);
    EXPECT_EQ(first, GetParam() ? database.get_value<&Oar::number>(ships[0], 0)
                                : oars.get<&Oar::number>(oars.instance(ships[0])));
    ASSERT_TRUE(number.set(ships[0], 9).ok());
    EXPECT_EQ(*number.find(ships[0]), 9u);
    std::multiset<std::uint32_t> left;
    query<Read<&Oar::number>>(directory).for_each([&](std::uint32_t value) { left.insert(value); });
    EXPECT_EQ(left, (std::multiset<std::uint32_t>{9, 3 - first}));
}

TEST_P(Lookups, follow_rows_that_move) {
    for (std::size_t i = 0; i < ships.size(); ++i) add(ships[i], Hull{float(i)}, hulls);
    const Lookup<&Hull::length> length(directory);
    remove_hull(ships[0]);
    add(ships[2], Mast{}, masts);
    for (std::size_t i = 1; i < ships.size(); ++i) EXPECT_EQ(*length.find(ships[i]), float(i));
    EXPECT_EQ(length.find(ships[0]), nullptr);
}

INSTANTIATE_TEST_SUITE_P(InManagersAndADatabase, Lookups, testing::Bool(),
                         [](const auto& of) { return of.param ? "Database" : "Managers"; });

struct LookupsOfOne : testing::Test {
    EntityManager entities;
    PagePool pool;
    Database database{entities, pool};
    ComponentDirectory directory{entities};
    Entity ship = *entities.create();
};

TEST_F(LookupsOfOne, a_disabled_component_is_not_found_and_not_set) {
    ASSERT_TRUE(directory.add(database).ok());
    ASSERT_TRUE(database.add(ship, Anchor{5}).ok());
    const Lookup<&Anchor::depth> depth(directory);
    EXPECT_EQ(*depth.find(ship), 5u);
    ASSERT_TRUE(database.add(ship, Disabled{Anchor{6}}).ok());
    EXPECT_EQ(depth.find(ship), nullptr);
    EXPECT_EQ(depth.set(ship, 7).message(), "entity 1:1 has \"anchor\", but it is disabled; add it to enable it");
    EXPECT_EQ(database.get<&Anchor::depth>(database.find(ship)), 6u);
    ASSERT_TRUE(database.add(ship, Anchor{8}).ok());
    EXPECT_EQ(*depth.find(ship), 8u);
}

TEST_F(LookupsOfOne, a_table_that_gets_the_number_of_another_is_seen) {
    ASSERT_TRUE(directory.add(database).ok());
    ASSERT_TRUE(database.add(ship, Wake{3}).ok());
    const Lookup<&Wake::length> length(directory);
    ASSERT_TRUE(database.move(ship, 9).ok());
    const std::uint64_t epoch = database.table_list_epoch();
    for (int i = 0; i < 100 && database.table_list_epoch() == epoch; ++i) database.settle({});
    ASSERT_NE(database.table_list_epoch(), epoch) << "the empty table goes";
    const Entity anchored = *entities.create(), moored = *entities.create();
    ASSERT_TRUE(database.insert(anchored, 4, Anchor{}).ok());
    ASSERT_EQ(database.find(anchored).table->number(), 0u);
    EXPECT_EQ(length.find(anchored), nullptr);
    ASSERT_TRUE(database.insert(moored, 4, Anchor{}, Wake{7}).ok());
    EXPECT_EQ(*length.find(moored), 7u);
    EXPECT_EQ(*length.find(ship), 3u);
}

TEST_F(LookupsOfOne, a_database_that_was_loaded_is_looked_up_in_its_new_tables) {
    ASSERT_TRUE(database.add(ship, Wake{3}).ok());
    database.component<Anchor>();
    Snapshot state;
    SnapshotWriter to(state);
    database.save(to);
    ASSERT_TRUE(to.status().ok());
    Database other{entities, pool};
    other.component<Wake>(), other.component<Anchor>();
    ASSERT_TRUE(directory.add(other).ok());
    ASSERT_TRUE(other.add(ship, Anchor{5}).ok());
    const Lookup<&Wake::length> length(directory);
    EXPECT_EQ(length.find(ship), nullptr);
    SnapshotReader from(state);
    ASSERT_TRUE(other.load(from).ok());
    EXPECT_EQ(*length.find(ship), 3u);
}

TEST_F(LookupsOfOne, nothing_of_the_dead_is_found_in_a_manager_that_was_loaded) {
    Manager<Wake> wakes{entities, pool};
    const Entity other = *entities.create();
    ASSERT_TRUE(wakes.add(ship, {3}).ok() && wakes.add(other, {4}).ok());
    ASSERT_TRUE(directory.add(wakes.core()).ok());
    const Lookup<&Wake::length> length(directory);
    entities.destroy(ship);
    Snapshot state;
    SnapshotWriter to(state);
    entities.save(to), wakes.core().save(to);
    ASSERT_TRUE(to.status().ok());
    wakes.core().settle({});
    EXPECT_EQ(*length.find(other), 4u);
    SnapshotReader from(state);
    ASSERT_TRUE(entities.load(from).ok() && wakes.core().load(from).ok());
    EXPECT_EQ(wakes.num_rows(), 2u) << "the row of the dead is back";
    EXPECT_EQ(length.find(ship), nullptr);
    EXPECT_EQ(*length.find(other), 4u);
}

TEST(Lookups, find_nothing_of_the_dead_after_more_deaths_than_are_listed) {
    EntityManager entities({.max_death_list = 8});
    PagePool pool;
    Manager<Wake> wakes{entities, pool};
    ComponentDirectory directory{entities};
    ASSERT_TRUE(directory.add(wakes.core()).ok());
    const Lookup<&Wake::length> length(directory);
    std::vector<Entity> many(20);
    ASSERT_TRUE(entities.create(many).ok());
    entities.destroy(many);
    const Entity ship = *entities.create();
    ASSERT_TRUE(wakes.add(ship, {3}).ok());
    EXPECT_EQ(*length.find(ship), 3u);
    entities.destroy(ship);
    EXPECT_EQ(length.find(ship), nullptr);
}

TEST_F(LookupsOfOne, nothing_of_the_dead_is_found_when_deaths_are_counted_again_from_an_earlier_state) {
    Manager<Wake> wakes{entities, pool};
    ASSERT_TRUE(directory.add(wakes.core()).ok());
    const Lookup<&Wake::length> length(directory);
    Snapshot state;
    SnapshotWriter to(state);
    entities.save(to);
    ASSERT_TRUE(to.status().ok());
    for (int run = 0; run < 2; ++run) {
        ASSERT_TRUE(wakes.add(ship, {3}).ok());
        entities.destroy(ship);
        EXPECT_EQ(length.find(ship), nullptr) << "run " << run;
        wakes.core().settle({});
        ASSERT_TRUE(wakes.add(*entities.create(), {4}).ok());
        wakes.core().clear();  // as a world does with a store that the state lacks
        SnapshotReader from(state);
        ASSERT_TRUE(entities.load(from).ok() && entities.alive(ship));
    }
}

TEST_F(LookupsOfOne, a_component_type_that_no_store_keeps_is_found_nowhere_if_once_is_said) {
    EXPECT_EQ(Lookup<&Wake::length>::once(directory).find(ship), nullptr);
    EXPECT_EQ(Lookup<&Wake::length>::once(directory).set(ship, 1).message(), "entity 1:1 has no \"wake\"");
    EXPECT_DEATH(Lookup<&Wake::length>{directory}, "a look-up names \"wake\", which no store keeps in columns");
}

TEST_F(LookupsOfOne, a_component_type_with_other_fields_ends_the_program) {
    ComponentDefinition other{.name = "wake"};
    other.fields.push_back({.name = "length", .type = FieldType::kDouble});
    ASSERT_TRUE(directory.add(database).ok());
    ASSERT_TRUE(database.add_component(*Schema::make(other)).ok());
    EXPECT_DEATH(Lookup<&Wake::length>{directory}, "which the database keeps with other fields");
}

// --- against a model ---------------------------------------------------------------------------------------------

/// Ships with hulls, anchors and oars in a database, and masts in a manager. The look-ups are made before the first.
class LookupOracle : public testing::Test {
protected:
    LookupOracle() {
        EXPECT_TRUE(directory.add(database).ok() && directory.add(masts.core()).ok());
        database.component<Hull>(), database.component<Anchor>(), database.component<Oar>();
    }

    struct Ship {
        bool lives = true;
        std::optional<Vec3> place;
        std::optional<std::uint32_t> age, depth, number;  // of an anchor: if it is enabled
    };
    struct Found {
        const Lookup<&Hull::place> place;
        const Lookup<&Mast::age> age;
        const Lookup<&Anchor::depth> depth;
        const Lookup<&Oar::number> number;
        explicit Found(ComponentDirectory& directory)
            : place(directory), age(directory), depth(directory), number(directory) {}
    };

    void launch() {
        known.push_back(*entities.create());
        ships[known.back().id] = {};
    }
    void add_or_remove(Entity entity, Ship& ship, std::uint32_t value) {
        const auto take = [&](bool done, auto& to, const auto& now) {
            EXPECT_TRUE(done);
            to = now;
        };
        if (random.below(3) == 0) {
            if (value % 3 == 0) take(database.remove<Hull>(entity).ok(), ship.place, std::nullopt);
            if (value % 3 == 1) masts.remove(entity), ship.age.reset();
            if (value % 3 == 2) take(database.remove<Oar>(entity).ok(), ship.number, std::nullopt);
        } else if (ship.lives) {
            const Vec3 at{float(value), 1, 2};
            if (value % 5 == 0) take(database.add(entity, Hull{.place = at}).ok(), ship.place, at);
            if (value % 5 == 1) take(masts.add(entity, {.age = value}).ok(), ship.age, value);
            if (value % 5 == 2) take(database.add(entity, Oar{value}).ok(), ship.number, value);
            if (value % 5 == 3) take(database.add(entity, Anchor{value}).ok(), ship.depth, value);
            if (value % 5 == 4) take(database.add(entity, Disabled{Anchor{value}}).ok(), ship.depth, std::nullopt);
        }
    }
    void set(const Found& found, Entity entity, Ship& ship, std::uint32_t value) {
        const auto set_one = [&](const auto& lookup, auto& known_value, const auto& now) {
            EXPECT_EQ(lookup.set(entity, now).ok(), ship.lives && known_value.has_value());
            if (known_value) known_value = now;
        };
        set_one(found.place, ship.place, Vec3{float(value), 3, 4});
        if (value % 2 == 0) set_one(found.age, ship.age, value);
        if (value % 3 == 0) set_one(found.depth, ship.depth, value);
        if (value % 5 == 0) set_one(found.number, ship.number, value);
    }
    void change(const Found& found) {
        const Entity entity = any();
        Ship& ship = ships[entity.id];
        const std::uint32_t kind = random.below(100), value = random.below(1000);
        if (kind < 60) return add_or_remove(entity, ship, value);
        if (kind < 90) return set(found, entity, ship, value);
        if (kind < 94) launch();
        if (kind == 94) entities.destroy(entity), ship.lives = false;
        if (kind == 95) database.settle({}), masts.core().settle({});
    }
    void compare(const Found& found, Entity entity) {
        const Ship& ship = ships[entity.id];
        const auto check = [&](const auto& value, const auto& expected) {
            ASSERT_EQ(!(value == nullptr), ship.lives && expected.has_value()) << shoal_test::seed_text();
            if (value == nullptr) return;
            ASSERT_EQ(*value, *expected) << shoal_test::seed_text();
        };
        check(found.place.find(entity), ship.place);
        check(found.age.find(entity), ship.age);
        check(found.depth.find(entity), ship.depth);
        check(found.number.find(entity), ship.number);
    }
    Entity any() { return known[random.below(std::uint32_t(known.size()))]; }

    EntityManager entities;
    PagePool pool;
    Database database{entities, pool};
    Manager<Mast> masts{entities, pool};
    ComponentDirectory directory{entities};
    Random random{shoal_test::seed()};
    std::map<EntityBits, Ship> ships;
    std::vector<Entity> known;
};

// req: E9-E10
TEST_F(LookupOracle, look_ups_made_early_see_random_changes_as_a_model_does) {
    const Found found(directory);
    launch();
    const std::int64_t num_operations = shoal_test::scaled_operations(100'000);
    for (std::int64_t i = 0; i < num_operations && !HasFatalFailure(); ++i) change(found), compare(found, any());
}

}  // namespace
