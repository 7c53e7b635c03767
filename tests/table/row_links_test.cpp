// Links alone, without a table around them: columns in plain arrays.

#include "shoal/table/detail/row_links.h"

#include "support/testing.h"

#include <gtest/gtest.h>

#include <list>
#include <vector>

namespace shoal {
namespace {

using namespace shoal_test;

/// Link columns, and rows that are moved by copying all of them.
class LinkedRows {
public:
    LinkedRows(bool chain, bool tree, std::uint32_t num_rows) : links_(chain, tree), columns_(links_.num_columns()) {
        std::vector<std::uint32_t*> places;
        for (std::vector<std::uint32_t>& column : columns_) {
            column.resize(num_rows);
            places.push_back(column.data());
        }
        links_.place(places);
        links_.clear({0, num_rows});
        serials_.resize(num_rows);
        for (std::uint32_t row = 0; row < num_rows; ++row) serials_[row] = row;
    }

    RowLinks& links() { return links_; }
    std::uint32_t num_rows() const { return static_cast<std::uint32_t>(serials_.size()); }
    std::uint32_t serial(std::uint32_t row) const { return serials_[row]; }
    std::uint32_t row_of(std::uint32_t serial) const {
        for (std::uint32_t row = 0; row < num_rows(); ++row)
            if (serials_[row] == serial) return row;
        return kNilRow;
    }
    std::uint32_t at(LinkColumn link, std::uint32_t row) const { return links_.column(link)[row]; }

    void remove(std::uint32_t row) {
        links_.leave(row);
        const std::uint32_t last = num_rows() - 1;
        if (row != last) {
            links_.move(last, row);
            for (std::vector<std::uint32_t>& column : columns_) column[row] = column[last];
            serials_[row] = serials_[last];
        }
        serials_.pop_back();
    }
    void swap(std::uint32_t a, std::uint32_t b) {
        links_.begin_swap(a, b);
        for (std::vector<std::uint32_t>& column : columns_) std::swap(column[a], column[b]);
        std::swap(serials_[a], serials_[b]);
        links_.end_swap(a, b);
    }
    void expect_valid() const {
        const Status status = links_.validate(num_rows(), "test");
        ASSERT_TRUE(status.ok()) << status.message();
    }

private:
    RowLinks links_;
    std::vector<std::vector<std::uint32_t>> columns_;
    std::vector<std::uint32_t> serials_;  // by row
};

std::list<std::uint32_t> chain_from(const LinkedRows& rows, std::uint32_t head) {
    std::list<std::uint32_t> serials;
    for (std::uint32_t row = head; row != kNilRow; row = rows.at(LinkColumn::kChainNext, row))
        serials.push_back(rows.serial(row));
    return serials;
}

TEST(RowLinks, chains_agree_with_lists_whatever_rows_leave_move_or_swap) {
    SCOPED_TRACE(seed_text());
    Random random(seed());
    for (int round = 0; round < 100; ++round) {
        LinkedRows rows(true, false, 40);
        std::list<std::uint32_t> chains[3];
        for (std::uint32_t row = 0; row < 40; ++row) {
            std::list<std::uint32_t>& chain = chains[random.below(3)];
            rows.links().push_chain(row, chain.empty() ? kNilRow : rows.row_of(chain.front()));
            chain.push_front(row);
        }
        while (rows.num_rows() > 0) {
            const std::uint32_t a = random.below(rows.num_rows()), b = random.below(rows.num_rows());
            if (random.below(2) == 0) {
                if (a != b) rows.swap(a, b);
            } else {
                for (std::list<std::uint32_t>& chain : chains) chain.remove(rows.serial(a));
                rows.remove(a);
            }
            rows.expect_valid();
            for (const std::list<std::uint32_t>& chain : chains) {
                if (chain.empty()) continue;
                ASSERT_EQ(chain_from(rows, rows.row_of(chain.front())), chain);
            }
        }
    }
}

TEST(RowLinks, a_row_that_leaves_its_chain_names_the_row_after_it) {
    LinkedRows rows(true, false, 3);
    rows.links().push_chain(0, kNilRow);
    rows.links().push_chain(1, 0);
    rows.links().push_chain(2, 1);
    EXPECT_EQ(rows.links().leave(2), 1u);
    EXPECT_EQ(rows.links().leave(0), kNilRow);
    EXPECT_EQ(rows.at(LinkColumn::kChainNext, 1), kNilRow);
    EXPECT_EQ(rows.at(LinkColumn::kChainPrevious, 1), kNilRow);
}

TEST(RowLinks, the_groups_do_not_know_each_other) {
    LinkedRows rows(true, true, 4);
    EXPECT_EQ(rows.links().num_columns(), 6u);
    rows.links().push_chain(0, kNilRow);
    rows.links().push_chain(1, 0);
    rows.links().link_tree(3, 2);
    rows.links().link_tree(1, 2);
    rows.swap(1, 3);
    rows.expect_valid();
    EXPECT_EQ(rows.at(LinkColumn::kChainNext, 3), 0u);
    EXPECT_EQ(rows.at(LinkColumn::kTreeFirstChild, 2), 3u);
    EXPECT_EQ(rows.at(LinkColumn::kTreeNext, 3), 1u);
    rows.remove(2);
    rows.expect_valid();
    EXPECT_EQ(rows.at(LinkColumn::kTreeParent, 1), kNilRow);
    EXPECT_EQ(rows.at(LinkColumn::kChainNext, 2), 0u) << "row 3 moved to 2";
}

TEST(RowLinks, validate_finds_a_link_that_does_not_lead_back) {
    for (const LinkColumn broken : {LinkColumn::kChainNext, LinkColumn::kChainPrevious, LinkColumn::kTreeParent,
                                    LinkColumn::kTreeFirstChild, LinkColumn::kTreePrevious}) {
        LinkedRows rows(true, true, 4);
        rows.links().push_chain(0, kNilRow);
        rows.links().push_chain(1, 0);
        rows.links().link_tree(1, 0);
        rows.links().link_tree(2, 0);
        rows.expect_valid();
        const_cast<std::uint32_t&>(rows.links().column(broken)[1]) = 3;
        EXPECT_FALSE(rows.links().validate(4, "test").ok()) << static_cast<int>(broken);
        const_cast<std::uint32_t&>(rows.links().column(broken)[1]) = 4;
        EXPECT_FALSE(rows.links().validate(4, "test").ok()) << static_cast<int>(broken);
    }
}

TEST(RowLinks, new_rows_are_linked_to_nothing) {
    LinkedRows rows(true, true, 3);
    for (int link = 0; link < 6; ++link)
        for (std::uint32_t row = 0; row < 3; ++row) EXPECT_EQ(rows.at(static_cast<LinkColumn>(link), row), kNilRow);
}

}  // namespace
}  // namespace shoal
