#pragma once
// What all tests share: the seed, operation counts by build, and a check that no bookkeeping memory leaks.

#include "shoal/base/detail/memory.h"
#include "shoal/base/random.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace shoal_test {

#ifndef __has_feature  // that of clang
#define __has_feature(name) 0
#endif
/// Whether the thread sanitizer, or any of the two for addresses and threads, watches this build.
#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
inline constexpr bool kThreadSanitized = true;
#else
inline constexpr bool kThreadSanitized = false;
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = kThreadSanitized;
#endif

/// What tests of size count: a million, and a tenth of it under the thread sanitizer, which takes twenty times as long
/// and finds nothing where there is one thread.
inline constexpr std::uint32_t kMillion = kThreadSanitized ? 100'000 : 1'000'000;

/// The seed of every random test: SHOAL_TEST_SEED, or a fixed one. Print it with SCOPED_TRACE(seed_text()).
std::uint64_t seed();
inline std::string seed_text() { return "SHOAL_TEST_SEED=" + std::to_string(seed()); }

/// Returns the share of `whole_count` that SHOAL_TEST_OPERATIONS asks for, in percent: 10, unless it is set.
std::int64_t scaled_operations(std::int64_t whole_count);
/// Whether all operations are asked for. Then a test also tries all cases of which it usually tries some.
bool tries_everything();

/// Fails the test when bookkeeping memory held at construction and at destruction differ.
class LeakCheck {
public:
    LeakCheck() : held_bytes_(shoal::bookkeeping_bytes()) {}
    ~LeakCheck() { EXPECT_EQ(shoal::bookkeeping_bytes(), held_bytes_) << "bookkeeping memory leaked"; }

private:
    std::size_t held_bytes_;
};

}  // namespace shoal_test
