// Reports that the tool writes of runs, saves and recordings, and the commands of the guide's page about them.

#include "tool/tool_process.h"

#include <gtest/gtest.h>

#include <sstream>

namespace {

using shoal_test::ToolResult;

class ToolReport : public shoal_test::ToolTest {
protected:
    /// A save of kReef after two frames.
    std::string reef_save() const {
        EXPECT_EQ(run({"run", reef_blob(), "--frames", "2", "--save", path("reef.save")}).exit_code, 0);
        return path("reef.save");
    }
    std::string reef_recording() const {
        EXPECT_EQ(run({"run", reef_blob(), "--frames", "2", "--record", path("reef.rec")}).exit_code, 0);
        return path("reef.rec");
    }
    static void expect_page(const std::string& html, std::initializer_list<std::string_view> texts) {
        EXPECT_TRUE(html.starts_with("<!DOCTYPE html>"));
        EXPECT_TRUE(html.ends_with("</html>\n"));
        EXPECT_LT(html.size(), 2'000'000u);
        for (const std::string_view text : texts) EXPECT_NE(html.find(text), std::string::npos) << text;
    }
};

TEST_F(ToolReport, of_a_run_has_its_passes_its_last_frame_and_its_state_hash) {
    const ToolResult result =
        run({"run", reef_blob(), "--frames", "3", "--workers", "1", "--report", path("reef.html"), "--json"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.json()["report"], path("reef.html"));
    expect_page(read(path("reef.html")), {"<title>reef</title>", "<dd>3 of 16.7 ms</dd>", "<dt>Workers</dt><dd>1</dd>",
                                          ">simulate<", ">bounds<", "Frame 2, which took", ">settle<", ">point_mass<",
                                          "class=\"places\"", result.json()["state_hash"].get<std::string>()});
}

TEST_F(ToolReport, of_a_save_has_no_passes) {
    const ToolResult result = run({"report", reef_save(), "-o", path("save.html")});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_TRUE(result.prints("report      " + path("save.html"))) << result.out;
    EXPECT_EQ(result.out.find("component "), std::string::npos) << "facts are for --text";
    expect_page(read(path("save.html")),
                {"<title>reef</title>", "The world has no passes; a save has none.", "<dd>3</dd>", ">point_mass<"});
}

TEST_F(ToolReport, of_a_recording_is_that_of_its_run) {
    const ToolResult result = run({"report", reef_recording(), "-o", path("rec.html")});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    expect_page(read(path("rec.html")), {"<dd>2 of 16.7 ms</dd>", ">simulate<", "Frame 1, which took"});
}

TEST_F(ToolReport, of_a_level_runs_it) {
    const ToolResult result = run({"report", reef_blob(), "-o", "-", "--frames", "4"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    expect_page(result.out, {"<dd>4 of 16.7 ms</dd>", ">move<"});
    EXPECT_TRUE(result.says("report      standard output")) << result.err;
}

TEST_F(ToolReport, as_text_is_what_a_run_prints) {
    const ToolResult played = run({"report", reef_recording(), "--text"});
    ASSERT_EQ(played.exit_code, 0) << played.err;
    for (const char* text : {"loaded 3 entities", "ran 2 frames", "\nsimulate ", "\npoint_mass ", "\nstate hash  0x"})
        EXPECT_TRUE(played.prints(text)) << text << "\n" << played.out;
    const ToolResult saved = run({"report", reef_save(), "--text"});
    ASSERT_EQ(saved.exit_code, 0) << saved.err;
    for (const char* text : {"3 entities live, frame 2\n", "\npoint_mass ", "\ntotal "})
        EXPECT_TRUE(saved.prints(text)) << text << "\n" << saved.out;
    const ToolResult both = run({"report", path("reef.save"), "--text", "-o", path("both.html")});
    EXPECT_TRUE(both.prints("report      " + path("both.html"))) << both.out;
    EXPECT_TRUE(both.prints("\npoint_mass ")) << both.out;
}

TEST_F(ToolReport, of_nothing_or_to_another_file_is_wrong_usage) {
    const ToolResult nothing = run({"report", reef_save()});
    EXPECT_EQ(nothing.exit_code, 2);
    EXPECT_TRUE(nothing.says("say what to write: -o FILE.html for a page, or --text")) << nothing.err;
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"report", path("reef.save"), "-o", path("r.pdf")},
          {"report", path("reef.blob"), "-o", path("r.pdf")},
          {"run", path("reef.blob"), "--report", path("r.pdf")},
          {"replay", path("reef.rec"), "--report", path("r.pdf")}}) {
        const ToolResult result = run(words);
        EXPECT_EQ(result.exit_code, 2) << words[0];
        EXPECT_TRUE(result.says("a report is a page of HTML, and \"" + path("r.pdf") + "\" does not end in .html"))
            << result.err;
        EXPECT_FALSE(std::filesystem::exists(path("r.pdf")));
    }
}

TEST_F(ToolReport, that_cannot_be_written_or_read_is_an_error) {
    for (const std::vector<std::string>& words :
         {std::vector<std::string>{"report", reef_save(), "-o", path("no/r.html")},
          {"run", path("reef.blob"), "--frames", "1", "--report", path("no/r.html")}}) {
        const ToolResult result = run(words);
        EXPECT_EQ(result.exit_code, 1) << words[0];
        EXPECT_TRUE(result.says("a file in a folder that can be written")) << result.err;
    }
    EXPECT_EQ(run({"report", path("none.save"), "-o", path("r.html")}).exit_code, 1);
    const std::string save = read(path("reef.save"));
    EXPECT_EQ(run({"report", write("cut.save", save.substr(0, save.size() / 2)), "-o", path("r.html")}).exit_code, 1);
    EXPECT_FALSE(std::filesystem::exists(path("r.html")));
}

/// The lines of the blocks of commands in a page that begin with `shoal`, without their remarks.
std::vector<std::string> commands_in(const std::string& page) {
    std::vector<std::string> commands;
    std::istringstream lines(page);
    bool is_shell = false;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("```")) is_shell = line == "```sh";
        if (is_shell && line.starts_with("shoal ")) commands.push_back(line.substr(0, line.find(" #")));
    }
    return commands;
}

TEST_F(ToolReport, the_commands_of_the_guide_work_in_their_order) {
    reef_blob();
    const std::vector<std::string> commands = commands_in(read(SHOAL_SOURCE_DIR "/docs/guide/reports.md"));
    EXPECT_GE(commands.size(), 8u);
    for (const std::string& command : commands) {
#if !SHOAL_TOOL_HAS_PNG
        if (command.find(".png") != std::string::npos) continue;
#endif
        const std::string line = "cd " + shoal_test::shell_quoted(path("")) + " && " +
                                 shoal_test::shell_quoted(SHOAL_TOOL) + command.substr(5) + " >said 2>&1";
        EXPECT_EQ(std::system(line.c_str()), 0) << command << "\n" << read(path("said"));
    }
}

}  // namespace
