// reef: a program that uses shoal as a game would. Read it in this order:
//
//     components.h                    everything in the sea, as data
//     tiles.h, cells.h, crowd.h       the sea as zones, zones as cells, and neighbours
//     sea.h, sources.cpp, spawn.cpp   from sources to rows
//     passes.cpp                      the passes of a frame, in order
//     flock.cpp, hunt.cpp, eat.cpp, swim.cpp, births.cpp, carry.cpp       one behaviour each
//     report.cpp, picture.cpp, inspection.cpp     what you see of it
//     divided_sea.cpp, ranks.cpp, ranks_picture.cpp       the same sea over several machines

#include "inspection.h"
#include "options.h"
#include "picture.h"
#include "ranks.h"
#include "report.h"

#include <shoal/base/clock.h>
#include <shoal/base/file.h>
#include <shoal/base/text.h>
#include <shoal/document/diagnostics.h>
#include <shoal/inspect/trace_file.h>
#include <shoal/save/state_hash.h>
#include <shoal/source/schema_file.h>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <thread>

namespace reef {
namespace {

using namespace shoal;

void print(std::FILE* file, std::string_view text) { std::fwrite(text.data(), 1, text.size(), file); }

/// Shows progress every few frames if standard error is a terminal.
void show_progress(std::uint64_t done, std::uint64_t total) {
    static const bool is_terminal = isatty(STDERR_FILENO) == 1;
    if (!is_terminal || (done % 10 != 0 && done != total)) return;
    print(stderr, done == total ? std::string("\r\033[K") : concat("\r", done, "/", total, " frames\033[K"));
}

/// Reloads edited sources. Prints a line about them, or prints their errors.
void reload_edited(Sea& sea, const Run& run, std::string& told) {
    Diagnostics diagnostics;
    std::string line;
    const Result<bool> any = sea.reload_edited(diagnostics, line);
    if (any && !*any) return;
    const std::string problem =
        any ? std::string()
            : concat(diagnostics.format(), "error: ", any.message(), "; ",
                     line.empty() ? "the sea stays as it is\n" : "what comes before it in the sea is new\n");
    if (any && line.empty() && !told.empty()) line = "the sources are mended, and say what they said before\n";
    if (problem != told) print(stderr, problem);
    told = problem;
    print(run.options.json ? stderr : stdout, line);
    std::fflush(stdout);
}

#if !REEF_HAS_CLUSTER
Status start_ranks(const Options&, char**) {
    return Status::error(
        "shoal was built without MPI, so there is one rank; install libopenmpi-dev, and build it again");
}
Status live_in_ranks(Run&, Diagnostics&) { return {}; }
#endif

/// Runs frames as fast as possible, or in real time if sources are watched or the inspector is open.
void run_frames(Sea& sea, Run& run, Inspection& inspection) {
    const std::int64_t begin_ns = monotonic_ns();
    std::string told;
    std::uint64_t frame = 0;
    for (; frame < run.options.num_frames && !is_interrupted(); ++frame) {
        sea.step();
        if (run.options.watch) reload_edited(sea, run, told);
        if (inspection.is_open()) {
            inspection.wait_for_frame();
        } else if (run.options.watch) {
            const auto end_ns = begin_ns + static_cast<std::int64_t>(double(frame + 1) * double(kFrameSeconds) * 1e9);
            std::this_thread::sleep_for(std::chrono::nanoseconds(std::max<std::int64_t>(end_ns - monotonic_ns(), 0)));
        } else {
            show_progress(frame + 1, run.options.num_frames);
        }
    }
    run.options.num_frames = frame;
    run.run_ms = static_cast<double>(monotonic_ns() - begin_ns) * 1e-6;
    run.state_hash = state_hash(sea.world);
}

Status write_picture(const Sea& sea, Run& run) {
    if (run.options.picture.empty()) return {};
    const Picture picture = draw(sea);
    run.num_strokes = picture.num_strokes;
    run.picture_bytes = picture.svg.size();
    return write_file(run.options.picture, std::string_view(picture.svg));
}

Status write_times(const Trace& trace, Run& run) {
    if (run.options.trace.empty()) return {};
    for (std::uint32_t worker = 0; worker < trace.num_workers(); ++worker) run.num_traced += trace.num_events(worker);
    return write_trace(run.options.trace, trace);
}

Status live(Run& run, Diagnostics& diagnostics) {
    ThreadedExecutor executor(static_cast<std::uint32_t>(run.options.num_workers));
    run.num_workers = executor.num_workers();
    Sea sea(executor,
            {run.options.sources, run.options.num_fish, run.options.seed, run.options.watch, run.options.plugin});
    Inspection inspection;
    if (Status status = inspection.open(sea, run); !status) return status;
    if (Status status = sea.spawn(diagnostics); !status) return status;
    if (Status status = add_passes(sea); !status) return status;
    Trace trace(executor.num_workers());
    if (!run.options.trace.empty()) sea.world.schedule().set_trace(&trace);
    if (run.options.watch || run.options.inspect) end_when_interrupted();
    if (run.options.watch) {
        print(run.options.json ? stderr : stdout, concat("watching ", run.options.sources, "; interrupt to end\n"));
        std::fflush(stdout);
    }
    run_frames(sea, run, inspection);
    sea.world.schedule().set_trace(nullptr);
    if (!run.options.schema.empty())
        if (Status status = export_schemas(sea.world, run.options.schema); !status) return status;
    if (Status status = write_times(trace, run); !status) return status;
    if (Status status = write_picture(sea, run); !status) return status;
    print(stdout, run.options.json ? json_of(sea, run) : text_of(sea, run));
    return {};
}

int run_program(int num_words, char** words) {
    const Result<Options> options = read_options(num_words, words);
    if (!options) {
        print(stderr, concat("error: ", options.message(), "\n`reef --help` says more\n"));
        return 2;
    }
    if (options->help) return print(stdout, help_text()), 0;
    Run run{.options = *options};
    if (run.options.sources.empty()) run.options.sources = REEF_SOURCES;
    Diagnostics diagnostics;
    Status status = options->num_ranks == 0 ? live(run, diagnostics) : start_ranks(*options, words);
    if (status && options->num_ranks != 0) status = live_in_ranks(run, diagnostics);
    print(stderr, diagnostics.format());
    if (status) return 0;
    print(stderr, concat("error: ", status.message(), "\n"));
    return 1;
}

}  // namespace
}  // namespace reef

int main(int num_words, char** words) {
    try {
        const int code = reef::run_program(num_words, words);
        return std::fflush(stdout) == 0 ? code : 1;
    } catch (const std::exception& exception) {
        std::fprintf(stderr, "error: %s\n", exception.what());
        return 1;
    }
}
