#include "shoal/entity/entity_manager.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace shoal {
namespace {

// req: A11
TEST(EntityThreads, alive_is_right_on_other_threads_while_entities_come_and_go) {
    EntityManager entities({.minimum_free_ids = 64});
    std::vector<Entity> lasting(1000);
    ASSERT_TRUE(entities.create(lasting));
    const Entity gone = *entities.create();
    entities.destroy(gone);

    std::atomic<bool> stop{false};
    std::atomic<std::uint64_t> num_wrong{0}, num_asked{0};
    std::atomic<EntityBits> newest{0};
    const auto ask = [&] {
        std::uint32_t i = 0;
        while (!stop.load(std::memory_order_relaxed)) {
            num_wrong += !entities.alive(lasting[i % lasting.size()]);
            num_wrong += entities.alive(gone);
            num_wrong += entities.alive(kNullEntity);
            const Entity other{newest.load(std::memory_order_acquire)};
            // The entity may have died meanwhile, but alive() must answer, also for its neighbours.
            num_asked += 1 + entities.alive(other) + entities.alive({other.id + 9});
            ++i;
        }
    };
    std::thread first(ask), second(ask);
    while (num_asked == 0) std::this_thread::yield();  // otherwise the test may end before a thread starts
    // A third of what is created stays alive, and needs an index.
    const std::int64_t num_rounds = shoal_test::scaled_operations(kIndexBits < 22 ? 800 : 50'000);
    std::vector<Entity> batch;
    Random random(shoal_test::seed());
    for (std::int64_t round = 0; round < num_rounds; ++round) {
        batch.resize(1 + random.below(300));
        ASSERT_TRUE(entities.create(batch));
        newest.store(batch.back().id, std::memory_order_release);
        // Every third batch stays alive, so that no index reaches 255 lives, after which ids in `gone` would be reused.
        if (round % 3 != 0) {
            ASSERT_EQ(entities.destroy(batch), batch.size());
        }
    }
    stop = true;
    first.join();
    second.join();
    EXPECT_EQ(num_wrong, 0u);
    EXPECT_GT(num_asked, 0u);
}

#if SHOAL_CHECKED
TEST(EntityThreadsDeathTest, two_structural_threads_at_once_are_a_bug) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(
        {
            EntityManager entities;
            const auto churn = [&] {
                for (int i = 0; i < 20'000'000; ++i) entities.destroy(*entities.create());
            };
            std::thread other(churn);
            churn();
            other.join();
        },
        "only one thread at a time may call");
}
#endif

}  // namespace
}  // namespace shoal
