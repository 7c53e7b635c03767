#include "support/testing.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace shoal_test {

std::uint64_t seed() {
    if (const char* text = std::getenv("SHOAL_TEST_SEED")) return std::strtoull(text, nullptr, 10);
    return 20261120;
}

std::int64_t scaled_operations(std::int64_t release_count) {
#if defined(NDEBUG) && defined(__OPTIMIZE__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__) && !SHOAL_WIDE_IDS
    return release_count;
#else
    return release_count / 10;
#endif
}

}  // namespace shoal_test

int main(int argc, char** argv) {
    ::testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
