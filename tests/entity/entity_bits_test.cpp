// The bits of an id, and the cost of alive().

#include "shoal/entity/entity_manager.h"
#include "support/testing.h"
#include "support/unreadable_pages.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace shoal {
namespace {

constexpr int kIdBits = sizeof(EntityBits) * 8;

// req: A14 A15 A16
TEST(EntityBits, are_22_and_8_with_2_to_spare_or_32_and_32_or_as_built) {
    constexpr int kAskedBits = SHOAL_WIDE_IDS ? 32 : SHOAL_TESTED_INDEX_BITS;  // what the build was asked for, or 22
    EXPECT_EQ(kIndexBits, kAskedBits);
    EXPECT_EQ(kGenerationBits, SHOAL_WIDE_IDS ? 32 : 30 - kAskedBits);
    EXPECT_EQ(kIdBits - kIndexBits - kGenerationBits, SHOAL_WIDE_IDS ? 0 : 2);
    EXPECT_EQ(make_entity(5, 3).id, 5 | EntityBits(3) << kAskedBits) << "the index is below the generation";
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
    EntityManager entities({.minimum_free_ids = 1, .max_entities = 10});
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

// With all else unreadable but the first cache line of the manager, which has the address of the array.
// req: A13
TEST(EntityBits, alive_looks_at_one_page_of_one_array) {
    struct Destroy {
        void operator()(EntityManager* entities) const { entities->~EntityManager(); }
    };
    alignas(kPageBytes) static std::byte memory[4 * kPageBytes];
    static_assert(sizeof(EntityManager) < 2 * kPageBytes);
    const std::unique_ptr<EntityManager, Destroy> entities(::new (memory + kPageBytes - kCacheLineBytes) EntityManager);
    std::vector<Entity> all(10 * kPageBytes / sizeof(Generation));
    ASSERT_TRUE(entities->create(all));
    const std::span<const Generation> generations = entities->generations();
    for (std::size_t i = 0; i < all.size(); i += 1500) {
        const Entity dead = make_entity(all[i].index(), static_cast<Generation>(all[i].generation() + 1));
        const std::size_t page = all[i].index() * sizeof(Generation) / kPageBytes;
        const auto* const begin = reinterpret_cast<const std::byte*>(generations.data());
        shoal_test::UnreadablePages others;
        others.add(memory + kPageBytes, 3 * kPageBytes);
        others.add(begin, page * kPageBytes);
        others.add(begin + (page + 1) * kPageBytes, generations.size_bytes() - (page + 1) * kPageBytes);
        ASSERT_GE(others.num_bytes(), 12 * kPageBytes);
        EXPECT_TRUE(entities->alive(all[i]));
        EXPECT_FALSE(entities->alive(dead));
    }
}

// req: A13 A22
TEST(EntityBits, one_generation_per_index_is_all_that_is_kept_of_the_living) {
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
