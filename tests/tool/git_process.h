#pragma once
// Runs git in a repository of its own for each test.

#include "tool/tool_process.h"

namespace shoal_test {

/// A test with a repository of its own.
class GitTest : public ToolTest {
protected:
    /// Runs git in a repository of this test. Nothing that the user has set counts.
    std::string git(const std::string& arguments) const {
        const std::string log = path("git.log");
        const std::string command =
            "cd " + shell_quoted(path("repository")) +
            " && HOME=/nonexistent GIT_CONFIG_NOSYSTEM=1 GIT_CEILING_DIRECTORIES=" + shell_quoted(path("")) +
            " git -c user.name=test -c user.email=test@example.org " + arguments + " >" + shell_quoted(log) + " 2>&1";
        last_code_ = std::system(command.c_str());
        return read(log);
    }
    bool has_git() const {
        std::filesystem::create_directories(path("repository"));
        git("init -q");
        return last_code_ == 0;
    }
    mutable int last_code_ = 0;
};

}  // namespace shoal_test
