#include "shoal/inspect/picture.h"

#include "inspect/picture_points.h"
#include "inspect/xml_check.h"
#include "shoal/base/file.h"
#include "shoal/components/point_mass.h"
#include "shoal/components/tag.h"
#include "shoal/transform/transform.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

namespace {

using namespace shoal;

constexpr std::size_t kMegabyte = 1'000'000;

std::vector<Vec2> random_points(std::size_t count, float size, std::uint64_t seed) {
    Random random(seed);
    std::vector<Vec2> points(count);
    for (Vec2& point : points) point = {random.unit() * size, random.unit() * size};
    return points;
}

std::size_t count_of(std::string_view text, std::string_view part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++count;
    return count;
}

/// A picture that any reader takes: well-formed, small, without a number that is none.
void expect_good(const Picture& picture) {
    EXPECT_EQ(shoal_test::XmlCheck::problem(picture.svg), "");
    EXPECT_LT(picture.svg.size(), kMegabyte);
    EXPECT_EQ(picture.svg.find("nan"), std::string::npos);
    EXPECT_EQ(picture.svg.find("inf"), std::string::npos);
}

TEST(Picture, shows_each_layer_with_its_name_and_count) {
    const PictureLayer layers[] = {{"fish", random_points(1234, 100, 1), 0}, {"coral", random_points(5, 100, 2), 0}};
    const Picture picture = draw_picture(layers, {.title = "reef", .subtitle = "at noon"});
    expect_good(picture);
    EXPECT_EQ(picture.num_points, 1239u);
    for (const char* text : {">fish<", ">coral<", ">1,234<", ">5<", ">reef<", ">at noon<"})
        EXPECT_NE(picture.svg.find(text), std::string::npos) << text;
    EXPECT_EQ(count_of(picture.svg, "class=\"dots\""), 2u);
}

TEST(Picture, of_nothing_says_so) {
    const Picture picture = draw_picture({});
    expect_good(picture);
    EXPECT_EQ(picture.num_points, 0u);
    EXPECT_NE(picture.svg.find("no entity has a position"), std::string::npos);
}

TEST(Picture, of_one_point_has_a_scale_all_the_same) {
    for (const Vec2 point : {Vec2{0, 0}, Vec2{5, -7}, Vec2{1e6f, 1e6f}, Vec2{-3e38f, 3e38f}}) {
        const PictureLayer layer{"stone", {point}, 0};
        const Picture picture = draw_picture({&layer, 1});
        expect_good(picture);
        EXPECT_EQ(picture.num_points, 1u);
        EXPECT_EQ(count_of(picture.svg, "h1\""), 1u);
    }
}

TEST(Picture, draws_points_in_one_place_once_and_counts_them_all) {
    const PictureLayer layer{"stone", std::vector<Vec2>(5000, Vec2{3, 3}), 0};
    const Picture picture = draw_picture({&layer, 1});
    expect_good(picture);
    EXPECT_EQ(picture.num_points, 5000u);
    EXPECT_LT(picture.svg.size(), 10'000u);
}

TEST(Picture, skips_and_counts_what_is_not_finite) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const PictureLayer layer{"stone", {{1, 1}, {std::nanf(""), 1}, {1, kInfinity}, {-kInfinity, 1}, {2, 2}}, 4};
    const Picture picture = draw_picture({&layer, 1});
    expect_good(Picture{picture.svg.substr(0, picture.svg.find("not finite")) + "</text></svg>", 0, 0});
    EXPECT_EQ(picture.num_points, 2u);
    EXPECT_EQ(picture.num_skipped, 7u);
    EXPECT_NE(picture.svg.find("7 not finite"), std::string::npos);
}

TEST(Picture, a_million_points_become_cells_below_a_megabyte) {  // req: F12
    const PictureLayer layers[] = {{"sand", random_points(1'000'000, 1000, shoal_test::seed()), 0},
                                   {"stars", random_points(7, 1000, 3), 0}};
    const Picture picture = draw_picture(layers);
    expect_good(picture);
    EXPECT_EQ(picture.num_points, 1'000'007u);
    EXPECT_EQ(count_of(picture.svg, "class=\"dots\""), 1u) << "seven points stay dots";
    EXPECT_GE(count_of(picture.svg, "class=\"cells\""), 1u);
}

TEST(Picture, many_layers_stay_below_a_megabyte) {
    std::vector<PictureLayer> layers;
    for (int i = 0; i < 40; ++i)
        layers.push_back({"layer " + std::to_string(i), random_points(30'000, 10, std::uint64_t(i)), 0});
    const Picture picture = draw_picture(layers);
    expect_good(picture);
    EXPECT_NE(picture.svg.find(" more<"), std::string::npos) << "the legend ends where the plot does";
}

TEST(Picture, any_title_is_escaped) {
    const PictureLayer layer{"<b>&\x01", {{0, 0}}, 0};
    for (const std::string& title : {std::string("a < b & \"c\" ]]>"), std::string("\xff\xfe"),
                                     std::string("\x01\x1b[31m"), std::string("\xEF\xBF\xBE"), std::string(500, '&')}) {
        const Picture picture = draw_picture({&layer, 1}, {.title = title, .subtitle = title});
        expect_good(picture);
    }
}

TEST(Picture, a_metre_is_equally_long_both_ways) {
    const PictureLayer layer{"stone", {{0, 0}, {200, 50}}, 0};
    const PictureView view = make_picture_view({&layer, 1});
    EXPECT_DOUBLE_EQ(view.x(100) - view.x(0), view.y(0) - view.y(100));
    EXPECT_GT(view.x(0), 0);
    EXPECT_LT(view.x(200), view.plot_width);
    EXPECT_GT(view.y(50), 0);
    EXPECT_LT(view.y(0), view.plot_height);
}

TEST(Picture, every_point_falls_into_exactly_one_cell) {
    const PictureLayer layer{"sand", random_points(10'000, 100, shoal_test::seed()), 0};
    const PictureView view = make_picture_view({&layer, 1});
    for (const double cell : {2.0, 7.5, 64.0, 5000.0}) {
        const DensityGrid grid(layer.points, view, cell);
        EXPECT_GE(grid.most(), 1u);
        const auto paths = grid.paths(grid.most());
        ASSERT_EQ(paths.size(), kNumShades);
        EXPECT_FALSE(paths[grid.most() > 1 ? kNumShades - 1 : 0].empty()) << "the fullest cell has the last shade";
    }
    const DensityGrid one(layer.points, view, 5000);
    EXPECT_EQ(one.most(), 10'000u);
}

TEST(Picture, tick_lengths_are_one_two_or_five) {
    EXPECT_DOUBLE_EQ(nice_length(1), 1);
    EXPECT_DOUBLE_EQ(nice_length(4.9), 2);
    EXPECT_DOUBLE_EQ(nice_length(0.06), 0.05);
    EXPECT_DOUBLE_EQ(nice_length(1999), 1000);
    EXPECT_EQ(tick_text(0.05, 0.05), "0.05");
    EXPECT_EQ(tick_text(-1e-12, 1), "0");
    EXPECT_EQ(tick_text(1500, 500), "1500");
}

TEST(Picture, of_a_world_leaves_out_the_dead) {
    EntityManager entities;
    World world(entities);
    std::vector<Entity> stones(10);
    ASSERT_TRUE(entities.create(stones).ok());
    ASSERT_TRUE(world.manager<PointMass>().add(stones).ok());
    entities.destroy(stones[3]);
    EXPECT_EQ(draw_world(world).num_points, 9u);
    const std::vector<PictureLayer> layers = picture_layers(world);
    ASSERT_EQ(layers.size(), 1u);
    EXPECT_EQ(layers[0].name, "point_mass");
}

TEST(Picture, of_transforms_has_a_layer_per_archetype_at_world_positions) {
    EntityManager entities;
    World world(entities);
    std::vector<Entity> owners(6);
    ASSERT_TRUE(entities.create(owners).ok());
    const Transform locals[] = {{.position = {10, 20, 5}}, {.position = {1, 2, 0}}, {.position = {3, 3, 3}}, {}};
    const std::uint32_t parents[] = {kNilRow, 0, kNilRow, kNilRow};
    ASSERT_TRUE(world.transforms().add(std::span(owners).first(4), locals, parents).ok());
    auto& masses = world.manager<PointMass>();
    auto& tags = world.manager<Tag>();
    for (const std::size_t i : {1u, 2u, 4u, 5u})
        ASSERT_TRUE(masses.add(owners[i], PointMass{.position = {100, 100, 100}}).ok());
    ASSERT_TRUE(tags.add(owners[1], Tag{StringId("red")}).ok()) << "a tag is no type of its own here";
    entities.destroy(std::span(&owners[3], 1));
    entities.destroy(std::span(&owners[5], 1));

    const std::vector<PictureLayer> layers = picture_layers(world);
    ASSERT_EQ(layers.size(), 3u);
    EXPECT_EQ(layers[0].name, "transform");
    EXPECT_EQ(layers[0].points, (std::vector<Vec2>{{10, 20}}));
    EXPECT_EQ(layers[1].name, "point_mass");
    EXPECT_EQ(layers[1].points, (std::vector<Vec2>{{11, 22}, {3, 3}}));
    EXPECT_EQ(layers[2].name, "point_mass") << "those without a transform, where the component says";
    EXPECT_EQ(layers[2].points, (std::vector<Vec2>{{100, 100}}));
    const std::vector<PictureLink> links = picture_links(world);
    ASSERT_EQ(links.size(), 1u);
    EXPECT_EQ(links[0].child, (Vec2{11, 22}));
    EXPECT_EQ(links[0].parent, (Vec2{10, 20}));
    const Picture picture = draw_world(world);
    expect_good(picture);
    EXPECT_EQ(count_of(picture.svg, "class=\"links\""), 1u);
}

TEST(Picture, draws_the_longest_links_and_each_line_once) {
    const PictureLayer layer{"stone", {{0, 0}, {100, 100}}, 0};
    std::vector<PictureLink> links = {
        {{0, 0}, {100, 100}},         {{0, 0}, {50, 0}}, {{3, 3}, {3, 3}}, {{0, 0}, {50, 0}},
        {{std::nanf(""), 0}, {1, 1}}, {{0, 0}, {0, 2}}};
    const auto lines_of = [&](std::uint32_t most) {
        const Picture picture = draw_picture({&layer, 1}, {.title = "", .subtitle = "", .max_links = most}, links);
        expect_good(picture);
        const std::size_t at = picture.svg.find("class=\"links\"");
        if (at == std::string::npos) return std::size_t(0);
        return count_of(picture.svg.substr(at, picture.svg.find("/>", at) - at), "l");
    };
    const std::size_t in_the_tag = 2;  // of class="links" and transform="scale(.1)"
    EXPECT_EQ(lines_of(100), in_the_tag + 1 + 3);
    EXPECT_EQ(lines_of(1), in_the_tag + 1 + 1);
    links.clear();
    for (const Vec2 point : random_points(50'000, 100, 3)) links.push_back({point, {50, 50}});
    expect_good(draw_picture({&layer, 1}, {}, links));
    links.clear();
    EXPECT_EQ(lines_of(100), 0u);
}

/// All that a picture can have: dots, cells, links, more layers than colours, and places that are no numbers.
TEST(Picture, is_drawn_as_it_always_was) {
    std::vector<PictureLayer> layers = {{"sand", random_points(600, 80, 1), 3}, {"stars", random_points(9, 100, 2), 0}};
    for (int i = 0; i < 10; ++i) layers.push_back({"buoy " + std::to_string(i), {{float(i * 9), float(i * i)}}, 0});
    layers.push_back({"<lost> & found", {{-20, 5}, {std::nanf(""), 1}, {120.5f, 0.25f}}, 0});
    std::vector<PictureLink> links = {{{0, 0}, {50, 0}}, {{0, 0}, {50, 0}}, {{1, 1}, {1, 1.5f}}, {{-20, 5}, {120, 0}}};
    const std::string drawn =
        draw_picture(layers, {.title = "reef", .subtitle = "at noon", .max_dots = 100, .max_links = 2}, links).svg +
        draw_picture(std::span(layers).subspan(1, 1)).svg + draw_picture({}).svg;
    const std::string path = SHOAL_SOURCE_DIR "/tests/inspect/golden/pictures.txt";
    if (std::getenv("SHOAL_WRITE_GOLDEN") != nullptr) {
        ASSERT_TRUE(write_file(path, drawn));
    }
    const Result<std::string> golden = read_file(path);
    ASSERT_TRUE(golden) << golden.message();
    EXPECT_EQ(drawn, *golden) << "SHOAL_WRITE_GOLDEN=1 writes it; look at it before";
}

}  // namespace
