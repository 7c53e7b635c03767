// The three kinds of row index against a naive map.

#include "shoal/table/detail/row_index.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace shoal {
namespace {

/// As many rows and entities as 22 bits have, or fewer bits if ids have fewer.
constexpr std::uint32_t kMostRows = 1u << (kIndexBits < 22 ? kIndexBits : 22);

class RowIndexOfKind : public testing::TestWithParam<RowIndexKind> {};

INSTANTIATE_TEST_SUITE_P(All, RowIndexOfKind,
                         testing::Values(RowIndexKind::kPaged, RowIndexKind::kHash, RowIndexKind::kIdentity));

/// One entry per entity index: the entity and its row.
struct Model {
    std::unordered_map<std::uint32_t, std::pair<Entity, std::uint32_t>> entries;

    std::uint32_t find(Entity entity) const {
        const auto entry = entries.find(entity.index());
        return entry != entries.end() && entry->second.first == entity ? entry->second.second : kNilRow;
    }
    std::uint32_t find_any_generation(Entity entity) const {
        const auto entry = entries.find(entity.index());
        return entry != entries.end() ? entry->second.second : kNilRow;
    }
    void erase(Entity entity, std::uint32_t row) {
        if (row != kNilRow && find(entity) == row) entries.erase(entity.index());
    }
};

// req: B10
TEST_P(RowIndexOfKind, agrees_with_a_map_under_random_use) {
    Random random(shoal_test::seed());
    SCOPED_TRACE(shoal_test::seed_text());
    RowIndex index(GetParam());
    Model model;
    std::uint32_t spread = 300;
    const auto any_entity = [&] {
        return make_entity(1 + random.below(spread), static_cast<Generation>(1 + random.below(4)));
    };
    for (std::int64_t i = shoal_test::scaled_operations(2'000'000); i > 0; --i) {
        if (i % 20'000 == 0) spread = random.below(2) == 0 ? 50 + random.below(500) : std::min(200'000u, kMostRows - 1);
        if (i % 70'001 == 0) {
            index.clear(random.below(2) == 0);
            model.entries.clear();
        }
        const Entity entity = any_entity();
        if (random.below(5) < 3) {
            const std::uint32_t row = GetParam() == RowIndexKind::kIdentity ? entity.index() : random.below(kMostRows);
            ASSERT_TRUE(index.reserve(1, entity.index()));
            index.set(entity, row);
            model.entries[entity.index()] = {entity, row};
        } else {
            const std::uint32_t row = random.below(8) == 0 ? random.below(kMostRows) : model.find(entity);
            index.erase(entity, row);
            model.erase(entity, row);
        }
        const Entity asked = any_entity();
        index.prefetch(asked);
        ASSERT_EQ(index.find(asked), model.find(asked));
        ASSERT_EQ(index.find_any_generation(asked), model.find_any_generation(asked));
        ASSERT_EQ(index.find(entity), model.find(entity));
    }
    for (const auto& [number, entry] : model.entries) ASSERT_EQ(index.find(entry.first), entry.second);
}

TEST(RowIndex, made_for_many_at_once_it_shares_large_pages_until_it_is_outgrown) {
    if constexpr (kIndexBits < 20) GTEST_SKIP() << "an index of so few entries never lies in large pages";
    PagePool pool;
    RowIndex index(RowIndexKind::kPaged, &pool);
    constexpr std::uint32_t kCount = 200'000, kMore = 250'000;
    ASSERT_TRUE(index.reserve(kCount, kCount));
    for (std::uint32_t i = 1; i <= kCount; ++i) index.set(make_entity(i, 3), i - 1);
    EXPECT_GE(pool.statistics().slab_used_bytes, kCount * sizeof(EntityBits));
    EXPECT_EQ(index.memory_use().committed_bytes, index.memory_use().reserved_bytes);
    EXPECT_EQ(index.find(make_entity(kMore, 3)), kNilRow) << "beyond what it has room for";
    EXPECT_EQ(index.find_any_generation(make_entity(kIndexMask, 3)), kNilRow);
    const std::vector<Entity> asked = {make_entity(kMore, 3), make_entity(7, 3), make_entity(7, 2), kNullEntity};
    std::vector<std::uint32_t> rows;
    index.find_each(asked, 0, [&](std::size_t, std::uint32_t row) { rows.push_back(row); }, [](std::uint32_t) {});
    EXPECT_EQ(rows, (std::vector<std::uint32_t>{kNilRow, 6, kNilRow, kNilRow}));

    ASSERT_TRUE(index.reserve(1, kMore));
    EXPECT_EQ(pool.statistics().slab_used_bytes, 0u) << "it has moved to address space of its own";
    index.set(make_entity(kMore, 3), 77);
    EXPECT_EQ(index.find(make_entity(kMore, 3)), 77u);
    for (std::uint32_t i = 1; i <= kCount; ++i) ASSERT_EQ(index.find(make_entity(i, 3)), i - 1);
}

TEST(RowIndex, a_block_that_was_used_before_is_empty_again) {
    PagePool pool;
    for (int life = 0; life < 3; ++life) {
        RowIndex index(RowIndexKind::kPaged, &pool);
        constexpr std::uint32_t kCount =
            59 * 1024 - 1;  // room is made in steps, of which this is the last index of one
        ASSERT_TRUE(index.reserve(kCount, kCount));
        for (std::uint32_t i = 1; i <= kCount; ++i) ASSERT_EQ(index.find_any_generation(make_entity(i, 1)), kNilRow);
        for (std::uint32_t i = 1; i <= kCount; ++i) index.set(make_entity(i, 1), i);
        index.clear(life == 1);
        ASSERT_TRUE(index.reserve(kCount, kCount));
        for (std::uint32_t i = 1; i <= kCount; ++i) ASSERT_EQ(index.find_any_generation(make_entity(i, 1)), kNilRow);
        index.set(make_entity(5, 1), 5);
    }
}

TEST(RowIndex, made_for_few_among_many_it_keeps_to_the_pages_it_touches) {
    PagePool pool;
    RowIndex index(RowIndexKind::kPaged, &pool);
    ASSERT_TRUE(index.reserve(10, std::min(1'000'000u, kMostRows - 1)));
    EXPECT_EQ(pool.statistics().slab_used_bytes, 0u);
}

TEST_P(RowIndexOfKind, clearing_forgets_the_highest_index_that_it_had_room_for) {
    for (const bool release : {false, true}) {
        RowIndex index(GetParam());
        for (const std::uint32_t end : {1024u, 4096u}) {  // room is made in steps
            const Entity highest = make_entity(end - 1, 2);
            ASSERT_TRUE(index.reserve(1, end - 1));
            index.set(highest, end - 1);
            index.clear(release);
            EXPECT_EQ(index.find(highest), kNilRow);
            EXPECT_EQ(index.find_any_generation(highest), kNilRow);
        }
    }
}

TEST_P(RowIndexOfKind, a_cleared_index_finds_none_of_many) {
    RowIndex index(GetParam());
    for (const bool release : {false, true, false}) {
        ASSERT_TRUE(index.reserve(3'000, 3'000));
        for (std::uint32_t i = 1; i <= 3'000; ++i) index.set(make_entity(i, 1), i);
        index.clear(release);
        for (std::uint32_t i = 1; i <= 3'000; ++i) ASSERT_EQ(index.find_any_generation(make_entity(i, 1)), kNilRow);
    }
}

TEST(RowIndex, a_hash_index_counts_the_entities_that_it_has) {
    RowIndex index(RowIndexKind::kHash);
    ASSERT_TRUE(index.reserve(10, 100));
    index.set(make_entity(1, 1), 0);
    const std::size_t entry_bytes = index.memory_use().used_bytes;
    EXPECT_GT(entry_bytes, 0u);
    index.set(make_entity(1, 2), 3);
    EXPECT_EQ(index.memory_use().used_bytes, entry_bytes) << "the newer takes the entry of the older";
    index.set(make_entity(2, 1), 1);
    EXPECT_EQ(index.memory_use().used_bytes, 2 * entry_bytes);
    index.erase(make_entity(2, 1), 7);
    EXPECT_EQ(index.memory_use().used_bytes, 2 * entry_bytes) << "it has another row";
    index.erase(make_entity(2, 1), 1);
    EXPECT_EQ(index.memory_use().used_bytes, entry_bytes);
    index.clear();
    EXPECT_EQ(index.memory_use().used_bytes, 0u);
}

TEST(RowIndex, indices_are_free_when_none_of_them_has_an_entry) {
    RowIndex index(RowIndexKind::kPaged);
    EXPECT_TRUE(index.is_free(5, 100)) << "there is no room yet";
    ASSERT_TRUE(index.reserve(2, 200));
    index.set(make_entity(20, 1), 0);
    index.set(make_entity(30, 1), 1);
    EXPECT_TRUE(index.is_free(21, 29));
    EXPECT_FALSE(index.is_free(21, 30));
    EXPECT_FALSE(index.is_free(20, 29));
    EXPECT_TRUE(index.is_free(31, kIndexMask)) << "beyond the room";
    EXPECT_FALSE(index.is_free({25, 31}, 7));
    EXPECT_FALSE(index.is_free({25, 30}, 6));
    EXPECT_TRUE(index.is_free({21, 29}, 6));
    RowIndex last(RowIndexKind::kPaged);
    ASSERT_TRUE(last.reserve(1, 1023));
    last.set(make_entity(1023, 1), 0);
    EXPECT_FALSE(last.is_free(1023, 2000)) << "the last index that there is room for";
    EXPECT_FALSE(index.is_free({31, 150}, 7)) << "too far apart to look";
}

TEST_P(RowIndexOfKind, an_empty_index_finds_nothing) {
    RowIndex index(GetParam());
    for (const Entity entity : {kNullEntity, make_entity(1, 1), make_entity(kIndexMask, 255), Entity{~EntityBits(0)}}) {
        EXPECT_EQ(index.find(entity), kNilRow);
        EXPECT_EQ(index.find_any_generation(entity), kNilRow);
        index.erase(entity, 0);
        index.erase(entity, kNilRow);
    }
    index.clear();
    index.clear(true);
    EXPECT_EQ(index.memory_use().committed_bytes, 0u);
    EXPECT_EQ(index.memory_use().reserved_bytes, 0u);
}

// req: B12
TEST_P(RowIndexOfKind, stale_null_and_foreign_ids_find_nothing) {
    RowIndex index(GetParam());
    ASSERT_TRUE(index.reserve(10, 100));
    index.set(make_entity(7, 3), 7);
    EXPECT_EQ(index.find(make_entity(7, 3)), 7u);
    EXPECT_EQ(index.find(make_entity(7, 2)), kNilRow) << "an older generation";
    EXPECT_EQ(index.find(make_entity(7, 4)), kNilRow) << "a newer generation";
    EXPECT_EQ(index.find(make_entity(7, 0)), kNilRow) << "a generation that no entity has";
    EXPECT_EQ(index.find(kNullEntity), kNilRow);
    EXPECT_EQ(index.find(make_entity(0, 3)), kNilRow);
    EXPECT_EQ(index.find(make_entity(8, 3)), kNilRow);
    EXPECT_EQ(index.find(make_entity(kIndexMask, 3)), kNilRow);
#if !SHOAL_WIDE_IDS
    EXPECT_EQ(index.find({make_entity(7, 3).id | 0x40000000u}), kNilRow) << "a spare bit is set";
#endif
}

TEST_P(RowIndexOfKind, row_0_and_the_last_row_can_be_told_from_nothing) {
    if (GetParam() == RowIndexKind::kIdentity) GTEST_SKIP() << "its rows are the indices";
    RowIndex index(GetParam());
    ASSERT_TRUE(index.reserve(2, kIndexMask));
    index.set(make_entity(1, 1), 0);
    index.set(make_entity(kIndexMask, 255), kMostRows - 1);
    EXPECT_EQ(index.find(make_entity(1, 1)), 0u);
    EXPECT_EQ(index.find_any_generation(make_entity(1, 9)), 0u);
    EXPECT_EQ(index.find(make_entity(kIndexMask, 255)), kMostRows - 1);
    index.erase(make_entity(1, 1), 0);
    EXPECT_EQ(index.find(make_entity(1, 1)), kNilRow);
}

TEST_P(RowIndexOfKind, erase_leaves_the_entry_of_a_newer_entity_on_the_same_index) {
    RowIndex index(GetParam());
    ASSERT_TRUE(index.reserve(2, 5));
    index.set(make_entity(5, 1), 5);
    index.set(make_entity(5, 2), 5);
    index.erase(make_entity(5, 1), 5);
    EXPECT_EQ(index.find(make_entity(5, 2)), 5u);
    index.erase(make_entity(5, 2), 5);
    EXPECT_EQ(index.find_any_generation(make_entity(5, 2)), kNilRow);
}

TEST_P(RowIndexOfKind, reserving_in_spans_is_enough_for_all_of_them) {
    RowIndex index(GetParam());
    ASSERT_TRUE(index.reserve(10'000, 20'000));
    for (std::uint32_t i = 1; i <= 10'000; ++i) index.set(make_entity(2 * i, 1), 2 * i);
    for (std::uint32_t i = 1; i <= 20'000; ++i) ASSERT_EQ(index.find(make_entity(i, 1)), i % 2 == 0 ? i : kNilRow);
}

TEST_P(RowIndexOfKind, clear_with_release_gives_memory_back) {
    RowIndex index(GetParam());
    ASSERT_TRUE(index.reserve(60'000, 60'000));
    for (std::uint32_t i = 1; i <= 60'000; ++i) index.set(make_entity(i, 1), i);
    const MemoryUse before = index.memory_use();
    EXPECT_GT(before.used_bytes, 0u);
    EXPECT_LE(before.used_bytes, before.committed_bytes);
    EXPECT_LE(before.committed_bytes, before.reserved_bytes);
    index.clear(true);
    EXPECT_EQ(index.memory_use().committed_bytes, 0u);
    EXPECT_EQ(index.find(make_entity(1, 1)), kNilRow);
    ASSERT_TRUE(index.reserve(1, 1));
    index.set(make_entity(1, 1), 1);
    EXPECT_EQ(index.find(make_entity(1, 1)), 1u);
    EXPECT_EQ(index.find(make_entity(2, 1)), kNilRow);
}

#if SHOAL_CHECKED
TEST(RowIndexDeathTest, setting_without_reserving_is_a_bug) {
    RowIndex paged(RowIndexKind::kPaged), hash(RowIndexKind::kHash), identity(RowIndexKind::kIdentity);
    EXPECT_DEATH(paged.set(make_entity(1, 1), 0), "reserved no room");
    EXPECT_DEATH(hash.set(make_entity(1, 1), 0), "reserved no room");
    EXPECT_DEATH(identity.set(make_entity(1, 1), 1), "reserved no room");
    ASSERT_TRUE(identity.reserve(1, 1));
    EXPECT_DEATH(identity.set(make_entity(1, 1), 2), "the row is the entity's index");
}
#endif

TEST(RowIndex, room_for_lower_indices_does_not_hide_what_is_kept_of_higher_ones) {
    RowIndex index(RowIndexKind::kPaged);
    ASSERT_TRUE(index.reserve(1, 5000));
    index.set(make_entity(4000, 1), 7);
    ASSERT_TRUE(index.reserve(1, 10));
    EXPECT_FALSE(index.is_free(3000, 4500));
    EXPECT_TRUE(index.is_free(3000, 3999) && index.is_free(4001, 9000));
    index.clear();
    EXPECT_TRUE(index.is_free(0, 5000));
    EXPECT_EQ(index.find(make_entity(4000, 1)), kNilRow);
}

TEST(RowIndex, the_range_of_many_indices_is_that_of_all_of_them) {
    std::vector<Entity> entities;
    for (std::uint32_t i = 0; i < 3000; ++i) entities.push_back(make_entity(10 + i, 1));
    for (int order = 0; order < 3; ++order) {
        const IndexRange range = index_range(entities);
        EXPECT_EQ(range.lowest, 10u);
        EXPECT_EQ(range.highest, 3009u);
        std::rotate(entities.begin(), entities.begin() + 1100, entities.end());  // the ends are in other thousands
    }
}

}  // namespace
}  // namespace shoal
