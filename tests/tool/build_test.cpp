// What is made from what: depfiles, folders of sources, blobs that are out of date.

#include "shoal/base/random.h"
#include "shoal/resource/blob.h"
#include "support/testing.h"
#include "tool/tool_process.h"

#include <sys/stat.h>

#include <chrono>
#include <map>
#include <set>
#include <thread>
#include <vector>

namespace {

namespace fs = std::filesystem;
using shoal_test::ToolResult;

class ToolBuild : public shoal_test::ToolTest {
protected:
    /// Runs a command in the folder of the test.
    ToolResult shell(const std::string& command) const {
        const std::string whole = "cd " + shoal_test::shell_quoted(path("")) + " && { " + command + "; } >" +
                                  shoal_test::shell_quoted(path("stdout")) + " 2>" +
                                  shoal_test::shell_quoted(path("stderr"));
        const int status = std::system(whole.c_str());
        return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read(path("stdout")), read(path("stderr"))};
    }
    static bool has_program(const std::string& name) {
        return std::system(("command -v " + name + " >/dev/null 2>&1").c_str()) == 0;
    }
    /// Writes a file whose time is later than those of all files that were written before.
    void write_later(std::string_view name, std::string_view text) {
        write(name, text);
        fs::last_write_time(path(name), fs::file_time_type::clock::now() + std::chrono::seconds(++num_later_));
    }
    /// Returns the files of a folder with their contents, but for the state of the build.
    std::map<std::string, std::string> files_of(std::string_view folder) const {
        std::map<std::string, std::string> files;
        if (!fs::exists(path(folder))) return files;
        for (const auto& entry : fs::recursive_directory_iterator(path(folder)))
            if (entry.is_regular_file() && entry.path().filename() != ".shoal_build")
                files[entry.path().lexically_relative(path(folder)).string()] = read(entry.path().string());
        return files;
    }
    /// Compiles "src" to "out".
    ToolResult build(std::vector<std::string> more = {}, std::string_view out = "out") const {
        std::vector<std::string> words{"compile", path("src"), "-o", path(out), "--json"};
        words.insert(words.end(), more.begin(), more.end());
        return run(words);
    }
    /// Returns what came of each source: "coral compiled, reef up_to_date".
    static std::string results(const ToolResult& result) {
        std::string text;
        const nlohmann::json json = result.json();
        for (const auto& source : json["sources"]) {
            const std::string name = source["source"];
            text += (text.empty() ? "" : ", ") + name.substr(0, name.rfind('.')) + " " + std::string(source["result"]);
        }
        return text;
    }

private:
    int num_later_ = 0;
};

constexpr std::string_view kCoral = "components = { debug_name = \"coral\" }";
constexpr std::string_view kGarden = "entities = { a = { prefab = \"coral\" } }";

// --- depfiles ----------------------------------------------------------------------------------------------------------

TEST_F(ToolBuild, a_depfile_names_all_files_that_were_read) {  // req: D31
    write("levels/garden.sjson",
          "entities = { a = { prefab = \"coral\" } b = { components = { look = \"parts/look\" } } }");
    write("library/coral.sjson", kCoral);
    write("library/parts/look.sjson", "size = 2");
    write("game.schema.sjson", "components = { look = { in_file = true fields = { size = float } } }");
    const ToolResult result = shell(std::string(SHOAL_TOOL) +
                                    " compile levels/garden.sjson --root levels --root library --schema "
                                    "game.schema.sjson -o garden.blob --deps garden.d");
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(read(path("garden.d")),
              "garden.blob: \\\n"
              "  levels/garden.sjson \\\n"
              "  library/coral.sjson \\\n"
              "  library/parts/look.sjson \\\n"
              "  game.schema.sjson\n"
              "\nlevels/garden.sjson:\n\nlibrary/coral.sjson:\n\nlibrary/parts/look.sjson:\n\ngame.schema.sjson:\n");
}

TEST_F(ToolBuild, a_depfile_of_standard_input_does_not_name_it_and_needs_an_output_with_a_name) {
    write("coral.sjson", kCoral);
    const std::string garden = write("garden.sjson", kGarden);
    const ToolResult result =
        run({"compile", "-", "--stdin-name", garden, "-o", path("x.blob"), "--deps", path("d")}, {}, garden);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(read(path("d")).find("garden"), std::string::npos);
    EXPECT_NE(read(path("d")).find("coral"), std::string::npos);
    const ToolResult unnamed = run({"compile", garden, "-o", "-", "--deps", path("d")});
    EXPECT_EQ(unnamed.exit_code, 2);
    EXPECT_TRUE(unnamed.says("give -o the name of a file")) << unnamed.err;
    fs::rename(path("garden.sjson"), path("gar\nden.sjson"));
    const ToolResult broken = run({"compile", path("gar\nden.sjson"), "-o", path("y.blob"), "--deps", path("d")});
    EXPECT_EQ(broken.exit_code, 1);
    EXPECT_TRUE(broken.says("which has a line end in its name; rename it")) << broken.err;
    EXPECT_FALSE(fs::exists(path("y.blob"))) << "nothing is half done";
}

constexpr std::string_view kOddRoot = "odd \\ro\\ot$x#y";
constexpr std::string_view kOddName = "co ral$#a:b";

TEST_F(ToolBuild, ninja_compiles_again_when_a_prefab_changes_whatever_it_is_called) {  // req: D31
    if (!has_program("ninja")) GTEST_SKIP() << "there is no ninja";
    const std::string prefab = std::string(kOddRoot) + "/" + std::string(kOddName) + ".sjson";
    write(prefab, kCoral);
    write("garden.sjson", "entities = { a = { prefab = \"" + std::string(kOddName) + "\" } }");
    write("build.ninja", "rule blob\n  command = " + std::string(SHOAL_TOOL) +
                             " compile $in --root . --root 'odd \\ro\\ot$$x#y' -o $out --deps $out.d\n"
                             "  deps = gcc\n  depfile = $out.d\nbuild garden.blob: blob garden.sjson\n");
    const ToolResult first = shell("ninja -d explain");
    ASSERT_EQ(first.exit_code, 0) << first.out << first.err;
    const std::string blob = read(path("garden.blob"));
    EXPECT_TRUE(shell("ninja").prints("no work to do"));
    EXPECT_TRUE(shell("ninja -t deps garden.blob").prints("    " + prefab + "\n")) << shell("ninja -t deps").out;
    write_later(prefab, "components = { debug_name = \"brain\" }");
    EXPECT_EQ(shell("ninja").exit_code, 0);
    EXPECT_NE(read(path("garden.blob")), blob);
    fs::remove(path(prefab));
    write_later("garden.sjson", "components = { debug_name = \"alone\" }");
    EXPECT_EQ(shell("ninja").exit_code, 0) << "a prefab that is gone and not used does no harm";
}

TEST_F(ToolBuild, make_compiles_again_when_a_prefab_changes_whatever_it_is_called) {  // req: D31
    if (!has_program("make")) GTEST_SKIP() << "there is no make";
    const std::string prefab = std::string(kOddRoot) + "/" + std::string(kOddName) + ".sjson";
    write(prefab, kCoral);
    write("garden.sjson", "entities = { a = { prefab = \"" + std::string(kOddName) + "\" } }");
    write("Makefile", "garden.blob: garden.sjson\n\t" + std::string(SHOAL_TOOL) +
                          " compile garden.sjson --root . --root 'odd \\ro\\ot$$x#y' -o garden.blob --deps garden.d\n"
                          "-include garden.d\n");
    const ToolResult first = shell("make");
    ASSERT_EQ(first.exit_code, 0) << first.out << first.err;
    const std::string blob = read(path("garden.blob"));
    EXPECT_TRUE(shell("make").prints("up to date")) << shell("make").err;
    write_later(prefab, "components = { debug_name = \"brain\" }");
    fs::last_write_time(path("garden.blob"), fs::file_time_type::clock::now() - std::chrono::seconds(10));
    EXPECT_EQ(shell("make").exit_code, 0);
    EXPECT_NE(read(path("garden.blob")), blob);
    fs::remove(path(prefab));
    write_later("garden.sjson", "components = { debug_name = \"alone\" }");
    const ToolResult last = shell("make");
    EXPECT_EQ(last.exit_code, 0) << "a prefab that is gone and not used does no harm\n" << last.err;
}

// --- folders -----------------------------------------------------------------------------------------------------------

TEST_F(ToolBuild, a_folder_becomes_a_folder_of_blobs_and_only_what_changed_is_compiled_again) {  // req: D31 G12
    write("src/garden.sjson", kGarden);
    write("src/coral.sjson", kCoral);
    write("src/deep/stone.yaml", "debug_name: stone\n");
    write("src/game.schema.sjson", "unknown_fields = keep");
    write("src/.hidden/x.sjson", "[");
    write("src/notes.txt", "[");
    EXPECT_EQ(results(build()), "coral compiled, deep/stone compiled, garden compiled");
    EXPECT_EQ(shoal::Blob::read(path("out/deep/stone.blob"))->name(), "deep/stone");
    EXPECT_EQ(files_of("out").size(), 3u);
    EXPECT_EQ(run({"compile", path("src/garden.sjson"), "-o", path("garden.blob")}).exit_code, 0);
    EXPECT_EQ(read(path("garden.blob")), read(path("out/garden.blob"))) << "the same as that of one source";

    EXPECT_EQ(results(build()), "coral up_to_date, deep/stone up_to_date, garden up_to_date");
    write("src/deep/stone.yaml", "debug_name: rock\n");
    const ToolResult stone = build();
    EXPECT_EQ(results(stone), "coral up_to_date, deep/stone compiled, garden up_to_date");
    EXPECT_EQ(stone.json()["sources"][1]["reason"], "deep/stone.yaml changed");
    write("src/coral.sjson", "components = { debug_name = \"brain\" }");
    EXPECT_EQ(results(build()), "coral compiled, deep/stone up_to_date, garden compiled");
    write("src/coral.sjson", "components = { debug_name = \"brain\" }");
    EXPECT_EQ(results(build()), "coral up_to_date, deep/stone up_to_date, garden up_to_date") << "content decides";

    for (const std::vector<std::string>& options :
         {std::vector<std::string>{"--force"}, {"--endian", "big"}, {"--endian", "big", "--offset-tables"}})
        EXPECT_EQ(results(build(options)), "coral compiled, deep/stone compiled, garden compiled") << options.back();
    EXPECT_EQ(build({"--schema", path("src/game.schema.sjson")}).json()["compiled"], 3) << "rules and options differ";
    fs::remove(path("out/garden.blob"));
    write("out/coral.blob", read(path("out/coral.blob")) + "x");
    const ToolResult mended = build({"--schema", path("src/game.schema.sjson")});
    EXPECT_EQ(results(mended), "coral compiled, deep/stone up_to_date, garden compiled");
    EXPECT_EQ(mended.json()["sources"][0]["reason"], "its blob was changed");
    EXPECT_EQ(mended.json()["sources"][2]["reason"], "its blob is gone");
}

TEST_F(ToolBuild, a_source_with_errors_keeps_its_blob_and_the_others_are_compiled) {
    write("src/a.sjson", kCoral);
    write("src/b.sjson", kCoral);
    write("src/c.sjson", "components = { none = {} }");
    const ToolResult first = build({"--jobs", "2"});
    EXPECT_EQ(first.exit_code, 1);
    EXPECT_EQ(results(first), "a compiled, b compiled, c failed");
    EXPECT_TRUE(first.says("src/c.sjson:1:16: error: there is no component type \"none\"")) << first.err;
    EXPECT_EQ(first.json()["diagnostics"].size(), 1u);
    const std::string blob = read(path("out/a.blob"));
    write("src/a.sjson", "components = {");
    write("src/c.sjson", kCoral);
    EXPECT_EQ(results(build()), "a failed, b up_to_date, c compiled");
    EXPECT_EQ(read(path("out/a.blob")), blob);
    EXPECT_EQ(results(build()), "a failed, b up_to_date, c up_to_date") << "its errors are told again";
    write("src/a.sjson", kCoral);
    const ToolResult mended = build();
    EXPECT_EQ(results(mended), "a compiled, b up_to_date, c up_to_date");
    EXPECT_EQ(mended.exit_code, 0);
}

TEST_F(ToolBuild, warnings_are_told_when_a_source_is_compiled_and_fail_it_when_strict) {
    write("src/a.sjson", "");
    const ToolResult first = build();
    EXPECT_EQ(first.json()["warnings"], 1);
    EXPECT_EQ(results(build()), "a up_to_date");
    const ToolResult strict = build({"--strict"});
    EXPECT_EQ(results(strict), "a failed");
    EXPECT_EQ(strict.exit_code, 1);
    EXPECT_EQ(strict.json()["sources"][0]["reason"], "it had warnings");
    EXPECT_TRUE(strict.says("src/a.sjson: 1 warning, which counts as an error here")) << strict.err;
    EXPECT_EQ(build().exit_code, 0) << "without --strict they are warnings again";
}

TEST_F(ToolBuild, a_blob_whose_source_is_gone_is_removed_if_it_is_what_was_written) {
    for (const char* name : {"src/a.sjson", "src/b.sjson", "src/deep/c.sjson", "src/d.sjson"}) write(name, kCoral);
    write("out/mine.blob", "mine");
    ASSERT_EQ(build().exit_code, 0);
    for (const char* name : {"src/a.sjson", "src/b.sjson", "src/deep/c.sjson"}) fs::remove(path(name));
    write("out/b.blob", "changed");
    const ToolResult result = build({"--exclude", "d.*"});
    EXPECT_EQ(result.json()["removed"], (nlohmann::json{"a.blob", "d.blob", "deep/c.blob"}));
    EXPECT_TRUE(result.says("out/b.blob\" stays, though its source is gone: something else has changed it"))
        << result.err;
    EXPECT_EQ(files_of("out"), (std::map<std::string, std::string>{{"b.blob", "changed"}, {"mine.blob", "mine"}}));
    EXPECT_EQ(build().json()["removed"].size(), 0u);
}

TEST_F(ToolBuild, a_state_that_is_damaged_is_told_and_everything_is_compiled) {
    write("src/a.sjson", kCoral);
    write("src/gone.sjson", kCoral);
    ASSERT_EQ(build().exit_code, 0);
    const std::string state = read(path("out/.shoal_build"));
    fs::remove(path("src/gone.sjson"));
    const std::string other_version = "shoal build state 2" + state.substr(19);
    for (const std::string& damaged : {std::string(), std::string("x"), state.substr(0, state.size() / 2), state + " ",
                                       other_version, state.substr(0, 60) + "?" + state.substr(61)}) {
        write("out/.shoal_build", damaged);
        const ToolResult result = build();
        EXPECT_EQ(result.exit_code, 0);
        EXPECT_EQ(results(result), "a compiled") << damaged.substr(0, 40);
        EXPECT_TRUE(result.says("everything is compiled again, because")) << result.err;
        EXPECT_TRUE(fs::exists(path("out/gone.blob"))) << "nobody knows who wrote it";
        EXPECT_EQ(results(build()), "a up_to_date");
    }
    // A state with the right hash that says other things than a build says.
    write("out/.shoal_build", "shoal build state 1 0x" + std::string(16, '0') + "\n{}");
    EXPECT_TRUE(build().says("it was damaged after it was written"));
}

TEST_F(ToolBuild, the_folder_of_other_sources_and_files_in_the_way_are_left_alone) {
    write("src/a.sjson", kCoral);
    write("other/b.sjson", kCoral);
    ASSERT_EQ(build().exit_code, 0);
    const ToolResult other = run({"compile", path("other"), "-o", path("out")});
    EXPECT_EQ(other.exit_code, 1);
    EXPECT_TRUE(other.says("has the blobs of other sources")) << other.err;
    EXPECT_TRUE(fs::exists(path("out/a.blob")));

    write("src/c.sjson", kCoral);
    fs::create_symlink(path("other/b.sjson"), path("out/c.blob"));
    const ToolResult in_the_way = build();
    EXPECT_EQ(in_the_way.exit_code, 1);
    EXPECT_TRUE(in_the_way.says("c.blob\" is in the way, and not a blob")) << in_the_way.err;
    EXPECT_EQ(read(path("other/b.sjson")), kCoral) << "an output never destroys a source";
    write("file", "x");
    const ToolResult file = build({}, "file");
    EXPECT_TRUE(file.says("is not a folder")) << file.err;
    EXPECT_EQ(read(path("file")), "x");
}

TEST_F(ToolBuild, two_sources_of_one_blob_are_an_error_and_neither_is_compiled) {
    write("src/a.sjson", kCoral);
    ASSERT_EQ(build().exit_code, 0);
    const std::string blob = read(path("out/a.blob"));
    write("src/a.json", "{}");
    const ToolResult result = build();
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_EQ(results(result), "a failed, a failed");
    EXPECT_TRUE(result.says("would both make")) << result.err;
    EXPECT_EQ(read(path("out/a.blob")), blob);
    EXPECT_EQ(build({"--exclude", "*.json"}).exit_code, 0);
}

TEST_F(ToolBuild, a_file_whose_name_is_no_resource_name_is_an_error_and_the_others_are_compiled_once) {
    struct Bad {
        const char *name, *problem, *pattern;
    };
    for (const auto& [name, problem, pattern] : {Bad{"a\\b.sjson", "it holds a backslash", "a*b.sjson"},
                                                 Bad{"$1/c.sjson", "which in a blob stands for a root", "$1"},
                                                 Bad{"\xFF.sjson", "it is not UTF-8", "\xFF.*"}}) {
        fs::remove_all(path("src"));
        fs::remove_all(path("out"));
        write("src/reef.sjson", kCoral);
        write("src/$money.sjson", kCoral);
        write("src/" + std::string(name), kCoral);
        for (const int num_compiled : {2, 0}) {
            const ToolResult result = build();
            EXPECT_EQ(result.exit_code, 1);
            EXPECT_EQ(result.json()["compiled"], num_compiled) << name;
            EXPECT_EQ(result.json()["up_to_date"], 2 - num_compiled) << name;
            EXPECT_TRUE(result.says(problem)) << result.err;
            EXPECT_FALSE(result.says("cannot be used: it does not say")) << "the state is good";
        }
        EXPECT_EQ(files_of("out").size(), 2u) << name;
        EXPECT_EQ(build({"--exclude", pattern}).exit_code, 0) << name;
    }
}

TEST_F(ToolBuild, wrong_usage_is_told) {
    const std::string source = write("src/a.sjson", kCoral);
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"compile", source, "-o", path("x"), "--force"},
          {"compile", source, "-o", path("x"), "--jobs", "2"},
          {"compile", source, "-o", path("x"), "--exclude", "a"},
          {"compile", path("src"), "-o", "-"},
          {"compile", path("src"), "-o", path("x"), "--deps", path("d")},
          {"compile", path("src"), "-o", path("x"), "--jobs", "0"},
          {"check", source, "--up-to-date", "--strict"}}) {
        const ToolResult result = run(words);
        EXPECT_EQ(result.exit_code, 2) << words.back() << result.err;
        EXPECT_FALSE(fs::exists(path("x")));
    }
    const ToolResult roots = build({"--root", path("elsewhere")});
    EXPECT_EQ(roots.exit_code, 1);
    fs::create_directories(path("elsewhere"));
    EXPECT_TRUE(build({"--root", path("elsewhere")}).says("is in none of the roots"));
}

TEST_F(ToolBuild, blobs_may_lie_beside_their_sources_and_progress_shows_on_a_terminal) {
    for (int i = 0; i < 40; ++i) write("src/" + std::to_string(i) + ".sjson", kCoral);
    EXPECT_EQ(build({}, "src").json()["compiled"], 40);
    EXPECT_EQ(build({}, "src").json()["up_to_date"], 40);
    const std::string shown =
        run_on_terminal({"compile", path("src"), "-o", path("out/in/side"), "--jobs", "1"}, path("printed"));
    EXPECT_NE(shown.find("/40 sources compiled"), std::string::npos) << shown;
    EXPECT_NE(read(path("printed")).find("and 20 more"), std::string::npos);
}

TEST_F(ToolBuild, a_folder_may_become_blobs_where_the_tool_runs_and_links_that_lead_nowhere_are_no_sources) {
    write("src/reef.sjson", "components = { debug_name = \"reef\" }");
    fs::create_symlink("loop.sjson", path("src/loop.sjson"));
    const ToolResult built = shell(shoal_test::shell_quoted(SHOAL_TOOL) + " compile src -o .");
    EXPECT_EQ(built.exit_code, 0) << built.err;
    EXPECT_TRUE(fs::exists(path("reef.blob")));
}

TEST_F(ToolBuild, blobs_that_lie_in_the_folder_are_no_sources_and_links_to_folders_are_followed_when_asked) {
    write("src/a.sjson", kCoral);
    write("else/b.sjson", kCoral);
    fs::create_directory_symlink(path("else"), path("src/link"));
    ASSERT_EQ(run({"compile", path("else"), "-o", path("src/blobs")}).exit_code, 0);
    EXPECT_EQ(results(build()), "a compiled");
    fs::create_directory_symlink(path("src"), path("else/back"));
    fs::create_directory_symlink("me", path("src/me"));
    write("else/c.sjson", "prefab = \"link/b\"");
    EXPECT_EQ(results(build({"--follow-links"}, "followed")), "a compiled, link/b compiled, link/c compiled");
    EXPECT_EQ(results(build({"--follow-links"}, "followed")), "a up_to_date, link/b up_to_date, link/c up_to_date");
    const std::string behind = path("src/link/c.sjson");
    const ToolResult refused = run({"check", behind, "--root", path("src")});
    EXPECT_TRUE(refused.says("is a link that leads out of the roots")) << refused.err;
    EXPECT_EQ(run({"check", behind, "--root", path("src"), "--follow-links"}).exit_code, 0);
    EXPECT_EQ(results(build({}, "src/blobs/in")), "a compiled") << "the folder of outputs is not searched";
    EXPECT_EQ(results(build({}, "src/blobs/in")), "a up_to_date");
    fs::copy_file(path("out/a.blob"), path("src/z.unit"));
    const ToolResult odd = build();
    EXPECT_EQ(results(odd), "a up_to_date, z failed");
    EXPECT_TRUE(odd.says("src/z.unit\" is a blob, not a source")) << odd.err;
}

TEST_F(ToolBuild, files_that_have_been_left_alone_for_some_time_are_not_read_again) {
    write("src/a.sjson", kGarden);
    write("src/coral.sjson", kCoral);
    ASSERT_EQ(build().exit_code, 0);
    EXPECT_EQ(build().json()["files_compared"], 4) << "they are too young for their stamps to mean anything";
    std::this_thread::sleep_for(std::chrono::milliseconds(2100));
    EXPECT_EQ(build().json()["files_compared"], 4);
    EXPECT_EQ(build().json()["files_compared"], 0);
    fs::last_write_time(path("src/coral.sjson"), fs::file_time_type::clock::now() - std::chrono::hours(1));
    const ToolResult touched = build();
    EXPECT_EQ(touched.json()["files_compared"], 1);
    EXPECT_EQ(results(touched), "a up_to_date, coral up_to_date");
}

// --- random edits ------------------------------------------------------------------------------------------------------

/// Edits of files in two roots, of which the first is the folder of sources.
struct Edits {
    explicit Edits(std::uint64_t seed) : random(seed) {}

    std::string text() {
        static constexpr const char* kComponents[] = {"debug_name = \"x\"", "point_mass = { mass = 2 }", "crab = {}",
                                                      "crab = { claws = 2 }", "nothing = 1"};
        const std::string prefab = random.below(2) == 0 ? "" : "prefab = \"p" + std::to_string(random.below(5)) + "\" ";
        return prefab + (random.below(12) == 0 ? "components = [" : "components = { ") +
               kComponents[random.below(random.below(3) == 0 ? 5 : 4)] + " }";
    }
    std::string some_file() {
        return std::string(random.below(3) == 0 ? "library/" : "src/") + "p" + std::to_string(random.below(5)) +
               (random.below(8) == 0 ? ".unit" : ".sjson");
    }

    shoal::Random random;
};

constexpr std::string_view kSchemas[] = {
    "components = { crab = { fields = { claws = int32 } } }",
    "components = { crab = { fields = { claws = { type = int32 default = 1 } } } }",
    "components = { crab = { fields = { claws = int32 } } shrimp = { fields = { legs = int32 } } }",
    "components = { crab = { fields = { claws = int32 } } } unknown_components = keep"};

TEST_F(ToolBuild, after_random_edits_the_folder_has_what_a_full_build_gives_and_no_more_was_compiled) {  // req: D31 G12
    SCOPED_TRACE(shoal_test::seed_text());
    Edits edits(shoal_test::seed());
    std::map<std::string, std::string> expected;  // blobs, those of sources with errors as they were
    std::set<std::string> failed;
    write("game.schema.sjson", kSchemas[0]);
    fs::create_directories(path("src"));
    fs::create_directories(path("library"));
    const std::vector<std::string> options{"--root",        path("src"), "--root",
                                           path("library"), "--schema",  path("game.schema.sjson")};
    const std::int64_t steps = shoal_test::scaled_operations(100);
    int num_compiled = 0, num_spared = 0;
    for (std::int64_t step = 0; step < steps; ++step) {
        for (std::uint32_t i = 0; i <= edits.random.below(2); ++i) {
            const std::string file = edits.some_file(), to = edits.some_file();
            const std::uint32_t what = edits.random.below(12);
            if (what == 0)
                write("game.schema.sjson", kSchemas[edits.random.below(std::size(kSchemas))]);
            else if (what == 1 && fs::exists(path(file)))
                fs::rename(path(file), path(to));
            else if (what == 2)
                fs::remove(path(file));
            else if (what == 3 && fs::exists(path(file)))
                write(file, read(path(file)));
            else if (what == 4 && !expected.empty())
                fs::remove(path("out/" + expected.begin()->first));
            else
                write(file, edits.text());
        }
        fs::remove_all(path("full"));
        const nlohmann::json full = build(options, "full").json();
        const std::map<std::string, std::string> blobs = files_of("full");
        const bool lost = !expected.empty() && !fs::exists(path("out/" + expected.begin()->first));
        const nlohmann::json result = build(options).json();

        std::map<std::string, std::string> next;
        std::set<std::string> next_failed;
        for (const auto& source : full["sources"]) {
            const std::string blob = source["blob"];
            const bool is_lost = lost && blob == expected.begin()->first;
            if (source["result"] == "failed") next_failed.insert(blob);
            if (blobs.contains(blob))
                next[blob] = blobs.at(blob);
            else if (expected.contains(blob) && !is_lost)
                next[blob] = expected.at(blob);
        }
        ASSERT_EQ(files_of("out"), next) << "step " << step;
        for (std::size_t i = 0; i < result["sources"].size(); ++i) {
            const std::string blob = result["sources"][i]["blob"];
            const bool is_lost = lost && blob == expected.begin()->first;
            const bool is_same = blobs.contains(blob) && expected.contains(blob) && !failed.contains(blob) &&
                                 !is_lost && blobs.at(blob) == expected.at(blob);
            ASSERT_EQ(result["sources"][i]["result"] == "up_to_date", is_same)
                << "step " << step << ", " << result["sources"][i];
            is_same ? ++num_spared : ++num_compiled;
        }
        expected = next;
        failed = next_failed;
    }
    EXPECT_GT(num_compiled, steps / 4);
    EXPECT_GT(num_spared, steps / 4);
}

// --- blobs that are out of date ----------------------------------------------------------------------------------------

TEST_F(ToolBuild, a_blob_says_whether_its_sources_would_give_the_same_now) {  // req: D31 G12
    write("src/garden.sjson", kGarden);
    write("library/coral.sjson", kCoral);
    const std::string schema = write("game.schema.sjson", "components = { crab = { fields = { claws = int32 } } }");
    const std::vector<std::string> roots{"--root", path("src"), "--root", path("library"), "--schema", schema};
    std::vector<std::string> compile{"compile", path("src/garden.sjson"), "-o", path("garden.blob")};
    compile.insert(compile.end(), roots.begin(), roots.end());
    ASSERT_EQ(run(compile).exit_code, 0);
    const auto check = [&](std::vector<std::string> more = {}) {
        std::vector<std::string> words{"check", "--up-to-date", path("garden.blob")};
        words.insert(words.end(), roots.begin(), roots.end());
        words.insert(words.end(), more.begin(), more.end());
        return run(words);
    };
    EXPECT_EQ(check().out, path("garden.blob") + ": up to date\n");
    EXPECT_EQ(check().exit_code, 0);
    write("library/coral.sjson", "components = { crab = {} }");
    EXPECT_EQ(check().out, path("garden.blob") + ": not up to date\n  coral.sjson changed\n");
    EXPECT_EQ(check().exit_code, 1);
    ASSERT_EQ(run(compile).exit_code, 0);
    EXPECT_EQ(check().exit_code, 0);
    write("game.schema.sjson", "components = { crab = { version = 2 fields = { claws = int32 } } }");
    EXPECT_TRUE(check().prints("the schema of the component type \"crab\" changed")) << check().out;
    write("game.schema.sjson", "components = { crab = { fields = { claws = int32 } } }");
    write("src/coral.sjson", kCoral);
    const ToolResult shadowed = check({"--json"});
    EXPECT_EQ(shadowed.exit_code, 1);
    EXPECT_EQ(shadowed.json()["ok"], false);
    EXPECT_EQ(shadowed.json()["blobs"][0]["changes"][0],
              (nlohmann::json{{"kind", "new_file"},
                              {"name", "$0/coral.sjson"},
                              {"message", "coral.sjson now exists in an earlier root"}}));
    fs::remove(path("src/coral.sjson"));
    fs::remove(path("library/coral.sjson"));
    EXPECT_TRUE(check().prints("  coral.sjson is gone\n"));

    const ToolResult few = run({"check", "--up-to-date", path("garden.blob"), "--root", path("src")});
    EXPECT_EQ(few.exit_code, 1);
    EXPECT_TRUE(few.says("give the roots that it was compiled with")) << few.err;
    const ToolResult none = run({"check", "--up-to-date", path("src/garden.sjson")});
    EXPECT_EQ(none.exit_code, 1);
    EXPECT_TRUE(none.says("it is not a blob")) << none.err;
}

}  // namespace
