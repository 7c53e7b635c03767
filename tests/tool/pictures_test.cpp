// Pictures that the tool writes, in the format that the name of the file says.

#include "inspect/xml_check.h"
#include "tool/tool_process.h"

#include <gtest/gtest.h>

namespace {

using shoal_test::ToolResult;

class ToolPictures : public shoal_test::ToolTest {
protected:
    ToolResult run_to(std::string_view flag, const std::string& file) const {
        return run({"run", reef_blob(), "--frames", "2", std::string(flag), file});
    }
};

TEST_F(ToolPictures, the_schedule_is_drawn_with_its_reasons_and_times) {
    const ToolResult result = run_to("--schedule", path("passes.svg"));
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const std::string svg = read(path("passes.svg"));
    EXPECT_EQ(shoal_test::XmlCheck::problem(svg), "");
    for (const char* text : {">reef<", ">simulate<", ">move<", ">transforms<", ">bounds<", ">everything<", " ms<",
                             "4 passes; mean times of 2 frames"})
        EXPECT_NE(svg.find(text), std::string::npos) << text;
    EXPECT_TRUE(result.prints("schedule    " + path("passes.svg") + ", 4 passes\n")) << result.out;
}

TEST_F(ToolPictures, the_schedule_is_written_for_graphviz) {
    const ToolResult result = run_to("--schedule", path("passes.dot"));
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const std::string dot = read(path("passes.dot"));
    EXPECT_TRUE(dot.starts_with("digraph schedule {")) << dot;
    EXPECT_NE(dot.find("p0 -> p1 [label=\"everything\"]"), std::string::npos) << dot;
}

TEST_F(ToolPictures, a_dash_is_svg_on_standard_output) {
    const ToolResult result = run_to("--schedule", "-");
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(shoal_test::XmlCheck::problem(result.out), "");
    EXPECT_NE(result.out.find("class=\"schedule\""), std::string::npos);
}

TEST_F(ToolPictures, a_replay_draws_its_schedule) {
    ASSERT_EQ(run({"run", reef_blob(), "--frames", "2", "--record", path("reef.rec")}).exit_code, 0);
    const ToolResult result = run({"replay", path("reef.rec"), "--schedule", path("passes.svg"), "--json"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.json()["schedule"], path("passes.svg"));
    EXPECT_NE(read(path("passes.svg")).find(">bounds<"), std::string::npos);
}

TEST_F(ToolPictures, a_name_that_ends_otherwise_is_wrong_usage) {
    const std::pair<const char*, const char*> flags[] = {
        {"--picture", "the file ends in, .svg or .png, and \""},
        {"--schedule", "the file ends in, .svg, .png or .dot, and \""}};
    for (const auto& [flag, endings] : flags)
        for (const char* name : {"reef.jpg", "reef", "svg", "reef.svg.gz"}) {
            const ToolResult result = run_to(flag, path(name));
            EXPECT_EQ(result.exit_code, 2) << name;
            EXPECT_TRUE(result.says(endings + path(name) + "\" ends in none of them")) << result.err;
            EXPECT_FALSE(std::filesystem::exists(path(name)));
        }
    EXPECT_EQ(run_to("--picture", path("reef.dot")).exit_code, 2) << "a picture of places is not a graph";
    EXPECT_EQ(run({"replay", path("none.rec"), "--schedule", path("a.gif")}).exit_code, 2);
}

TEST_F(ToolPictures, a_picture_that_cannot_be_written_is_an_error) {
    for (const char* name : {"no/passes.svg", "no/passes.dot"}) {
        const ToolResult result = run_to("--schedule", path(name));
        EXPECT_EQ(result.exit_code, 1);
        EXPECT_TRUE(result.says("give --schedule a file in a folder that can be written")) << result.err;
    }
}

#if SHOAL_TOOL_HAS_PNG

/// Width or height of a PNG file: big-endian, in its first chunk.
std::uint32_t side_of(const std::string& png, std::size_t offset) {
    std::uint32_t side = 0;
    for (std::size_t i = 0; i < 4; ++i) side = side << 8 | static_cast<unsigned char>(png[offset + i]);
    return side;
}

TEST_F(ToolPictures, a_png_has_two_pixels_for_each_of_the_svg) {
    for (const std::string flag : {"--picture", "--schedule"}) {
        const ToolResult result = run_to(flag, path("reef.png"));
        ASSERT_EQ(result.exit_code, 0) << result.err;
        ASSERT_EQ(run_to(flag, path("reef.svg")).exit_code, 0);
        const std::string png = read(path("reef.png")), svg = read(path("reef.svg"));
        ASSERT_TRUE(png.starts_with("\x89PNG\r\n\x1a\n")) << flag;
        const std::string size = " width=\"" + std::to_string(side_of(png, 16) / 2) + "\" height=\"" +
                                 std::to_string(side_of(png, 20) / 2) + "\"";
        EXPECT_NE(svg.find(size), std::string::npos) << flag << size;
        EXPECT_GT(png.size(), 5000u) << flag << ": there is something in it";
    }
}

TEST_F(ToolPictures, a_png_that_cannot_be_written_is_an_error) {
    const ToolResult result = run_to("--picture", path("no/reef.png"));
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_TRUE(result.says("give --picture a file in a folder that can be written")) << result.err;
}

#else

TEST_F(ToolPictures, a_png_without_the_library_says_what_to_install) {
    const ToolResult result = run_to("--picture", path("reef.png"));
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_TRUE(result.says("install librsvg2-dev and build it again, or give --picture a name that ends in .svg"))
        << result.err;
    EXPECT_FALSE(std::filesystem::exists(path("reef.png")));
}

#endif

}  // namespace
