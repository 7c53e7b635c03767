#include "job/loops.h"

#include "shoal/job/detail/failure.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace shoal {
namespace {

TEST(Failure, keeps_the_exception_of_the_lowest_place_in_whatever_order_they_come) {
    const shoal_test::LeakCheck leaks;
    Failure failure, taken;
    const auto fail = [](Failure& at, std::uint64_t place) {
        at.guard(place, [&] { throw std::runtime_error(std::to_string(place)); });
    };
    for (const std::uint64_t place : {5u, 2u, 7u}) fail(failure, place);
    EXPECT_EQ(failure.status().message(), "2");
    fail(taken, 9);
    taken.take(failure);
    EXPECT_FALSE(failure.any());
    fail(taken, 3);
    EXPECT_EQ(taken.status().message(), "2") << "it came with its place";
    fail(taken, 1);
    EXPECT_EQ(taken.status().message(), "1");
    EXPECT_THROW(taken.rethrow(), std::runtime_error);
    EXPECT_FALSE(taken.any());
    fail(taken, 8);
    EXPECT_EQ(taken.status().message(), "8") << "nothing stays of those before";
    taken.clear();
}

std::vector<std::uint32_t> order_of(ChunkLoop& loop, std::uint32_t num_chunks, std::uint32_t worker) {
    std::vector<std::uint32_t> order;
    const auto note = [](void* context, std::uint32_t chunk, std::uint32_t) {
        static_cast<std::vector<std::uint32_t>*>(context)->push_back(chunk);
    };
    loop.start(num_chunks, note, &order, 1);
    loop.run(worker);
    loop.wait_until_finished();
    EXPECT_TRUE(loop.drop_user());
    return order;
}

TEST(ChunkLoop, a_worker_takes_its_own_share_first_and_then_from_the_backs_of_others) {
    const shoal_test::LeakCheck leaks;
    ChunkLoop loop(3);
    EXPECT_EQ(order_of(loop, 9, 1), (std::vector<std::uint32_t>{3, 4, 5, 8, 7, 6, 2, 1, 0}));
    EXPECT_EQ(order_of(loop, 9, 1), (std::vector<std::uint32_t>{3, 4, 5, 8, 7, 6, 2, 1, 0})) << "the same every frame";
    EXPECT_EQ(order_of(loop, 2, 0), (std::vector<std::uint32_t>{0, 1})) << "worker 0 has no share of two chunks";
    EXPECT_TRUE(order_of(loop, 0, 2).empty());
}

TEST(ChunkLoop, is_free_when_its_last_user_has_gone) {
    ChunkLoop loop(2);
    loop.start(0, nullptr, nullptr, 3);
    EXPECT_FALSE(loop.drop_user());
    EXPECT_FALSE(loop.drop_user());
    EXPECT_TRUE(loop.drop_user());
}

TEST(OpenLoops, a_loop_is_not_started_again_before_its_helpers_have_left) {
    const shoal_test::LeakCheck leaks;
    OpenLoops loops(2, "test");
    const auto count = [](void* context, std::uint32_t, std::uint32_t) { ++*static_cast<int*>(context); };
    int num_run = 0;
    OpenLoops::Loop* const first = loops.open(3, count, &num_run, nullptr);
    ASSERT_NE(first, nullptr);
    OpenLoops::Loop* const joined = loops.join();
    ASSERT_EQ(joined, first);
    first->chunks->run(0);
    loops.close(*first);
    loops.finish(*first);  // by the thread that opened it; the helper is still inside
    EXPECT_TRUE(loops.none_in_use());
    OpenLoops::Loop* const second = loops.open(5, count, &num_run, nullptr);
    ASSERT_NE(second, nullptr);
    EXPECT_NE(second, first) << "the helper would run chunks of the new loop, or count as its user";
    loops.leave(*joined);
    second->chunks->run(1);
    loops.close(*second);
    loops.finish(*second);
    EXPECT_EQ(num_run, 8);
    OpenLoops::Loop* const third = loops.open(1, count, &num_run, nullptr);
    EXPECT_EQ(third, first) << "all have left";
    third->chunks->run(0);
    loops.close(*third);
    loops.finish(*third);
}

TEST(CalledThreads, one_does_not_leave_a_loop_that_counted_on_it) {
    OpenLoops loops(2, "test");
    CalledThreads called(1);
    ASSERT_TRUE(called.enter());
    EXPECT_FALSE(called.enter()) << "all are called";
    EXPECT_EQ(called.num_idle(), 1u);
    OpenLoops::Loop* const loop = loops.open(1, nullptr, nullptr, nullptr);  // one thread is idle, so it calls none
    EXPECT_FALSE(called.leave(loops)) << "nobody else would come";
    EXPECT_EQ(called.num_idle(), 1u);
    EXPECT_FALSE(called.enter()) << "it counts as called again";
    loops.close(*loop);
    loops.finish(*loop);
    EXPECT_TRUE(called.leave(loops));
    EXPECT_EQ(called.num_idle(), 0u);
    EXPECT_TRUE(called.enter()) << "and may be called again";
}

TEST(CalledThreads, one_that_helps_is_not_idle) {
    CalledThreads called(3);
    ASSERT_TRUE(called.enter() && called.enter());
    called.begin_help();
    EXPECT_EQ(called.num_idle(), 1u);
    called.end_help();
    EXPECT_EQ(called.num_idle(), 2u);
}

}  // namespace
}  // namespace shoal
