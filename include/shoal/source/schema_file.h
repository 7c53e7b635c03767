#pragma once
// Schema files: component types declared without C++, and rules for sources. See docs/formats/source.md for the
// grammar.
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
// A program can write a schema file of its C++ component types, so that they need not be declared twice:
//
//     if (Status status = export_schemas(world, "game.schema.sjson"); !status) return status;
//
// Thread: one thread at a time per registry and Diagnostics.

#include "shoal/resource/detail/registry.h"
#include "shoal/source/compiler.h"
#include "shoal/table/detail/value_text.h"

#include <string>

namespace shoal {

class World;

/// Adds the declarations in a file to `registry` and `rules`; may be called for several files.
/// Errors: returns false after reporting; nothing is added. If a component is declared twice with different fields, the
/// error shows both declarations.
SHOAL_API bool read_schema_file(const std::string& path, ComponentRegistry& registry, SourceRules& rules,
                                Diagnostics& diagnostics, SourceFiles* files = nullptr);
/// The same for a text that `diagnostics` already has.
SHOAL_API bool read_schema_text(std::uint32_t file, ComponentRegistry& registry, SourceRules& rules,
                                Diagnostics& diagnostics);

/// Reads a schema file with older versions, after all other schema files. A source without `_versions` is read as
/// written for the oldest version of each component type that these files declare. Only the component types in the file
/// are used. Errors: returns false after reporting; nothing is added. It is also an error if a version is not older
/// than the newest version, or was declared differently before.
SHOAL_API bool read_older_schema_file(const std::string& path, const ComponentRegistry& registry, SourceRules& rules,
                                      Diagnostics& diagnostics, SourceFiles* files = nullptr);
/// The same for a text that `diagnostics` already has.
SHOAL_API bool read_older_schema_text(std::uint32_t file, const ComponentRegistry& registry, SourceRules& rules,
                                      Diagnostics& diagnostics);

/// The declaration of one component type in a schema file.
struct SchemaDeclaration {
    const Schema* schema = nullptr;
    std::int32_t spawn_order = 0;
    std::string_view migrations{};  ///< SourceRules::Declaration::migrations
};
/// Returns the text of a schema file that declares component types completely, with defaults, ranges, units and marks.
/// Reading it gives the same layout. `names` has the texts of string ids in defaults.
/// Errors: a component type cannot be declared by text, because it has a field of a C++ type of the program, a default
/// that is not finite, or a string id default with an unknown text, or because it is `whole` and has other members
/// between its fields.
SHOAL_API Result<std::string> write_schema_text(std::span<const SchemaDeclaration> declarations,
                                                const ValueNames& names = PlainNames());
/// Writes a schema file of all component types in the stores of `world`, sorted by name. Component types with fields of
/// C++ types that sources cannot express are left out. Errors: as above, or the file cannot be written.
SHOAL_API Status export_schemas(const World& world, const std::string& path);

}  // namespace shoal
