#pragma once
// The options and the outcome of `shoal run` and `shoal replay`.

#include "inspection.h"
#include "level.h"
#include "matches.h"
#include "memory_limit.h"
#include "pictures.h"
#include "shoal/inspect/positions.h"
#include "shoal/inspect/report.h"
#include "shoal/save/persistence.h"
#include "shoal/save/recording.h"
#include "shoal/save/save.h"

#include <optional>
#include <vector>

namespace shoal_tool {

inline constexpr Flag kWorkersFlag{
    .name = "workers",
    .value = "N",
    .help = "threads; 0: as many as the machine runs at once (default: 0). Results do not depend on it",
    .takes = Takes::kText};
inline constexpr Flag kSaveFlag{.name = "save",
                                .value = "FILE.save",
                                .help = "save the world after the last frame; - is standard output",
                                .takes = Takes::kOutput};
inline constexpr Flag kQueryFlag{
    .name = "query",
    .value = "TEXT",
    .help = "print the entities that match after the last frame, such as: \"fish, !asleep, health < 10\"",
    .takes = Takes::kText};

inline constexpr Flag kReportFlag{
    .name = "report",
    .value = "FILE.html",
    .help = "write what the run has and costs as a page, which needs no other file; - is standard output",
    .takes = Takes::kOutput};

// Flags for verbs that accept levels, saves and recordings.
inline constexpr Flag kFilePluginFlag{
    .name = "plugin",
    .value = "FILE.so",
    .help = "of levels and recordings: load a plugin; several are loaded in their order",
    .takes = Takes::kInput,
    .repeats = true};
inline constexpr Flag kFileScriptFlag{
    .name = "script",
    .value = "FILE.lua",
    .help = "of levels and recordings: load a script in Lua; several are loaded in their order",
    .takes = Takes::kInput,
    .repeats = true};
inline constexpr Flag kFileCodeFlag{
    .name = "recorded-code",
    .help = "of recordings: load the plugins and scripts that the recording names, if you trust its sender"};

/// Returns a state hash as a string.
std::string state_hash_text(std::uint64_t hash);

inline constexpr std::uint64_t kMostFrames = 1'000'000'000;
inline constexpr double kMostSeconds = 3600;  ///< seconds between frames

struct Task {
    std::string level, query, picture, schedule, report, trace, save, load, record, persist;
    std::string_view report_flag = kReportFlag.name;  ///< "output" for `shoal report`
    bool prints_facts = true;
    std::vector<std::string> plugins, scripts;
    std::uint64_t num_copies = 1, num_frames = 60, num_workers = 0, seed = 1;
    std::uint64_t save_every = 0;  ///< number of frames between saves; 0: save only after the last frame
    double dt = 1.0 / 60;
    shoal::LoadOptions loading;  ///< options for loading a save, a folder or a recording
    InspectionTask inspection;
    bool watches = false;
    bool recovers = false;            ///< whether to begin with the world in the folder
    shoal::Replay* replay = nullptr;  ///< a recording to play instead of a level
    bool verifies = false;            ///< whether to stop when a frame differs from the recording

    bool begins_with_level() const { return load.empty() && !recovers && replay == nullptr; }
};

/// The results of a run.
struct Outcome {
    shoal::WorldReport report;
    std::uint64_t num_entities = 0;  ///< number of spawned entities
    std::uint64_t num_components = 0;
    std::uint64_t num_bytes = 0;  ///< bytes of component data in all copies
    std::int64_t load_ns = 0, spawn_ns = 0, run_ns = 0, settle_ns = 0, last_settle_ns = 0;
    std::uint64_t num_reloads = 0;
    std::vector<std::string> plugins;  ///< names and versions
    std::uint64_t num_script_failures = 0;
    std::string script_failure;  ///< the last failure, with its traceback
    std::uint32_t num_workers = 0;
    std::uint64_t state_hash = 0;
    shoal::Bounds bounds;
    std::size_t num_passes_drawn = 0, num_report_bytes = 0;
    std::uint64_t num_drawn = 0, num_not_drawn = 0;
    std::uint64_t num_saved_bytes = 0, num_recorded_bytes = 0;
    shoal::PersistStatistics persisted;
    std::optional<std::uint64_t> recovered_frame;
    std::uint64_t num_traced = 0, num_untraced = 0;  ///< numbers of events kept and dropped
    std::optional<Matches> matches;                  ///< empty if there was no query

    double spawn_ms() const { return static_cast<double>(spawn_ns) * 1e-6; }
    double per_second(std::uint64_t count) const {
        return spawn_ns <= 0 ? 0 : static_cast<double>(count) * 1e9 / static_cast<double>(spawn_ns);
    }
};

/// Creates a world for a level, runs it, and writes the requested outputs. Values in the world may refer to the blob
/// `resources`, which is usually the level's blob. Errors: in the status or in the diagnostics.
shoal::Status live(LoadedLevel& level, const shoal::Blob& resources, Task& task, const Arguments& arguments,
                   Files& files, Console& console, shoal::Diagnostics& diagnostics, Outcome& outcome);
/// Implements the verbs that run worlds.
int run_run(const Arguments& arguments, Files& files, Console& console);
int run_replay(const Arguments& arguments, Files& files, Console& console);
/// Returns the title for a run's pictures and reports.
std::string title_of(const Task& task);
/// Prints the outcome.
void show_outcome(Console& console, const Task& task, const Outcome& outcome, const shoal::Diagnostics& diagnostics);

}  // namespace shoal_tool
