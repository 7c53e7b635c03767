// Passes side by side: passes that conflict never overlap and keep their order, with any executor.

#include "shoal/base/clock.h"
#include "shoal/base/detail/running_pass.h"
#include "shoal/base/random.h"
#include "shoal/database/database.h"
#include "shoal/world/schedule.h"

#include "support/rendezvous.h"
#include "support/testing.h"
#include "support/thread_pool_executor.h"

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace zones_test {

struct Crab {
    std::uint32_t weight = 1, age = 0;
};
SHOAL_COMPONENT(Crab, weight, age)

}  // namespace zones_test

namespace {

using namespace shoal;
using zones_test::Crab;

constexpr std::uint32_t kCounters = 6;

/// A counter that passes share. The value is not atomic, so only the order of passes protects it.
struct Counter {
    std::uint64_t value = 0;
    std::atomic<std::uint32_t> num_readers{0}, num_writers{0};
};

/// A pass with a random set of counters, and the hash of what it read last.
struct RandomPass {
    std::vector<std::uint32_t> read, written;
    std::uint32_t num_rows = 0;
    std::uint64_t seen = 0;
};

/// Random passes whose state must not depend on the executor.
struct RandomSchedule {
    RandomSchedule(std::uint64_t seed, std::uint32_t num_passes) : random(seed), counters(kCounters) {
        passes.resize(num_passes);
        for (std::uint32_t p = 0; p < num_passes; ++p) {
            fill(passes[p]);
            std::vector<Access> accesses;
            for (const std::uint32_t c : passes[p].read) accesses.push_back(reads(counters[c]));
            for (const std::uint32_t c : passes[p].written) accesses.push_back(writes(counters[c]));
            add(p, accesses);
        }
        schedule.set_strict(true);
        EXPECT_EQ(schedule.prepare().message(), "");
    }

    void fill(RandomPass& pass) {
        for (std::uint32_t c = 0; c < kCounters; ++c) {
            const std::uint32_t kind = random.below(6);
            if (kind == 0) pass.written.push_back(c);
            if (kind == 1 || kind == 2) pass.read.push_back(c);
        }
        pass.num_rows = random.below(3) == 0 ? 4096 * random.below(6) : 0;
    }

    void add(std::uint32_t p, const std::vector<Access>& accesses) {
        const auto run = [this, p](PassContext& context) { run_pass(passes[p], context); };
        const std::string name = "p" + std::to_string(p);
        // Six is the most that a random pass has; repeated ones do no harm.
        const auto at = [&](std::size_t i) { return accesses.empty() ? reads(*this) : accesses[i % accesses.size()]; };
        PassOrder order = schedule.add(name, {at(0), at(1), at(2), at(3), at(4), at(5)}, run);
        if (p > 0 && random.below(4) == 0) order.after("p" + std::to_string(random.below(p)));
    }

    void run_pass(RandomPass& pass, PassContext& context) {
        for (const std::uint32_t c : pass.read) {
            ++counters[c].num_readers;
            num_clashes += counters[c].num_writers != 0;
        }
        for (const std::uint32_t c : pass.written)
            num_clashes += counters[c].num_writers.fetch_add(1) != 0 || counters[c].num_readers != 0;
        pass.seen = 1;
        for (const std::uint32_t c : pass.read) pass.seen = hash(pass.seen, counters[c].value);
        if (pass.num_rows != 0) pass.seen = hash(pass.seen, loop(pass, context));
        for (const std::uint32_t c : pass.written) counters[c].value = hash(counters[c].value, pass.seen);
        for (const std::uint32_t c : pass.read) --counters[c].num_readers;
        for (const std::uint32_t c : pass.written) --counters[c].num_writers;
    }

    /// A loop of the pass, with another loop in each chunk.
    std::uint64_t loop(const RandomPass& pass, PassContext& context) {
        std::atomic<std::uint64_t> sum{0};
        for_rows(context.executor, cut_rows(pass.num_rows, kByteGranularity, 1024), [&](RowRange rows, std::uint32_t) {
            for_rows(context.executor, cut_rows(rows.end - rows.begin, kByteGranularity, 256),
                     [&](RowRange inner, std::uint32_t) { sum += inner.end - inner.begin + rows.begin; });
        });
        return sum;
    }

    static std::uint64_t hash(std::uint64_t a, std::uint64_t b) { return Random(a * 31 + b).next(); }

    std::uint64_t state() const {
        std::uint64_t result = 0;
        for (const Counter& counter : counters) result = hash(result, counter.value);
        for (const RandomPass& pass : passes) result = hash(result, pass.seen);
        return result;
    }

    Random random;
    std::vector<Counter> counters;
    std::vector<RandomPass> passes;
    std::atomic<std::uint32_t> num_clashes{0};
    Schedule schedule;  // destroyed first: its passes refer to the others
};

void run_with(Executor& executor, std::uint64_t seed, std::uint64_t expected) {
    RandomSchedule same(seed, 24);
    for (std::uint64_t frame = 0; frame < 4; ++frame) same.schedule.run(executor, 0, frame);
    EXPECT_EQ(same.num_clashes, 0u) << "passes that conflict overlapped";
    EXPECT_EQ(same.state(), expected) << "passes that conflict ran in another order";
}

// req: F5-F7
TEST(ScheduleThreads, what_conflicts_never_overlaps_and_keeps_its_order_for_any_number_of_workers) {
    SCOPED_TRACE(shoal_test::seed_text());
    const auto num_seeds = std::uint64_t(shoal_test::scaled_operations(300));
    // The expected state is that of running the passes one by one as they were added; explicit orders agree with that.
    SerialExecutor serial;
    std::vector<std::uint64_t> expected;
    for (std::uint64_t i = 0; i < num_seeds; ++i) {
        RandomSchedule alone(shoal_test::seed() + i, 24);
        for (std::uint64_t frame = 0; frame < 4; ++frame)
            for (RandomPass& pass : alone.passes) {
                PassContext context{serial, 0, frame};
                alone.run_pass(pass, context);
            }
        expected.push_back(alone.state());
        run_with(serial, shoal_test::seed() + i, expected.back());
    }
    for (const std::uint32_t num_workers : {1u, 2u, 3u, 7u, 0u}) {
        std::unique_ptr<Executor> executor;
        if (num_workers == 0)
            executor = std::make_unique<shoal_test::ThreadPoolExecutor>(3);
        else
            executor = std::make_unique<ThreadedExecutor>(num_workers);
        for (std::uint64_t i = 0; i < num_seeds; ++i) run_with(*executor, shoal_test::seed() + i, expected[i]);
        if (::testing::Test::HasFailure()) FAIL() << "with " << num_workers << " workers";
    }
}

TEST(ScheduleThreads, passes_that_do_not_conflict_run_side_by_side) {
    ThreadedExecutor threads(2);
    Schedule schedule;
    int a = 0, b = 0;
    std::atomic<int> num_inside{0};
    const auto meet = [&](PassContext&) {
        ++num_inside;
        while (num_inside < 2) std::this_thread::yield();  // would never return if they ran one after the other
    };
    schedule.add("a", {writes(a)}, meet);
    schedule.add("b", {writes(b)}, meet);
    schedule.run(threads, 0, 0);
    EXPECT_EQ(num_inside, 2);
}

// --- zones -------------------------------------------------------------------------------------------------------

constexpr Zone kZones = 5;

/// Crabs in some zones.
struct Beach {
    explicit Beach(std::uint32_t num_crabs) {
        crabs.resize(num_crabs * kZones);
        for (Zone zone = 0; zone < kZones; ++zone)
            EXPECT_TRUE(database.create<Crab>(std::span(crabs).subspan(zone * num_crabs, num_crabs), zone).ok());
    }
    auto growing(const ZoneSet& zones) { return query<Write<&Crab::weight>, Read<&Crab::age>>(database).in(zones); }

    EntityManager entities;
    PagePool pool;
    Database database{entities, pool};
    std::vector<Entity> crabs;  // by zone
};

/// Counts how many threads are in it at once, at most.
class Crowd {
public:
    void visit() {
        const int num_here = ++num_inside_;
        for (int most = most_; most < num_here && !most_.compare_exchange_weak(most, num_here);) continue;
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        --num_inside_;
    }
    int most() const { return most_; }

private:
    std::atomic<int> num_inside_{0}, most_{0};
};

TEST(ScheduleZones, passes_that_write_a_field_in_different_zones_run_side_by_side) {
    ThreadedExecutor workers(2);
    Beach beach(1);
    const auto far = query<Write<&Crab::weight>>(beach.database).in({0, 2});
    for (const bool is_listed : {false, true}) {
        Schedule schedule;
        shoal_test::Rendezvous threads(2);
        schedule.add("near", beach.growing({1}), [&](std::uint32_t&, std::uint32_t) { threads.enter(); });
        if (is_listed)
            schedule.add("far", {writes<&Crab::weight>(beach.database).in({0, 2})},
                         [&](PassContext&) { far.for_each([&](std::uint32_t&) { threads.enter(); }); });
        else
            schedule.add("far", far, [&](std::uint32_t&) { threads.enter(); });
        schedule.run(workers, 0, 0);
        EXPECT_EQ(threads.num_threads(), 2u) << "one pass has waited for the other";
    }
}

TEST(ScheduleZones, passes_whose_zones_overlap_or_that_are_in_all_zones_take_turns) {
    ThreadedExecutor workers(2);
    Beach beach(1);
    const auto most_at_once = [&](const auto& a, const auto& b, bool declares_again = false) {
        Schedule schedule;
        Crowd crowd;
        schedule.add("a", a, [&](std::uint32_t&, std::uint32_t) { crowd.visit(); });
        schedule.add("b", b, [&](std::uint32_t&, std::uint32_t) { crowd.visit(); });
        if (declares_again) {
            EXPECT_TRUE(schedule.prepare().ok());
            EXPECT_TRUE(schedule.declare("b", std::array{writes<&Crab::weight>(beach.database).in({1, 2})}).ok());
        }
        schedule.run(workers, 0, 0);
        return crowd.most();
    };
    EXPECT_EQ(most_at_once(beach.growing({0, 1}), beach.growing({1, 2})), 1);
    EXPECT_EQ(most_at_once(beach.growing({0, 1}), query<Write<&Crab::weight>, Read<&Crab::age>>(beach.database)), 1);
    EXPECT_EQ(most_at_once(beach.growing({1}), beach.growing({2}), true), 1) << "it was declared anew to be in zone 1";
}

TEST(ScheduleZones, an_order_in_different_zones_is_not_ambiguous) {
    Beach beach(1);
    Schedule schedule;
    schedule.set_strict(true);
    const auto grow = [](std::uint32_t& weight, std::uint32_t) { ++weight; };
    schedule.open_group("west");
    schedule.add("a", beach.growing({0}), grow);
    schedule.open_group("east");
    schedule.add("b", beach.growing({1}), grow);
    EXPECT_EQ(schedule.prepare().message(), "");
    ASSERT_TRUE(schedule.declare("b", std::array{writes(beach.database).in({0, 1})}).ok());
    EXPECT_FALSE(schedule.prepare().ok());
}

/// Looks whether a pass runs while it is told of another one.
struct Watcher : PassObserver {
    void observe(std::string_view pass, std::uint32_t, std::span<const Access>) override {
        if (pass == "near") std::this_thread::sleep_for(std::chrono::milliseconds(5)), is_over = true;
    }
    std::atomic<bool> is_over{false};
};

TEST(ScheduleZones, passes_wait_for_each_other_while_an_observer_looks_at_what_they_write) {
    ThreadedExecutor workers(2);
    Beach beach(1);
    Schedule schedule;
    Watcher watcher;
    schedule.set_strict(true);
    bool was_over = false;
    schedule.add("near", beach.growing({1}), [](std::uint32_t& weight, std::uint32_t) { ++weight; });
    schedule.open_group("others");
    schedule.add("far", beach.growing({2}), [&](std::uint32_t&, std::uint32_t) { was_over = watcher.is_over; });
    EXPECT_EQ(schedule.prepare().message(), "");
    schedule.set_observer(&watcher);
    schedule.run(workers, 0, 0);
    EXPECT_TRUE(was_over);
    shoal_test::Rendezvous threads(2);
    ASSERT_TRUE(schedule.remove("near").ok());
    ASSERT_TRUE(schedule.remove("far").ok());
    schedule.add("a", beach.growing({1}), [&](std::uint32_t&, std::uint32_t) { threads.enter(); });
    schedule.add("b", beach.growing({2}), [&](std::uint32_t&, std::uint32_t) { threads.enter(); });
    EXPECT_EQ(schedule.prepare().message(), "");
    schedule.set_observer(nullptr);
    schedule.run(workers, 0, 0);
    EXPECT_EQ(threads.num_threads(), 2u) << "without an observer they do not wait";
}

TEST(ScheduleZones, random_passes_over_zones_give_what_one_thread_gives_for_any_number_of_workers) {
    SCOPED_TRACE(shoal_test::seed_text());
    constexpr std::uint32_t kCrabs = 150, kPasses = 12;
    Random random(shoal_test::seed());
    std::vector<ZoneSet> zones(kPasses);
    for (ZoneSet& set : zones)
        for (Zone zone = 0; zone < kZones; ++zone)
            if (random.below(3) == 0) set.insert(zone);
    // Which field a pass writes, and how: the results depend on the order.
    const auto kind = [](std::uint32_t pass) { return pass % 3; };
    std::vector<Crab> expected(kZones * kCrabs);
    for (int frame = 0; frame < 4; ++frame)
        for (std::uint32_t pass = 0; pass < kPasses; ++pass)
            for (std::size_t i = 0; i < expected.size(); ++i) {
                Crab& crab = expected[i];
                if (kind(pass) == 2) crab.age += pass;  // in all zones
                if (!zones[pass].contains(static_cast<Zone>(i / kCrabs))) continue;
                if (kind(pass) == 0) crab.weight = crab.weight * 3 + crab.age + pass;
                if (kind(pass) == 1) crab.age = crab.age * 5 + crab.weight + pass;
            }
    for (const unsigned num_workers : {1u, 2u, 4u}) {
        ThreadedExecutor workers(num_workers);
        Beach beach(kCrabs);
        Schedule schedule;
        for (std::uint32_t pass = 0; pass < kPasses; ++pass) {
            const auto age = query<Write<&Crab::age>, Read<&Crab::weight>>(beach.database).grain(64);
            const auto grow = [pass](std::uint32_t& w, std::uint32_t a) { w = w * 3 + a + pass; };
            const auto ripen = [pass](std::uint32_t& a, std::uint32_t w) { a = a * 5 + w + pass; };
            const std::string name = std::to_string(pass);
            if (kind(pass) == 0) schedule.add(name, beach.growing(zones[pass]).grain(64), grow);
            if (kind(pass) == 1) schedule.add(name, age.in(zones[pass]), ripen);
            if (kind(pass) == 2) schedule.add(name, age, [pass](std::uint32_t& a, std::uint32_t) { a += pass; });
        }
        for (std::uint64_t frame = 0; frame < 4; ++frame) schedule.run(workers, 0, frame);
        for (std::size_t i = 0; i < expected.size(); ++i) {
            const DatabaseRow row = beach.database.find(beach.crabs[i]);
            ASSERT_EQ(beach.database.get<&Crab::weight>(row), expected[i].weight) << num_workers;
            ASSERT_EQ(beach.database.get<&Crab::age>(row), expected[i].age) << num_workers;
        }
    }
}

TEST(ScheduleThreads, a_worker_without_a_pass_helps_with_the_loops_of_the_others) {
    ThreadedExecutor threads(2);
    Schedule schedule;
    std::atomic<int> num_inside{0};
    schedule.add("alone", [&](PassContext& pass) {
        for_rows(pass.executor, cut_rows(2 * 64, kByteGranularity, 64), [&](RowRange, std::uint32_t) {
            ++num_inside;
            while (num_inside < 2) std::this_thread::yield();
        });
    });
    schedule.run(threads, 0, 0);
    EXPECT_EQ(num_inside, 2);
}

TEST(ScheduleThreads, more_loops_at_once_than_there_are_slots_still_run) {
    ThreadedExecutor threads(3);
    Schedule schedule;
    std::atomic<std::uint32_t> num_chunks{0};
    schedule.add("many", [&](PassContext& pass) {
        constexpr std::size_t kLoops = 200;
        const auto count = [](void* context, std::uint32_t, std::uint32_t) {
            ++*static_cast<std::atomic<std::uint32_t>*>(context);
        };
        std::vector<Fence> fences(kLoops);
        for (Fence& fence : fences) pass.executor.start(5, count, &num_chunks, fence);
        for (Fence& fence : fences) pass.executor.wait(fence);
    });
    schedule.run(threads, 0, 0);
    EXPECT_EQ(num_chunks, 1000u);
}

TEST(ScheduleThreads, a_pass_may_run_another_schedule) {
    ThreadedExecutor threads(2), others(3);
    Schedule inner, outer;
    std::atomic<int> num_runs{0};
    for (const char* name : {"x", "y", "z"}) inner.add(name, {reads(num_runs)}, [&](PassContext&) { ++num_runs; });
    outer.add("a", {reads(num_runs)}, [&](PassContext&) { inner.run(others, 0, 0); });
    outer.add("b", {reads(num_runs)}, [&](PassContext&) { ++num_runs; });
    for (int frame = 0; frame < 20; ++frame) outer.run(threads, 0, 0);
    EXPECT_EQ(num_runs, 80);
    EXPECT_EQ(outer.statistics(0).num_runs, 20u);
}

TEST(ScheduleThreads, every_thread_knows_the_pass_that_it_runs_and_none_afterwards) {
    ThreadedExecutor threads(2);
    Schedule outer, inner;
    SerialExecutor serial;
    const auto is_running = [](std::string_view name) { return running_pass() != nullptr && running_pass() == name; };
    std::atomic<int> num_right{0};
    inner.add("inside", [&](PassContext&) { num_right += is_running("inside"); });
    outer.add("shared", [&](PassContext& pass) {
        std::atomic<int> num_inside{0};
        for_rows(pass.executor, cut_rows(2 * 64, kByteGranularity, 64), [&](RowRange, std::uint32_t) {
            ++num_inside;
            while (num_inside < 2) std::this_thread::yield();  // one chunk for each thread
            num_right += is_running("shared");
        });
        inner.run(serial, 0, 0);
        num_right += is_running("shared");
    });
    outer.run(threads, 0, 0);
    EXPECT_EQ(num_right, 4);
    EXPECT_EQ(running_pass(), nullptr);
}

TEST(ScheduleThreads, a_pass_may_make_an_executor_and_destroy_it_while_all_workers_are_busy) {
    ThreadedExecutor threads(2);
    Schedule schedule;
    int a = 0, b = 0;
    std::atomic<int> num_inside{0}, num_chunks{0};
    const auto loop_on_its_own_threads = [&](PassContext&) {
        ++num_inside;
        while (num_inside < 2) std::this_thread::yield();  // both workers run a pass
        ThreadedExecutor own(2);
        for_rows(own, cut_rows(8 * 64, kByteGranularity, 64), [&](RowRange, std::uint32_t) { ++num_chunks; });
    };
    schedule.add("a", {writes(a)}, loop_on_its_own_threads);
    schedule.add("b", {writes(b)}, loop_on_its_own_threads);
    schedule.run(threads, 0, 0);
    EXPECT_EQ(num_chunks, 16);
}

TEST(ScheduleThreads, time_is_accounted_to_the_worker_that_worked) {
    ThreadedExecutor threads(2);
    Schedule schedule;
    schedule.add("both", [&](PassContext& pass) {
        std::atomic<int> num_inside{0};
        for_rows(pass.executor, cut_rows(2 * 64, kByteGranularity, 64), [&](RowRange, std::uint32_t) {
            ++num_inside;
            while (num_inside < 2) std::this_thread::yield();
            const std::int64_t begin_ns = monotonic_ns();
            while (monotonic_ns() - begin_ns < 2'000'000) continue;
        });
    });
    EXPECT_TRUE(schedule.statistics(0).worker_ns.empty());
    schedule.run(threads, 0, 0);
    const PassStatistics pass = schedule.statistics(0);
    ASSERT_EQ(pass.worker_ns.size(), 2u);
    for (const std::int64_t ns : pass.worker_ns) {
        EXPECT_GE(ns, 2'000'000);
        EXPECT_LE(ns, pass.last_ns);
    }
    schedule.run(threads, 0, 1);
    EXPECT_GE(schedule.statistics(0).worker_ns[1], 4'000'000) << "over all runs";
}

}  // namespace
