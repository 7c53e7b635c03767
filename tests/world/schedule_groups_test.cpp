// Groups of passes are enabled and disabled together.

#include "shoal/state/snapshot.h"
#include "shoal/world/schedule.h"

#include "support/testing.h"
#include "support/thread_pool_executor.h"

#include <atomic>
#include <string>
#include <vector>

namespace {

using namespace shoal;

/// Passes that only record their names. Those of different groups conflict, and run in the order of adding.
struct Named {
    Named() { schedule.set_strict(false); }
    PassOrder add(const std::string& name) {
        return schedule.add(name, [this, name](PassContext&) { order += name; });
    }
    std::string run() {
        order.clear();
        schedule.run(executor, 0, 0);
        return order;
    }

    Schedule schedule;
    SerialExecutor executor;
    std::string order;
};

TEST(ScheduleGroups, a_group_is_disabled_and_enabled_with_all_of_its_passes) {
    const shoal_test::LeakCheck leaks;
    Named passes;
    passes.add("a");
    passes.schedule.open_group("physics");
    passes.add("p");
    passes.schedule.open_group("art");
    passes.add("d");
    passes.schedule.open_group("physics");
    passes.add("q");
    passes.schedule.open_group("");
    passes.add("b");
    ASSERT_TRUE(passes.schedule.enable_group("physics", false));
    EXPECT_EQ(passes.run(), "adb");
    ASSERT_TRUE(passes.schedule.enable_group("art", false));
    EXPECT_EQ(passes.run(), "ab");
    ASSERT_TRUE(passes.schedule.enable_group("physics", true));
    EXPECT_EQ(passes.run(), "apqb");
}

TEST(ScheduleGroups, a_pass_runs_if_both_it_and_its_group_are_on) {
    Named passes;
    passes.schedule.open_group("physics");
    passes.add("p");
    for (const bool pass_on : {false, true})
        for (const bool group_on : {false, true}) {
            ASSERT_TRUE(passes.schedule.enable("p", pass_on));
            ASSERT_TRUE(passes.schedule.enable_group("physics", group_on));
            EXPECT_EQ(passes.schedule.statistics(0).enabled, pass_on && group_on);
            EXPECT_EQ(passes.run(), pass_on && group_on ? "p" : "");
        }
}

TEST(ScheduleGroups, a_pass_that_joins_a_disabled_group_is_disabled) {
    Named passes;
    passes.schedule.open_group("physics");
    passes.add("p");
    ASSERT_TRUE(passes.schedule.enable_group("physics", false));
    passes.add("q");
    EXPECT_FALSE(passes.schedule.statistics(1).enabled);
    passes.schedule.clear();
    passes.add("r");
    EXPECT_EQ(passes.run(), "") << "the group stays when its passes go";
    passes.schedule.open_group("art");
    passes.add("d");
    EXPECT_EQ(passes.run(), "d");
}

TEST(ScheduleGroups, what_is_enabled_and_when_a_pass_is_due_are_saved_and_loaded) {
    Named passes;
    std::vector<std::uint64_t> seeds;
    passes.add("p").every_frames(3);
    for (const char* group : {"art", "physics"}) {
        passes.schedule.open_group(group);
        passes.add(group[0] == 'a' ? "d" : "q");
    }
    passes.schedule.add("seed", [&](PassContext& context) { seeds.push_back(context.random_seed); });
    const auto set = [&](bool is_art, std::uint64_t seed) {
        ASSERT_TRUE(passes.schedule.enable_group("art", is_art).ok() && passes.schedule.enable("q", !is_art).ok());
        passes.schedule.set_seed(seed);
    };
    for (const bool is_art : {false, true}) {
        set(is_art, 5);
        passes.run(), passes.run();
        Snapshot state;
        SnapshotWriter to(state);
        passes.schedule.save(to);
        std::vector<std::string> runs;
        for (int i = 0; i < 4; ++i) runs.push_back(passes.run());
        EXPECT_EQ(runs, is_art ? (std::vector<std::string>{"d", "pd", "d", "d"})
                               : (std::vector<std::string>{"q", "pq", "q", "q"}))
            << "a pass is on by itself, though its group was off when a state was saved";
        const std::vector<std::uint64_t> known(seeds.end() - 4, seeds.end());
        set(!is_art, 6);
        passes.run();
        EXPECT_NE(seeds.back(), known.back());
        SnapshotReader from(state);
        ASSERT_TRUE(passes.schedule.load(from).ok());
        for (int i = 0; i < 4; ++i) EXPECT_EQ(passes.run(), runs[static_cast<std::size_t>(i)]) << i;
        EXPECT_EQ(std::vector<std::uint64_t>(seeds.end() - 4, seeds.end()), known);
    }
}

TEST(ScheduleGroups, an_unknown_group_is_an_error) {
    Named passes;
    passes.add("a");
    EXPECT_EQ(passes.schedule.enable_group("physics", false).message(),
              "the schedule has no group of passes called \"physics\"");
    EXPECT_FALSE(passes.schedule.enable_group("a", false)) << "a pass is not a group";
    EXPECT_FALSE(passes.schedule.enable_group("", false)) << "the first group has no name";
    passes.schedule.open_group("");
    EXPECT_FALSE(passes.schedule.enable_group("", false));
    passes.schedule.open_group("physics");
    EXPECT_TRUE(passes.schedule.enable_group("physics", true)) << "a group may be empty";
    EXPECT_EQ(passes.run(), "a");
}

TEST(ScheduleGroups, passes_may_enable_groups_from_the_next_run_on) {
    for (const unsigned num_workers : {1u, 3u}) {
        shoal_test::ThreadPoolExecutor executor(num_workers);
        Schedule schedule;
        std::atomic<int> num_day{0}, num_night{0};
        // Both passes enable and disable both groups, at once where there are workers.
        const auto enable_groups = [&](PassContext& pass) {
            const bool night_is_next = pass.frame % 2 == 0;
            EXPECT_TRUE(schedule.enable_group("night", night_is_next));
            EXPECT_TRUE(schedule.enable_group("day", !night_is_next));
        };
        for (const char* name : {"sun", "moon"}) schedule.add(name, {reads(num_day)}, enable_groups);
        schedule.open_group("night");
        schedule.add("owls", {reads(num_day)}, [&](PassContext& pass) { num_night += pass.frame % 2 == 1; });
        ASSERT_TRUE(schedule.enable_group("night", false));
        schedule.open_group("day");
        schedule.add("larks", {reads(num_day)}, [&](PassContext& pass) { num_day += pass.frame % 2 == 0; });
        for (std::uint64_t frame = 0; frame < 100; ++frame) schedule.run(executor, 0, frame);
        EXPECT_EQ(num_day, 50);
        EXPECT_EQ(num_night, 50);
        EXPECT_EQ(schedule.statistics(2).num_runs, 50u);
        EXPECT_EQ(schedule.statistics(3).num_runs, 50u);
    }
}

TEST(ScheduleGroupsDeathTest, a_pass_may_not_open_a_group) {
    Schedule schedule;
    SerialExecutor executor;
    schedule.add("pass", [&](PassContext&) { schedule.open_group("more"); });
    EXPECT_DEATH(schedule.run(executor, 0, 0), "a pass changed or ran its own schedule");
}

}  // namespace
