// What the headers of source and inspect show.

#include "shoal/base/file.h"
#include "shoal/components/point_mass.h"
#include "shoal/import/gltf.h"
#include "shoal/inspect/describe_entity.h"
#include "shoal/inspect/report.h"
#include "shoal/inspect/zone_report.h"
#include "shoal/rewrite/source_diff.h"
#include "shoal/rewrite/source_merge.h"
#include "shoal/rewrite/source_text.h"
#include "shoal/source/compiler.h"
#include "shoal/source/detail/json_schema.h"
#include "shoal/source/schema_file.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <vector>

namespace {

using namespace shoal;

Status report(const Diagnostics& diagnostics) { return Status::error(diagnostics.format()); }

Status compile_garden() {
    // [source/compiler]
    ComponentRegistry registry;  // built-in component types, the program's own, those of schema files
    CompileOptions options;
    Diagnostics diagnostics;
    if (!read_schema_file("reef.schema.sjson", registry, options.rules, diagnostics)) return report(diagnostics);
    Result<CompiledSource> reef = compile_source("reef/garden.sjson", registry, options, diagnostics);
    std::fputs(diagnostics.format().c_str(), stderr);  // errors and warnings, each with its place
    if (reef) return write_file("garden.blob", reef->blob);
    // [source/compiler]
    return reef.status();
}

std::size_t compile_and_compare() {
    ComponentRegistry registry;
    CompileOptions options;
    Diagnostics diagnostics;
    // [source/inputs]
    SourceInputs inputs;
    options.inputs = &inputs;
    Result<CompiledSource> reef = compile_source("reef/garden.sjson", registry, options, diagnostics);
    // later, perhaps in another process, which has read the inputs from the blob:
    DiskFiles disk;
    InputFiles files(disk);
    for (const InputChange& change : find_changes(inputs, registry, options.rules, options.program, files))
        std::printf("%s\n", change.message.c_str());  // reef/coral.sjson changed
    // [source/inputs]
    EXPECT_FALSE(reef) << "no schema declares crabs";
    EXPECT_TRUE(write_file("reef/garden.sjson", std::string_view("components = {}")));
    files.look_again();
    return find_changes(inputs, registry, options.rules, options.program, files).size();
}

Status export_types(const World& world) {
    // [source/schema_file]
    if (Status status = export_schemas(world, "game.schema.sjson"); !status) return status;
    // [source/schema_file]
    return {};
}

/// A folder of its own, where the process stays while the test runs.
struct SourceManuals : ::testing::Test {
    SourceManuals() {
        std::filesystem::create_directories(folder / "reef");
        std::filesystem::current_path(folder);
    }
    ~SourceManuals() override {
        std::filesystem::current_path(before);
        std::filesystem::remove_all(folder);
    }
    const std::filesystem::path before = std::filesystem::current_path();
    const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "shoal_manuals";
};

TEST_F(SourceManuals, a_source_is_compiled) {
    EXPECT_FALSE(compile_garden()) << "there is no schema file";
    ASSERT_TRUE(
        write_file("reef.schema.sjson", std::string_view("components = { crab = { fields = { claws = uint8 } } }")));
    ASSERT_TRUE(write_file("reef/garden.sjson", std::string_view("components = { crab = { claws = 2 } }")));
    const Status status = compile_garden();
    EXPECT_TRUE(status) << status.message();
    EXPECT_GT(read_file("garden.blob")->size(), 100u);
}

TEST_F(SourceManuals, inputs_are_compared) {
    ASSERT_TRUE(write_file("reef/garden.sjson", std::string_view("components = { crab = { claws = 2 } }")));
    EXPECT_EQ(compile_and_compare(), 1u);
}

TEST_F(SourceManuals, a_source_is_composed) {
    ASSERT_TRUE(write_file("reef/garden.sjson", std::string_view("components = { crab = { claws = 2 } }")));
    ComposeOptions options;
    // [source/composer]
    Diagnostics diagnostics;
    std::optional<Composition> reef = compose("reef/garden.sjson", options, diagnostics);
    // [source/composer]
    EXPECT_TRUE(reef.has_value()) << diagnostics.format();
}

TEST_F(SourceManuals, a_source_is_rewritten) {
    Diagnostics diagnostics;
    const std::uint32_t file = diagnostics.add_file("reef.sjson", "crab = { claws = 2 }  // both\n");
    // [rewrite/source_text]
    SourceComments comments;
    const Result<Document> reef = read_source_text(file, diagnostics, comments);
    const std::string yaml = write_source_text(reef->root(), SourceFormat::kYaml, diagnostics, comments);
    // [rewrite/source_text]
    EXPECT_EQ(yaml, "crab: {claws: 2}  # both\n");
}

TEST_F(SourceManuals, sources_are_compared_and_merged) {
    std::string text = "entities = { a1 = { glow = { power = 2 } } }";
    // [rewrite/source_tree]
    Diagnostics diagnostics;
    const std::uint32_t file = diagnostics.add_file("reef/garden.sjson", std::move(text));
    std::optional<SourceTree> garden = read_source_tree(file, diagnostics);
    // [rewrite/source_tree]
    ASSERT_TRUE(garden);
    SourceComments comments;
    const auto read = [&](const char* name, const char* said) {
        return read_source_tree(diagnostics.add_file(name, said), diagnostics, comments);
    };
    const std::optional<SourceTree> of_a = read("a.sjson", "entities = { a1 = { glow = { power = 3 } } }");
    const std::optional<SourceTree> of_b = read("b.sjson", "entities = { a1 = { glow = { power = 2 } } a2 = {} }");
    const SourceTree &base = *garden, &a = *of_a, &b = *of_b, &before = base, &after = a;
    std::string printed;
    const auto print = [&](const std::string& more) { printed += more; };
    // [rewrite/source_diff]
    const std::vector<SourceDifference> differences = diff_sources(before, after);
    print(differences_text(differences));
    // [rewrite/source_diff]
    EXPECT_EQ(printed, "a1\n-   components.glow.power = 2\n+   components.glow.power = 3\n");
    printed.clear();
    // [rewrite/source_merge]
    const std::optional<Document> merged = merge_sources(base, a, b, diagnostics, comments);
    if (merged) print(write_source_text(merged->root(), SourceFormat::kSjson, diagnostics, comments));
    // [rewrite/source_merge]
    EXPECT_NE(printed.find("power = 3"), std::string::npos) << printed;
    EXPECT_NE(printed.find("a2"), std::string::npos) << printed;
}

TEST_F(SourceManuals, a_gltf_file_is_imported) {
    const std::string bytes = "{ \"asset\": { \"version\": \"2.0\" }, \"nodes\": [ { \"name\": \"hull\" } ] }";
    ComponentRegistry registry;
    GltfOptions options;
    // [import/gltf]
    Diagnostics diagnostics;
    Result<std::string_view> json = gltf_json(bytes);  // all of a .gltf, the JSON chunk of a .glb
    const std::uint32_t file = diagnostics.add_file("ship.gltf", std::string(*json));
    std::optional<ImportedGltf> ship = import_gltf(file, registry, options, diagnostics);
    // [import/gltf]
    ASSERT_TRUE(ship) << diagnostics.format();
    EXPECT_EQ(ship->num_entities, 2u);
}

TEST_F(SourceManuals, editors_get_a_json_schema) {
    ComponentRegistry registry;
    ASSERT_TRUE(registry.add<PointMass>());
    // [source/json_schema]
    SourceRules rules;  // of schema files
    const Document schema = json_schema(registry, rules);
    const std::string text = write_source_text(schema.root(), SourceFormat::kJson, Diagnostics(), SourceComments());
    // [source/json_schema]
    EXPECT_NE(text.find("\"point_mass\""), std::string::npos);
}

TEST_F(SourceManuals, schemas_are_exported) {
    EntityManager entities;
    World world(entities);
    world.manager<PointMass>();
    const Status status = export_types(world);
    EXPECT_TRUE(status) << status.message();
    EXPECT_NE(read_file("game.schema.sjson")->find("point_mass"), std::string::npos);
}

TEST(InspectManuals, an_entity_is_described) {
    EntityManager entities;
    World world(entities);
    const Entity boat = entities.create().value();
    ASSERT_TRUE(world.manager<PointMass>().add(boat));
    testing::internal::CaptureStdout();
    // [inspect/describe]
    std::fputs(describe(world, boat).c_str(), stdout);
    // [inspect/describe]
    EXPECT_EQ(testing::internal::GetCapturedStdout(),
              "entity 1:1 is alive\n"
              "  point_mass: mass = 1.0, position = [0.0 0.0 0.0], velocity = [0.0 0.0 0.0], acceleration = [0.0 0.0 "
              "0.0]\n");
}

TEST(InspectManuals, reports_are_printed) {
    EntityManager entities;
    World world(entities);
    Database sea(entities, world.pool());
    Entity fish[3];
    ASSERT_TRUE(sea.create<PointMass>(fish, 12));
    FILE* const file = std::tmpfile();
    ASSERT_NE(file, nullptr);
    {
        // [inspect/report]
        WorldReport report = report_world(world);
        std::fputs(report_text(report).c_str(), stdout);  // for people
        std::fputs(report_json(report).c_str(), file);    // for programs, the same facts
        // [inspect/report]
    }
    // [inspect/zone_report]
    std::vector<ZoneReport> zones = report_zones(sea);
    std::fputs(zones_text(zones, 10).c_str(), stdout);  // the ten largest, and the rest in a line each
    std::fputs(zones_json(zones).c_str(), file);
    // [inspect/zone_report]
    EXPECT_GT(std::ftell(file), 100);
    std::fclose(file);
}

}  // namespace
