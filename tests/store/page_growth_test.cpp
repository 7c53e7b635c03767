// Managers take memory by pages and slabs: nothing is allocated per row.

#include "support/allocation_count.h"
#include "support/manager_testing.h"

#include <gtest/gtest.h>

#include <vector>

namespace shoal_test {
namespace {

template <class T>
struct PageGrowth : ::testing::Test {};
TYPED_TEST_SUITE(PageGrowth, AllComponents);

// req: B9
TYPED_TEST(PageGrowth, a_manager_that_grows_row_by_row_allocates_nothing_small) {
    for (const RowIndexKind kind : kinds_of<TypeParam>()) {
        SCOPED_TRACE(kind_name(kind));
        EntityManager entities;
        PagePool pool;
        Manager<TypeParam> manager(entities, pool, {.index = kind});
        const std::vector<Entity> made = create(entities, 100'000);
        std::uint64_t num_first = 0, num_all = 0;
        {
            AllocationCount allocations;
            for (std::size_t i = 0; i < made.size(); ++i) {
                if (i == 10'000) num_first = allocations.count();
                ASSERT_TRUE(manager.add(made[i]).ok());
            }
            num_all = allocations.count();
        }
        EXPECT_LE(num_first, 64u) << "to grow through blocks of a slab to a range, and four arrays of marks and stamps";
        EXPECT_LE(num_all - num_first, 16u)
            << "marks for 8 rows and stamps for 1,024, in four arrays, double four times";
        const MemoryUse table = manager.core().table().memory_use();
        ASSERT_FALSE(manager.core().table().in_slab());
        EXPECT_EQ(table.committed_bytes % kPageBytes, 0u) << "a table of its own range holds whole pages";
        EXPECT_GE(table.committed_bytes, table.used_bytes);
    }
}

}  // namespace
}  // namespace shoal_test
