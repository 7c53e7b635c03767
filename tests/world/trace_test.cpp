// Traces: what is recorded, and what is overwritten.

#include "shoal/world/trace.h"

#include "shoal/base/clock.h"
#include "shoal/world/schedule.h"
#include "shoal/world/world.h"
#include "support/testing.h"

#include <string>
#include <vector>

namespace {

using namespace shoal;

TEST(Trace, keeps_the_latest_events_of_each_worker_in_order) {
    const shoal_test::LeakCheck leaks;
    Trace trace(2, 4);
    for (std::int64_t i = 0; i < 7; ++i) trace.add(1, {i, i + 1, 0, 0});
    trace.add(0, {50, 60, 3, trace.number_of("settle")});
    ASSERT_EQ(trace.num_events(1), 4u);
    EXPECT_EQ(trace.num_lost(1), 3u);
    for (std::uint32_t i = 0; i < 4; ++i) EXPECT_EQ(trace.event(1, i).begin_ns, i + 3);
    ASSERT_EQ(trace.num_events(0), 1u);
    EXPECT_EQ(trace.num_lost(0), 0u);
    EXPECT_EQ(trace.name(trace.event(0, 0).name), "settle");
    EXPECT_EQ(trace.number_of("settle"), trace.event(0, 0).name) << "a name keeps its number";
}

TEST(Trace, shows_when_each_worker_worked_at_each_pass) {
    ThreadedExecutor threads(2);
    Trace trace(2);
    Schedule schedule;
    schedule.add("before", [](PassContext&) {});
    schedule.set_trace(&trace);
    schedule.add("loop", [](PassContext& pass) {
        for_rows(pass.executor, 50'000, kByteGranularity, [](RowRange, std::uint32_t) {});
    });
    const std::int64_t begin_ns = monotonic_ns();
    for (std::uint64_t frame = 0; frame < 3; ++frame) schedule.run(threads, 0, frame);
    const std::int64_t end_ns = monotonic_ns();
    std::uint32_t num_by_frame[2][3] = {};  // by pass
    std::int64_t total_ns[2] = {};
    for (std::uint32_t worker = 0; worker < 2; ++worker) {
        std::int64_t last_ns = begin_ns;
        for (std::uint32_t i = 0; i < trace.num_events(worker); ++i) {
            const TraceEvent& event = trace.event(worker, i);
            EXPECT_LE(last_ns, event.begin_ns) << "a worker does one thing at a time";
            EXPECT_LE(event.begin_ns, event.end_ns);
            last_ns = event.end_ns;
            const std::size_t pass = trace.name(event.name) == "loop";
            EXPECT_EQ(trace.name(event.name), pass == 1 ? "loop" : "before");
            ++num_by_frame[pass][event.frame];
            total_ns[pass] += event.end_ns - event.begin_ns;
        }
        EXPECT_LE(last_ns, end_ns);
    }
    for (std::size_t pass = 0; pass < 2; ++pass) {
        for (const std::uint32_t num_events : num_by_frame[pass]) EXPECT_GE(num_events, 1u);
        std::int64_t ledger_ns = 0;
        for (const std::int64_t ns : schedule.statistics(pass).worker_ns) ledger_ns += ns;
        EXPECT_EQ(total_ns[pass], ledger_ns) << "the trace and the statistics agree";
    }
    schedule.set_trace(nullptr);
    const std::uint32_t num_events = trace.num_events(0);
    schedule.run(threads, 0, 3);
    EXPECT_EQ(trace.num_events(0), num_events);
}

TEST(Trace, has_the_settle_of_a_world_in_the_frame_of_its_passes) {
    EntityManager entities;
    World world(entities);
    Trace trace(1);
    world.schedule().set_trace(&trace);
    world.schedule().add("swim", [](PassContext&) {});
    std::vector<std::string> events;
    world.settle();
    for (int i = 0; i < 2; ++i) world.step(0.1f);
    for (std::uint32_t i = 0; i < trace.num_events(0); ++i)
        events.push_back(std::string(trace.name(trace.event(0, i).name)) + ' ' +
                         std::to_string(trace.event(0, i).frame));
    EXPECT_EQ(events, (std::vector<std::string>{"settle 0", "swim 0", "settle 0", "swim 1", "settle 1"}));
}

TEST(Trace, may_follow_another_one_in_which_passes_have_other_numbers) {
    SerialExecutor alone;
    Trace first(1), second(1);
    second.number_of("settle");
    Schedule schedule;
    schedule.add("one", [](PassContext&) {});
    schedule.add("two", [](PassContext&) {});
    for (Trace* const trace : {&first, &second}) {
        schedule.set_trace(trace);
        schedule.run(alone, 0, 0);
        ASSERT_EQ(trace->num_events(0), 2u);
        EXPECT_EQ(trace->name(trace->event(0, 0).name), "one");
        EXPECT_EQ(trace->name(trace->event(0, 1).name), "two");
    }
}

TEST(TraceDeathTest, a_trace_for_fewer_workers_is_a_bug) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(
        {
            ThreadedExecutor threads(3);
            Trace trace(2);
            Schedule schedule;
            schedule.set_trace(&trace);
            schedule.run(threads, 0, 0);
        },
        "fewer workers");
}

}  // namespace
