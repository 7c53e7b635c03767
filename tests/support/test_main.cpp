#include "support/testing.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace shoal_test {

std::uint64_t seed() {
    if (const char* text = std::getenv("SHOAL_TEST_SEED")) return std::strtoull(text, nullptr, 10);
    return 20261120;
}

std::int64_t scaled_operations(std::int64_t release_count) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(NDEBUG)
    return release_count / 10;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    return release_count / 10;
#else
    return release_count;
#endif
#else
    return release_count;
#endif
}

}  // namespace shoal_test

int main(int argc, char** argv) {
    ::testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
