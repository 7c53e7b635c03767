#pragma once
// Schema files: component types declared without C++, and rules for sources. docs/formats/source.md has the grammar.
//
//     components = {
//         transform = { fields = { position = vec3  rotation = { type = quaternion default = [0 0 0 1] } } }
//         light = { spawn_order = 1  many = true  fields = { color = vec3  range = { type = float unit = m } } }
//     }
//     unknown_components = keep
//     unknown_fields = keep
//     ignored_keys = [editor]
//     renamed_keys = { pos = transform.position }
//     level_entities = units
//
// A program writes a schema file of the component types that it has in C++, so that nobody declares them twice:
//
//     if (Status status = export_schemas(world, "game.schema.sjson"); !status) return status;
//
// Thread: one thread at a time per registry and Diagnostics.

#include "shoal/resource/registry.h"
#include "shoal/source/compiler.h"
#include "shoal/table/value_text.h"

#include <string>

namespace shoal {

class World;

/// Adds what the file declares to `registry` and `rules`; may be called for several files.
/// Errors: false, reported; nothing is added. A component that is declared twice with different fields is an error
/// that shows both.
SHOAL_API bool read_schema_file(const std::string& path, ComponentRegistry& registry, SourceRules& rules,
                                Diagnostics& diagnostics, SourceFiles* files = nullptr);
/// The same for a text that `diagnostics` already knows.
SHOAL_API bool read_schema_text(std::uint32_t file, ComponentRegistry& registry, SourceRules& rules,
                                Diagnostics& diagnostics);

/// Reads a schema file of older versions, after all others: sources that do not say with `_versions` which ones they are
/// written for are written for these, the oldest of each component type that is given. Only its component types count.
/// Errors: false, reported; nothing is added. A version that is the newest, or was given before, is declared differently,
/// or is newer than the newest.
SHOAL_API bool read_older_schema_file(const std::string& path, const ComponentRegistry& registry, SourceRules& rules,
                                      Diagnostics& diagnostics, SourceFiles* files = nullptr);
/// The same for a text that `diagnostics` already knows.
SHOAL_API bool read_older_schema_text(std::uint32_t file, const ComponentRegistry& registry, SourceRules& rules,
                                      Diagnostics& diagnostics);

/// What a schema file says of one component type.
struct SchemaDeclaration {
    const Schema* schema = nullptr;
    std::int32_t spawn_order = 0;
    std::string_view migrations{};  ///< SourceRules::Declaration::migrations
};
/// Returns the text of a schema file that declares component types as they are: with defaults, ranges, units and marks, and
/// the same layout when it is read. `names` has the texts of string ids in defaults.
/// Errors: a component type that text cannot declare: a field of a C++ type of the program's own, a default that is not
/// finite or a string id without a known text, or members that are no fields between the fields of a `whole` component.
SHOAL_API Result<std::string> write_schema_text(std::span<const SchemaDeclaration> declarations,
                                                const ValueNames& names = PlainNames());
/// Writes a schema file of all component types that the stores of `world` take, by name. Those with fields of other C++
/// types, which no source can write, are left out. Errors: as above, or the file cannot be written.
SHOAL_API Status export_schemas(const World& world, const std::string& path);

}  // namespace shoal
