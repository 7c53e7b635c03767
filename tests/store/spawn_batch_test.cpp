// A batch that does not say what it means reaches no memory.

#include "shoal/store/manager.h"
#include "support/testing.h"

#include <gtest/gtest.h>

namespace {

using namespace shoal;

struct Crab {
    float mass = 1;
};
SHOAL_COMPONENT(Crab, mass)

TEST(SpawnBatch, an_owner_beyond_the_blob_entities_ends_the_program) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EntityManager entities;
    PagePool pool;
    Manager<Crab> crabs(entities, pool);
    Entity made[4];
    ASSERT_TRUE(entities.create(made));
    const float masses[] = {1, 2};
    const std::byte* const column = reinterpret_cast<const std::byte*>(masses);
    std::uint32_t owners[] = {0, 1};
    SpawnBatch batch{.component = schema_of<Crab>().id(),
                     .entities = made,
                     .num_blob_entities = 2,
                     .num_copies = 2,
                     .entity_index = owners,
                     .columns = {&column, 1},
                     .parents = {}};
    owners[1] = 2;
    EXPECT_DEATH(static_cast<void>(crabs.core().spawn(batch)), "not among the blob entities");
    owners[1] = 1;
    batch.num_copies = 3;
    EXPECT_DEATH(static_cast<void>(crabs.core().spawn(batch)), "blob entities in all copies");
    batch.num_copies = 2;
    EXPECT_TRUE(crabs.core().spawn(batch));
    EXPECT_EQ(crabs.num_rows(), 4u);
    EXPECT_EQ(crabs.get<&Crab::mass>(crabs.instance(made[3])), 2.0f);
}

TEST(SpawnBatch, no_copies_change_nothing) {
    EntityManager entities;
    PagePool pool;
    for (const RowIndexKind index : {RowIndexKind::kPaged, RowIndexKind::kHash, RowIndexKind::kIdentity}) {
        Manager<Crab> crabs(entities, pool, {.index = index});
        const std::uint32_t owner = 0;
        const std::byte* const column = reinterpret_cast<const std::byte*>(&owner);
        EXPECT_TRUE(crabs.core().spawn({.component = schema_of<Crab>().id(),
                                        .entities = {},
                                        .num_blob_entities = 1,
                                        .num_copies = 0,
                                        .entity_index = {&owner, 1},
                                        .columns = {&column, 1},
                                        .parents = {}}));
        EXPECT_EQ(crabs.num_rows(), 0u);
        EXPECT_EQ(crabs.core().num_structural_changes(), 0u);
    }
}

}  // namespace
