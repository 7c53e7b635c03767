// What a table tells of its writes: stamps by column and block, and the list of structural changes.

#include "table/table_fixture.h"

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

}  // namespace
}  // namespace shoal
