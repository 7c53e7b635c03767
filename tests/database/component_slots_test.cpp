// What the database remembers of C++ types, by many threads at once.

#include "shoal/database/detail/component_slots.h"

#include "support/database_testing.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace shoal_test {
namespace {

using detail::ComponentSlots;

#define SHOAL_TEST_PARTS(X) \
    X(Part0) X(Part1) X(Part2) X(Part3) X(Part4) X(Part5) X(Part6) X(Part7) X(Part8) X(Part9) X(Part10) X(Part11)
#define SHOAL_TEST_DECLARE(Part) \
    struct Part {                \
        float value = 0;         \
    };                           \
    SHOAL_COMPONENT(Part, value)
SHOAL_TEST_PARTS(SHOAL_TEST_DECLARE)

TEST(ComponentSlots, keep_every_number_while_they_grow) {
    const LeakCheck leaks;
    ComponentSlots slots;
    EXPECT_EQ(slots.find(0), ComponentSlots::kNone);
    for (std::uint32_t slot = 0; slot < 1000; slot += 3) {
        slots.set(slot, slot * 2);
        EXPECT_EQ(slots.find(slot + 1), ComponentSlots::kNone);
    }
    for (std::uint32_t slot = 0; slot < 1000; ++slot)
        EXPECT_EQ(slots.find(slot), slot % 3 == 0 ? slot * 2 : ComponentSlots::kNone);
    EXPECT_EQ(slots.find(5'000'000), ComponentSlots::kNone);
}

TEST(ComponentSlots, threads_that_find_while_others_add_see_the_right_number_or_none) {
    constexpr std::uint32_t kCount = 5000;
    ComponentSlots slots;
    std::vector<std::thread> threads;
    for (std::uint32_t t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            for (std::uint32_t slot = t % 2; slot < kCount; ++slot) {
                if (t < 2 && slot % 2 == t) slots.set(slot, slot + 7);
                const std::uint32_t found = slots.find(kCount - 1 - slot);
                if (found != ComponentSlots::kNone && found != kCount - 1 - slot + 7) ADD_FAILURE() << slot;
            }
        });
    for (std::thread& thread : threads) thread.join();
    for (std::uint32_t slot = 0; slot < kCount; ++slot) EXPECT_EQ(slots.find(slot), slot + 7);
}

// Component types that came in by schema, and whose C++ types two passes name for the first time side by side.
TEST(ComponentSlots, passes_may_name_cpp_types_for_the_first_time_side_by_side) {
    for (int round = 0; round < 20; ++round) {
        EntityManager entities;
        PagePool pool;
        Database database(entities, pool);
#define SHOAL_TEST_ADD(Part) ASSERT_TRUE(database.add_component(schema_of<Part>()).ok());
        SHOAL_TEST_PARTS(SHOAL_TEST_ADD)
        database.hold_rows(true);
        std::atomic<int> num_waiting = 4;
        std::vector<std::thread> threads;
        for (int t = 0; t < 4; ++t)
            threads.emplace_back([&] {
                for (--num_waiting; num_waiting != 0;) {
                }
                std::uint32_t number = 0;
#define SHOAL_TEST_FIND(Part) EXPECT_EQ(database.component<Part>().number, number++);
                SHOAL_TEST_PARTS(SHOAL_TEST_FIND)
            });
        for (std::thread& thread : threads) thread.join();
        database.hold_rows(false);
    }
}

}  // namespace
}  // namespace shoal_test
