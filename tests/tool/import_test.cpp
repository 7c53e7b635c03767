#include "tool/tool_process.h"

namespace {

using shoal_test::ToolResult;
class ToolImport : public shoal_test::ToolTest {};

constexpr std::string_view kShip =
    "{ \"asset\": { \"version\": \"2.0\" }, \"meshes\": [ { \"name\": \"Hull\" } ],\n"
    "  \"nodes\": [ { \"name\": \"hull\", \"mesh\": 0, \"extras\": { \"tag\": \"ship\", \"hp\": 5 } } ] }\n";

TEST_F(ToolImport, what_it_writes_compiles_as_it_says) {
    const std::string ship = write("ship.gltf", kShip);
    const ToolResult first = run({"import", ship});
    EXPECT_EQ(first.exit_code, 0) << first.err;
    EXPECT_TRUE(first.prints("ship.gltf: 2 entities, 0 models, no warnings, to " + path("ship.gltf.sjson")))
        << first.out;
    EXPECT_TRUE(first.prints("it needs the component types that `--schema-out gltf.schema.sjson` writes")) << first.out;
    EXPECT_EQ(run({"check", path("ship.gltf.sjson")}).exit_code, 1) << "without the schema file";
    const std::string schema = path("gltf.schema.sjson");
    const ToolResult second = run({"import", ship, "--schema-out", schema, "--json"});
    EXPECT_EQ(second.exit_code, 0) << second.err;
    EXPECT_EQ(second.json()["entities"], 2);
    EXPECT_EQ(second.json()["needs_schema"], true);
    const ToolResult compiled = run({"compile", path("ship.gltf.sjson"), "--schema", schema, "-o", path("ship.blob")});
    EXPECT_EQ(compiled.exit_code, 0) << compiled.err;
    const ToolResult dumped = run({"dump", path("ship.blob")});
    for (const char* text : {"\"Hull\"", "\"ship\"", "hp"}) EXPECT_TRUE(dumped.prints(text)) << dumped.out;
}

TEST_F(ToolImport, replaces_what_it_has_written_and_nothing_that_somebody_has) {
    const std::string ship = write("ship.gltf", kShip), source = path("ship.gltf.sjson");
    ASSERT_EQ(run({"import", ship}).exit_code, 0);
    const std::string written = read(source);
    EXPECT_EQ(run({"import", ship}).exit_code, 0);
    EXPECT_EQ(read(source), written);
    std::string returns;
    for (const char c : written) returns += c == '\n' ? std::string("\r\n") : std::string(1, c);
    write("ship.gltf.sjson", returns);
    EXPECT_EQ(run({"import", ship}).exit_code, 0) << "git may have written line ends in its own way";
    EXPECT_EQ(read(source), written);
    write("ship.gltf.sjson", written + "// mine\n");
    const ToolResult refused = run({"import", ship});
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_TRUE(refused.says("is not as an import has left it, and would be lost")) << refused.err;
    EXPECT_EQ(read(source), written + "// mine\n");
    EXPECT_EQ(run({"import", ship, "--force"}).exit_code, 0);
    EXPECT_EQ(read(source), written);
    EXPECT_EQ(run({"import", ship, "-o", ship}).exit_code, 1) << "it is read";
    EXPECT_EQ(read(ship), kShip);
    const std::string schema = write("mine.schema.sjson", "schema = \"mine\"\n");
    const ToolResult foreign = run({"import", ship, "--schema-out", schema});
    EXPECT_EQ(foreign.exit_code, 1);
    EXPECT_TRUE(foreign.says("mine.schema.sjson\" is not as --schema-out has left it, and would be lost"))
        << foreign.err;
    EXPECT_EQ(read(schema), "schema = \"mine\"\n");
    EXPECT_EQ(run({"import", ship, "--schema-out", schema, "--force"}).exit_code, 0);
    EXPECT_EQ(run({"import", ship, "--schema-out", schema}).exit_code, 0) << "it is its own";
}

TEST_F(ToolImport, a_line_end_in_the_name_of_the_file_stays_within_the_comment) {
    const std::string ship = write("a\nname = \"b\".gltf", kShip), source = path("ship.sjson");
    ASSERT_EQ(run({"import", ship, "-o", source}).exit_code, 0);
    EXPECT_NE(read(source).find("// Importing \"a\\x0Aname"), std::string::npos) << read(source);
    EXPECT_EQ(run({"import", ship, "-o", source}).exit_code, 0);
}

TEST_F(ToolImport, a_source_with_the_import_as_prefab_keeps_its_changes) {
    const std::string ship = write("ship.gltf", kShip), schema = path("gltf.schema.sjson");
    const std::string mine =
        write("mine.sjson",
              "prefab = \"ship.gltf.sjson\"\n"
              "modified_children = { hull = { modified_components = { properties = { hp = 7 } } } }\n");
    ASSERT_EQ(run({"import", ship, "--schema-out", schema}).exit_code, 0);
    std::string changed(kShip);
    changed.replace(changed.find("\"hp\": 5"), 7, "\"hp\": 6, \"crew\": 40");
    write("ship.gltf", changed);
    const std::string before = read(path("ship.gltf.sjson"));
    ASSERT_EQ(run({"import", ship}).exit_code, 0);
    EXPECT_NE(read(path("ship.gltf.sjson")), before);
    const ToolResult diff = run({"diff", "--composed", "--schema", schema, path("ship.gltf.sjson"), mine});
    EXPECT_TRUE(diff.prints("./hull \"hull\"\n-   components.properties.hp = 6\n+   components.properties.hp = 7\n"))
        << diff.out << diff.err;
}

TEST_F(ToolImport, a_damaged_file_is_told_and_nothing_is_written) {
    const ToolResult broken =
        run({"import", write("a.gltf", "{ \"asset\": { \"version\": \"2.0\" },\n \"nodes\": 5 }")});
    EXPECT_EQ(broken.exit_code, 1);
    EXPECT_TRUE(broken.says("a.gltf:2:11: error: `nodes` is an integer")) << broken.err;
    const ToolResult damaged = run({"import", write("b.glb", "glTF\x02"), "--json"});
    EXPECT_EQ(damaged.exit_code, 1);
    EXPECT_EQ(damaged.json()["ok"], false);
    EXPECT_TRUE(damaged.says("b.glb\": the .glb is damaged: it ends within its header")) << damaged.err;
    EXPECT_FALSE(std::filesystem::exists(path("a.gltf.sjson")) || std::filesystem::exists(path("b.glb.sjson")));
    EXPECT_EQ(run({"import", "-"}).exit_code, 2);
}

}  // namespace
