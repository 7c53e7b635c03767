// Real levels of another engine, with the schema file for their component types.

#include "shoal/source/compiler.h"
#include "shoal/source/schema_file.h"
#include "shoal/transform/transform_text.h"
#include "support/testing.h"

#include "shoal/base/file.h"

#include <cstring>
#include <filesystem>
#include <map>

using namespace shoal;

namespace {

const std::string kCrown = SHOAL_SOURCE_DIR "/../shared/corpora/crown";

class Crown : public ::testing::Test {
protected:
    void SetUp() override {
        if (!is_directory(kCrown)) GTEST_SKIP() << "skipped: there is no " << kCrown;
        ASSERT_TRUE(add_transform(registry).ok());
        ASSERT_TRUE(
            read_schema_file(SHOAL_SOURCE_DIR "/tests/corpora/crown.sjson", registry, options.rules, diagnostics))
            << diagnostics.format();
        options.compose.roots = {kCrown + "/01-physics", kCrown};
    }
    Result<CompiledSource> compile(const std::string& name) {
        return compile_source(kCrown + "/" + name, registry, options, diagnostics);
    }

    ComponentRegistry registry;
    CompileOptions options;
    Diagnostics diagnostics;
};

std::map<std::string, std::uint64_t> counts(const CompiledSource& source) {
    std::map<std::string, std::uint64_t> result;
    for (const ComponentCount& component : source.components) result[component.name] = component.count;
    return result;
}

TEST_F(Crown, a_real_level_compiles_unchanged_and_gives_the_counts_of_its_readme) {  // req: G1 D16 D22
    const Result<CompiledSource> level = compile("01-physics/levels/mover.level");
    ASSERT_TRUE(level.ok()) << level.message() << "\n" << diagnostics.format();
    EXPECT_EQ(level->num_roots, 325u);
    EXPECT_EQ(level->num_entities, 327u);
    EXPECT_EQ(level->num_components, 1287u);
    const std::map<std::string, std::uint64_t> expected = {
        {"transform", 326},   {"mesh_renderer", 317}, {"collider", 303},
        {"actor", 303},       {"script", 20},         {"mover", 9},
        {"light", 2},         {"camera", 1},          {"animation_state_machine", 1},
        {"fog", 1},           {"bloom", 1},           {"global_lighting", 1},
        {"color_grading", 1}, {"tonemap", 1}};
    EXPECT_EQ(counts(*level), expected);
    EXPECT_EQ(level->num_kept_components, 0u);
    EXPECT_EQ(level->num_kept_fields, 0u);
    EXPECT_EQ(level->num_warnings, 0u) << diagnostics.format();
    EXPECT_FALSE(level->blob.empty());
}

TEST_F(Crown, every_unit_compiles_alone) {
    int num_units = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(kCrown)) {
        if (entry.path().extension() != ".unit") continue;
        ++num_units;
        const Result<CompiledSource> unit = compile_source(entry.path().string(), registry, options, diagnostics);
        ASSERT_TRUE(unit.ok()) << unit.message() << "\n" << diagnostics.format();
        EXPECT_EQ(unit->num_roots, 1u);
        EXPECT_GT(unit->num_components, 0u) << entry.path();
        const bool has_stale_field = entry.path().filename() == "skydome.unit";  // its transform has a `name`
        EXPECT_EQ(unit->num_kept_fields, has_stale_field ? 1u : 0u) << diagnostics.format();
        EXPECT_EQ(unit->num_warnings, unit->num_kept_fields) << diagnostics.format();
    }
    EXPECT_GE(num_units, 15);
}

TEST_F(Crown, shadows_of_a_light_have_the_bias_of_the_sample) {
    const Schema* const light = registry.find("light")->schema;
    float bias = 0;
    for (const Field& field : light->fields())
        if (field.name == "shadow_bias")
            std::memcpy(&bias, light->default_image().data() + field.struct_offset, sizeof bias);
    EXPECT_EQ(bias, 0.0004f);
    for (const char* const name : {"sprite_renderer", "lod_group", "fixed_joint", "hinge_joint", "spherical_joint",
                                   "spring_joint", "limb_joint", "d6_joint"})
        EXPECT_TRUE(registry.find(name) != nullptr && registry.find(name)->schema != nullptr) << name;
}

TEST_F(Crown, the_bytes_are_the_same_every_time) {
    const Result<CompiledSource> first = compile("01-physics/levels/mover.level");
    const Result<CompiledSource> second = compile("01-physics/levels/mover.level");
    ASSERT_TRUE(first.ok() && second.ok());
    EXPECT_TRUE(first->blob == second->blob);
}

// --- levels with units and entities side by side ----------------------------------------------------------------------

class SideBySide : public ::testing::Test {
protected:
    void SetUp() override {
        ASSERT_TRUE(add_transform(registry).ok());
        ASSERT_TRUE(read_schema_file(SHOAL_SOURCE_DIR "/tests/corpora/side_by_side.sjson", registry, options.rules,
                                     diagnostics))
            << diagnostics.format();
    }

    ComponentRegistry registry;
    CompileOptions options;
    Diagnostics diagnostics;
};

TEST_F(SideBySide, a_level_with_units_and_entities_compiles_and_drops_nothing) {
    // As such levels are written; the names are ours.
    const char* const text = R"(
editor_metadata = { Units = [ { Id = "1" Pos = { X = 0 Y = 0 Z = 0 } } ] }
entity_version = "0.2.0"
flow = { nodes = [ { type = "level_loaded" id = "2" } ] }
units = [
    { type = "models/reef/floor" data = {} name = "Floor" lights = {} scl = [1 1 1] material = "sand"
      id = "5c1a86dd-37c2-4b0e-91aa-0c2f6f9d7e10" pos = [0 0 -2.5] rot = [0 0 0 -1] }
    { type = "core/light" data = {} name = "Sun" lights = { light = { color = [1 1 1] type = "directional" } }
      id = "9f2b6a41-8d70-4c55-b2fe-77e0d1c3a592" pos = [0 0 18] rot = [0 0 0 1] scl = [2 2 2] material = "" }
]
level_settings = { sound_environment = "" }
entities = [
    { id = "b07d34f2-1e6c-4a98-8c3d-5f60a9e2d841" name = "midday" inherit = { name = "environments/midday" }
      modified_components = { "a1f0c2d3-0000-4000-8000-000000000001" = { intensity = 0.25 } } }
]
sounds = []
)";
    const std::uint32_t file = diagnostics.add_file("reef.level", text);
    const Result<CompiledSource> level = compile_file(file, registry, options, diagnostics);
    ASSERT_TRUE(level.ok()) << diagnostics.format();
    EXPECT_EQ(level->num_roots, 3u);
    ASSERT_EQ(level->components.size(), 1u);
    EXPECT_EQ(level->components[0].name, "transform");
    EXPECT_EQ(level->components[0].count, 2u);
    // type, data, lights and material of both units, inherit of the entity, level_settings and sounds of the level.
    EXPECT_EQ(level->num_kept_fields, 11u) << diagnostics.format();
    EXPECT_NE(diagnostics.format().find("kept 2 values of \"type\" in the level or its entities as text"),
              std::string::npos)
        << diagnostics.format();
}

}  // namespace
