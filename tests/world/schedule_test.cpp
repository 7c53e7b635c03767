// What a schedule counts, and adding, removing and disabling passes.

#include "shoal/base/clock.h"
#include "shoal/base/detail/running_pass.h"
#include "shoal/base/log.h"
#include "shoal/command/commands.h"
#include "shoal/query/query.h"
#include "shoal/world/world.h"

#include "support/testing.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

namespace schedule_test {
struct Boat {
    float speed = 0;
};
SHOAL_COMPONENT(Boat, speed)

/// A value whose copies can fail.
struct Brittle {
    Brittle() = default;
    Brittle(const Brittle& other) : text(other.text) {
        if (text == "breaks") throw std::runtime_error("boom");
    }
    Brittle(Brittle&&) noexcept = default;
    Brittle& operator=(const Brittle&) = default;
    std::string text = "long enough not to lie in the string itself";
};

struct Cargo {
    Brittle what;
};
SHOAL_COMPONENT(Cargo, what)
}  // namespace schedule_test

namespace {

using namespace shoal;
using schedule_test::Boat;
using schedule_test::Brittle;
using schedule_test::Cargo;

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
TEST(Schedule, passes_can_be_removed_and_disabled) {
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
    std::int64_t total_ns = world.settle_statistics().last_ns;
    for (std::size_t i = 0; i < 2; ++i) {
        entities.destroy(std::span(fleet).subspan(i * 30, 30));
        world.step(0);
        EXPECT_EQ(world.settle_statistics().last.num_removed, 30u);
        total_ns += world.settle_statistics().last_ns;
    }
    EXPECT_EQ(world.settle_statistics().total.num_removed, 60u);
    EXPECT_EQ(world.settle_statistics().num_settles, 3u);
    EXPECT_EQ(world.settle_statistics().total_ns, total_ns) << "of all settles";
}

TEST(ScheduleDeathTest, passes_and_groups_of_one_name_are_a_bug_whose_message_has_the_name) {
    Schedule schedule;
    schedule.add("twin", [](PassContext&) {});
    EXPECT_DEATH(schedule.add("twin", [](PassContext&) {}),
                 "the schedule has a pass called \"twin\" already; give each a name of its own");
    EXPECT_DEATH(schedule.open_group("twin"), "the schedule has a pass called \"twin\" already");
    schedule.open_group("crew");
    schedule.add("sailor", [](PassContext&) {});
    EXPECT_DEATH(schedule.add("crew", [](PassContext&) {}), "has a group of passes called \"crew\" already");
}

// --- failures ----------------------------------------------------------------------------------------------------

/// A fleet whose passes can be told to fail; the log is kept.
struct Failures : ::testing::TestWithParam<std::uint32_t> {
    Failures() {
        EXPECT_TRUE(entities.create(fleet).ok());
        EXPECT_TRUE(boats.add(fleet).ok());
        set_log_hook([](void* self, LogLevel, std::string_view line) { static_cast<Failures*>(self)->keep(line); },
                     this);
    }
    ~Failures() override { set_log_hook(nullptr, nullptr); }

    /// Passes that fail side by side log from several threads.
    void keep(std::string_view line) {
        const std::lock_guard lock(log_mutex);
        logged += std::string(line) + "\n";
    }

    /// Steps, and returns what was thrown.
    std::string step(float dt = 1) {
        try {
            world.step(dt);
        } catch (const std::exception& thrown) {
            return thrown.what();
        }
        return {};
    }
    /// Adds passes around those of `add_failing`, which fail while `fails` is set, and tests what is left by a failure.
    template <class AddFailing>
    void expect_that_all_goes_on(AddFailing add_failing, const char* thrown) {
        Schedule& schedule = world.schedule();
        schedule.clear();
        num_before = num_after = 0;
        schedule.add("before", {writes(num_before)}, [&](PassContext&) { ++num_before; });
        add_failing(schedule);
        schedule.add("after", [&](PassContext& pass) { ++num_after, last_dt = pass.dt; });
        fails = true;
        logged.clear();
        EXPECT_EQ(step(), thrown);
        EXPECT_EQ(schedule.failed_pass(), "hurl");
        EXPECT_EQ(schedule.status().message(), "the pass \"hurl\" failed: boom");
        EXPECT_EQ(logged, "the pass \"hurl\" failed: boom\n");
        EXPECT_EQ(num_before, 1);
        EXPECT_EQ(num_after, 0) << "no pass starts behind one that has failed";
        EXPECT_EQ(running_pass(), nullptr);
        EXPECT_TRUE(boats.remove(fleet[7])) << "rows may come and go again";
        EXPECT_TRUE(boats.add(fleet[7]));
        fails = false;
        EXPECT_EQ(step(), "");
        EXPECT_TRUE(schedule.status().ok());
        EXPECT_EQ(schedule.failed_pass(), "");
        EXPECT_EQ(num_after, 1);
        EXPECT_EQ(last_dt, 2) << "the frame in which it did not run counts";
    }

    std::vector<Entity> fleet = std::vector<Entity>(20'000);
    EntityManager entities;
    ThreadedExecutor executor{GetParam()};
    World world{entities, {.executor = &executor}};
    Manager<Boat>& boats = world.manager<Boat>();
    bool fails = false;
    int num_before = 0, num_after = 0;
    float last_dt = 0;
    std::mutex log_mutex;
    std::string logged;
};
INSTANTIATE_TEST_SUITE_P(Workers, Failures, ::testing::Values(1u, 2u, 3u));

// req: F6-F7
TEST_P(Failures, a_pass_that_throws_is_named_and_the_next_frame_runs_all_passes) {
    const auto hurl = [&] {
        if (fails) throw std::runtime_error("boom");
    };
    expect_that_all_goes_on([&](Schedule& s) { s.add("hurl", [&](PassContext&) { hurl(); }); }, "boom");
    expect_that_all_goes_on(
        [&](Schedule& s) {
            s.add("hurl", world.query<Write<&Boat::speed>>(), [&](Entity boat, float&) {
                if (boat == fleet[10'000]) hurl();
            });
        },
        "boom");
    expect_that_all_goes_on(
        [&](Schedule& s) {
            s.add("hurl", [&](PassContext& pass) {
                const auto all = world.query<Write<&Boat::speed>>();
                all.for_each(pass.executor, [&](Commands&, Entity, float&) { hurl(); });
            });
        },
        "boom");
    expect_that_all_goes_on(
        [&](Schedule& s) {
            s.add("hurl", [&](PassContext& pass) {
                for_rows(pass.executor, 20'000, kByteGranularity, [&](RowRange, std::uint32_t) { hurl(); });
            });
        },
        "boom");
}

// req: F6-F7
TEST_P(Failures, a_pass_that_returns_an_error_is_named_and_logged) {
    expect_that_all_goes_on(
        [&](Schedule& s) { s.add("hurl", [&](PassContext&) { return fails ? Status::error("boom") : Status(); }); },
        "");
}

TEST_P(Failures, what_is_no_std_exception_is_thrown_as_it_is) {
    world.schedule().add("hurl", [&](PassContext&) { throw 7; });
    EXPECT_THROW(world.step(1), int);
    EXPECT_EQ(world.schedule().failed_pass(), "hurl");
    EXPECT_THROW(world.schedule().run(executor, 1, 1), int) << "Schedule::run() throws too";
    EXPECT_THROW(world.step(1), int);
}

TEST_P(Failures, all_other_chunks_are_run_and_the_first_that_throws_counts) {
    std::vector<std::uint8_t> visited(fleet.size());
    world.schedule().add("hurl", world.query<Write<&Boat::speed>>().grain(64), [&](Entity boat, float& speed) {
        speed = 1;
        const auto index = static_cast<std::size_t>(boat.index() - fleet[0].index());
        visited[index] = 1;
        if (index == 9'000 || index == 12'000 || index == 19'000)
            throw std::runtime_error("at " + std::to_string(index));
    });
    const std::uint64_t stamp = world.stamp();
    EXPECT_EQ(step(), "at 9000") << "whatever came first";
    EXPECT_EQ(visited.back(), 1);
    EXPECT_EQ(visited[9'000], 1);
    EXPECT_EQ(visited[9'001], 0) << "the rest of the chunk is left out";
    std::size_t num_marked = 0;
    world.query<Read<&Boat::speed>>().changed_since(stamp).for_each([&](float) { ++num_marked; });
    EXPECT_EQ(num_marked, fleet.size()) << "what was written is marked";
}

TEST_P(Failures, what_was_asked_for_and_told_before_a_throw_is_not_lost) {
    Events<int>& told = world.events<int>();
    world.schedule().add("ask", [&](PassContext&) { world.commands().destroy(fleet[1]); });
    world.schedule().add("hurl", world.query<Read<&Boat::speed>>().writing(told),
                         [&](EventWriter<int>& told_of, Commands& commands, Entity boat, float) {
                             if (boat == fleet[2]) commands.destroy(boat);
                             if (boat == fleet[3]) told_of.write(3);
                             if (boat == fleet[3]) throw std::runtime_error("boom");
                         });
    EXPECT_EQ(step(), "boom");
    EXPECT_FALSE(entities.alive(fleet[1]));
    EXPECT_FALSE(entities.alive(fleet[2]));
    EXPECT_TRUE(entities.alive(fleet[3]));
    EXPECT_EQ(boats.num_rows(), fleet.size() - 2);
    ASSERT_EQ(told.read_last().size(), 1u);
    EXPECT_EQ(told.read_last()[0], 3);
}

TEST_P(Failures, of_several_passes_that_fail_the_first_in_the_order_is_reported) {
    int a = 0, b = 0;
    world.schedule().add("a", {writes(a)}, [](PassContext&) { return Status::error("late"); }).after("first");
    world.schedule().add("b", {writes(b)}, [](PassContext&) { throw std::runtime_error("later"); });
    world.schedule().add("first", {writes(a)}, [](PassContext&) {});
    bool was_a = false;
    for (int frame = 0; frame < 20; ++frame) {
        const std::string thrown = step();
        // The order is first, a, b or b, first, a: in either case one of them is always the first.
        EXPECT_EQ(world.schedule().failed_pass(), thrown.empty() ? "a" : "b");
        const bool is_a = world.schedule().failed_pass() == "a";
        EXPECT_EQ(is_a, frame == 0 ? is_a : was_a) << "the same in every frame";
        was_a = is_a;
    }
}

TEST_P(Failures, a_value_that_cannot_be_copied_leaves_no_command) {
    Manager<Cargo>& cargo = world.manager<Cargo>();
    Cargo breaks;
    breaks.what.text = "breaks";
    world.schedule().add("load", [&](PassContext&) {
        world.commands().add(fleet[1], Cargo());
        world.commands().add(fleet[2], breaks);
    });
    EXPECT_EQ(step(), "boom");
    EXPECT_TRUE(cargo.has(fleet[1]));
    EXPECT_FALSE(cargo.has(fleet[2]));
}

}  // namespace
