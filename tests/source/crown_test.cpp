// Real levels of another engine, with the schema file for their component types.

#include "shoal/source/compiler.h"
#include "shoal/source/schema_file.h"
#include "shoal/transform/transform_text.h"
#include "support/testing.h"

#include "shoal/base/file.h"

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

TEST_F(Crown, the_bytes_are_the_same_every_time) {
    const Result<CompiledSource> first = compile("01-physics/levels/mover.level");
    const Result<CompiledSource> second = compile("01-physics/levels/mover.level");
    ASSERT_TRUE(first.ok() && second.ok());
    EXPECT_TRUE(first->blob == second->blob);
}

}  // namespace
