// Services, observers and relations need a directory of stores, and no world.

#include "shoal/job/executor.h"
#include "shoal/react/observers.h"
#include "shoal/react/relations.h"
#include "shoal/react/service.h"
#include "shoal/store/detail/component_directory.h"
#include "shoal/store/manager.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <vector>

namespace react_directory_test {

using namespace shoal;

struct Whale {
    float mass = 1;
};
SHOAL_COMPONENT(Whale, mass)

struct Barnacle {
    Entity whale;
};
SHOAL_COMPONENT(Barnacle, (whale, relation(dies_too)))

/// What a program does that has stores and no world.
struct Bay : ::testing::Test {
    Bay() {
        services.add(relations);
        services.add(observers);
    }
    void settle() {
        directory.set_stamp(directory.stamp() + 1);
        SettleCounts counts;
        const SettleContext context{&random, directory.stamp(), &executor, &counts};
        services.for_each([&](WorldService& service) { service.before_commands(context); });
        services.for_each([&](WorldService& service) { service.after_commands(context); });
        for (Store* const store : directory.stores()) store->settle(context);
        services.for_each([](WorldService& service) { service.note_deaths(); });
        services.for_each([&](WorldService& service) { service.after_settle(context); });
    }

    EntityManager entities;
    PagePool pool;
    Random random{1};
    SerialExecutor executor;
    ComponentDirectory directory{entities};
    WorldServices services{directory};
    Relations relations{directory};
    Observers observers{directory};
};

TEST_F(Bay, who_refers_to_the_dead_dies_too_and_observers_are_told) {
    auto& whales = directory.make<Manager<Whale>>(pool);
    auto& barnacles = directory.make<Manager<Barnacle>>(pool);
    Entity made[4];
    ASSERT_TRUE(entities.create(made));
    ASSERT_TRUE(whales.add(std::span(made, 2)));
    ASSERT_TRUE(barnacles.add(made[2], {made[0]}));
    ASSERT_TRUE(barnacles.add(made[3], {made[1]}));
    std::vector<Entity> gone;
    observers.on_remove<Barnacle>(
        [&](std::span<const Entity> told) { gone.insert(gone.end(), told.begin(), told.end()); });
    settle();
    EXPECT_EQ(relations.referrers<&Barnacle::whale>(made[1]).size(), 1u);
    entities.destroy(std::span(made, 1));
    settle();
    EXPECT_FALSE(entities.alive(made[2]));
    EXPECT_TRUE(entities.alive(made[3]));
    EXPECT_EQ(gone, std::vector<Entity>{made[2]});
    EXPECT_EQ(barnacles.core().num_rows(), 1u);
}

TEST_F(Bay, a_store_that_the_directory_ends_is_forgotten_by_who_observes_it) {
    auto& whales = directory.make<Manager<Whale>>(pool);
    EXPECT_TRUE(directory.owns(whales.core()));
    EXPECT_EQ(directory.num_owned(), 1u);
    bool was_told = false;
    observers.on_add<Whale>([&](std::span<const Entity>) { was_told = true; });
    Entity whale;
    ASSERT_TRUE(entities.create(std::span(&whale, 1)));
    ASSERT_TRUE(whales.add(whale));
    observers.forget(whales.core());
    directory.destroy_after(0);
    settle();
    EXPECT_FALSE(was_told);
    EXPECT_TRUE(directory.stores().empty());
    EXPECT_EQ(directory.find(schema_of<Whale>().id()), nullptr);
}

TEST_F(Bay, passes_that_run_are_known_to_the_directory) {
    EXPECT_TRUE(services.is_at_rest());
    directory.hold(true);
    EXPECT_TRUE(directory.is_held());
    EXPECT_FALSE(services.is_at_rest());
    EXPECT_DEATH(directory.make<Manager<Whale>>(pool), "a pass made or attached a store .* for \"whale\"");
    directory.hold(false);
    directory.make<Manager<Whale>>(pool);
}

}  // namespace react_directory_test
