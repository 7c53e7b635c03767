#include "inspect/xml_check.h"
#include "tool/tool_process.h"

#include <vector>

namespace {

using shoal_test::ToolResult;

/// The program in place of the tool.
class DuelProgram : public shoal_test::ToolTest {};

TEST_F(DuelProgram, prints_what_going_back_has_cost_and_draws_both_worlds) {
    const ToolResult result = run({"--ships", "500", "--frames", "90", "--fast", "--picture", path("duel.svg")});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.err, "");
    for (const char* line :
         {"played 90 frames with ", "\nframe, median ", "\nframe, 99th of 100 ", "\nrollbacks ", "\nframes back, mean ",
          "\nframes back, most ", "\nrewind and replay, mean ", "\nstate hash ", "\nequal ", "\npicture "})
        EXPECT_TRUE(result.prints(line)) << line << " is not in\n" << result.out;
    EXPECT_EQ(shoal_test::XmlCheck::problem(read(path("duel.svg"))), "");
}

TEST_F(DuelProgram, says_the_same_as_json_and_both_hashes_are_equal) {
    const ToolResult result = run({"--ships=400", "--frames=120", "--fast", "--loss=0.4", "--join=20", "--json"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const nlohmann::json json = result.json();
    EXPECT_EQ(json["frames"], 120);
    ASSERT_EQ(json["peers"].size(), 2u);
    EXPECT_EQ(json["peers"][0]["state_hash"], json["peers"][1]["state_hash"]);
    EXPECT_GE(json["peers"][1]["snapshot_frame"], 20);
    EXPECT_LE(json["peers"][0]["frames_back_most"], 8);
    EXPECT_GT(json["peers"][0]["datagrams_lost"], 0);
}

TEST_F(DuelProgram, ends_with_one_and_names_the_value_when_the_worlds_differ) {
    const ToolResult result =
        run({"--ships=300", "--frames=100", "--fast", "--sabotage=50", "--picture", path("differs.svg")});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_EQ(result.out, "");
    EXPECT_TRUE(result.says("the worlds differ since frame 50: ship.reload of entity ")) << result.err;
    EXPECT_EQ(shoal_test::XmlCheck::problem(read(path("differs.svg"))), "") << "both worlds, as they were then";
}

TEST_F(DuelProgram, wrong_usage_is_told_and_ends_with_two) {
    const auto tells = [&](std::vector<std::string> words, std::string_view message) {
        const ToolResult result = run(words);
        EXPECT_EQ(result.exit_code, 2) << result.err;
        EXPECT_EQ(result.out, "");
        EXPECT_TRUE(result.says(message)) << result.err;
    };
    tells({"--los", "0.3"}, "there is no option \"--los\"; did you mean --loss?");
    tells({"--loss", "1.5"}, "--loss takes a number from 0 to 0.9, not \"1.5\"");
    tells({"--loss", "nan"}, "--loss takes a number from 0 to 0.9, not \"nan\"");
    tells({"--delay", "9"}, "--delay takes a whole number from 0 to 8, not \"9\"");
    tells({"--frames=30", "--join=30"},
          "--join 30 is not before the end of the match; take at most 29, or more --frames");
    tells({"--frames=30", "--sabotage=31"}, "--sabotage 31 is not before the end of the match");
    tells({"--fast=yes"}, "--fast takes no value; write it alone");
}

TEST_F(DuelProgram, a_picture_that_cannot_be_written_is_told_before_the_match) {
    const ToolResult folder = run({"--ships", "10", "--picture", path("no/such/folder.svg")});
    EXPECT_EQ(folder.exit_code, 1);
    EXPECT_TRUE(folder.says("no/such/folder.svg")) << folder.err;
    const ToolResult help = run({"--help"});
    EXPECT_EQ(help.exit_code, 0);
    EXPECT_TRUE(help.prints("--sabotage FRAME"));
}

}  // namespace
