// Writing that fails or is killed: the old file is whole, and nothing that was left behind does harm.

#include "safety/child_process.h"
#include "shoal/base/clock.h"
#include "shoal/base/text.h"
#include "support/kills.h"
#include "support/testing.h"
#include "tool/tool_process.h"

#include <chrono>
#include <csignal>
#include <iterator>
#include <thread>

namespace {

namespace fs = std::filesystem;
using shoal_test::ChildProcess;
using shoal_test::shell_quoted;
using shoal_test::ToolResult;

/// A level of `count` entities whose blob differs from that of another `mass`.
std::string level_of(std::int64_t count, int mass) {
    const std::string entity =
        shoal::concat("{ components = { point_mass = { mass = ", mass, " } debug_name = \"anna\" } }\n");
    std::string text = "entities = [\n";
    for (; count > 0; --count) text += entity;
    return text + "]\n";
}

class SafetyFiles : public shoal_test::ToolTest {
protected:
    std::string compile(const std::string& source, const std::string& blob) const {
        const ToolResult result = run({"compile", source, "-o", path(blob)});
        EXPECT_EQ(result.exit_code, 0) << result.err;
        return read(path(blob));
    }
    std::size_t num_files(const std::string& folder) const {
        return static_cast<std::size_t>(std::distance(fs::directory_iterator(path(folder)), fs::directory_iterator()));
    }
};

TEST_F(SafetyFiles, a_path_that_cannot_be_written_is_an_error_and_leaves_nothing) {
    const std::string source = write("reef.sjson", shoal_test::kReef);
    fs::create_directories(path("out/folder.blob"));
    write("out/file", "kept");
    for (const std::string& output :
         {path("out/no/such/folder/a.blob"), path("out/folder.blob"), path("out/file/a.blob"),
          path("out/" + std::string(300, 'x')), std::string("/proc/self/a.blob")}) {
        const ToolResult result = run({"compile", source, "-o", output});
        EXPECT_EQ(result.exit_code, 1) << output;
        EXPECT_EQ(result.out, "");
        EXPECT_TRUE(result.says("error: cannot write \"" + output + "\": ")) << result.err;
        EXPECT_TRUE(result.says("; give -o a file in a folder that can be written")) << result.err;
        EXPECT_EQ(num_files("out"), 2u) << output;
    }
    EXPECT_EQ(read(path("out/file")), "kept");
}

/// Runs a script with an empty folder `disk` of its own in memory: the mount is seen by nobody else and ends with it.
class SafetyDisk : public SafetyFiles {
protected:
    static constexpr int kNoMount = 77;

    int run_on_disk(const std::string& mount_options, const std::string& script) const {
        fs::create_directories(path("disk"));
        const std::string unshare = ::geteuid() == 0 ? "unshare -m " : "unshare -rm ";
        const std::string inside = shoal::concat("mount -t tmpfs -o ", mount_options, " none ",
                                                 shell_quoted(path("disk")), " || exit 77\n", script);
        const std::string command =
            shoal::concat(unshare, "sh -c ", shell_quoted(inside), " >", shell_quoted(path("out")), " 2>",
                          shell_quoted(path("err")), " </dev/null");
        const int status = std::system(("unshare --version >/dev/null 2>&1 || exit 77\n" + command).c_str());
        const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        const bool refused = code != 0 && read(path("err")).starts_with("unshare: ");
        return refused ? kNoMount : code;
    }
};

TEST_F(SafetyDisk, a_full_disk_keeps_the_old_file_and_says_so) {
    const std::string old_bytes = compile(write("old.sjson", level_of(3, 1)), "old.blob");
    const std::string source = write("large.sjson", level_of(20'000, 2)), disk = path("disk");
    const std::string tool = shell_quoted(SHOAL_TOOL);
    const int code = run_on_disk(
        "size=64k",
        shoal::concat("cd ", shell_quoted(disk), " && cp ../old.blob level.blob\n", tool, " compile ",
                      shell_quoted(source), " -o level.blob && exit 10\n", tool,
                      " run ../old.blob --frames 1 --picture picture.svg >/dev/null || exit 11\n",
                      "head -c 100000 /dev/zero >filler\n", tool,
                      " run ../old.blob --frames 1 --picture picture.svg && exit 12\n", tool,
                      " compile ../old.sjson -o level.blob && exit 13\n",
                      "cp level.blob ../level.blob; ls -A >../names; tail -c 7 picture.svg >../picture_end; exit 0\n"));
    if (code == kNoMount) GTEST_SKIP() << "no file system can be mounted here: " << read(path("err"));
    ASSERT_EQ(code, 0) << read(path("err"));
    EXPECT_EQ(read(path("level.blob")), old_bytes);
    EXPECT_EQ(read(path("names")), "filler\nlevel.blob\npicture.svg\n") << "temporary files are removed";
    EXPECT_EQ(read(path("picture_end")), "</svg>\n") << "the old picture is whole";
    const std::string said = read(path("err"));
    EXPECT_NE(
        said.find("error: cannot write \"level.blob\": cannot write: No space left on device; give -o a file in a "
                  "folder that can be written and has room\n"),
        std::string::npos)
        << said;
    EXPECT_NE(said.find("error: cannot write \"picture.svg\": "), std::string::npos) << said;
}

TEST_F(SafetyDisk, a_disk_that_is_read_only_is_an_error) {
    const std::string source = write("reef.sjson", shoal_test::kReef);
    const int code = run_on_disk("ro", shoal::concat("cd ", shell_quoted(path("disk")), "; ", shell_quoted(SHOAL_TOOL),
                                                     " compile ", shell_quoted(source), " -o level.blob"));
    if (code == kNoMount) GTEST_SKIP() << "no file system can be mounted here: " << read(path("err"));
    EXPECT_EQ(code, 1);
    EXPECT_NE(read(path("err")).find("Read-only file system"), std::string::npos) << read(path("err"));
}

class SafetyKill : public SafetyFiles {
protected:
    bool is_writing() const { return num_files("out") > num_left_ + 1; }

    /// Starts to write `source` over level.blob and kills it: as soon as it writes, or after a random time.
    void kill_while_compiling(const std::string& source, bool while_writing, std::uint64_t delay_us) {
        ChildProcess child({SHOAL_TOOL, "compile", source, "-o", path("out/level.blob")}, path("said"));
        if (while_writing)
            while (child.runs() && !is_writing()) std::this_thread::yield();
        else
            std::this_thread::sleep_for(std::chrono::microseconds(delay_us));
        child.kill();
        child.wait();
        num_killed_while_writing_ += is_writing();
        num_left_ = num_files("out") - 1;
    }

    std::size_t num_left_ = 0;  ///< temporary files of earlier rounds
    std::size_t num_killed_while_writing_ = 0;
};

TEST_F(SafetyKill, fifty_times_and_the_file_is_the_old_one_or_the_new_one) {
    SCOPED_TRACE(shoal_test::seed_text());
    shoal::Random random(shoal_test::seed());
    const std::int64_t num_entities = shoal_test::scaled_operations(100'000);
    const std::string sources[] = {write("first.sjson", level_of(num_entities, 1)),
                                   write("second.sjson", level_of(num_entities, 2))};
    fs::create_directories(path("out"));
    const std::string blobs[] = {compile(sources[0], "first.blob"), compile(sources[1], "out/level.blob")};
    ASSERT_NE(blobs[0], blobs[1]);
    const std::int64_t begin_ns = shoal::monotonic_ns();
    compile(sources[1], "out/level.blob");
    const auto whole_us = static_cast<std::uint32_t>((shoal::monotonic_ns() - begin_ns) / 1000);

    std::size_t current = 1;
    for (int round = 0; round < shoal_test::num_kills(50); ++round) {
        const std::size_t next = 1 - current;
        kill_while_compiling(sources[next], round % 2 == 0, random.below(whole_us + whole_us / 4));
        const std::string found = read(path("out/level.blob"));
        ASSERT_TRUE(found == blobs[current] || found == blobs[next]) << "round " << round << ": neither old nor new";
        if (found == blobs[next]) current = next;
    }
    EXPECT_GT(num_killed_while_writing_, 0u) << "no round met the writing";

    // What is left lies beside the file and is never taken for it.
    EXPECT_EQ(num_left_, num_killed_while_writing_);
    EXPECT_EQ(compile(sources[1 - current], "out/level.blob"), blobs[1 - current]);
    EXPECT_EQ(num_files("out"), num_left_ + 1);
    const ToolResult result = run({"run", path("out/level.blob"), "--frames", "1", "--json"});
    EXPECT_EQ(result.json()["entities"], num_entities);
}

class SafetySignal : public SafetyFiles {};

TEST_F(SafetySignal, interrupts_and_ends_the_tool_which_leaves_no_temporary_file) {
    const std::string source = write("level.sjson", level_of(shoal_test::scaled_operations(100'000), 2));
    fs::create_directories(path("out"));
    const std::string new_bytes = compile(source, "out/level.blob");
    const std::string old_bytes = compile(write("old.sjson", level_of(3, 1)), "out/level.blob");
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
        bool met_writing = false;
        for (int round = 0; round < 50 && !met_writing; ++round) {
            ChildProcess child({SHOAL_TOOL, "compile", source, "-o", path("out/level.blob")}, path("said"));
            while (child.runs() && num_files("out") == 1) std::this_thread::yield();
            child.kill(number);
            child.wait();
            ASSERT_EQ(num_files("out"), 1u) << "signal " << number << " left a temporary file";
            const bool is_written = read(path("out/level.blob")) == new_bytes;
            if (child.end_signal() != 0) {
                EXPECT_EQ(child.end_signal(), number);
                // It may have come when all was written and said, just before the end.
                EXPECT_TRUE(is_written || read(path("said")).empty()) << read(path("said"));
                EXPECT_TRUE(is_written || read(path("out/level.blob")) == old_bytes);
            } else {
                EXPECT_EQ(child.wait(), 0) << read(path("said"));
                EXPECT_TRUE(is_written);
            }
            met_writing = !is_written;
            if (is_written) write("out/level.blob", old_bytes);
        }
        EXPECT_TRUE(met_writing) << "no round met the writing";
    }
}

TEST_F(SafetySignal, that_was_ignored_stays_ignored) {
    const std::string source = write("reef.sjson", shoal_test::kReef);
    // The tool reads the pipe until after the signal has come.
    const std::string script = shoal::concat("trap '' INT; (sleep 0.3; cat ", shell_quoted(source), ") | ",
                                             shell_quoted(SHOAL_TOOL), " check - & sleep 0.1; kill -INT $!; wait $!");
    const int status = std::system(("sh -c " + shell_quoted(script) + " >/dev/null 2>&1").c_str());
    EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
}

TEST_F(SafetyFiles, a_dump_takes_no_memory_but_that_of_its_blob) {
    if (shoal_test::kSanitized) GTEST_SKIP() << "sanitizers keep memory that was released";
    compile(write("small.sjson", level_of(10, 1)), "small.blob");
    const std::string bytes = compile(write("large.sjson", level_of(100'000, 1)), "large.blob");
    const auto kilobytes_of = [&](const std::string& name, const std::string& flag) {
        ChildProcess child({SHOAL_TOOL, "dump", path(name), flag}, path("said"));
        EXPECT_EQ(child.wait(), 0);
        return static_cast<std::size_t>(child.most_kilobytes());
    };
    const std::size_t blob_kilobytes = bytes.size() / 1024;
    ASSERT_GT(blob_kilobytes, 5'000u);
    const std::size_t small_kilobytes = kilobytes_of("small.blob", "--json");
    EXPECT_LT(kilobytes_of("large.blob", "--json"), small_kilobytes + blob_kilobytes + 4'000);
    EXPECT_GT(fs::file_size(path("said")), 20'000'000u) << "all of it is printed";
}

}  // namespace
