#include "level.h"

#include "shoal/base/clock.h"
#include "shoal/base/file.h"
#include "shoal/base/text.h"
#include "shoal/components/point_mass.h"
#include "shoal/document/detail/traceback.h"
#include "shoal/inspect/text_table.h"
#include "shoal/react/observers.h"
#include "shoal/reload/reloader.h"
#include "shoal/transform/transform.h"
#include "signals.h"

#include <chrono>
#include <thread>
#include <utility>
#include <vector>

namespace shoal_tool {

using namespace shoal;

namespace {

constexpr std::chrono::milliseconds kPause{20};

std::string milliseconds(std::int64_t ns) { return concat(decimal_text(static_cast<double>(ns) * 1e-6, 2), " ms"); }

/// Describes the result of a reload, such as "2 entities changed (3 fields), 1 new".
std::string text_of(const ReloadReport& report) {
    std::string text;
    const auto add = [&](std::uint64_t count, std::string_view one, std::string_view many, std::string_view what) {
        if (count != 0) text += concat(text.empty() ? "" : ", ", counted(count, one, many), what);
    };
    add(report.num_schemas, "component type", "component types",
        report.num_schemas == 1 ? " has other fields" : " have other fields");
    add(report.num_changed, "entity", "entities", " changed");
    add(report.num_fields, "field", "fields", " written");
    add(report.num_components_added, "component", "components", " added");
    add(report.num_components_removed, "component", "components", " removed");
    add(report.num_enabled_or_disabled, "component", "components", " enabled or disabled");
    add(report.num_linked, "entity", "entities", " linked anew");
    add(report.num_created, "entity", "entities", " created");
    add(report.num_destroyed, "entity", "entities", " destroyed");
    add(report.num_left_out, "change", "changes", " left out");
    return text.empty() ? "nothing has changed" : text;
}

/// The entities that have both a point mass and a transform, and the positions of their transforms.
struct MassPositions {
    std::vector<Entity> entities;
    std::vector<Vec3> positions;
};
MassPositions placed_masses(World& world) {
    MassPositions placed;
    if (find_transforms(world.directory()) == nullptr || world.directory().find(schema_of<PointMass>().id()) == nullptr)
        return placed;
    const TransformManager& transforms = world.transforms();
    for (const Entity entity : world.manager<PointMass>().core().table().entities()) {
        const Instance at = transforms.instance(entity);
        if (!at) continue;
        placed.entities.push_back(entity);
        placed.positions.push_back(transforms.local(at).position);
    }
    return placed;
}

}  // namespace

std::optional<LoadedLevel> load_level(const Arguments& arguments, Files& files, Console& console,
                                      const std::string& path, SourceSession& session, LevelFiles& tried) {
    const std::int64_t begin_ns = monotonic_ns();
    tried = {{path}, wall_clock_ns()};
    for (const std::string& schema : schema_paths(arguments)) tried.paths.push_back(schema);
    for (const std::string& root : arguments.values("root"))
        if (!is_directory(root)) tried.paths.push_back(root);
    const auto refuse = [&](std::string_view message, std::string hint = {}) {
        session.diagnostics.error({}, std::string(message), std::move(hint));
        return std::nullopt;
    };
    session.path = path;
    if (is_blob_file(files, path)) {
        Result<Blob> blob = read_blob(files, path);
        if (!blob) return refuse(blob.message(), "compile its source again");
        return LoadedLevel{std::move(*blob), tried, monotonic_ns() - begin_ns, true};
    }
    if (!prepare(arguments, files, console, path, session)) return std::nullopt;
    std::vector<SourceDependency> dependencies;
    session.options.compose.dependencies = &dependencies;
    const Result<CompiledSource> compiled =
        compile_source(session.path, session.registry, session.options, session.diagnostics);
    session.options.compose.dependencies = nullptr;
    for (const SourceDependency& dependency : dependencies) tried.paths.push_back(dependency.path);
    if (session.depends_on_scripts)
        for (const std::string& script : arguments.values(kScriptFlag.name)) tried.paths.push_back(script);
    if (!compiled && !session.scripts_failure) {
        add_with_traceback(session.diagnostics, {}, session.scripts_failure.message());
        session.diagnostics.sort_by_place();  // this error may be the cause of others
    }
    if (!compiled && session.diagnostics.num_errors() == 0) return refuse(compiled.message());
    if (!compiled || !add_inputs(files, *compiled, session)) return std::nullopt;
    Result<Blob> blob = Blob::load(compiled->blob);
    if (!blob) return refuse(blob.message());
    return LoadedLevel{std::move(*blob), tried, monotonic_ns() - begin_ns, false};
}

std::optional<LoadedLevel> wait_for_level(const Arguments& arguments, Files& files, Console& console,
                                          const std::string& path, std::optional<SourceSession>& session,
                                          LevelFiles tried) {
    FileWatch watch;
    std::string told;
    std::optional<LoadedLevel> level;
    while (!level && !was_interrupted()) {
        if (const std::string text = session->diagnostics.format(); text != told)
            console.print_error(concat(told = text, "waiting until this is mended; interrupt to end\n"));
        watch.set(tried.paths, tried.begin_wall_ns);
        while (!watch.has_changed() && !was_interrupted()) std::this_thread::sleep_for(kPause);
        if (!was_interrupted()) level = load_level(arguments, files, console, path, session.emplace(), tried);
    }
    return level;
}

Status add_view(ResourceLibrary& library, const Blob& blob) {
    if (blob.name().empty()) return {};
    Result<Blob> view = Blob::view(blob.bytes());
    return view ? library.add(std::move(*view)).status() : view.status();
}

void make_stores(World& world, const Blob& blob) {
    const auto holds = [&](const Schema& schema) { return blob.find_components(schema.id()) != nullptr; };
    if (holds(schema_of<Transform>())) world.transforms({.mode = TransformMode::kDeferred});
    if (holds(schema_of<PointMass>())) world.manager<PointMass>();
}

void place_masses(World& world, std::span<const Entity> entities) {
    if (find_transforms(world.directory()) != nullptr && world.directory().find(schema_of<PointMass>().id()) != nullptr)
        place_at_transforms(world.manager<PointMass>(), world.transforms(), entities);
}

LevelWatch::LevelWatch(const Arguments& arguments, Files& files, Console& console, World& world, Reloader& reloader,
                       ResourceLibrary& library, LoadedLevel& level)
    : arguments_(arguments),
      files_(files),
      console_(console),
      world_(world),
      reloader_(reloader),
      library_(library),
      level_(level) {
    watch_.set(level_.files.paths, level_.files.begin_wall_ns);
    world_.observers().on_add<PointMass>([this](std::span<const Entity> entities) { place_masses(world_, entities); });
    console_.print(concat("watching ", counted(watch_.num_files(), "file", "files"), "; interrupt to end\n"));
    console_.flush();
}

void LevelWatch::look() {
    if (watch_.has_changed()) load_again();
}

void LevelWatch::load_again() {
    SourceSession session;
    LevelFiles tried;
    std::optional<LoadedLevel> newer =
        load_level(arguments_, files_, console_, arguments_.operands()[0], session, tried);
    if (!newer) {
        const std::vector<std::string>& before = level_.files.paths;
        tried.paths.insert(tried.paths.end(), before.begin(), before.end());
        watch_.set(std::move(tried.paths), tried.begin_wall_ns);
        return fail(session.diagnostics.format());
    }
    console_.print_diagnostics(session.diagnostics);
    watch_.set(tried.paths, tried.begin_wall_ns);
    const bool was_wrong = !std::exchange(told_, {}).empty();
    if (std::ranges::equal(newer->blob.bytes(), level_.blob.bytes())) {
        level_.files = std::move(newer->files);
        if (was_wrong) console_.print("the source is mended, and says what it said before\n");
    } else {
        reload(std::move(*newer));
    }
    console_.flush();
}

void LevelWatch::fail(const std::string& text) {
    if (text != told_) console_.print_error(concat(text, "the world runs on as it is\n"));
    told_ = text;
}

void LevelWatch::reload(LoadedLevel newer) {
    make_stores(world_, newer.blob);
    std::int64_t reload_ns = 0;
    std::string text;
    if (Status status = exchange(newer, reload_ns, text); !status)
        return fail(concat("error: ", status.message(), "\n"));
    console_.print(concat("reloaded ", arguments_.operands()[0], ": ", text, "; loaded in ",
                          milliseconds(newer.load_ns), ", reloaded in ", milliseconds(reload_ns), "\n"));
    level_ = std::move(newer);
    ++num_reloads_;
}

/// Adds the newer level to the library and reloads its entities. On error, nothing has changed.
Status LevelWatch::exchange(const LoadedLevel& newer, std::int64_t& reload_ns, std::string& text) {
    Result<Blob> view = Blob::view(newer.blob.bytes());
    if (!view) return view.status();
    const MassPositions placed = placed_masses(world_);
    const std::int64_t begin_ns = monotonic_ns();
    Result<Blob> before = library_.find(newer.blob.id()) == nullptr ? Blob::view(level_.blob.bytes())
                                                                    : library_.replace(std::move(*view));
    if (!before) return before.status();
    const Result<ReloadReport> report = reloader_.reload(level_.blob, newer.blob);
    reload_ns = monotonic_ns() - begin_ns;
    if (!report) {
        if (library_.find(level_.blob.id()) != nullptr) static_cast<void>(library_.replace(std::move(*before)));
        return report.status();
    }
    text = text_of(*report);
    std::vector<Entity> moved;  // entities that the new source has moved
    for (std::size_t i = 0; i < placed.entities.size(); ++i)
        if (const Instance at = world_.transforms().instance(placed.entities[i]);
            at && !(world_.transforms().local(at).position == placed.positions[i]))
            moved.push_back(placed.entities[i]);
    place_masses(world_, moved);
    world_.settle();
    return {};
}

}  // namespace shoal_tool
