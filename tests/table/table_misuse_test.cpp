// Rows that do not exist, and rows that nobody reserved, end the program in every build: they would reach memory.

#include "table_fixture.h"

#include <gtest/gtest.h>

namespace shoal_test {
namespace {

TEST(TableMisuse, rows_that_do_not_exist_cannot_be_marked_or_written) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const Schema schema = mixed_schema(Layout::kApart);
    PagePool pool;
    Table table(schema, pool);
    EXPECT_DEATH(table.stamp_rows({0, 1u << 20}), "the rows do not exist");
    EXPECT_DEATH(table.stamp_rows({3, 2}), "the rows do not exist");
    EXPECT_DEATH(table.write_element(0, 0), "the row does not exist");
    EXPECT_DEATH(table.append_one(make_entity(1, 1)), "not reserved");
    ASSERT_TRUE(table.reserve(1));
    EXPECT_EQ(table.append_one(make_entity(1, 1)), 0u);
    table.stamp_rows({0, 1});
    EXPECT_NE(table.write_element(0, 0), nullptr);
    EXPECT_DEATH(table.write_element(1000, 0), "the column or the row does not exist");
    EXPECT_DEATH(table.occupy(make_entity(2, 1)), "identity index");
    EXPECT_DEATH(table.push_chain(0), "without a chain");
}

TEST(TableMisuse, a_row_that_has_an_owner_gets_no_other) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const Schema schema = mixed_schema(Layout::kApart);
    PagePool pool;
    Table table(schema, pool);
    RowIndex index(RowIndexKind::kIdentity);
    table.attach_index(&index);
    ASSERT_TRUE(table.reserve(2));
    ASSERT_TRUE(index.reserve(1, 1));
    table.occupy(make_entity(1, 1));
    EXPECT_EQ(table.num_holes(), 1u);
    EXPECT_DEATH(table.occupy(make_entity(1, 2)), "only a hole");
}

TEST(TableMisuse, a_row_index_without_room_is_not_written) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    for (const RowIndexKind kind : {RowIndexKind::kPaged, RowIndexKind::kHash, RowIndexKind::kIdentity}) {
        RowIndex index(kind);
        EXPECT_DEATH(index.set(make_entity(5, 1), 5), "reserved no room");
        ASSERT_TRUE(index.reserve(1, 5));
        index.set(make_entity(5, 1), 5);
        EXPECT_EQ(index.find(make_entity(5, 1)), 5u);
    }
}

TEST(TableMisuse, a_pool_that_dies_before_its_tables_ends_the_program) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(
        {
            PagePool pool;
            static_cast<void>(pool.allocate_block(100));
        },
        "must outlive the tables");
}

TEST(TableMisuse, appending_no_rows_is_no_change) {
    const Schema schema = mixed_schema(Layout::kApart);
    PagePool pool;
    Table table(schema, pool);
    EXPECT_TRUE(table.append_unowned(0).empty());
    EXPECT_EQ(table.num_rows(), 0u);
}

}  // namespace
}  // namespace shoal_test
