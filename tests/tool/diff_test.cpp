#include "tool/git_process.h"

namespace {

using shoal_test::ToolResult;

constexpr std::string_view kBefore =
    "entities = {\n"
    "    a1 = { prefab = \"reef/coral\"  modified_components = { transform = { position = [4 0 12] } } }\n"
    "    a2 = { glow = { power = 2 } }\n"
    "}\n";
constexpr std::string_view kAfter =
    "entities = {\n"
    "    a2 = { glow = { power = 2.5 } }\n"
    "    a1 = { modified_components = { transform = { position = [4 0 12] } }  prefab = \"reef/coral\" }\n"
    "}\n";
constexpr std::string_view kLines = "a2\n-   components.glow.power = 2\n+   components.glow.power = 2.5\n";

class ToolDiff : public shoal_test::GitTest {};

TEST_F(ToolDiff, says_by_its_exit_code_whether_sources_differ) {
    const std::string before = write("before.sjson", kBefore), after = write("after.sjson", kAfter);
    const ToolResult same = run({"diff", before, before});
    EXPECT_EQ(same.exit_code, 0) << same.err;
    EXPECT_EQ(same.out, "");
    const ToolResult different = run({"diff", before, after});
    EXPECT_EQ(different.exit_code, 3) << different.err;
    EXPECT_EQ(different.out, "--- " + before + "\n+++ " + after + "\n" + std::string(kLines));
    const ToolResult broken = run({"diff", before, write("broken.sjson", "entities = {")});
    EXPECT_EQ(broken.exit_code, 1);
    EXPECT_TRUE(broken.says("broken.sjson:1:")) << broken.err;
    EXPECT_EQ(run({"diff", before, path("missing.sjson")}).exit_code, 1);
    EXPECT_EQ(run({"diff", before}).exit_code, 2);
    EXPECT_EQ(run({"diff", "--git", before, after}).exit_code, 2);
}

TEST_F(ToolDiff, compares_formats_and_reads_standard_input) {
    const std::string before = write("before.sjson", "glow = { power = 2 }"),
                      yaml = write("after.yaml", "glow: {power: 2}\n");
    EXPECT_EQ(run({"diff", before, yaml}).exit_code, 0);
    EXPECT_EQ(run({"diff", before, "-"}, {}, before).exit_code, 0);
}

TEST_F(ToolDiff, json_has_each_difference_with_its_places) {
    const std::string before = write("before.sjson", kBefore), after = write("after.sjson", kAfter);
    const ToolResult result = run({"diff", before, after, "--json"});
    EXPECT_EQ(result.exit_code, 3);
    const nlohmann::json json = result.json();
    EXPECT_EQ(json["different"], true);
    ASSERT_EQ(json["differences"].size(), 1u);
    const nlohmann::json& difference = json["differences"][0];
    EXPECT_EQ(difference["difference"], "changed");
    EXPECT_EQ(difference["entity"], "a2");
    EXPECT_EQ(difference["member"], "components.glow.power");
    EXPECT_EQ(difference["before"]["value"], 2);
    EXPECT_EQ(difference["before"]["line"], 3);
    EXPECT_EQ(difference["after"]["value"], 2.5);
    EXPECT_EQ(difference["after"]["line"], 2);
    EXPECT_EQ(run({"diff", before, before, "--json"}).json()["different"], false);
}

TEST_F(ToolDiff, composed_sources_differ_where_a_prefab_does) {
    write("old/coral.sjson", "point_mass = { mass = 1 }");
    write("new/coral.sjson", "point_mass = { mass = 2 }");
    const std::string before = write("old/level.sjson", "entities = { a = { prefab = \"coral\" } }"),
                      after = write("new/level.sjson", "entities = { a = { prefab = \"coral\" } }");
    EXPECT_EQ(run({"diff", before, after}).exit_code, 0);
    const ToolResult composed = run({"diff", before, after, "--composed"});
    EXPECT_EQ(composed.exit_code, 3);
    EXPECT_TRUE(composed.prints("a\n-   components.point_mass.mass = 1\n+   components.point_mass.mass = 2\n"))
        << composed.out;
    write("new/level.sjson", "entities = { a = { prefab = \"missing\" } }");
    const ToolResult missing = run({"diff", before, after, "--composed"});
    EXPECT_EQ(missing.exit_code, 1);
    EXPECT_TRUE(missing.says("new/level.sjson:1:")) << missing.err;
}

TEST_F(ToolDiff, is_a_diff_driver_of_git) {
    if (!has_git()) GTEST_SKIP() << "there is no git";
    use_settings_of_guide();
    write("repository/reef.sjson", kBefore);
    write("repository/gone.sjson", "glow = 1\n");
    git("add .");
    git("commit -q -m first");
    write("repository/reef.sjson", kAfter);
    write("repository/new.sjson", "entities = { n = { glow = 1 } }\n");
    std::filesystem::remove(path("repository/gone.sjson"));
    git("add .");
    const std::string shown = git("diff --cached");
    EXPECT_EQ(last_code_, 0) << shown;
    EXPECT_NE(shown.find("--- a/reef.sjson\n+++ b/reef.sjson\n" + std::string(kLines)), std::string::npos) << shown;
    EXPECT_NE(shown.find("--- /dev/null\n+++ b/new.sjson\n+ n\n"), std::string::npos) << shown;
    EXPECT_NE(shown.find("--- a/gone.sjson\n+++ /dev/null\n"), std::string::npos) << shown;
    write("repository/reef.sjson", "entities = {\n");
    const std::string broken = git("diff");
    EXPECT_EQ(last_code_, 0) << broken;
    EXPECT_NE(broken.find("b/reef.sjson is not compared; `git diff --no-ext-diff` shows its lines"), std::string::npos)
        << broken;
}

TEST_F(ToolDiff, blobs_are_refused_by_what_they_are) {
    const std::string source = write("a.sjson", shoal_test::kReef), blob = path("a.blob");
    ASSERT_EQ(run({"compile", source, "-o", blob}).exit_code, 0);
    const ToolResult result = run({"diff", blob, source});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_EQ(result.err, "error: \"" + blob +
                              "\" is a blob, not a source; give the source that it was compiled from; `shoal dump` "
                              "shows what it holds\n");
}

TEST_F(ToolDiff, shows_git_a_new_name_and_new_rights_of_what_says_the_same) {
    if (!has_git()) GTEST_SKIP() << "there is no git";
    git(std::string("config diff.shoal.command \"") + SHOAL_TOOL + " diff --git\"");
    write("repository/.gitattributes", "*.sjson diff=shoal\n");
    write("repository/reef.sjson", "entities = { a1 = { tag = \"fish\" } }\n");
    git("add .");
    git("commit -q -m first");
    git("mv reef.sjson coast.sjson");
    EXPECT_EQ(git("diff --cached -M"), "a/reef.sjson is now b/coast.sjson, and says the same\n");
    git("commit -q -m second");
    const std::string others = "\ta2 = { tag = \"crab\" }\n\ta3 = { tag = \"coral\" }\n}\n";
    write("repository/coast.sjson", "entities = {\n\ta1 = { tag = \"fish\" }\n" + others);
    git("commit -q -a -m third");
    git("mv coast.sjson shore.sjson");
    write("repository/shore.sjson", "entities = {\n\ta1 = { tag = \"shark\" }\n" + others);
    git("add .");
    EXPECT_EQ(git("diff --cached -M"),
              "--- a/coast.sjson\n+++ b/shore.sjson\na1\n-   components.tag = \"fish\"\n"
              "+   components.tag = \"shark\"\n")
        << "another name and other values";
    git("reset -q --hard HEAD~1");
    write("repository/coast.sjson", "entities = { a1 = { tag = \"fish\"  } }\n");
    EXPECT_EQ(git("diff"), "") << "another layout";
    git("update-index --chmod=+x coast.sjson");
    EXPECT_EQ(git("diff --cached"), "b/coast.sjson has mode 100755, and had 100644\n");
}

TEST_F(ToolDiff, makes_lines_for_git_to_compare) {
    if (!has_git()) GTEST_SKIP() << "there is no git";
    git(std::string("config diff.shoal.textconv \"") + SHOAL_TOOL + " diff --textconv\"");
    write("repository/.gitattributes", "*.sjson diff=shoal\n");
    write("repository/reef.sjson", kBefore);
    git("add .");
    git("commit -q -m first");
    write("repository/reef.sjson", kAfter);
    const std::string shown = git("diff");
    EXPECT_NE(shown.find("\n-a2 components.glow.power = 2\n+a2 components.glow.power = 2.5\n"), std::string::npos)
        << shown;
    EXPECT_EQ(shown.find("-a1"), std::string::npos) << shown;
    const ToolResult broken = run({"diff", "--textconv", write("broken.sjson", "entities = {\n")});
    EXPECT_EQ(broken.exit_code, 0);
    EXPECT_EQ(broken.out, "entities = {\n");
    EXPECT_TRUE(broken.says("broken.sjson:1:")) << broken.err;
}

TEST_F(ToolDiff, is_coloured_on_a_terminal_only) {
    const std::string before = write("before.sjson", kBefore), after = write("after.sjson", kAfter);
    EXPECT_FALSE(run({"diff", before, after}).prints("\033["));
    // The exit code of a terminal's run has to be 0, which is so with --git.
    const std::string shown = run_on_terminal({"diff", "--git", "reef.sjson", before, "1", "2", after, "3", "4"}, {});
    EXPECT_NE(shown.find("\033[31m-   components.glow.power = 2\033[0m"), std::string::npos) << shown;
}

}  // namespace
