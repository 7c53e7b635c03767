// The marks of a pass: made once, by the thread that started it, when every chunk is done.

#include "shoal/query/query.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace {

using namespace shoal;

struct Crate {
    float mass = 1;
    Vec3 position{};
};
SHOAL_COMPONENT(Crate, mass, position)

// Chunks are cut on cache lines (row_ranges_test.cpp); stamps, many to a line, are no job's to write.
// req: E12
TEST(QueryMarks, no_chunk_writes_a_stamp) {
    EntityManager entities;
    PagePool pool;
    Manager<Crate> crates(entities, pool);
    std::vector<Entity> owners(100'000);
    ASSERT_TRUE(entities.create(owners).ok());
    ASSERT_TRUE(crates.add(owners).ok());
    Table& table = crates.core().table();
    table.set_stamp(9);
    constexpr std::uint32_t kPosition = FieldPlace<&Crate::position>::kFirstColumn;
    std::atomic<std::uint32_t> num_calls{0}, num_early{0};
    const auto executor = std::make_unique<shoal::ThreadedExecutor>(4);
    query<Write<&Crate::position>>(crates).for_each(*executor, [&](auto&& position) {
        position.x = 1;
        if (num_calls.fetch_add(1, std::memory_order_relaxed) % 64 != 0) return;
        for (std::uint32_t block = 0; block < table.num_rows() / 1024; ++block)
            num_early += table.written_stamp(kPosition, block) == 9;
    });
    EXPECT_EQ(num_calls, 100'000u);
    EXPECT_EQ(num_early, 0u);
    for (std::uint32_t block = 0; block <= (table.num_rows() - 1) / 1024; ++block)
        EXPECT_EQ(table.written_stamp(kPosition, block), 9u);
    EXPECT_LT(table.written_stamp(FieldPlace<&Crate::mass>::kFirstColumn, 0), 9u) << "and only what the pass names";
}

}  // namespace
