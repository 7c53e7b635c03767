#pragma once
// How often tests kill a program at random moments. `./dev soak kills` does it more often than tests that run all the time.

#include <cstdlib>

namespace shoal_test {

/// Returns SHOAL_TEST_KILLS, or `usual`.
inline int num_kills(int usual) {
    const char* const asked = std::getenv("SHOAL_TEST_KILLS");
    return asked == nullptr ? usual : std::atoi(asked);
}

}  // namespace shoal_test
