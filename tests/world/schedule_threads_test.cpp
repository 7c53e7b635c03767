// Passes side by side: passes that conflict never overlap and keep their order, with any executor.

#include "shoal/base/clock.h"
#include "shoal/base/running_pass.h"
#include "shoal/world/schedule.h"

#include "support/testing.h"
#include "support/thread_pool_executor.h"

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace shoal;

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
