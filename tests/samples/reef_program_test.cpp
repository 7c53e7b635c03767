#include "inspect/xml_check.h"
#include "safety/child_process.h"
#include "tool/tool_process.h"

#include <chrono>
#include <thread>
#include <vector>

namespace {

using shoal_test::ToolResult;

/// The program in place of the tool.
class ReefProgram : public shoal_test::ToolTest {};

TEST_F(ReefProgram, prints_what_it_cost_and_draws_a_picture) {
    const ToolResult result = run({"--fish", "500", "--frames", "5", "--picture", path("sea.svg"), "--trace",
                                   path("frames.json"), "--workers", "2"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(result.err, "");
    for (const char* line : {"\nflock ", "\nhunt ", "\ncross ", "\nsettle ", "\nplace ", "\ntransform ", "\nzones ",
                             "\nstate hash  0x", "\npicture ", "\ntrace ", "5 frames with 500 fish on 2 workers"})
        EXPECT_TRUE(result.prints(line)) << line << " is not in\n" << result.out;
    EXPECT_EQ(shoal_test::XmlCheck::problem(read(path("sea.svg"))), "");
    EXPECT_TRUE(nlohmann::json::parse(read(path("frames.json")), nullptr, false)["traceEvents"].is_array());
}

TEST_F(ReefProgram, exports_the_component_types_of_cpp_and_of_its_schema_file) {
    const std::string exported = path("sea.schema.sjson");
    const ToolResult result = run({"--fish", "100", "--frames", "1", "--export-schema", exported});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    for (const char* type : {"\tswim = {", "\tcoral = {", "\ttransform = {"})
        EXPECT_NE(read(exported).find(type), std::string::npos) << type << " is not in\n" << read(exported);
}

TEST_F(ReefProgram, says_the_same_as_json_for_every_number_of_workers) {
    std::string first;
    for (const char* workers : {"1", "2", "3", "8"}) {
        const nlohmann::json json = run({"--fish=800", "--frames=20", "--workers", workers, "--json"}).json();
        EXPECT_EQ(json["fish"], 800);
        EXPECT_EQ(json["frames"], 20);
        if (first.empty()) first = json["state_hash"];
        EXPECT_EQ(json["state_hash"], first) << workers;
    }
}

// req: H5
TEST_F(ReefProgram, says_the_same_for_every_number_of_ranks) {
    if (run({"--fish=1", "--frames=1", "--ranks=1"}).says("built without MPI")) GTEST_SKIP() << "there is no MPI";
    std::string first;
    for (const char* ranks : {"1", "2", "3"}) {
        const nlohmann::json json = run({"--fish=2000", "--frames=30", "--workers=1", "--ranks", ranks, "--picture",
                                         path("ranks.svg"), "--json"})
                                        .json();
        EXPECT_EQ(json["ranks"].size(), std::stoul(ranks));
        if (first.empty()) first = json["state_hash"];
        EXPECT_EQ(json["state_hash"], first) << ranks;
        EXPECT_EQ(shoal_test::XmlCheck::problem(read(path("ranks.svg"))), "");
    }
    EXPECT_EQ(run({"--ranks=2", "--watch"}).exit_code, 2);
    const ToolResult inspected = run({"--fish=500", "--frames=3", "--workers=1", "--ranks=2", "--inspect=0"});
    EXPECT_TRUE(inspected.says("without the inspector") ||
                (inspected.exit_code == 0 && inspected.says("inspect at http://127.0.0.1:")))
        << inspected.err;
}

// req: A1
TEST_F(ReefProgram, ends_in_the_same_state_when_a_plugin_swims) {
    const std::string own = run({"--fish=800", "--frames=40", "--workers=1", "--json"}).json()["state_hash"];
    for (const char* workers : {"1", "3"}) {
        const ToolResult result =
            run({"--fish=800", "--frames=40", "--workers", workers, "--plugin", REEF_PLUGIN, "--json"});
        ASSERT_EQ(result.exit_code, 0) << result.err;
        EXPECT_EQ(result.json()["state_hash"], own) << workers;
    }
    const ToolResult other = run({"--fish=100", "--frames=1", "--plugin", SPIN_PLUGIN});
    EXPECT_EQ(other.exit_code, 1);
    EXPECT_NE(other.err.find("has no pass \"swim\""), std::string::npos) << other.err;
}

TEST_F(ReefProgram, reloads_what_is_edited_while_it_runs) {
    const std::string sources = path("sources"), output = write("output", "");
    std::filesystem::copy(SHOAL_SOURCE_DIR "/samples/reef", sources, std::filesystem::copy_options::recursive);
    shoal_test::ChildProcess process({SHOAL_TOOL, "--fish", "300", "--workers", "2", "--watch", "--sources", sources},
                                     output);
    const auto waits_for = [&](std::string_view text) {
        while (process.runs() && read(output).find(text) == std::string::npos)
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        return read(output).find(text) != std::string::npos;
    };
    const auto edit = [&](const std::string& name, std::string_view from, std::string_view to) {
        std::string text = read(sources + name);
        const std::size_t at = text.find(from);
        ASSERT_NE(at, std::string::npos) << name;
        ASSERT_TRUE(shoal::write_file(sources + name, text.replace(at, from.size(), to)).ok());
    };
    ASSERT_TRUE(waits_for("interrupt to end\n")) << read(output);
    edit("/sea.sjson", "[190 -150 -5]", "[190 -151 -5]");
    ASSERT_TRUE(waits_for("reloaded sea (1 changed, 0 new, 0 gone")) << read(output);
    edit("/sea.sjson", "bommie_06 = {", "bommie_06 = { colour = 3 ");
    ASSERT_TRUE(waits_for("the sea stays as it is\n")) << read(output);
    edit("/sea.sjson", "bommie_06 = { colour = 3 ", "bommie_06 = {");  // mended, as it was
    ASSERT_TRUE(waits_for("say what they said before\n")) << read(output);
    const std::size_t num_told = read(output).size();
    edit("/sea.sjson", "bommie_06 = {", "bommie_06 = { colour = 3 ");
    while (process.runs() && read(output).find("the sea stays as it is\n", num_told) == std::string::npos)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_NE(read(output).find("colour", num_told), std::string::npos) << "told again: " << read(output);
    process.kill(SIGINT);
    EXPECT_EQ(process.wait(), 0);
    EXPECT_TRUE(waits_for("state hash")) << read(output);
}

TEST_F(ReefProgram, wrong_usage_is_told_and_ends_with_two) {
    const auto tells = [&](std::vector<std::string> words, std::string_view message) {
        const ToolResult result = run(words);
        EXPECT_EQ(result.exit_code, 2) << result.err;
        EXPECT_EQ(result.out, "");
        EXPECT_TRUE(result.says(message)) << result.err;
    };
    tells({"--fishes", "3"}, "there is no option \"--fishes\"; did you mean --fish?");
    tells({"--fish"}, "--fish needs a value: --fish N");
    tells({"--fish", "many"}, "--fish takes a whole number from 0 to 2000000, not \"many\"");
    tells({"--workers", "-1"}, "--workers takes a whole number from 0 to 1024, not \"-1\"");
    tells({"--json=yes"}, "--json takes no value; write it alone");
    tells({"--picture=sea.png"}, "--picture writes SVG, and the name of its file ends with .svg, not \"sea.png\"");
    tells({"sea"}, "there is no option \"sea\"");
}

TEST_F(ReefProgram, what_cannot_be_read_or_written_is_told_and_ends_with_one) {
    const ToolResult nowhere = run({"--sources", path("nothing")});
    EXPECT_EQ(nowhere.exit_code, 1);
    EXPECT_TRUE(nowhere.says("reef.schema.sjson")) << nowhere.err;
    const ToolResult folder = run({"--fish", "0", "--frames", "1", "--picture", path("no/such/folder.svg")});
    EXPECT_EQ(folder.exit_code, 1);
    EXPECT_TRUE(folder.says("no/such/folder.svg")) << folder.err;
    const ToolResult help = run({"--help"});
    EXPECT_EQ(help.exit_code, 0);
    EXPECT_TRUE(help.prints("--picture FILE.svg"));
}

}  // namespace
