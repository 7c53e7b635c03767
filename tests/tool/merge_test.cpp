#include "tool/git_process.h"

namespace {

using shoal_test::ToolResult;
class ToolMerge : public shoal_test::GitTest {};

constexpr std::string_view kBase =
    "// The reef.\n"
    "entities = {\n"
    "\ta1 = { glow = { power = 2 } }\n"
    "\ta2 = { tag = \"fish\" }  // swims\n"
    "}\n";
constexpr std::string_view kOurs =
    "// The reef.\n"
    "entities = {\n"
    "\ta2 = { tag = \"fish\" }  // swims\n"
    "\ta1 = { glow = { power = 3 } }\n"
    "}\n";
constexpr std::string_view kTheirs =
    "// The reef.\n"
    "entities = {\n"
    "\ta1 = { glow = { power = 2 } }\n"
    "\ta2 = { tag = \"shark\" }  // swims\n"
    "\ta3 = {}\n"
    "}\n";
constexpr std::string_view kMerged =
    "// The reef.\n"
    "entities = {\n"
    "\ta2 = { tag = \"shark\" }  // swims\n"
    "\ta3 = {}\n"
    "\ta1 = { glow = { power = 3 } }\n"
    "}\n";

TEST_F(ToolMerge, writes_what_both_have_changed) {
    const std::string base = write("base.sjson", kBase), a = write("a.sjson", kOurs), b = write("b.sjson", kTheirs);
    const ToolResult printed = run({"merge", base, a, b});
    EXPECT_EQ(printed.exit_code, 0) << printed.err;
    EXPECT_EQ(printed.out, kMerged);
    const ToolResult over = run({"merge", base, a, b, "-o", a, "--json"});
    EXPECT_EQ(over.exit_code, 0) << over.err;
    EXPECT_EQ(over.json()["ok"], true);
    EXPECT_EQ(read(a), kMerged);
    EXPECT_EQ(run({"merge", base, a, b, "--json"}).exit_code, 2);
    EXPECT_EQ(run({"merge", base, a}).exit_code, 2);
}

TEST_F(ToolMerge, keeps_the_format_of_the_first) {
    const std::string base = write("base.yaml", "glow: {power: 2}\n"),
                      a = write("a.yaml", "glow: {power: 3}  # more\n"),
                      b = write("b.sjson", "glow = { power = 2 lit = true }");
    const ToolResult result = run({"merge", base, a, b});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.out, "glow: {power: 3, lit: true}  # more\n");
}

TEST_F(ToolMerge, conflicts_leave_everything_as_it_was) {
    const std::string base = write("base.sjson", kBase), a = write("a.sjson", kOurs);
    const std::string b = write("b.sjson", "entities = { a1 = { glow = { power = 4 } } a2 = { tag = \"fish\" } }\n");
    const ToolResult result = run({"merge", base, a, b, "-o", a});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_TRUE(
        result.says("a.sjson:4:18: error: conflict: a1 components.glow.power was changed by both: it is 3 here and 4 "
                    "there"))
        << result.err;
    EXPECT_TRUE(result.says("b.sjson:1:30: note: the other is here")) << result.err;
    EXPECT_EQ(read(a), kOurs);
    const ToolResult json = run({"merge", base, a, b, "-o", a, "--json"});
    EXPECT_EQ(json.json()["ok"], false);
    EXPECT_EQ(json.json()["diagnostics"][0]["notes"][0]["line"], 1);
    write("b.sjson", "entities = {");
    EXPECT_EQ(run({"merge", base, a, b, "-o", a}).exit_code, 1);
    EXPECT_EQ(read(a), kOurs);
}

TEST_F(ToolMerge, is_a_merge_driver_of_git) {
    if (!has_git()) GTEST_SKIP() << "there is no git";
    use_settings_of_guide();
    write("repository/reef.sjson", kBase);
    write("repository/pond.yaml", "glow: {power: 2}\n");
    git("add .");
    git("commit -q -m first");
    git("checkout -q -b theirs");
    write("repository/reef.sjson", kTheirs);
    write("repository/pond.yaml", "glow: {power: 2, on: true}\n");
    git("commit -q -a -m second");
    git("checkout -q -b ours HEAD~1");
    write("repository/reef.sjson", kOurs);
    write("repository/pond.yaml", "glow: {power: 3}\n");
    git("commit -q -a -m third");
    const std::string merged = git("merge -q -m both theirs");
    EXPECT_EQ(last_code_, 0) << merged;
    EXPECT_EQ(read(path("repository/reef.sjson")), kMerged);
    EXPECT_EQ(read(path("repository/pond.yaml")), "glow: {power: 3, on: true}\n");
    git("checkout -q theirs");
    write("repository/reef.sjson", "entities = { a1 = { glow = { power = 9 } } }\n");
    git("commit -q -a -m fourth");
    git("checkout -q ours");
    const std::string conflict = git("merge -m again theirs");
    EXPECT_NE(last_code_, 0) << conflict;
    EXPECT_NE(conflict.find("a:reef.sjson:5:18: error: conflict: a1 components.glow.power was changed by both"),
              std::string::npos)
        << conflict;
    EXPECT_EQ(read(path("repository/reef.sjson")), kMerged) << "git leaves our text, and marks the file as unmerged";
}

}  // namespace
