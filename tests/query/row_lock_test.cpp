// What a pass may not do: add or remove rows of the managers whose columns it goes over.

#include "shoal/query/query.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace {

using namespace shoal;

struct Crab {
    float mass = 1;
    Vec3 place{};
};
SHOAL_COMPONENT(Crab, mass, (place, split))

struct Shell {
    float width = 1;
};
SHOAL_COMPONENT(Shell, width)

class RowLockTest : public testing::Test {
protected:
    RowLockTest() {
        GTEST_FLAG_SET(death_test_style, "threadsafe");
        EXPECT_TRUE(entities.create(beach));
        EXPECT_TRUE(crabs.add(std::span(beach).first(50)));
        EXPECT_TRUE(shells.add(std::span(beach).first(20)));
    }
    /// Calls `change` in the middle of a loop over crabs that looks at their shells.
    template <class Change>
    void in_a_loop(Change change) {
        const auto visit = [&](Entity crab, float&, const float*) {
            if (crab == beach[7]) change();
        };
        query<Write<&Crab::mass>, Maybe<&Shell::width>>(crabs, shells).for_each(visit);
    }

    EntityManager entities;
    PagePool pool;
    Manager<Crab> crabs{entities, pool, {.death = DeathPolicy::kByCallback}};
    Manager<Shell> shells{entities, pool};
    Entity beach[100];
    static constexpr const char* kMessage = "while a loop ran over its rows";
};

TEST_F(RowLockTest, a_loop_over_components_refuses_that_they_come_or_go) {
    EXPECT_DEATH(in_a_loop([&] { static_cast<void>(crabs.add(beach)); }), kMessage);
    EXPECT_DEATH(in_a_loop([&] { static_cast<void>(crabs.add(beach[60])); }), kMessage);
    EXPECT_DEATH(in_a_loop([&] { crabs.remove(beach[3]); }), kMessage);
    EXPECT_DEATH(in_a_loop([&] { crabs.remove(crabs.instance(beach[3])); }), kMessage);
    EXPECT_DEATH(in_a_loop([&] { crabs.clear(); }), kMessage);
    EXPECT_DEATH(in_a_loop([&] { crabs.core().settle({}); }), kMessage);
    EXPECT_DEATH(in_a_loop([&] { entities.destroy(beach[3]); }), kMessage) << "the callback removes the row";
}

TEST_F(RowLockTest, components_that_a_loop_gathers_stay_where_they_are_too) {
    EXPECT_DEATH(in_a_loop([&] { shells.remove(beach[3]); }), kMessage);
}

TEST_F(RowLockTest, after_the_loop_and_beside_it_all_is_allowed) {
    in_a_loop([&] { crabs.set<&Crab::place>(crabs.instance(beach[3]), {1, 2, 3}); });
    in_a_loop([&] { in_a_loop([] {}); });
    EXPECT_EQ(crabs.add(beach)->num_added, 50u);
    EXPECT_TRUE(crabs.remove(beach[3]));
    SerialExecutor executor;
    query<Read<&Crab::mass>>(crabs).for_each(executor, [&](Entity crab, float) {
        if (crab == beach[7]) shells.remove(beach[1]);
    });
    EXPECT_FALSE(shells.has(beach[1]));
    EXPECT_EQ(entities.destroy(beach), 100u);
    EXPECT_EQ(crabs.num_rows(), 0u);
}

TEST_F(RowLockTest, a_function_that_throws_ends_the_loop_and_lets_rows_come_and_go_again) {
    crabs.core().settle({.stamp = 5});
    EXPECT_THROW(in_a_loop([] { throw std::runtime_error("pinched"); }), std::runtime_error);
    std::uint32_t num_marked = 0;
    query<Read<&Crab::mass>>(crabs).changed_since(5).for_each([&](float) { ++num_marked; });
    EXPECT_EQ(num_marked, crabs.num_rows()) << "what was written before is marked";
    EXPECT_TRUE(crabs.remove(beach[3]));
    SerialExecutor serial;
    ThreadedExecutor threads(2);
    for (Executor* executor : {static_cast<Executor*>(&serial), static_cast<Executor*>(&threads)}) {
        const auto all = query<Write<&Crab::mass>>(crabs).grain(1);
        const auto pinch = [&](Entity crab, float&) {
            if (crab == beach[7]) throw std::runtime_error("pinched");
        };
        EXPECT_THROW(all.for_each(*executor, pinch), std::runtime_error);
        EXPECT_THROW(all.start(*executor, pinch).wait(), std::runtime_error);
        EXPECT_TRUE(crabs.add(beach[3]));
        EXPECT_TRUE(crabs.remove(beach[3]));
    }
}

}  // namespace
