// Verbs that write sources anew: what is converted and laid out keeps everything, and files with errors stay as they are.

#include "tool/tool_process.h"

#include <sys/stat.h>
#include <vector>

namespace {

namespace fs = std::filesystem;
using shoal_test::kReef;
using shoal_test::ToolResult;

constexpr std::string_view kShip = R"(# A ship.
name: cutter
engine: {maxSpeed: 250.00, acceleration: 1e3}  # fast

script: |
  turn left
  fire
answers: ["yes", no, 0x10, 18446744073709551615, ~]
collidable:
)";

class ToolRewrite : public shoal_test::ToolTest {
protected:
    /// Converts a text. Returns standard output.
    std::string converted(std::string_view name, std::string_view text, const std::string& format) const {
        const ToolResult result = run({"convert", write(name, text), "--to", format});
        EXPECT_EQ(result.exit_code, 0) << result.err;
        return result.out;
    }
};

// --- convert -------------------------------------------------------------------------------------------------------

TEST_F(ToolRewrite, a_source_is_converted_with_comments_order_and_spelling) {
    const std::string sjson = converted("ship.yaml", kShip, "sjson");
    EXPECT_EQ(sjson, R"(// A ship.
name = "cutter"
engine = { maxSpeed = 250.00  acceleration = 1e3 }  // fast

script = """turn left
fire
"""
answers = ["yes" "no" 16 18446744073709551615 null]
collidable = null
)");
    EXPECT_EQ(converted("ship.sjson", sjson, "yaml"), R"(# A ship.
name: cutter
engine: {maxSpeed: 250.00, acceleration: 1e3}  # fast

script: |
  turn left
  fire
answers: ["yes", "no", 16, 18446744073709551615, null]
collidable: null
)");
}

TEST_F(ToolRewrite, comments_that_json_has_not_are_counted_and_with_strict_an_error) {
    const std::string ship = write("ship.yaml", kShip);
    const ToolResult warned = run({"convert", ship, "--to", "json", "-o", path("ship.json")});
    EXPECT_EQ(warned.exit_code, 0);
    EXPECT_TRUE(warned.says("ship.yaml:1:1: warning: JSON has no comments: 2 comments of")) << warned.err;
    EXPECT_EQ(nlohmann::json::parse(read(path("ship.json")))["engine"]["maxSpeed"], 250.0);
    const ToolResult refused = run({"convert", ship, "--to", "json", "--strict", "-o", path("strict.json")});
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_TRUE(refused.says("error: JSON has no comments")) << refused.err;
    EXPECT_FALSE(fs::exists(path("strict.json")));
}

TEST_F(ToolRewrite, a_converted_source_compiles_to_the_same_level) {
    const auto state = [&](const std::string& file) { return run({"run", file, "--json"}).json()["state_hash"]; };
    const std::string reef = write("reef.sjson", kReef);
    for (const std::string format : {"yaml", "json", "sjson"}) {
        const std::string again = path("again." + format);
        EXPECT_EQ(run({"convert", reef, "--to", format, "-o", again}).exit_code, 0);
        EXPECT_EQ(state(again), state(reef)) << format;
    }
}

TEST_F(ToolRewrite, a_schema_file_is_converted_and_its_words_stay_bare) {
    const std::string_view schema = "components = { crab = { fields = { claws = uint8 } } }  // a crab\n";
    const std::string yaml = converted("crab.schema.sjson", schema, "yaml");
    EXPECT_EQ(yaml, "components: {crab: {fields: {claws: uint8}}}  # a crab\n");
    EXPECT_EQ(converted("crab.schema.sjson", schema, "sjson"), schema);
    const std::string beach = write("beach.sjson", "components = { crab = { claws = 2 } }");
    EXPECT_EQ(run({"check", beach, "--schema", write("crab.yaml", yaml)}).exit_code, 0);
}

TEST_F(ToolRewrite, a_text_from_standard_input_has_the_format_of_its_name) {
    const std::string ship = write("text", kShip);
    const ToolResult named = run({"convert", "-", "--stdin-name", "ship.yaml", "--to", "sjson"}, "", ship);
    EXPECT_TRUE(named.out.starts_with("// A ship.\nname = \"cutter\"\n")) << named.err;
    const ToolResult unnamed = run({"convert", "-", "--to", "yaml"}, "", ship);
    EXPECT_EQ(unnamed.exit_code, 1) << "it is no SJSON";
    EXPECT_TRUE(
        unnamed.says("stdin:1:1: error: standard input is read as SJSON when it has no name, but this is YAML; give a "
                     "name that ends in .yaml, such as --stdin-name"))
        << unnamed.err;
    EXPECT_EQ(unnamed.out, "");
}

TEST_F(ToolRewrite, a_schema_file_with_a_mistake_is_told_as_one) {
    const std::string foreign = "components = { crab = { field = { claws = uint8 } } }\n";
    const ToolResult called = run({"format", write("crab.schema.sjson", foreign)});
    EXPECT_EQ(called.exit_code, 1);
    EXPECT_TRUE(called.says("crab.schema.sjson:1:25: error: a schema file has no key \"field\" here")) << called.err;
    EXPECT_FALSE(called.says("is not a value")) << called.err;
    const ToolResult meant = run(
        {"format", write("crab.sjson", "componets = {}\ncomponents = { crab = { fields = { claws = uint8 } } }\n")});
    EXPECT_TRUE(meant.says("crab.sjson:1:1: error: a schema file has no key \"componets\" here")) << meant.err;
    const ToolResult open = run(
        {"convert", write("open.schema.sjson", "components = { crab = { fields = { claws = uint8 }"), "--to", "yaml"});
    EXPECT_TRUE(open.says("is never closed")) << open.err;
    EXPECT_FALSE(open.says("is not a value")) << open.err;
    const ToolResult source = run({"format", write("source.sjson", "components = { glow = { power = much } }")});
    EXPECT_TRUE(source.says("source.sjson:1:33: error: \"much\" is not a value")) << source.err;
}

TEST_F(ToolRewrite, what_cannot_be_converted_is_an_error_and_no_file) {
    const std::pair<std::string_view, std::string_view> wrong[] = {{"wrong.sjson", "a = [1"},
                                                                   {"wrong.yaml", "a: .nan"},
                                                                   {"wrong.json", "{\"a\": 1, \"a\": 2}"},
                                                                   {"word.sjson", "a = b"}};
    for (const auto& [name, text] : wrong) {
        const ToolResult result = run({"convert", write(name, text), "--to", "yaml", "-o", path("out.yaml")});
        EXPECT_EQ(result.exit_code, 1) << name;
        EXPECT_TRUE(result.says(std::string(name) + ":1:")) << result.err;
        EXPECT_FALSE(fs::exists(path("out.yaml")));
    }
    const ToolResult blob = run({"convert", reef_blob(), "--to", "yaml"});
    EXPECT_EQ(blob.exit_code, 1);
    EXPECT_TRUE(blob.says("is a blob, not a source")) << blob.err;
    EXPECT_EQ(run({"convert", path("reef.sjson"), "--to", "sjson", "-o", path("reef.sjson")}).exit_code, 1);
    EXPECT_EQ(run({"convert", path("reef.sjson"), "--to", "xml"}).exit_code, 2);
    const ToolResult other = run({"convert", path("reef.sjson"), "--to", "yaml", "-o", path("reef.json")});
    EXPECT_EQ(other.exit_code, 2);
    EXPECT_TRUE(other.says("is the name of a file in another format than --to yaml")) << other.err;
    EXPECT_EQ(run({"convert", path("reef.sjson"), "--to", "yaml", "--width", "3"}).exit_code, 2);
}

// --- format --------------------------------------------------------------------------------------------------------

constexpr std::string_view kUntidy = R"(// A reef.
name="reef"   // its name


components={ glow={power=0.10,speed=1e3}
  place =   {
  position=[4,0,12]}
}
)";
constexpr std::string_view kTidy = R"(// A reef.
name = "reef"   // its name

components = {
	glow = { power = 0.10  speed = 1e3 }
	place = {
		position = [4 0 12]
	}
}
)";

TEST_F(ToolRewrite, files_are_laid_out_in_place_and_then_stay_as_they_are) {
    const std::string reef = write("reef.sjson", kUntidy), ship = write("ship.yaml", "engine:   {maxSpeed: 250}\n");
    ::chmod(reef.c_str(), 0640);
    const ToolResult first = run({"format", reef, ship});
    EXPECT_EQ(first.exit_code, 0) << first.err;
    EXPECT_EQ(first.out, reef + ": laid out\n" + ship + ": laid out\n");
    EXPECT_EQ(read(reef), kTidy);
    EXPECT_EQ(read(ship), "engine: {maxSpeed: 250}\n");
    struct stat info;
    EXPECT_EQ(::stat(reef.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0640u);
    const ToolResult second = run({"format", reef, ship});
    EXPECT_EQ(second.exit_code, 0);
    EXPECT_EQ(second.out, "");
}

TEST_F(ToolRewrite, check_lists_files_that_are_not_laid_out_and_writes_nothing) {
    const std::string untidy = write("untidy.sjson", kUntidy), tidy = write("tidy.sjson", kTidy);
    const ToolResult result = run({"format", "--check", untidy, tidy});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_EQ(result.out, untidy + ": is not laid out\n");
    EXPECT_EQ(read(untidy), kUntidy);
    EXPECT_EQ(run({"format", "--check", tidy}).exit_code, 0);
    const nlohmann::json json = run({"format", "--check", "--json", untidy, tidy}).json();
    EXPECT_EQ(json["ok"], false);
    EXPECT_EQ(json["files"][0]["changes"], true);
    EXPECT_EQ(json["files"][1]["changes"], false);
}

TEST_F(ToolRewrite, a_file_with_errors_stays_as_it_is_and_others_are_laid_out) {
    const std::string wrong = write("wrong.sjson", "a   = [1"), untidy = write("untidy.sjson", kUntidy);
    const ToolResult result = run({"format", wrong, untidy, path("missing.sjson")});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_TRUE(result.says("wrong.sjson:1:7: error: ") && result.says("missing.sjson")) << result.err;
    EXPECT_EQ(read(wrong), "a   = [1");
    EXPECT_EQ(read(untidy), kTidy);
    const std::string kept = write("kept.sjson", kUntidy);
    ::chmod(kept.c_str(), 0444);
    const ToolResult refused = run({"format", kept});
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_TRUE(refused.says("it is read-only; allow writing to it")) << refused.err;
    EXPECT_EQ(read(kept), kUntidy);
}

TEST_F(ToolRewrite, line_ends_and_a_byte_order_mark_stay) {
    const auto with_returns = [](std::string_view text) {
        std::string result;
        for (const char c : text) result += c == '\n' ? std::string("\r\n") : std::string(1, c);
        return result;
    };
    const std::string mark = "\xEF\xBB\xBF", tidy = mark + with_returns(kTidy);
    const std::string file = write("untidy.sjson", mark + with_returns(kUntidy));
    EXPECT_EQ(run({"format", file}).exit_code, 0);
    EXPECT_EQ(read(file), tidy);
    EXPECT_EQ(run({"format", "--check", file}).exit_code, 0);
    EXPECT_EQ(converted("tidy.sjson", tidy, "sjson"), tidy);
    EXPECT_EQ(converted("tidy.sjson", tidy, "yaml"), with_returns(converted("tidy.sjson", kTidy, "yaml")));
    const std::string level = "components = { properties = { text = \"\"\"one\ntwo\n\"\"\" } }\n";
    for (const std::string name : {"plain", "returns"}) {
        write(name + "/level.sjson", name == "plain" ? level : with_returns(level));
        EXPECT_EQ(run({"compile", path(name + "/level.sjson"), "-o", path(name + "/level.blob")}).exit_code, 0);
    }
    const auto dumped = [&](const std::string& name) {
        return run({"dump", path(name + "/level.blob"), "--json"}).json();
    };
    EXPECT_EQ(dumped("plain")["entities"], dumped("returns")["entities"]);
}

TEST_F(ToolRewrite, a_dash_is_laid_out_to_standard_output) {
    const std::string untidy = write("untidy.sjson", kUntidy);
    const ToolResult result = run({"format", "-", "--stdin-name", "reef.sjson"}, "", untidy);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out, kTidy);
    const ToolResult tidy = run({"format", "-"}, "", write("tidy.sjson", kTidy));
    EXPECT_EQ(tidy.out, kTidy) << "also when nothing changes";
    EXPECT_EQ(run({"format", "-", "--json"}, "", untidy).exit_code, 2);
}

TEST_F(ToolRewrite, the_samples_are_laid_out) {
    std::vector<std::string> words{"format", "--check", "--width", "200"};
    for (const auto& file : fs::recursive_directory_iterator(SHOAL_SOURCE_DIR "/samples"))
        if (file.path().extension() == ".sjson") words.push_back(file.path().string());
    EXPECT_GE(words.size(), 40u);
    const ToolResult result = run(words);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out, "");
}

}  // namespace
