// From a blob into component managers: the stores that programs use.

#include "resource/samples.h"
#include "shoal/resource/spawner.h"
#include "shoal/store/manager.h"
#include "support/testing.h"

#include <gtest/gtest.h>

namespace resource_test {
namespace {

// req: D18-D25
TEST(SpawnManagers, columns_chains_and_references_arrive) {
    const shoal_test::LeakCheck leaks;
    EntityManager entities;
    PagePool pool;
    ComponentManager stones(schema_of<Stone>(), entities, pool), bodies(schema_of<Body>(), entities, pool);
    ComponentManager notes(schema_of<Note>(), entities, pool);
    Store* stores[] = {&stones, &bodies, &notes};
    const Result<Blob> blob = Blob::load(sample_bytes());
    ASSERT_TRUE(blob) << blob.message();
    Result<Spawned> spawned = spawn({entities, stores}, *blob, {.copies = 3});
    ASSERT_TRUE(spawned) << spawned.message();
    EXPECT_EQ(spawned->unknown().size(), 1u) << "the marker";

    StoreStatistics statistics;
    const auto num_rows = [&](const Store& store) {
        EXPECT_EQ(store.statistics({&statistics, 1}), 1u);
        return statistics.num_rows;
    };
    EXPECT_EQ(num_rows(stones), 6u);
    EXPECT_EQ(num_rows(bodies), 3u);
    EXPECT_EQ(num_rows(notes), 9u);
    for (std::uint32_t copy = 0; copy < 3; ++copy) {
        EXPECT_TRUE(stones.has(spawned->entity(2, copy)));
        EXPECT_FALSE(stones.has(spawned->entity(1, copy)));
        EXPECT_TRUE(notes.has(spawned->entity(4, copy)));
    }
    EXPECT_EQ(spawned->destroy(entities), 15u);
    for (Store* store : stores) store->settle({});
    EXPECT_EQ(num_rows(stones) + num_rows(bodies) + num_rows(notes), 0u);
}

}  // namespace
}  // namespace resource_test
