#include "inspect/treemap.h"

#include "shoal/base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>

namespace {

using namespace shoal;

TEST(Treemap, of_one_size_is_the_whole) {
    const std::vector<TreemapBox> boxes = treemap(std::vector<double>{7}, 30, 20);
    ASSERT_EQ(boxes.size(), 1u);
    EXPECT_DOUBLE_EQ(boxes[0].width, 30);
    EXPECT_DOUBLE_EQ(boxes[0].height, 20);
    EXPECT_TRUE(treemap({}, 30, 20).empty());
}

TEST(Treemap, is_that_of_the_paper) {
    // The example of the paper: 6, 6, 4, 3, 2, 2, 1 in a rectangle of 6 x 4.
    const std::vector<TreemapBox> boxes = treemap(std::vector<double>{6, 6, 4, 3, 2, 2, 1}, 6, 4);
    ASSERT_EQ(boxes.size(), 7u);
    const auto expect_box = [&](std::size_t i, double x, double y, double width, double height) {
        EXPECT_NEAR(boxes[i].x, x, 1e-9) << i;
        EXPECT_NEAR(boxes[i].y, y, 1e-9) << i;
        EXPECT_NEAR(boxes[i].width, width, 1e-9) << i;
        EXPECT_NEAR(boxes[i].height, height, 1e-9) << i;
    };
    expect_box(0, 0, 0, 3, 2);
    expect_box(1, 0, 2, 3, 2);
    expect_box(2, 3, 0, 12.0 / 7, 7.0 / 3);
    expect_box(3, 3 + 12.0 / 7, 0, 9.0 / 7, 7.0 / 3);
}

TEST(Treemap, boxes_have_their_share_of_the_area_and_do_not_overlap) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        Random random(seed);
        std::vector<double> sizes(1 + random.next() % 40);
        for (double& size : sizes) size = 1 + static_cast<double>(random.next() % 10'000);
        std::ranges::sort(sizes, std::greater<>());
        const double sum = std::accumulate(sizes.begin(), sizes.end(), 0.0);
        const std::vector<TreemapBox> boxes = treemap(sizes, 800, 300);
        ASSERT_EQ(boxes.size(), sizes.size());
        for (std::size_t i = 0; i < boxes.size(); ++i) {
            const TreemapBox& a = boxes[i];
            EXPECT_NEAR(a.width * a.height, sizes[i] / sum * 800 * 300, 1e-3) << "seed " << seed;
            EXPECT_TRUE(a.x >= -1e-6 && a.y >= -1e-6 && a.x + a.width <= 800.001 && a.y + a.height <= 300.001);
            for (std::size_t k = 0; k < i; ++k) {
                const TreemapBox& b = boxes[k];
                const double overlap_x = std::min(a.x + a.width, b.x + b.width) - std::max(a.x, b.x);
                const double overlap_y = std::min(a.y + a.height, b.y + b.height) - std::max(a.y, b.y);
                EXPECT_FALSE(overlap_x > 1e-6 && overlap_y > 1e-6) << "seed " << seed << ": " << k << " and " << i;
            }
        }
    }
}

}  // namespace
