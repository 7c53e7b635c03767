// Components die with their entity, by every policy, and never with another one.

#include "support/manager_testing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

namespace shoal_test {
namespace {

template <class T>
struct ManagerDeath : ::testing::Test {
    PagePool pool;
};
TYPED_TEST_SUITE(ManagerDeath, AllComponents);

constexpr double kLivingToEnd = 4;  // probes in a row that find a living entity end a settle

// req: B18 B19
TYPED_TEST(ManagerDeath, components_die_with_their_entity) {
    for (const RowIndexKind kind : kinds_of<TypeParam>())
        for (const DeathPolicy death : kPolicies) {
            SCOPED_TRACE(std::string(kind_name(kind)) + ", " + policy_name(death));
            EntityManager entities;
            Manager<TypeParam> manager(entities, this->pool, {.index = kind, .death = death});
            const std::vector<Entity> made = create(entities, 9000);
            ASSERT_TRUE(manager.add(made).ok());
            std::vector<Entity> dead(made.begin(), made.begin() + 8000);
            dead.insert(dead.end(), {kNullEntity, made[3]});
            entities.destroy(dead);
            EXPECT_EQ(manager.num_components(), death == DeathPolicy::kByCallback ? 1000u : 9000u);
            StoreStatistics statistics;
            ASSERT_EQ(manager.core().statistics({&statistics, 1}), 1u);
            EXPECT_EQ(statistics.num_dead_rows, death == DeathPolicy::kByCallback ? 0u : 8000u);
            Settler settler(seed());
            for (int i = 0; i < (death == DeathPolicy::kRandomProbe ? 20'000 : 1); ++i) settler.settle(manager.core());
            EXPECT_EQ(manager.num_components(), 1000u);
            for (std::size_t i = 0; i < made.size(); ++i) ASSERT_EQ(manager.has(made[i]), i >= 8000);
            EXPECT_TRUE(manager.core().validate().ok());
        }
}

TYPED_TEST(ManagerDeath, deaths_are_kept_until_a_settle_has_read_them) {
    EntityManager entities, untouched;
    Manager<TypeParam> manager(entities, this->pool, {.death = DeathPolicy::kAtSettle});
    for (EntityManager* each : {&entities, &untouched}) {
        const std::vector<Entity> made = create(*each, 100);
        if (each == &entities) {
            ASSERT_TRUE(manager.add(made).ok());
        }
        EXPECT_EQ(each->destroy(std::span(made).first(10)), 10u);
    }
    EXPECT_GT(entities.memory_use().used_bytes, untouched.memory_use().used_bytes);
    Settler().settle(manager.core());
    EXPECT_EQ(entities.memory_use().used_bytes, untouched.memory_use().used_bytes);
}

TYPED_TEST(ManagerDeath, a_manager_that_ended_hears_of_no_death) {
    EntityManager entities, untouched;
    for (EntityManager* each : {&entities, &untouched}) {
        const std::vector<Entity> made = create(*each, 10);
        for (const DeathPolicy death : kPolicies) {
            if (each == &untouched) continue;
            Manager<TypeParam> manager(entities, this->pool, {.death = death});
            ASSERT_TRUE(manager.add(made).ok());
        }
        EXPECT_EQ(each->destroy(made), 10u);
    }
    EXPECT_EQ(entities.memory_use().used_bytes, untouched.memory_use().used_bytes) << "deaths are kept for nobody";
}

// req: B20
TYPED_TEST(ManagerDeath, random_probes_cost_almost_nothing_when_nobody_died) {
    for (const RowIndexKind kind : kinds_of<TypeParam>()) {
        EntityManager entities;
        Manager<TypeParam> manager(entities, this->pool, {.index = kind, .death = DeathPolicy::kRandomProbe});
        Random random(seed());
        EXPECT_EQ(manager.core().collect(random, 100).num_probes, 0u) << "empty";
        const std::vector<Entity> made = create(entities, 5000);
        ASSERT_TRUE(manager.add(made).ok());
        for (int i = 0; i < 100; ++i) {
            const CollectCounts counts = manager.core().collect(random, 100);
            ASSERT_EQ(counts.num_probes, 4u);
            ASSERT_EQ(counts.num_removed, 0u);
        }
        EXPECT_EQ(manager.num_components(), 5000u);
        entities.destroy(std::span(made).subspan(1));
        while (manager.num_components() > 1) manager.core().collect(random, 100);
        EXPECT_TRUE(manager.has(made[0])) << "only the dead are collected";
    }
}

/// Returns how many settles take `num_dead` down to `num_left`, when each probes rows at random until four in a row are
/// alive. With a share q of living rows, that many probes in a row are alive after (q^-4 - 1) / (1 - q) of them, of which
/// a share 1 - q finds a dead row.
double expected_settles(double num_living, double num_dead, double num_left) {
    double num_settles = 0;
    for (; num_dead > num_left; ++num_settles)
        num_dead -= std::pow((num_living + num_dead) / num_living, kLivingToEnd) - 1;
    return num_settles;
}

// req: B21
TYPED_TEST(ManagerDeath, many_dead_are_collected_quickly_and_within_the_budget) {
    for (const RowIndexKind kind : kinds_of<TypeParam>()) {
        SCOPED_TRACE(kind_name(kind));
        EntityManager entities;
        Manager<TypeParam> manager(entities, this->pool,
                                   {.index = kind, .death = DeathPolicy::kRandomProbe, .max_collected = 500});
        const std::vector<Entity> made = create(entities, 10'000);
        ASSERT_TRUE(manager.add(made).ok());
        entities.destroy(made);
        Settler settler(seed());
        int num_settles = 0;
        for (std::uint32_t left = 10'000; left > 0; left = manager.num_components(), ++num_settles) {
            settler.settle(manager.core());
            ASSERT_LE(left - manager.num_components(), 500u);
        }
        EXPECT_EQ(num_settles, 20) << "where nobody lives, only the budget ends a settle";
        EXPECT_EQ(manager.num_rows(), 0u);
        EXPECT_TRUE(manager.core().validate().ok());

        // Half dead: the number of settles is the one that the rule gives.
        const std::vector<Entity> again = create(entities, 10'000);
        ASSERT_TRUE(manager.add(again).ok());
        for (std::size_t i = 0; i < again.size(); i += 2) entities.destroy(again[i]);
        for (num_settles = 0; manager.num_components() > 6000; ++num_settles) settler.settle(manager.core());
        EXPECT_NEAR(num_settles, expected_settles(5000, 5000, 1000), 0.15 * expected_settles(5000, 5000, 1000));
        for (std::size_t i = 1; i < again.size(); i += 2) ASSERT_TRUE(manager.has(again[i]));
    }
}

TYPED_TEST(ManagerDeath, no_policy_leaves_a_row_to_the_entity_that_gets_the_id_of_the_dead) {
    if (sizeof(Generation) > 1) GTEST_SKIP() << "wide ids come back after 2^32 lives";
    for (const RowIndexKind kind : kinds_of<TypeParam>())
        for (const DeathPolicy death : kPolicies) {
            EntityManager entities({.minimum_free_ids = 4});
            Manager<TypeParam> manager(entities, this->pool, {.index = kind, .death = death, .max_collected = 0});
            const std::vector<Entity> made = create(entities, 1000);
            ASSERT_TRUE(manager.add(made).ok());
            const Entity one = made[500];
            entities.destroy(one);
            Settler settler(seed());
            for (Entity next = *entities.create(); next != one; next = *entities.create()) {
                entities.destroy(next);
                settler.settle(manager.core());
            }
            EXPECT_FALSE(manager.has(one)) << kind_name(kind);
        }
}

// req: B20 B21
TYPED_TEST(ManagerDeath, random_probes_look_at_no_holes) {
    for (const RowIndexKind kind : kinds_of<TypeParam>()) {
        SCOPED_TRACE(kind_name(kind));
        EntityManager entities;
        Manager<TypeParam> manager(entities, this->pool, {.index = kind, .death = DeathPolicy::kRandomProbe});
        const std::vector<Entity> all = create(entities, 1'000'000);
        std::vector<Entity> made;
        for (std::size_t i = 999; i < all.size(); i += 1000) made.push_back(all[i]);
        ASSERT_TRUE(manager.add(made).ok());
        Random random(seed());
        for (int i = 0; i < 100; ++i) {
            const CollectCounts counts = manager.core().collect(random, 100);
            ASSERT_EQ(counts.num_probes, 4u);
            ASSERT_EQ(counts.num_removed, 0u);
        }
        ASSERT_TRUE(manager.core().validate().ok());
        const Entity last = made.back();
        made.pop_back();
        entities.destroy(made);
        std::uint32_t num_calls = 0;
        for (std::uint64_t bound = 0; manager.num_components() > 1; ++num_calls) {
            ASSERT_LT(bound += manager.core().collect(random, 100).num_probes, 100'000u);
        }
        EXPECT_LT(num_calls, 1000u) << "a call ends at four probes in a row of the one that lives";
        EXPECT_TRUE(manager.has(last));
        entities.destroy(last);
        EXPECT_EQ(manager.core().collect(random, 100).num_removed, 1u);
        EXPECT_EQ(manager.core().collect(random, 100).num_probes, 0u) << "empty";
        ASSERT_TRUE(manager.core().validate().ok());
    }
}

/// Creates entities until one has the index of `old`.
Entity recycle(EntityManager& entities, Entity old) {
    for (int i = 0; i < 10'000; ++i) {
        const Entity entity = *entities.create();
        if (entity.index() == old.index()) return entity;
        entities.destroy(entity);
    }
    ADD_FAILURE() << "the index never came back";
    return kNullEntity;
}

// req: B12 B19
TYPED_TEST(ManagerDeath, a_newer_entity_on_the_same_index_is_another_entity) {
    constexpr bool kMany = DescriptionOf<TypeParam>::kMany;
    for (const RowIndexKind kind : kinds_of<TypeParam>())
        for (const DeathPolicy death : kPolicies)
            for (const bool through_span : {false, true}) {
                SCOPED_TRACE(std::string(kind_name(kind)) + ", " + policy_name(death));
                EntityManager entities({.minimum_free_ids = 1});
                Manager<TypeParam> manager(entities, this->pool, {.index = kind, .death = death});
                const std::vector<Entity> others = create(entities, 5);
                const Entity old = *entities.create();
                const std::vector<Entity> more = create(entities, 5);
                for (const std::span<const Entity> some :
                     {std::span<const Entity>(others), {&old, 1}, std::span<const Entity>(more)})
                    ASSERT_TRUE(manager.add(some, make_value<TypeParam>(1, 1)).ok());
                if (kMany) {
                    ASSERT_TRUE(manager.add(old, make_value<TypeParam>(2, 1)).ok());
                }
                entities.destroy(old);
                const Entity newer = recycle(entities, old);
                EXPECT_FALSE(manager.has(newer)) << "it inherited from the dead";
                const TypeParam value = make_value<TypeParam>(3, 3);
                ASSERT_EQ(through_span ? manager.add({&newer, 1}, value)->num_added : bool(*manager.add(newer, value)),
                          1u);
                EXPECT_FALSE(manager.has(old));
                EXPECT_EQ(numbers_of(manager, newer), std::vector<std::uint64_t>{3});
                ASSERT_TRUE(manager.core().validate().ok());
                EXPECT_FALSE(manager.remove(old)) << "removing the old must not touch the newer";
                Settler settler;
                for (int i = 0; i < 50; ++i) settler.settle(manager.core());
                EXPECT_EQ(numbers_of(manager, newer), std::vector<std::uint64_t>{3});
                EXPECT_EQ(manager.num_components(), 11u);
                ASSERT_TRUE(manager.core().validate().ok());
            }
}

TYPED_TEST(ManagerDeath, an_id_that_lives_again_keeps_what_its_new_life_added) {
    EntityManager entities({.minimum_free_ids = 1});
    Manager<TypeParam> manager(entities, this->pool);
    const Entity first = *entities.create();
    ASSERT_TRUE(manager.add(first, make_value<TypeParam>(1, 0)).ok());
    entities.destroy(first);
    Entity again = kNullEntity;
    if (sizeof(Generation) > 1) GTEST_SKIP() << "wide ids come back after 2^32 lives";
    for (int lives = 0; !(again == first) && lives < 1000; ++lives) {
        entities.destroy(again);
        again = recycle(entities, first);
    }
    ASSERT_EQ(again, first);
    manager.remove(again);
    ASSERT_TRUE(manager.add(again, make_value<TypeParam>(2, 0)).ok());
    Settler().settle(manager.core());  // the list of deaths names this id
    EXPECT_EQ(numbers_of(manager, again), std::vector<std::uint64_t>{2});
}

TYPED_TEST(ManagerDeath, a_store_far_behind_sweeps) {
    for (const RowIndexKind kind : kinds_of<TypeParam>()) {
        SCOPED_TRACE(kind_name(kind));
        EntityManager entities({.max_death_list = 50});
        Manager<TypeParam> manager(entities, this->pool, {.index = kind});
        const std::vector<Entity> made = create(entities, 4000);
        ASSERT_TRUE(manager.add(made).ok());
        ASSERT_TRUE(manager.add(std::span(made).first(100)).ok());
        const DeathCursor cursor = entities.open_death_cursor();
        for (std::size_t i = 0; i < made.size(); ++i)
            if (i % 3 != 1) entities.destroy(made[i]);
        ASSERT_TRUE(entities.deaths(cursor).fell_behind);
        entities.close_death_cursor(cursor);
        Settler settler;
        settler.settle(manager.core());
        for (std::size_t i = 0; i < made.size(); ++i) ASSERT_EQ(manager.has(made[i]), i % 3 == 1);
        ASSERT_TRUE(manager.core().validate().ok());
        EXPECT_TRUE(entities.destroy(made[1]));
        settler.settle(manager.core());
        EXPECT_FALSE(manager.has(made[1])) << "the cursor follows again";
    }
}

TYPED_TEST(ManagerDeath, dropping_takes_the_dead_and_the_living) {
    EntityManager entities;
    Manager<TypeParam> manager(entities, this->pool);
    const std::vector<Entity> made = create(entities, 10);
    ASSERT_TRUE(manager.add(made).ok());
    entities.destroy(std::span(made).first(5));
    manager.core().drop(std::span(made).first(7));
    EXPECT_EQ(manager.num_components(), 3u);
    Settler().settle(manager.core());
    EXPECT_EQ(manager.num_components(), 3u);
}

// The memory of a burst goes back once a manager has settled without need of it.
TYPED_TEST(ManagerDeath, memory_goes_back_after_a_burst) {
    EntityManager entities;
    Manager<TypeParam> manager(entities, this->pool);
    const std::vector<Entity> made = create(entities, 50'000);
    ASSERT_TRUE(manager.add(made).ok());
    const std::size_t at_most = manager.core().table().memory_use().committed_bytes;
    entities.destroy(std::span(made).subspan(100));
    Settler settler;
    for (int i = 0; i < 20; ++i) settler.settle(manager.core());
    EXPECT_EQ(manager.num_components(), 100u);
    EXPECT_LT(manager.core().table().memory_use().committed_bytes, at_most / 20);
    for (std::size_t i = 0; i < 100; ++i)
        ASSERT_TRUE(same_value(manager.value(manager.instance(made[i])), TypeParam{}));
}

/// Takes another entity along when it ends.
struct Companion {
    EntityManager* entities = nullptr;
    Entity other;

    Companion() = default;
    Companion(EntityManager* of, Entity along) : entities(of), other(along) {}
    Companion(Companion&& companion) noexcept
        : entities(std::exchange(companion.entities, nullptr)), other(companion.other) {}
    Companion& operator=(Companion&& companion) noexcept {
        std::swap(entities, companion.entities);
        std::swap(other, companion.other);
        return *this;
    }
    ~Companion() {
        if (entities != nullptr) entities->destroy(other);
    }
};
}  // namespace

struct Accompanied {
    Companion companion;
    std::string text = "a text that needs memory of its own";
};
SHOAL_COMPONENT(Accompanied, companion, text)

namespace {

TEST(ManagerDestructors, may_destroy_other_entities_by_every_policy_and_index) {
    const LeakCheck leaks;
    SCOPED_TRACE(seed_text());
    Random random(seed());
    constexpr std::uint32_t kCount = 30;
    for (int round = 0; round < 200; ++round)
        for (const DeathPolicy death : {DeathPolicy::kAtSettle, DeathPolicy::kByCallback})
            for (const RowIndexKind kind : {RowIndexKind::kPaged, RowIndexKind::kHash, RowIndexKind::kIdentity}) {
                EntityManager entities;
                PagePool pool;
                Manager<Accompanied> manager(entities, pool, {.index = kind, .death = death});
                std::vector<Entity> made = create(entities, kCount);
                for (const Entity entity : made) {
                    Accompanied value;
                    if (random.below(2) == 0) value.companion = Companion(&entities, made[random.below(kCount)]);
                    ASSERT_TRUE(manager.add(entity, std::move(value)).ok());
                }
                std::vector<Entity> doomed = made;
                doomed.resize(random.below(kCount));
                entities.destroy(doomed);
                for (std::uint32_t i = 0; i < kCount; ++i) manager.core().settle({});
                const Status status = manager.core().validate();
                ASSERT_TRUE(status.ok()) << status.message();
                for (const Entity entity : made) {
                    ASSERT_EQ(manager.has(entity), entities.alive(entity));
                    if (!manager.has(entity)) continue;
                    ASSERT_EQ(manager.get<&Accompanied::text>(manager.instance(entity)),
                              "a text that needs memory of its own");
                }
                for (const Entity entity : made)
                    if (manager.has(entity))
                        manager.set<&Accompanied::companion>(manager.instance(entity), Companion());
            }
}

struct Bonded {
    std::shared_ptr<const int> bond;  // takes another entity along when it ends
};
SHOAL_COMPONENT(Bonded, bond)

// The list of deaths is short, and another reader lags behind, so that it moves while it is read.
TEST(ManagerDestructors, may_destroy_others_whichever_index_and_policy) {
    const LeakCheck leaks;
    for (const RowIndexKind kind : {RowIndexKind::kPaged, RowIndexKind::kHash, RowIndexKind::kIdentity})
        for (const DeathPolicy death : {DeathPolicy::kAtSettle, DeathPolicy::kByCallback, DeathPolicy::kRandomProbe}) {
            EntityManager entities({.max_death_list = 8});
            PagePool pool;
            Manager<Bonded> bonds(entities, pool, {.index = kind, .death = death});
            Manager<Bonded> idle(entities, pool, {.index = kind});
            const std::vector<Entity> made = create(entities, 64);
            for (std::size_t i = 0; i < made.size(); ++i) {
                const Entity next = made[(i + 1) % made.size()];
                const auto end = [&entities, next](const int* bond) {
                    delete bond;
                    entities.destroy(next);
                };
                Bonded bonded;
                if (i % 4 != 3) bonded.bond = {new int(), end};
                ASSERT_TRUE(bonds.add(made[i], bonded).ok());
            }
            entities.destroy(std::span(made).subspan(20, 5));
            Random random(seed());
            for (int i = 0; i < 2000; ++i) bonds.core().settle({.random = &random});
            EXPECT_EQ(bonds.core().validate().message(), "");
            for (const Entity entity : made) EXPECT_EQ(bonds.has(entity), entities.alive(entity));
            EXPECT_EQ(entities.num_alive(), 64u - 8) << "20 to 24 and those that they took along, to 27";
        }  // here the others end with the manager
}

// More have died than are listed, so all rows are looked at, from the last one down.
TEST(ManagerDestructors, deaths_while_all_rows_are_looked_at_are_found_in_the_next_settle) {
    EntityManager entities({.max_death_list = 8});
    PagePool pool;
    Manager<Bonded> bonds(entities, pool);
    const std::vector<Entity> made = create(entities, 64);
    for (std::size_t i = 0; i < made.size(); ++i) {
        const auto end = [&entities, next = made[20]](const int* bond) {
            delete bond;
            entities.destroy(next);
        };
        Bonded bonded;
        if (i == 19) bonded.bond = {new int(), end};
        ASSERT_TRUE(bonds.add(made[i], bonded).ok());
    }
    entities.destroy(std::span(made).first(20));
    bonds.core().settle({});
    EXPECT_FALSE(entities.alive(made[20]));
    bonds.core().settle({});
    EXPECT_FALSE(bonds.has(made[20]));
    EXPECT_EQ(bonds.num_rows(), 43u);
}

}  // namespace
}  // namespace shoal_test
