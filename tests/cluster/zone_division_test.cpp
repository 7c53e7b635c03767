#include "cluster/zone_division.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace {

using namespace shoal;
using cluster::ZoneDivision;

GridZones grid(std::uint32_t num_x, std::uint32_t num_y, Zone first = 0) {
    return GridZones({.tile_size = 10, .num_x = num_x, .num_y = num_y, .first_zone = first});
}

std::vector<std::uint64_t> ones(std::uint32_t count) { return std::vector<std::uint64_t>(count, 1); }

TEST(ZoneDivision, gives_each_rank_about_the_same_weight) {
    const ZoneDivision division(grid(16, 9), 1);
    std::vector<std::uint64_t> weights = ones(division.num_zones());
    for (std::size_t zone = 0; zone < 40; ++zone) weights[zone] = 10;
    std::uint64_t total = 0;
    for (const std::uint64_t weight : weights) total += weight;
    for (const std::uint32_t num_ranks : {1u, 2u, 3u, 7u}) {
        const auto ranks = division.divide(weights, num_ranks, {});
        ASSERT_TRUE(ranks.ok());
        std::vector<std::uint64_t> sums(num_ranks);
        for (std::size_t zone = 0; zone < weights.size(); ++zone) sums[(*ranks)[zone]] += weights[zone];
        for (const std::uint64_t sum : sums)
            EXPECT_LE(std::max(sum, total / num_ranks) - std::min(sum, total / num_ranks), 10u) << num_ranks;
    }
}

TEST(ZoneDivision, follows_a_curve_whose_pieces_are_in_one) {
    const ZoneDivision division(grid(8, 8), 1);
    const auto ranks = division.divide(ones(division.num_zones()), 4, {});
    ASSERT_TRUE(ranks.ok());
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
        std::set<std::uint32_t> left;
        for (std::uint32_t tile = 0; tile < 64; ++tile)
            if ((*ranks)[tile] == rank) left.insert(tile);
        std::vector<std::uint32_t> next{*left.begin()};
        left.erase(left.begin());
        while (!next.empty()) {
            const std::uint32_t tile = next.back();
            next.pop_back();
            for (const std::uint32_t other : {tile + 1, tile - 1, tile + 8, tile - 8})
                if (left.erase(other) != 0) next.push_back(other);
        }
        EXPECT_TRUE(left.empty()) << "the tiles of rank " << rank << " do not touch";
    }
}

TEST(ZoneDivision, a_long_row_of_tiles_takes_no_longer_than_a_square_and_is_divided_in_its_order) {
    const GridZones zones = grid(1 << 20, 1);
    const Result<std::vector<std::uint32_t>> ranks =
        ZoneDivision(zones, 1).divide(std::vector<std::uint64_t>(zones.num_zones(), 1), 16, {});
    ASSERT_TRUE(ranks.ok());
    EXPECT_TRUE(std::is_sorted(ranks->begin(), ranks->end() - 1));
    EXPECT_EQ(ranks->at((1 << 20) - 1), 15u);
}

TEST(ZoneDivision, a_reach_beyond_all_tiles_is_all_tiles) {
    const GridZones zones = grid(5, 4);
    ZoneSet near;
    ZoneDivision(zones, ~0u).for_each_near(7, [&](Zone zone) { near.insert(zone); });
    EXPECT_EQ(near.size(), zones.num_zones());
}

TEST(ZoneDivision, zones_without_weight_are_divided_by_their_number) {
    const ZoneDivision division(grid(4, 4, 100), 1);
    const auto ranks = division.divide(std::vector<std::uint64_t>(division.num_zones()), 17, {});
    ASSERT_TRUE(ranks.ok());
    EXPECT_EQ(std::set<std::uint32_t>(ranks->begin(), ranks->end()).size(), 17u);
    EXPECT_TRUE(division.has(100));
    EXPECT_TRUE(division.has(116));
    EXPECT_FALSE(division.has(99));
    EXPECT_FALSE(division.has(117));
}

TEST(ZoneDivision, a_function_of_the_program_decides_and_may_not_name_ranks_that_are_not_there) {
    const ZoneDivision division(grid(2, 2), 1);
    ClusterOptions options;
    options.divide = [](const void*, std::span<const std::uint64_t>, std::uint32_t num_ranks,
                        std::span<std::uint32_t> ranks) { std::ranges::fill(ranks, num_ranks - 1); };
    EXPECT_EQ(*division.divide(ones(5), 3, options), std::vector<std::uint32_t>(5, 2));
    options.divide = [](const void*, std::span<const std::uint64_t>, std::uint32_t num_ranks,
                        std::span<std::uint32_t> ranks) { ranks[1] = num_ranks; };
    const auto refused = division.divide(ones(5), 3, options);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.message(), "the division gives zone 1 to rank 3, and there are 3; return ranks below that");
}

TEST(ZoneDivision, tiles_see_those_around_and_what_is_large_and_that_sees_nothing) {
    const GridZones zones = grid(5, 4);
    const ZoneDivision division(zones, 1);
    ZoneSet middle, corner, large;
    division.for_each_near(7, [&](Zone near) { middle.insert(near); });
    EXPECT_EQ(middle, (ZoneSet{1, 2, 3, 6, 7, 8, 11, 12, 13, zones.large_zone()}));
    division.for_each_near(19, [&](Zone near) { corner.insert(near); });
    EXPECT_EQ(corner, (ZoneSet{13, 14, 18, 19, zones.large_zone()}));
    division.for_each_near(zones.large_zone(), [&](Zone near) { large.insert(near); });
    EXPECT_EQ(large, ZoneSet{zones.large_zone()});
}

}  // namespace
