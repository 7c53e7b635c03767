// The JSON Schema of sources against another validator: what compiles is valid, and what is not valid does not compile.

#include "tool/tool_process.h"

#include <sstream>
#include <vector>

namespace {

namespace fs = std::filesystem;
using shoal_test::ToolResult;

constexpr std::string_view kSchema = R"(
components = {
    volume = { fields = { aabbox = { fields = { min = vec2  max = { type = vec2  unit = m } } }  tough = uint8 } }
    health = { fields = { left = { type = float  range = [0 100]  unit = kJ } } }
    colour = { fields = { kind = { type = enum  values = [red green] }  shade = { type = double  default = 0.5 } } }
    weapon = { fields = {
        slots = { type = blob_array  of = int32 }
        launchers = { type = blob_array  of = resource_id  keys = slots  shorthand = true }
    } }
    visual = { in_file = true  fields = { mesh = resource_id  size = { type = float  array = 2 } } }
    mark = { many = true  fields = { word = { type = fixed_string  capacity = 8 } } }
    host = { fields = { of = entity  at = matrix  count = int64 } }
    collidable = null
}
ignored_keys = [note]
renamed_keys = { inherit = prefab  pos = transform.position  red_of = colour.shade }
)";

struct Case {
    std::string_view name, text;
};

constexpr Case kRight[] = {
    {"short form", "name: a\nvolume: {aabbox: {min: [0, 1], max: {x: 2}}, tough: 3}\nhealth: 55\ncollidable:\n"},
    {"dotted names", "volume: {aabbox.min: [0, 1], aabbox: {max: [1, 2]}}\n"},
    {"a struct that is reset", "volume: {aabbox: null, tough: null}\n"},
    {"pairs as the value", "weapon: {0: guns/a, 2: guns/b}\n"},
    {"a list of pairs", "weapon: !!pairs [{0: guns/a}, {0: guns/b}]\n"},
    {"an array and its keys", "weapon: {slots: [1, 2], launchers: {7: guns/a}}\n"},
    {"wrapped and inline",
     "components:\n  a: {type: health, left: 3}\n  volume: {data: {tough: 1}}\n  b: {_type: colour, kind: red}\n"},
    {"a list of components",
     "components:\n  - {_guid: a1, _type: health, data: {left: 1}}\n  - {type: colour, shade: 0.25}\n"},
    {"several of one type", "components: {a: {type: mark, word: x}, b: {type: mark, word: y}}\n"},
    {"ignored and renamed keys", "pos: [1, 2, 3]\nnote: {any: 1}\nhealth: 4\n"},
    {"a renamed field", "components: {colour: {red_of: 0.5, note: x}}\n"},
    {"a level", "entities:\n  a: {health: 3}\n  b: {prefab: null, components: {tag: x}}\n"},
    {"all kinds", "components:\n  host: {of: null, at: [[1,0,0,0],[0,1,0,0],[0,0,1,0]], count: 9007199254740993}\n"},
    {"a whole number with a point", "host: {count: 2.0}\n"},
    {"a transform", "transform: {position: {x: 1}, euler_degrees: [0, 0, 90], scale: 2}\n"},
    {"a model", "model_pose: {nodes: [{name: hip}, {name: knee, parent: hip, position: [0, 1, 0], scale: 2}]}\n"},
    {"properties", "properties: {armor: {front: 20}, paint: grey, decks: [1, 2], at: [[0, 1], [2, 3]], fast: true}\n"},
    {"properties with its own words", "components: {properties: {data: {type: heavy}}}\n"},
    {"changes", "children:\n  a:\n    components: {health: 1}\n    children: {b: {health: 2}}\n"},
    {"an enum reset to its default", "colour: {kind: null}\n"},
};

constexpr Case kWrong[] = {
    {"an unknown component", "engine: {power: 3}\n"},
    {"an unknown component among components", "components: {engine: {power: 3}}\n"},
    {"an unknown type", "components: {a: {type: engine}}\n"},
    {"an unknown field", "volume: {thickness: 3}\n"},
    {"an unknown field of a struct", "volume: {aabbox: {middle: [0, 0]}}\n"},
    {"an unknown field in data", "components: {health: {data: {most: 3}}}\n"},
    {"an unknown field of a change", "prefab: base\nmodified_components: {health: {most: 3}}\n"},
    {"a key of an entity that is mistyped", "childern: {}\ncomponents: {health: 1}\n"},
    {"a type of an entity", "type: ship\ncomponents: {health: 1}\n"},
    {"a number out of range", "health: 101\n"},
    {"a number that does not fit", "volume: {tough: 256}\n"},
    {"a negative number", "volume: {tough: -1}\n"},
    {"a fraction", "volume: {tough: 1.5}\n"},
    {"a text for a number", "health: lots\n"},
    {"a bool for a number", "volume: {tough: true}\n"},
    {"a vector that is too long", "volume: {aabbox: {min: [1, 2, 3]}}\n"},
    {"a lane that is not there", "volume: {aabbox: {min: {z: 1}}}\n"},
    {"an enum without such a value", "colour: {kind: blue}\n"},
    {"a value for several fields", "colour: 3\n"},
    {"an array that is too short", "visual: {size: [1]}\n"},
    {"a text that is too long", "mark: {word: abcdefghij}\n"},
    {"pairs with two keys", "weapon: [{0: guns/a, 1: guns/b}]\n"},
    {"a list for a mapping of components", "components: [health]\n"},
    {"a component in a list without a type", "components: [{left: 3}]\n"},
    {"units and entities", "units: {}\nentities: {}\n"},
    {"an unknown key of a level", "entities: {}\nweather: rain\n"},
    {"a rotation given twice", "transform: {rotation: [0, 0, 0, 1], euler_degrees: [0, 0, 0]}\n"},
    {"a node without a name", "model_pose: {nodes: [{parent: hip}]}\n"},
    {"a node with another key", "model_pose: {nodes: [{name: hip, length: 3}]}\n"},
    {"an entity that is a text", "entities: {a: fish}\n"},
    {"a prefab that is a number", "prefab: 3\n"},
    {"a matrix of 11 numbers", "host: {at: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]}\n"},
};

class ToolJsonSchema : public shoal_test::ToolTest {
protected:
    /// Returns the Python that has the validator, or nothing.
    static std::string validator() {
        for (const std::string python : {"python3", "/usr/bin/python3"})
            if (std::system((python + " -c 'import jsonschema' >/dev/null 2>&1").c_str()) == 0) return python;
        return {};
    }

    std::string schema(const std::string& declared) const {
        const std::string file = path("sources.json");
        const ToolResult result = run({"schema", "--json-schema", "--schema", declared, "-o", file});
        EXPECT_EQ(result.exit_code, 0) << result.err;
        return file;
    }
    std::string as_json(const std::string& source, std::size_t number) const {
        const std::string file = path("source" + std::to_string(number) + ".json");
        const ToolResult result = run({"convert", source, "--to", "json", "-o", file});
        EXPECT_EQ(result.exit_code, 0) << result.err;
        return file;
    }
    /// Returns a line for each file.
    std::vector<std::string> validate(const std::string& schema, const std::vector<std::string>& files) const {
        std::string command =
            validator() + " " SHOAL_SOURCE_DIR "/tests/tool/validate_sources.py " + shoal_test::shell_quoted(schema);
        for (const std::string& file : files) command += " " + shoal_test::shell_quoted(file);
        command += " >" + shoal_test::shell_quoted(path("said")) + " 2>&1";
        EXPECT_EQ(std::system(command.c_str()), 0) << read(path("said"));
        std::istringstream said(read(path("said")));
        std::vector<std::string> lines;
        for (std::string line; std::getline(said, line);) lines.push_back(line);
        lines.resize(files.size());
        return lines;
    }
    std::vector<std::string> validate(std::span<const Case> cases, const std::string& declared) const {
        std::vector<std::string> files;
        for (const Case& source : cases) files.push_back(as_json(write("case.yaml", source.text), files.size()));
        return validate(schema(declared), files);
    }
    /// Returns what the compiler says of a source, or nothing.
    std::string errors(std::string_view text, const std::string& declared) const {
        const ToolResult result = run({"check", write("case.yaml", text), "--schema", declared});
        return result.exit_code == 0 ? std::string() : result.err;
    }
};

TEST_F(ToolJsonSchema, the_samples_are_valid) {
    if (validator().empty()) GTEST_SKIP() << "skipped: python3-jsonschema is not installed";
    std::size_t num_sources = 0;
    for (const std::string sample : {"lagoon", "reef"}) {
        const std::string folder = std::string(SHOAL_SOURCE_DIR "/samples/") + sample;
        const std::string declared = folder + "/" + sample + ".schema.sjson";
        std::vector<std::string> sources, files;
        for (const auto& entry : fs::recursive_directory_iterator(folder)) {
            const std::string name = entry.path().string();
            if (!name.ends_with(".sjson") || name.ends_with(".schema.sjson")) continue;
            // Some sources of the reef have component types that its program declares.
            if (run({"check", name, "--root", folder, "--schema", declared}).exit_code != 0) continue;
            sources.push_back(name);
            files.push_back(as_json(name, files.size()));
        }
        num_sources += files.size();
        const std::vector<std::string> said = validate(schema(declared), files);
        for (std::size_t i = 0; i < files.size(); ++i) EXPECT_EQ(said[i], "valid") << sources[i];
    }
    EXPECT_GE(num_sources, 30u);
}

TEST_F(ToolJsonSchema, sources_that_compile_are_valid_in_all_forms) {
    if (validator().empty()) GTEST_SKIP() << "skipped: python3-jsonschema is not installed";
    const std::string declared = write("game.schema.sjson", kSchema);
    const std::vector<std::string> said = validate(kRight, declared);
    for (std::size_t i = 0; i < std::size(kRight); ++i) {
        EXPECT_EQ(errors(kRight[i].text, declared), "") << kRight[i].name;
        EXPECT_EQ(said[i], "valid") << kRight[i].name;
    }
}

TEST_F(ToolJsonSchema, wrong_sources_are_neither_valid_nor_compiled) {
    if (validator().empty()) GTEST_SKIP() << "skipped: python3-jsonschema is not installed";
    const std::string declared = write("game.schema.sjson", kSchema);
    write("base.sjson", "components = { health = 3 }");
    const std::vector<std::string> said = validate(kWrong, declared);
    for (std::size_t i = 0; i < std::size(kWrong); ++i) {
        EXPECT_NE(errors(kWrong[i].text, declared), "") << kWrong[i].name;
        EXPECT_TRUE(said[i].starts_with("invalid")) << kWrong[i].name << ": " << said[i];
    }
}

TEST_F(ToolJsonSchema, what_schema_files_keep_is_valid) {
    if (validator().empty()) GTEST_SKIP() << "skipped: python3-jsonschema is not installed";
    const std::string declared =
        write("open.schema.sjson", "unknown_components = keep  unknown_fields = keep  level_entities = both");
    constexpr Case kKept[] = {{"a component", "engine: {power: 3}\n"},
                              {"components", "components: {a: {type: engine, power: 3}, tag: {tag: x, more: 1}}\n"},
                              {"a key", "prefab: null\nchildren: {}\nweather: rain\n"},
                              {"a level", "units: {}\nentities: {a: {tag: x}}\nweather: rain\n"}};
    const std::vector<std::string> said = validate(kKept, declared);
    for (std::size_t i = 0; i < std::size(kKept); ++i) {
        EXPECT_EQ(errors(kKept[i].text, declared), "") << kKept[i].name;
        EXPECT_EQ(said[i], "valid") << kKept[i].name;
    }
}

TEST_F(ToolJsonSchema, fields_have_their_units_ranges_and_defaults_for_editors) {
    const nlohmann::json schema =
        nlohmann::json::parse(run({"schema", "--json-schema", "--schema", write("game.schema.sjson", kSchema)}).out);
    EXPECT_EQ(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    const auto properties = [&](const char* component) {
        return schema["$defs"][std::string("fields_of_") + component]["anyOf"].back()["properties"];
    };
    const nlohmann::json left = properties("health")["left"];
    EXPECT_EQ(left["description"], "float, in kJ, from 0 to 100");
    EXPECT_EQ(left["maximum"], 100);
    EXPECT_EQ(properties("colour")["shade"]["default"], 0.5);
    EXPECT_EQ(properties("colour")["kind"]["enum"], nlohmann::json::parse(R"(["red", "green", null])"));
    EXPECT_EQ(properties("point_mass")["mass"]["default"], 1.0) << "built-in types are there too";
    EXPECT_EQ(properties("volume")["aabbox"]["properties"].size(), 2u);
}

}  // namespace
