// What schema files say of older versions of component types, and blobs and sources of these versions.

#include "shoal/base/file.h"
#include "shoal/resource/blob.h"
#include "shoal/resource/detail/dump.h"
#include "shoal/resource/migration.h"
#include "support/source_fixture.h"

#include <cstring>
#include <functional>
#include <map>
#include <vector>

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

TEST_F(SchemaMigrations, may_say_all_that_their_version_and_later_ones_make_of_a_field) {
    const auto body = [](std::string_view migrations, std::string_view fields) {
        return concat("components = { body = { version = 3  migrations = [ ", migrations, " ] fields = { ", fields,
                      " } } }");
    };
    const auto is_taken = [&](const std::string& text) {
        ComponentRegistry own;
        SourceRules rules;
        Diagnostics told;
        const bool taken = read_schema_text(told.add_file("test.schema.sjson", text), own, rules, told);
        EXPECT_EQ(told.num_errors(), taken ? 0u : 1u) << told.format();
        return taken;
    };
    EXPECT_TRUE(is_taken(body("{ from = 1  rename = { dims = size }  split = { size = [width length] } }",
                              "width = float  length = float")))
        << "a new name that the same step splits";
    EXPECT_TRUE(is_taken(body("{ from = 2  set = { mass = 3 } } { from = 1  remove = [mass] }", "mass = float")))
        << "what an earlier step removed, whatever the order of the text";
    EXPECT_FALSE(is_taken(body("{ from = 1  set = { mass = 3 } } { from = 2  remove = [mass] }", "x = float")));
    EXPECT_TRUE(is_taken(body("{ from = 1  convert = { turn = quaternion } }", "turn = quaternion")));
    EXPECT_FALSE(is_taken(body("{ from = 1  convert = { turn = matrix } }", "turn = matrix")));
    EXPECT_TRUE(is_taken(body("{ from = 1  join = { all = [a b c d] } }", "all = vec4")));
    EXPECT_FALSE(is_taken(body("{ from = 1  join = { all = [a b c d e] } }", "all = vec4")));
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

TEST_F(SchemaMigrations, a_field_that_is_unknown_may_be_of_an_older_version_and_the_message_says_so) {
    schema(kBodyV3);
    file("old.sjson", "components = { mover = { crew = 2 } }");
    EXPECT_FALSE(compiled("old.sjson"));
    EXPECT_NE(
        diagnostics.format().find("; if this file is older than version 3 of \"body\", give the schema file of its "
                                  "time: --source-schema FILE"),
        std::string::npos)
        << diagnostics.format();
}

TEST_F(SchemaMigrations, a_conversion_of_an_enum_has_nothing_beside_its_values) {
    for (const char* more : {"factor = 2", "type = float", "plus = 1"})
        EXPECT_NE(
            schema_errors(concat("components = { body = { version = 2  migrations = [ { from = 1  convert = { mode = { "
                                 "values = { walk = march } ",
                                 more, " } } } ] } }"))
                .find("the conversion of \"mode\" has `values` and more"),
            std::string::npos)
            << more << diagnostics.format();
}

TEST_F(SchemaMigrations, an_entity_with_both_names_has_two_components) {
    schema("components = { body = { renamed_from = mover } }");
    file("both.sjson", "components = { body = null  mover = null }");
    EXPECT_TRUE(
        errors("both.sjson")
            .starts_with("both.sjson:1:29: error: this entity has two components of type \"body\"; delete one of them"))
        << diagnostics.format();
}

// --- sources of older versions ---------------------------------------------------------------------------------------

class OldSources : public SchemaMigrations {
protected:
    void older(const std::string& text) {
        const std::uint32_t number = diagnostics.add_file("older.schema.sjson", text);
        ASSERT_TRUE(read_older_schema_text(number, registry, options.rules, diagnostics)) << diagnostics.format();
    }
    std::string older_errors(const std::string& text) {
        const std::uint32_t number = diagnostics.add_file("older.schema.sjson", text);
        const std::string before = diagnostics.format();
        EXPECT_FALSE(read_older_schema_text(number, registry, options.rules, diagnostics));
        return messages_since(before);
    }
    std::string values(const std::string& path) {
        const Result<CompiledSource> result = compiled(path);
        EXPECT_TRUE(result) << diagnostics.format();
        return result ? values_of(Blob::load(result->blob).value()) : std::string();
    }
};

TEST_F(OldSources, compile_to_what_their_blobs_are_migrated_to) {
    const std::string source = R"(entities = {
        a = { components = { mover = { armour = 4 size = [1 2] mode = "run" ammo = 7 crew = 2 x = 5 y = 6 } } }
        b = { components = { mover = {} } }
        c = { components = [ { type = "mover"  size = { y = 3 } } ]  modified_components = { mover = { armour = 1 } } } })";
    schema(kBodyV3);
    older(kMoverV1);
    file("old.sjson", source);
    Blob blob = old_blob(kMoverV1, source);
    ASSERT_TRUE(migrate(blob, registry));
    EXPECT_EQ(values("old.sjson"), values_of(blob));
    EXPECT_EQ(values_of(blob),
              "{body={armor=40 width=1 length=2 mode=run ammo=7 mass=3 place=[5 6]}}\n"
              "{body={armor=20 width=0 length=0 mode=march ammo=0 mass=3 place=[0 0]}}\n"
              "{body={armor=10 width=0 length=3 mode=march ammo=0 mass=3 place=[0 0]}}\n");
}

TEST_F(OldSources, and_newer_ones_may_be_mixed) {
    schema(kBodyV3);
    older(kMoverV1);
    file("old.sjson", R"(components = { mover = { armour = 4  size = [1 2]  x = 5 } })");
    file(
        "new.sjson",
        R"(_versions = { body = 3 }  prefab = "old"  modified_components = { body = { width = 8  place = { y = 9 } } })");
    file("newest.sjson", R"(_versions = { body = 3 }  components = { body = { armor = 4  mass = 7 } })");
    file("change.sjson", R"(prefab = "newest"  modified_components = { body = { armour = 6  mode = "run" } })");
    file("again.sjson", R"(prefab = "new"  modified_components = { mover = { size = [3 4]  crew = 5 } })");
    EXPECT_EQ(values("old.sjson"), "{body={armor=40 width=1 length=2 mode=march ammo=0 mass=3 place=[5 0]}}\n");
    EXPECT_EQ(values("new.sjson"), "{body={armor=40 width=8 length=2 mode=march ammo=0 mass=3 place=[5 9]}}\n");
    EXPECT_EQ(values("newest.sjson"), "{body={armor=4 width=0 length=0 mode=run ammo=0 mass=7 place=[0 0]}}\n");
    EXPECT_EQ(values("change.sjson"), "{body={armor=60 width=0 length=0 mode=run ammo=0 mass=7 place=[0 0]}}\n")
        << "a change of fields that were renamed, and none of what it does not name";
    EXPECT_EQ(values("again.sjson"), "{body={armor=40 width=3 length=4 mode=march ammo=0 mass=3 place=[5 9]}}\n");
}

TEST_F(OldSources, that_change_a_part_of_what_is_newer_are_refused) {
    schema(kBodyV3);
    older(kMoverV1);
    file("newest.sjson", R"(_versions = { body = 3 }  components = { body = { armor = 4 } })");
    file("part.sjson", "prefab = \"newest\"\nmodified_components = { body = { x = 6 } }");
    const std::string hint =
        "say all of it, or write the change for version 3, and say so at the top of the file: _versions = { body = 3 "
        "}\n";
    EXPECT_EQ(
        errors("part.sjson"),
        "part.sjson:2:25: error: this change is written for version 1 of \"mover\", and says only a part of what is "
        "\"place\" in version 3, which the text that it changes is written for; " +
            hint +
            "    2 | modified_components = { body = { x = 6 } }\n"
            "      |                         ^~~~\n");
    file("lane.sjson", "prefab = \"newest\"\nmodified_components = { body = { size = { y = 6 } } }");
    EXPECT_NE(errors("lane.sjson").find("lane.sjson:2:25: error: this change is written for version 1"),
              std::string::npos);
    file("both.sjson", "prefab = \"newest\"\nmodified_components = { body = { x = 6  y = 7 } }");
    EXPECT_EQ(values("both.sjson"), "{body={armor=4 width=0 length=0 mode=run ammo=0 mass=1 place=[6 7]}}\n");
    file("two.sjson", "entities = { a = { prefab = \"part\" }  b = { prefab = \"part\" } }");
    EXPECT_EQ(compiled("two.sjson").message(), "two.sjson: 1 error") << "told once for all that use it";
}

TEST_F(OldSources, are_of_the_oldest_of_several_versions_in_whatever_order_their_schemas_are_read) {
    schema(R"(components = { lamp = { version = 3
        migrations = [ { from = 1  rename = { a = b } } { from = 2  rename = { b = c } } ]
        fields = { c = float } } })");
    const std::string first = "components = { lamp = { fields = { a = float } } }",
                      second = "components = { lamp = { version = 2  fields = { b = float } } }";
    file("x.sjson", "components = { lamp = { a = 4 } }");
    file("y.sjson", "_versions = { lamp = 2 } components = { lamp = { b = 5 } }");
    file("z.sjson", "_versions = { lamp = 3 } components = { lamp = { other = 5 } }");
    for (const bool backwards : {false, true}) {
        options.rules.older_schemas.clear();
        older(backwards ? second : first);
        older(backwards ? first : second);
        EXPECT_EQ(values("x.sjson"), "{lamp={c=4}}\n");
        EXPECT_EQ(values("y.sjson"), "{lamp={c=5}}\n");
        EXPECT_EQ(errors("z.sjson").find("if this file is older"), std::string::npos) << "that is known";
    }
}

TEST_F(OldSources, change_the_keys_of_pairs_with_their_values) {
    schema(
        R"(components = { loot = { version = 2  migrations = [ { from = 1  rename = { amounts = counts } } ]  fields = {
        names = { type = blob_array of = string_id }  counts = { type = blob_array of = int32 keys = names } } } })");
    older(R"(components = { loot = { fields = {
        names = { type = blob_array of = string_id }  amounts = { type = blob_array of = int32 keys = names } } } })");
    file("newest.sjson", "_versions = { loot = 2 } components = { loot = { counts = { gold = 1  pearls = 2 } } }");
    file("change.sjson", "prefab = \"newest\" modified_components = { loot = { amounts = { gems = 7 } } }");
    EXPECT_EQ(values("newest.sjson"), "{loot={names=[gold pearls] counts=[1 2]}}\n");
    EXPECT_EQ(values("change.sjson"), "{loot={names=[gems] counts=[7]}}\n");
}

TEST_F(OldSources, change_all_elements_of_an_array) {
    schema(R"(components = { rack = { version = 2  migrations = [ { from = 1  rename = { slots = shelves } } ]
        fields = { shelves = { type = int16 array = 3 }  width = float } } })");
    older("components = { rack = { fields = { slots = { type = int16 array = 3 }  width = float } } }");
    file("newest.sjson", "_versions = { rack = 2 } components = { rack = { shelves = [1 2 3]  width = 4 } }");
    file("change.sjson", "prefab = \"newest\" modified_components = { rack = { slots = [7 8 9] } }");
    EXPECT_EQ(values("change.sjson"), "{rack={shelves=[7 8 9] width=4}}\n");
}

TEST_F(OldSources, keep_their_references) {
    schema(R"(components = { leash = { version = 2
        migrations = [ { from = 1  rename = { dog = pet }  remove = [length] } ]
        fields = { pet = entity  knots = int32 } } })");
    older("components = { leash = { fields = { dog = entity  length = float } } }");
    file("pair.sjson", R"(components = { leash = { dog = "pup"  length = 2 } }  children = { pup = {}  cat = {} })");
    file("level.sjson", R"(_versions = { leash = 2 }  entities = {
        a = { prefab = "pair" }
        b = { prefab = "pair"  modified_components = { leash = { pet = "cat"  knots = 4 } } }
        c = { prefab = "pair"  modified_components = { leash = { pet = null } } } })");
    const Result<CompiledSource> level = compiled("level.sjson");
    ASSERT_TRUE(level) << diagnostics.format();
    const Blob blob = Blob::load(level->blob).value();
    const BlobComponents& leashes = blob.component_types()[0];
    ASSERT_EQ(leashes.count(), 3u);
    for (std::uint32_t i = 0; i < 3; ++i) {
        EntityBits pet;
        std::memcpy(&pet, leashes.columns[0] + i * sizeof pet, sizeof pet);
        const std::uint32_t owner = leashes.entity_index[i];
        const std::string root = std::string(1, "abc"[owner]);
        const std::uint32_t wanted =
            owner == 2 ? kNoBlobEntity : blob.find_guid(hash_text(root + (owner == 0 ? "/pup" : "/cat")));
        EXPECT_EQ(static_cast<std::uint32_t>(pet), wanted) << owner;
    }
}

TEST_F(OldSources, say_what_is_wrong_in_the_words_of_their_version) {
    schema(kBodyV3);
    older(kMoverV1);
    file("wrong.sjson", "components = { mover = { armor = 3  sizes = [1 2] } }");
    EXPECT_EQ(
        errors("wrong.sjson"),
        "wrong.sjson:1:26: error: component \"mover\" of version 1 has no field \"armor\"; version 3 has it; if this "
        "file is written for that, say so at its top: _versions = { body = 3 }\n"
        "    1 | components = { mover = { armor = 3  sizes = [1 2] } }\n"
        "      |                          ^~~~~\n"
        "wrong.sjson:1:37: error: component \"mover\" of version 1 has no field \"sizes\"; did you mean \"size\"?\n"
        "    1 | components = { mover = { armor = 3  sizes = [1 2] } }\n"
        "      |                                     ^~~~~\n");
}

TEST_F(OldSources, name_versions_that_are_known_at_the_top_of_a_file) {
    schema(kBodyV3);
    older(kMoverV1);
    file("wrong.sjson",
         "_versions = { body = 2  bod = 1  mover = 4 }\n"
         "children = { a = { _versions = { body = 1 } } }");
    EXPECT_EQ(
        errors("wrong.sjson"),
        "wrong.sjson:1:15: error: version 2 of \"body\" is not known; give the schema file that declared it as an "
        "older one: --source-schema FILE\n"
        "    1 | _versions = { body = 2  bod = 1  mover = 4 }\n"
        "      |               ^~~~\n"
        "wrong.sjson:1:25: error: there is no component type \"bod\"; did you mean \"body\"?\n"
        "    1 | _versions = { body = 2  bod = 1  mover = 4 }\n"
        "      |                         ^~~\n"
        "wrong.sjson:1:34: error: version 4 of \"mover\" is not known; the schema has version 3; give the schema "
        "file of the newer version\n"
        "    1 | _versions = { body = 2  bod = 1  mover = 4 }\n"
        "      |                                  ^~~~~\n"
        "wrong.sjson:2:20: error: `_versions` stands in an entity inside of a file; write it at the top of the "
        "file; it counts for all of it\n"
        "    2 | children = { a = { _versions = { body = 1 } } }\n"
        "      |                    ^~~~~~~~~\n");
}

TEST_F(OldSources, need_schemas_that_do_not_contradict_the_newest) {
    schema(kBodyV3);
    older(kBodyV3);
    EXPECT_TRUE(options.rules.older_schemas.empty()) << "the newest is no older one";
    older(kMoverV1);
    older(kMoverV1);
    EXPECT_EQ(options.rules.older_schemas.size(), 1u) << "the same twice is fine";
    EXPECT_EQ(
        older_errors("components = {\n body = { version = 4 }\n mover = { fields = { armour = int8 } }\n"
                     " other = null }"),
        "older.schema.sjson:2:2: error: version 4 of \"body\" is newer than the newest, 3; each change of the fields "
        "needs a higher `version` and its own file\n"
        "    2 |  body = { version = 4 }\n"
        "      |  ^~~~\n"
        "older.schema.sjson:3:2: error: version 1 of \"mover\" is given twice, but differently: 1 field instead of 7; "
        "each change of the fields needs a higher `version` and its own file\n"
        "    3 |  mover = { fields = { armour = int8 } }\n"
        "      |  ^~~~~\n");
}

TEST_F(OldSources, change_the_hash_of_the_rules) {
    schema(kBodyV3);
    const std::uint64_t before = rules_hash(options.rules);
    older(kMoverV1);
    EXPECT_NE(rules_hash(options.rules), before) << "what was compiled without is not up to date";
}

TEST_F(OldSources, of_components_that_a_function_compiles_are_refused) {
    const auto function = [](void*, const CompileInput&, CompileOutput&) { return true; };
    ASSERT_TRUE(registry.set_compile_function("song", function, nullptr));
    schema("components = { song = { version = 2  fields = { tune = float } } }");
    older("components = { song = { fields = { tune = int32 } } }");
    file("song.sjson", "components = { song = { tune = 1 } }");
    EXPECT_TRUE(errors("song.sjson")
                    .starts_with("song.sjson:1:16: error: component \"song\" is written for an older "
                                 "version, and a function compiles it; "))
        << diagnostics.format();
}

// --- kept files ----------------------------------------------------------------------------------------------------------

/// Returns a file of golden/, which never changes.
std::string golden(const char* name) {
    const Result<std::string> text = read_file(concat(SHOAL_SOURCE_DIR "/tests/source/golden/", name));
    EXPECT_TRUE(text) << text.message();
    return text ? *text : std::string();
}

std::vector<std::byte> from_hex(std::string_view text) {
    std::vector<std::byte> bytes;
    std::string digits;
    for (const char c : text) {
        if (c != '\n') digits.push_back(c);
        if (digits.size() != 2) continue;
        bytes.push_back(static_cast<std::byte>(std::stoi(digits, nullptr, 16)));
        digits.clear();
    }
    return bytes;
}

TEST_F(OldSources, and_blobs_that_were_kept_are_what_they_were) {
    if (sizeof(Entity) != 4) GTEST_SKIP() << "the kept blob has 32-bit ids";
    schema(golden("body_3.schema.sjson"));
    older(golden("mover_1.schema.sjson"));
    file("mover_1.sjson", golden("mover_1.sjson"));
    Result<Blob> blob = Blob::load(from_hex(golden("mover_1.hex")));
    ASSERT_TRUE(blob) << blob.message();
    const Status status = migrate(*blob, registry);
    ASSERT_TRUE(status) << status.message();
    const std::string wanted =
        "{body={armor=40 width=1 length=2 mode=run ammo=7 mass=3 place=[5 6]}}\n"
        "{body={armor=20 width=0 length=0 mode=march ammo=0 mass=3 place=[0 0]}}\n"
        "{body={armor=10 width=0 length=3 mode=march ammo=0 mass=3 place=[0 0]}}\n";
    EXPECT_EQ(values_of(*blob), wanted);
    EXPECT_EQ(values("mover_1.sjson"), wanted);
}

// --- random ------------------------------------------------------------------------------------------------------------

/// A component type of a few versions, as a model that knows names and texts of values only.
class RandomHistory {
public:
    explicit RandomHistory(Random& random) : random_(random) {
        std::vector<ModelField>& first = versions_.emplace_back();
        for (std::uint32_t i = 0, count = 1 + random.below(4); i < count; ++i) first.push_back(new_field());
        for (std::uint32_t i = 0, count = 1 + random.below(4); i < count; ++i) add_version();
    }

    using Values = std::map<std::string, std::vector<double>>;

    std::uint32_t newest() const { return static_cast<std::uint32_t>(versions_.size()); }
    std::string schema_text(std::uint32_t version) const {
        std::string text = concat("components = { ", name(version), " = { version = ", version, "\n");
        if (version == newest() && is_renamed_) text += "renamed_from = old\n";
        if (version == newest()) text += concat("migrations = [", steps_text_, "]\n");
        text += "fields = {";
        for (const ModelField& field : versions_[version - 1])
            text +=
                concat(' ', field.name, " = { type = ", type_name(field), " default = ", value_text(field.start), " }");
        return text + " } } }";
    }
    std::string name(std::uint32_t version) const { return version == newest() || !is_renamed_ ? "kind" : "old"; }
    Values defaults(std::uint32_t version) const {
        Values values;
        for (const ModelField& field : versions_[version - 1]) values[field.name] = field.start;
        return values;
    }
    /// Changes some fields and returns the text that says so.
    std::string change(std::uint32_t version, Values& values) const {
        std::string text = "{";
        for (const ModelField& field : versions_[version - 1]) {
            if (random_.below(2) == 0) continue;
            values[field.name] = random_value(field.start.size());
            text += concat(' ', field.name, " = ", value_text(values[field.name]));
        }
        return text + " }";
    }
    Values migrated(Values values, std::uint32_t from, std::uint32_t to) const {
        for (std::uint32_t version = from; version < to; ++version)
            for (const auto& [field, change] : steps_[version - 1])
                if (field.empty() || values.contains(field)) change(values);  // it may have been added in between
        for (const ModelField& field : versions_[to - 1]) values.try_emplace(field.name, field.start);
        return values;
    }
    std::string line(const Values& values) const {
        std::string text = "{kind={";
        for (const ModelField& field : versions_.back())
            append_text(text,
                        concat(text.back() == '{' ? "" : " ", field.name, '=', flat_value(values.at(field.name))));
        return text + "}}\n";
    }

private:
    struct ModelField {
        std::string name;
        std::vector<double> start;  ///< the default: one number, or the two of a vector
        bool is_integer = false;
    };

    /// A change of a field, or of none.
    struct Change {
        std::string field;
        std::function<void(Values&)> change;
    };

    static std::string type_name(const ModelField& field) {
        return field.start.size() == 2 ? "vec2" : field.is_integer ? "int32" : "float";
    }
    static std::string value_text(const std::vector<double>& value) {
        return value.size() == 2 ? concat('[', value[0], ' ', value[1], ']') : concat(value[0]);
    }
    static std::string flat_value(const std::vector<double>& value) { return value_text(value); }
    std::vector<double> random_value(std::size_t lanes) const {
        std::vector<double> value;
        for (std::size_t i = 0; i < lanes; ++i) value.push_back(static_cast<double>(random_.below(200)) - 100);
        return value;
    }
    ModelField new_field() {
        const std::size_t lanes = 1 + random_.below(2);
        return {concat("f", num_names_++), random_value(lanes), lanes == 1 && random_.below(2) == 0};
    }

    void add_version() {
        std::vector<ModelField> fields = versions_.back();
        std::map<std::string, std::string> keys;  // of the step: its text so far
        std::vector<Change> steps;
        std::vector<ModelField> added;
        const auto take = [&](std::size_t i) {
            ModelField field = fields[i];
            fields.erase(fields.begin() + static_cast<std::ptrdiff_t>(i));
            return field;
        };
        // Each field of the older version is changed at most once, in the order in which a migration is carried out.
        if (fields.size() > 1 && random_.below(3) == 0) {
            const ModelField gone = take(random_.below(fields.size()));
            keys["remove"] = concat('[', gone.name, ']');
            steps.push_back({gone.name, [gone](Values& values) { values.erase(gone.name); }});
        }
        if (!fields.empty() && random_.below(2) == 0) {
            const ModelField old = take(random_.below(fields.size()));
            ModelField renamed = old;
            renamed.name = new_field().name;
            keys["rename"] = concat("{ ", old.name, " = ", renamed.name, " }");
            steps.push_back({old.name, [old, renamed](Values& values) {
                                 values[renamed.name] = values[old.name];
                                 values.erase(old.name);
                             }});
            added.push_back(renamed);
        }
        if (!fields.empty() && random_.below(2) == 0) {
            ModelField converted = take(random_.below(fields.size()));
            const std::string name = converted.name;
            const bool to_vector = converted.start.size() == 1 && random_.below(2) == 0;
            keys["convert"] = concat("{ ", name, " = { factor = -3 plus = 2 ",
                                     to_vector              ? "type = vec2"
                                     : converted.is_integer ? "type = float"
                                                            : "",
                                     " } }");
            steps.push_back({name, [name, to_vector](Values& values) {
                                 if (to_vector) values[name].push_back(values[name][0]);
                                 for (double& lane : values[name]) lane = lane * -3 + 2;
                             }});
            if (to_vector) converted.start = {1, 2};
            converted.is_integer = false;
            added.push_back(converted);
        }
        for (std::size_t i = 0; i < fields.size(); ++i) {
            if (fields[i].start.size() != 2 || random_.below(2) == 0) continue;
            const ModelField old = take(i);
            const ModelField x{new_field().name, {old.start[0]}}, y{new_field().name, {old.start[1]}};
            keys["split"] = concat("{ ", old.name, " = [", x.name, ' ', y.name, "] }");
            steps.push_back({old.name, [old, x, y](Values& values) {
                                 values[x.name] = {values[old.name][0]};
                                 values[y.name] = {values[old.name][1]};
                                 values.erase(old.name);
                             }});
            added.insert(added.end(), {x, y});
            break;
        }
        if (random_.below(2) == 0) {
            const ModelField fresh = new_field();
            const std::vector<double> value = random_value(fresh.start.size());
            keys["set"] =
                concat("{ ", fresh.name, " = { type = ", type_name(fresh), " value = ", value_text(value), " } }");
            steps.push_back({"", [fresh, value](Values& values) { values[fresh.name] = value; }});
            added.push_back(fresh);
        }
        if (random_.below(2) == 0) added.push_back(new_field());
        fields.insert(fields.end(), added.begin(), added.end());
        append_text(steps_text_, concat(" { from = ", versions_.size()));
        for (const auto& [key, text] : keys) append_text(steps_text_, concat("  ", key, " = ", text));
        steps_text_ += " }\n";
        steps_.push_back(std::move(steps));
        versions_.push_back(std::move(fields));
    }

    Random& random_;
    std::vector<std::vector<ModelField>> versions_;
    std::vector<std::vector<Change>> steps_;
    std::string steps_text_;
    std::uint32_t num_names_ = 0;
    bool is_renamed_ = random_.below(2) == 0;
};

TEST(RandomMigrations, of_blobs_and_of_sources_of_mixed_versions_give_what_a_model_of_names_and_texts_gives) {
    SCOPED_TRACE(seed_text());
    Random random(seed());
    for (int round = 0; round < 200; ++round) {
        const RandomHistory history(random);
        const std::uint32_t newest = history.newest(), first = 1 + random.below(newest),
                            second = first + random.below(newest - first + 1);
        RandomHistory::Values values = history.defaults(first);
        MemoryFiles files;
        files.add("prefab.sjson", concat("_versions = { kind = ", first, " }  components = { ", history.name(first),
                                         " = ", history.change(first, values), " }"));
        const std::string prefab_line = history.line(history.migrated(values, first, newest));
        values = history.migrated(std::move(values), first, second);
        files.add("source.sjson",
                  concat("_versions = { kind = ", second, " }  prefab = prefab  modified_components = { ",
                         history.name(second), " = ", history.change(second, values), " }"));
        const std::string line = history.line(history.migrated(values, second, newest));

        Diagnostics diagnostics;
        ComponentRegistry registry;
        CompileOptions options;
        options.compose.files = &files;
        options.compose.read.bare_texts = true;
        const std::string newest_text = history.schema_text(newest);
        ASSERT_TRUE(read_schema_text(diagnostics.add_file("newest", newest_text), registry, options.rules, diagnostics))
            << newest_text << diagnostics.format();
        for (std::uint32_t version = 1; version < newest; ++version)
            ASSERT_TRUE(read_older_schema_text(diagnostics.add_file("older", history.schema_text(version)), registry,
                                               options.rules, diagnostics))
                << diagnostics.format();
        const Result<CompiledSource> compiled = compile_source("source.sjson", registry, options, diagnostics);
        ASSERT_TRUE(compiled) << newest_text << diagnostics.format();
        EXPECT_EQ(values_of(Blob::load(compiled->blob).value()), line) << newest_text;

        // The prefab alone, compiled when its version was the newest.
        ComponentRegistry old_registry;
        CompileOptions old_options;
        old_options.compose = options.compose;
        ASSERT_TRUE(
            read_schema_text(diagnostics.add_file("then", first == newest ? newest_text : history.schema_text(first)),
                             old_registry, old_options.rules, diagnostics));
        std::string prefab = *files.read("prefab.sjson");
        prefab.erase(0, prefab.find('}') + 1);
        const Result<CompiledSource> old =
            compile_file(diagnostics.add_file("prefab.sjson", prefab), old_registry, old_options, diagnostics);
        ASSERT_TRUE(old) << diagnostics.format();
        Blob blob = Blob::load(old->blob).value();
        const Status status = migrate(blob, registry);
        ASSERT_TRUE(status) << newest_text << status.message();
        EXPECT_EQ(values_of(blob), prefab_line) << newest_text;
    }
}

}  // namespace
}  // namespace shoal_test
