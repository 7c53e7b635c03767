#include "shoal/entity/entity.h"

#include "inspect/xml_check.h"
#include "support/testing.h"
#include "tool/tool_process.h"

#include <map>
#include <set>
#include <vector>

namespace {

using shoal_test::kReef;
using shoal_test::ToolResult;

class ToolRun : public shoal_test::ToolTest {};
class ToolLagoon : public shoal_test::ToolTest {
protected:
    static std::string sample(const std::string& name) {
        return std::string(SHOAL_SOURCE_DIR "/samples/lagoon/") + name;
    }

    std::string lagoon_blob() const {
        const ToolResult result = run({"compile", sample("lagoon.sjson"), "--schema", sample("lagoon.schema.sjson"),
                                       "-o", path("lagoon.blob"), "--strict"});
        EXPECT_EQ(result.exit_code, 0) << result.err;
        EXPECT_TRUE(result.prints("no warnings"));
        return path("lagoon.blob");
    }
};
class ToolCrown : public shoal_test::ToolTest {
protected:
    const std::string crown_ = std::string(SHOAL_SOURCE_DIR) + "/../shared/corpora/crown";
    const std::string level_ = crown_ + "/01-physics/levels/mover.level";
    const std::string schema_ = SHOAL_SOURCE_DIR "/tests/corpora/crown.sjson";

    void SetUp() override {
        ToolTest::SetUp();
        if (!std::filesystem::exists(level_)) GTEST_SKIP() << level_ << " is not here";
    }
    std::vector<std::string> with_roots(std::vector<std::string> words) const {
        for (const std::string& word : {std::string("--root"), crown_, std::string("--root"), crown_ + "/01-physics",
                                        std::string("--schema"), schema_})
            words.push_back(word);
        return words;
    }
};

const nlohmann::json* find_pass(const nlohmann::json& json, const std::string& name) {
    for (const nlohmann::json& pass : json["passes"])
        if (pass["name"] == name) return &pass;
    return nullptr;
}

TEST_F(ToolRun, loads_scripts_and_runs_their_passes) {
    if (run({"schema", "--lua-types", reef_blob()}).says("built without LuaJIT"))
        GTEST_SKIP() << "there are no scripts";
    const std::string script =
        write("swim.lua",
              "shoal.component{name = 'spin', fields = {{'angle', 'float'}}} shoal.create{spin = {}} "
              "shoal.spawn('components = { spin = { angle = 3 } }') "
              "shoal.pass{name = 'turn', query = '&spin', columns = 'spin.angle', "
              "run = function(frame, batch, angle) angle:add(1) end}");
    const ToolResult result = run({"run", reef_blob(), "--frames", "3", "--script", script, "--json"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const nlohmann::json json = nlohmann::json::parse(result.out);
    const nlohmann::json* const pass = find_pass(json, "turn");
    ASSERT_NE(pass, nullptr);
    EXPECT_EQ((*pass)["runs"], 3);
    const ToolResult faulty = run({"run", reef_blob(), "--script", write("faulty.lua", "\nlocal x = nil + 1")});
    EXPECT_EQ(faulty.exit_code, 1);
    EXPECT_TRUE(faulty.says("faulty.lua:2: attempt to perform arithmetic on a nil value")) << faulty.err;
    const ToolResult follows = run({"run", write("spun.sjson", "components = { spin = {} }"), "--script",
                                    write("faulty.lua", "local x = nil + 1 shoal.component{name = 'spin'}")});
    EXPECT_EQ(follows.exit_code, 1);
    EXPECT_LT(follows.err.find("faulty.lua:1: attempt to perform"), follows.err.find("spun.sjson:1:"))
        << "the cause comes first: " << follows.err;
    EXPECT_TRUE(follows.says("component type \"spin\"")) << follows.err;
    EXPECT_EQ(run({"run", reef_blob(), "--script", "-"}).exit_code, 2);
    const nlohmann::json refused = nlohmann::json::parse(
        run({"run", reef_blob(), "--json", "--script", write("faulty.lua", "\nlocal x = nil + 1")}).out);
    EXPECT_EQ(refused["diagnostics"][0]["notes"][0]["message"], "stack traceback:") << refused;
    const nlohmann::json failing = nlohmann::json::parse(
        run({"run", reef_blob(), "--json", "--frames", "2", "--script",
             write("failing.lua", "shoal.pass{name = 'fail', run = function()\n local x = nil + 1 end}")})
            .out);
    EXPECT_EQ(failing["script_failures"], 2);
    const std::string last = failing["last_script_failure"];
    EXPECT_NE(last.find("failing.lua:2: attempt to perform arithmetic on a nil value\nstack traceback:"),
              std::string::npos)
        << last;
    EXPECT_TRUE(run({"schema", "--lua-types", reef_blob()}).prints("---@class shoal.component."))
        << "types of the blob";
}

TEST_F(ToolRun, compiles_components_with_functions_of_scripts) {
    if (run({"schema", "--lua-types", reef_blob()}).says("built without LuaJIT"))
        GTEST_SKIP() << "there are no scripts";
    const std::string types = write("types.lua",
                                    "shoal.component{name = 'lamp', fields = {{'power', 'float'}}, keys = {'watts'},\n"
                                    "    compile = function(source, refuse)\n"
                                    "        if source.watts < 0 then refuse('a lamp takes power', 'watts') end\n"
                                    "        return {power = source.watts * 2}\n"
                                    "    end}\n"
                                    "shoal.log('types')");
    const std::string count = write("count.lua", "assert(#shoal.find('lamp.power == 8') == 1, 'no lamp')");
    const std::string level = write("lamp.sjson", "components = { lamp = { watts = 4 } }");
    const ToolResult result =
        run({"run", level, "--script", types, "--script", count, "--frames", "1", "--query", "lamp.power == 8"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_TRUE(result.prints("matches     1\n")) << result.out;
    EXPECT_EQ(result.err.find("types: types"), result.err.rfind("types: types")) << "what it logs is shown once";
    EXPECT_EQ(run({"compile", level, "-o", path("lamp.blob"), "--script", types}).exit_code, 0);
    EXPECT_EQ(run({"run", path("lamp.blob"), "--script", count}).exit_code, 0);
    const ToolResult alone = run({"check", level, "--script", types, "--script", count});
    EXPECT_EQ(alone.exit_code, 1);
    EXPECT_TRUE(alone.says("count.lua:1: no lamp")) << alone.err;
    write("lamp.sjson", "components = { lamp = {\n  watts = -4 } }");
    const ToolResult refused = run({"run", level, "--script", types});
    EXPECT_TRUE(refused.says("lamp.sjson:2:11: error: ")) << refused.err;
    EXPECT_TRUE(refused.says("types.lua:3: a lamp takes power")) << refused.err;
    EXPECT_TRUE(refused.says("note: stack traceback:")) << refused.err;
}

TEST_F(ToolRun, loads_plugins_and_runs_their_passes) {
    const std::string plugin = SHOAL_SAMPLE_PLUGINS "spin.so";
    const ToolResult result = run({"run", reef_blob(), "--frames", "3", "--plugin", plugin, "--json"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const nlohmann::json json = nlohmann::json::parse(result.out);
    EXPECT_EQ(json["plugins"], nlohmann::json({"spin 1.0"}));
    const nlohmann::json* const pass = find_pass(json, "spin");
    ASSERT_NE(pass, nullptr);
    EXPECT_EQ((*pass)["runs"], 3);
    EXPECT_TRUE(run({"run", reef_blob(), "--frames", "1", "--plugin", plugin}).prints("plugin      spin 1.0\n"));
    const ToolResult twice = run({"run", reef_blob(), "--plugin", plugin, "--plugin", plugin});
    EXPECT_EQ(twice.exit_code, 1);
    EXPECT_TRUE(twice.says("a plugin \"spin\" is loaded already, from " + plugin)) << twice.err;
    const ToolResult text = run({"run", reef_blob(), "--plugin", reef_blob()});
    EXPECT_EQ(text.exit_code, 1);
    EXPECT_TRUE(text.says("cannot load plugin " + reef_blob() + ": ")) << text.err;
    EXPECT_EQ(run({"run", reef_blob(), "--plugin", "-"}).exit_code, 2);
}

TEST_F(ToolRun, a_plugin_compiles_its_component_types_and_its_store_takes_the_level) {
    const std::string plugin = SHOAL_SAMPLE_PLUGINS "grid.so";
    const std::string level = write("motes.sjson",
                                    "children = [{ components = { mote = { at = [1 2] } } }\n"
                                    "            { components = { mote = { at = [1.5 2] } } }\n"
                                    "            { components = { mote = { x = 9  y = 9 } } }]\n");
    const std::string query = "neighbour, neighbour.num_near > 0";
    const ToolResult result = run({"run", level, "--frames", "3", "--plugin", plugin, "--query", query});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_TRUE(result.prints("matches     2\n")) << result.out;
    EXPECT_EQ(run({"compile", level, "--plugin", plugin, "-o", path("motes.blob")}).exit_code, 0);
    const ToolResult blob = run({"run", path("motes.blob"), "--plugin", plugin, "--query", query});
    EXPECT_TRUE(blob.prints("matches     2\n")) << blob.out << blob.err;
    const std::string bad = write("bad.sjson", "components = { mote = { at = [1 \"two\"] } }\n");
    const ToolResult checked = run({"--plugin", plugin, "check", bad});
    EXPECT_EQ(checked.exit_code, 1);
    EXPECT_TRUE(checked.says("`at` is a list of two numbers, [x y]")) << checked.err;
}

TEST_F(ToolRun, a_plugin_gives_verbs_that_help_lists) {
    const std::string plugin = SHOAL_SAMPLE_PLUGINS "grid.so";
    EXPECT_EQ(run({"--plugin", plugin, "cell", "3.5", "-2.5"}).out, "3 -3\n");
    EXPECT_TRUE(
        run({"--plugin=" + plugin, "help"}).prints("  cell          say in which cell of the grid a place is\n"));
    EXPECT_TRUE(run({"--plugin", plugin, "help", "cell"}).prints("shoal --plugin FILE.so cell X Y\n"));
    EXPECT_FALSE(run({"help"}).prints("cell of the grid"));
    const ToolResult wrong = run({"--plugin", plugin, "cell", "3.5"});
    EXPECT_EQ(wrong.exit_code, 1);
    EXPECT_TRUE(wrong.says("give two numbers, X and Y")) << wrong.err;
    const ToolResult unknown = run({"--plugin", plugin, "cells"});
    EXPECT_EQ(unknown.exit_code, 2);
    EXPECT_TRUE(unknown.says("there is no verb \"cells\", neither in the tool nor in a plugin")) << unknown.err;
    EXPECT_EQ(run({"--plugin"}).exit_code, 2);
    EXPECT_EQ(run({"--plugin", path("nothing.so"), "cell"}).exit_code, 1);
}

TEST_F(ToolRun, json_has_the_facts_that_people_read) {
    const ToolResult result = run({"run", reef_blob(), "--frames", "12", "--json"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const nlohmann::json json = result.json();
    EXPECT_EQ(json["ok"], true);
    EXPECT_EQ(json["entities"], 3);
    EXPECT_EQ(json["num_components"], 8);
    EXPECT_EQ(json["components"]["transform"]["rows"], 3);
    EXPECT_EQ(json["components"]["point_mass"]["rows"], 3);
    EXPECT_EQ(json["components"]["debug_name"]["rows"], 1);
    EXPECT_EQ(json["components"]["tag"]["rows"], 1);
    EXPECT_GE(json["spawn_ms"].get<double>(), 0);
    ASSERT_EQ(json["passes"].size(), 5u);
    for (const char* name : {"simulate", "move", "transforms", "bounds", "settle"}) {
        ASSERT_NE(find_pass(json, name), nullptr) << name;
        EXPECT_EQ((*find_pass(json, name))["runs"], 12);
        EXPECT_TRUE(result.says(std::string("\n") + name + " ")) << result.err;
    }
    EXPECT_EQ((*find_pass(json, "simulate"))["rows"], 3);
    EXPECT_EQ(json["state_hash"].get<std::string>().size(), 18u);
    EXPECT_TRUE(result.says("state hash  " + json["state_hash"].get<std::string>()));
    EXPECT_TRUE(result.says("spawned 3 entities with 8 components"));
}

TEST_F(ToolRun, all_built_in_component_types_have_stores) {
    const std::string schema =
        write("fish.schema.sjson", "components = { asleep = { enableable = true fields = { hours = float } } }");
    const std::string source = write("ship.sjson", R"(
components = {
    transform = { position = [0 0 1] }  point_mass = {}  debug_name = "ship"  tag = "big"  zone = 3  asleep = 8
    asleep_disabled = { type = "disabled"  component = "asleep" }
    model_pose = { nodes = [ { name = "keel" } { name = "mast"  parent = "keel"  position = [0 0 5] } ] }
}
children = { gun = { components = { owned = "parent" } }  oar = { components = { owned = "parent"  inactive = {} } }
             flag = { components = { transform = {}  attached_to_node = { node = "mast" } } } }
)");
    for (const std::string& level : {source, path("ship.blob")}) {
        if (level != source) {
            const ToolResult compiled = run({"compile", source, "--schema", schema, "-o", level});
            ASSERT_EQ(compiled.exit_code, 0) << compiled.err;
        }
        const ToolResult result =
            run({"run", level, "--schema", schema, "--repeat", "2", "--frames", "1", "--query", "owned", "--json"});
        ASSERT_EQ(result.exit_code, 0) << result.err;
        const nlohmann::json json = result.json();
        EXPECT_EQ(json["components"]["transform"]["rows"], 4);
        for (const char* name :
             {"point_mass", "debug_name", "tag", "model_pose", "asleep", "inactive", "attached_to_node"})
            EXPECT_EQ(json["components"][name]["rows"], 2) << name;
        EXPECT_EQ(json["components"]["owned"]["rows"], 6) << "the owners have rows too";
        EXPECT_EQ(json["matches"].size(), 2u) << "what is owned is found, unless it is inactive";
    }
}

TEST_F(ToolRun, a_world_without_zones_has_no_store_for_instructions_of_the_spawn) {
    const std::string source = write("egg.sjson", "components = { transform = {}  zone = 3 }");
    const nlohmann::json json = run({"run", source, "--frames", "1", "--json"}).json();
    EXPECT_EQ(json["components"].size(), 1u);
    EXPECT_EQ(json["entities"], 1);
}

TEST_F(ToolRun, a_source_runs_as_its_blob_does) {
    const std::string blob = reef_blob();
    EXPECT_EQ(run({"run", path("reef.sjson"), "--json"}).json()["state_hash"],
              run({"run", blob, "--json"}).json()["state_hash"]);
}

TEST_F(ToolRun, the_state_hash_does_not_depend_on_the_number_of_workers) {
    const std::string blob = reef_blob();
    std::vector<std::string> hashes;
    for (const char* workers : {"1", "2", "3", "4", "0"}) {
        const nlohmann::json json =
            run({"run", blob, "--repeat", "20000", "--frames", "5", "--workers", workers, "--json"}).json();
        if (*workers != '0') {
            EXPECT_EQ(json["workers"], std::stoi(workers));
        }
        EXPECT_EQ(json["entities"], 60000);
        hashes.push_back(json["state_hash"]);
    }
    for (const std::string& hash : hashes) EXPECT_EQ(hash, hashes[0]);
}

TEST_F(ToolRun, frames_and_dt_move_point_masses) {
    const std::string blob = reef_blob();
    const auto bounds = [&](const char* frames, const char* dt) {
        return run({"run", blob, "--frames", frames, "--dt", dt, "--json"}).json()["bounds"];
    };
    // anna flies along x at 1 m/s, her egg beside her; bert falls.
    const nlohmann::json start = bounds("1", "0");
    EXPECT_EQ(start["low"], (nlohmann::json{0.0, 0.0, 0.0}));
    EXPECT_EQ(start["high"], (nlohmann::json{0.0, 5.0, 10.0})) << "the egg is 5 m from anna";
    const nlohmann::json later = bounds("100", "0.01");
    EXPECT_NEAR(later["high"][0].get<double>(), 1.0, 1e-4) << "the egg flies with anna";
    EXPECT_NEAR(later["low"][2].get<double>(), -9.81 / 2, 0.06);
    EXPECT_NE(run({"run", blob, "--frames", "1", "--json"}).json()["state_hash"],
              run({"run", blob, "--frames", "2", "--json"}).json()["state_hash"]);
}

TEST_F(ToolRun, a_query_prints_the_entities_that_match_after_the_last_frame) {
    const std::string blob = reef_blob();
    const auto matches = [&](const char* query) {
        return run({"run", blob, "--frames", "100", "--dt", "0.01", "--query", query, "--json"}).json()["matches"];
    };
    EXPECT_EQ(matches("transform").size(), 3u);
    const nlohmann::json falling = matches("point_mass, point_mass.velocity.z < -9, ?debug_name");
    ASSERT_EQ(falling.size(), 1u);
    EXPECT_NEAR(falling[0]["point_mass.velocity"][2].get<double>(), -9.81, 1e-3);
    EXPECT_TRUE(falling[0]["entity"].is_string());
    EXPECT_TRUE(falling[0].contains("debug_name.name"));
    EXPECT_EQ(matches("point_mass, point_mass.velocity.z < -90").size(), 0u);
    const ToolResult text = run({"run", blob, "--frames", "1", "--query", "debug_name, point_mass"});
    EXPECT_TRUE(text.prints("matches     1")) << text.out;
    EXPECT_TRUE(text.prints("entity")) << text.out;
    EXPECT_TRUE(text.prints("point_mass.velocity")) << text.out;
    const ToolResult wrong = run({"run", blob, "--frames", "1", "--query", "transform, !tga"});
    EXPECT_EQ(wrong.exit_code, 1);
    EXPECT_TRUE(wrong.says("--query:1:13: error: no store keeps a component \"tga\"; did you mean \"tag\"?"))
        << wrong.err;
}

TEST_F(ToolRun, a_level_runs_where_address_space_or_data_is_limited) {
    if (shoal_test::kSanitized) GTEST_SKIP() << "sanitizers need the whole address space";
    if (sizeof(shoal::EntityBits) == 8) GTEST_SKIP() << "wide ids reserve more";
    const std::string lagoon = std::string(SHOAL_SOURCE_DIR) + "/samples/lagoon/lagoon";
    for (const char* limit : {"ulimit -v 500000;", "ulimit -d 120000;"}) {
        const ToolResult result =
            run({"run", lagoon + ".sjson", "--schema", lagoon + ".schema.sjson", "--frames", "1"}, limit);
        EXPECT_EQ(result.exit_code, 0) << limit << result.err;
    }
    for (const int data : {54'000, 62'000, 66'000}) {  // enough, or there is an error that says of what there is not
        const ToolResult result = run({"run", lagoon + ".sjson", "--schema", lagoon + ".schema.sjson", "--frames", "1"},
                                      "ulimit -d " + std::to_string(data) + ";");
        EXPECT_TRUE(result.exit_code == 0 || result.says("cannot reserve") || result.says("memory")) << result.err;
        EXPECT_FALSE(result.says("assertion failed")) << data << result.err;
    }
}

TEST_F(ToolRun, zero_frames_only_spawn) {
    const nlohmann::json json = run({"run", reef_blob(), "--frames", "0", "--json"}).json();
    EXPECT_EQ(json["entities"], 3);
    EXPECT_EQ((*find_pass(json, "simulate"))["runs"], 0);
}

TEST_F(ToolRun, copies_lie_side_by_side) {
    const std::string source = write("pair.sjson",
                                     "entities = { a = { components = { transform = {} } } b = { components = { "
                                     "transform = { position = [9 0 0] } point_mass = {} } } }");
    const nlohmann::json json = run({"run", source, "--repeat", "4", "--frames", "1", "--json"}).json();
    EXPECT_EQ(json["copies"], 4);
    EXPECT_EQ(json["entities"], 8);
    EXPECT_EQ(json["components"]["transform"]["rows"], 8);
    EXPECT_EQ(json["bounds"]["low"], (nlohmann::json{0.0, 0.0, 0.0}));
    EXPECT_GT(json["bounds"]["high"][0].get<double>(), 18.0) << "two copies of 9 m, and a gap";
    EXPECT_GT(json["bounds"]["high"][1].get<double>(), 9.0) << "two rows of them";
}

TEST_F(ToolRun, a_child_is_placed_relative_to_its_nearest_ancestor_with_a_transform) {
    const std::string source = write("tree.sjson", R"(
components = { transform = { position = [100 0 0] euler_degrees = [0 0 90] scale = 2 } }
children = { bare = { children = { twig = { components = { transform = { position = [0 20 0] } } } } } }
)");
    const nlohmann::json json = run({"run", source, "--frames", "1", "--json"}).json();
    EXPECT_NEAR(json["bounds"]["low"][0].get<double>(), 60, 1e-4) << "y became -x, and twice as long";
    EXPECT_NEAR(json["bounds"]["high"][0].get<double>(), 100, 1e-4);
    EXPECT_NEAR(json["bounds"]["high"][1].get<double>(), 0, 1e-4);
}

TEST_F(ToolRun, without_a_transform_a_position_is_where_it_says) {
    const std::string schema = write("nest.schema.sjson",
                                     "components = { nest = { fields = { position = { type = vec3 split = true } } } "
                                     "twig = { whole = true fields = { length = float position = vec3 } } }");
    const std::string source = write("tree.sjson", R"(
components = { nest = { position = [100 0 0] } }
children = {
    a = { components = { twig = { position = [0 20 0] } } }
    b = { components = { transform = { position = [50 50 50] }  twig = { position = [900 900 900] } } }
}
)");
    const nlohmann::json json = run({"run", source, "--schema", schema, "--frames", "1", "--json"}).json();
    EXPECT_EQ(json["bounds"]["low"], (nlohmann::json{0.0, 0.0, 0.0}));
    EXPECT_EQ(json["bounds"]["high"], (nlohmann::json{100.0, 50.0, 50.0}));
}

TEST_F(ToolRun, the_picture_is_well_formed_and_shows_each_layer) {
    const std::string blob = reef_blob();
    const ToolResult result = run({"run", blob, "--picture", path("reef.svg"), "--json"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const std::string svg = read(path("reef.svg"));
    EXPECT_EQ(shoal_test::XmlCheck::problem(svg), "");
    EXPECT_NE(svg.find(">point_mass<"), std::string::npos);
    EXPECT_EQ(result.json()["picture"], path("reef.svg"));
    EXPECT_NE(svg.find("class=\"links\""), std::string::npos) << "the egg is linked to anna";
    EXPECT_EQ(result.json()["points_drawn"], 3);
    EXPECT_TRUE(result.says("picture     " + path("reef.svg")));
}

TEST_F(ToolRun, a_picture_that_cannot_be_written_is_an_error) {
    const ToolResult result = run({"run", reef_blob(), "--picture", path("no/folder/reef.svg"), "--json"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_EQ(result.json()["ok"], false);
    EXPECT_TRUE(result.says("no/folder/reef.svg"));
    EXPECT_TRUE(result.says("give --picture a file in a folder that can be written")) << result.err;
}

TEST_F(ToolRun, the_trace_shows_the_passes_of_every_frame) {
    const ToolResult result =
        run({"run", reef_blob(), "--frames", "3", "--workers", "2", "--trace", path("reef.json"), "--json"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const nlohmann::json trace = nlohmann::json::parse(read(path("reef.json")));
    std::map<std::string, std::set<int>> frames;
    std::size_t num_times = 0;
    for (const nlohmann::json& event : trace["traceEvents"]) {
        if (event["ph"] != "X") continue;
        ++num_times;
        frames[event["name"]].insert(event["args"]["frame"].get<int>());
    }
    for (const char* name : {"simulate", "bounds"}) EXPECT_EQ(frames[name], (std::set<int>{0, 1, 2})) << name;
    EXPECT_EQ(frames["settle"].size(), 3u);
    EXPECT_EQ(result.json()["trace"], path("reef.json"));
    EXPECT_EQ(result.json()["events_traced"], num_times);
    EXPECT_EQ(result.json()["events_not_kept"], 0);
    EXPECT_TRUE(result.says("trace       " + path("reef.json")));
}

TEST_F(ToolRun, a_trace_that_cannot_be_written_is_an_error) {
    const ToolResult result = run({"run", reef_blob(), "--trace", path("no/folder/reef.json"), "--json"});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_EQ(result.json()["ok"], false);
    EXPECT_TRUE(result.says("give --trace a file in a folder that can be written")) << result.err;
}

TEST_F(ToolRun, a_level_without_positions_runs) {
    const std::string source = write("names.sjson", "components = { debug_name = \"alone\" }");
    const ToolResult result = run({"run", source, "--repeat", "3", "--picture", path("names.svg"), "--json"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.json()["entities"], 3);
    EXPECT_FALSE(result.json().contains("bounds"));
    EXPECT_EQ(find_pass(result.json(), "simulate"), nullptr);
    EXPECT_EQ(shoal_test::XmlCheck::problem(read(path("names.svg"))), "");
}

TEST_F(ToolRun, a_level_without_entities_runs) {
    const ToolResult result = run({"run", write("empty.sjson", "entities = []"), "--repeat", "5", "--json"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.json()["entities"], 0);
}

TEST_F(ToolRun, more_copies_than_there_are_ids_is_an_error_that_says_so) {
    const ToolResult result = run({"run", reef_blob(), "--repeat", "1000000000", "--json"});
    EXPECT_EQ(result.exit_code, 2) << "beyond the range of the flag";
    std::string many = "entities = [\n";
    for (int i = 0; i < 100; ++i) many += "{ components = { debug_name = \"x\" } }\n";
    const ToolResult full = run({"run", write("many.sjson", many + "]\n"), "--repeat", "1000000", "--json"});
    EXPECT_EQ(full.exit_code, 1);
    EXPECT_EQ(full.json()["ok"], false);
    EXPECT_TRUE(full.says("can live; spawn fewer copies")) << full.err;
}

TEST_F(ToolRun, the_seed_is_taken_and_errors_of_a_source_are_told) {
    EXPECT_EQ(run({"run", reef_blob(), "--seed", "18446744073709551615", "--json"}).json()["seed"], ~std::uint64_t(0));
    const ToolResult result = run({"run", write("bad.sjson", "components = { point_mass = { mass = [] } }")});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_TRUE(result.says("bad.sjson:1:38: error: ")) << result.err;
}

TEST_F(ToolLagoon, compiles_without_a_warning_to_more_than_ten_thousand_entities) {
    const nlohmann::json json = run({"dump", lagoon_blob(), "--json"}).json();
    EXPECT_GE(json["entities"].get<int>(), 10'000);
    for (const char* type :
         {"transform", "point_mass", "debug_name", "tag", "fish", "coral", "anemone", "food", "buoy"})
        EXPECT_GT(json["components"][type].get<int>(), 0) << type;
}

TEST_F(ToolLagoon, moves) {
    const std::string blob = lagoon_blob();
    const nlohmann::json few = run({"run", blob, "--frames", "1", "--json"}).json(),
                         more = run({"run", blob, "--frames", "10", "--json"}).json();
    EXPECT_NE(few["state_hash"], more["state_hash"]);
    EXPECT_EQ((*find_pass(more, "simulate"))["rows"], few["components"]["point_mass"]["rows"]);
}

TEST_F(ToolLagoon, is_the_same_for_any_number_of_workers_and_draws_a_small_picture) {
    const std::string blob = lagoon_blob();
    std::string first;
    for (const char* workers : {"1", "2", "4"}) {
        const std::string hash =
            run({"run", blob, "--frames", "20", "--workers", workers, "--picture", path("lagoon.svg"), "--json"})
                .json()["state_hash"];
        if (first.empty()) first = hash;
        EXPECT_EQ(hash, first) << workers;
    }
    EXPECT_EQ(shoal_test::XmlCheck::problem(read(path("lagoon.svg"))), "");
    EXPECT_LT(std::filesystem::file_size(path("lagoon.svg")), 1'000'000u);
}

TEST_F(ToolCrown, a_level_of_another_engine_compiles_unchanged_with_the_known_counts) {
    const ToolResult result = run(with_roots({"compile", level_, "-o", path("mover.blob"), "--json"}));
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const nlohmann::json json = result.json();
    EXPECT_EQ(json["entities"], 327);
    EXPECT_EQ(json["roots"], 325);
    EXPECT_EQ(json["num_components"], 1287);
    EXPECT_EQ(json["components"].size(), 14u);
    EXPECT_EQ(json["components"]["transform"], 326);
    EXPECT_EQ(json["components"]["mesh_renderer"], 317);
    EXPECT_EQ(json["components"]["collider"], 303);
}

TEST_F(ToolCrown, thirty_one_copies_are_10137_entities) {
    const ToolResult result = run(with_roots({"run", level_, "--repeat", "31", "--frames", "3", "--json"}));
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const nlohmann::json json = result.json();
    EXPECT_EQ(json["entities"], 10'137);
    EXPECT_EQ(json["components"]["transform"]["rows"], 326 * 31);
    EXPECT_EQ(json["num_components"], 1287 * 31);
}

}  // namespace
