// The rule about floating point: each operation is rounded on its own. A compiler that may fuse a multiplication and an
// addition (-ffp-contract=fast, what g++ does unless it is told otherwise) breaks it wherever the processor has such an
// instruction: all of aarch64, and x86-64 since 2013 if programs are compiled for it.

#include <gtest/gtest.h>

#include <cstdint>

// One source, compiled in three ways.
namespace shoal_rounded {
std::uint64_t arithmetic();  // as all of shoal is
}
namespace shoal_rounded_wide {
std::uint64_t arithmetic();  // for a processor that can fuse, which the flags forbid
}
namespace shoal_fused {
std::uint64_t arithmetic();  // for the same, with leave
}

namespace {

/// Whether the instructions are there that two of the copies are compiled for.
bool processor_can_fuse() {
#if defined(__x86_64__)
    return __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2");
#else
    return true;
#endif
}

TEST(Contraction, without_leave_a_processor_that_can_fuse_computes_the_bits_of_one_that_cannot) {
    if (!processor_can_fuse()) GTEST_SKIP() << "this processor cannot fuse";
    EXPECT_EQ(shoal_rounded_wide::arithmetic(), shoal_rounded::arithmetic());
}

TEST(Contraction, with_leave_it_computes_others) {
    if (!processor_can_fuse()) GTEST_SKIP() << "this processor cannot fuse";
    EXPECT_NE(shoal_fused::arithmetic(), shoal_rounded::arithmetic());
}

TEST(Contraction, all_processors_round_alike) { EXPECT_EQ(shoal_rounded::arithmetic(), 18197233194700108328u); }

}  // namespace
