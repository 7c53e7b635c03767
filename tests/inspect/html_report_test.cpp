#include "shoal/inspect/html_report.h"

#include "inspect/xml_check.h"
#include "shoal/base/text.h"
#include "shoal/components/point_mass.h"
#include "shoal/inspect/report.h"
#include "shoal/inspect/text_table.h"
#include "shoal/transform/transform.h"
#include "shoal/world/trace.h"
#include "shoal/world/world.h"

#include <gtest/gtest.h>

#include <vector>

namespace {

using namespace shoal;

struct ReportedBody {
    float mass = 1;
    Vec3 position{};
};
SHOAL_COMPONENT(ReportedBody, mass, position)

struct ReportedTick {
    std::uint32_t number = 0;
};
SHOAL_COMPONENT(ReportedTick, number)

/// What is wrong with the body of a page, which is written as XML is: all tags are closed.
std::string problem(const std::string& html) {
    const std::size_t begin = html.find("<body>");
    return shoal_test::XmlCheck::problem(std::string_view(html).substr(begin, html.find("</html>") - begin));
}

void expect_texts(const std::string& html, std::initializer_list<std::string_view> texts) {
    for (const std::string_view text : texts) EXPECT_NE(html.find(text), std::string::npos) << text;
}

class HtmlReport : public ::testing::Test {
protected:
    std::vector<Entity> create(std::size_t count) {
        std::vector<Entity> made(count);
        EXPECT_TRUE(entities.create(made).ok());
        return made;
    }
    std::string report(const HtmlReportOptions& options = {}) {
        Result<std::string> html = html_report(world, options);
        EXPECT_TRUE(html.ok()) << html.message();
        if (!html) return {};
        EXPECT_EQ(problem(*html), "");
        EXPECT_LT(html->size(), 2'000'000u);
        return *html;
    }

    EntityManager entities;
    World world{entities};
};

TEST_F(HtmlReport, shows_passes_memory_entities_and_places) {
    Manager<ReportedBody>& bodies = world.manager<ReportedBody>();
    ASSERT_TRUE(bodies.add(create(1234), {.mass = 2}));
    ASSERT_TRUE(world.manager<PointMass>().add(create(5)));
    create(3);
    world.schedule().add("fall", {writes<&ReportedBody::position>(bodies)}, [](PassContext&) {});
    world.schedule().add("look", {reads<&ReportedBody::position>(bodies)}, [](PassContext&) {}).every_frames(2);
    Trace trace(world.executor().num_workers());
    world.schedule().set_trace(&trace);
    for (int i = 0; i < 3; ++i) world.step(1);
    world.schedule().set_trace(nullptr);
    const std::string html = report({.title = "reef", .facts = {{"Workers", "4"}}, .trace = &trace});
    expect_texts(html, {"<title>reef</title>", "<dd>1,242</dd>", "<dt>Workers</dt><dd>4</dd>", ">fall<",
                        "every 2 frames", "look waits for fall: both use reported_body.position", "Frame 2, which took",
                        ">settle<", "<th>reported_body.position</th>", ">point_mass<", ">component tables<", ">total<",
                        ">no components<", ">1,234<", "class=\"places\"", "class=\"treemap\""});
    EXPECT_EQ(html.find("<script"), std::string::npos);
    for (const ComponentReport& component : report_world(world).components) {
        if (component.name != "reported_body") continue;
        const MemoryUse &rows = component.rows, &index = component.index;
        const std::string title = concat(component.name, ": ", bytes_text(rows.used_bytes + index.used_bytes),
                                         " used of ", bytes_text(rows.committed_bytes + index.committed_bytes));
        EXPECT_NE(html.find(title), std::string::npos) << title;
    }
    EXPECT_EQ(html.find("src="), std::string::npos) << "nothing comes from elsewhere";
}

TEST_F(HtmlReport, counts_no_components_of_the_dead_whose_indexes_others_have) {
    const std::vector<Entity> dead = create(20'000);
    ASSERT_TRUE(world.manager<ReportedBody>().add(dead));
    entities.destroy(dead);
    const std::vector<Entity> living = create(20'000);
    std::size_t num_reused = 0;
    for (const Entity entity : living) num_reused += entity.index() <= 20'000;
    ASSERT_GT(num_reused, 0u);
    const std::string html = report();
    expect_texts(html, {"<td>no components</td><td class=\"number\"><span class=\"bar\"><i "
                        "style=\"width:100.0%\"></i><b>20,000</b>"});
    EXPECT_EQ(html.find("<td>reported_body</td>"), std::string::npos);
}

TEST_F(HtmlReport, of_an_empty_world_says_so) {
    const std::string html = report();
    expect_texts(html, {"<title>A world</title>", "The world has no passes", "There are none."});
    EXPECT_EQ(html.find("class=\"places\""), std::string::npos);
}

TEST_F(HtmlReport, shows_the_zones_of_a_database_those_with_the_most_entities_first) {
    Database& database = world.database();

    for (const auto& [zone, count] : {std::pair(3u, 2u), std::pair(8u, 20u)}) {
        std::vector<Entity> made(count);
        ASSERT_TRUE(database.create<ReportedBody>(made, zone).ok());
    }
    const std::string html = report();
    expect_texts(html, {"2 zones, those with the most entities first"});
    EXPECT_LT(html.find("<td class=\"number\">8</td>"), html.find("<td class=\"number\">3</td>"));
}

TEST_F(HtmlReport, has_a_map_of_the_zones) {
    Database& database = world.database();
    for (const auto& [zone, count] : {std::pair(3u, 2u), std::pair(8u, 20u)}) {
        std::vector<Entity> made(count);
        ASSERT_TRUE(database.create<ReportedTick>(made, zone).ok());
    }
    // Without positions zones are cells of a grid, the one with the most entities first and brightest.
    expect_texts(report(), {"class=\"zone-map\"", "<title>zone 8: 20 entities,", "fill=\"rgb(253, 231, 37)\"",
                            "<title>zone 3: 2 entities,"});
    // With positions their boxes are around them: two boxes of 10 m by 5 m, 10 m apart.
    for (const auto& [zone, x] : {std::pair(3u, 0.0f), std::pair(8u, 20.0f)}) {
        std::vector<Entity> made(2);
        const std::vector<ReportedBody> corners = {{1, {x, 0, 0}}, {1, {x + 10, 5, 0}}};
        ASSERT_TRUE(database.create<ReportedBody>(made, zone, corners).ok());
    }
    expect_texts(report(), {"<g transform=\"translate(0.0 0.0)\"><title>zone 3: 4 entities,",
                            "<g transform=\"translate(786.7 0.0)\"><title>zone 8: 22 entities,",
                            "<rect width=\"393.3\" height=\"196.7\""});
}

TEST_F(HtmlReport, shows_the_tables_of_services) {
    struct Tide final : WorldService {
        Tide() : WorldService("tide") {}
        std::string describe() const override { return "it comes in"; }
        std::string table() const override { return "place\tmetres\npier <1>\t1.5\nreef\t12\n"; }
    } tide;
    EXPECT_EQ(report().find("it comes in"), std::string::npos);
    world.services().add(tide);
    expect_texts(report(), {"<h3>tide</h3>", "it comes in", ">metres<", ">pier &lt;1&gt;<", ">12<"});
    world.services().remove(tide);
}

TEST_F(HtmlReport, takes_any_text) {
    for (const char* name : {"<script>alert(1)</script>", "a&b", "\xff", "quote\"", "ctrl\x01"})
        world.schedule().add(name, [](PassContext&) {});
    const std::string html = report({.title = "</title><b>", .facts = {{"<i>", "&amp;\x02"}}});
    EXPECT_EQ(html.find("<script"), std::string::npos);
    expect_texts(html, {"&lt;/title&gt;&lt;b&gt;", "&lt;script&gt;alert(1)", "a&amp;b", "(not UTF-8)"});
}

TEST_F(HtmlReport, of_a_large_world_is_cut_and_says_so) {
    for (int i = 0; i < 400; ++i) world.schedule().add(concat("pass_", std::string(100, 'x'), i), [](PassContext&) {});
    Manager<ReportedBody>& bodies = world.manager<ReportedBody>();
    const std::vector<Entity> many = create(60'000);
    ASSERT_TRUE(bodies.add(many));
    Random random(1);
    for (const Entity entity : many)
        bodies.set<&ReportedBody::position>(bodies.instance(entity), {random.unit() * 1000, random.unit() * 1000, 0});
    world.step(1);
    expect_texts(report(), {"too many passes to draw here", "and 250 more"});
}

TEST_F(HtmlReport, of_a_schedule_without_an_order_is_an_error) {
    world.schedule().add("a", [](PassContext&) {}).after("b");
    const Result<std::string> html = html_report(world);
    ASSERT_FALSE(html.ok());
    EXPECT_NE(html.message().find("\"b\""), std::string::npos) << html.message();
}

}  // namespace
