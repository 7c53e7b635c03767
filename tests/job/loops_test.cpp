#include "job/loops.h"

#include "support/testing.h"

#include <gtest/gtest.h>

#include <vector>

namespace shoal {
namespace {

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

}  // namespace
}  // namespace shoal
