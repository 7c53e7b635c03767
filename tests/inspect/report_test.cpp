#include "shoal/inspect/report.h"

#include "shoal/components/point_mass.h"
#include "shoal/components/tag.h"
#include "shoal/inspect/text_table.h"
#include "support/json.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace {

using namespace shoal;

struct Weight {
    float kilograms = 1;
};
SHOAL_COMPONENT(Weight, kilograms)
struct Depth {
    Vec3 least{}, most{};
};
SHOAL_COMPONENT(Depth, least, most)

class ReportTest : public ::testing::Test {
protected:
    void SetUp() override {
        stones_.resize(5000);
        ASSERT_TRUE(entities_.create(stones_).ok());
        ASSERT_TRUE(world_.manager<PointMass>().add(stones_).ok());
        ASSERT_TRUE(world_.manager<Tag>({.death = DeathPolicy::kRandomProbe}).add(std::span(stones_).first(10)).ok());
        world_.schedule().add("count", [](PassContext& pass) {
            pass.num_rows = 123;
            pass.num_bytes = 4567;
        });
    }

    EntityManager entities_;
    World world_{entities_};
    std::vector<Entity> stones_;
};

TEST_F(ReportTest, a_pass_is_reported_with_its_runs_rows_bytes_and_time) {  // req: F12
    std::int64_t total_ns = 0, last_ns = 0;
    for (int i = 0; i < 3; ++i) {
        world_.step(0.1f);
        total_ns += last_ns = world_.schedule().statistics(0).last_ns;
    }
    const WorldReport report = report_world(world_);
    EXPECT_EQ(report.frame, 3u);
    ASSERT_EQ(report.passes.size(), 1u);
    const PassReport& pass = report.passes[0];
    EXPECT_EQ(pass.name, "count");
    EXPECT_EQ(pass.num_runs, 3u);
    EXPECT_EQ(pass.num_rows, 123u);
    EXPECT_EQ(pass.total_rows, 369u);
    EXPECT_EQ(pass.total_bytes, 3u * 4567u);
    EXPECT_EQ(pass.last_ns, last_ns);
    EXPECT_EQ(pass.total_ns, total_ns) << "of all runs";
    EXPECT_GT(total_ns, last_ns);
    EXPECT_DOUBLE_EQ(pass.total_ms(), static_cast<double>(total_ns) / 1e6);
    EXPECT_DOUBLE_EQ(pass.mean_ms() * 3, pass.total_ms());
}

TEST_F(ReportTest, a_pass_that_is_disabled_or_does_not_run_in_every_frame_says_so) {
    Schedule& schedule = world_.schedule();
    schedule.add("think", [](PassContext&) {}).every_frames(4);
    schedule.add("save", [](PassContext&) {}).every_seconds(0.5f);
    schedule.add("blink", [](PassContext&) {}).every_frames(2);
    ASSERT_TRUE(schedule.enable("save", false));
    const WorldReport report = report_world(world_);
    const std::string text = report_text(report);
    EXPECT_NE(text.find("\ncount  "), std::string::npos) << text;
    EXPECT_NE(text.find("\nthink, every 4 frames  "), std::string::npos) << text;
    EXPECT_NE(text.find("\nsave, every 0.5 s, disabled  "), std::string::npos) << text;
    EXPECT_NE(text.find("\nblink, every 2 frames  "), std::string::npos) << text;
    const nlohmann::json passes = nlohmann::json::parse(report_json(report))["passes"];
    for (const char* key : {"enabled", "every_frames", "every_seconds"}) EXPECT_FALSE(passes[0].contains(key)) << key;
    EXPECT_EQ(passes[1].value("every_frames", 0), 4);
    EXPECT_FALSE(passes[1].contains("enabled"));
    EXPECT_EQ(passes[2].value("every_seconds", 0.0), 0.5);
    EXPECT_EQ(passes[3].value("every_frames", 0), 2);
    EXPECT_FALSE(passes[2].value("enabled", true));
}

TEST_F(ReportTest, memory_is_reported_per_component_type) {  // req: F12
    const WorldReport report = report_world(world_);
    EXPECT_EQ(report.num_entities, 5000u);
    ASSERT_EQ(report.components.size(), 2u);
    const ComponentReport& masses = report.components[0];
    EXPECT_EQ(masses.name, "point_mass");
    EXPECT_EQ(masses.num_rows, 5000u);
    EXPECT_EQ(masses.row_bytes, sizeof(PointMass));
    EXPECT_EQ(masses.rows.used_bytes, 5000 * (sizeof(PointMass) + sizeof(Entity))) << "fields and owners";
    EXPECT_GE(masses.index.used_bytes, 5001 * sizeof(EntityBits)) << "an entry per index, that of the null entity too";
    EXPECT_LE(masses.index.used_bytes, round_up(5001 * sizeof(EntityBits), kPageBytes));
    EXPECT_LE(masses.rows.used_bytes, masses.rows.committed_bytes);
    EXPECT_GE(masses.bytes_per_row(), double(sizeof(PointMass)));
    EXPECT_EQ(masses.wasted_bytes(), masses.rows.committed_bytes - masses.rows.used_bytes +
                                         masses.index.committed_bytes - masses.index.used_bytes);
    const ComponentReport& tags = report.components[1];
    EXPECT_EQ(tags.name, "tag");
    EXPECT_EQ(tags.num_rows, 10u);
    EXPECT_EQ(tags.rows.used_bytes, 10 * (sizeof(Tag) + sizeof(Entity) + 2 * sizeof(std::uint32_t)))
        << "with the links of those of one entity";
    MemoryUse tables;
    for (const ComponentReport& component : report.components) tables += component.rows;
    ASSERT_EQ(report.memory[0].name, "component tables");
    EXPECT_EQ(report.memory[0].memory.committed_bytes, tables.committed_bytes);
}

TEST_F(ReportTest, memory_in_a_database_is_reported_per_component_type_too) {  // req: F12
    Database& database = world_.database();
    ASSERT_TRUE(database.add(std::span(stones_).first(2000), Weight{1}));
    ASSERT_TRUE(database.add(std::span(stones_).first(500), Depth{}));
    const WorldReport report = report_world(world_);
    ASSERT_EQ(report.components.size(), 4u);
    const ComponentReport &weights = report.components[2], &depths = report.components[3];
    EXPECT_EQ(weights.name, "weight");
    EXPECT_EQ(weights.num_rows, 2000u);
    EXPECT_EQ(depths.name, "depth");
    EXPECT_EQ(depths.num_rows, 500u);
    EXPECT_EQ(weights.row_bytes, sizeof(Weight));
    EXPECT_EQ(depths.row_bytes, sizeof(Depth));
    // Component types in one table share what its rows cost beside their fields.
    EXPECT_GE(weights.rows.used_bytes, 2000 * sizeof(Weight));
    EXPECT_GE(depths.rows.used_bytes, 500 * sizeof(Depth));
    std::size_t used = 0;
    for (const Table* table : database.tables()) used += table->memory_use().used_bytes;
    EXPECT_NEAR(double(weights.rows.used_bytes + depths.rows.used_bytes), double(used), 4)
        << "nothing is counted twice";
}

TEST_F(ReportTest, rows_of_the_dead_are_counted_until_they_are_collected) {
    entities_.destroy(std::span(stones_).first(4));
    EXPECT_EQ(report_world(world_).components[0].num_dead_rows, 4u);
    EXPECT_EQ(report_world(world_).components[1].num_dead_rows, 4u);
    world_.settle();
    EXPECT_EQ(report_world(world_).components[0].num_dead_rows, 0u);
    EXPECT_EQ(report_world(world_).components[0].num_rows, 4996u);
}

TEST_F(ReportTest, no_byte_of_a_table_is_counted_for_two_owners) {
    const WorldReport report = report_world(world_);
    MemoryUse tables;
    for (const ComponentReport& component : report.components) tables += component.rows;
    ASSERT_FALSE(report.memory.empty());
    EXPECT_EQ(report.memory[0].memory.committed_bytes, tables.committed_bytes);
    const PagePoolStatistics pool = world_.pool().statistics();
    for (const OwnerReport& owner : report.memory) {
        EXPECT_LE(owner.memory.used_bytes, owner.memory.committed_bytes) << owner.name;
        EXPECT_LE(owner.memory.committed_bytes, owner.memory.reserved_bytes) << owner.name;
        if (owner.name == "page pool: free in slabs") {
            EXPECT_EQ(owner.memory.committed_bytes + pool.slab_used_bytes, pool.slab_committed_bytes);
        }
    }
}

TEST_F(ReportTest, what_commands_have_done_is_reported_once_there_were_any) {
    world_.step(0);
    EXPECT_EQ(report_text(report_world(world_)).find("settles"), std::string::npos);
    Database& sea = world_.database();
    sea.commands().create(3, Weight{});
    sea.commands().create(3, Weight{});
    sea.commands().destroy(std::span(stones_).first(7));
    sea.commands().destroy(stones_[0]);
    world_.step(0);
    world_.step(0);
    const WorldReport report = report_world(world_);
    EXPECT_EQ(report.settled.num_created, 2u);
    EXPECT_EQ(report.settled.num_destroyed, 7u);
    EXPECT_EQ(report.last_settle.num_created, 0u);
    EXPECT_NE(report_text(report).find("settles"), std::string::npos);
    const nlohmann::json json = nlohmann::json::parse(report_json(report));
    EXPECT_EQ(json["settles"]["all"]["created"], 2);
    EXPECT_EQ(json["settles"]["all"]["destroyed"], 7);
    EXPECT_EQ(json["settles"]["all"]["dropped"], 1);
    EXPECT_EQ(json["settles"]["last"]["created"], 0);
}

TEST_F(ReportTest, an_empty_world_is_reported_too) {
    EntityManager nobody;
    World empty(nobody);
    const WorldReport report = report_world(empty);
    EXPECT_TRUE(report.passes.empty());
    EXPECT_TRUE(report.components.empty());
    EXPECT_NE(report_text(report).find("total"), std::string::npos);
    const nlohmann::json json = nlohmann::json::parse(report_json(report));
    EXPECT_EQ(json["entities"], 0);
    EXPECT_TRUE(json["passes"].is_array());
    EXPECT_TRUE(json["components"].empty());
}

TEST_F(ReportTest, json_and_text_say_the_same) {
    world_.step(0.1f);
    entities_.destroy(std::span(stones_).first(4));
    const WorldReport report = report_world(world_);
    const nlohmann::json json = nlohmann::json::parse(report_json(report));
    const std::string text = report_text(report);
    EXPECT_EQ(json["entities"], 4996);
    EXPECT_EQ(report.components[0].num_dead_rows, 4u);
    EXPECT_EQ(json["frame"], 1);
    EXPECT_EQ(json["passes"][0]["name"], "count");
    EXPECT_EQ(json["passes"][0]["rows"], 123);
    EXPECT_EQ(json["passes"][0]["ms_total"], report.passes[0].total_ms());
    EXPECT_NE(text.find("count     1   123"), std::string::npos) << text;
    for (const ComponentReport& component : report.components) {
        const nlohmann::json& told = json["components"][component.name];
        EXPECT_EQ(told["rows"], component.num_rows);
        EXPECT_EQ(told["dead_rows"], component.num_dead_rows);
        EXPECT_EQ(told["used_bytes"], component.rows.used_bytes);
        EXPECT_EQ(told["index"]["committed_bytes"], component.index.committed_bytes);
        EXPECT_EQ(told["wasted_bytes"], component.wasted_bytes());
        const std::size_t line = text.find("\n" + component.name + " ");
        ASSERT_NE(line, std::string::npos) << text;
        const std::string row = text.substr(line + 1, text.find('\n', line + 1) - line - 1);
        EXPECT_NE(row.find(" " + count_text(component.num_rows) + " "), std::string::npos) << row;
        EXPECT_NE(row.find(bytes_text(component.rows.committed_bytes)), std::string::npos) << row;
    }
    for (const OwnerReport& owner : report.memory)
        EXPECT_EQ(json["memory"][owner.name]["committed_bytes"], owner.memory.committed_bytes);
}

TEST(WorldReports, show_up_to_four_workers_one_by_one_and_each_kind_of_settle) {
    WorldReport report;
    report.passes.push_back({.name = "four", .worker_ns = {4'000'000, 1'000'000, 3'000'000, 2'000'000}});
    report.passes.push_back({.name = "five", .worker_ns = {4'000'000, 1'000'000, 5'000'000, 3'000'000, 2'000'000}});
    const std::string text = report_text(report);
    EXPECT_NE(text.find("  4.00 + 1.00 + 3.00 + 2.00  "), std::string::npos) << text;
    EXPECT_NE(text.find("  1.00 to 5.00  "), std::string::npos) << text;
    EXPECT_EQ(text.find("settles"), std::string::npos) << text;
    for (std::uint64_t SettleCounts::* const count : {&SettleCounts::num_created, &SettleCounts::num_destroyed,
                                                      &SettleCounts::num_moved, &SettleCounts::num_dropped}) {
        WorldReport settled;
        settled.settled.*count = 7;
        EXPECT_NE(report_text(settled).find("\nall  "), std::string::npos);
    }
}

TEST(WorldReports, give_each_number_under_its_own_name) {
    WorldReport report;
    report.num_entities = 1, report.frame = 2;
    report.passes.push_back({.name = "pass",
                             .num_runs = 3,
                             .num_rows = 4,
                             .total_rows = 5,
                             .total_bytes = 6'000'000,
                             .total_ns = 7'500'000,
                             .last_ns = 8'000'000,
                             .worker_ns = {9'000'000, 10'000'000},
                             .enabled = false,
                             .every_frames = 11,
                             .every_seconds = 12});
    report.components.push_back({.name = "component",
                                 .num_rows = 20,
                                 .num_dead_rows = 21,
                                 .row_bytes = 22,
                                 .rows = {23, 40, 25},
                                 .index = {26, 60, 28}});
    report.memory.push_back({"owner", {31, 32, 33}});
    report.last_settle = {
        .num_created = 41, .num_destroyed = 42, .num_moved = 43, .num_dropped = 44, .num_removed = 45};
    report.settled = {.num_created = 51, .num_destroyed = 52, .num_moved = 53, .num_dropped = 54, .num_removed = 55};
    const nlohmann::json index = {{"used_bytes", 26}, {"committed_bytes", 60}, {"reserved_bytes", 28}};
    const nlohmann::json expected = {
        {"entities", 1},
        {"frame", 2},
        {"passes",
         {{{"name", "pass"},
           {"runs", 3},
           {"rows", 4},
           {"total_rows", 5},
           {"total_bytes", 6'000'000},
           {"ms_total", 7.5},
           {"ms_mean", 2.5},
           {"ms_last", 8.0},
           {"gb_per_s", 0.8},
           {"ms_by_worker", {9.0, 10.0}},
           {"enabled", false},
           {"every_frames", 11},
           {"every_seconds", 12.0}}}},
        {"settles",
         {{"last", {{"created", 41}, {"destroyed", 42}, {"moved", 43}, {"dropped", 44}, {"removed", 45}}},
          {"all", {{"created", 51}, {"destroyed", 52}, {"moved", 53}, {"dropped", 54}, {"removed", 55}}}}},
        {"components",
         {{"component",
           {{"rows", 20},
            {"dead_rows", 21},
            {"row_bytes", 22},
            {"bytes_per_row", 5.0},
            {"used_bytes", 23},
            {"committed_bytes", 40},
            {"reserved_bytes", 25},
            {"index", index},
            {"wasted_bytes", 51}}}}},
        {"memory", {{"owner", {{"used_bytes", 31}, {"committed_bytes", 32}, {"reserved_bytes", 33}}}}}};
    EXPECT_EQ(nlohmann::json::parse(report_json(report)), expected);
    const std::string text = report_text(report);
    EXPECT_NE(text.find("last          41         42     43       44                 45\n"
                        "all           51         52     53       54                 55\n"),
              std::string::npos)
        << text;
}

TEST(PassReport, has_no_rate_and_no_mean_before_it_ran) {
    const PassReport pass;
    EXPECT_EQ(pass.mean_ms(), 0);
    EXPECT_EQ(pass.gb_per_s(), 0);
    const ComponentReport component;
    EXPECT_EQ(component.bytes_per_row(), 0);
}

}  // namespace
