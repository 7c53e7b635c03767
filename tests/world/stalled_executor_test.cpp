// Schedules and worlds on an executor whose threads never come, come late, or stop for long: every pass runs.

#include "shoal/command/commands.h"
#include "shoal/save/state_hash.h"
#include "shoal/world/world.h"
#include "support/testing.h"
#include "support/thread_pool_executor.h"

#include <atomic>
#include <latch>
#include <thread>
#include <vector>

namespace {

using namespace shoal;
using shoal_test::ThreadPoolExecutor;

struct Drop {
    float height = 100, speed = 0;
};
SHOAL_COMPONENT(Drop, height, speed)

/// Drops that fall, and are replaced when they have reached the ground.
std::uint64_t hash_of_rain(Executor* executor) {
    EntityManager entities;
    World world(entities, {.executor = executor});
    std::vector<Entity> drops(20'000);
    EXPECT_TRUE(world.database().create<Drop>(drops, Zone(0)).ok());
    world.schedule().add("fall", query<Write<&Drop::height>, Write<&Drop::speed>>(world.database()),
                         [](Entity drop, float& height, float& speed) {
                             speed += 1 + float(drop.index() % 7);
                             height -= speed;
                         });
    world.schedule().add("land", query<Read<&Drop::height>>(world.database()),
                         [](Commands& commands, Entity drop, float height) {
                             if (height > 0) return;
                             commands.destroy(drop);
                             commands.create(Zone(0), Drop{.height = 80});
                         });
    for (int frame = 0; frame < 12; ++frame) world.step(0);
    return state_hash(world);
}

TEST(StalledWorld, a_world_whose_threads_never_come_or_come_late_has_the_state_of_one_on_one_thread) {
    const std::uint64_t expected = hash_of_rain(nullptr);
    std::latch gate{1};
    ThreadPoolExecutor executor(3, [&](unsigned, bool) { gate.wait(); });
    EXPECT_EQ(hash_of_rain(&executor), expected) << "nobody has come";
    gate.count_down();
    EXPECT_EQ(hash_of_rain(&executor), expected) << "they have come by now, or will";
}

TEST(StalledWorld, a_world_goes_on_without_a_thread_that_has_stopped_and_waits_for_it_at_the_end_of_the_frame) {
    EntityManager entities;
    std::atomic<bool> has_stopped{false};
    std::atomic<bool> is_done{false};
    ThreadPoolExecutor executor(2, [&](unsigned, bool has_chunk) {
        if (!has_chunk) return;
        has_stopped = true;
        has_stopped.notify_all();
        while (!is_done) std::this_thread::yield();  // for ever if a pass waited for this thread
    });
    World world(entities, {.executor = &executor});
    std::vector<Entity> drops(20'000);
    ASSERT_TRUE(world.database().create<Drop>(drops, Zone(0)).ok());
    world.schedule().add("wait", [&](PassContext&) { has_stopped.wait(false); });
    world.schedule().add("fall", query<Write<&Drop::height>>(world.database()), [](float& height) { height -= 1; });
    world.schedule().add("end", [&](PassContext&) { is_done = true; });
    for (int frame = 0; frame < 3; ++frame) world.step(0);
    int num_fallen = 0;
    query<Read<&Drop::height>>(world.database()).for_each([&](float height) { num_fallen += height == 97; });
    EXPECT_EQ(num_fallen, 20'000);
}

TEST(StalledWorld, a_slow_chunk_holds_up_only_the_passes_that_wait_for_its_pass) {
    EntityManager entities;
    ThreadPoolExecutor executor(3);
    World world(entities, {.executor = &executor});
    std::atomic<bool> other_has_run{false};
    std::vector<int> order;
    int shared = 0, other = 0;
    world.schedule().add("slow", {writes(shared)}, [&](PassContext& context) {
        for_rows(context.executor, cut_rows(2, 1, 1), [&](RowRange rows, std::uint32_t) {
            while (rows.begin == 1 && !other_has_run) std::this_thread::yield();  // for ever if it held up the other
        });
        order.push_back(1);
    });
    world.schedule().add("behind", {writes(shared)}, [&](PassContext&) { order.push_back(2); });
    world.schedule().add("beside", {writes(other)}, [&](PassContext&) { other_has_run = true; });
    world.step(0);
    EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

}  // namespace
