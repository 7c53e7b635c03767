// Fields of the entities that others name, and rows in the order of a field, against look-ups and sorts by hand.

#include "shoal/transform/transform.h"
#include "shoal/world/world.h"
#include "support/keep_in.h"
#include "support/testing.h"
#include "support/thread_pool_executor.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <map>
#include <mutex>
#include <vector>

// Named, because g++ gives queries over members of types in an unnamed namespace a name that other sources may give theirs.
namespace related_query_test {
namespace {

using namespace shoal;
using namespace shoal_test;

struct Missile {
    int fuel = 1;
    Entity target;
};
SHOAL_COMPONENT(Missile, fuel, (target, relation))
struct Guard {
    Entity ward;
    float reach = 0;
};
SHOAL_COMPONENT((Guard, whole), ward, reach)
struct Ship {
    Vec3 position{};
    int crew = 0;
};
SHOAL_COMPONENT(Ship, (position, split), crew)
struct Cargo {
    int tons = 0;
};
SHOAL_COMPONENT((Cargo, enableable), tons)
enum class Rank : std::uint8_t { kLow = 3, kMiddle = 7, kHigh = 200 };
SHOAL_ENUM(Rank, kLow, kMiddle, kHigh)
struct Sailor {
    Rank rank = Rank::kLow;
    float pay = 0;
    std::int64_t number = 0;
};
SHOAL_COMPONENT((Sailor, whole), rank, pay, number)

/// A value, or none.
template <class T>
int or_none(const T& found) {
    return found ? static_cast<int>(*found) : -1;
}

/// Entities of which each has each component type or not, by chance, kept in the database or in managers.
class Fleet : public ::testing::TestWithParam<unsigned> {
protected:
    Fleet() {
        if (GetParam() & 1) world.manager<Ship>();
        if (GetParam() & 2) world.manager<Missile>();
        if (GetParam() & 4) world.manager<Guard>();
        Database& database = world.database();
        database.component<Cargo>();
        if (!(GetParam() & 1)) database.component<Ship>();
        if (!(GetParam() & 2)) database.component<Missile>();
        if (!(GetParam() & 4)) database.component<Guard>();
        EXPECT_TRUE(entities.create(made));
        for (const Entity entity : made) fit_out(entity);
        world.settle();
    }

    Entity any() { return random.below(8) == 0 ? Entity() : made[random.below(made.size())]; }
    /// Adds components, by chance.
    void fit_out(Entity entity) {
        Commands& commands = world.commands();
        if (random.below(3) != 0) {
            const Missile missile{static_cast<int>(random.below(50)), any()};
            commands.add(entity, missile);
            missiles[entity] = missile;
        }
        if (random.below(3) != 0) {
            const Guard guard{any(), float(random.below(9))};
            commands.add(entity, guard);
            guards[entity] = guard;
        }
        if (random.below(2) != 0) {
            const Ship ship{{float(random.below(100)), 0, 1}, static_cast<int>(random.below(100))};
            commands.add(entity, ship);
            ships[entity] = ship;
        }
        if (const auto kind = random.below(3); kind != 0) {
            const Cargo cargo{static_cast<int>(random.below(100))};
            if (kind == 1)
                commands.add(entity, cargo);
            else
                commands.add(entity, Disabled{cargo});
            cargos.erase(entity);
            if (kind == 1) cargos[entity] = cargo;
        }
    }
    void forget(Entity entity) {
        missiles.erase(entity), guards.erase(entity), ships.erase(entity), cargos.erase(entity);
    }
    /// Kills, makes and changes some entities, so that the rows of others move.
    void change_some() {
        for (std::uint32_t i = random.below(40); i > 0; --i) {
            Commands& commands = world.commands();
            Entity& entity = made[random.below(made.size())];  // others still name it after its death
            const auto kind = random.below(4);
            if (kind == 0) {
                entities.destroy(entity);
                forget(entity);
                entity = *entities.create();
            } else if (kind == 1) {
                commands.remove<Ship>(entity), commands.remove<Cargo>(entity);
                ships.erase(entity), cargos.erase(entity);
            }
            fit_out(entity);
            world.settle();
        }
        if (random.below(2) != 0) return;
        world.query<Write<&Missile::target>>().for_each([&](Entity entity, Entity& target) {
            if (random.below(10) == 0) target = missiles[entity].target = any();
        });
    }
    void expect_related();

    ThreadPoolExecutor executor{3};
    EntityManager entities;
    World world{entities, {.executor = &executor}};
    Random random{seed() + GetParam()};
    std::vector<Entity> made = std::vector<Entity>(700);
    std::map<Entity, Missile> missiles;
    std::map<Entity, Guard> guards;
    std::map<Entity, Ship> ships;
    std::map<Entity, Cargo> cargos;  // that are enabled
};

void Fleet::expect_related() {
    SCOPED_TRACE(seed_text());
    using Found = std::map<Entity, std::array<int, 4>>;
    Found expected;
    for (const auto& [entity, missile] : missiles) {
        const auto guard = guards.find(entity);
        const Entity target = missile.target, ward = guard == guards.end() ? Entity() : guard->second.ward;
        expected[entity] = {ships.contains(target) ? ships[target].crew : -1,
                            cargos.contains(target) ? cargos[target].tons : -1,
                            ships.contains(ward) ? int(ships[ward].position.x) : -1, missile.fuel};
    }
    const auto aimed =
        world.query<Read<&Missile::fuel>, Related<&Missile::target, Read<&Ship::crew>>,
                    Related<&Missile::target, Read<&Cargo::tons>>, Related<&Guard::ward, Read<&Ship::position>>>();
    const auto collect = [](Found& found, Entity entity, int fuel, const int* crew, const int* tons, const auto& ward) {
        found[entity] = {or_none(crew), or_none(tons), ward ? int(ward->x) : -1, fuel};
    };
    Found found, on_threads;
    aimed.for_each([&](Entity entity, int fuel, const int* crew, const int* tons, const auto& ward) {
        collect(found, entity, fuel, crew, tons, ward);
    });
    EXPECT_EQ(found, expected);
    std::mutex mutex;
    aimed.grain(64).for_each(executor,
                             [&](Entity entity, int fuel, const int* crew, const int* tons, const auto& ward) {
                                 const std::lock_guard lock(mutex);
                                 collect(on_threads, entity, fuel, crew, tons, ward);
                             });
    EXPECT_EQ(on_threads, expected);
}

// req: H9
TEST_P(Fleet, a_related_field_is_that_of_the_entity_which_another_field_names) { expect_related(); }

TEST_P(Fleet, related_fields_are_right_while_entities_move_and_die_and_others_are_born) {
    for (int frame = 0; frame < 12 && !HasFailure(); ++frame) change_some(), expect_related();
}

TEST_P(Fleet, a_schedule_knows_that_a_related_field_and_the_one_that_names_it_are_read) {
    const auto aimed = world.query<Write<&Missile::fuel>, Related<&Guard::ward, Read<&Ship::crew>>>();
    std::vector<std::pair<ComponentId, bool>> accesses;
    for (const Access& access : aimed.accesses()) accesses.emplace_back(access.component, access.writes);
    EXPECT_EQ(accesses, (std::vector<std::pair<ComponentId, bool>>{{schema_of<Missile>().id(), true},
                                                                   {schema_of<Ship>().id(), false},
                                                                   {schema_of<Guard>().id(), false}}));
}

TEST_P(Fleet, rows_come_in_the_order_of_a_field_and_equal_ones_as_they_lie) {
    SCOPED_TRACE(seed_text());
    const auto by_fuel = world.query<Write<&Missile::fuel>, Maybe<&Ship::crew>, Without<Cargo>>();
    const auto sorted = by_fuel.sorted_by<&Missile::fuel>();
    for (int frame = 0; frame < 6; ++frame) {
        std::multimap<int, Entity> in_order;  // equal ones as they were inserted
        by_fuel.for_each([&](Entity entity, int& fuel, const int*) { in_order.emplace(fuel, entity); });
        const std::vector<std::pair<int, Entity>> expected(in_order.begin(), in_order.end());
        std::vector<std::pair<int, Entity>> found;
        sorted.for_each([&](Entity entity, int& fuel, const int* crew) {
            found.emplace_back(fuel, entity);
            EXPECT_EQ(or_none(crew), ships.contains(entity) ? ships[entity].crew : -1);
            if (frame % 2 == 1) fuel = fuel * 7919 % 53;
        });
        EXPECT_EQ(found, expected) << "frame " << frame;
        const Entity some = found[random.below(found.size())].second;
        if (frame == 2) world.commands().add(some, Cargo{1});
        if (frame == 3) entities.destroy(some);
        if (frame >= 2) world.settle();
    }
}

// req: H9
TEST_P(Fleet, several_threads_share_sorted_rows_and_what_they_write_is_marked) {
    const auto sorted = world.query<Write<&Missile::fuel>, Read<&Guard::reach>>().grain(64).sorted_by<&Guard::reach>();
    const std::uint64_t before = world.stamp();
    world.settle();
    std::mutex mutex;
    std::map<Entity, int> visits;
    std::atomic<std::uint64_t> sum = 0;
    sorted.for_each(executor, [&](Entity entity, int& fuel, float) {
        fuel += 1000;
        sum += static_cast<std::uint64_t>(fuel);
        const std::lock_guard lock(mutex);
        ++visits[entity];
    });
    std::size_t num_expected = 0;
    for (const auto& [entity, missile] : missiles) {
        if (!guards.contains(entity)) continue;
        ++num_expected;
        EXPECT_EQ(visits[entity], 1);
        EXPECT_EQ(*world.get<std::int32_t>(entity, "missile.fuel"), missile.fuel + 1000);
    }
    EXPECT_EQ(visits.size(), num_expected);
    std::size_t num_changed = 0;
    world.query<Read<&Missile::fuel>>().changed_since(before + 1).for_each([&](int fuel) {
        num_changed += fuel >= 1000;
    });
    EXPECT_EQ(num_changed, num_expected);
}

std::string name_of(const ::testing::TestParamInfo<unsigned>& info) {
    std::string name;
    for (const char* type : {"Ship", "Missile", "Guard"})
        name += std::string(type) + (info.param >> (name.empty()                        ? 0
                                                    : name.find("Missile") == name.npos ? 1
                                                                                        : 2) &
                                             1
                                         ? "InManager"
                                         : "InDatabase");
    return name;
}
INSTANTIATE_TEST_SUITE_P(Stores, Fleet, ::testing::Range(0u, 8u), name_of);

TEST(SortedQueries, sort_by_every_type_of_number) {
    EntityManager entities;
    World world(entities);
    Manager<Sailor>& sailors = world.manager<Sailor>();
    const float infinity = std::numeric_limits<float>::infinity();
    const Sailor given[] = {{Rank::kHigh, 2, -5},
                            {Rank::kLow, -infinity, 5},
                            {Rank::kMiddle, std::numeric_limits<float>::quiet_NaN(), 0},
                            {Rank::kLow, -0.0f, std::numeric_limits<std::int64_t>::min()},
                            {Rank::kHigh, 0, std::numeric_limits<std::int64_t>::max()},
                            {Rank::kMiddle, -3, 7},
                            {Rank::kMiddle, infinity, 7}};
    std::vector<Entity> made(std::size(given));
    ASSERT_TRUE(entities.create(made));
    ASSERT_TRUE(sailors.add(made, std::span<const Sailor>(given)));
    const auto numbers_of = [&](const auto& query) {
        std::vector<std::size_t> numbers;
        query.for_each([&](Entity entity, const auto&) {
            numbers.push_back(static_cast<std::size_t>(std::find(made.begin(), made.end(), entity) - made.begin()));
        });
        return numbers;
    };
    using Numbers = std::vector<std::size_t>;
    EXPECT_EQ(numbers_of(world.query<Read<&Sailor::rank>>().sorted_by<&Sailor::rank>()),
              (Numbers{1, 3, 2, 5, 6, 0, 4}));
    EXPECT_EQ(numbers_of(world.query<Read<&Sailor::pay>>().sorted_by<&Sailor::pay>()), (Numbers{1, 5, 3, 4, 0, 6, 2}))
        << "both zeros are one, and what is no number comes last";
    EXPECT_EQ(numbers_of(world.query<Read<&Sailor::number>>().sorted_by<&Sailor::number>()),
              (Numbers{3, 0, 2, 1, 5, 6, 4}));
}

TEST(SortedQueries, sort_those_who_are_there_now_also_if_as_many_came_as_went) {
    EntityManager entities;
    World world(entities);
    Manager<Sailor>& sailors = world.manager<Sailor>();
    std::vector<Entity> made(6);
    ASSERT_TRUE(entities.create(made));
    for (std::size_t i = 0; i < 4; ++i) ASSERT_TRUE(sailors.add(made[i], {Rank::kLow, float(i), 0}));
    const auto by_pay = world.query<Read<&Sailor::pay>>().sorted_by<&Sailor::pay>();
    const auto sorted = [&] {
        std::vector<Entity> sorted_now;
        by_pay.for_each([&](Entity entity, float) { sorted_now.push_back(entity); });
        return sorted_now;
    };
    using Entities = std::vector<Entity>;
    EXPECT_EQ(sorted(), (Entities{made[0], made[1], made[2], made[3]}));
    sailors.remove(made[3]);
    ASSERT_TRUE(sailors.add(made[4], {Rank::kLow, 9, 0}));  // in the same row, and the order of keys is the same
    EXPECT_EQ(sorted(), (Entities{made[0], made[1], made[2], made[4]}));
    sailors.remove(made[0]);
    ASSERT_TRUE(sailors.add(made[5], {Rank::kLow, 1.5f, 0}));
    EXPECT_EQ(sorted(), (Entities{made[1], made[5], made[2], made[4]}));
}

TEST(SortedQueries, batches_of_sorted_rows_show_the_columns_of_each) {
    EntityManager entities;
    World world(entities);
    std::vector<Entity> made(5);
    ASSERT_TRUE(entities.create(made));
    const Sailor given[] = {
        {Rank::kLow, 4, 0}, {Rank::kLow, 5, 1}, {Rank::kLow, 1, 2}, {Rank::kLow, 2, 3}, {Rank::kLow, 3, 4}};
    ASSERT_TRUE(world.manager<Sailor>().add(made, std::span<const Sailor>(given)));
    std::vector<std::vector<std::int64_t>> batches;
    world.query<Read<&Sailor::pay>, Read<&Sailor::number>>().sorted_by<&Sailor::pay>().for_each_batch(
        [&](auto&& batch) {
            std::vector<std::int64_t> numbers;
            for (std::uint32_t i = 0; i < batch.num_rows(); ++i)
                numbers.push_back(batch.template column<&Sailor::number>()[i]);
            batches.push_back(numbers);
        });
    EXPECT_EQ(batches, (std::vector<std::vector<std::int64_t>>{{2, 3, 4}, {0, 1}}));
}

TEST(RelatedQueries, the_parent_is_who_child_of_names_in_whichever_store_it_is) {
    EntityManager entities;
    World world(entities);
    Manager<ChildOf>& parents = world.manager<ChildOf>();
    Manager<Ship>& ships = world.manager<Ship>();
    std::vector<Entity> made(3);
    ASSERT_TRUE(entities.create(made));
    for (std::size_t i = 0; i < 3; ++i) ASSERT_TRUE(ships.add(made[i], Ship{{}, static_cast<int>(i) + 10}));
    ASSERT_TRUE(parents.add(made[2], ChildOf{made[0]}));
    std::map<Entity, int> found;
    world.query<Parent<Read<&Ship::crew>>, With<Ship>>().for_each(
        [&](Entity entity, const int* crew) { found[entity] = or_none(crew); });
    EXPECT_EQ(found, (std::map<Entity, int>{{made[0], -1}, {made[1], -1}, {made[2], 10}}));
    EXPECT_EQ(world.directory().find(ComponentId("transform")), nullptr) << "nothing else was made";
}

}  // namespace
}  // namespace related_query_test
