#pragma once
// Debuggers as processes, and what they print.

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

namespace shoal_test {

inline std::string output_of(const std::string& command) {
    FILE* pipe = popen((command + " 2>&1").c_str(), "r");
    std::string text;
    char part[4096];
    while (pipe != nullptr && std::fgets(part, sizeof part, pipe) != nullptr) text += part;
    if (pipe != nullptr) pclose(pipe);
    return text;
}

inline void expect_shown(const std::string& output, const std::string& text) {
    EXPECT_NE(output.find(text), std::string::npos) << "not shown: " << text << "\nin:\n" << output;
}

}  // namespace shoal_test
