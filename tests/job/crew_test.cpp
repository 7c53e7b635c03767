#include "shoal/job/detail/crew.h"

#include "shoal/job/row_ranges.h"
#include "support/testing.h"
#include "support/thread_pool_executor.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace shoal {
namespace {

/// Pieces of work that are handed out one by one; notes the task of each thread.
class Pieces final : public CrewWork {
public:
    template <class Piece>
    Pieces(Crew& crew, std::uint32_t num_pieces, Piece& piece)
        : crew_(crew),
          num_pieces_(num_pieces),
          num_left_(num_pieces),
          context_(&piece),
          piece_([](void* p, std::uint32_t i) { (*static_cast<Piece*>(p))(i); }) {}

    bool do_next(std::uint32_t worker) override {
        const std::uint32_t piece = next_.fetch_add(1);
        if (piece >= num_pieces_) return false;
        EXPECT_EQ(worker, crew_.current_worker());
        void* const before = switch_to(&tags_[piece % 8], worker);
        EXPECT_EQ(before, nullptr) << "a piece begins when its worker has nothing else to do";
        piece_(context_, piece);
        EXPECT_EQ(switch_to(before, worker), &tags_[piece % 8]);
        if (num_left_.fetch_sub(1) == 1) crew_.wake();
        return true;
    }
    bool finished() const override { return num_left_ == 0; }
    void* task() const override { return current(); }
    void* switch_to(void* task, std::uint32_t) override {
        void* const before = current();
        current() = task;
        return before;
    }

    static void*& current() {
        thread_local void* current = nullptr;
        return current;
    }

private:
    Crew& crew_;
    std::uint32_t num_pieces_;
    std::atomic<std::uint32_t> next_{0}, num_left_;
    void* context_;
    void (*piece_)(void*, std::uint32_t);
    char tags_[8] = {};
};

struct ExecutorMaker {
    const char* name;
    std::unique_ptr<Executor> (*make)();
};

struct CrewTest : ::testing::TestWithParam<ExecutorMaker> {
    std::unique_ptr<Executor> executor = GetParam().make();
    Crew crew{*executor};

    template <class Piece>
    void run(std::uint32_t num_pieces, Piece piece) {
        Pieces work(crew, num_pieces, piece);
        crew.run(work);
    }
};

TEST_P(CrewTest, every_piece_is_done_once) {
    for (const std::uint32_t num_pieces : {0u, 1u, 2u, 50u}) {
        std::vector<std::atomic<int>> times(num_pieces);
        run(num_pieces, [&](std::uint32_t piece) { ++times[piece]; });
        for (const std::atomic<int>& count : times) EXPECT_EQ(count, 1);
    }
}

TEST_P(CrewTest, loops_within_pieces_and_within_loops_run_every_chunk_once) {
    for (int round = 0; round < 20; ++round) {
        std::vector<std::atomic<int>> visits(8 * 600);
        std::vector<std::atomic<int>> busy(executor->num_workers());
        std::atomic<int> num_clashes{0};
        run(8, [&](std::uint32_t piece) {
            const auto inner = [&](RowRange rows, std::uint32_t worker) {
                num_clashes += busy[worker].fetch_add(1) != 0;
                for (std::uint32_t row = rows.begin; row < rows.end; ++row) ++visits[piece * 600 + row];
                busy[worker].fetch_sub(1);
            };
            for_rows(crew, cut_rows(10, 1, 1), [&](RowRange tens, std::uint32_t) {
                for_rows(crew, cut_rows(60, 1, 5), [&](RowRange rows, std::uint32_t worker) {
                    inner({tens.begin * 60 + rows.begin, tens.begin * 60 + rows.end}, worker);
                });
            });
        });
        for (const std::atomic<int>& count : visits) ASSERT_EQ(count, 1);
        EXPECT_EQ(num_clashes, 0) << "chunks that ran at once had the same worker";
    }
}

TEST_P(CrewTest, helpers_work_at_the_task_of_the_loop) {
    std::atomic<int> num_wrong{0}, num_chunks{0};
    run(3, [&](std::uint32_t) {
        void* const task = Pieces::current();
        for_rows(crew, cut_rows(64, 1, 1), [&](RowRange, std::uint32_t) {
            ++num_chunks;
            num_wrong += Pieces::current() != task;
        });
        num_wrong += Pieces::current() != task;
    });
    EXPECT_EQ(num_chunks, 3 * 64);
    EXPECT_EQ(num_wrong, 0);
    EXPECT_EQ(Pieces::current(), nullptr);
}

TEST_P(CrewTest, what_chunks_wrote_is_visible_after_the_wait) {
    std::vector<std::uint64_t> values(64);  // plain memory: the fence orders it
    run(1, [&](std::uint32_t) {
        for (std::uint64_t round = 1; round <= 300; ++round)
            for_rows(crew, cut_rows(64, 1, 1),
                     [&](RowRange rows, std::uint32_t) { values[rows.begin] += round * rows.begin; });
    });
    for (std::uint64_t i = 0; i < 64; ++i) EXPECT_EQ(values[i], i * 300 * 301 / 2);
}

TEST_P(CrewTest, is_woken_again_and_again) {
    std::atomic<int> num_done{0};
    for (int frame = 0; frame < 200; ++frame) run(3, [&](std::uint32_t) { ++num_done; });
    EXPECT_EQ(num_done, 600);
}

TEST_P(CrewTest, a_loop_wakes_workers_that_sleep_or_are_about_to) {
    if (executor->num_workers() < 2) GTEST_SKIP() << "one worker has nobody to call";
    run(1, [&](std::uint32_t) {
        Random random(shoal_test::seed());
        for (int round = 0; round < 1000; ++round) {
            const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(random.below(300));
            while (std::chrono::steady_clock::now() < end) continue;
            std::atomic<int> num_inside{0};
            for_rows(crew, cut_rows(2, 1, 1), [&](RowRange, std::uint32_t) {
                ++num_inside;
                while (num_inside < 2) std::this_thread::yield();  // for ever if nobody comes
            });
        }
    });
}

TEST_P(CrewTest, a_fence_waits_for_its_loop_only_and_serves_again) {
    if (executor->num_workers() < 2) GTEST_SKIP() << "one worker runs loops one after the other";
    run(1, [&](std::uint32_t) {
        std::atomic<bool> entered{false}, released{false};
        auto held = [&](RowRange, std::uint32_t) {
            entered = true;
            while (!released) std::this_thread::yield();
        };
        std::atomic<int> count{0};
        auto quick = [&](RowRange, std::uint32_t) { ++count; };
        RowLoop held_loop(cut_rows(1), held);
        RowLoop quick_loop(cut_rows(50, 1, 1), quick);
        Fence held_fence, quick_fence;
        held_loop.start(crew, held_fence);
        while (!entered) std::this_thread::yield();  // another worker is inside it now
        for (int round = 1; round <= 3; ++round) {
            quick_loop.start(crew, quick_fence);
            crew.wait(quick_fence);  // would never return if it waited for both
            EXPECT_EQ(count, 50 * round);
        }
        released = true;
        crew.wait(held_fence);
    });
}

INSTANTIATE_TEST_SUITE_P(
    All, CrewTest,
    ::testing::Values(
        ExecutorMaker{"serial", [] { return std::unique_ptr<Executor>(std::make_unique<SerialExecutor>()); }},
        ExecutorMaker{"pool_of_3",
                      [] { return std::unique_ptr<Executor>(std::make_unique<shoal_test::ThreadPoolExecutor>(3)); }},
        ExecutorMaker{"threads_2", [] { return std::unique_ptr<Executor>(std::make_unique<ThreadedExecutor>(2)); }},
        ExecutorMaker{"threads_7", [] { return std::unique_ptr<Executor>(std::make_unique<ThreadedExecutor>(7)); }}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(Crew, leaves_no_bookkeeping_behind) {
    const shoal_test::LeakCheck leaks;
    SerialExecutor serial;
    const Crew crew(serial);
    EXPECT_EQ(crew.num_workers(), 1u);
}

TEST(CrewDeathTest, a_loop_outside_its_work_is_a_bug) {
    SerialExecutor serial;
    Crew crew(serial);
    Fence fence;
    EXPECT_DEATH(crew.start(1, nullptr, nullptr, fence), "within its work only");
}

}  // namespace
}  // namespace shoal
