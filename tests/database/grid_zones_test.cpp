#include "shoal/database/grid_zones.h"

#include "support/testing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace shoal_test {
namespace {

using namespace shoal;

TEST(ZoneSets, hold_what_was_inserted_and_nothing_else) {
    ZoneSet zones{3, 64, 200};
    zones.insert_range(126, 130);
    zones.insert_range(5, 5);
    EXPECT_EQ(zones.size(), 7u);
    EXPECT_TRUE(zones.contains(126) && zones.contains(129) && zones.contains(64));
    EXPECT_FALSE(zones.contains(130) || zones.contains(125) || zones.contains(kMaxZones));
    std::vector<Zone> visited;
    zones.for_each([&](Zone zone) { visited.push_back(zone); });
    EXPECT_EQ(visited, (std::vector<Zone>{3, 64, 126, 127, 128, 129, 200}));
    zones.erase(200);
    zones.erase(5000);
    ZoneSet other{3, 64, 126, 127};
    EXPECT_FALSE(other == zones);
    other.insert(ZoneSet{128, 129});
    EXPECT_TRUE(other == zones) << "words that are zero do not count";
    zones.clear();
    EXPECT_TRUE(zones.empty());
}

TEST(GridZones, positions_lie_in_their_tiles_and_outside_in_the_nearest) {
    const GridZones grid({.origin = {-10, -20, 0}, .tile_size = 5, .num_x = 4, .num_y = 3, .first_zone = 100});
    EXPECT_EQ(grid.num_zones(), 13u);
    EXPECT_EQ(grid.zone_of({-10, -20, 7}), 100u);
    EXPECT_EQ(grid.zone_of({-5.01f, -20, 0}), 100u);
    EXPECT_EQ(grid.zone_of({-5, -15, 0}), 105u);
    EXPECT_EQ(grid.zone_of({9.9f, -5.1f, 0}), 111u);
    EXPECT_EQ(grid.zone_of({1e30f, std::numeric_limits<float>::infinity(), 0}), 111u);
    EXPECT_EQ(grid.zone_of({-1e30f, -std::numeric_limits<float>::infinity(), 0}), 100u);
    EXPECT_EQ(grid.zone_of({NAN, 0, 0}), grid.large_zone());
    EXPECT_EQ(grid.zone_of({0, NAN, 0}), grid.large_zone());
    EXPECT_EQ(grid.zone_of({-10, -20, NAN}), 100u) << "the third is not asked for";
    EXPECT_EQ(grid.zone_of({-10, -20, 0}, 2.5f), 100u);
    EXPECT_EQ(grid.zone_of({-10, -20, 0}, 2.6f), 112u);
    EXPECT_EQ(grid.zone_of({-10, -20, 0}, NAN), 112u);
    const GridZones standing({.origin = {-1, 50, -3}, .tile_size = 1, .num_x = 4, .num_y = 4, .up = GridUp::kY});
    EXPECT_EQ(standing.zone_of({1.5f, 99, -1.5f}), 6u);
}

TEST(GridZones, a_box_or_sphere_that_is_none_touches_only_what_is_large) {
    const GridZones grid({.origin = {-10, -20, 0}, .tile_size = 5, .num_x = 4, .num_y = 3, .first_zone = 100});
    for (const Vec3 low : {Vec3{0, -12, 0}, Vec3{-8, 0, 0}, Vec3{NAN, -12, 0}, Vec3{-8, NAN, 0}}) {
        ZoneSet zones;
        grid.touch_box(low, {-5, -10, 0}, zones);
        EXPECT_TRUE(zones == ZoneSet{grid.large_zone()}) << low.x << ", " << low.y;
    }
    for (const float radius : {-1.0f, NAN}) {
        ZoneSet zones;
        grid.touch_sphere({0, 0, 0}, radius, zones);
        EXPECT_TRUE(zones == ZoneSet{grid.large_zone()}) << radius;
    }
    for (const Vec3 centre : {Vec3{NAN, 0, 0}, Vec3{0, NAN, 0}}) {
        ZoneSet zones;
        grid.touch_sphere(centre, 1, zones);
        EXPECT_TRUE(zones == ZoneSet{grid.large_zone()}) << centre.x << ", " << centre.y;
    }
    ZoneSet point, box;
    grid.touch_sphere({1, -12, 0}, 0, point), grid.touch_box({1, -12, 9}, {1, -12, 0}, box);
    EXPECT_TRUE(point == (ZoneSet{grid.zone_of({1, -12, 0}), grid.large_zone()}) && point == box);
}

/// The rectangle of a tile; tiles at the border have no end.
struct Rectangle {
    double low_x, high_x, low_y, high_y;
};
Rectangle rectangle_of(const GridZones& grid, std::uint32_t x, std::uint32_t y) {
    const GridZonesOptions& options = grid.options();
    const double end = 1e30;
    return {x == 0 ? -end : options.origin.x + double(x) * options.tile_size,
            x + 1 == options.num_x ? end : options.origin.x + double(x + 1) * options.tile_size,
            y == 0 ? -end : options.origin.y + double(y) * options.tile_size,
            y + 1 == options.num_y ? end : options.origin.y + double(y + 1) * options.tile_size};
}
double distance(double low, double high, double place) {
    return place < low ? low - place : place > high ? place - high : 0;
}

// req: E3-E4
TEST(GridZones, queries_visit_the_tiles_that_they_touch_and_no_others) {
    SCOPED_TRACE(seed_text());
    Random random(seed());
    const GridZones grid({.origin = {3, -7, 0}, .tile_size = 1.7f, .num_x = 13, .num_y = 9, .first_zone = 60});
    const auto any = [&] { return float(random.below(40'000)) / 1000 - 10; };
    constexpr double kBlur = 1e-4;  // of floats
    for (std::int64_t i = scaled_operations(20'000); i > 0; --i) {
        const Vec3 centre{any(), any() - 8, any()};
        const float radius = float(random.below(5000)) / 1000;
        ZoneSet sphere, box;
        grid.touch_sphere(centre, radius, sphere);
        const Vec3 high{centre.x + (i % 4 == 0 ? 0 : radius), centre.y + (i % 4 == 1 ? 0 : 2 * radius), 0};
        grid.touch_box(centre, high, box);
        EXPECT_TRUE(sphere.contains(grid.large_zone()) && box.contains(grid.large_zone()));
        for (std::uint32_t y = 0; y < 9; ++y)
            for (std::uint32_t x = 0; x < 13; ++x) {
                const Rectangle tile = rectangle_of(grid, x, y);
                const Zone zone = 60 + y * 13 + x;
                const double away = std::hypot(distance(tile.low_x, tile.high_x, centre.x),
                                               distance(tile.low_y, tile.high_y, centre.y));
                ASSERT_TRUE(std::abs(away - radius) <= kBlur || sphere.contains(zone) == (away < radius)) << zone;
                const double beside = std::max(std::max(tile.low_x - high.x, centre.x - tile.high_x),
                                               std::max(tile.low_y - high.y, centre.y - tile.high_y));
                ASSERT_TRUE(std::abs(beside) <= kBlur || box.contains(zone) == (beside < 0)) << zone;
            }
    }
}

// req: E3-E4
TEST(GridZones, a_query_finds_every_point_in_its_reach) {
    SCOPED_TRACE(seed_text());
    Random random(seed());
    const GridZones grid({.origin = {-50, -50, 0}, .tile_size = 0.1f, .num_x = 100, .num_y = 100});
    for (std::int64_t i = scaled_operations(200'000); i > 0; --i) {
        const Vec3 point{float(random.below(100)) * 0.1f - 50, float(random.below(100)) * 0.1f - 50, 0};
        const float dx = float(random.below(100)) / 1000;
        ZoneSet touched;
        grid.touch_sphere({point.x + dx, point.y, 0}, std::abs((point.x + dx) - point.x), touched);
        ASSERT_TRUE(touched.contains(grid.zone_of(point))) << point.x << ' ' << point.y << ' ' << dx;
    }
}

TEST(GridZones, zones_beyond_the_largest_end_the_program) {
    EXPECT_EQ(GridZones({.num_x = 5, .num_y = 3, .first_zone = kMaxZones - 16}).large_zone(), kMaxZones - 1);
    EXPECT_DEATH(GridZones({.num_x = 5, .num_y = 3, .first_zone = kMaxZones - 15}), "zones below kMaxZones");
    EXPECT_DEATH(GridZones({.first_zone = kMaxZones}), "zones below kMaxZones");
    EXPECT_DEATH(GridZones({.first_zone = 0xFFFFFFFF}), "zones below kMaxZones");
}

}  // namespace
}  // namespace shoal_test
