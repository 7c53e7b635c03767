#include "support/testing.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>

/// Of the runtime of a build that counts which lines run; other builds do not have it.
extern "C" int __llvm_profile_write_file() __attribute__((weak));

namespace shoal_test {

std::uint64_t seed() {
    if (const char* text = std::getenv("SHOAL_TEST_SEED")) return std::strtoull(text, nullptr, 10);
    return 20261120;
}

namespace {

std::int64_t percent_of_operations() {
    static const char* const text = std::getenv("SHOAL_TEST_OPERATIONS");
    return text != nullptr ? std::atoll(text) : 10;
}

}  // namespace

std::int64_t scaled_operations(std::int64_t whole_count) { return whole_count * percent_of_operations() / 100; }

bool tries_everything() { return percent_of_operations() >= 100; }

}  // namespace shoal_test

int main(int argc, char** argv) {
    // Lines that end the program on purpose count, too.
    if (__llvm_profile_write_file != nullptr)
        std::signal(SIGABRT, [](int) {
            std::signal(SIGABRT, SIG_DFL);
            __llvm_profile_write_file();
        });
    ::testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
