// Random programs for as long as is asked: `./dev soak programs --minutes N`.

#include "programs/program.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>

namespace {

using namespace programs;
using Clock = std::chrono::steady_clock;

struct Asked {
    double minutes = 10;
    std::uint64_t seed = std::uint64_t(std::chrono::system_clock::now().time_since_epoch().count()) % 1'000'000'000'000;
    std::string path;  // of what is written if a program fails
    std::string with;  // only programs that say this at least three times
};

bool says(const Program& program, const std::string& text) {
    const auto says_it = [&](const Step& step) {
        return operations()[step.operation].print(step.arguments).find(text) != std::string::npos;
    };
    return text.empty() || std::count_if(program.steps.begin(), program.steps.end(), says_it) >= 3;
}

int usage() {
    std::fputs("usage: program_soak --to FILE [--minutes N] [--seed N] [--with TEXT]\n", stderr);
    return 2;
}

/// Shrinks a program that failed, writes it, and says where it is.
int report(const Program& program, std::uint64_t seed, const Asked& asked) {
    std::fprintf(stderr, "the program of seed %llu fails; it is made smaller\n", static_cast<unsigned long long>(seed));
    const Program smaller = shrink(program);
    const Outcome outcome = run_in_child(smaller, {.prints = true});
    const std::string comment = "// seed " + std::to_string(seed) + ": " + outcome.what + "\n";
    const std::string text = print(smaller, outcome.lines, comment);
    std::ofstream(asked.path) << text;
    std::printf("%s\nthe program of seed %llu, with %zu steps, is in %s\n", text.c_str(),
                static_cast<unsigned long long>(seed), smaller.steps.size(), asked.path.c_str());
    std::fputs("to run it: cmake --build build/asan --target failed_program && build/asan/tests/failed_program\n",
               stderr);
    return 1;
}

int soak(const Asked& asked) {
    const bool shows_progress = ::isatty(2) != 0;
    const Clock::time_point begin = Clock::now();
    const auto end =
        begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(asked.minutes * 60));
    std::uint64_t num_programs = 0, num_steps = 0, seed = asked.seed;
    for (Clock::time_point shown = begin; Clock::now() < end; ++seed) {
        const Program program = random_program(seed);
        if (!says(program, asked.with)) continue;
        ++num_programs;
        const Outcome outcome = run_in_child(program, {.looks_every = kSeldom});
        num_steps += outcome.num_steps;
        if (outcome) return report(program, seed, asked);
        if (!shows_progress || Clock::now() - shown < std::chrono::milliseconds(200)) continue;
        shown = Clock::now();
        std::fprintf(stderr, "\r%llu programs, %llu operations ", static_cast<unsigned long long>(num_programs),
                     static_cast<unsigned long long>(num_steps));
    }
    if (shows_progress) std::fputc('\n', stderr);
    std::printf("%llu programs with %llu operations went as the model says (seeds from %llu on)\n",
                static_cast<unsigned long long>(num_programs), static_cast<unsigned long long>(num_steps),
                static_cast<unsigned long long>(asked.seed));
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    Asked asked;
    for (int i = 1; i < argc; i += 2) {
        const std::string option = argv[i];
        if (i + 1 == argc) return usage();
        if (option == "--minutes")
            asked.minutes = std::atof(argv[i + 1]);
        else if (option == "--seed")
            asked.seed = std::strtoull(argv[i + 1], nullptr, 10);
        else if (option == "--with")
            asked.with = argv[i + 1];
        else if (option == "--to")
            asked.path = argv[i + 1];
        else
            return usage();
    }
    return asked.path.empty() ? usage() : soak(asked);
}
