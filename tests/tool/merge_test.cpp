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

TEST_F(ToolMerge, keeps_colons_commas_and_braces_of_the_first) {
    const std::string ours =
        "// By hand.\n"
        "{\n"
        "  entities : {\n"
        "    a1: { glow: { power: 1, hue: [1, 2, 3] } },  // bright\n"
        "    a2=   { \"tag\": \"fish\" },\n"
        "    a3: {\n"
        "      cells: [\n"
        "        { x: 1 },\n"
        "        { x: 2 }\n"
        "      ]\n"
        "    }\n"
        "  }\n"
        "}\n";
    const auto with = [&](std::string_view from, std::string_view to) {
        std::string text = ours;
        return text.replace(text.find(from), from.size(), to);
    };
    const std::string base = write("base.sjson", ours), a = write("a.sjson", with("power: 1", "power: 2")),
                      b = write("b.sjson",
                                "// By hand.\nentities = { a1 = { glow = { power = 1  hue = [1 2 3] } }  // bright\na2 "
                                "= { tag = \"shark\" }\n"
                                "a3 = { cells = [ { x = 1 } { x = 2 } ] } a4 = { glow = { power = 9 } } }\n");
    const ToolResult result = run({"merge", base, a, b});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    std::string merged = with("power: 1", "power: 2");
    merged.replace(merged.find("\"tag\": \"fish\""), 13, "tag : \"shark\"");
    merged.replace(merged.find("      ]\n    }\n"), 14, "      ]\n    },\n    a4 : { glow : { power : 9 } }\n");
    EXPECT_EQ(result.out, merged);
}

/// Replaces the one place where a text stands.
std::string with(std::string text, std::string_view from, std::string_view to) {
    EXPECT_EQ(text.find(from), text.rfind(from)) << from;
    return text.replace(text.find(from), from.size(), to);
}

TEST_F(ToolMerge, two_words_that_have_changed_are_all_that_changes_however_odd_the_layout_is) {
    const std::string sjson =
        "// The reef, by hand\n"
        "entities: {\n"
        "    coral: {   // odd\n"
        "      components: { transform: { position: [1, 2, 3] }, debug_name: \"coral\" }\n"
        "    },\n"
        "    shark: {\n"
        "\tcomponents: {\n"
        "\t\ttransform: {position = [4 5,   6], scale: [1, 1, 1]},\n"
        "          debug_name: \"shark\"   // the big one\n"
        "          /* block */ tag: \"enemy\"\n"
        "\t}\n"
        "    },\n"
        "\n"
        "    whale: { components: { debug_name: \"whale\" } }\n"
        "}\n";
    const std::string yaml =
        "# The reef\nentities:\n    coral:\n      components: {debug_name: \"coral\"}  # odd\n"
        "    shark:\n        components:\n              transform: {position: [4, 5,   6]}\n\n"
        "              debug_name:   'shark'\n              # tagged\n              tag: enemy\n";
    const std::string json =
        "{\n\"entities\": {\n    \"a\": {\"debug_name\" : \"coral\"},\n\t\"b\": { \"tag\":\"enemy\" } }\n}";
    const auto merge = [&](const std::string& text, const std::string& ending) {
        const std::string merged =
            run({"merge", write("base" + ending, text), write("a" + ending, with(text, "\"coral\"", "\"Koralle\"")),
                 write("b" + ending, with(text, "enemy", "foe"))})
                .out;
        EXPECT_EQ(merged, with(with(text, "\"coral\"", "\"Koralle\""), "enemy", "foe"));
    };
    merge(sjson, ".sjson");
    merge(yaml, ".yaml");
    merge(json, ".json");
    std::string windows = sjson;
    for (std::size_t at = 0; (at = windows.find('\n', at)) != std::string::npos; at += 2) windows.insert(at, "\r");
    merge(windows, ".sjson");
    const std::string base = write("base.sjson", sjson), whale = write("a.sjson", with(sjson, "whale\"", "Wal\"")),
                      both = write("b.sjson", with(with(sjson, "whale\"", "Wal\""), "1, 2, 3", "3, 2, 1"));
    EXPECT_EQ(run({"merge", base, whale, both}).out, read(both)) << "both have changed a line in one way";
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

TEST_F(ToolMerge, an_empty_base_says_nothing_in_any_format) {
    const std::string base = write("base.json", ""), blank = write("base.yaml", "\xEF\xBB\xBF\n\n");
    const std::string a = write("a.json", "{\"glow\": 2}"), b = write("b.json", "{\"glow\": 2, \"lamp\": 3}");
    const ToolResult json = run({"merge", base, a, b});
    EXPECT_EQ(json.exit_code, 0) << json.err;
    EXPECT_EQ(json.out, "{\"glow\": 2, \"lamp\": 3}\n");
    const std::string level = write("a.yaml", "entities: {}\n");
    const ToolResult yaml = run({"merge", blank, level, level});
    EXPECT_EQ(yaml.out, "entities: {}\n") << yaml.err;
    EXPECT_EQ(run({"merge", base, a, base}).exit_code, 1) << "only the base may be empty";
}

TEST_F(ToolMerge, comments_that_are_left_out_are_told_and_with_strict_an_error) {
    const std::string base = write("base.json", "{\"glow\": 2}"), a = write("a.json", "{\"glow\": 3}");
    const std::string b = write("b.sjson", "// about glow\nglow = 2\nlamp = 3  // new\n");
    const ToolResult json = run({"merge", base, a, b});
    EXPECT_EQ(json.exit_code, 0) << json.err;
    EXPECT_EQ(json.out, "{\"glow\": 3, \"lamp\": 3}\n");
    EXPECT_TRUE(json.says("b.sjson:1:1: warning: JSON has no comments: 2 comments of")) << json.err;
    const std::string changed = write("changed.sjson", "// of a\nglow = 3\n"),
                      old = write("old.sjson", "// old\nglow = 2\n");
    EXPECT_EQ(run({"merge", old, changed, b}).out, "// of a\nglow = 3\nlamp = 3  // new\n");
    for (const std::string& first : {a, changed}) {
        const std::string before = read(first);
        const ToolResult strict = run({"merge", first == a ? base : old, first, b, "--strict", "-o", first});
        EXPECT_EQ(strict.exit_code, 1) << first;
        EXPECT_TRUE(strict.says("b.sjson:1:1: ")) << strict.err;
        EXPECT_EQ(read(first), before);
    }
}

TEST_F(ToolMerge, schema_files_are_compared_and_merged) {
    const std::string base =
        write("base.schema.sjson", "components = { crab = { fields = { claws = uint8 } } }  // a crab\n");
    const std::string a =
        write("a.schema.sjson", "components = {\n\tcrab = { fields = { claws = uint16 } }\n}  // a crab\n");
    const std::string b =
        write("b.schema.sjson",
              "unknown_fields = keep\ncomponents = { crab = { fields = { claws = uint8  legs = { type = uint8 default "
              "= 8 } } } }  // a big crab\n");
    const ToolResult merged = run({"merge", base, a, b});
    EXPECT_EQ(merged.exit_code, 0) << merged.err;
    EXPECT_EQ(merged.out,
              "components = {\n\tcrab = { fields = { claws = uint16  legs = { type = uint8  default = 8 } } }\n}"
              "  // a big crab\nunknown_fields = keep\n");
    const ToolResult diff = run({"diff", base, a});
    EXPECT_EQ(diff.exit_code, 3) << diff.err;
    EXPECT_TRUE(diff.prints("-   components.crab.fields.claws = \"uint8\"")) << diff.out;
    EXPECT_TRUE(run({"diff", base, "--textconv"}).prints("components.crab.fields.claws = \"uint8\""));
    EXPECT_EQ(run({"merge", base, a, write("source.sjson", "glow = bright")}).exit_code, 1) << "no schema file";
}

TEST_F(ToolMerge, is_a_merge_driver_of_git) {
    if (!has_git()) GTEST_SKIP() << "there is no git";
    use_settings_of_guide();
    write("repository/reef.sjson", kBase);
    write("repository/pond.yaml", "glow: {power: 2}\n");
    write("repository/game.schema.sjson", "unknown_fields = keep\n\nlevel_entities = both\n");
    git("add .");
    git("commit -q -m first");
    git("checkout -q -b theirs");
    write("repository/reef.sjson", kTheirs);
    write("repository/pond.yaml", "glow: {power: 2, on: true}\n");
    write("repository/game.schema.sjson", "unknown_fields = error\n\nlevel_entities = both\n");
    write("repository/both.yaml", "glow: 1\n");
    git("add .");
    git("commit -q -a -m second");
    git("checkout -q -b ours HEAD~1");
    write("repository/reef.sjson", kOurs);
    write("repository/pond.yaml", "glow: {power: 3}\n");
    write("repository/game.schema.sjson", "unknown_fields = keep\n\nlevel_entities = units\n");
    write("repository/both.yaml", "lamp: 1\n");
    git("add .");
    git("commit -q -a -m third");
    const std::string merged = git("merge -q -m both theirs");
    EXPECT_EQ(last_code_, 0) << merged;
    EXPECT_EQ(read(path("repository/reef.sjson")), kMerged);
    EXPECT_EQ(read(path("repository/pond.yaml")), "glow: {power: 3, on: true}\n");
    EXPECT_EQ(read(path("repository/game.schema.sjson")), "unknown_fields = error\n\nlevel_entities = units\n");
    EXPECT_EQ(read(path("repository/both.yaml")), "glow: 1\nlamp: 1\n");
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
