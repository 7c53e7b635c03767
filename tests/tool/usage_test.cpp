#include "shoal/base/config.h"
#include "tool/tool_process.h"

namespace {

using shoal_test::ToolResult;
class ToolUsage : public shoal_test::ToolTest {};

TEST_F(ToolUsage, version_is_one_line) {
    const ToolResult result = run({"--version"});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.out, "shoal " + std::to_string(SHOAL_VERSION_MAJOR) + "." + std::to_string(SHOAL_VERSION_MINOR) +
                              "." + std::to_string(SHOAL_VERSION_PATCH) + "\n");
}

TEST_F(ToolUsage, help_lists_every_verb) {
    for (const std::vector<std::string>& words : {std::vector<std::string>{"help"}, {"--help"}, {"-h"}}) {
        const ToolResult result = run(words);
        EXPECT_EQ(result.exit_code, 0);
        for (const char* verb : {"compile", "check", "dump", "schema", "run", "help"})
            EXPECT_TRUE(result.prints(std::string("\n  ") + verb + " ")) << verb;
        EXPECT_EQ(result.err, "");
    }
}

TEST_F(ToolUsage, help_lists_every_built_in_component_type) {
    const ToolResult result = run({"help"});
    for (const char* name : {"transform", "model_pose", "attached_to_node", "point_mass", "data", "owned", "inactive",
                             "debug_name", "tag", "zone", "switched_off"}) {
        EXPECT_TRUE(result.prints(std::string("\n  ") + name + " ")) << name;
        const ToolResult schema =
            run({"check", write(std::string(name) + ".sjson", std::string("components = { ") + name + " = {} }")});
        EXPECT_FALSE(schema.says("unknown component")) << schema.err;
    }
}

TEST_F(ToolUsage, help_of_a_verb_shows_every_flag_and_examples_and_is_the_same_both_ways) {
    const std::vector<std::pair<std::string, std::vector<std::string>>> verbs = {
        {"compile",
         {"-o, --output BLOB", "--root DIR", "--schema FILE", "--endian little|big", "--offset-tables", "--strict",
          "--json"}},
        {"check", {"--root DIR", "--schema FILE", "--json"}},
        {"dump", {"--json"}},
        {"schema", {"--schema FILE", "-o, --output FILE"}},
        {"run",
         {"--root DIR", "--schema FILE", "--repeat N", "--frames N", "--dt S", "--workers N", "--seed N", "--json",
          "--picture FILE.svg"}},
        {"help", {}}};
    for (const auto& [verb, flags] : verbs) {
        const ToolResult result = run({"help", verb});
        EXPECT_EQ(result.exit_code, 0);
        EXPECT_TRUE(result.prints("usage:\n  shoal " + verb));
        EXPECT_TRUE(result.prints("examples:\n  shoal " + verb));
        for (const std::string& flag : flags) EXPECT_TRUE(result.prints("\n  " + flag)) << verb << " " << flag;
        EXPECT_EQ(run({verb, "--help"}).out, result.out);
        EXPECT_EQ(run({verb, "-h", "--bogus"}).out, result.out);
    }
}

TEST_F(ToolUsage, wrong_usage_exits_with_2_and_shows_how_it_is_used) {
    struct Case {
        std::vector<std::string> words;
        std::string says;
    };
    const Case cases[] = {
        {{}, "no verb was given"},
        {{"compil", "x"}, "did you mean \"compile\"?"},
        {{"compile", "x.sjson"}, "compile needs -o BLOB"},
        {{"compile", "-o", "x.blob"}, "compile needs SOURCE"},
        {{"compile", "a", "b", "-o", "x.blob"}, "there is also \"b\""},
        {{"compile", "a", "-o"}, "-o needs a value: -o BLOB"},
        {{"compile", "a", "-o", "b", "--endian", "middle"}, "--endian takes little or big, not \"middle\""},
        {{"compile", "a", "-o", "b", "-o", "c"}, "-o was given twice"},
        {{"compile", "a", "-o", "b", "--strict=yes"}, "--strict takes no value"},
        {{"compile", "a", "-o", "b", "--root", "--strict"}, "--root needs a value"},
        {{"check"}, "check needs SOURCE..."},
        {{"dump"}, "dump needs BLOB"},
        {{"schema"}, "schema needs BLOB or --schema FILE"},
        {{"dump", "x", "--jsn"}, "did you mean --json?"},
        {{"run", "x", "--frame", "3"}, "did you mean --frames?"},
        {{"run", "x", "--frames", "-1"}, "--frames takes a whole number from 0"},
        {{"run", "x", "--frames=3.5"}, "--frames takes a whole number from 0"},
        {{"run", "x", "--repeat", "0"}, "--repeat takes a whole number from 1"},
        {{"run", "x", "--repeat", "99999999999999999999"}, "--repeat takes a whole number from 1"},
        {{"run", "x", "--dt", "nan"}, "--dt takes a number from 0"},
        {{"run", "x", "--dt", "inf"}, "--dt takes a number from 0"},
        {{"run", "x", "--dt=-1"}, "--dt takes a number from 0"},
        {{"run", "x", "--dt", "1s"}, "not \"1s\""},
        {{"run", "x", "--workers", "many"}, "--workers takes a whole number from 0"},
        {{"run", "x", "--seed", "-5"}, "--seed takes a whole number from 0"},
        {{"help", "rum"}, "did you mean \"run\"?"}};
    for (const Case& wrong : cases) {
        const ToolResult result = run(wrong.words);
        EXPECT_EQ(result.exit_code, 2) << wrong.says;
        EXPECT_TRUE(result.says(wrong.says)) << wrong.says << "\n" << result.err;
        EXPECT_TRUE(result.says("usage: shoal ")) << result.err;
        EXPECT_EQ(result.out, "");
    }
}

TEST_F(ToolUsage, wrong_usage_is_told_as_json_too) {
    const ToolResult result = run({"run", "x", "--json", "--bogus"});
    EXPECT_EQ(result.exit_code, 2);
    const nlohmann::json json = result.json();
    EXPECT_EQ(json["ok"], false);
    EXPECT_NE(json["diagnostics"][0]["message"].get<std::string>().find("--bogus"), std::string::npos);
}

TEST_F(ToolUsage, flags_may_stand_anywhere_and_end_at_two_dashes) {
    write("--odd.sjson", shoal_test::kReef);
    const std::string blob = reef_blob();
    EXPECT_EQ(run({"run", "--frames=2", blob, "--json"}).json()["frames"], 2);
    EXPECT_EQ(run({"run", blob, "--frames", "2", "--json"}).json()["frames"], 2);
    EXPECT_EQ(run({"check", "--", path("--odd.sjson")}).exit_code, 0);
    EXPECT_EQ(run({"check", "--", "--json"}).exit_code, 1) << "a file called --json does not exist";
}

TEST_F(ToolUsage, nothing_is_coloured_when_it_is_no_terminal) {
    const ToolResult result = run({"check", write("bad.sjson", "components = { point_mas = {} }")}, "NO_COLOR=");
    EXPECT_EQ(result.err.find('\033'), std::string::npos);
    EXPECT_EQ(run({"run", reef_blob(), "--frames", "1000"}).err, "") << "no progress bar either";
}

TEST_F(ToolUsage, output_that_cannot_be_written_is_a_failure) {
    if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full here";
    const std::string command = shoal_test::shell_quoted(SHOAL_TOOL) + " help >/dev/full 2>/dev/null";
    const int status = std::system(command.c_str());
    EXPECT_EQ(WEXITSTATUS(status), 1);
}

}  // namespace
