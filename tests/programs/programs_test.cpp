// Random programs go as the naive model says; and what finds and prints programs that do not is tested itself.

#include "programs/program.h"
#include "support/testing.h"

#include <algorithm>
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
    for (std::uint64_t i = 0; i < std::uint64_t(shoal_test::scaled_operations(60)); ++i) {
        const Program program = random_program(first + i);
        if (run_in_child(program, {.looks_every = kSeldom})) {
            FAIL() << shoal_test::seed_text() << " + " << i << "\n" << story_of(shrink(program));
        }
    }
}

/// A random program of the operations whose code has one of these words. At last, all worlds settle.
Program program_about(std::initializer_list<const char*> words, std::uint64_t seed) {
    Program program = random_program(seed, 2000);
    const auto is_about_others = [&](const Step& step) {
        const std::string text = operations()[step.operation].print({});
        return std::none_of(words.begin(), words.end(),
                            [&](const char* word) { return text.find(word) != std::string::npos; });
    };
    const auto begin = program.steps.begin() + 2;  // the first two create entities
    program.steps.erase(std::remove_if(begin, program.steps.end(), is_about_others), program.steps.end());
    program.steps.resize(std::min<std::size_t>(program.steps.size(), 40));
    const auto settles = std::find_if(operations().begin(), operations().end(), [](const Operation& operation) {
        return operation.code.text == "world.settle()";
    });
    for (int world = 0; world < 3; ++world)
        program.steps.push_back({std::size_t(settles - operations().begin()), {world}});
    return program;
}

/// Makes programs until one fails because the model forgets a rule, and makes that as small as it can be. `first_seed` saves time
/// where few programs have all that is needed.
void expect_noticed(Forgets forgets, std::initializer_list<const char*> words, std::size_t num_steps,
                    std::uint64_t first_seed = 1) {
    const RunOptions options = {.forgets = forgets, .looks_every = kSeldom};
    Program program;
    for (std::uint64_t seed = first_seed; seed < first_seed + 300 && !run_in_child(program, options); ++seed)
        program = program_about(words, seed);
    program = shrink(program, {.forgets = forgets});
    EXPECT_TRUE(run_in_child(program, {.forgets = forgets})) << "no program notices";
    EXPECT_EQ(run_in_child(program).what, "") << "the model that forgets nothing is right";
    EXPECT_LE(program.steps.size(), num_steps) << story_of(program, {.forgets = forgets});
}

TEST(Programs, notice_a_rule_that_the_model_forgets_and_shrink_to_what_breaks_it) {
    // To create, to ask twice, to settle.
    expect_noticed(Forgets::kLastMoveCounts, {"database().create<Mark>", "commands().move"}, 5);
    if (shoal_test::kSanitized) return;  // the others run thousands of programs, each in a child, for the same code
    // To create, to add two transforms in turn, to move the parent away, to link, to destroy it.
    expect_noticed(Forgets::kChildrenStayWhereTheyAre, {"entities().destroy", "transforms"}, 6, 85);
    // To create, to give a mark, to pack, to spawn, to give another one, to reload.
    expect_noticed(Forgets::kReloadLeavesWhatTheSourceLeaves,
                   {"stage.mark", "stage.pack(", "{.copies = ", "stage.reload("}, 6, 46);
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
