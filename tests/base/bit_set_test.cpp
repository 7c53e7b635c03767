#include "shoal/base/detail/bit_set.h"

#include "support/testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace shoal {
namespace {

using shoal_test::LeakCheck;

BitSet make(std::initializer_list<std::size_t> bits) {
    BitSet set{Owner("set")};
    for (const std::size_t bit : bits) set.set(bit);
    return set;
}

TEST(BitSet, an_empty_set_holds_no_memory_and_every_bit_is_0) {
    const std::size_t held_bytes = bookkeeping_bytes();
    BitSet set{Owner("set")};
    set.reset(1000);
    set.set_range(1000, 1000);
    EXPECT_EQ(bookkeeping_bytes(), held_bytes);
    EXPECT_FALSE(set.test(0) || set.test(1u << 31));
    EXPECT_TRUE(set.empty() && set.words().empty());
    EXPECT_EQ(set.count(), 0u);
}

TEST(BitSet, test_and_set_tells_whether_the_bit_was_set) {
    BitSet set{Owner("set")};
    EXPECT_FALSE(set.test_and_set(64));
    EXPECT_TRUE(set.test_and_set(64));
    EXPECT_FALSE(set.test_and_set(63));
    EXPECT_EQ(set.words()[0], std::uint64_t(1) << 63);
    EXPECT_EQ(set.words()[1], 1u);
}

TEST(BitSet, ranges_are_set_across_words_and_end_before_their_end) {
    for (const std::size_t begin : {0, 1, 63, 64, 65})
        for (const std::size_t end : {0, 1, 63, 64, 65, 127, 128, 129, 300}) {
            BitSet set{Owner("set")};
            set.set_range(begin, end);
            for (std::size_t bit = 0; bit < 400; ++bit) ASSERT_EQ(set.test(bit), bit >= begin && bit < end);
        }
}

TEST(BitSet, sets_are_equal_when_the_same_bits_are_set_however_far_they_once_went) {
    BitSet far = make({1, 1000});
    far.reset(1000);
    EXPECT_EQ(far, make({1}));
    EXPECT_EQ(make({1}), far);
    EXPECT_NE(make({1}), make({1, 64}));
    EXPECT_NE(make({1, 64}), make({1}));
}

TEST(BitSet, has_all_and_has_any_compare_sets_of_different_length) {
    const BitSet none = make({}), small = make({1, 2}), large = make({1, 2, 200});
    EXPECT_TRUE(large.has_all(small) && !small.has_all(large));
    EXPECT_TRUE(small.has_all(none) && none.has_all(none) && !none.has_all(small));
    EXPECT_TRUE(large.has_any(small) && small.has_any(large));
    EXPECT_FALSE(small.has_any(make({3, 200})) || large.has_any(none) || none.has_any(large));
}

TEST(BitSet, resized_words_are_0_and_cleared_ones_come_back_as_0) {
    BitSet set = make({0, 63});
    set.resize(65);
    EXPECT_EQ(set.words().size(), 2u);
    EXPECT_FALSE(set[64]);
    set.clear();
    set.resize(65);
    EXPECT_TRUE(set.empty());
    EXPECT_EQ(set.words().size(), 2u);
}

TEST(BitSet, does_what_a_vector_of_bools_does) {
    const LeakCheck leaks;
    Random random(shoal_test::seed());
    SCOPED_TRACE(shoal_test::seed_text());
    BitSet set{Owner("set")};
    std::vector<bool> model(700);
    for (std::int64_t i = shoal_test::scaled_operations(200'000); i > 0; --i) {
        const std::size_t bit = random.below(random.below(2) == 0 ? 70 : 700);
        switch (random.below(6)) {
            case 0:
                set.set(bit);
                model[bit] = true;
                break;
            case 1:
                set.set(bit, false);
                model[bit] = false;
                break;
            case 2:
                set.reset(bit);
                model[bit] = false;
                break;
            case 3:
                ASSERT_EQ(set.test_and_set(bit), model[bit]);
                model[bit] = true;
                break;
            case 4: {
                const std::size_t end = std::min<std::size_t>(bit + random.below(100), 700);
                set.set_range(bit, end);
                for (std::size_t b = bit; b < end; ++b) model[b] = true;
                break;
            }
            default:
                if (random.below(100) == 0) set.clear(), model.assign(700, false);
        }
        ASSERT_EQ(set.test(bit), model[bit]);
        if (i % 64 != 0) continue;
        std::vector<bool> visited(700);
        set.for_each([&](std::size_t b) { visited[b] = true; });
        ASSERT_EQ(visited, model);
        ASSERT_EQ(set.count(), static_cast<std::size_t>(std::count(model.begin(), model.end(), true)));
        ASSERT_EQ(set.empty(), set.count() == 0);
    }
}

TEST(BitSet, bits_are_visited_in_ascending_order) {
    std::vector<std::size_t> visited;
    make({200, 3, 64, 0, 63}).for_each([&](std::size_t bit) { visited.push_back(bit); });
    EXPECT_EQ(visited, (std::vector<std::size_t>{0, 3, 63, 64, 200}));
}

TEST(BitSet, a_united_set_has_the_bits_of_both) {
    BitSet a = make({1}), b = make({2, 500});
    b |= a;
    a |= make({2, 500});
    EXPECT_EQ(a, b);
    EXPECT_EQ(a, make({1, 2, 500}));
    a |= BitSet{Owner("none")};
    EXPECT_EQ(a.count(), 3u);
}

}  // namespace
}  // namespace shoal
