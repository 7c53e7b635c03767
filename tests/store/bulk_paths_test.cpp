// The short ways through a manager (spans, many dead at once, rows copied by type) against the long ones, which a
// manager takes whose table somebody watches.

#include "support/manager_testing.h"

#include <gtest/gtest.h>
#include <vector>

namespace shoal_test {
namespace {

template <class T>
class BulkPaths : public ::testing::Test {
protected:
    EntityManager entities_{{.minimum_free_ids = 1}};
    PagePool pool_;
    Settler settler_;
};
TYPED_TEST_SUITE(BulkPaths, OneComponents);

/// Whether two managers hold the same components, in whatever rows.
template <class T>
void expect_same(const Manager<T>& a, const Manager<T>& b, std::span<const Entity> entities) {
    ASSERT_TRUE(a.core().validate().ok()) << a.core().validate().message();
    ASSERT_TRUE(b.core().validate().ok()) << b.core().validate().message();
    ASSERT_EQ(a.num_components(), b.num_components());
    for (const Entity entity : entities) {
        ASSERT_EQ(a.has(entity), b.has(entity));
        if (!a.has(entity)) continue;
        ASSERT_TRUE(same_value(a.value(a.instance(entity)), b.value(b.instance(entity))));
    }
}

TYPED_TEST(BulkPaths, they_leave_what_the_long_ways_leave) {
    Random random(seed());
    Manager<TypeParam> quick(this->entities_, this->pool_);
    Manager<TypeParam> hashed(this->entities_, this->pool_, {.index = RowIndexKind::kHash});
    ASSERT_TRUE(quick.core().rows().has_plain_rows());
    ASSERT_FALSE(hashed.core().rows().has_plain_rows());
    std::vector<Entity> made = create(this->entities_, 400);
    const auto pick = [&] { return made[random.below(static_cast<std::uint32_t>(made.size()))]; };
    const auto num_rounds = static_cast<std::uint32_t>(scaled_operations(2000));
    for (std::uint32_t round = 0; round < num_rounds; ++round) {
        std::vector<Entity> span(random.below(200));
        for (Entity& entity : span)
            entity = random.below(20) == 0 ? Entity{static_cast<EntityBits>(random.next())} : pick();
        std::vector<TypeParam> values;
        for (std::size_t i = 0; i < span.size(); ++i)
            values.push_back(make_value<TypeParam>(random.next(), random.below(1000)));
        switch (random.below(5)) {
            case 0:
            case 1: {
                const Result<AddCounts> a = quick.add(span, std::span<const TypeParam>(values));
                const Result<AddCounts> b = hashed.add(span, std::span<const TypeParam>(values));
                ASSERT_TRUE(a.ok() && b.ok());
                ASSERT_EQ(a->num_added, b->num_added);
                ASSERT_EQ(a->num_set, b->num_set);
                ASSERT_EQ(a->num_skipped, b->num_skipped);
                break;
            }
            case 2:
                ASSERT_EQ(quick.remove(span), hashed.remove(span));
                break;
            case 3:
                for (const Entity entity : span) ASSERT_EQ(quick.remove(entity), hashed.remove(entity));
                break;
            default: {
                const std::size_t num_dead = random.below(2) == 0 ? random.below(400) : random.below(10);
                for (std::size_t i = 0; i < num_dead; ++i) this->entities_.destroy(pick());
                this->settler_.settle(quick.core());
                this->settler_.settle(hashed.core());
                for (Entity& entity : made)
                    if (!this->entities_.alive(entity)) entity = create(this->entities_, 1)[0];
            }
        }
        ASSERT_NO_FATAL_FAILURE(expect_same(quick, hashed, made));
    }
}

TYPED_TEST(BulkPaths, a_large_manager_loses_what_a_span_names) {
    Manager<TypeParam> quick(this->entities_, this->pool_);
    Manager<TypeParam> hashed(this->entities_, this->pool_, {.index = RowIndexKind::kHash});
    const std::vector<Entity> made = create(this->entities_, 100'000);
    std::vector<TypeParam> values;
    for (std::uint32_t i = 0; i < made.size(); ++i) values.push_back(make_value<TypeParam>(i * 77u, i));
    for (Manager<TypeParam>* manager : {&quick, &hashed})
        ASSERT_TRUE(manager->add(made, std::span<const TypeParam>(values)).ok());
    std::vector<Entity> going = {kNullEntity, Entity{~EntityBits(0)}};
    Random random(seed());
    for (int i = 0; i < 70'000; ++i) going.push_back(made[random.below(100'000)]);
    const std::uint32_t num_removed = quick.remove(going);
    EXPECT_EQ(num_removed, hashed.remove(going));
    EXPECT_EQ(quick.num_components(), 100'000 - num_removed);
    expect_same(quick, hashed, made);
}

TYPED_TEST(BulkPaths, when_many_died_the_others_keep_their_order) {
    Manager<TypeParam> manager(this->entities_, this->pool_);
    const std::vector<Entity> made = create(this->entities_, 5000);
    for (std::uint32_t i = 0; i < made.size(); ++i) ASSERT_TRUE(manager.add(made[i], make_value<TypeParam>(i, i)).ok());
    std::vector<std::uint32_t> living;
    for (std::uint32_t i = 0; i < made.size(); ++i) {
        if (i % 7 == 3 || i % 100 == 99)
            living.push_back(i);
        else
            this->entities_.destroy(made[i]);
    }
    this->settler_.settle(manager.core());
    ASSERT_EQ(manager.num_rows(), living.size());
    ASSERT_TRUE(manager.core().validate().ok());
    for (std::uint32_t row = 0; row < living.size(); ++row) {
        ASSERT_EQ(manager.entities()[row], made[living[row]]);
        ASSERT_TRUE(same_value(manager.value({row}), make_value<TypeParam>(living[row], living[row])));
    }
    const std::uint64_t changes = manager.core().num_structural_changes();
    this->settler_.settle(manager.core());
    EXPECT_EQ(manager.core().num_structural_changes(), changes) << "nobody died";
}

TYPED_TEST(BulkPaths, a_block_that_rows_move_into_carries_the_stamp) {
    Manager<TypeParam> manager(this->entities_, this->pool_);
    const std::vector<Entity> made = create(this->entities_, 4 * kRowsPerStampBlock);
    ASSERT_TRUE(manager.add(made).ok());
    Table& table = manager.core().table();
    const auto is_stamped = [&](std::uint32_t block) { return table.written_stamp(0, block) == table.stamp(); };
    table.set_stamp(10);
    EXPECT_TRUE(manager.remove(made[5]));
    EXPECT_TRUE(is_stamped(0));
    table.set_stamp(11);
    EXPECT_EQ(manager.remove(std::span(made).subspan(kRowsPerStampBlock, 2)), 2u);
    EXPECT_TRUE(is_stamped(1));
    EXPECT_FALSE(is_stamped(0) || is_stamped(2));
}

TYPED_TEST(BulkPaths, a_block_that_rows_close_ranks_in_carries_the_stamp) {
    Manager<TypeParam> manager(this->entities_, this->pool_);
    const std::vector<Entity> made = create(this->entities_, 6 * kRowsPerStampBlock);
    ASSERT_TRUE(manager.add(made).ok());
    this->entities_.destroy(made[kRowsPerStampBlock + 3]);
    this->entities_.destroy(std::span(made).subspan(std::size_t(2) * kRowsPerStampBlock));
    Table& table = manager.core().table();
    table.set_stamp(12);
    manager.core().settle({nullptr, 12});
    ASSERT_EQ(manager.num_rows(), 2 * kRowsPerStampBlock - 1);
    EXPECT_LT(table.written_stamp(0, 0), 12u) << "no row of it moved";
    EXPECT_EQ(table.written_stamp(0, 1), 12u);
    EXPECT_TRUE(manager.core().validate().ok());
}

TYPED_TEST(BulkPaths, a_null_entity_is_never_spawned) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    Manager<TypeParam> manager(this->entities_, this->pool_);
    const Entity none[] = {kNullEntity};
    const std::uint32_t owners[] = {0};
    std::vector<std::vector<std::byte>> columns;
    std::vector<const std::byte*> pointers;
    for (const ColumnDefinition& column : manager.core().schema().columns()) {
        columns.emplace_back(column.element_bytes);
        pointers.push_back(columns.back().data());
    }
    const SpawnBatch batch{.component = manager.core().schema().id(),
                           .entities = none,
                           .num_blob_entities = 1,
                           .entity_index = owners,
                           .columns = pointers,
                           .parents = {}};
    EXPECT_DEATH(static_cast<void>(manager.core().spawn(batch)), "null");
}

}  // namespace
}  // namespace shoal_test
