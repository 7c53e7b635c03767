// Threads of an executor that never come, come late, or stop with a chunk in their hands: all work finishes.

#include "shoal/job/detail/crew.h"
#include "shoal/job/row_ranges.h"
#include "support/testing.h"
#include "support/thread_pool_executor.h"

#include <atomic>
#include <functional>
#include <latch>
#include <thread>
#include <vector>

namespace {

using namespace shoal;
using shoal_test::ThreadPoolExecutor;

/// An executor whose helpers do not begin before open().
struct ShutPool {
    std::latch gate{1};
    ThreadPoolExecutor executor{3, [this](unsigned, bool) { gate.wait(); }};

    void open() { gate.count_down(); }
};

/// Runs loops within loops, and returns how often each of 20 x 30 chunks ran.
std::vector<int> run_loops(Executor& executor) {
    std::vector<std::atomic<int>> runs(600);
    for_rows(executor, cut_rows(20, 1, 1), [&](RowRange outer, std::uint32_t) {
        for_rows(executor, cut_rows(30, 1, 1),
                 [&](RowRange inner, std::uint32_t) { ++runs[outer.begin * 30 + inner.begin]; });
    });
    return {runs.begin(), runs.end()};
}

TEST(StalledExecutor, loops_finish_on_the_waiting_thread_when_nobody_comes) {
    ShutPool pool;
    EXPECT_EQ(run_loops(pool.executor), std::vector<int>(600, 1));
    pool.open();
}

TEST(StalledExecutor, threads_that_come_when_the_loop_is_over_do_nothing_to_it_and_help_with_the_next) {
    ShutPool pool;
    EXPECT_EQ(run_loops(pool.executor), std::vector<int>(600, 1));
    pool.open();
    std::atomic<int> num_inside{0};
    for_rows(pool.executor, cut_rows(3, 1, 1), [&](RowRange, std::uint32_t) {
        ++num_inside;
        while (num_inside < 3) std::this_thread::yield();  // for ever if they did not come
    });
    EXPECT_EQ(run_loops(pool.executor), std::vector<int>(600, 1));
}

TEST(StalledExecutor, of_a_loop_whose_helper_stops_with_a_chunk_all_other_chunks_run_meanwhile) {
    constexpr std::uint32_t kNumChunks = 50;
    std::atomic<bool> has_stopped{false};
    std::atomic<std::uint32_t> num_done{0};
    ThreadPoolExecutor executor(2, [&](unsigned, bool has_chunk) {
        if (!has_chunk || num_done == kNumChunks - 1) return;
        has_stopped = true;
        has_stopped.notify_all();
        while (num_done != kNumChunks - 1) std::this_thread::yield();  // for ever if the others waited for this chunk
    });
    for_rows(executor, cut_rows(kNumChunks, 1, 1), [&](RowRange, std::uint32_t worker) {
        if (worker == 0) has_stopped.wait(false);
        ++num_done;
    });
    EXPECT_EQ(num_done, kNumChunks);
}

/// Work of a crew: pieces that start loops.
class LoopingPieces final : public CrewWork {
public:
    explicit LoopingPieces(Crew& crew) : crew_(crew) {}

    bool do_next(std::uint32_t) override {
        const std::uint32_t piece = next_.fetch_add(1);
        if (piece >= kNumPieces) return false;
        if (on_piece) on_piece(piece);
        for_rows(crew_, cut_rows(40, 1, 1), [&](RowRange, std::uint32_t) { ++num_chunks; });
        if (num_left_.fetch_sub(1) == 1) crew_.wake();
        return true;
    }
    bool finished() const override { return num_left_ == 0; }
    void* task() const override { return nullptr; }
    void* switch_to(void*, std::uint32_t) override { return nullptr; }

    static constexpr std::uint32_t kNumPieces = 25;
    std::function<void(std::uint32_t)> on_piece;
    std::atomic<std::uint32_t> num_chunks{0};

private:
    Crew& crew_;
    std::atomic<std::uint32_t> next_{0}, num_left_{kNumPieces};
};

TEST(StalledExecutor, a_crew_does_its_work_on_one_thread_when_nobody_comes) {
    ShutPool pool;
    Crew crew(pool.executor);
    for (int round = 0; round < 2; ++round) {  // in the second, they come
        LoopingPieces pieces(crew);
        crew.run(pieces);
        EXPECT_EQ(pieces.num_chunks, 40 * LoopingPieces::kNumPieces);
        if (round == 0) pool.open();
    }
}

TEST(StalledExecutor, a_crew_whose_helper_stops_before_it_begins_does_all_work_without_it) {
    std::atomic<bool> has_stopped{false};
    std::atomic<bool> is_done{false};
    ThreadPoolExecutor executor(2, [&](unsigned, bool has_chunk) {
        if (!has_chunk) return;
        has_stopped = true;
        has_stopped.notify_all();
        while (!is_done) std::this_thread::yield();  // for ever if a piece waited for this thread
    });
    Crew crew(executor);
    LoopingPieces pieces(crew);
    pieces.on_piece = [&](std::uint32_t piece) {
        if (piece == 0) has_stopped.wait(false);
        if (piece == LoopingPieces::kNumPieces - 1) is_done = true;
    };
    crew.run(pieces);
    EXPECT_EQ(pieces.num_chunks, 40 * LoopingPieces::kNumPieces);
}

}  // namespace
