#include "shoal/inspect/detail/timeline.h"

#include "shoal/world/world.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace {

using namespace shoal;

/// roam -> swim -> eat, and grow -> eat.
ScheduleGraph sea() {
    return {
        {{"roam", "", 0, 0, {}, {}}, {"grow", "", 1, 0, {}, {}}, {"swim", "", 2, 1, {}, {}}, {"eat", "", 3, 2, {}, {}}},
        {{0, 2, false, {}}, {2, 3, false, {}}, {1, 3, true, {}}}};
}

TEST(Timeline, has_the_last_frame_from_its_first_begin_on) {
    Trace trace(2);
    const std::uint32_t roam = trace.number_of("roam"), swim = trace.number_of("swim"), grow = trace.number_of("grow");
    trace.add(0, {100, 200, 6, roam});
    trace.add(0, {1010, 1030, 7, roam});
    trace.add(0, {1040, 1060, 7, swim});
    trace.add(1, {1000, 1050, 7, grow});
    const Timeline timeline = last_frame(trace, sea());
    EXPECT_EQ(timeline.frame, 7u);
    EXPECT_EQ(timeline.end_ns, 60);
    ASSERT_EQ(timeline.workers.size(), 2u);
    ASSERT_EQ(timeline.workers[0].size(), 2u);
    EXPECT_EQ(timeline.workers[0][0].pass, "roam");
    EXPECT_EQ(timeline.workers[0][0].begin_ns, 10);
    EXPECT_EQ(timeline.workers[0][1].end_ns, 60);
    EXPECT_EQ(timeline.workers[1][0].begin_ns, 0);
}

TEST(Timeline, says_for_which_pass_each_has_waited_last) {
    Trace trace(2);
    trace.add(0, {0, 10, 0, trace.number_of("roam")});
    trace.add(1, {0, 50, 0, trace.number_of("grow")});
    trace.add(0, {12, 20, 0, trace.number_of("swim")});
    trace.add(1, {57, 60, 0, trace.number_of("eat")});
    const Timeline timeline = last_frame(trace, sea());
    ASSERT_EQ(timeline.waits.size(), 2u);
    EXPECT_EQ(timeline.waits[0].pass, "swim");
    EXPECT_EQ(timeline.waits[0].waited_for, "roam");
    EXPECT_EQ(timeline.waits[0].ns, 2);
    EXPECT_EQ(timeline.waits[1].pass, "eat");
    EXPECT_EQ(timeline.waits[1].waited_for, "grow") << "swim ended earlier";
    EXPECT_EQ(timeline.waits[1].ns, 7);
}

TEST(Timeline, a_pass_of_several_workers_lasts_from_its_first_begin_to_its_last_end) {
    Trace trace(2);
    const auto add = [&](std::uint32_t worker, const char* pass, std::int64_t begin_ns, std::int64_t end_ns) {
        trace.add(worker, {begin_ns, end_ns, 4, trace.number_of(pass)});
    };
    trace.add(1, {-90, -80, 3, trace.number_of("roam")});
    add(0, "roam", 0, 30), add(0, "swim", 40, 50), add(0, "grow", 50, 60), add(0, "eat", 85, 95);
    const Timeline alone = last_frame(trace, sea());
    EXPECT_EQ(alone.frame, 4u) << "though the second worker had nothing to do in it";
    EXPECT_TRUE(alone.workers[1].empty());
    add(1, "roam", 5, 20), add(1, "swim", 45, 70), add(1, "eat", 80, 90);
    const Timeline timeline = last_frame(trace, sea());
    ASSERT_EQ(timeline.waits.size(), 2u);
    EXPECT_EQ(timeline.waits[0].pass, "swim");
    EXPECT_EQ(timeline.waits[0].ns, 40 - 30);
    EXPECT_EQ(timeline.waits[1].waited_for, "swim") << "grow ended earlier, and comes later in the list";
    EXPECT_EQ(timeline.waits[1].ns, 80 - 70);
}

TEST(Timeline, of_nothing_is_empty) {
    const Timeline timeline = last_frame(Trace(3), {});
    EXPECT_EQ(timeline.workers.size(), 3u);
    EXPECT_EQ(timeline.end_ns, 0);
    EXPECT_TRUE(timeline.waits.empty());
}

TEST(Timeline, of_a_world_has_the_passes_of_its_last_frame_and_how_it_settled) {
    EntityManager entities;
    World world(entities);
    world.schedule().add("count", [](PassContext&) {});
    Trace trace(world.executor().num_workers());
    world.schedule().set_trace(&trace);
    for (int i = 0; i < 3; ++i) world.step(1);
    world.schedule().set_trace(nullptr);
    const Timeline timeline = last_frame(trace, *world.schedule().graph());
    EXPECT_EQ(timeline.frame, 2u);
    std::vector<std::string> passes;
    for (const std::vector<TimelineSpan>& spans : timeline.workers)
        for (const TimelineSpan& span : spans) passes.push_back(span.pass);
    EXPECT_EQ(std::ranges::count(passes, "count"), 1);
    EXPECT_EQ(std::ranges::count(passes, "settle"), 1);
}

}  // namespace
