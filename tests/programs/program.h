#pragma once
// A program: operations with plain arguments on the worlds of a stage. It is made from a seed, carried out beside the model,
// made smaller when it fails, and printed as C++.
//
//     Program program = random_program(seed, 60);
//     if (Outcome outcome = run_in_child(program)) {  // a crash is an outcome too
//         program = shrink(program);
//         write(path, print(program, run_in_child(program)));
//     }

#include "programs/operation.h"

#include <vector>

namespace programs {

struct Step {
    std::size_t operation = 0;  // of operations()
    Arguments arguments;
};

struct Program {
    StageOptions options;
    std::vector<Step> steps;
};

/// How a program ended, if it did not go as the model says.
struct Outcome {
    std::string what;             ///< empty: all went well
    std::string lines;            ///< the C++ of what was done, to the call or the look that failed
    std::size_t step = 0;         ///< that failed, or after which the look failed
    std::uint64_t num_steps = 0;  ///< that were carried out

    explicit operator bool() const { return !what.empty(); }
};

struct RunOptions {
    Forgets forgets = Forgets::kNothing;
    bool prints = false;  ///< fills Outcome::lines
    int looks_every = 1;  ///< so many steps, and at the end
};
/// For programs that mostly go well: a look takes much longer than a step.
inline constexpr int kSeldom = 60;

Program random_program(std::uint64_t seed, std::size_t num_steps);
/// The same with as many steps as the seed says, so that entities have time to get some.
inline Program random_program(std::uint64_t seed) { return random_program(seed, 40 + seed * 7 % 300); }
/// Says each operation and each look once, as C++ that goes as the model says.
std::string print_all_operations();
/// Carries a program out. A crash ends the process.
Outcome run(const Program& program, const RunOptions& options = {});
/// The same in a process of its own.
Outcome run_in_child(const Program& program, const RunOptions& options = {});
/// Returns a program that fails too, from which no step can be taken, and whose arguments cannot be smaller.
Program shrink(Program program, const RunOptions& options = {});
/// A whole source. `lines` are those of a run that has printed.
std::string print(const Program& program, const std::string& lines, const std::string& comment);

}  // namespace programs
