// Outputs never destroy anything, and `-` is a standard stream wherever a file is named.

#include "tool/tool_process.h"

#include <sys/stat.h>
#include <vector>

namespace {

namespace fs = std::filesystem;
using shoal_test::kReef;
using shoal_test::ToolResult;

class ToolOutputs : public shoal_test::ToolTest {
protected:
    /// Every way to name an output: the words before it. `source` and `blob` exist.
    std::vector<std::vector<std::string>> outputs() const {
        return {{"compile", source(), "-o"},
                {"compile", source(), "--output"},
                {"schema", blob(), "-o"},
                {"convert", source(), "--to", "yaml", "-o"},
                {"run", source(), "--frames", "1", "--save"},
                {"run", blob(), "--frames", "1", "--save"},
                {"run", source(), "--frames", "1", "--trace"},
                {"run", blob(), "--frames", "1", "--trace"}};
    }
    ToolResult run_to(std::vector<std::string> words, const std::string& output) const {
        words.push_back(output);
        return run(words);
    }

    void SetUp() override {
        ToolTest::SetUp();
        reef_blob();
    }
    std::string source() const { return path("reef.sjson"); }
    std::string blob() const { return path("reef.blob"); }
    std::size_t num_files() const {
        return static_cast<std::size_t>(std::distance(fs::directory_iterator(path("")), fs::directory_iterator()));
    }

    /// Every output refuses `target` with a sentence, and leaves `unchanged()`.
    template <class Unchanged>
    void expect_refused(const std::string& target, const std::string& says, Unchanged&& unchanged) const {
        for (const std::vector<std::string>& words : outputs()) {
            const std::size_t num_before = num_files();
            const ToolResult result = run_to(words, target);
            EXPECT_EQ(result.exit_code, 1) << words[0] << " " << words.back() << " " << target;
            EXPECT_TRUE(result.says("error: ") && result.says(target) && result.says(says)) << result.err;
            EXPECT_TRUE(result.says("give " + (words.back() == "--output" ? "-o" : words.back()) + " ")) << result.err;
            EXPECT_EQ(result.out, "") << "no work was done in vain";
            EXPECT_TRUE(unchanged()) << words[0] << " " << words.back() << " " << target;
            EXPECT_EQ(num_files(), num_before);
        }
    }
};

TEST_F(ToolOutputs, a_device_a_pipe_and_a_socket_are_refused) {
    const auto has_kind = [&](const std::string& name, mode_t kind) {
        struct stat info;
        return ::stat(path(name).c_str(), &info) == 0 && (info.st_mode & S_IFMT) == kind;
    };
    ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
    expect_refused(path("pipe"), "it is a pipe", [&] { return has_kind("pipe", S_IFIFO); });
    ASSERT_EQ(::mknod(path("socket").c_str(), S_IFSOCK | 0600, 0), 0);
    expect_refused(path("socket"), "it is a socket", [&] { return has_kind("socket", S_IFSOCK); });
    constexpr dev_t kNull = 0x103;
    if (::mknod(path("null").c_str(), S_IFCHR | 0600, kNull) != 0) GTEST_SKIP() << "only root makes devices";
    expect_refused(path("null"), "it is a device", [&] { return has_kind("null", S_IFCHR); });
    fs::create_symlink("null", path("link"));
    expect_refused(path("link"), "it is a device", [&] { return has_kind("null", S_IFCHR); });
}

TEST_F(ToolOutputs, a_read_only_file_is_refused_and_a_link_is_written_through) {
    write("kept", "kept");
    ::chmod(path("kept").c_str(), 0444);
    expect_refused(path("kept"), "it is read-only; allow writing to it", [&] { return read(path("kept")) == "kept"; });

    fs::create_directory(path("deep"));
    fs::create_symlink("deep/target", path("link"));
    for (const std::vector<std::string>& words : outputs()) {
        write("deep/target", "old");
        const ToolResult result = run_to(words, path("link"));
        EXPECT_EQ(result.exit_code, 0) << result.err;
        EXPECT_TRUE(fs::is_symlink(path("link")));
        EXPECT_NE(read(path("deep/target")), "old") << words[0] << " " << words.back();
    }
}

TEST_F(ToolOutputs, a_file_that_is_read_is_refused_by_whatever_path) {
    write("prefabs/fish.sjson", "components = { point_mass = {} }");
    write("pond.schema.sjson", "components = { crab = { fields = { claws = uint8 } } }");
    const std::string pond = write("pond.sjson", "entities = { a = { prefab = \"fish\" } }");
    fs::create_symlink("pond.sjson", path("link.sjson"));
    fs::create_hard_link(pond, path("hard.sjson"));
    const std::vector<std::string> flags = {"--root", path("prefabs"), "--schema", path("pond.schema.sjson")};
    const std::vector<std::vector<std::string>> verbs = {
        {"compile", pond, "-o"}, {"run", pond, "--frames", "1", "--save"}, {"run", pond, "--frames", "1", "--trace"}};
    for (const std::string name : {"pond.sjson", "prefabs/../pond.sjson", "link.sjson", "hard.sjson",
                                   "prefabs/fish.sjson", "pond.schema.sjson"}) {
        const std::string before = read(path(name));
        for (std::vector<std::string> words : verbs) {
            const std::string flag = words.back();
            words.push_back(path(name));
            words.insert(words.end(), flags.begin(), flags.end());
            const ToolResult result = run(words);
            EXPECT_EQ(result.exit_code, 1) << flag << " " << name;
            EXPECT_TRUE(result.says("the output \"" + path(name) + "\" is one of the files that were read; give " +
                                    flag + " another name"))
                << result.err;
            EXPECT_EQ(read(path(name)), before);
        }
    }
    EXPECT_EQ(run({"schema", blob(), "-o", blob()}).exit_code, 1);
    EXPECT_EQ(run({"run", blob(), "--save", blob()}).exit_code, 1);
    EXPECT_EQ(run({"run", "-", "--save", blob()}, "", blob()).exit_code, 1) << "standard input is that file";
    EXPECT_EQ(run({"dump", blob()}).exit_code, 0) << "the blob is whole";
}

TEST_F(ToolOutputs, two_options_that_name_one_file_are_wrong_usage) {
    write("there", "kept");
    fs::create_symlink("there", path("link"));
    fs::create_symlink("not_there", path("dangling"));
    fs::create_directory(path("deep"));
    const std::pair<std::string, std::string> pairs[] = {
        {"new", "new"}, {"new", "deep/../new"}, {"there", "there"}, {"there", "link"}, {"dangling", "not_there"}};
    for (const auto& [first, second] : pairs) {
        const ToolResult result = run({"run", source(), "--save", path(first), "--trace", path(second)});
        EXPECT_EQ(result.exit_code, 2) << first << " " << second;
        EXPECT_TRUE(result.says("--save and --trace name one file, \"" + path(first) + "\"")) << result.err;
        EXPECT_TRUE(result.says("; give them different ones")) << result.err;
    }
    EXPECT_EQ(run({"run", source(), "--picture", "-", "--trace", "-"}).exit_code, 2);
    EXPECT_EQ(read(path("there")), "kept");
    EXPECT_FALSE(fs::exists(path("new")));
    EXPECT_EQ(run({"run", source(), "--save", path("a"), "--trace", path("b")}).exit_code, 0);
}

TEST_F(ToolOutputs, a_dash_is_standard_input_wherever_a_file_is_read) {
    EXPECT_EQ(run({"compile", "-", "-o", path("piped.blob")}, "", source()).exit_code, 0);
    EXPECT_TRUE(run({"check", "-"}, "", source()).prints("stdin: ok, 3 entities"));
    EXPECT_EQ(run({"dump", "-"}, "", blob()).out, run({"dump", blob()}).out);
    EXPECT_EQ(run({"schema", "-"}, "", blob()).out, run({"schema", blob()}).out);
    const auto hash = [](const ToolResult& result) { return result.json()["state_hash"]; };
    const nlohmann::json expected = hash(run({"run", blob(), "--json"}));
    EXPECT_EQ(hash(run({"run", "-", "--json"}, "", blob())), expected);
    EXPECT_EQ(hash(run({"run", "-", "--json"}, "", source())), expected);

    const std::string schema = write("crab.schema.sjson", "components = { crab = { fields = { claws = uint8 } } }");
    const std::string beach = write("beach.sjson", "components = { crab = { claws = 2 } }");
    EXPECT_EQ(run({"check", beach, "--schema", "-"}, "", schema).exit_code, 0);
    EXPECT_EQ(run({"schema", "--schema", "-"}, "", schema).out, run({"schema", "--schema", schema}).out);
    EXPECT_TRUE(run({"check", beach, "--schema", "-"}, "", beach).says("stdin:1:")) << "that is no schema";

    const ToolResult twice = run({"check", "-", "--schema", "-"}, "", schema);
    EXPECT_EQ(twice.exit_code, 2);
    EXPECT_TRUE(twice.says("standard input can be read once; give - once")) << twice.err;
}

TEST_F(ToolOutputs, a_source_from_standard_input_is_called_and_searched_for_as_it_is_told) {
    write("levels/fish.sjson", "components = { point_mass = {} }");
    const std::string text = write("text", "entities = { a = { prefab = \"fish\" } }");
    EXPECT_TRUE(run({"check", "-"}, "", text).says("stdin:1:")) << "the prefab is not beside it";
    const std::string name = path("levels/pond.sjson");
    const ToolResult compiled = run({"compile", "-", "--stdin-name", name, "-o", path("pond.blob")}, "", text);
    EXPECT_EQ(compiled.exit_code, 0) << compiled.err;
    EXPECT_EQ(nlohmann::json::parse(run({"dump", path("pond.blob"), "--json"}).out)["name"], "pond");
    const std::string wrong = write("wrong", "entities = { a = { prefab = \"fsh\" } }");
    const ToolResult checked = run({"check", "-", "--stdin-name", name}, "", wrong);
    EXPECT_TRUE(checked.says(name + ":1:")) << "as an editor needs it";
    EXPECT_TRUE(checked.says("did you mean \"fish\"")) << checked.err;
    const ToolResult unused = run({"check", text, "--stdin-name", name});
    EXPECT_EQ(unused.exit_code, 2);
    EXPECT_TRUE(unused.says("give - as the source")) << unused.err;
}

TEST_F(ToolOutputs, a_dash_is_standard_output_wherever_a_file_is_written) {
    const ToolResult compiled = run({"compile", source(), "-o", "-"});
    EXPECT_EQ(compiled.exit_code, 0);
    EXPECT_EQ(compiled.out, read(blob()));
    EXPECT_TRUE(compiled.says("reef.sjson -> standard output\n3 entities, 2 roots"))
        << "people read it on standard error";
    EXPECT_EQ(run({"schema", blob(), "-o-"}).out, run({"schema", blob()}).out);
    const ToolResult drawn = run({"run", blob(), "--frames", "1", "--picture=-"});
    EXPECT_TRUE(drawn.out.starts_with("<svg") || drawn.out.starts_with("<?xml")) << drawn.out.substr(0, 80);
    EXPECT_TRUE(drawn.out.ends_with("</svg>\n"));
    EXPECT_TRUE(nlohmann::json::accept(run({"run", blob(), "--frames", "1", "--trace", "-"}).out));
    EXPECT_FALSE(fs::exists("-"));
    write("grows.sjson", kReef);
    const std::string append =
        shoal_test::shell_quoted(SHOAL_TOOL) + " compile - -o - <" + shoal_test::shell_quoted(path("grows.sjson")) +
        " >>" + shoal_test::shell_quoted(path("grows.sjson")) + " 2>" + shoal_test::shell_quoted(path("said"));
    EXPECT_EQ(WEXITSTATUS(std::system(append.c_str())), 1);
    EXPECT_EQ(read(path("grows.sjson")), kReef);
    EXPECT_NE(read(path("said")).find("standard output is one of the files that were read; redirect it"),
              std::string::npos);
    const ToolResult both = run({"compile", source(), "-o", "-", "--json"});
    EXPECT_EQ(both.exit_code, 2);
    EXPECT_TRUE(both.says("--json and -o - both print to standard output; give -o the name of a file")) << both.err;
}

}  // namespace
