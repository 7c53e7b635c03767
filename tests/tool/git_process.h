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
    /// Uses the settings that the guide shows, with this tool.
    void use_settings_of_guide() const {
        const std::string guide = read(SHOAL_SOURCE_DIR "/docs/guide/version_control.md");
        const auto block = [&](const std::string& kind) {
            const std::size_t begin = guide.find("```" + kind + "\n"), start = begin + 4 + kind.size();
            EXPECT_NE(begin, std::string::npos) << kind;
            return begin == std::string::npos ? std::string() : guide.substr(start, guide.find("```", start) - start);
        };
        write("repository/.gitattributes", block("gitattributes"));
        std::string settings = block("gitconfig");
        for (std::size_t at = 0; (at = settings.find(" = shoal ", at)) != std::string::npos; at += 3)
            settings.replace(at + 3, 5, SHOAL_TOOL);
        write("repository/.git/config", read(path("repository/.git/config")) + settings);
    }
    mutable int last_code_ = 0;
};

}  // namespace shoal_test
