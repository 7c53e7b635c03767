// The bits of an id, and the cost of alive().

#include "shoal/entity/entity_manager.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <vector>

namespace shoal {
namespace {

constexpr int kIdBits = sizeof(EntityBits) * 8;

// req: A14 A15 A16
TEST(EntityBits, are_22_and_8_with_2_to_spare_or_32_and_32_or_as_built) {
    EXPECT_EQ(kIndexBits, SHOAL_WIDE_IDS ? 32 : SHOAL_INDEX_BITS);
    EXPECT_EQ(kGenerationBits, SHOAL_WIDE_IDS ? 32 : 30 - SHOAL_INDEX_BITS);
    EXPECT_EQ(kIdBits - kIndexBits - kGenerationBits, SHOAL_WIDE_IDS ? 0 : 2);
    EXPECT_EQ(sizeof(Generation), std::size_t(kGenerationBits + 7) / 8) << "no more than the generation needs";
}

// req: A14
TEST(EntityBits, index_and_generation_come_back_out_of_every_bit) {
    for (int bit = 0; bit < kIndexBits; ++bit) {
        const auto index = static_cast<std::uint32_t>(EntityBits(1) << bit);
        const Entity entity = make_entity(index, static_cast<Generation>(kGenerationMask));
        EXPECT_EQ(entity.index(), index);
        EXPECT_EQ(entity.generation(), static_cast<Generation>(kGenerationMask));
    }
    for (int bit = 0; bit < kGenerationBits; ++bit) {
        const auto generation = static_cast<Generation>(EntityBits(1) << bit);
        const Entity entity = make_entity(static_cast<std::uint32_t>(kIndexMask), generation);
        EXPECT_EQ(entity.index(), kIndexMask);
        EXPECT_EQ(entity.generation(), generation);
    }
}

// req: A15
TEST(EntityBits, the_spare_bits_of_a_given_out_id_are_free_for_a_tag) {
    if constexpr (kSpareBits == 0) GTEST_SKIP() << "wide ids have no spare bits";
    EntityManager entities({.minimum_waiting = 1, .max_entities = 10});
    std::vector<Entity> all(10);
    for (EntityBits life = 0; life < 2 * kGenerationMask + 90; ++life) {  // more than twice through all generations
        ASSERT_TRUE(entities.create(all));
        for (const Entity entity : all) {
            const EntityBits tagged = entity.id | EntityBits(2) << 30;
            ASSERT_EQ(entity.id >> 30, 0u);
            ASSERT_FALSE(entities.alive({tagged})) << "a tag that was left in is noticed";
            ASSERT_TRUE(entities.alive({tagged & ~(EntityBits(3) << 30)}));
        }
        ASSERT_EQ(entities.destroy(all), all.size());
    }
}

// alive() can only look at what is kept: until an entity dies, the manager keeps only one generation per index.
// req: A13 A22
TEST(EntityBits, one_generation_per_index_is_all_that_alive_can_look_at) {
    EntityManager entities;
    const std::size_t held = bookkeeping_bytes();
    const std::size_t before = entities.memory_use().used_bytes;
    std::vector<Entity> all(50'000);
    ASSERT_TRUE(entities.create(all));
    EXPECT_EQ(entities.memory_use().used_bytes - before, all.size() * sizeof(Generation));
    EXPECT_EQ(bookkeeping_bytes(), held);
    for (const Entity entity : all) {
        ASSERT_TRUE(entities.alive(entity));
        ASSERT_FALSE(entities.alive(make_entity(entity.index(), static_cast<Generation>(entity.generation() + 1))));
    }
}

}  // namespace
}  // namespace shoal
