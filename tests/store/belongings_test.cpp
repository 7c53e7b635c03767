// What an entity has is known to the managers alone: to the entity and to its manager it is a number.

#include "support/manager_testing.h"

#include <gtest/gtest.h>
#include <vector>

namespace shoal_test {
namespace {

struct Belongings : ::testing::Test {
    /// Asks every manager, as one does who wants to know what an entity has.
    std::string of(Entity entity) const {
        std::string names;
        for (const ComponentManager* manager : {&one.core(), &many.core(), &rare.core()})
            if (manager->has(entity)) names += manager->schema().name() + ' ';
        return names;
    }

    EntityManager entities;
    PagePool pool;
    Manager<ApartOne> one{entities, pool};
    Manager<SplitMany> many{entities, pool};
    Manager<WholeOne> rare{entities, pool, {.index = RowIndexKind::kHash}};
};

// req: A4 A7
TEST_F(Belongings, are_found_by_asking_the_managers) {
    const std::vector<Entity> made = create(entities, 4);
    EXPECT_EQ(of(made[0]), "");
    ASSERT_TRUE(one.add(std::span(made).first(2)).ok());
    ASSERT_TRUE(many.add(std::span(made).subspan(1)).ok());
    ASSERT_TRUE(many.add(made[3]).ok());
    ASSERT_TRUE(rare.add(made[1]).ok());
    EXPECT_EQ(of(made[0]), "apart_one ");
    EXPECT_EQ(of(made[1]), "apart_one split_many whole_one ");
    EXPECT_EQ(of(made[3]), "split_many ");
    rare.remove(made[1]);
    EXPECT_EQ(of(made[1]), "apart_one split_many ");
    EXPECT_EQ(of(kNullEntity), "");
}

// req: A4 A7
TEST_F(Belongings, leave_no_trace_in_the_entity_manager) {
    const std::vector<Entity> made = create(entities, 10'000);
    const MemoryUse before = entities.memory_use();
    ASSERT_TRUE(one.add(made).ok());
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(many.add(made).ok());
    EXPECT_EQ(entities.memory_use().used_bytes, before.used_bytes);
    EXPECT_EQ(entities.memory_use().committed_bytes, before.committed_bytes);
    {
        Manager<WholeMany> passing(entities, pool);
        ASSERT_TRUE(passing.add(made).ok());
    }
    EXPECT_EQ(entities.memory_use().used_bytes, before.used_bytes);
    for (const Entity entity : made) ASSERT_TRUE(entities.alive(entity)) << "data went, the entity did not";
}

// req: A8
TEST_F(Belongings, how_many_is_the_choice_of_each_manager) {
    const Entity entity = create(entities, 1)[0];
    for (std::uint64_t i = 0; i < 5; ++i) {
        ASSERT_TRUE(one.add(entity, make_value<ApartOne>(i, 0)).ok());
        ASSERT_TRUE(many.add(entity, make_value<SplitMany>(i, 0)).ok());
    }
    EXPECT_EQ(numbers_of(one, entity), (std::vector<std::uint64_t>{4}));
    EXPECT_EQ(numbers_of(many, entity), (std::vector<std::uint64_t>{4, 3, 2, 1, 0}));
}

// req: F3
TEST_F(Belongings, cost_nothing_to_those_who_have_none_and_come_and_go_at_any_time) {
    const std::vector<Entity> made = create(entities, 100'000);
    StoreStatistics statistics;
    const auto bytes_of = [&](const Store& store) {
        EXPECT_EQ(store.statistics({&statistics, 1}), 1u);
        return statistics.rows.committed_bytes + statistics.index.committed_bytes;
    };
    EXPECT_EQ(bytes_of(one.core()) + bytes_of(many.core()) + bytes_of(rare.core()), 0u);
    ASSERT_TRUE(rare.add(std::span(made).last(10)).ok());
    EXPECT_LE(bytes_of(rare.core()), 3 * kPageBytes) << "ten rows, whatever the number of entities";
    EXPECT_EQ(bytes_of(one.core()) + bytes_of(many.core()), 0u);
    for (int round = 0; round < 3; ++round) {
        ASSERT_TRUE(one.add(made[7], make_value<ApartOne>(3, 0)).ok());
        EXPECT_EQ(numbers_of(one, made[7]), (std::vector<std::uint64_t>{3}));
        EXPECT_TRUE(one.remove(made[7]));
        EXPECT_EQ(of(made[7]), "");
    }
}

}  // namespace
}  // namespace shoal_test
