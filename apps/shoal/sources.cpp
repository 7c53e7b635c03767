#include "sources.h"

#include "shoal/base/file.h"
#include "shoal/base/text.h"
#include "shoal/components/activity.h"
#include "shoal/components/data.h"
#include "shoal/components/debug_name.h"
#include "shoal/components/ownership.h"
#include "shoal/components/point_mass.h"
#include "shoal/components/tag.h"
#include "shoal/database/spawn_zone.h"
#include "shoal/inspect/text_table.h"
#include "shoal/pose/attached_to_node.h"
#include "shoal/pose/model_pose_text.h"
#include "shoal/source/schema_file.h"
#include "shoal/transform/transform_text.h"

#include <cstdio>
#include <cstring>
#include <filesystem>

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
    {"data", "any number of named values, which prefabs give and their users override", add_data},
    {"owned", "who owns the entity: it dies with its owner", add<Owned>},
    {"inactive", "queries pass over the entity, and over what hangs below it", add<Inactive>},
    {"debug_name", "a name for people", add<DebugName>},
    {"tag", "a word that finds entities; an entity may have several", add<Tag>},
    {"zone", "in which zone of a database the entity is spawned", add<SpawnZone>},
    {"switched_off", "a toggled component that is spawned switched off", add<SpawnSwitchedOff>},
};

Status add_built_ins(ComponentRegistry& registry) {
    for (const BuiltInComponent& built_in : kBuiltIns)
        if (Status status = built_in.add(registry); !status) return status;
    return {};
}

bool starts_as_blob(std::span<const std::byte> bytes) {
    return bytes.size() >= sizeof kBlobMagic && std::memcmp(bytes.data(), kBlobMagic, sizeof kBlobMagic) == 0;
}

}  // namespace

std::span<const BuiltInComponent> built_in_components() { return kBuiltIns; }

bool prepare(const Arguments& arguments, const std::string& source, SourceSession& session) {
    if (is_blob_file(source))
        session.diagnostics.error({}, concat("\"", source, "\" is a blob, not a source"),
                                  "give the source that it was compiled from; `shoal dump` shows what it holds");
    session.options.compose.roots = arguments.values("root");
    for (const std::string& root : session.options.compose.roots)
        if (!is_directory(root))
            session.diagnostics.error({}, concat("the root \"", root, "\" is not a folder"), "correct --root");
    if (Status status = add_built_ins(session.registry); !status)
        session.diagnostics.error({}, std::string(status.message()));
    for (const std::string& schema : arguments.values("schema"))
        read_schema_file(schema, session.registry, session.options.rules, session.diagnostics);
    return session.diagnostics.num_errors() == 0;
}

Status check_output(const std::string& output, std::span<const std::string> read) {
    for (const std::string& path : read) {
        std::error_code error;
        if (std::filesystem::equivalent(path, output, error) && !error)
            return Status::error(concat("the output \"", output, "\" is one of the files that were read"));
    }
    return {};
}

bool is_blob_file(const std::string& path) {
    std::FILE* file = is_file(path) ? std::fopen(path.c_str(), "rb") : nullptr;
    if (file == nullptr) return false;
    std::byte start[sizeof kBlobMagic] = {};
    const std::size_t num_read = std::fread(start, 1, sizeof start, file);
    std::fclose(file);
    return starts_as_blob({start, num_read});
}

Result<Blob> load_any_byte_order(std::span<const std::byte> bytes) {
    std::uint32_t mark = 0;
    if (bytes.size() >= sizeof(BlobHeader))
        std::memcpy(&mark, bytes.data() + offsetof(BlobHeader, endianness), sizeof mark);
    if (!starts_as_blob(bytes) || mark != kBlobSwappedEndianness) return Blob::load(bytes);
    Result<std::vector<std::byte>> swapped = swap_endianness(bytes);
    return swapped ? Blob::load(*swapped) : Result<Blob>(swapped.status());
}

Result<Blob> read_blob(const std::string& path) {
    Result<std::string> bytes = read_file(path);
    if (!bytes) return bytes.status();
    Result<Blob> blob = load_any_byte_order(std::as_bytes(std::span(bytes->data(), bytes->size())));
    if (!blob) return Status::error(concat(path, ": ", blob.message()));
    return blob;
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
