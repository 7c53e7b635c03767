// Recordings in the tool: runs that are recorded, played again, and compared.

#include "shoal/save/recording.h"

#include "tool/tool_process.h"

#include <algorithm>
#include <fstream>
#include <vector>

namespace {

using shoal_test::kReef;
using shoal_test::ToolResult;

class ToolReplay : public shoal_test::ToolTest {
protected:
    bool has_scripts() const {
        return !run({"schema", "--lua-types", write("reef.sjson", kReef)}).says("built without LuaJIT");
    }
    /// A script with a pass that moves point masses by `step`, and in frame 7 the first one by `odd_step`.
    std::string drift(const std::string& odd_step) const {
        return write("drift.lua",
                     "local frames = 0\n"
                     "shoal.pass{name = 'drift', query = '&point_mass', columns = {'point_mass.velocity'},\n"
                     "           run = function(frame, batch, velocity)\n"
                     "    frames = frames + 1\n"
                     "    for i = 0, batch.count - 1 do velocity.y[i] = velocity.y[i] + 1 end\n"
                     "    if frames == 7 then velocity.y[0] = velocity.y[0] + " +
                         odd_step + " end\nend}\n");
    }
    std::string record(const std::vector<std::string>& more = {}) const {
        std::vector<std::string> words{"run",           write("reef.sjson", kReef), "--frames", "12", "--record",
                                       path("reef.rec")};
        words.insert(words.end(), more.begin(), more.end());
        const ToolResult result = run(words);
        EXPECT_EQ(result.exit_code, 0) << result.err;
        return path("reef.rec");
    }
};

TEST_F(ToolReplay, a_recording_is_played_again_alike_from_itself_alone_with_any_number_of_workers) {
    const std::string reef = write("reef.sjson", kReef);
    const ToolResult recorded =
        run({"run", reef, "--frames", "12", "--repeat", "5", "--seed", "9", "--record", path("reef.rec"), "--json"});
    ASSERT_EQ(recorded.exit_code, 0) << recorded.err;
    EXPECT_EQ(recorded.json()["recording"], path("reef.rec"));
    EXPECT_EQ(recorded.json()["recording_bytes"], std::filesystem::file_size(path("reef.rec")));
    std::filesystem::remove(reef);
    for (const char* workers : {"1", "3"}) {
        const ToolResult equal = run({"replay", path("reef.rec"), "--verify", "--workers", workers});
        EXPECT_EQ(equal.exit_code, 0) << equal.err;
        EXPECT_TRUE(equal.prints("reef.rec: 12 frames are equal to the recording\nstate hash  0x")) << equal.out;
    }
    const nlohmann::json verified = run({"replay", path("reef.rec"), "--verify", "--json"}).json();
    EXPECT_EQ(verified["different"], false);
    EXPECT_EQ(verified["frames"], 12);
    EXPECT_EQ(verified["state_hash"], recorded.json()["state_hash"]);
    const ToolResult shown = run({"replay", path("reef.rec"), "--json", "--query", "point_mass"});
    ASSERT_EQ(shown.exit_code, 0) << shown.err;
    EXPECT_EQ(shown.json()["state_hash"], recorded.json()["state_hash"]);
    EXPECT_EQ(shown.json()["entities"], recorded.json()["entities"]);
    EXPECT_EQ(shown.json()["bounds"], recorded.json()["bounds"]);
    EXPECT_EQ(shown.json()["passes"].size(), recorded.json()["passes"].size());
    EXPECT_EQ(shown.json()["matches"].size(), 15u);
    const ToolResult part = run({"replay", path("reef.rec"), "--verify", "--frames", "5"});
    EXPECT_TRUE(part.prints("5 frames are equal")) << part.out;
    EXPECT_NE(run({"replay", path("reef.rec"), "--frames", "5", "--json"}).json()["state_hash"],
              recorded.json()["state_hash"]);
}

TEST_F(ToolReplay, a_run_that_began_with_a_save_is_recorded_from_there) {
    const std::string reef = write("reef.sjson", kReef), half = path("half.save"), recording = path("half.rec");
    ASSERT_EQ(run({"run", reef, "--frames", "7", "--save", half}).exit_code, 0);
    const ToolResult recorded = run({"run", reef, "--frames", "5", "--load", half, "--record", recording, "--json"});
    ASSERT_EQ(recorded.exit_code, 0) << recorded.err;
    std::filesystem::remove(half);
    const ToolResult equal = run({"replay", recording, "--verify", "--json"});
    ASSERT_EQ(equal.exit_code, 0) << equal.err;
    EXPECT_EQ(equal.json()["state_hash"], recorded.json()["state_hash"]);
    const std::string save = path("end.save"), whole = path("whole.save");
    EXPECT_EQ(run({"replay", recording, "--save", save}).exit_code, 0);
    EXPECT_EQ(run({"run", reef, "--frames", "12", "--save", whole}).exit_code, 0);
    EXPECT_EQ(run({"diff", save, whole}).out, "");
}

TEST_F(ToolReplay, a_run_that_differs_is_told_with_frame_pass_field_entity_and_both_values) {
    if (!has_scripts()) GTEST_SKIP() << "there are no scripts";
    const std::string script = drift("0");
    const std::string recording = record({"--script", script});
    const auto verify = [&](const std::vector<std::string>& more) {
        std::vector<std::string> words{"replay", recording, "--verify", "--recorded-code"};
        words.insert(words.end(), more.begin(), more.end());
        return run(words);
    };
    EXPECT_EQ(verify({}).exit_code, 0);
    drift("2.5");
    for (const char* workers : {"1", "3"}) {
        const ToolResult different = verify({"--workers", workers});
        EXPECT_EQ(different.exit_code, 3) << different.err;
        EXPECT_EQ(different.out,
                  "frame 7, pass \"drift\": point_mass.velocity of entity 1:1 is [1.0 9.5 0.0] here and [1.0 7.0 0.0] "
                  "in the recording; 4 other values differ too\n");
        EXPECT_TRUE(different.says("drift.lua\" is not what it was when this was recorded")) << different.err;
    }
    const nlohmann::json json = verify({"--json"}).json();
    EXPECT_EQ(json["different"], true);
    EXPECT_EQ(json["difference"]["frame"], 7);
    EXPECT_EQ(json["difference"]["pass"], "drift");
    EXPECT_EQ(json["difference"]["component"], "point_mass");
    EXPECT_EQ(json["difference"]["field"], "velocity");
    EXPECT_EQ(json["difference"]["entity"], "1:1");
    EXPECT_EQ(json["difference"]["here"], "[1.0 9.5 0.0]");
    EXPECT_EQ(json["difference"]["recorded"], "[1.0 7.0 0.0]");
    EXPECT_EQ(json["warnings"], 1);
    EXPECT_EQ(verify({"--frames", "6"}).exit_code, 0) << "until then all is equal";
    EXPECT_EQ(run({"replay", recording, "--recorded-code"}).exit_code, 0) << "who does not ask is not told";
    std::filesystem::rename(script, path("moved.lua"));
    EXPECT_EQ(verify({}).exit_code, 1);
    EXPECT_EQ(run({"replay", recording, "--verify", "--script", path("moved.lua")}).exit_code, 3);
}

TEST_F(ToolReplay, code_that_a_recording_names_is_not_loaded_unless_the_user_says_so) {
    const std::string plugin = std::string(SHOAL_SAMPLE_PLUGINS) + "spin.so", script = drift("0");
    std::vector<std::string> code{"--plugin", plugin};
    if (has_scripts()) code.insert(code.end(), {"--script", script});
    const std::string recording = record(code);
    const std::string named_script = has_scripts() ? ", script \"" + script + "\"" : "";
    write("drift.lua", "this is not Lua");
    for (const std::vector<std::string>& more : {std::vector<std::string>{}, {"--verify"}, {"--json"}}) {
        std::vector<std::string> words{"replay", recording};
        words.insert(words.end(), more.begin(), more.end());
        const ToolResult refused = run(words);
        EXPECT_EQ(refused.exit_code, 1);
        EXPECT_TRUE(
            refused.says("reef.rec: the recording names code, which is not loaded unless you allow it: plugin \"" +
                         plugin + "\"" + named_script))
            << refused.err;
        EXPECT_TRUE(refused.says("add --recorded-code; or give the files to load with --plugin and --script"))
            << refused.err;
        EXPECT_FALSE(refused.says("is not what it was")) << "the file was not read: " << refused.err;
    }
    if (has_scripts()) {
        const ToolResult one = run({"replay", recording, "--plugin", plugin});
        EXPECT_EQ(one.exit_code, 1);
        EXPECT_TRUE(one.says("unless you allow it: script \"" + script + "\"; if you trust")) << one.err;
        drift("0");
        const std::string other = path("other.lua");
        std::filesystem::copy_file(script, other);
        EXPECT_EQ(run({"replay", recording, "--verify", "--plugin", plugin, "--script", other}).exit_code, 0);
        EXPECT_EQ(run({"replay", recording, "--verify", "--recorded-code", "--script", other}).exit_code, 0);
    }
    EXPECT_EQ(run({"replay", recording, "--verify", "--recorded-code"}).exit_code, 0);
}

TEST_F(ToolReplay, a_plugin_is_loaded_from_where_it_was) {
    const std::string plugin = std::string(SHOAL_SAMPLE_PLUGINS) + "spin.so";
    const std::string recording = record({"--plugin", plugin});
    EXPECT_EQ(run({"replay", recording, "--verify", "--recorded-code"}).exit_code, 0);
    EXPECT_EQ(run({"replay", recording, "--verify", "--plugin", plugin}).exit_code, 0);
    const nlohmann::json shown = run({"replay", recording, "--json", "--recorded-code"}).json();
    EXPECT_EQ(shown["plugins"].size(), 1u);
    const ToolResult other = run({"replay", recording, "--verify", "--plugin", path("none.so")});
    EXPECT_EQ(other.exit_code, 1) << other.out;
}

TEST_F(ToolReplay, a_damaged_recording_is_an_error_and_what_is_whole_can_be_played) {
    const std::string whole = read(record());
    const auto damaged = [&](const std::string& bytes) { return run({"replay", write("bad.rec", bytes), "--verify"}); };
    const ToolResult cut = damaged(whole.substr(0, whole.size() - 5));
    EXPECT_EQ(cut.exit_code, 1);
    EXPECT_TRUE(cut.says("bad.rec: the recording is damaged after 11 frames: record 12 at byte ")) << cut.err;
    EXPECT_TRUE(cut.says("; what is whole is played with --frames 11")) << cut.err;
    EXPECT_EQ(run({"replay", path("bad.rec"), "--verify", "--frames", "11"}).exit_code, 0);
    std::uint32_t random = 1;
    for (int i = 0; i < 12; ++i) {
        random = random * 1'664'525 + 1'013'904'223;
        const std::size_t at = i < 4 ? std::size_t(i) * 10 : random % whole.size();
        std::string bytes = whole;
        bytes[at] = char(bytes[at] ^ 0x20);
        const ToolResult flipped = damaged(bytes);
        EXPECT_EQ(flipped.exit_code, 1) << "byte " << at << ": " << flipped.out;
        EXPECT_TRUE(flipped.says("bad.rec: ")) << flipped.err;
        EXPECT_EQ(damaged(whole.substr(0, random % (whole.size() / 2))).exit_code, 1);
    }
}

/// Records a world of another program than the tool.
void record_with_setup(const std::string& path, const std::string& setup) {
    shoal::EntityManager entities;
    shoal::World world(entities);
    shoal::Recorder recorder(world);
    ASSERT_TRUE(recorder.start(path, std::as_bytes(std::span(setup))).ok());
    recorder.step(1);
    ASSERT_TRUE(recorder.stop().ok());
}

TEST_F(ToolReplay, a_recording_whose_frames_are_of_no_time_that_a_run_can_have_is_refused) {
    for (const std::string dt : {"1e300", "-1", "3601"}) {
        record_with_setup(path("bad.rec"),
                          R"({"program": "shoal", "level": "reef", "level_bytes": 0, "dt": )" + dt + "}");
        const ToolResult result = run({"replay", path("bad.rec")});
        EXPECT_EQ(result.exit_code, 1);
        EXPECT_TRUE(result.says("bad.rec: the recording has frames of ")) << result.err;
        EXPECT_TRUE(result.says(" seconds, which are from 0 to 3600; record it again")) << result.err;
    }
}

TEST_F(ToolReplay, a_recording_that_takes_more_memory_than_it_may_names_the_flag) {
    const std::string recording = record();
    const ToolResult refused = run({"replay", recording, "--max-memory", "1K"});
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_TRUE(
        refused.says("reef.rec: record 0 at byte 40: its state is larger than 1024 bytes; if you trust its source, "
                     "give --max-memory a larger SIZE\n"))
        << refused.err;
    EXPECT_EQ(run({"replay", recording, "--max-memory", "1M", "--verify"}).exit_code, 0);
}

TEST_F(ToolReplay, a_recording_of_another_program_is_refused) {
    record_with_setup(path("game.rec"), "not the tool");
    const ToolResult result = run({"replay", path("game.rec")});
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_TRUE(result.says("game.rec: the recording was not made by `shoal run --record`; play it with"))
        << result.err;
}

TEST_F(ToolReplay, what_is_written_frame_by_frame_needs_a_file_of_its_own) {
    const std::string reef = write("reef.sjson", kReef);
    EXPECT_EQ(run({"run", reef, "--record", "-"}).exit_code, 2);
    EXPECT_EQ(run({"run", reef, "--record", path("reef.rec"), "--watch"}).exit_code, 2);
    EXPECT_EQ(run({"run", reef, "--record", reef}).exit_code, 1);
    EXPECT_EQ(run({"run", reef, "--record", path("nowhere/reef.rec")}).exit_code, 1);
    EXPECT_EQ(read(reef), kReef);
    const std::string recording = record();
    std::filesystem::create_symlink("reef.rec", path("link.rec"));
    EXPECT_EQ(run({"run", reef, "--frames", "2", "--record", path("link.rec")}).exit_code, 0);
    EXPECT_TRUE(std::filesystem::is_symlink(path("link.rec")));
    EXPECT_TRUE(run({"replay", recording, "--verify"}).prints("2 frames are equal"))
        << "the file that the link leads to";
    EXPECT_EQ(run({"replay", recording, "--save", recording}).exit_code, 1);
}

}  // namespace
