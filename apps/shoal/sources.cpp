#include "sources.h"

#include "shoal/base/file.h"
#include "shoal/base/text.h"
#include "shoal/components/activity.h"
#include "shoal/components/debug_name.h"
#include "shoal/components/ownership.h"
#include "shoal/components/point_mass.h"
#include "shoal/components/properties.h"
#include "shoal/components/tag.h"
#include "shoal/database/spawn_zone.h"
#include "shoal/document/detail/traceback.h"
#include "shoal/inspect/text_table.h"
#include "shoal/pose/attached_to_node.h"
#include "shoal/pose/model_pose_text.h"
#include "shoal/source/schema_file.h"
#include "shoal/transform/transform_text.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

namespace shoal_tool {

using namespace shoal;

namespace {

template <class T>
Status add(ComponentRegistry& registry) {
    return registry.add<T>();
}

constexpr BuiltInComponent kBuiltIns[] = {
    {"transform", "where an entity is, as seen from its parent", add_transform},
    {"model_pose", "the nodes of a model, such as a skeleton, and their poses", add_model_pose},
    {"attached_to_node", "at which node of its parent's model the entity is", add<AttachedToNode>},
    {"point_mass", "mass, position, velocity and acceleration of a body that moves", add<PointMass>},
    {"properties", "any number of named values, which prefabs give and their users override", add_properties},
    {"owned", "who owns the entity: it dies with its owner", add<Owned>},
    {"inactive", "queries pass over the entity, and over what hangs below it", add<Inactive>},
    {"debug_name", "a name for people", add<DebugName>},
    {"tag", "a word that finds entities; an entity may have several", add<Tag>},
    {"zone", "in which zone of a database the entity is spawned", add<SpawnZone>},
    {"disabled", "a component that is spawned disabled", add<SpawnDisabled>},
};

std::span<const std::byte> bytes_of_text(std::string_view text) { return std::as_bytes(std::span(text)); }

bool starts_as_blob(std::span<const std::byte> bytes) {
    return bytes.size() >= sizeof kBlobMagic && std::memcmp(bytes.data(), kBlobMagic, sizeof kBlobMagic) == 0;
}

bool is_swapped(std::span<const std::byte> bytes) {
    std::uint32_t mark = 0;
    if (bytes.size() < sizeof(BlobHeader) || !starts_as_blob(bytes)) return false;
    std::memcpy(&mark, bytes.data() + offsetof(BlobHeader, endianness), sizeof mark);
    return mark == kBlobSwappedEndianness;
}

bool is_swapped(const std::string& path) {
    std::byte start[sizeof(BlobHeader)] = {};
    return is_swapped({start, read_start(path, start)});
}

Result<Blob> load_any_byte_order(std::string_view name, std::string_view bytes) {
    const auto load = [&] {
        if (!is_swapped(bytes_of_text(bytes))) return Blob::load(bytes_of_text(bytes));
        Result<std::vector<std::byte>> swapped = swap_endianness(bytes_of_text(bytes));
        return swapped ? Blob::load(*swapped) : Result<Blob>(swapped.status());
    };
    Result<Blob> blob = load();
    if (!blob) return Status::error(concat("cannot load ", name, ": ", blob.message()));
    return blob;
}

/// Uses the content of a stream as the source. Errors: added to the session.
void stand_in(const Arguments& arguments, Files& files, SourceSession& session) {
    Result<std::string> text = files.read(session.path);
    session.path = arguments.value(kStdinNameFlag.name, kStandardInputName);
    if (!text)
        session.diagnostics.error({}, std::string(text.message()));
    else
        session.options.compose.files = &session.stand_in.emplace(session.path, std::move(*text));
}

}  // namespace

std::span<const BuiltInComponent> built_in_components() { return kBuiltIns; }

Status add_built_ins(ComponentRegistry& registry) {
    for (const BuiltInComponent& built_in : kBuiltIns)
        if (Status status = built_in.add(registry); !status) return status;
    return {};
}

Status make_managers(World& world, const ComponentRegistry& known) {
    for (const RegisteredComponent* component : known.components()) {
        if (component->schema == nullptr || component->schema->has_opaque()) continue;
        const Result<Store*> keeper = world.directory().require(*component->schema);
        if (keeper && *keeper == nullptr)
            if (Status status = world.manager(*component->schema).status(); !status) return status;
    }
    return {};
}

bool refuse_blob(Files& files, const std::string& path, const std::string& name, Diagnostics& diagnostics) {
    if (!is_blob_file(files, path)) return false;
    diagnostics.error({}, concat("\"", name, "\" is a blob, not a source"),
                      "give the source that it was compiled from; `shoal dump` shows what it holds");
    return true;
}

/// Reports that a file is XML or HTML, such as an SVG picture. Otherwise the parser would report an error at every
/// character.
static bool refuse_markup(Files& files, const std::string& path, Diagnostics& diagnostics) {
    std::byte bytes[64] = {};
    std::size_t num_bytes = 0;
    if (!is_stream(path)) {
        num_bytes = read_start(path, bytes);
    } else if (const Result<std::string_view> text = files.stream(path); text) {
        num_bytes = text->copy(reinterpret_cast<char*>(bytes), sizeof bytes);
    }
    std::string_view text(reinterpret_cast<const char*>(bytes), num_bytes);
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    if (!text.starts_with('<') || text.starts_with("<<")) return false;
    diagnostics.error({}, concat('"', path, "\" is not a source: it begins as XML and HTML do"),
                      "give a source in SJSON, JSON or YAML");
    return true;
}

/// Registers the component types of plugins. Errors: added to the session's diagnostics.
static void load_plugins(const Arguments& arguments, SourceSession& session) {
    const std::vector<std::string> paths = arguments.values(kPluginFlag.name);
    if (paths.empty()) return;
    session.plugins = std::make_unique<LoadedPlugins>();
    Status status = check_plugin_paths(paths);
    if (status) status = session.plugins->load(paths, session.registry);
    if (status) status = session.plugins->plugins().register_components(session.registry);
    if (!status) session.diagnostics.error({}, std::string(status.message()));
}

/// Registers the component types of scripts. Errors: added to the session's diagnostics. Scripts may need the level's
/// world. `shoal run` loads them again in that world, so script errors count only if the level does not compile.
static void load_scripts(const Arguments& arguments, SourceSession& session) {
    const std::vector<std::string> paths = arguments.values(kScriptFlag.name);
    if (paths.empty()) return;
    session.scripts = std::make_unique<SourceScripts>();
    Status status = check_script_paths(paths);
    if (status) status = session.scripts->load(paths, session.registry);
    const bool may_need_level = arguments.verb().name == std::string_view("run");
    if (!status && may_need_level) session.scripts_failure = std::exchange(status, Status());
    if (status) status = session.scripts->register_components(session.registry, session.depends_on_scripts);
    if (!status) add_with_traceback(session.diagnostics, {}, status.message());
}

bool prepare(const Arguments& arguments, Files& files, Console& console, const std::string& source,
             SourceSession& session) {
    session.path = source;
    const bool is_refused =
        refuse_blob(files, source, source, session.diagnostics) || refuse_markup(files, source, session.diagnostics);
    if (!is_refused && is_stream(source)) stand_in(arguments, files, session);
    session.options.strict = arguments.has(kStrictFlag.name);
    session.options.compose.progress = console.progress();
    session.options.compose.roots = arguments.values("root");
    session.options.compose.follow_links = arguments.has(kFollowLinksFlag.name);
    for (const std::string& root : session.options.compose.roots)
        if (!is_directory(root))
            session.diagnostics.error({}, concat("the root \"", root, "\" is not a folder"), "correct --root");
    if (Status status = add_built_ins(session.registry); !status)
        session.diagnostics.error({}, std::string(status.message()));
    read_schemas(arguments, files, session);
    if (session.diagnostics.num_errors() == 0) load_plugins(arguments, session);
    if (session.diagnostics.num_errors() == 0) load_scripts(arguments, session);
    if (session.diagnostics.num_errors() == 0) read_source_schemas(arguments, files, session);
    return session.diagnostics.num_errors() == 0;
}

std::vector<std::string> schema_paths(const Arguments& arguments) {
    std::vector<std::string> paths = arguments.values(kSchemaFlag.name);
    for (std::string& path : arguments.values(kSourceSchemaFlag.name)) paths.push_back(std::move(path));
    return paths;
}

void read_source_schemas(const Arguments& arguments, Files& files, SourceSession& session) {
    for (const std::string& schema : arguments.values(kSourceSchemaFlag.name)) {
        Result<std::string> text = files.read(schema);
        if (!text) {
            session.diagnostics.error({}, std::string(text.message()), "give the path of a schema file");
            continue;
        }
        const bool is_stream = is_standard_stream(schema);
        const std::uint32_t file =
            session.diagnostics.add_file(is_stream ? std::string(kStandardInputName) : schema, std::move(*text));
        read_older_schema_text(file, session.registry, session.options.rules, session.diagnostics);
    }
}

void read_schemas(const Arguments& arguments, Files& files, ComponentRegistry& registry, SourceRules& rules,
                  Diagnostics& diagnostics) {
    for (const std::string& schema : arguments.values("schema")) {
        if (!is_stream(schema)) {
            read_schema_file(schema, registry, rules, diagnostics);
            continue;
        }
        Result<std::string> text = files.read(schema);
        if (!text) {
            diagnostics.error({}, std::string(text.message()));
            continue;
        }
        const bool is_input = is_standard_stream(schema);
        const std::uint32_t file =
            diagnostics.add_file(is_input ? std::string(kStandardInputName) : schema, std::move(*text));
        read_schema_text(file, registry, rules, diagnostics);
    }
}

void read_schemas(const Arguments& arguments, Files& files, SourceSession& session) {
    read_schemas(arguments, files, session.registry, session.options.rules, session.diagnostics);
}

bool add_inputs(Files& files, const CompiledSource& compiled, SourceSession& session) {
    for (const SourceDependency& dependency : compiled.dependencies)
        if (dependency.kind == DependencyKind::kSource && !(session.stand_in && dependency.path == kStandardInputName))
            if (Status status = files.add_input(dependency.path); !status)
                return session.diagnostics.error({}, std::string(status.message())), false;
    return true;
}

std::size_t read_start(const std::string& path, std::span<std::byte> start) {
    std::FILE* file = is_file(path) ? std::fopen(path.c_str(), "rb") : nullptr;
    if (file == nullptr) return 0;
    const std::size_t num_read = std::fread(start.data(), 1, start.size(), file);
    std::fclose(file);
    return num_read;
}

bool is_blob_file(Files& files, const std::string& path) {
    if (is_stream(path)) {
        const Result<std::string_view> text = files.stream(path);
        return text && starts_as_blob(bytes_of_text(*text));
    }
    std::byte start[sizeof kBlobMagic] = {};
    return starts_as_blob({start, read_start(path, start)});
}

Result<Blob> read_blob(Files& files, const std::string& path) {
    if (is_stream(path)) {
        const Result<std::string_view> bytes = files.stream(path);
        const std::string name = is_standard_stream(path) ? "standard input" : concat('"', path, '"');
        return bytes ? load_any_byte_order(name, *bytes) : Result<Blob>(bytes.status());
    }
    if (!is_swapped(path)) return Blob::read(path);
    const Result<std::string> bytes = files.read(path);
    return bytes ? load_any_byte_order(concat('"', path, '"'), *bytes) : Result<Blob>(bytes.status());
}

int fail(Console& console, const Diagnostics& diagnostics) {
    console.print_diagnostics(diagnostics);
    if (!console.json()) return 1;
    DocumentBuilder builder;
    builder.begin_mapping();
    builder.boolean("ok", false);
    write_diagnostics(diagnostics, builder);
    builder.end();
    console.print_json(builder.finish());
    return 1;
}

int fail(Console& console, std::string_view message, std::string_view hint) {
    Diagnostics diagnostics;
    diagnostics.error({}, std::string(message), std::string(hint));
    return fail(console, diagnostics);
}

int fail(Console& console, SourceSession& session, std::string_view summary) {
    if (session.diagnostics.num_errors() == 0) session.diagnostics.error({}, std::string(summary));
    return fail(console, session.diagnostics);
}

int fail_usage(Console& console, const Verb& verb, std::string_view message) {
    fail(console, message);
    console.print_error(concat("usage: ", usage_line(verb), "\n`shoal help ", verb.name, "` says more\n"));
    return 2;
}

std::string counted(std::uint64_t count, std::string_view one, std::string_view many) {
    return concat(count_text(count), ' ', count == 1 ? one : many);
}

std::string summary_of(const Diagnostics& diagnostics) {
    const std::string warnings =
        diagnostics.num_warnings() == 0 ? "no warnings" : counted(diagnostics.num_warnings(), "warning", "warnings");
    return diagnostics.num_errors() == 0 ? warnings
                                         : concat(counted(diagnostics.num_errors(), "error", "errors"), ", ", warnings);
}

}  // namespace shoal_tool
