// What a world destroys first, and what passes must not do to the schedule that runs them.

#include "shoal/components/tag.h"
#include "shoal/world/world.h"
#include "support/testing.h"

#include <memory>

namespace {

using namespace shoal;

struct Crab {
    float mass = 1;
};
SHOAL_COMPONENT(Crab, mass)

TEST(WorldLifetime, a_pass_may_own_what_refers_to_the_worlds_managers) {
    const shoal_test::LeakCheck leaks;
    EntityManager entities;
    Entity entity;
    {
        World world(entities);
        entity = entities.create().value();
        auto tags = std::make_unique<TagManager>(world.manager<Tag>(), world.strings());
        ASSERT_TRUE(tags->add_tag(entity, "wet"));
        std::size_t num_wet = 0;
        world.schedule().add(
            "count", [&num_wet, tags = std::move(tags)](PassContext&) { num_wet = tags->entities_with("wet").size(); });
        world.step(0);
        EXPECT_EQ(num_wet, 1u);
    }
    EXPECT_TRUE(entities.destroy(entity)) << "the tags' callback is gone";
}

TEST(WorldLifetime, a_pass_cannot_change_or_run_the_schedule_that_runs_it) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto run = [](auto change) {
        EntityManager entities;
        World world(entities);
        world.schedule().add("change", [&](PassContext&) { change(world); });
        world.step(0);
    };
    const char* const message = "a pass changed or ran its own schedule";
    EXPECT_DEATH(run([](World& w) { w.schedule().add("more", [](PassContext&) {}); }), message);
    EXPECT_DEATH(run([](World& w) { static_cast<void>(w.schedule().remove("change")); }), message);
    EXPECT_DEATH(run([](World& w) { w.schedule().clear(); }), message);
    EXPECT_DEATH(run([](World& w) { w.schedule().run(w.executor(), 0, 0); }), message);
    run([](World& w) { EXPECT_TRUE(w.schedule().enable("change", false)); });
}

TEST(WorldLifetime, a_cleared_schedule_runs_nothing_and_takes_new_passes) {
    const shoal_test::LeakCheck leaks;
    Schedule schedule;
    SerialExecutor executor;
    int num_runs = 0;
    schedule.add("count", [&](PassContext&) { ++num_runs; });
    schedule.clear();
    schedule.run(executor, 0, 0);
    EXPECT_EQ(num_runs, 0);
    schedule.add("count", [&](PassContext&) { ++num_runs; });
    schedule.run(executor, 0, 1);
    EXPECT_EQ(num_runs, 1);
}

TEST(WorldLifetime, a_manager_is_not_made_if_an_attached_store_takes_its_components) {
    EntityManager entities;
    PagePool pool;
    Manager<Crab> crabs(entities, pool);
    World world(entities);
    ASSERT_TRUE(world.attach(crabs.core()));
    EXPECT_EQ(world.manager(schema_of<Crab>()).message(),
              "the store for \"crab\" is attached to the world, which owns no manager for it; use that store");
    world.detach(crabs.core());
}

TEST(WorldLifetime, worlds_that_share_entities_settle_independently) {
    EntityManager entities;
    Entity shoals[300];
    ASSERT_TRUE(entities.create(shoals));
    World lasting(entities);
    ASSERT_TRUE(lasting.manager<Crab>().add(shoals));
    {
        World passing(entities);
        ASSERT_TRUE(passing.manager<Crab>().add(shoals));
        EXPECT_EQ(entities.destroy(std::span(shoals).first(100)), 100u);
        passing.settle();
        EXPECT_EQ(passing.manager<Crab>().num_rows(), 200u);
        EXPECT_EQ(lasting.manager<Crab>().num_rows(), 300u);
    }
    lasting.settle();
    EXPECT_EQ(lasting.manager<Crab>().num_rows(), 200u);
}

}  // namespace
