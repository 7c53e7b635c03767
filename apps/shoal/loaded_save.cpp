#include "loaded_save.h"

#include "shoal/base/detail/lines.h"
#include "shoal/base/file.h"
#include "shoal/base/text.h"
#include "shoal/pose/model_pose.h"
#include "shoal/save/persistence.h"
#include "shoal/save/recording.h"
#include "shoal/save/save.h"
#include "shoal/save/state_difference.h"

#include <algorithm>
#include <filesystem>
#include <vector>

namespace shoal_tool {

using namespace shoal;

namespace {

constexpr std::string_view kSaveMagic = "shoalsav", kLogMagic = "shoallog";
static_assert(kSaveMagic.size() == kLogMagic.size());

/// Returns the first bytes of a file, which identify a save.
std::string magic_of(Files& files, const std::string& path) {
    std::string start(kSaveMagic.size(), '\0');
    if (!is_stream(path)) {
        start.resize(read_start(path, std::as_writable_bytes(std::span(start))));
        return start;
    }
    const Result<std::string_view> text = files.stream(path);
    return text ? std::string(text->substr(0, start.size())) : std::string();
}

/// Reports that a file is a log, and suggests what to give instead.
void refuse_log(const std::string& path, std::string_view bytes, Diagnostics& diagnostics) {
    if (Replay::is_recording(std::as_bytes(std::span(bytes)))) {
        diagnostics.error({}, concat(path, ": the file is a recording of a run, and not a save"),
                          "play it with `shoal replay`, whose --save gives a save");
        return;
    }
    const std::string folder = std::filesystem::path(path).parent_path().string();
    diagnostics.error({},
                      concat(path, ": the file is the log of a snapshot, and has only what has changed since; it ",
                             "cannot be read alone"),
                      concat("give the folder that has both",
                             is_standard_stream(path) ? "" : concat(": ", folder.empty() ? "." : folder)));
}

Result<Snapshot> read_file_of_save(Files& files, const std::string& path, const LoadOptions& options) {
    const Result<std::string> bytes = files.read(path);
    if (!bytes) return bytes.status();
    Result<Snapshot> state = read_save(std::as_bytes(std::span(*bytes)), options);
    return state ? std::move(state) : Result<Snapshot>(Status::error(concat(path, ": ", state.message())));
}

/// Reports that a snapshot is damaged.
void note_damage(const PersistedSnapshot& snapshot, Snapshots wanted, Diagnostics& diagnostics) {
    for (const auto& [path, damage] :
         {std::pair(&snapshot.path, &snapshot.damage), std::pair(&snapshot.log_path, &snapshot.log_damage)}) {
        if (damage->empty()) continue;
        std::string text = concat(*path, ": ", *damage);
        wanted == Snapshots::kAll ? diagnostics.error({}, std::move(text)) : diagnostics.warning({}, std::move(text));
    }
}

Result<Snapshot> read_folder(const std::string& folder, Snapshots wanted, const LoadOptions& options, LoadedSave& save,
                             Diagnostics& diagnostics) {
    Result<std::vector<PersistedSnapshot>> snapshots = list_persisted(folder);
    if (!snapshots) return snapshots.status();
    if (snapshots->empty())
        return Status::error(concat("the folder \"", folder,
                                    "\" has no snapshot, such as 0000000001.save, that Persistence writes; give "
                                    "a file, or the folder to which a world is persisted"));
    save.snapshots = std::move(*snapshots);
    Snapshot last;
    for (std::size_t i = 0; i < save.snapshots.size(); ++i) {
        PersistedSnapshot& snapshot = save.snapshots[i];
        Result<Snapshot> state = read_persisted(snapshot, options);
        if (!state) return state.status();
        note_damage(snapshot, wanted, diagnostics);
        if (!snapshot.damage.empty() || save.recovered != nullptr) continue;
        save.recovered = &snapshot;
        last = std::move(*state);
        if (wanted == Snapshots::kNewestWhole) save.snapshots.resize(i + 1);
    }
    if (save.recovered == nullptr)
        return Status::error(concat("no snapshot in the folder \"", folder, "\" can be read"));
    return last;
}

// --- resources ---------------------------------------------------------------------------------------------------

/// Errors: added to the diagnostics.
void add_resources(const Arguments& arguments, Files& files, ResourceLibrary& library, Diagnostics& diagnostics) {
    for (const std::string& path : arguments.values(kResourceFlag.name)) {
        Result<Blob> blob = read_blob(files, path);
        if (!blob) {
            diagnostics.error({}, std::string(blob.message()), "give --resource a blob that `shoal compile` made");
            continue;
        }
        if (library.find(blob->id()) != nullptr) {
            diagnostics.error({}, concat(path, ": the resource \"", blob->name(), "\" is given already"),
                              "give --resource each blob once");
            continue;
        }
        if (const Status status = library.add(std::move(*blob)).status(); !status)
            diagnostics.error({}, concat(path, ": ", status.message()));
    }
}

/// The parts of a state that cannot be loaded because blobs are missing.
struct MissingResources {
    std::vector<std::string> scopes;  // path prefixes of these parts
    std::vector<std::string> names;   // names or ids of the resources
};

void add_name(std::string name, MissingResources& missing) {
    if (std::ranges::find(missing.names, name) == missing.names.end()) missing.names.push_back(std::move(name));
}

/// Finds models, because their nodes are in blobs.
void find_models(const Snapshot& state, MissingResources& missing) {
    const std::string scope = concat("stores/", schema_of<ModelPose>().name(), '/');
    for (std::size_t i = 0; i < state.num_parts(); ++i) {
        const SnapshotPart part = state.part(i);
        if (!part.path.starts_with(scope) || !part.path.ends_with("/source")) continue;
        ModelPose source;
        if (!SnapshotReader(state).value(part.path, source) || source.names.count == 0) continue;
        std::string id = "#";
        append_hex(id, source.names.resource.hash);
        add_name(std::move(id), missing);
        if (missing.scopes.empty()) missing.scopes.push_back(scope);
    }
}

/// Finds the commands that spawn blobs. In older saves, they are part of a database.
void find_commands(const Snapshot& state, MissingResources& missing) {
    constexpr std::string_view kBlobs = "commands/blobs";
    for (std::size_t i = 0; i < state.num_parts(); ++i) {
        const SnapshotPart part = state.part(i);
        const bool is_of_database = part.path.starts_with("stores/") && part.path.ends_with(kBlobs);
        if ((part.path != kBlobs && !is_of_database) || part.num_elements == 0) continue;
        const Result<std::string> names = SnapshotReader(state).text(part.path);
        for (std::string_view rest = names ? *names : std::string_view(); !rest.empty();)
            add_name(concat('"', take_line(rest), '"'), missing);
        missing.scopes.emplace_back(part.path.substr(0, part.path.size() - std::string_view("blobs").size()));
    }
}

/// Returns the lines of the "stores" part, except those of the stores in `scopes`.
std::string remaining_stores(std::string_view lines, const std::vector<std::string>& scopes) {
    std::string text;
    while (!lines.empty()) {
        const std::string_view line = take_line(lines);
        const std::string scope = concat("stores/", line.substr(0, line.find('\t')), '/');
        if (std::ranges::find(scopes, scope) == scopes.end()) text += concat(line, '\n');
    }
    return text;
}

/// Copies a state without the parts whose paths start with one of `scopes`.
Result<Snapshot> without(const Snapshot& state, const std::vector<std::string>& scopes) {
    const Result<std::string> stores = SnapshotReader(state).text("stores");
    if (!stores) return stores.status();
    Snapshot rest;
    SnapshotWriter to(rest);
    for (std::size_t i = 0; i < state.num_parts(); ++i) {
        const SnapshotPart part = state.part(i);
        const auto has_part = [&](const std::string& scope) { return part.path.starts_with(scope); };
        if (std::ranges::any_of(scopes, has_part) || part.path == "stores") continue;
        to.copy(part.path, state, part);
    }
    to.text("stores", remaining_stores(*stores, scopes));
    return to.status() ? Result<Snapshot>(std::move(rest)) : Result<Snapshot>(to.status());
}

std::string name_of_left_out(const std::vector<std::string>& scopes) {
    const auto is_of_commands = [](const std::string& scope) { return scope.ends_with("commands/"); };
    const bool has_commands = std::ranges::any_of(scopes, is_of_commands);
    const bool has_models = !std::ranges::all_of(scopes, is_of_commands);
    return concat(has_models ? "the poses of models" : "", has_models && has_commands ? " and " : "",
                  has_commands ? "the commands that wait" : "");
}

/// Loads a save. If no blobs were given, skips the parts that refer to blobs and adds them to `left_out`.
Status load_world(const std::string& path, LoadedSave& save, Diagnostics& diagnostics) {
    MissingResources missing;
    if (save.world.library() == nullptr) {
        find_models(save.file, missing);
        find_commands(save.file, missing);
    }
    if (missing.scopes.empty()) return load(save.world, save.file, false);
    std::string names;
    for (const std::string& name : missing.names) names += concat(names.empty() ? "" : ", ", name);
    diagnostics.warning(
        {},
        concat(path, ": ", name_of_left_out(missing.scopes),
               " are left out and not checked, because they refer to blobs that are not given: ", names),
        "give these blobs with --resource");
    Result<Snapshot> rest = without(save.file, missing.scopes);
    if (!rest) return rest.status();
    save.left_out = std::move(missing.scopes);
    return load(save.world, *rest, false);
}

}  // namespace

LoadedSave::LoadedSave(const Arguments& arguments)
    : world(entities, {.library = arguments.has(kResourceFlag.name) ? &library : nullptr}) {}

bool holds_world(Files& files, const std::string& path) {
    if (!is_standard_stream(path) && is_directory(path)) return true;
    const std::string magic = magic_of(files, path);
    return magic == kSaveMagic || magic == kLogMagic;
}

bool load_save(const Arguments& arguments, Files& files, const std::string& path, Snapshots snapshots, LoadedSave& save,
               Diagnostics& diagnostics) {
    SourceRules rules;
    read_schemas(arguments, files, save.world.registry(), rules, diagnostics);
    add_resources(arguments, files, save.library, diagnostics);
    if (diagnostics.num_errors() != 0) return false;
    const bool is_folder = !is_standard_stream(path) && is_directory(path);
    if (!is_folder && magic_of(files, path) == kLogMagic) {
        const Result<std::string> bytes = files.read(path);
        refuse_log(path, bytes ? *bytes : std::string_view(), diagnostics);
        return false;
    }
    const LoadOptions options = load_options(arguments);
    Result<Snapshot> file =
        is_folder ? read_folder(path, snapshots, options, save, diagnostics) : read_file_of_save(files, path, options);
    if (!file) return diagnostics.error({}, for_user(file.message())), false;
    save.file = std::move(*file);
    Status status = load_world(path, save, diagnostics);
    if (status) status = shoal::save(save.world, save.state);
    if (!status) {
        const bool is_about_blob =
            arguments.has(kResourceFlag.name) && status.message().find("resource") != std::string_view::npos;
        diagnostics.error(
            {}, concat(path, ": ", for_user(status.message())),
            is_about_blob
                ? "give --resource all blobs to which the world refers, as they were when it was saved, or none"
                : "");
        return false;
    }
    save.all = living_entities(save.world);
    return true;
}

}  // namespace shoal_tool
