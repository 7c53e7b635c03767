// What a table tells of its writes: stamps by column and block, and the list of structural changes.

#include "table/table_fixture.h"

#include <algorithm>
#include <vector>

namespace shoal {
namespace {

using namespace shoal_test;

TEST(TableStamps, exactly_the_blocks_written_change) {
    SCOPED_TRACE(seed_text());
    Random random(seed());
    PagePool pool;
    const Schema schema = uniform_schema(FieldType::kFloat, 3);
    Table table(schema, pool);
    constexpr std::uint32_t kNumBlocks = 8, kMaxRows = kNumBlocks * kRowsPerStampBlock;
    std::uint64_t expected[3][kNumBlocks] = {};
    std::uint64_t now = 1;
    const auto stamp = [&](std::uint32_t column, RowRange rows) {
        for (std::uint32_t row = rows.begin; row < rows.end; ++row) expected[column][row / kRowsPerStampBlock] = now;
    };
    const auto stamp_all = [&](RowRange rows) {
        for (std::uint32_t c = 0; c < 3; ++c) stamp(c, rows);
    };
    const Image image(schema.struct_bytes());
    for (std::int64_t i = scaled_operations(5000); i > 0; --i) {
        table.set_stamp(++now);
        const std::uint32_t num_rows = table.num_rows();
        const std::uint32_t c = random.below(3);
        const std::uint32_t a = num_rows == 0 ? 0 : random.below(num_rows),
                            b = num_rows == 0 ? 0 : random.below(num_rows);
        const RowRange rows{std::min(a, b), std::max(a, b)};
        const std::uint32_t choice = num_rows == 0 ? 0 : random.below(8);
        if (choice == 0) {
            const std::uint32_t count = std::min(random.below(2000), kMaxRows - num_rows);
            append_filled(table, count, image);
            stamp_all({num_rows, num_rows + count});
        } else if (choice == 1) {
            append_singly(table, num_rows < kMaxRows, image);
            stamp_all({num_rows, table.num_rows()});
        } else if (choice == 2) {
            table.remove(a);
            if (a + 1 != num_rows) stamp_all({a, a + 1});
        } else if (choice == 3) {
            table.swap(a, b);
            if (a != b) stamp_all({a, a + 1}), stamp_all({b, b + 1});
        } else if (choice == 4) {
            table.write_element(c, a);
            stamp(c, {a, a + 1});
        } else if (choice == 5) {
            table.write_column(c, rows);
            stamp(c, rows);
        } else if (choice == 6) {
            table.mark_written(c, rows);
            stamp(c, rows);
        } else {
            table.fill(rows, image.data());
            stamp_all(rows);
        }
        for (std::uint32_t column = 0; column < 3; ++column)
            for (std::uint32_t block = 0; block * kRowsPerStampBlock < table.num_rows(); ++block)
                ASSERT_EQ(table.written_stamp(column, block), expected[column][block])
                    << "operation " << choice << ", column " << column << ", block " << block;
    }
    expect_valid(table);
}

TEST(TableStamps, a_permutation_stamps_its_rows) {
    constexpr std::uint32_t kBlock = kRowsPerStampBlock;
    PagePool pool;
    const Schema schema = uniform_schema(FieldType::kFloat, 2);
    Table table(schema, pool);
    append_filled(table, 4 * kBlock, Image(schema.struct_bytes()));
    table.set_stamp(7);
    std::vector<std::uint32_t> from;
    for (std::uint32_t row = kBlock + 100; row-- > kBlock - 100;) from.push_back(row);
    table.permute({kBlock - 100, kBlock + 100}, from);
    for (std::uint32_t block = 0; block < 4; ++block)
        EXPECT_EQ(table.placed_stamp(block), block < 2 ? 7u : 1u) << block;
}

TEST(TableStamps, rows_that_are_removed_together_stamp_the_places_that_others_move_to) {
    constexpr std::uint32_t kBlock = kRowsPerStampBlock, kNumRows = 8 * kBlock;
    const std::uint32_t scattered[] = {5, 3 * kBlock + 7, 3 * kBlock + 900,
                                       kNumRows - 2};  // the last one leaves no gap
    const struct {
        RowList rows;
        std::vector<std::uint32_t> stamped;
    } cases[] = {{RowList(scattered), {0, 3}},
                 {RowList(RowRange{2 * kBlock - 3, 2 * kBlock + 4}), {1, 2}},
                 {RowList(RowRange{kNumRows - 100, kNumRows}), {}}};
    PagePool pool;
    const Schema schema = uniform_schema(FieldType::kFloat, 2);
    const Image image(schema.struct_bytes());
    for (const auto& [rows, stamped] : cases) {
        Table table(schema, pool);
        append_filled(table, kNumRows, image);
        table.set_stamp(7);
        table.remove_rows(rows);
        for (std::uint32_t block = 0; block < 7; ++block) {
            const bool is_stamped = std::find(stamped.begin(), stamped.end(), block) != stamped.end();
            EXPECT_EQ(table.written_stamp(0, block), is_stamped ? 7u : 1u) << block;
            EXPECT_EQ(table.placed_stamp(block), is_stamped ? 7u : 1u) << block;
        }
    }
}

TEST(TableStamps, a_hole_that_a_row_leaves_is_marked) {
    PagePool pool;
    const Schema schema = uniform_schema(FieldType::kFloat, 1);
    RowIndex index(RowIndexKind::kIdentity, &pool);
    Table table(schema, pool);
    table.attach_index(&index);
    ASSERT_TRUE(index.reserve(100, 100) && table.reserve(101));
    for (std::uint32_t i = 1; i <= 100; ++i) table.occupy(make_entity(i, 1));
    for (const std::uint32_t row : {50u, 99u, 1u}) {
        table.set_stamp(table.stamp() + 1);
        table.remove(row);
        EXPECT_EQ(table.placed_stamp(0), table.stamp()) << row;
    }
}

}  // namespace
}  // namespace shoal
