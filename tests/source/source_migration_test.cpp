// What schema files say of older versions of component types, and blobs and sources of these versions.

#include "shoal/resource/blob.h"
#include "shoal/resource/dump.h"
#include "shoal/resource/migration.h"
#include "source_fixture.h"

namespace shoal_test {
namespace {

constexpr const char* kMoverV1 = R"(
    components = { mover = { fields = {
        armour = { type = float default = 2 }  size = vec2  mode = { type = enum values = [walk run] }
        ammo = int32  crew = int32  x = float  y = float } } })";

constexpr const char* kBodyV3 = R"(
    components = { body = {
        version = 3  renamed_from = mover
        migrations = [
            { from = 1  remove = [crew]  rename = { armour = armor }
              convert = { armor = { factor = 10 }  mode = { values = { walk = march } } }
              join = { place = [x y] }  set = { mass = 3 } }
            { from = 2  split = { size = [width length] }  convert = { ammo = float } } ]
        fields = { armor = { type = float default = 50 }  width = float  length = float
                   mode = { type = enum values = [run march] }
                   ammo = float  mass = { type = double default = 1 range = [0 10] }  place = vec2 } } })";

/// The components of all entities, as `dump` shows them, on one line each.
std::string values_of(const Blob& blob) {
    Diagnostics diagnostics;
    const Result<Document> dump = read_document(diagnostics.add_file("dump", dump_text(blob)), diagnostics);
    std::string text;
    for (const Node entity : dump->root().find("entity_data")) text += flat_text(entity.find("components")) + "\n";
    return text;
}

class SchemaMigrations : public SourceTest {
protected:
    /// Compiles a text with a schema of its own.
    static Blob old_blob(const std::string& schema_text, const std::string& source) {
        Diagnostics diagnostics;
        ComponentRegistry registry;
        CompileOptions options;
        EXPECT_TRUE(read_schema_text(diagnostics.add_file("old.schema.sjson", schema_text), registry, options.rules,
                                     diagnostics));
        const Result<CompiledSource> compiled =
            compile_file(diagnostics.add_file("old.sjson", source), registry, options, diagnostics);
        EXPECT_TRUE(compiled) << diagnostics.format();
        return Blob::load(compiled->blob).value();
    }
};

TEST_F(SchemaMigrations, convert_blobs_of_older_versions) {
    schema(kBodyV3);
    Blob blob = old_blob(kMoverV1, R"(entities = {
        a = { components = { mover = { armour = 4 size = [1 2] mode = "run" ammo = 7 crew = 2 x = 5 y = 6 } } }
        b = { components = { mover = {} } } })");
    const Status status = migrate(blob, registry);
    ASSERT_TRUE(status) << status.message();
    EXPECT_EQ(values_of(blob),
              "{body={armor=40 width=1 length=2 mode=run ammo=7 mass=3 place=[5 6]}}\n"
              "{body={armor=20 width=0 length=0 mode=march ammo=0 mass=3 place=[0 0]}}\n");
}

TEST_F(SchemaMigrations, set_values_that_later_versions_convert_if_they_have_a_type) {
    schema(R"(components = { body = { version = 3
        migrations = [ { from = 1  set = { mass = { type = int8  value = 7 }  at = { type = vec2  value = [1 2] } } }
                       { from = 2  convert = { mass = { type = float  factor = 0.5 } }  split = { at = [x y] } } ]
        fields = { mass = float  x = float  y = float } } })");
    Blob blob = old_blob("components = { body = null }", "components = { body = {} }");
    const Status status = migrate(blob, registry);
    ASSERT_TRUE(status) << status.message();
    EXPECT_EQ(values_of(blob), "{body={mass=3.5 x=1 y=2}}\n");
}

TEST_F(SchemaMigrations, may_stand_in_two_schema_files_if_they_are_the_same) {
    schema(kBodyV3);
    schema(kBodyV3);
    Blob blob = old_blob(kMoverV1, "components = { mover = {} }");
    EXPECT_TRUE(migrate(blob, registry)) << "steps that were added twice would not fit";
    std::string other = kBodyV3;
    other.replace(other.find("factor = 10"), 11, "factor = 20");
    EXPECT_TRUE(schema_errors(other).starts_with(
        "test.schema.sjson:2:20: error: component \"body\" has other `migrations` or `renamed_from` than before; say "
        "the same in both schema files, or in one only\n"))
        << diagnostics.format();
}

TEST_F(SchemaMigrations, are_written_with_the_schema) {
    schema(kBodyV3);
    const SourceRules::Declaration& declared = options.rules.declarations[0];
    const Result<std::string> text =
        write_schema_text(std::vector<SchemaDeclaration>{{registry.find("body")->schema, 0, declared.migrations}});
    ASSERT_TRUE(text) << text.message();
    ComponentRegistry again;
    SourceRules rules;
    ASSERT_TRUE(read_schema_text(diagnostics.add_file("again", *text), again, rules, diagnostics));
    Blob blob = old_blob(kMoverV1, "components = { mover = { ammo = 9 } }");
    ASSERT_TRUE(migrate(blob, again));
    EXPECT_EQ(values_of(blob), "{body={armor=20 width=0 length=0 mode=march ammo=9 mass=3 place=[0 0]}}\n");
}

TEST_F(SchemaMigrations, do_not_repeat_what_the_program_says) {
    ComponentDefinition definition;
    definition.name = "body";
    definition.version = 2;
    registry.migrations(Schema::make(definition).value()).from(1).remove("crew");
    EXPECT_EQ(schema_errors("components = { body = { version = 2  migrations = [ { from = 1  remove = [crew] } ] } }"),
              "test.schema.sjson:1:16: error: the program says already what has changed in \"body\"; remove "
              "`migrations` here\n"
              "    1 | components = { body = { version = 2  migrations = [ { from = 1  remove = [crew] } ] } }\n"
              "      |                ^~~~\n");
}

// --- other names of component types ----------------------------------------------------------------------------------

TEST_F(SchemaMigrations, sources_may_use_the_old_name_of_a_component_type) {
    schema(
        "components = { body = { renamed_from = [thing mover]  fields = { speed = float  mass = float } }  other = "
        "null }");
    file("ship.sjson", "components = { mover = { speed = 1 } }");
    file("short.yaml", "mover: {speed: 4}");
    file("a.sjson", R"(prefab = "ship"  modified_components = { body = { mass = 2 } })");
    file("b.sjson", R"(prefab = "a"  modified_components = { mover = { type = "thing"  mass = 3 } })");
    file("c.sjson", R"(components = [ { type = "mover" speed = 9 } ]  modified_components = { thing = { mass = 5 } })");
    file("d.sjson", R"(prefab = "a"  deleted_components = ["body"]  components = { other = null })");
    const auto values = [&](const char* path) {
        const Result<CompiledSource> result = compiled(path);
        EXPECT_TRUE(result) << diagnostics.format();
        EXPECT_EQ(diagnostics.num_warnings(), 0u) << diagnostics.format();
        return result ? values_of(Blob::load(result->blob).value()) : std::string();
    };
    EXPECT_EQ(values("a.sjson"), "{body={speed=1 mass=2}}\n");
    EXPECT_EQ(values("b.sjson"), "{body={speed=1 mass=3}}\n");
    EXPECT_EQ(values("c.sjson"), "{body={speed=9 mass=5}}\n");
    EXPECT_EQ(values("d.sjson"), "{other={}}\n");
    EXPECT_EQ(values("short.yaml"), "{body={speed=4 mass=0}}\n");
}

TEST_F(SchemaMigrations, an_entity_with_both_names_has_two_components) {
    schema("components = { body = { renamed_from = mover } }");
    file("both.sjson", "components = { body = null  mover = null }");
    EXPECT_TRUE(
        errors("both.sjson")
            .starts_with("both.sjson:1:29: error: this entity has two components of type \"body\"; delete one of them"))
        << diagnostics.format();
}

}  // namespace
}  // namespace shoal_test
