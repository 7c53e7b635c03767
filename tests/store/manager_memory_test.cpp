// What does not fit is a Status, and changes nothing.

#include "support/address_space.h"
#include "support/manager_testing.h"

#include <gtest/gtest.h>
#include <vector>

namespace shoal_test {
namespace {

template <class T>
struct ManagerMemory : ::testing::Test {};
TYPED_TEST_SUITE(ManagerMemory, AllComponents);

TYPED_TEST(ManagerMemory, a_full_manager_takes_no_more_and_still_sets) {
    constexpr bool kMany = DescriptionOf<TypeParam>::kMany;
    for (const RowIndexKind kind : kinds_of<TypeParam>()) {
        SCOPED_TRACE(kind_name(kind));
        EntityManager entities;
        PagePool pool;
        const std::vector<Entity> made = create(entities, 3000);
        const std::uint32_t capacity = made[1999].index() + (kind == RowIndexKind::kIdentity ? 1 : 0);
        Manager<TypeParam> manager(entities, pool, {.index = kind, .capacity_rows = capacity});
        const std::span<const Entity> fitting =
            std::span(made).first(kind == RowIndexKind::kIdentity ? 2000 : capacity);
        ASSERT_TRUE(manager.add(fitting, make_value<TypeParam>(1, 1)).ok());

        const Result<AddCounts> counts = manager.add(made, make_value<TypeParam>(2, 2));
        ASSERT_FALSE(counts.ok());
        EXPECT_NE(counts.message().find("at most"), std::string_view::npos) << counts.message();
        EXPECT_FALSE(manager.add(made[2999]).ok());
        EXPECT_EQ(manager.num_components(), fitting.size());
        for (const Entity entity : fitting) ASSERT_EQ(numbers_of(manager, entity), std::vector<std::uint64_t>{1});
        ASSERT_TRUE(manager.core().validate().ok());

        // Dead ones, and those that are there already, need no room.
        const Entity dead = made[2998];
        entities.destroy(dead);
        EXPECT_EQ(manager.add({&dead, 1})->num_skipped, 1u);
        if (kMany) continue;
        const Result<AddCounts> set = manager.add(fitting, make_value<TypeParam>(3, 3));
        ASSERT_TRUE(set.ok()) << set.message();
        EXPECT_EQ(set->num_set, fitting.size());
        EXPECT_TRUE(*manager.add(fitting[7], make_value<TypeParam>(4, 4)));
        EXPECT_TRUE(manager.remove(fitting[3]));
        const Entity mixed[] = {fitting[3], dead, fitting[4], kNullEntity};
        EXPECT_EQ(manager.add(std::span<const Entity>(mixed))->num_added, 1u)
            << "there was room for the one that is new";
    }
}

TYPED_TEST(ManagerMemory, foreign_ids_in_a_span_ask_for_no_room) {
    for (const RowIndexKind kind : kinds_of<TypeParam>()) {
        EntityManager entities;
        PagePool pool;
        Manager<TypeParam> manager(entities, pool, {.index = kind, .capacity_rows = 100});
        std::vector<Entity> span = create(entities, 10);
        span.push_back(make_entity(static_cast<std::uint32_t>(kIndexMask), 3));
        const Result<AddCounts> counts = manager.add(span);
        ASSERT_TRUE(counts.ok()) << counts.message();
        EXPECT_EQ(counts->num_added, 10u);
        EXPECT_EQ(counts->num_skipped, 1u);
        EXPECT_LE(manager.num_rows(), 11u);
        EXPECT_LT(manager.core().index().memory_use().used_bytes, 10'000u);
    }
}

/// In a process with little address space: adds until it fails, and returns 0 if nothing had changed then.
template <class T>
int fill_address_space(EntityManager& entities, RowIndexKind kind) {
    PagePool pool;
    Manager<T> manager(entities, pool, {.index = kind});
    std::vector<Entity> span(20'000);
    std::uint32_t num_added = 0;
    for (;;) {
        if (!entities.create(span)) return 2;
        const Result<AddCounts> counts = manager.add(span, make_value<T>(7, 7));
        if (!counts) {
            if (counts.message().empty()) return 3;
            break;
        }
        num_added += counts->num_added;
    }
    if (num_added == 0) return 4;
    if (manager.num_components() != num_added || manager.has(span[0]) || manager.has(span.back())) return 5;
    if (!manager.core().validate()) return 6;
    const T expected = make_value<T>(7, 7);
    for (const Entity owner : manager.entities())
        if (owner && !same_value(manager.value(manager.instance(owner)), expected)) return 7;
    // What went makes room for what comes.
    while (manager.num_components() > num_added / 2) manager.remove(Instance{manager.num_rows() - 1});
    if (kind != RowIndexKind::kIdentity && !manager.add(std::span(span).first(1000))) return 9;
    return manager.core().validate().ok() ? 0 : 10;
}

TYPED_TEST(ManagerMemory, what_room_was_made_for_needs_no_more_memory) {
    for (const RowIndexKind kind : kinds_of<TypeParam>()) {
        SCOPED_TRACE(kind_name(kind));
        EntityManager entities;
        PagePool pool;
        Manager<TypeParam> manager(entities, pool, {.index = kind, .capacity_rows = 300'000});
        ASSERT_TRUE(manager.reserve(50'000));
        const std::size_t before = manager.core().table().memory_use().committed_bytes;
        const std::uint64_t placement = manager.core().table().placement();
        ASSERT_TRUE(manager.add(create(entities, 50'000)).ok());
        EXPECT_EQ(manager.core().table().placement(), placement) << "no column has moved";
        EXPECT_GE(before, manager.core().table().memory_use().used_bytes);
        EXPECT_FALSE(manager.reserve(300'000));
    }
}

TYPED_TEST(ManagerMemory, without_address_space_adding_fails_and_changes_nothing) {
    if (kSanitized) GTEST_SKIP() << "sanitizers need the whole address space";
    if (sizeof(EntityBits) == 8) GTEST_SKIP() << "wide ids reserve more";
    for (const RowIndexKind kind : kinds_of<TypeParam>()) {
        SCOPED_TRACE(kind_name(kind));
        EntityManager entities;  // which has more ids than there is room for rows
        const int result =
            with_address_space(std::size_t(100) << 20, [&] { return fill_address_space<TypeParam>(entities, kind); });
        EXPECT_EQ(result, 0);
    }
}

/// In a process with little address space: makes ten managers with 20,000 rows each, and returns 0 if there is room for all.
template <class T>
int fill_ten_managers() {
    EntityManager entities;
    PagePool pool;
    std::vector<Entity> span(20'000);
    if (!entities.create(span)) return 2;
    Array<Manager<T>*> managers{Owner("test")};
    int result = 0;
    for (int i = 0; i < 10 && result == 0; ++i) {
        managers.push_back(new Manager<T>(entities, pool));
        for (std::size_t first = 0; first < span.size() && result == 0; first += 1000)
            if (!managers.back()->add(std::span(span).subspan(first, 1000), make_value<T>(7, 7)).ok()) result = 3 + i;
    }
    for (Manager<T>* manager : managers) delete manager;
    return result;
}

TYPED_TEST(ManagerMemory, where_address_space_is_limited_the_first_tables_leave_room_for_others) {
    if (kSanitized) GTEST_SKIP() << "sanitizers need the whole address space";
    if (sizeof(EntityBits) == 8) GTEST_SKIP() << "wide ids reserve more";
    EXPECT_EQ(with_address_space(std::size_t(400) << 20, fill_ten_managers<TypeParam>), 0);
}

TYPED_TEST(ManagerMemory, a_manager_leaks_nothing) {
    const LeakCheck leaks;
    for (const RowIndexKind kind : kinds_of<TypeParam>()) {
        EntityManager entities;
        PagePool pool;
        Manager<TypeParam> manager(entities, pool, {.index = kind});
        const std::vector<Entity> made = create(entities, 10'000);
        ASSERT_TRUE(manager.add(made).ok());
        entities.destroy(std::span(made).first(5000));
        Settler().settle(manager.core());
        EXPECT_GT(bookkeeping_bytes(), 0u);
    }
}

}  // namespace
}  // namespace shoal_test
