#include "shoal/base/detail/config.h"
#include "tool/tool_process.h"

#include <sstream>
#include <vector>

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
        for (const char* verb :
             {"compile", "check", "format", "convert", "dump", "schema", "run", "completion", "help"})
            EXPECT_TRUE(result.prints(std::string("\n  ") + verb + " ")) << verb;
        EXPECT_EQ(result.err, "");
    }
}

TEST_F(ToolUsage, help_lists_every_built_in_component_type) {
    const ToolResult result = run({"help"});
    for (const char* name : {"transform", "model_pose", "attached_to_node", "point_mass", "properties", "owned",
                             "inactive", "debug_name", "tag", "zone", "disabled"}) {
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
          "--json", "--stdin-name PATH"}},
        {"check", {"--root DIR", "--schema FILE", "--stdin-name PATH", "--strict", "--json"}},
        {"format", {"--check", "--width N", "--stdin-name PATH", "--json"}},
        {"convert", {"--to sjson|json|yaml", "-o, --output FILE", "--width N", "--stdin-name PATH", "--strict"}},
        {"dump", {"--json"}},
        {"schema", {"--schema FILE", "-o, --output FILE"}},
        {"run",
         {"--root DIR", "--schema FILE", "--repeat N", "--frames N", "--dt S", "--workers N", "--seed N", "--json",
          "--picture FILE.svg", "--trace FILE.json", "--query TEXT", "--record FILE.rec"}},
        {"replay",
         {"--verify", "--frames N", "--workers N", "--plugin FILE.so", "--script FILE.lua", "--save FILE.save"}},
        {"completion", {}},
        {"help", {"--man"}}};
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
        {{"check"}, "check needs FILE..."},
        {{"dump"}, "dump needs BLOB"},
        {{"convert", "x"}, "convert needs --to sjson|json|yaml"},
        {{"format", "x", "--width", "1"}, "--width takes a whole number from 20"},
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
        {{"run", "x", "--dt", "1/0"}, "--dt takes a number from 0"},
        {{"run", "x", "--dt", "1/2/3"}, "--dt takes a number from 0"},
        {{"run", "x", "--dt", "/60"}, "--dt takes a number from 0"},
        {{"compile", "a", "-output", "b"}, "did you mean --output?"},
        {{"compile", "a", "-o="}, "-o needs a value: -o BLOB"},
        {{"compile", "a", "-ob", "--output=c"}, "--output was given twice"},
        {{"completion", "tcsh"}, "completion takes bash, zsh or fish, not \"tcsh\""},
        {{"--version", "extra"}, "--version stands alone, but there is also \"extra\""},
        {{"--help", "rum"}, "did you mean \"run\"?"},
        {{"help", "rum"}, "did you mean \"run\"?"}};
    for (const Case& wrong : cases) {
        const ToolResult result = run(wrong.words);
        EXPECT_EQ(result.exit_code, 2) << wrong.says;
        EXPECT_TRUE(result.says(wrong.says)) << wrong.says << "\n" << result.err;
        EXPECT_TRUE(result.says("usage: shoal ")) << result.err;
        EXPECT_EQ(result.out, "");
    }
}

TEST_F(ToolUsage, an_output_is_written_in_every_spelling_of_its_flag) {
    const std::string source = write("reef.sjson", shoal_test::kReef);
    const std::vector<std::vector<std::string>> spellings = {{"-o", path("blob")},
                                                             {"-o" + path("blob")},
                                                             {"-o=" + path("blob")},
                                                             {"--output", path("blob")},
                                                             {"--output=" + path("blob")}};
    for (const std::vector<std::string>& spelling : spellings) {
        std::vector<std::string> words = {"compile", source};
        words.insert(words.end(), spelling.begin(), spelling.end());
        EXPECT_EQ(run(words).exit_code, 0) << spelling[0];
        EXPECT_TRUE(std::filesystem::remove(path("blob"))) << spelling[0];
    }
}

TEST_F(ToolUsage, the_time_of_a_frame_may_be_a_fraction_as_its_help_says) {
    EXPECT_TRUE(run({"help", "run"}).prints("(default: 1/60)"));
    const std::string blob = reef_blob();
    const auto hash = [&](const std::vector<std::string>& flags) {
        std::vector<std::string> words = {"run", blob, "--json"};
        words.insert(words.end(), flags.begin(), flags.end());
        return run(words).json()["state_hash"];
    };
    EXPECT_EQ(hash({"--dt", "1/60"}), hash({}));
    EXPECT_EQ(hash({"--dt=1/4"}), hash({"--dt", "0.25"}));
    EXPECT_NE(hash({"--dt", "1/4"}), hash({}));
}

/// What the help says of a verb's flags: `--output`, `-o`.
std::vector<std::string> flags_in(const std::string& help) {
    std::vector<std::string> flags;
    std::istringstream lines(
        help.substr(help.find("\nflags:\n") == std::string::npos ? help.size() : help.find("\nflags:\n")));
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("  -")) continue;
        std::istringstream words(line);
        std::string word;
        while (words >> word && word[0] == '-') flags.push_back(word.substr(0, word.find(',')));
    }
    return flags;
}

constexpr const char* kVerbs[] = {"compile", "check", "dump", "schema", "run", "completion", "help"};

TEST_F(ToolUsage, the_completions_and_the_man_page_know_all_that_the_help_knows) {
    const std::string man = run({"help", "--man"}).out, bash = run({"completion", "bash"}).out,
                      zsh = run({"completion", "zsh"}).out, fish = run({"completion", "fish"}).out;
    std::size_t num_flags = 0;
    for (const std::string verb : kVerbs) {
        EXPECT_NE(man.find("\n.SS " + verb + "\n"), std::string::npos) << verb;
        EXPECT_NE(fish.find(" -a " + verb + " -d "), std::string::npos) << verb;
        EXPECT_NE(bash.find("        " + verb + ")\n"), std::string::npos) << verb;
        for (const std::string& flag : flags_in(run({"help", verb}).out)) {
            ++num_flags;
            std::string dashes = flag;
            for (std::size_t at = 0; (at = dashes.find('-', at)) != std::string::npos; at += 2) dashes.insert(at, "\\");
            EXPECT_NE(man.find(dashes), std::string::npos) << flag;
            EXPECT_NE(bash.find(flag), std::string::npos) << flag;
            EXPECT_NE(zsh.find(flag), std::string::npos) << flag;
            const std::string name = flag.substr(flag.find_first_not_of('-'));
            EXPECT_NE(fish.find((name.size() == 1 ? " -s " : " -l ") + name), std::string::npos) << flag;
        }
    }
    EXPECT_GT(num_flags, 25u) << "the help was read";
    const std::string page = write("shoal.1", man);
    if (std::system("command -v groff >/dev/null") != 0) return;
    const std::string command = "groff -man -Tutf8 -ww " + shoal_test::shell_quoted(page) +
                                " 2>&1 >/dev/null | grep . >" + shoal_test::shell_quoted(path("warnings"));
    EXPECT_NE(std::system(command.c_str()), 0) << read(path("warnings"));
}

/// Asks a shell that has read the completion script what it would complete.
class ToolCompletion : public shoal_test::ToolTest {
protected:
    /// Returns the words that bash completes the last one to.
    std::vector<std::string> complete(const std::vector<std::string>& words) const {
        std::string line;
        for (const std::string& word : words) line += " " + shoal_test::shell_quoted(word);
        const std::string script =
            "source <(" + shoal_test::shell_quoted(SHOAL_TOOL) + " completion bash)\ncd " +
            shoal_test::shell_quoted(path("")) + "\nCOMP_WORDS=(shoal" + line +
            ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_shoal\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n";
        const std::string file = write("script.bash", script);
        const std::string command =
            "bash " + shoal_test::shell_quoted(file) + " >" + shoal_test::shell_quoted(path("completed")) + " 2>&1";
        EXPECT_EQ(std::system(command.c_str()), 0) << read(path("completed"));
        std::istringstream lines(read(path("completed")));
        std::vector<std::string> result;
        for (std::string word; std::getline(lines, word);)
            if (!word.empty()) result.push_back(word);
        return result;
    }
};
using Words = std::vector<std::string>;

TEST_F(ToolCompletion, bash_completes_verbs_flags_values_and_files) {
    write("reef.sjson", "");
    std::filesystem::create_directory(path("reefs"));
    EXPECT_EQ(complete({"c"}), (Words{"compile", "check", "convert", "completion"}));
    EXPECT_EQ(complete({"--v"}), (Words{"--version"}));
    EXPECT_EQ(complete({"compile", "--o"}), (Words{"--output", "--offset-tables"}));
    EXPECT_EQ(complete({"compile", "--endian", ""}), (Words{"little", "big"}));
    EXPECT_EQ(complete({"compile", "--endian", "=", "b"}), (Words{"big"}));
    EXPECT_EQ(complete({"compile", "reef.sjson", "-o", "reef."}), (Words{"reef.sjson"}));
    EXPECT_EQ(complete({"check", "--root", "reef"}), (Words{"reefs"}));
    EXPECT_EQ(complete({"run", "--frames", ""}), (Words{}));
    EXPECT_EQ(complete({"dump", "--"}), (Words{"--json", "--schema", "--resource", "--max-memory", "--help"}));
    EXPECT_EQ(complete({"help", "sch"}), (Words{"schema"}));
    EXPECT_EQ(complete({"completion", ""}), (Words{"bash", "zsh", "fish"}));
}

TEST_F(ToolCompletion, zsh_and_fish_read_their_scripts) {
    bool has_run = false;
    for (const char* shell : {"zsh", "fish"}) {
        if (std::system((std::string("command -v ") + shell + " >/dev/null").c_str()) != 0) continue;
        has_run = true;
        const std::string script = write("script", run({"completion", shell}).out);
        EXPECT_EQ(std::system((shell + (" -n " + shoal_test::shell_quoted(script))).c_str()), 0) << shell;
    }
    if (!has_run) GTEST_SKIP() << "there is neither zsh nor fish here";
}

TEST_F(ToolUsage, progress_is_shown_on_a_terminal_only) {
    std::string many = "entities = [\n";
    for (int i = 0; i < 3000; ++i) many += "{ components = { debug_name = \"x\" } }\n";
    const std::string source = write("many.sjson", many + "]\n");
    const auto shows_bar = [&](const std::vector<std::string>& words, const std::string& output) {
        return run_on_terminal(words, output).find("\r[") != std::string::npos;
    };
    EXPECT_TRUE(shows_bar({"compile", source, "-o", path("many.blob")}, path("said")));
    EXPECT_TRUE(shows_bar({"compile", source, "-o", path("many.blob")}, ""));
    EXPECT_TRUE(shows_bar({"dump", path("many.blob")}, path("said")));
    EXPECT_FALSE(shows_bar({"dump", path("many.blob")}, "")) << "it would stand in the text";
    EXPECT_EQ(read(path("said")), run({"dump", path("many.blob")}).out);
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"compile", source, "-o", path("many.blob")}, {"dump", path("many.blob")}}) {
        const ToolResult result = run(words);
        EXPECT_EQ(result.err, "");
        EXPECT_EQ(result.out.find('\r'), std::string::npos);
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
