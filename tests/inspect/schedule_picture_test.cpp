#include "shoal/inspect/schedule_picture.h"

#include "inspect/schedule_layout.h"
#include "inspect/xml_check.h"
#include "shoal/base/random.h"
#include "shoal/base/text.h"
#include "shoal/world/world.h"

#include <gtest/gtest.h>

namespace {

using namespace shoal;

/// roam -> swim -> eat, and grow -> eat, by order and a field.
ScheduleGraph sea() {
    return {{{"roam", "", 0, 0, {}, {"body.heading"}},
             {"grow", "plants", 1, 0, {}, {"plant.size"}},
             {"swim", "", 2, 1, {"body.heading"}, {"body.position"}},
             {"eat", "", 3, 2, {"body.position"}, {"*"}}},
            {{0, 2, false, {"body.heading"}}, {2, 3, false, {"body.position", "plant.size"}}, {1, 3, true, {}}}};
}

std::size_t count_of(std::string_view text, std::string_view part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++count;
    return count;
}

void expect_good(const std::string& svg) {
    EXPECT_EQ(shoal_test::XmlCheck::problem(svg), "");
    for (const char* text : {"nan", "inf\""}) EXPECT_EQ(svg.find(text), std::string::npos) << text;
}

TEST(SchedulePicture, shows_passes_with_their_time_and_lines_with_their_reason) {
    const PassReport passes[] = {{.name = "roam", .num_runs = 2, .total_ns = 3'000'000},
                                 {.name = "swim", .num_runs = 0},
                                 {.name = "eat", .enabled = false}};
    const std::string svg = schedule_svg(sea(), {.title = "reef", .subtitle = "4 passes", .passes = passes});
    expect_good(svg);
    for (const char* text : {">reef<", ">4 passes<", ">roam<", ">plants / grow<", ">1.500 ms<", ">disabled<",
                             ">body.heading<", ">body.position +1<", "eat waits for grow: the order that was asked for",
                             "eat waits for swim: both use body.position, plant.size", "writes everything"})
        EXPECT_NE(svg.find(text), std::string::npos) << text;
    EXPECT_EQ(count_of(svg, " ms<"), 1u) << "passes without runs have no time";
    EXPECT_EQ(count_of(svg, "class=\"edge order\" marker-end"), 1u);
    EXPECT_EQ(count_of(svg, "class=\"edge\" marker-end"), 2u);
    EXPECT_NE(svg.find("@media (prefers-color-scheme:light)"), std::string::npos);
}

TEST(SchedulePicture, of_no_passes_says_so) {
    const std::string svg = schedule_svg({});
    expect_good(svg);
    EXPECT_NE(svg.find("there are no passes"), std::string::npos);
}

TEST(SchedulePicture, takes_any_text) {
    ScheduleGraph graph = sea();
    graph.passes[0].name = "<script>&\"\x01";
    graph.passes[1].group = "\xff";
    graph.passes[2].name = std::string(200, '<');
    graph.edges[0].on = {"a<b&c"};
    const std::string svg = schedule_svg(graph, {.title = "</svg>"});
    expect_good(svg);
    EXPECT_NE(svg.find("a&lt;b&amp;c"), std::string::npos);
}

TEST(ScheduleLayout, puts_levels_from_left_to_right_and_passes_of_one_above_each_other) {
    const LayoutSizes sizes;
    const ScheduleLayout layout = lay_out(sea(), sizes);
    ASSERT_EQ(layout.nodes.size(), 4u);
    EXPECT_EQ(layout.nodes[0].x, layout.nodes[1].x);
    EXPECT_EQ(layout.nodes[2].x, layout.nodes[0].x + sizes.node_width + sizes.gap_x);
    EXPECT_EQ(layout.nodes[3].x, layout.nodes[2].x + sizes.node_width + sizes.gap_x);
    EXPECT_GE(std::abs(layout.nodes[0].y - layout.nodes[1].y), sizes.node_height + sizes.gap_y);
    EXPECT_EQ(layout.width, 3 * sizes.node_width + 2 * sizes.gap_x);
}

TEST(ScheduleLayout, lines_begin_and_end_at_their_passes_and_go_round_the_passes_between) {
    const LayoutSizes sizes;
    const ScheduleGraph graph = sea();
    const ScheduleLayout layout = lay_out(graph, sizes);
    for (std::size_t i = 0; i < graph.edges.size(); ++i) {
        const std::vector<LayoutPoint>& line = layout.lines[i];
        const LayoutPoint from = layout.nodes[graph.edges[i].from], to = layout.nodes[graph.edges[i].to];
        EXPECT_EQ(line.front().x, from.x + sizes.node_width);
        EXPECT_DOUBLE_EQ(line.front().y, from.y + sizes.node_height / 2);
        EXPECT_EQ(line.back().x, to.x);
        EXPECT_DOUBLE_EQ(line.back().y, to.y + sizes.node_height / 2);
    }
    ASSERT_EQ(layout.lines[2].size(), 4u) << "grow to eat, through the column of swim";
    const double y = layout.lines[2][1].y, swim = layout.nodes[2].y;
    EXPECT_TRUE(y < swim || y > swim + sizes.node_height) << y << " crosses swim at " << swim;
}

TEST(ScheduleLayout, nothing_overlaps_and_nothing_leaves_the_page_in_random_graphs) {
    const LayoutSizes sizes;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        Random random(seed);
        ScheduleGraph graph;
        const std::uint32_t num_levels = 1 + static_cast<std::uint32_t>(random.next() % 8);
        for (std::uint32_t i = 0; i < 40; ++i)
            graph.passes.push_back({concat("p", i), "", i, i * num_levels / 40, {}, {}});
        for (std::uint32_t i = 0; i < 60; ++i) {
            const auto a = static_cast<std::uint32_t>(random.next() % 40),
                       b = static_cast<std::uint32_t>(random.next() % 40);
            if (graph.passes[a].level < graph.passes[b].level) graph.edges.push_back({a, b, false, {"x"}});
        }
        const ScheduleLayout layout = lay_out(graph, sizes);
        for (std::size_t i = 0; i < 40; ++i) {
            const LayoutPoint& one = layout.nodes[i];
            EXPECT_TRUE(one.x >= 0 && one.x + sizes.node_width <= layout.width) << "seed " << seed;
            EXPECT_TRUE(one.y >= -1e-6 && one.y + sizes.node_height <= layout.height + 1e-6) << "seed " << seed;
            for (std::size_t k = 0; k < i; ++k)
                EXPECT_FALSE(layout.nodes[k].x == one.x && std::abs(layout.nodes[k].y - one.y) < sizes.node_height)
                    << "seed " << seed << ": " << k << " and " << i;
        }
    }
}

TEST(ScheduleDot, has_a_node_for_each_pass_and_an_edge_for_each_reason) {
    const PassReport passes[] = {{.name = "roam", .num_runs = 2, .total_ns = 3'000'000}};
    EXPECT_EQ(schedule_dot(sea(), {.title = "the \"reef\"", .passes = passes}),
              "digraph schedule {\n"
              "    rankdir=LR;\n"
              "    node [shape=box, style=rounded, fontname=\"Helvetica\"];\n"
              "    edge [fontname=\"Helvetica\", fontsize=10];\n"
              "    label=\"the \\\"reef\\\"\";\n"
              "    labelloc=t;\n"
              "    p0 [label=\"roam\\n1.500 ms\"];\n"
              "    p1 [label=\"plants / grow\"];\n"
              "    p2 [label=\"swim\"];\n"
              "    p3 [label=\"eat\"];\n"
              "    { rank=same; p0; p1; }\n"
              "    { rank=same; p2; }\n"
              "    { rank=same; p3; }\n"
              "    p0 -> p2 [label=\"body.heading\"];\n"
              "    p2 -> p3 [label=\"body.position, plant.size\"];\n"
              "    p1 -> p3 [label=\"\", style=dashed];\n"
              "}\n");
}

TEST(SchedulePicture, of_a_world_has_what_its_passes_declare) {
    EntityManager entities;
    World world(entities);
    int score = 0, hits = 0;
    world.schedule().add("hit", {writes(hits)}, [](PassContext&) {});
    world.schedule().add("count", {reads(hits), writes(score)}, [](PassContext&) {});
    const Result<ScheduleGraph> graph = world.schedule().graph();
    ASSERT_TRUE(graph.ok());
    EXPECT_NE(schedule_dot(*graph).find("p0 -> p1"), std::string::npos);
    expect_good(schedule_svg(*graph));
}

}  // namespace
