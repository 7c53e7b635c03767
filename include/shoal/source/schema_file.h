#pragma once
// Schema files declare component types without C++, and set rules for sources. See docs/formats/source.md for the
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
// A program can write a schema file for its C++ component types, so that they need not be declared twice:
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

/// Adds the declarations in a file to `registry` and `rules`. It may be called for several files.
/// Errors: reported to `diagnostics`. If a component is declared twice with different fields, the error shows both
/// declarations. On error, adds nothing and returns false.
SHOAL_API bool read_schema_file(const std::string& path, ComponentRegistry& registry, SourceRules& rules,
                                Diagnostics& diagnostics, SourceFiles* files = nullptr);
/// Like read_schema_file(), but for a file whose text `diagnostics` already has.
SHOAL_API bool read_schema_text(std::uint32_t file, ComponentRegistry& registry, SourceRules& rules,
                                Diagnostics& diagnostics);

/// Reads a schema file that declares older versions of component types. Requires: all other schema files have been
/// read. A source without `_versions` is read as if it were written for the oldest version of each component type that
/// these files declare. Only the component types in the file are used. Errors: reported to `diagnostics`. It is an
/// error if a version is not older than the newest one, or has already been declared differently. On error, adds
/// nothing and returns false.
SHOAL_API bool read_older_schema_file(const std::string& path, const ComponentRegistry& registry, SourceRules& rules,
                                      Diagnostics& diagnostics, SourceFiles* files = nullptr);
/// Like read_older_schema_file(), but for a file whose text is already in `diagnostics`.
SHOAL_API bool read_older_schema_text(std::uint32_t file, const ComponentRegistry& registry, SourceRules& rules,
                                      Diagnostics& diagnostics);

/// The declaration of one component type in a schema file.
struct SchemaDeclaration {
    const Schema* schema = nullptr;
    std::int32_t spawn_order = 0;
    std::string_view migrations{};  ///< SourceRules::Declaration::migrations
};
/// Returns the text of a schema file that declares component types completely, with defaults, ranges, units and marks.
/// Reading the text back gives the same layouts. `names` resolves the string ids in defaults.
/// Errors: a component type cannot be declared in text, because a field has a C++ type of the program, a default that
/// is not finite or a string id default whose string is unknown, or because the type is `whole` and has other members
/// between its fields.
SHOAL_API Result<std::string> write_schema_text(std::span<const SchemaDeclaration> declarations,
                                                const ValueNames& names = PlainNames());
/// Writes a schema file for the component types of all stores in `world`, sorted by name. Leaves out component types
/// with a field whose C++ type cannot be expressed in sources. Errors: those of write_schema_text(), or the file cannot
/// be written.
SHOAL_API Status export_schemas(const World& world, const std::string& path);

}  // namespace shoal
