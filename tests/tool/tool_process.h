#pragma once
// Runs the tool as a process, in a folder of its own for each test.

#include "shoal/base/file.h"
#include "support/json.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace shoal_test {

/// What a process said and how it ended.
struct ToolResult {
    int exit_code = -1;
    std::string out;  ///< standard output
    std::string err;  ///< standard error

    bool says(std::string_view text) const { return err.find(text) != std::string::npos; }
    bool prints(std::string_view text) const { return out.find(text) != std::string::npos; }
    /// Standard output as the one JSON object that it has to be.
    nlohmann::json json() const {
        nlohmann::json result = nlohmann::json::parse(out, nullptr, false);
        EXPECT_TRUE(result.is_object()) << "standard output is not one JSON object:\n" << out;
        return result;
    }
};

inline std::string shell_quoted(std::string_view word) {
    std::string result = "'";
    for (const char c : word) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return result + "'";
}

/// Two entities that fall and a child.
inline constexpr std::string_view kReef = R"(
entities = {
    anna = {
        name = "anna"
        components = { transform = { position = [0 0 10] } point_mass = { mass = 2 velocity = [1 0 0] } }
        children = { egg = { components = { transform = { position = [0 5 0] } point_mass = {} debug_name = "egg" } } }
    }
    bert = { components = { transform = {} point_mass = { acceleration = [0 0 -9.81] } food = { type = "tag" tag = "food" } } }
}
)";

class ToolTest : public ::testing::Test {
protected:
    void SetUp() override {
        const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
        folder_ = std::filesystem::temp_directory_path() /
                  ("shoal_tool_" + std::to_string(getpid()) + "_" + info->test_suite_name() + "_" + info->name());
        std::filesystem::create_directories(folder_);
    }
    void TearDown() override {
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }

    std::string path(std::string_view name) const { return (folder_ / name).string(); }
    std::string write(std::string_view name, std::string_view text) const {
        std::filesystem::create_directories((folder_ / name).parent_path());
        EXPECT_TRUE(shoal::write_file(path(name), text).ok());
        return path(name);
    }
    static std::string read(const std::string& path) {
        shoal::Result<std::string> text = shoal::read_file(path);
        EXPECT_TRUE(text.ok()) << text.message();
        return text ? *text : std::string();
    }

    /// Runs the tool. `environment` stands before the command: "NO_COLOR=1". Standard input is the file `input`.
    ToolResult run(const std::vector<std::string>& arguments, std::string_view environment = {},
                   const std::string& input = "/dev/null") const {
        return run_program(SHOAL_TOOL, arguments, environment, input);
    }
    ToolResult run_program(std::string_view program, const std::vector<std::string>& arguments,
                           std::string_view environment = {}, const std::string& input = "/dev/null") const {
        std::string command = without_leak_search() + std::string(environment) + " " + shell_quoted(program);
        for (const std::string& argument : arguments) command += " " + shell_quoted(argument);
        command +=
            " >" + shell_quoted(path("stdout")) + " 2>" + shell_quoted(path("stderr")) + " <" + shell_quoted(input);
        const int status = std::system(command.c_str());
        return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read(path("stdout")), read(path("stderr"))};
    }

    /// Runs the tool with standard error on a terminal, and standard output too if `output` is empty. Returns what the
    /// terminal got. If something is typed, standard input is the terminal, too.
    std::string run_on_terminal(const std::vector<std::string>& arguments, const std::string& output,
                                const std::string& typed = {}) const {
        const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
        if (terminal < 0 || ::grantpt(terminal) != 0 || ::unlockpt(terminal) != 0) return "(no terminal)";
        const std::string name = ::ptsname(terminal);
        std::vector<char*> words{const_cast<char*>(SHOAL_TOOL)};
        for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
        words.push_back(nullptr);
        const pid_t child = ::fork();
        if (child == 0) {
            const int side = ::open(name.c_str(), O_RDWR | O_NOCTTY);
            const int file = output.empty() ? side : ::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
            ::dup2(file, STDOUT_FILENO);
            ::dup2(side, STDERR_FILENO);
            if (!typed.empty()) ::dup2(side, STDIN_FILENO);
            ::setenv("TERM", "xterm", 1);
            ::execv(SHOAL_TOOL, words.data());
            ::_exit(127);
        }
        // While this side is open, what the child has written can be read after its end.
        const int side = ::open(name.c_str(), O_RDWR | O_NOCTTY);
        if (::write(terminal, typed.data(), typed.size()) < 0) return "(nothing can be typed)";
        std::string text;
        char piece[4096];
        int status = 0;
        bool has_ended = false;
        for (;;) {
            pollfd ready{terminal, POLLIN, 0};
            if (::poll(&ready, 1, 20) > 0) {
                const ssize_t count = ::read(terminal, piece, sizeof piece);
                if (count <= 0) break;
                text.append(piece, static_cast<std::size_t>(count));
            } else if (has_ended) {
                break;
            } else {
                has_ended = ::waitpid(child, &status, WNOHANG) == child;
            }
        }
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << text;
        ::close(side);
        ::close(terminal);
        return text;
    }

    /// Compiles kReef and returns the path of the blob.
    std::string reef_blob() const {
        const ToolResult result = run({"compile", write("reef.sjson", kReef), "-o", path("reef.blob")});
        EXPECT_EQ(result.exit_code, 0) << result.err;
        return path("reef.blob");
    }

private:
    /// Under a sanitizer the search for leaks takes half of the time of a process. Every fourth is searched.
    static std::string without_leak_search() {
        static int num_runs = 0;
        return num_runs++ % 4 == 0 ? "" : "ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 ";
    }

    std::filesystem::path folder_;
};

}  // namespace shoal_test
