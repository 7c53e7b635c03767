// duel: rollback netcode with shoal. Read it in this order:
//
//     input.h, arena.h       the game: the input of a player in a frame, and its effects
//     peer.h                 guessing, going back, replaying; joining late; comparing hashes
//     datagram.h             the datagrams of the peers, and their checks
//     snapshot.h             a world in chunks
//     socket.h, link.h       UDP, and the bad network in front of it
//     match.h                both peers in one process, and the difference if they are not equal
//     report.cpp, picture.cpp     the output

#include "options.h"
#include "picture.h"
#include "report.h"

#include <shoal/base/file.h>
#include <shoal/base/text.h>
#include <shoal/inspect/text_table.h>

#include <cstdio>
#include <exception>

namespace duel {
namespace {

using namespace shoal;

void print(std::FILE* file, std::string_view text) { std::fwrite(text.data(), 1, text.size(), file); }

/// Writes the picture and returns a line about it, or an empty string if no picture was requested. Errors: the file
/// cannot be written.
Result<std::string> write_picture(const Match& match, const std::string& path) {
    if (path.empty()) return std::string();
    const Picture picture = draw(match.peer(0).arena(), match.peer(1).arena());
    if (Status status = write_file(path, std::string_view(picture.svg)); !status) return status;
    return concat(path, ", ", count_text(picture.num_strokes), " ships in both, ", bytes_text(picture.svg.size()));
}

Status play(const Options& options) {
    if (!options.picture.empty())
        if (Status status = check_writable(options.picture); !status) return status;
    Match match(options.match);
    if (Status status = match.begin(); !status) return status;
    const Status played = match.run();
    const Result<std::string> picture = write_picture(match, options.picture);  // even if the worlds differ
    if (!played) return played;
    if (!picture) return picture.status();
    if (Status status = match.check_equal(); !status) return status;
    print(stdout, options.json ? json_of(match) : text_of(match, *picture));
    return {};
}

int run_program(int num_words, char** words) {
    const Result<Options> options = read_options(num_words, words);
    if (!options) {
        print(stderr, concat("error: ", options.message(), "\n`duel --help` says more\n"));
        return 2;
    }
    if (options->help) return print(stdout, help_text()), 0;
    const Status status = play(*options);
    if (status) return 0;
    print(stderr, concat("error: ", status.message(), "\n"));
    return 1;
}

}  // namespace
}  // namespace duel

int main(int num_words, char** words) {
    try {
        const int code = duel::run_program(num_words, words);
        return std::fflush(stdout) == 0 ? code : 1;
    } catch (const std::exception& exception) {
        std::fprintf(stderr, "error: %s\n", exception.what());
        return 1;
    }
}
