#include "shoal/resource/blob.h"
#include "tool/tool_process.h"

namespace {

using shoal_test::kReef;
using shoal_test::ToolResult;
class ToolCompile : public shoal_test::ToolTest {};

constexpr std::string_view kSchema = R"(
components = { crab = { fields = { position = vec3  claws = { type = uint8 default = 2 range = [0 2] } } } }
)";

TEST_F(ToolCompile, prints_what_the_blob_holds) {
    const ToolResult result = run({"compile", write("reef.sjson", kReef), "-o", path("reef.blob")});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.err, "");
    for (const char* text :
         {"3 entities, 2 roots, 8 components of 4 types", "point_mass", "debug_name", "little-endian", "no warnings"})
        EXPECT_TRUE(result.prints(text)) << text << "\n" << result.out;
    const shoal::Result<shoal::Blob> blob = shoal::Blob::read(path("reef.blob"));
    ASSERT_TRUE(blob.ok()) << blob.message();
    EXPECT_EQ(blob->num_entities(), 3u);
    EXPECT_FALSE(blob->has_offset_tables());
}

TEST_F(ToolCompile, json_says_what_people_read) {
    const ToolResult result = run({"compile", write("reef.sjson", kReef), "-o", path("reef.blob"), "--json"});
    EXPECT_EQ(result.exit_code, 0);
    const nlohmann::json json = result.json();
    EXPECT_EQ(json["ok"], true);
    EXPECT_EQ(json["entities"], 3);
    EXPECT_EQ(json["roots"], 2);
    EXPECT_EQ(json["components"], (nlohmann::json{{"transform", 3}, {"point_mass", 3}, {"debug_name", 1}, {"tag", 1}}));
    EXPECT_EQ(json["num_components"], 8);
    EXPECT_EQ(json["bytes"], std::filesystem::file_size(path("reef.blob")));
    EXPECT_EQ(json["endian"], "little");
    EXPECT_EQ(json["offset_tables"], false);
    EXPECT_EQ(json["errors"], 0);
    EXPECT_TRUE(json["diagnostics"].empty());
    EXPECT_TRUE(result.says("3 entities, 2 roots, 8 components of 4 types")) << "people read it on standard error";
}

TEST_F(ToolCompile, two_runs_give_the_same_bytes) {
    const std::string source = write("reef.sjson", kReef);
    ASSERT_EQ(run({"compile", source, "-o", path("a.blob")}).exit_code, 0);
    ASSERT_EQ(run({"compile", source, "-o", path("b.blob")}).exit_code, 0);
    EXPECT_EQ(read(path("a.blob")), read(path("b.blob")));
    EXPECT_FALSE(read(path("a.blob")).empty());
}

TEST_F(ToolCompile, endian_and_offset_tables_change_the_blob_and_not_what_it_says) {
    const std::string source = write("reef.sjson", kReef);
    ASSERT_EQ(run({"compile", source, "-o", path("little.blob"), "--endian=little"}).exit_code, 0);
    const ToolResult big = run({"compile", source, "-o", path("big.blob"), "--endian", "big", "--json"});
    EXPECT_EQ(big.json()["endian"], "big");
    EXPECT_NE(read(path("big.blob")), read(path("little.blob")));
    EXPECT_FALSE(shoal::Blob::read(path("big.blob")).ok());
    EXPECT_EQ(run({"dump", path("big.blob")}).out, run({"dump", path("little.blob")}).out);
    EXPECT_EQ(run({"run", path("big.blob"), "--json"}).json()["state_hash"],
              run({"run", path("little.blob"), "--json"}).json()["state_hash"]);

    ASSERT_EQ(run({"compile", source, "-o", path("tables.blob"), "--offset-tables"}).exit_code, 0);
    const shoal::Result<shoal::Blob> tables = shoal::Blob::read(path("tables.blob"));
    ASSERT_TRUE(tables.ok());
    EXPECT_TRUE(tables->has_offset_tables());
}

TEST_F(ToolCompile, an_error_names_file_line_and_column_and_what_to_do) {
    const std::string source =
        write("bad.sjson", "components = {\n    point_mass = { postion = [0 0 3] }\n    debug_name = \"x\"\n}\n");
    const ToolResult result = run({"compile", source, "-o", path("bad.blob")});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_EQ(result.out, "");
    EXPECT_TRUE(result.says(
        source + ":2:20: error: component \"point_mass\" has no field \"postion\"; did you mean \"position\"?"))
        << result.err;
    EXPECT_FALSE(std::filesystem::exists(path("bad.blob")));

    const ToolResult told = run({"compile", source, "-o", path("bad.blob"), "--json"});
    EXPECT_EQ(told.exit_code, 1);
    const nlohmann::json json = told.json();
    EXPECT_EQ(json["ok"], false);
    EXPECT_EQ(json["errors"], 1);
    ASSERT_EQ(json["diagnostics"].size(), 1u);
    const nlohmann::json& entry = json["diagnostics"][0];
    EXPECT_EQ(entry["severity"], "error");
    EXPECT_EQ(entry["file"], source);
    EXPECT_EQ(entry["line"], 2);
    EXPECT_EQ(entry["column"], 20);
    EXPECT_NE(entry["message"].get<std::string>().find("postion"), std::string::npos);
    EXPECT_NE(entry["hint"].get<std::string>().find("position"), std::string::npos);
}

TEST_F(ToolCompile, a_failure_keeps_the_old_file) {
    const std::string blob = reef_blob(), before = read(blob);
    EXPECT_EQ(run({"compile", write("bad.sjson", "components = { nothing_known = {} }"), "-o", blob}).exit_code, 1);
    EXPECT_EQ(read(blob), before);
}

TEST_F(ToolCompile, output_that_cannot_be_written_is_an_error_and_leaves_nothing) {
    const std::string source = write("reef.sjson", kReef);
    const ToolResult missing = run({"compile", source, "-o", path("no/such/folder/reef.blob")});
    EXPECT_EQ(missing.exit_code, 1);
    EXPECT_TRUE(missing.says("no/such/folder/reef.blob")) << missing.err;
    EXPECT_TRUE(missing.says("give -o a file in a folder that can be written")) << missing.err;
    std::filesystem::create_directory(path("taken"));
    EXPECT_EQ(run({"compile", source, "-o", path("taken")}).exit_code, 1);
    EXPECT_TRUE(std::filesystem::is_directory(path("taken")));
}

TEST_F(ToolCompile, a_file_that_was_read_is_never_written_over) {
    const std::string source = write("reef.sjson", kReef), schema = write("reef.schema.sjson", kSchema);
    for (const std::string& target : {source, schema}) {
        const ToolResult result = run({"compile", source, "--schema", schema, "-o", target});
        EXPECT_EQ(result.exit_code, 1);
        EXPECT_TRUE(result.says("is one of the files that were read")) << result.err;
    }
    EXPECT_EQ(read(source), kReef);
    EXPECT_EQ(read(schema), kSchema);
}

TEST_F(ToolCompile, schema_files_declare_component_types_and_roots_find_prefabs) {
    const std::string schema = write("crab.schema.sjson", kSchema);
    write("shared/animals/crab.sjson", "components = { crab = { claws = 1 } }");
    const std::string source = write(
        "levels/beach.sjson", "entities = { a = { prefab = \"animals/crab\" } b = { components = { crab = {} } } }");
    EXPECT_EQ(run({"compile", source, "-o", path("b.blob")}).exit_code, 1) << "neither is known";
    EXPECT_EQ(run({"compile", source, "-o", path("b.blob"), "--schema", schema}).exit_code, 1)
        << "the prefab is not found";
    const ToolResult result = run({"compile", source, "-o", path("b.blob"), "--schema=" + schema, "--root",
                                   path("levels"), "--root", path("shared"), "--json"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.json()["components"], (nlohmann::json{{"crab", 2}}));
}

TEST_F(ToolCompile, a_root_or_schema_that_is_not_there_is_an_error) {
    const std::string source = write("reef.sjson", kReef);
    EXPECT_TRUE(run({"compile", source, "-o", path("x"), "--root", path("nowhere")}).says("nowhere\" is not a folder"));
    const ToolResult result = run({"compile", source, "-o", path("x"), "--schema", path("no.schema.sjson")});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_TRUE(result.says("no.schema.sjson"));
}

TEST_F(ToolCompile, warnings_are_shown_and_counted_and_strict_makes_errors_of_them) {
    write("fish.sjson", "components = { point_mass = {} }");
    const std::string source =
        write("pond.sjson", "entities = { a = { prefab = \"fish\" deleted_children = [\"ghost\"] } }");
    const ToolResult result = run({"compile", source, "-o", path("pond.blob"), "--json"});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_TRUE(result.says(": warning: ")) << result.err;
    EXPECT_TRUE(result.says("1 warning"));
    EXPECT_EQ(result.json()["warnings"], 1);
    EXPECT_EQ(result.json()["diagnostics"][0]["severity"], "warning");
    const ToolResult strict = run({"compile", source, "-o", path("strict.blob"), "--strict"});
    EXPECT_EQ(strict.exit_code, 1);
    EXPECT_FALSE(std::filesystem::exists(path("strict.blob")));
}

TEST_F(ToolCompile, what_is_kept_as_text_is_counted) {
    const std::string schema = write("keep.schema.sjson", "unknown_components = keep\nunknown_fields = keep\n");
    const std::string source = write("odd.sjson", "components = { point_mass = { wings = 2 } glider = { span = 3 } }");
    const nlohmann::json json = run({"compile", source, "-o", path("odd.blob"), "--schema", schema, "--json"}).json();
    EXPECT_EQ(json["kept_components"], 1);
    EXPECT_EQ(json["kept_fields"], 1);
    EXPECT_EQ(json["num_components"], 1);
}

TEST_F(ToolCompile, every_verb_takes_yaml_for_sources_and_schemas) {
    const std::string schema = write("crab.schema.yaml", "components:\n  crab: {fields: {claws: uint8}}\n");
    write("shore/crab.yml", "crab: 2\ndebug_name: pat\n");
    const std::string source =
        write("beach.yaml", "entities:\n  a: {prefab: shore/crab}\n  b: {crab: 3, debug_name: bo}\n");
    EXPECT_TRUE(run({"check", source, "--schema", schema}).prints("beach.yaml: ok, 2 entities"));
    const ToolResult compiled = run({"compile", source, "-o", path("beach.blob"), "--schema", schema, "--json"});
    EXPECT_EQ(compiled.json()["components"], (nlohmann::json{{"crab", 2}, {"debug_name", 2}})) << compiled.err;
    EXPECT_EQ(run({"run", source, "--schema", schema, "--frames", "1", "--json"}).json()["frames"], 1);
    const ToolResult declared = run({"schema", "--schema", schema});
    EXPECT_TRUE(declared.prints("crab")) << declared.err;
    EXPECT_EQ(run({"schema", "--schema", write("again.schema.sjson", declared.out)}).out, declared.out);
    EXPECT_TRUE(run({"check", write("odd.yaml", "crab: [1\n"), "--schema", schema}).says("odd.yaml:2:1: error: "));
}

}  // namespace
