#include "shoal/store/manager.h"

#include "support/testing.h"

#include <vector>

namespace {

using namespace shoal;

struct Stone {
    float mass = 1;
};
SHOAL_COMPONENT(Stone, mass)

struct Moss {
    float area = 1;
};
SHOAL_COMPONENT(Moss, area)

// req: B18, B19
TEST(DestroyOwnEntities, two_managers_that_drop_by_callback_both_drop_everything) {
    EntityManager entities;
    PagePool pool;
    Manager<Stone> stones(entities, pool, {.death = DeathPolicy::kByCallback});
    Manager<Moss> mosses(entities, pool, {.death = DeathPolicy::kByCallback});
    std::vector<Entity> owners(5000);
    ASSERT_TRUE(entities.create(owners).ok());
    ASSERT_TRUE(stones.add(owners).ok());
    ASSERT_TRUE(mosses.add(owners).ok());
    EXPECT_EQ(entities.destroy(stones.entities()), 5000u);
    EXPECT_EQ(stones.num_rows(), 0u);
    EXPECT_EQ(mosses.num_rows(), 0u);
    EXPECT_TRUE(stones.core().validate().ok());
    EXPECT_TRUE(mosses.core().validate().ok());
}

}  // namespace
