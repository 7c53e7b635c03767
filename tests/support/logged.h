#pragma once
// What is logged while a test runs a part of itself.

#include "shoal/base/log.h"

#include <string>
#include <string_view>
#include <vector>

namespace shoal_test {

/// Keeps the lines that are logged while it lives. Thread: nothing is logged by two threads at once.
struct Logged {
    Logged() {
        shoal::set_log_hook([](void* self, shoal::LogLevel,
                               std::string_view text) { static_cast<Logged*>(self)->lines.emplace_back(text); },
                            this);
    }
    Logged(const Logged&) = delete;
    Logged& operator=(const Logged&) = delete;
    ~Logged() { shoal::set_log_hook(nullptr, nullptr); }
    std::vector<std::string> lines;
};

}  // namespace shoal_test
