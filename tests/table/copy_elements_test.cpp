// Elements of every size copied in every way, against one memcpy each.

#include "shoal/table/detail/copy_elements.h"

#include "support/testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

namespace shoal {
namespace {

using namespace shoal_test;

constexpr std::size_t kSizes[] = {1, 2, 3, 4, 5, 8, 12, 16, 20, 48, 300};

std::vector<std::byte> random_bytes(std::size_t count, Random& random) {
    std::vector<std::byte> result(count);
    for (std::byte& byte : result) byte = static_cast<std::byte>(random.next());
    return result;
}

/// `count` different rows below `end`, consecutive or listed.
struct SomeRows {
    std::vector<std::uint32_t> rows;
    bool listed;

    SomeRows(std::uint32_t count, std::uint32_t end, Random& random) : rows(end), listed(random.below(2) == 0) {
        std::iota(rows.begin(), rows.end(), 0u);
        if (listed)
            for (std::uint32_t i = end; i > 1; --i) std::swap(rows[i - 1], rows[random.below(i)]);
        else
            rows.erase(rows.begin(), rows.begin() + random.below(end - count + 1));
        rows.resize(count);
    }
    RowList list() const {
        if (listed) return std::span(rows);
        return RowRange{rows.empty() ? 0 : rows.front(), rows.empty() ? 0 : rows.back() + 1};
    }
};

TEST(CopyElements, copies_what_one_memcpy_each_would) {
    SCOPED_TRACE(seed_text());
    Random random(seed());
    for (const std::size_t bytes : kSizes)
        for (const std::size_t stride : {bytes, bytes + 7, std::size_t(0)})
            for (int round = 0; round < 20; ++round) {
                constexpr std::uint32_t kRows = 200;
                const std::uint32_t count = random.below(kRows + 1);
                const SomeRows to_rows(count, kRows, random), from_rows(count, kRows, random);
                const std::vector<std::byte> from = random_bytes(kRows * (bytes + 7), random);
                std::vector<std::byte> to = random_bytes(kRows * bytes, random), expected = to;
                for (std::uint32_t i = 0; i < count; ++i)
                    std::memcpy(expected.data() + to_rows.rows[i] * bytes, from.data() + from_rows.rows[i] * stride,
                                bytes);
                copy_elements(to.data(), to_rows.list(), {from.data(), stride}, from_rows.list(), bytes);
                ASSERT_EQ(to, expected) << bytes << " bytes, stride " << stride << ", " << count << " rows";
            }
}

TEST(CopyElements, consecutive_rows_may_overlap) {
    Random random(1);
    for (const std::size_t bytes : kSizes) {
        std::vector<std::byte> column = random_bytes(100 * bytes, random), expected = column;
        std::memmove(expected.data() + 10 * bytes, expected.data() + 15 * bytes, 80 * bytes);
        copy_elements(column.data(), RowRange{10, 90}, {column.data(), bytes}, RowRange{15, 95}, bytes);
        ASSERT_EQ(column, expected);
    }
}

TEST(CopyElements, one_element_may_be_copied_onto_itself) {
    Random random(1);
    for (const std::size_t bytes : kSizes) {
        std::vector<std::byte> element = random_bytes(bytes, random);
        const std::vector<std::byte> expected = element;
        copy_element(element.data(), element.data(), bytes);
        ASSERT_EQ(element, expected);
    }
}

TEST(CopyElements, filling_writes_as_many_as_were_asked_for) {
    Random random(1);
    for (const std::size_t bytes : kSizes)
        for (const std::size_t count : {0u, 1u, 2u, 3u, 1000u, 5000u}) {
            const std::vector<std::byte> element = random_bytes(bytes, random);
            std::vector<std::byte> column((count + 1) * bytes), expected = column;
            for (std::size_t i = 0; i < count; ++i) std::memcpy(expected.data() + i * bytes, element.data(), bytes);
            fill_elements(column.data(), element.data(), count, bytes);
            ASSERT_EQ(column, expected);
        }
}

TEST(CopyElements, filling_takes_elements_larger_than_what_is_copied_at_once) {
    Random random(1);
    for (const std::size_t bytes : {4095u, 4096u, 4097u, 10'000u}) {
        const std::vector<std::byte> element = random_bytes(bytes, random);
        std::vector<std::byte> column(5 * bytes);
        fill_elements(column.data(), element.data(), 5, bytes);
        for (std::size_t i = 0; i < 5; ++i)
            ASSERT_EQ(std::memcmp(column.data() + i * bytes, element.data(), bytes), 0) << bytes << ", " << i;
    }
}

TEST(ColumnsBySize, visits_each_column_once_with_its_size_those_of_one_usual_size_side_by_side) {
    SCOPED_TRACE(seed_text());
    Random random(seed());
    for (int round = 0; round < 100; ++round) {
        ColumnsBySize columns("test");
        const std::uint32_t count = random.below(12);
        for (std::uint16_t c = 0; c < count; ++c)
            columns.add({c, 0, static_cast<std::uint32_t>(kSizes[random.below(std::size(kSizes))])});
        std::vector<ColumnsBySize::Column> order(columns.begin(), columns.end());
        std::vector<std::size_t> sizes;
        std::vector<bool> visited(count);
        columns.for_each(order.data(), columns.ends_in(order.data()),
                         [&]<std::size_t kBytes>(const ColumnsBySize::Column& column, std::size_t bytes) {
                             EXPECT_EQ(column.bytes, bytes);
                             EXPECT_TRUE(kBytes == 0 || kBytes == bytes);
                             EXPECT_FALSE(visited[column.from]);
                             visited[column.from] = true;
                             sizes.push_back(kBytes == 0 ? 1000 : kBytes);
                         });
        EXPECT_EQ(sizes.size(), count);
        EXPECT_TRUE(std::is_sorted(sizes.begin(), sizes.end()));
    }
}

}  // namespace
}  // namespace shoal
