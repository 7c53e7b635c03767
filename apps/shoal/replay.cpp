// shoal replay: repeats a run that was recorded by shoal run --record, and reports differences.

#include "recordings.h"
#include "reports.h"
#include "scripts.h"
#include "shoal/base/file.h"
#include "shoal/base/text.h"
#include "shoal/document/json.h"
#include "shoal/entity/entity_text.h"
#include "shoal/resource/blob_writer.h"
#include "verbs.h"

#include <cmath>
#include <filesystem>
#include <vector>

namespace shoal_tool {

using namespace shoal;

namespace {

constexpr int kDifferent = 3;

constexpr Flag kReplayFlags[] = {
    {.name = "verify", .help = "compare each frame with the recording, and say what differs first"},
    {.name = "frames",
     .value = "N",
     .help = "play the first N frames only (default: all of them)",
     .takes = Takes::kText},
    kWorkersFlag,
    {.name = "plugin",
     .value = "FILE.so",
     .help = "load this plugin in place of those that the recording names; several are loaded in their order",
     .takes = Takes::kInput,
     .repeats = true},
    {.name = "script",
     .value = "FILE.lua",
     .help = "load this script in place of those that the recording names; several are loaded in their order",
     .takes = Takes::kInput,
     .repeats = true},
    {.name = "recorded-code",
     .help =
         "load the plugins and scripts that the recording names: code, which may do whatever you may, so only if you "
         "trust who has sent the recording"},
    kInspectFlag,
    kAddressFlag,
    kTokenFlag,
    kReadOnlyFlag,
    kSaveFlag,
    kMaxMemoryFlag,
    kJsonFlag,
    kQueryFlag,
    kPictureFlag,
    kScheduleFlag,
    kReportFlag,
};

// One paragraph per line.
constexpr std::string_view kReplayManual =
    "Plays a recording that `shoal run --record` has written: begins with the same world, makes the same passes, and "
    "runs the same frames. What is shown in the end is what `shoal run` shows.\n"
    "\n"
    "The recording has the level and all that is in the world. Of plugins and scripts it has only the paths. These "
    "are code, and a recording may come from anybody, so they are loaded only if you say so: --recorded-code loads "
    "them from where they were when the run was recorded, and says of each that is not what it was; --plugin and "
    "--script name those to load instead. Without them, nothing that the recording names is read or run.\n"
    "\n"
    "With --verify, what each pass writes is compared with the recording, and so is the world at the end of each "
    "frame. The first difference ends the run and is printed: the frame, counted from the first of the world, the "
    "pass, the component and field, and an entity with both values as they are at the end of the frame. `settle` "
    "stands for what happens between frames: commands, observers, stores.\n"
    "\n"
    "A run that differs reads something that is not in the world: a clock, a variable, memory that is not "
    "initialised, or the order in which workers come. Or it runs other code than was recorded.\n"
    "\n"
    "Exits with 0 if nothing differs, with 3 if something does, and with 1 if the recording is damaged; the frames "
    "that are whole can be played with --frames.\n";

constexpr std::string_view kReplayExamples =
    "shoal replay reef.rec --verify\n"
    "shoal run reef.blob --frames 600 --record reef.rec && shoal replay reef.rec\n"
    "shoal replay reef.rec --verify --workers 1\n"
    "shoal replay reef.rec --frames 99 --save before.save\n"
    "shoal replay reef.rec --verify --script other/swim.lua\n"
    "shoal replay mine.rec --verify --recorded-code\n";

/// A recorded plugin or script.
struct RecordedFile {
    std::string path;
    std::string hash;  // hash of its content
};

std::string hash_of_file(const std::string& path) {
    const Result<std::string> bytes = read_file(path);
    return bytes ? state_hash_text(hash_bytes(bytes->data(), bytes->size())) : std::string();
}

void write_files(DocumentBuilder& builder, std::string_view key, std::span<const std::string> paths) {
    builder.begin_list(key);
    for (const std::string& path : paths) {
        std::error_code failed;
        const std::string absolute = std::filesystem::absolute(path, failed).string();
        builder.begin_mapping();
        builder.string("path", utf8_text(failed ? path : absolute));
        builder.string("hash", hash_of_file(path));
        builder.end();
    }
    builder.end();
}

/// Returns a blob with a level's component types, as they are declared in the world.
Result<std::vector<std::byte>> types_of(const World& world, const Blob& level) {
    BlobWriter types;
    types.set_name("types");
    for (const BlobComponents& components : level.component_types()) {
        const Store* const store = world.directory().find(components.id);
        for (std::size_t i = 0; store != nullptr && i < store->schemas().size(); ++i)
            if (store->schemas()[i]->id() == components.id)
                if (const Result<std::uint32_t> added = types.add_component_type(*store->schemas()[i]); !added)
                    return added.status();
    }
    return types.write();
}

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

/// The setup of a recorded run.
struct RecordedRun {
    std::string level;
    std::vector<RecordedFile> plugins, scripts;
    double dt = 0;
    std::optional<Blob> resources, types;
};

std::string text_at(Node node, std::string_view key) {
    const Node found = node.find(key);
    return found && found.is_string() ? std::string(found.as_string()) : std::string();
}
std::vector<RecordedFile> files_at(Node node, std::string_view key) {
    std::vector<RecordedFile> files;
    if (const Node list = node.find(key); list && list.is_list())
        for (const Node file : list)
            if (file.is_mapping()) files.push_back({text_at(file, "path"), text_at(file, "hash")});
    return files;
}

/// Errors: the recording was not made by the tool, or was made by a later version of the tool.
Result<RecordedRun> read_setup(std::span<const std::byte> setup) {
    const Status foreign =
        Status::error("the recording was not made by `shoal run --record`; play it with the program that made it");
    const std::string_view all(reinterpret_cast<const char*>(setup.data()), setup.size());
    const std::string_view text = all.substr(0, all.find('\0'));
    Diagnostics diagnostics;
    const Result<Document> document =
        read_json(diagnostics.add_file("the setup of the recording", std::string(text)), diagnostics);
    if (!document || !document->root().is_mapping()) return foreign;
    const Node root = document->root(), num_bytes = root.find("level_bytes"), dt = root.find("dt");
    const std::uint64_t* const level_bytes = num_bytes && num_bytes.is_integer() ? num_bytes.as_uint64() : nullptr;
    const std::string_view blobs = all.substr(std::min(all.size(), text.size() + 1));
    if (level_bytes == nullptr || *level_bytes > blobs.size()) return foreign;
    RecordedRun run{text_at(root, "level"), files_at(root, "plugins"), files_at(root, "scripts"), 0, {}, {}};
    if (dt && dt.is_number()) run.dt = dt.as_double();
    if (!(run.dt >= 0 && run.dt <= kMostSeconds))
        return Status::error(concat("the recording has frames of ", run.dt, " seconds, which are from 0 to ",
                                    kMostSeconds, "; record it again"));
    for (const auto& [blob, bytes] :
         {std::pair(&run.resources, blobs.substr(0, static_cast<std::size_t>(*level_bytes))),
          std::pair(&run.types, blobs.substr(static_cast<std::size_t>(*level_bytes)))}) {
        Result<Blob> loaded = Blob::load(bytes_of(bytes));
        if (!loaded) return Status::error(concat("the level in the recording: ", loaded.message()));
        *blob = std::move(*loaded);
    }
    return run;
}

/// Adds the names of the plugins or scripts that would be loaded only because the recording lists them.
void append_names(const Arguments& arguments, std::string_view flag, std::span<const RecordedFile> recorded,
                  std::string& names) {
    constexpr std::size_t kMostNames = 8;
    if (arguments.has(flag)) return;
    for (std::size_t i = 0; i < std::min(recorded.size(), kMostNames); ++i)
        names += concat(names.empty() ? "" : ", ", flag, " \"", recorded[i].path, '"');
    if (recorded.size() > kMostNames)
        names += concat(" and ", counted(recorded.size() - kMostNames, "other", "others"));
}

/// Errors: the replay would run code that the user has not allowed. The hashes in the recording are no protection,
/// because they may be forged.
Status check_code(const Arguments& arguments, const RecordedRun& run) {
    std::string names;
    append_names(arguments, "plugin", run.plugins, names);
    append_names(arguments, "script", run.scripts, names);
    if (names.empty() || arguments.has("recorded-code")) return {};
    return Status::error(concat("the recording names code, which is not loaded unless you allow it: ", names));
}

/// Returns the files to load: the files that were given, or the recorded files if none were given. Adds a warning for
/// each recorded file that has changed.
std::vector<std::string> files_to_load(std::vector<std::string> given, std::span<const RecordedFile> recorded,
                                       Diagnostics& diagnostics) {
    if (!given.empty()) return given;
    for (const RecordedFile& file : recorded) {
        const std::string hash = hash_of_file(file.path);
        if (!hash.empty() && hash != file.hash)
            diagnostics.warning({}, concat("\"", file.path, "\" is not what it was when this was recorded"),
                                "if the run differs, that may be why");
        given.push_back(file.path);
    }
    return given;
}

void take_setup(const Arguments& arguments, const RecordedRun& run, Diagnostics& diagnostics, Task& task) {
    task.level = arguments.operands()[0];
    task.query = arguments.value("query");
    task.picture = arguments.value("picture");
    task.schedule = arguments.value("schedule");
    task.save = arguments.value("save");
    task.verifies = arguments.has("verify");
    task.dt = run.dt;
    task.plugins = files_to_load(arguments.values("plugin"), run.plugins, diagnostics);
    task.scripts = files_to_load(arguments.values("script"), run.scripts, diagnostics);
}

Status check_usage(const Arguments& arguments, Task& task) {
    if (Status status = check_plugin_paths(arguments.values("plugin")); !status) return status;
    if (Status status = check_script_paths(arguments.values("script")); !status) return status;
    if (Status status = check_picture_names(arguments); !status) return status;
    if (Status status = read_report(arguments, task); !status) return status;
    task.num_frames = kMostFrames;
    if (Status status = arguments.read_number("frames", std::uint64_t(0), kMostFrames, task.num_frames); !status)
        return status;
    if (Status status = read_inspection(arguments, task.inspection); !status) return status;
    return arguments.read_number("workers", std::uint64_t(0), 1024, task.num_workers);
}

void write_difference(DocumentBuilder& builder, const ReplayDifference& difference) {
    builder.begin_mapping("difference");
    builder.string("text", difference.text());
    builder.unsigned_integer("frame", difference.frame);
    builder.string("pass", difference.pass.empty() ? std::string_view("settle") : std::string_view(difference.pass));
    if (difference.value) {
        builder.string("component", difference.value.component);
        builder.string("field", difference.value.field);
        if (difference.value.entity) builder.string("entity", entity_text(difference.value.entity));
        builder.string("here", difference.value.here);
        builder.string("recorded", difference.value.there);
        builder.unsigned_integer("others", difference.value.num_others);
    }
    builder.end();
}

/// Reports whether the frames match the recording. Returns the exit code.
int show_verified(Console& console, const Task& task, const Outcome& outcome, const Diagnostics& diagnostics) {
    const ReplayDifference& difference = task.replay->difference();
    console.print_diagnostics(diagnostics);
    if (difference)
        console.print(concat(difference.text(), "\n"));
    else
        console.print(concat(task.level, ": ", counted(task.num_frames, "frame is", "frames are"),
                             " equal to the recording\nstate hash  ", state_hash_text(outcome.state_hash), "\n"));
    if (console.json()) {
        DocumentBuilder builder;
        builder.begin_mapping();
        builder.boolean("ok", true);
        builder.string("recording", utf8_text(task.level));
        builder.unsigned_integer("frames", task.num_frames);
        builder.unsigned_integer("workers", outcome.num_workers);
        builder.boolean("different", bool(difference));
        if (difference) write_difference(builder, difference);
        builder.string("state_hash", state_hash_text(outcome.state_hash));
        write_diagnostics(diagnostics, builder);
        builder.end();
        console.print_json(builder.finish());
    }
    return difference ? kDifferent : 0;
}

}  // namespace

int run_replay(const Arguments& arguments, Files& files, Console& console) {
    Task task;
    if (Status status = check_usage(arguments, task); !status)
        return fail_usage(console, arguments.verb(), status.message());
    const std::string& path = arguments.operands()[0];
    const auto refuse = [&](std::string_view message) { return fail(console, concat(path, ": ", message)); };
    const Result<std::string> bytes = files.read(path);
    if (!bytes) return fail(console, bytes.message(), "give the path of a recording");
    Result<Replay> replay = Replay::open(bytes_of(*bytes), load_options(arguments));
    if (!replay) return refuse(for_user(replay.message()));
    Result<RecordedRun> recorded = read_setup(replay->setup());
    if (!recorded) return refuse(recorded.message());
    if (const Status status = check_code(arguments, *recorded); !status)
        return fail(
            console, concat(path, ": ", status.message()),
            "if you trust who has sent it, add --recorded-code; or give the files to load with --plugin and --script");
    Diagnostics diagnostics;
    take_setup(arguments, *recorded, diagnostics, task);
    task.replay = &*replay;
    LoadedLevel level{std::move(*recorded->types), {}, 0, false};
    Outcome outcome;
    if (Status status = live(level, *recorded->resources, task, arguments, files, console, diagnostics, outcome);
        !status)
        return diagnostics.num_errors() != 0 ? fail(console, diagnostics) : refuse(status.message());
    if (const Status status = replay->status(); !status && !replay->difference())
        return refuse(concat(for_user(status.message()), "; what is whole is played with --frames ", task.num_frames));
    if (task.verifies) return show_verified(console, task, outcome, diagnostics);
    show_outcome(console, task, outcome, diagnostics);
    return 0;
}

bool holds_recording(Files& files, const std::string& path) {
    std::error_code failed;
    if (is_standard_stream(path) || std::filesystem::is_directory(path, failed)) return false;
    const Result<std::string> bytes = files.read(path);
    return bytes && Replay::is_recording(bytes_of(*bytes));
}

Status start_recording(Recorder& recorder, const World& world, const Blob& level, const Task& task) {
    const Result<std::vector<std::byte>> types = types_of(world, level);
    if (!types) return types.status();
    DocumentBuilder builder;
    builder.begin_mapping();
    builder.string("program", "shoal");
    builder.string("level", utf8_text(task.level));
    builder.number("dt", task.dt);
    builder.unsigned_integer("seed", task.seed);
    write_files(builder, "plugins", task.plugins);
    write_files(builder, "scripts", task.scripts);
    builder.unsigned_integer("level_bytes", level.bytes().size());
    builder.end();
    const std::string text = write_json(builder.finish().root());
    std::vector<std::byte> setup;
    for (const std::span<const std::byte> part :
         {bytes_of(text), bytes_of(std::string_view("\0", 1)), level.bytes(), std::span<const std::byte>(*types)})
        setup.insert(setup.end(), part.begin(), part.end());
    // If the path is a link, write the file that it points to.
    std::error_code failed;
    const std::filesystem::path place = std::filesystem::weakly_canonical(task.record, failed);
    return recorder.start(failed ? task.record : place.string(), setup);
}

bool replay_frame(World& world, const Task& task) {
    Replay& replay = *task.replay;
    if (replay.difference() || !replay.next()) return false;
    if (task.verifies)
        replay.step();
    else
        world.step(replay.dt());
    return true;
}

const Verb kReplayVerb{.name = "replay",
                       .summary = "run a recording again, and say where it differs",
                       .operands = "RECORDING",
                       .takes = Takes::kInput,
                       .min_operands = 1,
                       .max_operands = 1,
                       .flags = kReplayFlags,
                       .manual = kReplayManual,
                       .examples = kReplayExamples,
                       .run = run_replay};

}  // namespace shoal_tool
