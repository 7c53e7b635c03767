#include "shoal/inspect/zone_report.h"

#include "shoal/base/text.h"
#include "shoal/inspect/text_table.h"
#include "support/json.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace {

using namespace shoal;

struct Place {
    Vec3 position;
};
SHOAL_COMPONENT(Place, position)

struct Speed {
    Vec3 value;
};
SHOAL_COMPONENT(Speed, value)

class ZoneReportTest : public ::testing::Test {
protected:
    ZoneReportTest() {
        for (Zone zone = 0; zone < 5; ++zone) {
            std::vector<Entity> made(std::size_t(1000) * (zone + 1));
            EXPECT_TRUE((database_.create<Place, Speed>(made, zone * 10)).ok());
            if (zone == 0) entities_.destroy(made[0]);
        }
        std::vector<Entity> made(7);
        EXPECT_TRUE(database_.create<Place>(made, 20).ok());
        entities_.destroy(made[0]);
    }

    EntityManager entities_;
    PagePool pool_;
    Database database_{entities_, pool_};
};

TEST_F(ZoneReportTest, every_zone_is_reported_with_its_component_types) {
    const std::vector<ZoneReport> zones = report_zones(database_);
    ASSERT_EQ(zones.size(), 5u);
    EXPECT_EQ(zones[2].zone, 20u);
    EXPECT_EQ(zones[2].num_entities, 3007u);
    ASSERT_EQ(zones[2].components.size(), 2u);
    EXPECT_EQ(zones[2].components[0].name, "place");
    EXPECT_EQ(zones[2].components[0].num_rows, 3007u);
    EXPECT_EQ(zones[2].components[0].num_dead_rows, 1u);
    EXPECT_EQ(zones[2].components[1].num_rows, 3000u);
    EXPECT_EQ(zones[2].components[1].num_dead_rows, 0u);
    EXPECT_GE(zones[2].memory().used_bytes, 3000 * (sizeof(Place) + sizeof(Speed) + sizeof(Entity)));
}

TEST_F(ZoneReportTest, the_text_shows_the_largest_zones_and_the_rest_together) {
    const std::vector<ZoneReport> zones = report_zones(database_);
    const std::string text = zones_text(zones, 2);
    EXPECT_NE(text.find("\n40            place  5,000     0"), std::string::npos) << text;
    EXPECT_LT(text.find("\n40 "), text.find("\n30 "));
    EXPECT_EQ(text.find("\n20 "), std::string::npos) << text;
    EXPECT_NE(text.find("\n3 others      place  6,007     2"), std::string::npos) << text;
    MemoryUse rows, index;
    for (std::size_t i = 0; i < 3; ++i) rows += zones[i].components[0].rows, index += zones[i].components[0].index;
    const std::size_t others = text.find("\n3 others      place");
    const std::string line = text.substr(others, text.find('\n', others + 1) - others);
    EXPECT_TRUE(line.ends_with(
                    concat(bytes_text(rows.reserved_bytes), std::string(2, ' '), bytes_text(index.committed_bytes))) ||
                line.ends_with(concat(' ', bytes_text(index.committed_bytes))))
        << line;
    std::vector<ZoneReport> equal = {
        {9, 1, {{.name = "place"}}}, {4, 1, {{.name = "place"}}}, {6, 1, {{.name = "place"}}}};
    const std::string ties = zones_text(equal, 2);
    EXPECT_LT(ties.find("\n4 "), ties.find("\n6 "));
    EXPECT_NE(ties.find("\n1 other"), std::string::npos) << ties;
    EXPECT_EQ(zones_text(zones, 5).find("other"), std::string::npos);
    EXPECT_EQ(zones_text({}), "");
}

TEST(ZoneBoundsOf, a_zone_without_points_are_none) {
    ZoneBounds empty{3, {}}, full{5, {}};
    empty.bounds.add({std::numeric_limits<float>::infinity(), 0, 0});
    full.bounds.add({1, 2, 3});
    const ZoneBounds all[] = {empty, full};
    EXPECT_EQ(find_bounds(all, 3), nullptr);
    EXPECT_EQ(find_bounds(all, 4), nullptr);
    EXPECT_EQ(find_bounds(all, 5), &all[1].bounds);
    EXPECT_EQ(find_bounds(all, 6), nullptr);
}

TEST_F(ZoneReportTest, json_says_the_same) {
    const std::vector<ZoneReport> zones = report_zones(database_);
    const nlohmann::json json = nlohmann::json::parse(zones_json(zones));
    ASSERT_EQ(json["zones"].size(), 5u);
    const nlohmann::json& third = json["zones"][2];
    EXPECT_EQ(third["zone"], 20);
    EXPECT_EQ(third["entities"], 3007);
    EXPECT_EQ(third["committed_bytes"], zones[2].memory().committed_bytes);
    EXPECT_EQ(third["components"]["place"]["dead_rows"], 1);
    EXPECT_EQ(third["components"]["speed"]["used_bytes"], zones[2].components[1].rows.used_bytes);
    EXPECT_EQ(third["components"]["speed"]["index"]["reserved_bytes"], zones[2].components[1].index.reserved_bytes);
}

}  // namespace
