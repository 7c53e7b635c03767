#include "shoal/job/executor.h"

#include "support/address_space.h"
#include "support/testing.h"
#include "support/thread_pool_executor.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace shoal {
namespace {

/// Starts and waits for loops over a C++ callable.
template <class Function>
struct Loop {
    explicit Loop(Function f) : function(std::move(f)) {}
    void start(Executor& executor, std::uint32_t num_chunks, Fence& fence) {
        executor.start(
            num_chunks,
            [](void* self, std::uint32_t chunk, std::uint32_t worker) {
                static_cast<Loop*>(self)->function(chunk, worker);
            },
            this, fence);
    }
    void run(Executor& executor, std::uint32_t num_chunks) {
        Fence fence;
        start(executor, num_chunks, fence);
        executor.wait(fence);
    }
    Function function;
};

struct ExecutorMaker {
    const char* name;
    std::unique_ptr<Executor> (*make)();
};

struct ExecutorTest : ::testing::TestWithParam<ExecutorMaker> {
    std::unique_ptr<Executor> executor = GetParam().make();
};

TEST_P(ExecutorTest, every_chunk_runs_once) {
    for (std::uint32_t num_chunks = 0; num_chunks < 300; num_chunks += 1 + num_chunks / 7) {
        std::vector<std::atomic<int>> runs(num_chunks);
        Loop loop([&](std::uint32_t chunk, std::uint32_t worker) {
            EXPECT_LT(worker, executor->num_workers());
            EXPECT_EQ(executor->current_worker(), worker);
            ++runs[chunk];
        });
        loop.run(*executor, num_chunks);
        for (const std::atomic<int>& count : runs) ASSERT_EQ(count, 1);
    }
    EXPECT_EQ(executor->current_worker(), 0u);
}

TEST_P(ExecutorTest, what_chunks_wrote_is_visible_after_the_wait) {
    std::vector<std::uint64_t> values(64);  // plain memory: the fence orders it
    for (std::uint64_t round = 1; round <= 500; ++round) {
        Loop loop([&](std::uint32_t chunk, std::uint32_t) { values[chunk] += round * chunk; });
        loop.run(*executor, 64);
    }
    for (std::uint64_t chunk = 0; chunk < 64; ++chunk) EXPECT_EQ(values[chunk], chunk * 500 * 501 / 2);
}

TEST_P(ExecutorTest, chunks_that_run_at_once_have_different_workers) {
    std::vector<std::atomic<int>> busy(executor->num_workers());
    std::atomic<int> num_clashes{0};
    Loop loop([&](std::uint32_t, std::uint32_t worker) {
        num_clashes += busy[worker].fetch_add(1) != 0;
        for (int i = 0; i < 500; ++i) busy[worker].fetch_add(0);
        busy[worker].fetch_sub(1);
    });
    // Two loops side by side, from one thread.
    for (int round = 0; round < 50; ++round) {
        Fence first, second;
        loop.start(*executor, 40, first);
        loop.start(*executor, 40, second);
        executor->wait(second);
        executor->wait(first);
    }
    EXPECT_EQ(num_clashes, 0);
}

TEST_P(ExecutorTest, loops_within_loops_finish) {
    std::atomic<std::uint32_t> num_leaves{0};
    Loop leaf([&](std::uint32_t, std::uint32_t) { ++num_leaves; });
    Loop middle([&](std::uint32_t, std::uint32_t) { leaf.run(*executor, 5); });
    Loop outer([&](std::uint32_t, std::uint32_t worker) {
        middle.run(*executor, 6);
        EXPECT_EQ(executor->current_worker(), worker);
    });
    for (int round = 0; round < 20; ++round) outer.run(*executor, 7);
    EXPECT_EQ(num_leaves, 20u * 7 * 6 * 5);
}

TEST_P(ExecutorTest, a_fence_serves_one_loop_after_another) {
    Fence fence;
    executor->wait(fence);
    std::atomic<int> count{0};
    Loop loop([&](std::uint32_t, std::uint32_t) { ++count; });
    for (int round = 1; round <= 100; ++round) {
        loop.start(*executor, 3, fence);
        executor->wait(fence);
        ASSERT_EQ(count, 3 * round);
    }
    executor->wait(fence);
    loop.start(*executor, 0, fence);
    executor->wait(fence);
    EXPECT_EQ(count, 300);
}

TEST_P(ExecutorTest, a_fence_destroyed_before_the_wait_is_a_bug) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(
        {
            const auto mine = GetParam().make();
            Loop loop([](std::uint32_t, std::uint32_t) {});
            Fence fence;
            loop.start(*mine, 4, fence);  // and the scope ends
        },
        "before its loop was waited for");
}

TEST(ThreadedExecutorDeathTest, loops_run_on_the_threads_that_are_there_when_no_memory_is_left_for_others) {
    if (shoal_test::kSanitized) GTEST_SKIP() << "sanitizers need the whole address space";
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_EXIT(
        {
            ThreadedExecutor executor(3);
            std::atomic<int> count{0};
            Loop loop([&](std::uint32_t, std::uint32_t) { ++count; });
            if (shoal_test::limit_address_space(0))
                for (int round = 0; round < 3; ++round) loop.run(executor, 100);
            std::_Exit(count == 300 ? 0 : 1);
        },
        ::testing::ExitedWithCode(0), "no further threads can be started, because memory is used up");
}

TEST_P(ExecutorTest, a_fence_cannot_be_started_twice) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(
        {
            const auto mine = GetParam().make();
            Loop loop([](std::uint32_t, std::uint32_t) {});
            Fence fence;
            loop.start(*mine, 4, fence);
            loop.start(*mine, 4, fence);
        },
        "one loop at a time");
}

INSTANTIATE_TEST_SUITE_P(
    All, ExecutorTest,
    ::testing::Values(
        ExecutorMaker{"serial", [] { return std::unique_ptr<Executor>(std::make_unique<SerialExecutor>()); }},
        ExecutorMaker{"pool_of_4",
                      [] { return std::unique_ptr<Executor>(std::make_unique<shoal_test::ThreadPoolExecutor>(4)); }},
        ExecutorMaker{"threads_1", [] { return std::unique_ptr<Executor>(std::make_unique<ThreadedExecutor>(1)); }},
        ExecutorMaker{"threads_2", [] { return std::unique_ptr<Executor>(std::make_unique<ThreadedExecutor>(2)); }},
        ExecutorMaker{"threads_7", [] { return std::unique_ptr<Executor>(std::make_unique<ThreadedExecutor>(7)); }}),
    [](const auto& info) { return std::string(info.param.name); });

// req: E11
TEST(ThreadedExecutor, waiting_for_one_loop_does_not_wait_for_another) {
    const auto executor = std::make_unique<shoal::ThreadedExecutor>(2);
    std::atomic<bool> entered{false}, released{false};
    Loop held([&](std::uint32_t, std::uint32_t) {
        entered = true;
        while (!released) std::this_thread::yield();
    });
    std::atomic<int> count{0};
    Loop quick([&](std::uint32_t, std::uint32_t) { ++count; });
    Fence held_fence, quick_fence;
    held.start(*executor, 1, held_fence);
    while (!entered) std::this_thread::yield();  // the other worker is inside it now
    quick.start(*executor, 50, quick_fence);
    executor->wait(quick_fence);  // would never return if it waited for both
    EXPECT_EQ(count, 50);
    released = true;
    executor->wait(held_fence);
}

TEST(ThreadedExecutor, has_as_many_threads_as_asked_for) {
    constexpr unsigned kWorkers = 4;  // also on a machine with fewer cores
    const auto executor = std::make_unique<shoal::ThreadedExecutor>(kWorkers);
    EXPECT_EQ(executor->num_workers(), kWorkers);
    std::atomic<unsigned> num_inside{0};
    Loop rendezvous([&](std::uint32_t, std::uint32_t) {
        ++num_inside;
        while (num_inside < kWorkers) std::this_thread::yield();  // each needs a thread of its own
    });
    rendezvous.run(*executor, kWorkers);
    EXPECT_EQ(num_inside, kWorkers);
}

/// Keeps the thread busy. Threads look for work for some tens of microseconds before they leave.
void pass_the_time(std::uint32_t microseconds) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(microseconds);
    while (std::chrono::steady_clock::now() < end) continue;
}

TEST(ThreadedExecutor, a_thread_about_to_leave_stays_or_is_called_again) {
    const auto executor = std::make_unique<shoal::ThreadedExecutor>(2);
    Random random(shoal_test::seed());
    for (int round = 0; round < 3000; ++round) {
        std::atomic<int> num_inside{0};
        Loop rendezvous([&](std::uint32_t, std::uint32_t) {
            ++num_inside;
            while (num_inside < 2) std::this_thread::yield();  // for ever if the other never comes
        });
        pass_the_time(random.below(120));
        rendezvous.run(*executor, 2);
        ASSERT_EQ(num_inside, 2);
    }
}

TEST(ThreadedExecutor, may_be_destroyed_while_its_threads_still_look_for_work) {
    const shoal_test::LeakCheck leaks;
    Random random(shoal_test::seed());
    for (int round = 0; round < 300; ++round) {
        std::atomic<int> count{0};
        {
            ThreadedExecutor executor(3);
            Loop loop([&](std::uint32_t, std::uint32_t) { ++count; });
            for (int i = 0; i < 3; ++i) loop.run(executor, 8);
            pass_the_time(random.below(80));
        }
        ASSERT_EQ(count, 24);
    }
}

TEST(ThreadedExecutor, may_be_made_and_destroyed_while_all_threads_are_inside_chunks) {
    const shoal_test::LeakCheck leaks;
    std::atomic<unsigned> num_inside{0};
    std::atomic<int> count{0};
    {
        ThreadedExecutor outer(2);
        Loop inner_loop([&](std::uint32_t, std::uint32_t) { ++count; });
        Loop outer_loop([&](std::uint32_t, std::uint32_t) {
            ++num_inside;
            while (num_inside < 2) std::this_thread::yield();  // no thread is free for those made here
            for (int round = 0; round < 3; ++round) {
                ThreadedExecutor inner(2);
                inner_loop.run(inner, 8);
            }
        });
        outer_loop.run(outer, 2);
    }
    EXPECT_EQ(count, 2 * 3 * 8);
}

TEST(ThreadedExecutor, a_larger_executor_beside_a_living_one_has_as_many_threads_as_asked_for) {
    ThreadedExecutor small(3);  // 3 and 6: more than the machine may have
    const auto meet_on = [](Executor& executor) {
        const unsigned num_workers = executor.num_workers();
        std::atomic<unsigned> num_inside{0};
        Loop rendezvous([&](std::uint32_t, std::uint32_t) {
            ++num_inside;
            while (num_inside < num_workers) std::this_thread::yield();  // each needs a thread of its own
        });
        rendezvous.run(executor, num_workers);
        EXPECT_EQ(num_inside, num_workers);
    };
    meet_on(small);
    for (int round = 0; round < 3; ++round) {
        ThreadedExecutor large(6);
        meet_on(large);
        meet_on(small);
    }
    meet_on(small);
}

TEST(ThreadedExecutor, an_executor_destroyed_before_its_loop_was_waited_for_is_a_bug) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const auto destroy_early = [](std::uint32_t num_workers) {
        Fence fence;
        Loop loop([](std::uint32_t, std::uint32_t) {});
        ThreadedExecutor executor(num_workers);
        loop.start(executor, 4, fence);
    };
    const char* const kMessage = "an executor was destroyed before its loops were waited for";
    EXPECT_DEATH(destroy_early(1), kMessage);
    EXPECT_DEATH(destroy_early(2), kMessage);
    const auto destroy_early_while_no_thread_is_free = [&] {
        ThreadedExecutor outer(2);
        std::atomic<unsigned> num_inside{0};
        Loop loop([&](std::uint32_t chunk, std::uint32_t) {
            ++num_inside;
            while (num_inside < 2) std::this_thread::yield();
            if (chunk == 0) destroy_early(2);
            while (num_inside < 3) std::this_thread::yield();
        });
        loop.run(outer, 2);
    };
    EXPECT_DEATH(destroy_early_while_no_thread_is_free(), kMessage);
}

TEST(ThreadedExecutor, by_default_uses_the_whole_machine) {
    const ThreadedExecutor executor;
    EXPECT_GE(executor.num_workers(), 1u);
    EXPECT_LE(executor.num_workers(), std::thread::hardware_concurrency());
}

TEST(ThreadedExecutor, leaves_no_bookkeeping_behind) {
    const shoal_test::LeakCheck leaks;
    for (int round = 0; round < 20; ++round) {
        ThreadedExecutor executor(1);
        Loop loop([](std::uint32_t, std::uint32_t) {});
        Fence first, second;
        loop.start(executor, 10, first);
        loop.start(executor, 10, second);
        executor.wait(first);
        executor.wait(second);
    }
}

}  // namespace
}  // namespace shoal
