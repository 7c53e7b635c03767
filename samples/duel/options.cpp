#include "options.h"

#include "common/command_line.h"

#include <shoal/base/text.h>

namespace duel {

using namespace shoal;

namespace {

/// Numbers that are read with 64 bits and stored with fewer.
struct Numbers {
    std::uint64_t num_ships = ArenaOptions().num_ships, delay = LinkOptions().delay;
};

samples::CommandLine command_line(Options& out, Numbers& numbers) {
    using samples::Count, samples::Share;
    MatchOptions& match = out.match;
    return samples::CommandLine({
        {"--ships", "N", "how many ships there are, in two fleets (20000)", Count{&numbers.num_ships, 2, 200'000}},
        {"--frames", "N", "frames of 1/60 s (600)", Count{&match.num_frames, 1, 1'000'000}},
        {"--seed", "N", "of the match, its players and its network (1)",
         Count{&match.arena.seed, 0, ~std::uint64_t(0)}},
        {"--loss", "SHARE", "of datagrams that never come (0.1)", Share{&match.link.loss, 0.9}},
        {"--delay", "N", "frames by which every datagram is late (4)", Count{&numbers.delay, 0, 8}},
        {"--reorder", "SHARE", "of datagrams that are late by 1 to 4 frames more (0.2)", Share{&match.link.reorder, 1}},
        {"--duplicate", "SHARE", "of datagrams that come twice (0.05)", Share{&match.link.duplicate, 1}},
        {"--join", "FRAME", "the second peer starts then, from a snapshot", Count{&match.join_frame, 1, 1'000'000}},
        {"--sabotage", "FRAME", "change a value in one of the worlds at the end of a frame",
         Count{&match.arena.sabotage_frame, 1, 1'000'000}},
        {"--fast", "", "without the clock: both peers take turns on one thread", &match.fast},
        {"--picture", "FILE.svg", "draw both worlds after the last frame", samples::SvgFile{&out.picture}},
        {"--json", "", "print one JSON object", &out.json},
        {"--help", "", "print this", &out.help},
    });
}

/// Errors: an option names a frame beyond the end of the match.
Status check_frame(std::string_view name, std::uint64_t frame, std::uint64_t most) {
    if (frame <= most) return {};
    return Status::error(
        concat(name, " ", frame, " is not before the end of the match; take at most ", most, ", or more --frames"));
}

}  // namespace

Result<Options> read_options(int num_words, char** words) {
    Options out;
    Numbers numbers;
    if (Status status = command_line(out, numbers).read(num_words, words); !status) return status;
    out.match.arena.num_ships = static_cast<std::uint32_t>(numbers.num_ships);
    out.match.link.delay = static_cast<std::uint32_t>(numbers.delay);
    if (Status status = check_frame("--join", out.match.join_frame, out.match.num_frames - 1); !status) return status;
    if (Status status = check_frame("--sabotage", out.match.arena.sabotage_frame, out.match.num_frames); !status)
        return status;
    return out;
}

std::string help_text() {
    Options defaults;
    Numbers numbers;
    return "duel: two fleets, two players, two worlds that stay equal over a bad network\n\n"
           "Each peer plays at once on what it knows and guesses the rest; when an input comes late and differs, it "
           "goes\n"
           "back to that frame and plays on from there. Both send UDP datagrams over 127.0.0.1.\n\noptions:\n" +
           command_line(defaults, numbers).help() +
           "\nexamples:\n  duel --picture duel.svg\n  duel --fast --loss 0.5 --delay 8\n  duel --join 200\n"
           "  duel --sabotage 100\n\n"
           "exit codes:\n  0  both worlds are equal    1  they are not, or it failed: standard error says what    "
           "2  wrong usage\n";
}

}  // namespace duel
