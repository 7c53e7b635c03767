// Many rows at once: new orders, many links, and removing by lists and ranges, against doing it one by one.

#include "support/address_space.h"
#include "table/table_fixture.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace shoal {
namespace {

using namespace shoal_test;

/// A table with rows that differ, and what it should hold.
struct Rows {
    PagePool pool;
    Schema schema = mixed_schema(Layout::kApart);
    RowIndex index{RowIndexKind::kPaged};
    Table table;
    std::vector<ModelRow> model;

    explicit Rows(bool tree) : table(schema, pool, {.tree = tree}) { table.attach_index(&index); }

    void append(std::uint32_t count, Random& random) {
        EXPECT_TRUE(table.reserve(count).ok());
        EXPECT_TRUE(index.reserve(count, table.num_rows() + count).ok());
        for (std::uint32_t i = 0; i < count; ++i) {
            const Entity owner = make_entity(table.num_rows() + 1, 1);
            model.push_back({owner, random_image(schema, random)});
            const std::uint32_t row = table.append({&owner, 1});
            table.fill({row, row + 1}, model.back().image.data());
            index.set(owner, row);
        }
    }
};

std::vector<std::uint32_t> links_of(const Table& table) {
    std::vector<std::uint32_t> all;
    for (const LinkColumn column :
         {LinkColumn::kTreeParent, LinkColumn::kTreeFirstChild, LinkColumn::kTreeNext, LinkColumn::kTreePrevious})
        all.insert(all.end(), table.links(column).begin(), table.links(column).end());
    return all;
}

std::vector<std::uint32_t> random_parents(std::uint32_t count, Random& random) {
    std::vector<std::uint32_t> parents(count, kNilRow);
    for (std::uint32_t i = 1; i < count; ++i)
        if (random.below(4) != 0) parents[i] = random.below(i);
    return parents;
}

}  // namespace

TEST(TableBulk, links_made_at_once_are_those_made_one_by_one) {
    SCOPED_TRACE(seed_text());
    Random random(seed());
    for (int round = 0; round < 200; ++round) {
        Rows at_once(true), singly(true);
        const std::uint32_t first = random.below(5), count = random.below(30);
        at_once.append(first + count, random);
        singly.append(first + count, random);
        const std::vector<std::uint32_t> parents = random_parents(count, random);
        at_once.table.link_trees(first, parents);
        for (std::uint32_t i = count; i-- > 0;)
            if (parents[i] != kNilRow) singly.table.link_tree(first + i, first + parents[i]);
        ASSERT_EQ(links_of(at_once.table), links_of(singly.table));
        expect_valid(at_once.table);
    }
}

TEST(TableBulk, any_order_takes_columns_links_and_index_along) {
    SCOPED_TRACE(seed_text());
    Random random(seed());
    for (int round = 0; round < 100; ++round) {
        const std::uint32_t begin = random.below(4), count = random.below(40), end = begin + count;
        Rows rows(true);
        rows.append(end + 3, random);
        const std::vector<std::uint32_t> parents = random_parents(count, random);
        std::vector<std::uint32_t> from(count);
        std::iota(from.begin(), from.end(), begin);
        for (std::uint32_t i = count; round % 3 != 0 && i-- > 1;) std::swap(from[i], from[random.below(i + 1)]);
        if (round % 3 == 0 && count != 0) std::rotate(from.begin(), from.begin() + 1, from.end());  // one long cycle
        // An owner that died, and a newer entity on its index, which lives elsewhere.
        const Entity newer = make_entity(begin + 1, 2);
        rows.table.link_trees(begin, parents);
        if (round % 2 == 0) rows.index.set(newer, end);
        std::vector<ModelRow> expected = rows.model;
        for (std::uint32_t i = 0; i < count; ++i) expected[begin + i] = rows.model[from[i]];
        rows.table.permute({begin, end}, from);
        expect_equal(rows.table, expected);
        for (std::uint32_t row = 0; row < rows.table.num_rows(); ++row) {
            const bool lost = round % 2 == 0 && expected[row].owner.index() == newer.index();
            ASSERT_EQ(rows.index.find(expected[row].owner), lost ? kNilRow : row);
        }
        for (std::uint32_t i = 0; i < count; ++i) {
            const std::uint32_t parent = rows.table.links(LinkColumn::kTreeParent)[i + begin];
            const std::uint32_t above = parents[from[i] - begin];
            ASSERT_EQ(parent == kNilRow ? kNilRow : from[parent - begin], above == kNilRow ? kNilRow : begin + above);
        }
    }
}

TEST(TableBulk, a_million_rows_turn_by_one_without_memory_for_a_copy) {
    if (kSanitized) GTEST_SKIP() << "sanitizers need the whole address space";
    PagePool pool;
    const Schema schema = uniform_schema(FieldType::kUint32, 1);
    Table table(schema, pool);
    constexpr std::uint32_t kRows = 1'000'000;
    append_filled(table, kRows, Image(schema.struct_bytes()));
    std::vector<std::uint32_t> from(kRows);
    std::iota(from.begin(), from.end(), kNilRow);  // row 1 becomes what row 0 was
    from[0] = kRows - 1;
    const auto turn = [&] {
        table.permute({0, kRows}, from);
        return table.entities()[0] == make_entity(kRows, 1) && table.entities()[kRows - 1] == make_entity(kRows - 1, 1);
    };
    // A mark for each row takes 1 MB, and a copy of the owners 8 MB.
    EXPECT_EQ(with_address_space(3 * kRows, [&] { return int(turn()); }), 1);
    EXPECT_TRUE(turn());
}

TEST(TableBulk, rows_removed_by_list_or_range_leave_the_others_whole) {
    SCOPED_TRACE(seed_text());
    Random random(seed());
    for (int round = 0; round < 300; ++round) {
        Rows rows(false);
        const std::uint32_t num_rows = 1 + random.below(200);
        rows.append(num_rows, random);
        std::vector<std::uint32_t> gone;
        if (round % 2 == 0) {
            for (std::uint32_t row = 0; row < num_rows; ++row)
                if (random.below(1 + static_cast<std::uint32_t>(round) % 5) == 0) gone.push_back(row);
            for (std::size_t i = gone.size(); i-- > 1;)
                std::swap(gone[i], gone[random.below(static_cast<std::uint32_t>(i) + 1)]);
        } else {
            const std::uint32_t begin = random.below(num_rows), count = random.below(num_rows - begin + 1);
            for (std::uint32_t row = begin; row < begin + count; ++row) gone.push_back(row);
        }
        std::vector<ModelRow> left;
        for (std::uint32_t row = 0; row < num_rows; ++row)
            if (std::find(gone.begin(), gone.end(), row) == gone.end()) left.push_back(rows.model[row]);
        for (const std::uint32_t row : gone) rows.index.erase(rows.model[row].owner, row);
        if (round % 2 == 0)
            rows.table.remove_rows(std::span<const std::uint32_t>(gone));
        else if (!gone.empty())
            rows.table.remove_rows(RowRange{gone.front(), gone.front() + static_cast<std::uint32_t>(gone.size())});
        ASSERT_EQ(rows.table.num_rows(), left.size());
        for (const ModelRow& row : left) {
            const std::uint32_t at = rows.index.find(row.owner);
            ASSERT_NE(at, kNilRow);
            ASSERT_EQ(rows.table.entities()[at], row.owner);
            ASSERT_EQ(image_of(rows.table, at), row.image);
        }
        expect_valid(rows.table);
    }
}

#if SHOAL_CHECKED
TEST(TableBulkDeathTest, a_row_named_twice_is_a_bug) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    Rows rows(false);
    Random random(1);
    rows.append(8, random);
    const std::vector<std::uint32_t> twice = {1, 2, 1}, last_twice = {7, 7};
    EXPECT_DEATH(rows.table.remove_rows(std::span(twice)), "named twice");
    EXPECT_DEATH(rows.table.remove_rows(std::span(last_twice)), "named twice");
}
#endif

TEST(TableBulkDeathTest, an_order_that_reaches_out_of_its_rows_is_a_bug) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    Rows rows(true);
    Random random(1);
    rows.append(8, random);
    EXPECT_DEATH(rows.table.permute({2, 5}, std::vector<std::uint32_t>{2, 3, 5}), "comes from outside");
    rows.table.link_tree(3, 6);
    EXPECT_DEATH(rows.table.permute({2, 5}, std::vector<std::uint32_t>{4, 3, 2}), "linked to one that stays");
}

}  // namespace shoal
