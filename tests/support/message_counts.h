#pragma once
// How many of many damaged inputs have each message, compared with a golden file.

#include "shoal/base/file.h"
#include "shoal/base/text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>

namespace shoal_test {

/// A message without its place, its numbers and names, and of which type it is, which many damages differ in.
inline std::string kind_of_message(std::string_view message) {
    std::string kind;
    const std::size_t begin = std::min(message.find(": "), message.size());  // behind the place
    for (std::size_t i = begin; i < message.size(); ++i) {
        const bool is_digit = message[i] >= '0' && message[i] <= '9';
        if (message[i] == '"') i = std::min(message.find('"', i + 1), message.size());
        if (!is_digit)
            kind += i < message.size() && message[i] != '"' ? message[i] : '_';
        else if (kind.empty() || kind.back() != '#')
            kind += '#';
    }
    return kind.substr(0, std::min<std::size_t>(kind.find(" of "), 72));
}

/// A check that is missing, or that allows one more or less, changes how many inputs each message is about.
inline void expect_message_counts(const std::map<std::string, int>& num_of, const std::string& path) {
    std::string lines;
    for (const auto& [kind, count] : num_of) shoal::append_text(lines, shoal::concat(count, ' ', kind, '\n'));
    if (std::getenv("SHOAL_WRITE_GOLDEN") != nullptr) {
        ASSERT_TRUE(shoal::write_file(path, lines));
    }
    const shoal::Result<std::string> golden = shoal::read_file(path);
    ASSERT_TRUE(golden) << golden.message();
    EXPECT_EQ(lines, *golden) << "SHOAL_WRITE_GOLDEN=1 writes it, which is right when a check has changed";
}

}  // namespace shoal_test
