// Random programs go as the naive model says; and what finds and prints programs that do not is tested itself.

#include "programs/program.h"
#include "support/testing.h"

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace {

using namespace programs;

/// The shrunk program as C++, and what is wrong.
std::string story_of(const Program& program, const RunOptions& options = {}) {
    RunOptions printing = options;
    printing.prints = true;
    const Outcome outcome = run_in_child(program, printing);
    return print(program, outcome.lines, "// " + outcome.what + "\n");
}

TEST(Programs, of_all_operations_go_as_the_model_says) {
    const std::uint64_t first = shoal_test::seed();
    for (std::uint64_t i = 0; i < std::uint64_t(shoal_test::scaled_operations(100)); ++i) {
        const Program program = random_program(first + i, 20 + i % 60);
        if (run_in_child(program, {.looks_every = kSeldom})) {
            FAIL() << shoal_test::seed_text() << " + " << i << "\n" << story_of(shrink(program));
        }
    }
}

/// A program that fails because the model forgets a rule, made as small as it can be.
Program shrunk_program(Forgets forgets) {
    for (std::uint64_t seed = 1; seed < 500; ++seed) {
        const Program program = random_program(seed, 80);
        if (run_in_child(program, {.forgets = forgets, .looks_every = kSeldom}))
            return shrink(program, {.forgets = forgets});
    }
    ADD_FAILURE() << "no program notices";
    return {};
}

TEST(Programs, notice_a_rule_that_the_model_forgets_and_shrink_to_what_breaks_it) {
    for (const Forgets forgets : {Forgets::kChildrenStayWhereTheyAre, Forgets::kLastMoveCounts}) {
        const Program program = shrunk_program(forgets);
        EXPECT_GT(program.steps.size(), 2u);
        EXPECT_LE(program.steps.size(), 8u) << story_of(program, {.forgets = forgets});
        EXPECT_TRUE(run_in_child(program, {.forgets = forgets}));
        EXPECT_EQ(run_in_child(program).what, "") << "with the model that forgets nothing:\n" << story_of(program);
    }
}

TEST(Programs, a_program_that_crashes_shrinks_to_the_call_that_does) {
    Program program = random_program(1, 12);
    program.steps.insert(program.steps.begin() + 7, Step{operations().size() - 1, {}});
    ASSERT_TRUE(run_in_child(program));
    program = shrink(program);
    ASSERT_EQ(program.steps.size(), 1u);
    const Outcome outcome = run_in_child(program, {.prints = true});
    EXPECT_EQ(outcome.lines, "    std::abort();\n");
    EXPECT_NE(outcome.what.find("std::abort(): it "), std::string::npos) << outcome.what;
}

TEST(Programs, the_same_seed_gives_the_same_program) {
    EXPECT_EQ(story_of(random_program(7, 30)), story_of(random_program(7, 30)));
    EXPECT_NE(story_of(random_program(7, 30)), story_of(random_program(8, 30)));
}

// golden/every_operation.cpp is compiled and run as a test of its own.
TEST(Programs, a_printed_program_is_the_one_that_is_compiled_and_run) {
    const std::string path = SHOAL_SOURCE_DIR "/tests/programs/golden/every_operation.cpp";
    const std::string printed = print_all_operations();
    if (std::getenv("SHOAL_WRITE_GOLDEN") != nullptr) std::ofstream(path) << printed;
    std::ifstream file(path);
    EXPECT_EQ(printed, std::string(std::istreambuf_iterator<char>(file), {})) << "SHOAL_WRITE_GOLDEN=1 writes it";
}

TEST(Programs, a_printed_program_says_what_the_model_expects_of_each_call) {
    Program program;
    program.steps = {{0, {0, 2, 0, 0, 0}}, {0, {2, 4, 0, 0, 0}}};
    const std::string text = print(program, run_in_child(program, {.prints = true}).lines, "// two calls\n");
    EXPECT_NE(text.find("    expect(sea.entities().create(std::span(&e[2], 8)), \"ok\");\n"
                        "    expect(pond.entities().create(std::span(&p[4], 8)), \"ok\");\n"
                        "    return num_unexpected == 0 ? 0 : 1;\n"),
              std::string::npos)
        << text;
}

}  // namespace
