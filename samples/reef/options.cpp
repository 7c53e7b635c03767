#include "options.h"

#include "common/command_line.h"

namespace reef {

using namespace shoal;

namespace {

constexpr std::uint64_t kMostFrames = 1'000'000'000;

samples::CommandLine command_line(Options& out) {
    using samples::Count;
    return samples::CommandLine({
        {"--fish", "N", "how many fish there are (100000)", Count{&out.num_fish, 0, 2'000'000}},
        {"--frames", "N", "frames of 1/60 s (600)", Count{&out.num_frames, 0, kMostFrames}},
        {"--workers", "N", "threads; 0: as many as the machine runs at once (0)", Count{&out.num_workers, 0, 1024}},
        {"--ranks", "N", "divide the sea among N processes of MPI; 0: one process without it (0)",
         Count{&out.num_ranks, 0, 4096}},
        {"--seed", "N", "another seed, another sea (1)", Count{&out.seed, 0, ~std::uint64_t(0)}},
        {"--picture", "FILE.svg", "draw the sea after the last frame", samples::SvgFile{&out.picture}},
        {"--trace", "FILE.json", "write what each worker did when, for chrome://tracing or Perfetto", &out.trace},
        {"--export-schema", "FILE", "write a schema file of all component types of the sea", &out.schema},
        {"--sources", "FOLDER", "where sea.sjson and its prefabs are", &out.sources},
        {"--plugin", "FILE.so", "take the pass swim from a plugin (see swim_plugin.c)", &out.plugin},
        {"--watch", "", "reload sources that are edited; runs until it is interrupted, or for --frames", &out.watch},
        {"--inspect", "[PORT]", "show it in a browser; runs until it is interrupted, or for --frames",
         samples::Port{&out.inspect}},
        {"--json", "", "print one JSON object", &out.json},
        {"--help", "", "print this", &out.help},
    });
}

}  // namespace

Result<Options> read_options(int num_words, char** words) {
    Options out;
    samples::CommandLine line = command_line(out);
    if (Status status = line.read(num_words, words); !status) return status;
    if (out.num_ranks != 0 && (out.watch || !out.trace.empty() || !out.schema.empty()))
        return Status::error(
            "--ranks does not go with --watch, --trace and --export-schema, which are about one "
            "process; leave one of them out");
    if ((out.watch || out.inspect) && !line.has("--frames")) out.num_frames = kMostFrames;
    return out;
}

std::string help_text() {
    Options defaults;
    return "reef: a sea of 16 x 16 zones in which fish flock, eat, and are eaten\n\n"
           "Compiles the sources of the sea, spawns them, runs its passes on all workers, and prints what they cost.\n"
           "The same seed gives the same state hash for any number of workers.\n\noptions:\n" +
           command_line(defaults).help() +
           "\nexamples:\n  reef --fish 20000 --frames 3600 --picture sea.svg\n  reef --workers 2 --json\n  reef "
           "--ranks 4 --workers 1 --picture ranks.svg\n  reef --inspect 8080\n\n"
           "exit codes:\n  0  done    1  failed: standard error says what    2  wrong usage\n";
}

}  // namespace reef
