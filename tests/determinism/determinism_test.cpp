// The same state from every number of workers, compiler, optimisation and processor: this program is built by all presets
// and compared with one file. SHOAL_WRITE_GOLDEN=1 writes the file anew, which is right when what the scenario does has
// changed, or what the runtime promises to compute; a line that differs between two builds is a fault.

#include "determinism/scenario.h"

#include "shoal/base/detail/lines.h"
#include "shoal/base/file.h"
#include "shoal/base/text.h"
#include "shoal/world/world.h"
#include "support/testing.h"
#include "support/thread_pool_executor.h"

#include <gtest/gtest.h>

#include <cfenv>
#include <cstdlib>
#include <memory>
#include <string_view>

namespace {

using namespace shoal;
using shoal_test::run_scenario;

constexpr const char* kGolden = SHOAL_SOURCE_DIR "/tests/determinism/golden.txt";

/// On threads of oneTBB, or on some that the thread sanitizer knows.
std::unique_ptr<Executor> make_executor(unsigned num_workers) {
    if (shoal_test::kThreadSanitized) return std::make_unique<shoal_test::ThreadPoolExecutor>(num_workers);
    return std::make_unique<ThreadedExecutor>(num_workers);
}

std::string run_both_modes(Executor& executor) {
    return run_scenario(executor, TransformMode::kImmediate) + run_scenario(executor, TransformMode::kDeferred);
}

std::string golden() {
    const Result<std::string> text = read_file(kGolden);
    EXPECT_TRUE(text.ok()) << text.message() << "; SHOAL_WRITE_GOLDEN=1 writes it";
    return text ? *text : std::string();
}

/// The lines in which two texts differ, those of the second.
std::string difference(std::string_view expected, std::string_view found) {
    std::string lines;
    while (!expected.empty() || !found.empty()) {
        const std::string_view left = take_line(expected), right = take_line(found);
        if (left != right) lines += concat(right, "\n");
    }
    return lines;
}

TEST(Determinism, the_state_is_that_of_every_other_compiler_optimisation_and_processor) {
    if (SHOAL_WIDE_IDS) GTEST_SKIP() << "ids of another width give another state";
    SerialExecutor serial;
    const std::string found = run_both_modes(serial);
    if (std::getenv("SHOAL_WRITE_GOLDEN") != nullptr) {
        ASSERT_TRUE(write_file(kGolden, found).ok());
    }
    EXPECT_EQ(difference(golden(), found), "") << "is not so in " << kGolden;
    EXPECT_NE(found.find("numbers that are not finite 0\n"), std::string::npos);
}

TEST(Determinism, and_of_1_2_3_and_8_workers) {
    SerialExecutor serial;
    const std::string expected = SHOAL_WIDE_IDS ? run_both_modes(serial) : golden();
    for (const unsigned num_workers : {1u, 2u, 3u, 8u}) {
        if (shoal_test::kSanitized && num_workers != 3) continue;  // races need no more
        const std::unique_ptr<Executor> executor = make_executor(num_workers);
        EXPECT_EQ(difference(expected, run_both_modes(*executor)), "") << num_workers << " workers";
    }
}

#if SHOAL_CHECKED
TEST(DeterminismDeathTest, a_thread_that_does_not_round_to_the_nearest_ends_a_checked_program) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EntityManager entities;
    World world(entities);
    world.step(0);
    EXPECT_DEATH(
        {
            std::fesetround(FE_UPWARD);
            world.step(0);
        },
        "the thread that steps a world does not round to the nearest");
}
#endif

}  // namespace
