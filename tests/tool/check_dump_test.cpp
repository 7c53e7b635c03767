#include "shoal/base/text.h"
#include "tool/tool_process.h"

#include <vector>

namespace {

using shoal::concat;
using shoal_test::kReef;
using shoal_test::ToolResult;
class ToolCheck : public shoal_test::ToolTest {};
class ToolDump : public shoal_test::ToolTest {};

TEST_F(ToolCheck, says_of_each_source_whether_it_is_right) {
    const std::string good = write("good.sjson", kReef),
                      bad = write("bad.sjson", "components = { point_mass = { mass = \"two\" } }");
    EXPECT_EQ(run({"check", good}).exit_code, 0);
    EXPECT_TRUE(run({"check", good}).prints("good.sjson: ok, 3 entities, no warnings"));
    const ToolResult both = run({"check", good, bad});
    EXPECT_EQ(both.exit_code, 1);
    EXPECT_TRUE(both.prints("good.sjson: ok, 3 entities"));
    EXPECT_TRUE(both.prints("bad.sjson: 1 error, no warnings"));
    EXPECT_TRUE(both.says(bad + ":1:38: error: ")) << both.err;
}

TEST_F(ToolCheck, a_schema_file_is_checked_as_one) {
    const std::string types = "components = { body = { fields = { mass = float  speed = SPEED } }  rock = {} }\n";
    const auto with = [&](std::string_view type) { return std::string(types).replace(types.find("SPEED"), 5, type); };
    for (const char* const name : {"game.schema.sjson", "types.sjson"}) {
        const std::string good = write(name, with("vec3"));
        EXPECT_TRUE(run({"check", good}).prints(concat(name, ": ok, 2 component types, no warnings")))
            << run({"check", good}).out;
    }
    const std::string bad = write("game.schema.sjson", with("vec5"));
    const ToolResult result = run({"check", bad, "--json"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_EQ(result.json()["errors"], 1);
    EXPECT_TRUE(result.says("game.schema.sjson:1:58: error: ")) << result.err;
}

TEST_F(ToolCheck, a_pipe_that_a_shell_has_opened_is_read_as_standard_input_is) {
    write("good.sjson", kReef);
    const auto shell = [&](const std::string& command) {
        const std::string whole = concat("bash -c ", shoal_test::shell_quoted(command), " >", path("out"), " 2>&1");
        return std::pair(WEXITSTATUS(std::system(whole.c_str())), read(path("out")));
    };
    const std::string tool = shoal_test::shell_quoted(SHOAL_TOOL), good = shoal_test::shell_quoted(path("good.sjson"));
    for (const std::string& command :
         {concat(tool, " check <(cat ", good, ")"), concat("cat ", good, " | ", tool, " check /dev/stdin"),
          concat(tool, " check /dev/stdin <", good)}) {
        const auto [exit_code, out] = shell(command);
        EXPECT_EQ(exit_code, 0) << command << out;
        EXPECT_NE(out.find(": ok, 3 entities, no warnings"), std::string::npos) << command << out;
    }
}

TEST_F(ToolCheck, a_picture_is_not_a_source_which_one_line_says) {
    const std::string picture = write("x.svg", "<?xml version=\"1.0\"?>\n<svg>\n<g/>\n</svg>\n");
    const ToolResult result = run({"check", picture});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_EQ(result.err, concat("error: \"", picture,
                                 "\" is not a source: it begins as XML and HTML do; give a source in SJSON, "
                                 "JSON or YAML\n"));
}

TEST_F(ToolCheck, a_level_that_is_a_link_is_called_as_the_link_is) {
    write("versions/v1.sjson", kReef);
    std::filesystem::create_symlink("versions/v1.sjson", path("level.sjson"));
    ASSERT_EQ(run({"compile", path("level.sjson"), "-o", path("x.blob")}).exit_code, 0);
    const ToolResult dump = run({"dump", path("x.blob")});
    EXPECT_NE(dump.out.find("level"), std::string::npos) << dump.out;
    EXPECT_EQ(dump.out.find("v1"), std::string::npos) << dump.out;
}

TEST_F(ToolCheck, finds_many_errors_at_once) {
    const std::string bad =
        write("bad.sjson", "components = {\n  point_mass = { mass = \"two\" speed = 3 }\n  tagg = {}\n}\n");
    const ToolResult result = run({"check", bad, "--json"});
    EXPECT_EQ(result.exit_code, 1);
    const nlohmann::json json = result.json();
    EXPECT_EQ(json["ok"], false);
    EXPECT_EQ(json["errors"], 3);
    EXPECT_EQ(json["diagnostics"].size(), 3u);
}

TEST_F(ToolCheck, json_has_all_sources_and_their_diagnostics) {
    const std::string good = write("good.sjson", kReef), bad = write("bad.sjson", "components = { nobody = {} }");
    const nlohmann::json json = run({"check", good, bad, "--json"}).json();
    EXPECT_EQ(json["ok"], false);
    ASSERT_EQ(json["sources"].size(), 2u);
    EXPECT_EQ(json["sources"][0]["ok"], true);
    EXPECT_EQ(json["sources"][0]["entities"], 3);
    EXPECT_EQ(json["sources"][1]["ok"], false);
    EXPECT_EQ(json["sources"][1]["errors"], 1);
    EXPECT_EQ(json["diagnostics"][0]["file"], bad);
    EXPECT_EQ(json["diagnostics"][0]["line"], 1);
    EXPECT_EQ(run({"check", good, "--json"}).json()["ok"], true);
}

TEST_F(ToolCheck, json_tells_second_places_as_notes) {
    const std::string source = write("bad.sjson", "components = { tag = \"a\" }\ncomponents = { tag = \"b\" }\n");
    const nlohmann::json notes = run({"check", source, "--json"}).json()["diagnostics"][0]["notes"];
    ASSERT_EQ(notes.size(), 1u);
    EXPECT_EQ(notes[0]["file"], source);
    EXPECT_EQ(notes[0]["line"], 1);
    EXPECT_EQ(notes[0]["column"], 1);
    EXPECT_EQ(notes[0]["message"], "first defined here");
}

TEST_F(ToolCheck, writes_nothing_and_a_missing_source_is_an_error) {
    const std::string good = write("pond/good.sjson", kReef);
    run({"check", good});
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path("pond")), {}), 1);
    const ToolResult missing = run({"check", path("missing.sjson")});
    EXPECT_EQ(missing.exit_code, 1);
    EXPECT_TRUE(missing.says("missing.sjson"));
    EXPECT_EQ(run({"check", path("pond")}).exit_code, 1) << "a folder is no source";
}

TEST_F(ToolCheck, uses_schemas_and_roots) {
    const std::string schema = write("crab.schema.sjson", "components = { crab = { fields = { claws = uint8 } } }");
    write("shared/crab.sjson", "components = { crab = { claws = 1 } }");
    const std::string source = write("levels/beach.sjson", "entities = { a = { prefab = \"crab\" } }");
    EXPECT_EQ(run({"check", source, "--schema", schema}).exit_code, 1);
    EXPECT_EQ(run({"check", source, "--root", path("shared")}).exit_code, 1);
    EXPECT_EQ(run({"check", source, "--schema", schema, "--root", path("shared")}).exit_code, 0);
    const std::string broken = write("broken.schema.sjson", "components = { crab = { fields = { claws = uint9 } } }");
    const ToolResult result = run({"check", source, "--schema", broken});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_TRUE(result.says("broken.schema.sjson:1:")) << result.err;
}

TEST_F(ToolCheck, strict_makes_errors_of_warnings) {
    write("fish.sjson", "components = { point_mass = {} }");
    const std::string source =
        write("pond.sjson", "entities = { a = { prefab = \"fish\" deleted_children = [\"ghost\"] } }");
    EXPECT_EQ(run({"check", source}).exit_code, 0);
    const ToolResult strict = run({"check", source, "--strict", "--json"});
    EXPECT_EQ(strict.exit_code, 1);
    EXPECT_EQ(strict.json()["ok"], false);
    EXPECT_EQ(strict.json()["sources"][0]["warnings"], 1);
    EXPECT_TRUE(strict.says("1 warning, which counts as an error here")) << strict.err;
}

TEST_F(ToolDump, shows_every_value_by_name) {  // req: D10-D14
    const ToolResult result = run({"dump", reef_blob()});
    EXPECT_EQ(result.exit_code, 0);
    for (const char* text :
         {"entities = 3", "roots = 2", "point_mass = 3", "\"anna\"", "\"egg\"", "\"food\"", "mass = 2"})
        EXPECT_TRUE(result.prints(text)) << text << "\n" << result.out;
}

TEST_F(ToolDump, json_has_counts_and_bytes) {
    const std::string blob = reef_blob();
    const nlohmann::json json = run({"dump", blob, "--json"}).json();
    EXPECT_EQ(json["ok"], true);
    EXPECT_EQ(json["entities"], 3);
    EXPECT_EQ(json["roots"], 2);
    EXPECT_EQ(json["components"], (nlohmann::json{{"transform", 3}, {"point_mass", 3}, {"debug_name", 1}, {"tag", 1}}));
    EXPECT_EQ(json["bytes"], std::filesystem::file_size(blob));
}

TEST_F(ToolDump, refuses_what_is_no_blob_and_what_is_damaged) {
    const ToolResult source = run({"dump", write("reef.sjson", kReef)});
    EXPECT_EQ(source.exit_code, 1);
    EXPECT_TRUE(source.says("it is not a blob")) << source.err;
    EXPECT_TRUE(source.says("give the path of a blob that `shoal compile` made")) << source.err;
    std::string bytes = read(reef_blob());
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
    const ToolResult damaged = run({"dump", write("damaged.blob", bytes), "--json"});
    EXPECT_EQ(damaged.exit_code, 1);
    EXPECT_EQ(damaged.json()["ok"], false);
    EXPECT_EQ(run({"dump", write("short.blob", bytes.substr(0, 20))}).exit_code, 1);
    EXPECT_EQ(run({"dump", path("missing.blob")}).exit_code, 1);
}

// --- older versions of component types --------------------------------------------------------------------------------

constexpr std::string_view kCrab1 = "components = { crab = { fields = { claws = uint8  at = vec2 } } }";
constexpr std::string_view kLobster2 =
    "components = { lobster = { version = 2  renamed_from = crab\n"
    "    migrations = [ { from = 1  rename = { claws = nippers }  split = { at = [x y] } } ]\n"
    "    fields = { nippers = uint16  x = float  y = float } } }";

class ToolVersions : public shoal_test::ToolTest {
protected:
    void SetUp() override {
        ToolTest::SetUp();
        old_schema_ = write("old.schema.sjson", kCrab1);
        new_schema_ = write("new.schema.sjson", kLobster2);
        source_ = write("levels/beach.sjson", "components = { crab = { claws = 3  at = [1 2] } }");
    }
    static nlohmann::json lobster_of(const ToolResult& dump) {
        EXPECT_EQ(dump.exit_code, 0) << dump.err;
        return dump.json()["entity_data"][0]["components"]["lobster"];
    }

    const nlohmann::json lobster_ = {{"nippers", 3}, {"x", 1.0}, {"y", 2.0}};
    std::string old_schema_, new_schema_, source_;
};

TEST_F(ToolVersions, blobs_of_old_schemas_are_dumped_and_run_with_new_ones) {
    ASSERT_EQ(run({"compile", source_, "--schema", old_schema_, "-o", path("old.blob")}).exit_code, 0);
    EXPECT_EQ(lobster_of(run({"dump", path("old.blob"), "--json", "--schema", new_schema_})), lobster_);
    EXPECT_TRUE(run({"dump", path("old.blob")}).prints("claws = 3")) << "without a schema it is shown as it is";
    const ToolResult ran = run({"run", path("old.blob"), "--schema", new_schema_, "--frames", "1", "--json", "--query",
                                "lobster.nippers == 3"});
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_EQ(ran.json()["matches"].size(), 1u) << ran.out;
}

TEST_F(ToolVersions, migrations_that_do_not_fit_a_blob_are_told) {
    ASSERT_EQ(run({"compile", source_, "--schema", old_schema_, "-o", path("old.blob")}).exit_code, 0);
    const std::string wrong = write("wrong.schema.sjson",
                                    "components = { crab = { version = 2  fields = { claws = uint8  x = float }\n"
                                    "    migrations = [ { from = 1  rename = { att = x } } ] } }");
    for (const char* verb : {"dump", "run"}) {
        const ToolResult result = run({verb, path("old.blob"), "--schema", wrong});
        EXPECT_EQ(result.exit_code, 1);
        EXPECT_TRUE(
            result.says("from version 1: the migration from version 1 does not fit: there is no field \"att\" "
                        "then; did you mean \"at\"?"))
            << result.err;
    }
}

TEST_F(ToolVersions, sources_of_old_schemas_are_checked_compiled_and_run_untouched) {
    const std::vector<std::string> schemas = {"--schema", new_schema_, "--source-schema", old_schema_};
    const auto with_schemas = [&](std::vector<std::string> arguments) {
        arguments.insert(arguments.end(), schemas.begin(), schemas.end());
        return run(arguments);
    };
    EXPECT_EQ(with_schemas({"check", source_}).exit_code, 0);
    EXPECT_EQ(run({"check", source_, "--schema", new_schema_}).exit_code, 1) << "without the old schema it is wrong";
    ASSERT_EQ(with_schemas({"compile", source_, "-o", path("new.blob")}).exit_code, 0);
    EXPECT_EQ(lobster_of(run({"dump", path("new.blob"), "--json"})), lobster_);
    EXPECT_EQ(with_schemas({"run", source_, "--frames", "1"}).exit_code, 0);
    write("levels/reef.sjson",
          "_versions = { lobster = 2 }  prefab = \"beach\"  modified_components = { lobster = { y = 5 } }");
    const ToolResult folder = with_schemas({"compile", path("levels"), "-o", path("blobs")});
    EXPECT_EQ(folder.exit_code, 0) << folder.err;
    const nlohmann::json changed = {{"nippers", 3}, {"x", 1.0}, {"y", 5.0}};
    EXPECT_EQ(lobster_of(run({"dump", path("blobs/reef.blob"), "--json"})), changed);
    EXPECT_TRUE(with_schemas({"compile", path("levels"), "-o", path("blobs")}).prints("0 compiled, 2 up to date"));
}

TEST_F(ToolVersions, schema_prints_migrations) {
    const ToolResult printed = run({"schema", "--schema", new_schema_});
    const std::string again = write("again.schema.sjson", printed.out);
    EXPECT_TRUE(printed.prints("renamed_from = \"crab\"") && printed.prints("claws = \"nippers\"")) << printed.out;
    EXPECT_EQ(run({"schema", "--schema", again}).out, printed.out);
    EXPECT_FALSE(run({"schema", "--json-schema", "--schema", new_schema_}).prints("claws"));
}

}  // namespace
