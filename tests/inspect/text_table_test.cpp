#include "shoal/inspect/text_table.h"

#include <gtest/gtest.h>

#include <cmath>

namespace {

using namespace shoal;

TEST(TextTable, thousands_are_parted_by_commas) {
    EXPECT_EQ(count_text(0), "0");
    EXPECT_EQ(count_text(999), "999");
    EXPECT_EQ(count_text(1000), "1,000");
    EXPECT_EQ(count_text(1234567), "1,234,567");
    EXPECT_EQ(count_text(~std::uint64_t(0)), "18,446,744,073,709,551,615");
}

TEST(TextTable, bytes_have_a_unit_and_never_four_digits_before_the_point) {
    EXPECT_EQ(bytes_text(0), "0 B");
    EXPECT_EQ(bytes_text(1023), "1023 B");
    EXPECT_EQ(bytes_text(1024), "1.0 KiB");
    EXPECT_EQ(bytes_text(1536), "1.5 KiB");
    EXPECT_EQ(bytes_text((1 << 20) - 1), "1.0 MiB");
    EXPECT_EQ(bytes_text(std::uint64_t(5) << 30), "5.0 GiB");
}

TEST(TextTable, what_is_not_finite_is_a_dash) {
    EXPECT_EQ(decimal_text(2.345, 1), "2.3");
    EXPECT_EQ(decimal_text(std::nan(""), 1), "-");
    EXPECT_EQ(decimal_text(INFINITY, 1), "-");
}

TEST(TextTable, the_first_column_is_aligned_left_and_the_others_right) {
    TextTable table({"pass", "rows"});
    EXPECT_TRUE(table.empty());
    table.add_row({"simulate", "7"});
    table.add_row({"flöße", "12,345"});
    EXPECT_FALSE(table.empty());
    EXPECT_EQ(table.text(),
              "pass        rows\n"
              "simulate       7\n"
              "flöße     12,345\n");
    TextTable short_one({"a", "n"});
    short_one.add_row({"äöü", "1"});
    EXPECT_EQ(short_one.text(), "a    n\näöü  1\n") << "characters count, not bytes";
}

}  // namespace
