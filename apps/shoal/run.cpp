// shoal run: spawns a level, runs passes over it, and shows the results.

#include "run.h"
#include "copies.h"
#include "passes.h"
#include "recordings.h"
#include "reports.h"
#include "scripts.h"
#include "shoal/base/clock.h"
#include "shoal/base/file.h"
#include "shoal/base/text.h"
#include "shoal/components/point_mass.h"
#include "shoal/document/detail/traceback.h"
#include "shoal/inspect/picture.h"
#include "shoal/inspect/schedule_picture.h"
#include "shoal/inspect/text_table.h"
#include "shoal/inspect/trace_file.h"
#include "shoal/plugin/plugins.h"
#include "shoal/reload/reloader.h"
#include "shoal/resource/migration.h"
#include "shoal/save/persistence.h"
#include "shoal/save/save.h"
#include "shoal/save/state_hash.h"
#include "shoal/transform/transform.h"
#include "signals.h"
#include "verbs.h"

#include <chrono>
#include <filesystem>
#include <thread>
#include <utility>
#include <vector>

namespace shoal_tool {

using namespace shoal;

namespace {

constexpr Flag kRunFlags[] = {
    kRootFlag,
    kFollowLinksFlag,
    kSchemaFlag,
    kSourceSchemaFlag,
    kStdinNameFlag,
    {.name = "repeat",
     .value = "N",
     .help = "spawn N copies, their transforms side by side on a square grid (default: 1)",
     .takes = Takes::kText},
    {.name = "frames", .value = "N", .help = "run the passes N times (default: 60)", .takes = Takes::kText},
    {.name = "watch",
     .help =
         "reload the level when a file that it is made from changes; runs until it is interrupted, or for --frames"},
    {.name = "dt",
     .value = "S",
     .help = "seconds from frame to frame, as a number or a fraction (default: 1/60)",
     .takes = Takes::kText},
    kWorkersFlag,
    {.name = "plugin",
     .value = "FILE.so",
     .help = "load a plugin, whose passes run before those of the tool; several are loaded in their order",
     .takes = Takes::kInput,
     .repeats = true},
    {.name = "script",
     .value = "FILE.lua",
     .help = "load a script in Lua, behind the plugins; several are loaded in their order",
     .takes = Takes::kInput,
     .repeats = true},
    {.name = "seed", .value = "N", .help = "of the world's random generator (default: 1)", .takes = Takes::kText},
    {.name = "load",
     .value = "FILE.save",
     .help = "begin with the world of this save in place of spawning the level, which gives passes and resources",
     .takes = Takes::kInput},
    kInspectFlag,
    kAddressFlag,
    kTokenFlag,
    kReadOnlyFlag,
    kSaveFlag,
    {.name = "save-every",
     .value = "N",
     .help = "also write that file after each N frames; the one that is there is replaced when the new one is whole",
     .takes = Takes::kText},
    {.name = "persist",
     .value = "DIR",
     .help =
         "keep the world in this folder, so that it survives the end of the program, however that comes; if it has a "
         "world, the run begins with its last whole frame",
     .takes = Takes::kFolder},
    kMaxMemoryFlag,
    {.name = "record", .value = "FILE.rec", .help = "record all frames, for shoal replay", .takes = Takes::kOutput},
    kJsonFlag,
    kQueryFlag,
    kPictureFlag,
    kScheduleFlag,
    kReportFlag,
    {.name = "trace",
     .value = "FILE.json",
     .help = "write when each worker did what, for chrome://tracing or Perfetto; - is standard output",
     .takes = Takes::kOutput},
};

constexpr std::uint32_t kTracedEvents = 1u << 16;  // latest events kept per worker

// One paragraph per line.
constexpr std::string_view kRunManual =
    "Takes a source, which is compiled in memory first, or a blob; spawns it in one call; runs its passes; and prints "
    "what it cost: time and rows per pass, rows and bytes per component type, spawn time and rate, memory by owner. "
    "SOURCE_OR_BLOB may be -, standard input.\n"
    "\n"
    "A transform says where an entity is as seen from its parent. A point mass on an entity with a transform starts "
    "there and moves it. Other components with a vec3 field `position` are taken to be where that says.\n"
    "\n"
    "passes:\n"
    "  simulate    moves the point masses, if there are any\n"
    "  move        gives their positions to transforms, if there are any\n"
    "  transforms  computes where everything that moved is in the world\n"
    "  bounds      finds the box around all places\n"
    "  settle      drops the rows of the dead and gives memory back\n"
    "\n"
    "With --inspect, frames follow the clock, and a page on 127.0.0.1 shows the world: its passes, memory, zones and "
    "entities, "
    "whose fields can be edited. It can be paused, stepped, and taken back to earlier frames.\n"
    "\n"
    "With --watch, frames follow the clock, and the source, its prefabs and the schema files are watched. When one "
    "changes, the level is compiled again and the running world reloaded: what the source has changed is written, and "
    "all else stays as the passes made it. A source with an error is reported once, and the world runs on as it is; "
    "if it is there from the start, the world begins when it is mended.\n"
    "\n"
    "A query names component types: `fish` must be there, `!asleep` must not, `?name` may; and compares fields: "
    "`health.value < 10`, `body.position.x >= 2`, `mood == angry`. All of its terms, between commas, must hold.\n"
    "\n"
    "A plugin is a shared library that knows the C interface (shoal_abi.h). It is loaded before the level is spawned: "
    "its component types, functions and stores take what the level has by the names of their fields.\n"
    "\n"
    "A script is a text in Lua that adds component types, passes and observers, without a compiler; "
    "docs/guide/scripts.md is about them. It is loaded twice: before the level is compiled, for its component types "
    "and their compile functions, and in the world of the level. An error in a pass of a script is shown with its "
    "line, and the world goes on. With --watch a script is loaded again when its file changes; if that fails, the one "
    "before works on.\n"
    "\n"
    "With --save, the world is saved after the last frame, and with --load, a run goes on from there: 30 frames, a "
    "save, and 30 frames more have the state hash of 60. The level, plugins, scripts and --dt have to be the same.\n"
    "\n"
    "With --persist, a folder gets a snapshot of the world, and what changes in each frame. The next run with the "
    "same folder goes on from the last frame that is whole, and says so; the level then only gives passes and "
    "resources. `shoal check`, `dump` and `diff` read such a folder.\n"
    "\n"
    "With --record, all frames are written to a file as they go by: how the run was made, the world with which it "
    "began, hashes of what each pass wrote, and what has changed. `shoal replay` runs it again and says where it "
    "differs. A run that is ended has a recording of its whole frames.\n"
    "\n"
    "The picture shows transforms by archetype, each with a line to its parent. That of the schedule has a column for "
    "each step of waiting, so that passes above each other may run side by side.\n"
    "\n"
    "The state hash covers every field of every row, who lives, and which random numbers come next. It is the same "
    "for any number of workers.\n";

constexpr std::string_view kRunExamples =
    "shoal run reef.blob\n"
    "shoal run reef.sjson --schema game.schema.sjson --frames 600 --picture reef.svg\n"
    "shoal run reef.sjson --schema game.schema.sjson --watch\n"
    "shoal run reef.blob --plugin build/libspin.so\n"
    "shoal run reef.sjson --script swim.lua --watch\n"
    "shoal run reef.sjson --inspect 8080\n"
    "shoal run reef.blob --frames 30 --save half.save && shoal run reef.blob --frames 30 --load half.save\n"
    "shoal run reef.blob --persist reef_world\n"
    "shoal run reef.blob --record reef.rec && shoal replay reef.rec --verify\n"
    "shoal run reef.blob --repeat 100 --workers 4 --json\n"
    "shoal run reef.blob --schedule passes.svg --report reef.html\n"
    "shoal run reef.blob --query 'point_mass.mass > 2, transform'\n";

constexpr double kShortestWatchedFrame = 0.001;     // seconds
constexpr std::int64_t kLongestSleep = 50'000'000;  // nanoseconds between checks of the watch
constexpr double kLongestLook = 0.05;               // seconds between checks while the inspector answers

/// Reads the flags for saving, except the file names.
Status read_saving(const Arguments& arguments, Task& task) {
    if (!task.persist.empty() && !task.load.empty())
        return Status::error("--load and --persist both say with which world to begin; leave out one of them");
    if (!task.persist.empty() && arguments.has("watch"))
        return Status::error(
            "--watch reloads the level that was spawned, and --persist may begin with another world; leave out one of "
            "them");
    if (!arguments.has("save-every")) return {};
    if (task.save.empty() || is_standard_stream(task.save))
        return Status::error("--save-every writes a file again and again; give --save the name of one");
    return arguments.read_number("save-every", std::uint64_t(1), kMostFrames, task.save_every);
}

Status read_task(const Arguments& arguments, Task& task) {
    task.level = arguments.operands()[0];
    task.query = arguments.value("query");
    task.picture = arguments.value("picture");
    task.schedule = arguments.value("schedule");
    task.trace = arguments.value("trace");
    task.save = arguments.value("save");
    task.load = arguments.value("load");
    task.record = arguments.value("record");
    task.persist = arguments.value("persist");
    task.loading = load_options(arguments);
    if (is_standard_stream(task.record))
        return Status::error(
            "--record writes frame by frame, which standard output cannot take; give it the name of a file");
    for (const std::string_view flag : {"repeat", "seed", "watch"})
        if (!task.load.empty() && arguments.has(flag))
            return Status::error(
                concat("--", flag, " is for a level that is spawned, and --load brings a world; give one of them"));
    if (Status status = read_saving(arguments, task); !status) return status;
    if (Status status = check_picture_names(arguments); !status) return status;
    if (Status status = read_report(arguments, task); !status) return status;
    task.plugins = arguments.values("plugin");
    if (Status status = check_plugin_paths(task.plugins); !status) return status;
    task.scripts = arguments.values("script");
    if (Status status = check_script_paths(task.scripts); !status) return status;
    task.watches = arguments.has("watch");
    if (task.watches && !task.record.empty())
        return Status::error("--watch changes the level while it runs, which no recording has; leave out one of them");
    if (task.watches && is_stream(task.level))
        return Status::error("--watch needs a file that can change, not standard input");
    if (Status status = read_inspection(arguments, task.inspection); !status) return status;
    if (!task.record.empty() && task.inspection.port && task.inspection.allows_edits)
        return Status::error(
            "--inspect may change the world while it runs, which no recording has; leave out --record, or add "
            "--inspect-only");
    if (task.watches || task.inspection.port) task.num_frames = kMostFrames;
    if (Status status = arguments.read_number("repeat", std::uint64_t(1), 1'000'000, task.num_copies); !status)
        return status;
    if (Status status = arguments.read_number("frames", std::uint64_t(0), kMostFrames, task.num_frames); !status)
        return status;
    if (Status status = arguments.read_number("workers", std::uint64_t(0), 1024, task.num_workers); !status)
        return status;
    if (Status status = arguments.read_number("seed", std::uint64_t(0), ~std::uint64_t(0), task.seed); !status)
        return status;
    return arguments.read_number("dt", 0.0, kMostSeconds, task.dt);
}

Status load_plugins(Plugins& plugins, const Task& task, Outcome& outcome) {
    for (const std::string& path : task.plugins) {
        if (Status status = plugins.load(path); !status) return status;
        const PluginInfo loaded = plugins.plugin(plugins.num_plugins() - 1);
        outcome.plugins.push_back(concat(loaded.name, " ", loaded.version));
    }
    return {};
}

/// Creates stores for the level's component types, which plugins may need, and then loads the plugins. Finally,
/// converts the level's components to the fields that the plugins declare.
Status prepare_world(World& world, Blob& blob, Plugins& plugins, const Task& task, Outcome& outcome) {
    make_stores(world, blob);
    if (Status status = world.adopt_schemas(blob); !status) return status;
    if (Status status = load_plugins(plugins, task, outcome); !status) return status;
    std::vector<Schema> schemas;
    for (const BlobComponents& components : blob.component_types())
        if (const Store* store = world.directory().find(components.id); store != nullptr && !task.plugins.empty())
            for (const Schema* schema : store->schemas())
                if (schema->id() == components.id && schema->layout_hash() != components.schema->layout_hash())
                    schemas.push_back(*schema);
    return schemas.empty() ? Status() : convert_fields(blob, schemas, world.registry());
}

Status spawn_level(World& world, const Blob& blob, const Task& task, Outcome& outcome) {
    const auto num_copies = static_cast<std::uint32_t>(task.num_copies);
    const std::vector<RootPose> poses = side_by_side(blob, num_copies);
    const std::int64_t begin_ns = monotonic_ns();
    const Result<Spawned> spawned = world.spawn(blob, {.copies = num_copies, .root_poses = poses, .keep_names = false});
    outcome.spawn_ns = monotonic_ns() - begin_ns;
    if (!spawned) return spawned.status();
    outcome.num_entities = spawned->entities().size();
    outcome.num_components = spawned->num_components();
    for (const BlobComponents& components : blob.component_types())
        outcome.num_bytes += std::uint64_t(components.count()) * components.schema->row_bytes() * task.num_copies;
    place_masses(world, spawned->entities());
    return {};
}

/// Returns whether a folder has a world. If the world is unreadable, Persistence::recover() will report it.
bool has_snapshots(const std::string& folder) {
    if (!path_exists(folder)) return false;
    const Result<std::vector<PersistedSnapshot>> snapshots = list_persisted(folder);
    return !snapshots || !snapshots->empty();
}

/// Loads the world in the folder, and warns about damage.
Status recover(Persistence& persistence, const Task& task, Diagnostics& diagnostics, Outcome& outcome) {
    const Result<Recovered> recovered = persistence.recover(task.persist, task.loading);
    if (!recovered) return recovered.status();
    outcome.recovered_frame = recovered->frame;
    if (!recovered->damage.empty())
        diagnostics.warning({}, recovered->damage, concat("the run goes on from frame ", recovered->frame));
    return {};
}

/// Loads the world in a save or a folder, or the initial state of a recording.
Status begin_with_state(World& world, Persistence& persistence, Files& files, const Task& task,
                        Diagnostics& diagnostics, Outcome& outcome) {
    if (task.begins_with_level()) return {};
    const Result<std::string> bytes = task.load.empty() ? Result<std::string>(std::string()) : files.read(task.load);
    if (!bytes) return bytes.status();
    const std::int64_t begin_ns = monotonic_ns();
    const Status status = task.replay != nullptr ? task.replay->begin(world)
                          : task.recovers        ? recover(persistence, task, diagnostics, outcome)
                                                 : load(world, std::as_bytes(std::span(*bytes)), task.loading);
    outcome.spawn_ns = monotonic_ns() - begin_ns;
    const std::string& source = task.replay != nullptr ? task.level : task.recovers ? task.persist : task.load;
    if (!status) return Status::error(concat(source, ": ", for_user(status.message())));
    outcome.num_entities = world.entities().num_alive();
    for (const Store* store : world.directory().stores())
        for (const Table* table : store->tables()) {
            outcome.num_components += table->num_rows();
            outcome.num_bytes += std::uint64_t(table->num_rows()) * table->schema().row_bytes();
        }
    return {};
}

Status save_world(const World& world, Files& files, const Task& task, Outcome& outcome) {
    if (task.save.empty()) return {};
    Array<std::byte> bytes{Owner("tool")};
    if (Status status = save(world, bytes); !status) return Status::error(concat(task.save, ": ", status.message()));
    outcome.num_saved_bytes = bytes.size();
    return files.write("save", {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

/// The objects that act between frames.
struct BetweenFrames {
    LevelWatch* watch;  // nullptr if no files are watched
    Inspection& inspection;
    LevelScripts& scripts;
};

/// Runs frames as fast as possible, or in real time if files are watched or the world is inspected. Stops after the
/// last frame, when step() returns false, or when the user interrupts the tool.
template <class Step>
void run_frames(World& world, Task& task, Console& console, const BetweenFrames& between, Outcome& outcome,
                Step&& step) {
    LevelWatch* const watch = between.watch;
    const std::int64_t begin_ns = monotonic_ns();
    const auto frame_ns = static_cast<std::int64_t>(std::max(task.dt, kShortestWatchedFrame) * 1e9);
    const auto look = [&] {
        if (watch == nullptr) return;
        watch->look();
        between.scripts.look([&](const std::string& line) { console.print_error(line + "\n"); });
    };
    std::uint64_t frame = 0;
    for (; frame < task.num_frames && !was_interrupted(); ++frame) {
        if (!step(frame)) break;
        if (watch == nullptr && !between.inspection.is_on()) {
            if (task.num_frames != kMostFrames) console.show_progress("frames", frame + 1, task.num_frames);
            continue;
        }
        look();
        if (between.inspection.is_on()) {
            while (!between.inspection.wait_for_frame(static_cast<double>(frame_ns) * 1e-9, kLongestLook) &&
                   !was_interrupted())
                look();
            continue;
        }
        const std::int64_t end_ns = monotonic_ns() + frame_ns;
        const std::int64_t next_ns = begin_ns + static_cast<std::int64_t>(frame + 1) * frame_ns;
        for (std::int64_t early_ns;
             (early_ns = std::min(next_ns, end_ns) - monotonic_ns()) > 0 && !was_interrupted();) {
            std::this_thread::sleep_for(std::chrono::nanoseconds(std::min(early_ns, kLongestSleep)));
            look();
        }
    }
    if (between.inspection.is_on() && !was_interrupted()) between.inspection.answer_on();
    task.num_frames = frame;
    outcome.run_ns = monotonic_ns() - begin_ns;
    outcome.settle_ns = world.settle_statistics().total_ns;
    outcome.last_settle_ns = world.settle_statistics().last_ns;
}

void gather(const World& world, const Task& task, Outcome& outcome) {
    outcome.report = report_world(world);
    PassReport settle{.name = "settle",
                      .num_runs = task.num_frames,
                      .total_ns = outcome.settle_ns,
                      .last_ns = outcome.last_settle_ns};
    for (const ComponentReport& component : outcome.report.components) settle.num_rows += component.num_rows;
    settle.total_rows = settle.num_rows * task.num_frames;
    outcome.report.passes.push_back(std::move(settle));
    outcome.state_hash = state_hash(world);
}

/// Errors: added to the diagnostics.
Status find(const World& world, const Task& task, Diagnostics& diagnostics, Outcome& outcome) {
    if (task.query.empty()) return {};
    Result<Matches> matches = find_matches(world, task.query, diagnostics);
    if (matches) outcome.matches = std::move(*matches);
    return matches.status();
}

Status draw(const World& world, const Task& task, Files& files, Outcome& outcome) {
    if (task.picture.empty()) return {};
    PictureOptions options;
    options.title = title_of(task);
    options.subtitle =
        concat(counted(outcome.num_entities, "entity", "entities"),
               task.num_copies > 1 ? concat(" in ", task.num_copies, " copies") : "", ", seen from above after ",
               counted(task.num_frames, "frame", "frames"), " of ", decimal_text(task.dt * 1000, 1), " ms");
    const Picture picture = draw_world(world, options);
    outcome.num_drawn = picture.num_points;
    outcome.num_not_drawn = picture.num_skipped;
    return write_picture(files, kPictureFlag, task.picture, picture.svg);
}

Status draw_passes(World& world, const Task& task, Files& files, Outcome& outcome) {
    if (task.schedule.empty()) return {};
    const Result<ScheduleGraph> graph = world.schedule().graph();
    if (!graph) return graph.status();
    outcome.num_passes_drawn = graph->passes.size();
    const SchedulePictureOptions options{
        .title = title_of(task),
        .subtitle = concat(counted(graph->passes.size(), "pass", "passes"), "; mean times of ",
                           counted(task.num_frames, "frame", "frames"), " on ",
                           counted(outcome.num_workers, "worker", "workers")),
        .passes = outcome.report.passes};
    if (format_of(task.schedule) == PictureFormat::kDot)
        return files.write(kScheduleFlag.name, schedule_dot(*graph, options));
    return write_picture(files, kScheduleFlag, task.schedule, schedule_svg(*graph, options));
}

Status write_times(const Trace& trace, const Task& task, Files& files, Outcome& outcome) {
    if (task.trace.empty()) return {};
    for (std::uint32_t worker = 0; worker < trace.num_workers(); ++worker) {
        outcome.num_traced += trace.num_events(worker);
        outcome.num_untraced += trace.num_lost(worker);
    }
    return files.write("trace", trace_json(trace));
}

std::string vector_text(Vec3 v) {
    return concat('[', decimal_text(double(v.x), 2), ' ', decimal_text(double(v.y), 2), ' ',
                  decimal_text(double(v.z), 2), ']');
}

void print_facts(Console& console, const Task& task, const Outcome& outcome) {
    std::string text = concat(
        task.level, task.num_copies > 1 ? concat(", ", task.num_copies, " copies") : "",
        task.begins_with_level() ? "\nspawned " : "\nloaded ", counted(outcome.num_entities, "entity", "entities"),
        " with ", counted(outcome.num_components, "component", "components"), " in ",
        decimal_text(outcome.spawn_ms(), 2), " ms: ", decimal_text(outcome.per_second(outcome.num_entities) * 1e-6, 1),
        " million entities/s, ", decimal_text(outcome.per_second(outcome.num_bytes) * 1e-6, 0), " MB/s\nran ",
        counted(task.num_frames, "frame", "frames"), " in ",
        decimal_text(static_cast<double>(outcome.run_ns) * 1e-6, 1), " ms on ",
        counted(outcome.num_workers, "worker", "workers"), "\n\n", report_text(outcome.report), "\n");
    if (outcome.bounds.num_points > 0)
        text += concat("bounds      ", vector_text(outcome.bounds.low), " to ", vector_text(outcome.bounds.high), "\n");
    if (outcome.bounds.num_skipped > 0)
        text += concat("not finite  ", counted(outcome.bounds.num_skipped, "position", "positions"), "\n");
    for (const std::string& plugin : outcome.plugins) text += concat("plugin      ", utf8_text(plugin), "\n");
    text += concat("state hash  ", state_hash_text(outcome.state_hash), "\n");
    if (!task.picture.empty())
        text += concat("picture     ", name_of_output(task.picture), ", ",
                       counted(outcome.num_drawn, "point", "points"), "\n");
    text += report_line(task, outcome);
    if (!task.schedule.empty())
        text += concat("schedule    ", name_of_output(task.schedule), ", ",
                       counted(outcome.num_passes_drawn, "pass", "passes"), "\n");
    if (!task.trace.empty())
        text += concat("trace       ", name_of_output(task.trace), ", ", counted(outcome.num_traced, "event", "events"),
                       outcome.num_untraced == 0 ? "" : ", the latest of them", "\n");
    if (!task.save.empty())
        text += concat("save        ", name_of_output(task.save), ", ",
                       counted(outcome.num_saved_bytes, "byte", "bytes"), "\n");
    if (!task.persist.empty())
        text +=
            concat("persisted   ", task.persist, ", frame ", outcome.persisted.last_frame,
                   outcome.recovered_frame ? concat(", recovered from frame ", *outcome.recovered_frame) : "", "\n");
    if (!task.record.empty())
        text += concat("recording   ", task.record, ", ", counted(outcome.num_recorded_bytes, "byte", "bytes"), "\n");
    if (outcome.matches) text += outcome.matches->text;
    console.print(text);
}

void write_vector(DocumentBuilder& builder, Vec3 v) {
    builder.begin_list();
    for (const float lane : {v.x, v.y, v.z}) builder.number(static_cast<double>(lane));
    builder.end();
}

void write_outcome(DocumentBuilder& builder, const Task& task, const Outcome& outcome) {
    builder.string("level", utf8_text(task.level));
    builder.unsigned_integer("copies", task.num_copies);
    builder.unsigned_integer("entities", outcome.num_entities);
    builder.unsigned_integer("num_components", outcome.num_components);
    builder.number("load_ms", static_cast<double>(outcome.load_ns) * 1e-6);
    builder.number("spawn_ms", outcome.spawn_ms());
    builder.number("spawn_entities_per_s", outcome.per_second(outcome.num_entities));
    builder.number("spawn_bytes_per_s", outcome.per_second(outcome.num_bytes));
    builder.unsigned_integer("frames", task.num_frames);
    if (task.watches) builder.unsigned_integer("reloads", outcome.num_reloads);
    builder.number("dt", task.dt);
    builder.unsigned_integer("workers", outcome.num_workers);
    builder.unsigned_integer("seed", task.seed);
    builder.number("run_ms", static_cast<double>(outcome.run_ns) * 1e-6);
    if (!outcome.plugins.empty()) {
        builder.begin_list("plugins");
        for (const std::string& plugin : outcome.plugins) builder.string(utf8_text(plugin));
        builder.end();
    }
    if (!task.scripts.empty()) builder.unsigned_integer("script_failures", outcome.num_script_failures);
    if (outcome.num_script_failures != 0) builder.string("last_script_failure", utf8_text(outcome.script_failure));
    builder.string("state_hash", state_hash_text(outcome.state_hash));
    write_report(outcome.report, builder);
}

void write_places(DocumentBuilder& builder, const Task& task, const Outcome& outcome) {
    if (outcome.bounds.num_points > 0) {
        builder.begin_mapping("bounds");
        builder.key("low");
        write_vector(builder, outcome.bounds.low);
        builder.key("high");
        write_vector(builder, outcome.bounds.high);
        builder.end();
    }
    if (!task.trace.empty()) {
        builder.string("trace", utf8_text(task.trace));
        builder.unsigned_integer("events_traced", outcome.num_traced);
        builder.unsigned_integer("events_not_kept", outcome.num_untraced);
    }
    if (!task.save.empty()) {
        builder.string("save", utf8_text(task.save));
        builder.unsigned_integer("save_bytes", outcome.num_saved_bytes);
    }
    if (!task.persist.empty()) {
        builder.string("persisted", utf8_text(task.persist));
        builder.unsigned_integer("persisted_frame", outcome.persisted.last_frame);
        if (outcome.recovered_frame) builder.unsigned_integer("recovered_frame", *outcome.recovered_frame);
    }
    if (!task.record.empty()) {
        builder.string("recording", utf8_text(task.record));
        builder.unsigned_integer("recording_bytes", outcome.num_recorded_bytes);
    }
    if (!task.report.empty()) builder.string("report", utf8_text(task.report));
    if (!task.schedule.empty()) builder.string("schedule", utf8_text(task.schedule));
    if (task.picture.empty()) return;
    builder.string("picture", utf8_text(task.picture));
    builder.unsigned_integer("points_drawn", outcome.num_drawn);
    builder.unsigned_integer("points_not_finite", outcome.num_not_drawn);
}

void print_json(Console& console, const Task& task, const Outcome& outcome, const Diagnostics& diagnostics) {
    DocumentBuilder builder;
    builder.begin_mapping();
    builder.boolean("ok", true);
    write_outcome(builder, task, outcome);
    write_places(builder, task, outcome);
    if (outcome.matches) {
        builder.key("matches");
        builder.value(outcome.matches->document.root());
    }
    write_diagnostics(diagnostics, builder);
    builder.end();
    console.print_json(builder.finish());
}

/// Runs the frames of the level or the recording. Records and persists the run if the task requests it.
Status run_and_record(World& world, Persistence& persistence, Task& task, const Blob& blob, Files& files,
                      Console& console, const BetweenFrames& between, Outcome& outcome) {
    Recorder recorder(world);
    if (!task.record.empty())
        if (Status status = start_recording(recorder, world, blob, task); !status) return status;
    if (!task.persist.empty())
        if (Status status = persistence.start(task.persist); !status) return status;
    Status saved;
    run_frames(world, task, console, between, outcome, [&](std::uint64_t frame) {
        if (task.replay != nullptr) return replay_frame(world, task);
        recorder.step(static_cast<float>(task.dt));
        if (task.save_every != 0 && (frame + 1) % task.save_every == 0) saved = save_world(world, files, task, outcome);
        return saved.ok();
    });
    const Status recorded = recorder.stop(), persisted = persistence.stop();
    outcome.num_recorded_bytes = recorder.num_bytes();
    outcome.persisted = persistence.statistics();
    return !saved ? saved : !recorded ? recorded : persisted;
}

}  // namespace

std::string title_of(const Task& task) { return utf8_text(std::filesystem::path(task.level).stem().string()); }

std::string state_hash_text(std::uint64_t hash) {
    std::string text;
    append_hex(text, hash);
    return text;
}

Status live(LoadedLevel& level, const Blob& resources, Task& task, const Arguments& arguments, Files& files,
            Console& console, Diagnostics& diagnostics, Outcome& outcome) {
    if (Status status = check_picture_library(arguments); !status) return status;
    ResourceLibrary library;
    const Blob& blob = level.blob;
    if (Status status = add_view(library, resources); !status) return status;
    EntityManager entities;
    ThreadedExecutor executor(static_cast<std::uint32_t>(task.num_workers));
    World world(entities, {.executor = &executor, .library = &library, .seed = task.seed});
    task.inspection.name = task.level;
    Inspection inspection;
    if (Status status = inspection.start(world, task.inspection, console); !status) return status;
    std::optional<Reloader> reloader;
    if (task.watches) reloader.emplace(world);
    Persistence persistence(world);
    outcome.num_workers = executor.num_workers();
    task.recovers = !task.persist.empty() && has_snapshots(task.persist);
    if (SourceRules rules; level.is_blob || !task.load.empty() || task.recovers)
        read_schemas(arguments, files, world.registry(), rules, diagnostics);  // to migrate the blob and the save
    if (diagnostics.num_errors() != 0) return Status::error("the schema files have errors");
    if (task.watches) {  // a reload may add component types that need these passes
        world.transforms({.mode = TransformMode::kDeferred});
        world.manager<PointMass>();
    }
    Plugins plugins(world);
    struct NoPasses {  // destroys the passes before the plugins, because passes use the plugins' stores
        World& world;
        ~NoPasses() { world.schedule().clear(); }
    } const no_passes{world};
    if (Status status = prepare_world(world, level.blob, plugins, task, outcome); !status) return status;
    if (task.begins_with_level())
        if (Status status = spawn_level(world, blob, task, outcome); !status) return status;
    LevelScripts scripts(world);
    if (Status status = scripts.load(task.scripts); !status) {
        add_with_traceback(diagnostics, {}, status.message());
        return Status::error("a script was not loaded");
    }
    add_passes(world, outcome.bounds);
    if (Status status = begin_with_state(world, persistence, files, task, diagnostics, outcome); !status) return status;
    const bool is_traced = !task.trace.empty() || !task.report.empty();
    Trace trace(executor.num_workers(), is_traced ? kTracedEvents : 1);
    if (is_traced) world.schedule().set_trace(&trace);
    if (Status status = find(world, task, diagnostics, outcome); !status) return status;  // checks the query early
    std::optional<LevelWatch> watch;
    if (task.watches) watch.emplace(arguments, files, console, world, *reloader, library, level);
    Status ran = run_and_record(world, persistence, task, blob, files, console,
                                {watch ? &*watch : nullptr, inspection, scripts}, outcome);
    if (!ran) return ran;
    outcome.num_reloads = watch ? watch->num_reloads() : 0;
    outcome.num_script_failures = scripts.num_failures();
    outcome.script_failure = scripts.last_failure();
    if (Status status = find(world, task, diagnostics, outcome); !status) return status;
    world.schedule().set_trace(nullptr);
    gather(world, task, outcome);
    if (Status status = save_world(world, files, task, outcome); !status) return status;
    if (Status status = write_times(trace, task, files, outcome); !status) return status;
    if (Status status = write_report_of_run(world, trace, task, files, outcome); !status) return status;
    if (Status status = draw_passes(world, task, files, outcome); !status) return status;
    return draw(world, task, files, outcome);
}

void show_outcome(Console& console, const Task& task, const Outcome& outcome, const Diagnostics& diagnostics) {
    console.print_diagnostics(diagnostics);
    if (task.prints_facts)
        print_facts(console, task, outcome);
    else
        console.print(report_line(task, outcome));
    if (console.json()) print_json(console, task, outcome, diagnostics);
}

namespace {

/// Composes the source again, because it may have changed. It is called only when the inspector asks for origins.
std::vector<LayerOrigin> origins_in(const SourceSession& session, std::uint64_t guid) {
    Diagnostics diagnostics;
    const std::optional<Composition> composition =
        compose(session.path, compose_options(session.options, session.registry), diagnostics);
    return composition ? layer_origins(*composition, diagnostics, guid) : std::vector<LayerOrigin>();
}

}  // namespace

int run_run(const Arguments& arguments, Files& files, Console& console) {
    Task task;
    if (Status status = read_task(arguments, task); !status)
        return fail_usage(console, arguments.verb(), status.message());
    std::optional<SourceSession> session(std::in_place);
    Outcome outcome;
    LevelFiles tried;
    std::optional<LoadedLevel> level = load_level(arguments, files, console, task.level, *session, tried);
    if (task.watches) note_first_signal();
    if (!level && task.watches) {
        level = wait_for_level(arguments, files, console, task.level, session, std::move(tried));
        if (!level && !console.json()) return 1;  // the errors were already shown
    }
    if (!level) return fail(console, session->diagnostics);
    task.level = session->path;
    if (task.inspection.port && !level->is_blob)
        task.inspection.origins = [&session](std::uint64_t guid) { return origins_in(*session, guid); };
    outcome.load_ns = level->load_ns;
    if (Status status = live(*level, level->blob, task, arguments, files, console, session->diagnostics, outcome);
        !status)
        return fail(console, *session, status.message());
    show_outcome(console, task, outcome, session->diagnostics);
    return 0;
}

const Verb kRunVerb{.name = "run",
                    .summary = "spawn a level, run passes over it, show what happened",
                    .operands = "SOURCE_OR_BLOB",
                    .takes = Takes::kInput,
                    .min_operands = 1,
                    .max_operands = 1,
                    .flags = kRunFlags,
                    .manual = kRunManual,
                    .examples = kRunExamples,
                    .run = run_run};

}  // namespace shoal_tool
