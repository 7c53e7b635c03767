// What a schedule counts, and adding, removing and switching passes.

#include "shoal/base/clock.h"
#include "shoal/world/world.h"

#include "support/testing.h"

#include <memory>
#include <vector>

namespace schedule_test {
struct Boat {
    float speed = 0;
};
SHOAL_COMPONENT(Boat, speed)
}  // namespace schedule_test

namespace {

using namespace shoal;

TEST(Schedule, passes_run_in_the_order_in_which_they_were_added) {
    const shoal_test::LeakCheck leaks;
    Schedule schedule;
    SerialExecutor executor;
    std::vector<int> order;
    schedule.add("first", [&](PassContext&) { order.push_back(1); });
    schedule.add("second", [&](PassContext&) { order.push_back(2); });
    schedule.run(executor, 0.5f, 0);
    schedule.run(executor, 0.5f, 1);
    EXPECT_EQ(order, (std::vector<int>{1, 2, 1, 2}));
}

TEST(Schedule, a_pass_is_told_the_time_and_the_frame) {
    Schedule schedule;
    SerialExecutor executor;
    std::vector<std::pair<float, std::uint64_t>> seen;
    schedule.add("clock", [&](PassContext& pass) { seen.emplace_back(pass.dt, pass.frame); });
    schedule.run(executor, 0.25f, 8);
    ASSERT_EQ(seen.size(), 1u);
    EXPECT_EQ(seen[0], (std::pair<float, std::uint64_t>{0.25f, 8}));
}

// req: F5-F7
TEST(Schedule, passes_can_be_removed_and_switched_off) {
    Schedule schedule;
    SerialExecutor executor;
    int num_a = 0, num_b = 0;
    schedule.add("a", [&](PassContext&) { ++num_a; });
    schedule.add("b", [&](PassContext&) { ++num_b; });
    ASSERT_TRUE(schedule.enable("a", false).ok());
    schedule.run(executor, 0, 0);
    EXPECT_EQ(num_a, 0);
    EXPECT_EQ(num_b, 1);
    ASSERT_TRUE(schedule.enable("a", true).ok());
    ASSERT_TRUE(schedule.remove("b").ok());
    schedule.run(executor, 0, 1);
    EXPECT_EQ(num_a, 1);
    EXPECT_EQ(num_b, 1);
    EXPECT_EQ(schedule.num_passes(), 1u);
    EXPECT_EQ(schedule.remove("b").message(), "the schedule has no pass called \"b\"");
    EXPECT_EQ(schedule.enable("c", true).message(), "the schedule has no pass called \"c\"");
}

/// Waits until the clock has moved on by this much, and returns by how much it has.
std::int64_t work_for(std::int64_t num_ns) {
    const std::int64_t begin_ns = monotonic_ns();
    while (monotonic_ns() - begin_ns < num_ns) continue;
    return monotonic_ns() - begin_ns;
}

// req: A9 F12
TEST(Schedule, counts_runs_rows_bytes_and_time) {
    Schedule schedule;
    SerialExecutor executor;
    std::int64_t inside_ns = 0, total_ns = 0, total_outside_ns = 0, total_inside_ns = 0;
    schedule.add("rows", [&](PassContext& pass) {
        inside_ns = work_for(200'000 * static_cast<std::int64_t>(pass.frame + 1));
        pass.num_rows = 5 + static_cast<std::uint32_t>(pass.frame), pass.num_bytes = 40;
    });
    schedule.add("nothing", [](PassContext&) {});
    for (std::uint64_t frame = 0; frame < 3; ++frame) {
        const std::int64_t begin_ns = monotonic_ns();
        schedule.run(executor, 0, frame);
        const std::int64_t outside_ns = monotonic_ns() - begin_ns;
        const PassStatistics pass = schedule.statistics(0);
        EXPECT_GE(pass.last_ns, inside_ns) << "the time of this run";
        EXPECT_LE(pass.last_ns + schedule.statistics(1).last_ns, outside_ns) << "and of this pass alone";
        total_ns += pass.last_ns;
        total_inside_ns += inside_ns, total_outside_ns += outside_ns;
        EXPECT_EQ(pass.total_ns, total_ns) << "the sum of all runs";
        EXPECT_EQ(pass.num_rows, 5 + frame) << "of the last run";
    }
    const PassStatistics pass = schedule.statistics(0);
    EXPECT_EQ(pass.name, "rows");
    EXPECT_EQ(pass.num_runs, 3u);
    EXPECT_EQ(pass.total_rows, 5u + 6 + 7);
    EXPECT_EQ(pass.total_bytes, 120u);
    EXPECT_LE(schedule.statistics(1).total_ns, total_outside_ns - total_inside_ns)
        << "what does nothing costs the rest";
}

TEST(Schedule, lets_go_of_what_a_pass_holds) {
    auto held = std::make_shared<int>(3);
    {
        Schedule schedule;
        schedule.add("holds", [held](PassContext&) {});
        EXPECT_EQ(held.use_count(), 2);
        schedule.add("holds too", [held](PassContext&) {});
        ASSERT_TRUE(schedule.remove("holds").ok());
        EXPECT_EQ(held.use_count(), 2);
    }
    EXPECT_EQ(held.use_count(), 1);
}

TEST(World, a_settle_is_timed_and_counted) {
    EntityManager entities;
    World world(entities);
    auto& boats = world.manager<schedule_test::Boat>();
    std::vector<Entity> fleet(100);
    ASSERT_TRUE(entities.create(fleet).ok() && boats.add(fleet).ok());
    world.step(0);
    EXPECT_EQ(world.settle_statistics().num_settles, 1u);
    EXPECT_EQ(world.settle_statistics().last.num_removed, 0u);
    for (std::size_t i = 0; i < 2; ++i) {
        entities.destroy(std::span(fleet).subspan(i * 30, 30));
        world.step(0);
        EXPECT_EQ(world.settle_statistics().last.num_removed, 30u);
    }
    EXPECT_EQ(world.settle_statistics().total.num_removed, 60u);
    EXPECT_EQ(world.settle_statistics().num_settles, 3u);
    EXPECT_GE(world.settle_statistics().total_ns, world.settle_statistics().last_ns);
}

TEST(ScheduleDeathTest, two_passes_of_one_name_are_a_bug) {
    Schedule schedule;
    schedule.add("twin", [](PassContext&) {});
    EXPECT_DEATH(schedule.add("twin", [](PassContext&) {}), "give each pass a name of its own");
}

}  // namespace
