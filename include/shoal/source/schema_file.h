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
//
// Thread: one thread at a time per registry and Diagnostics.

#include "shoal/resource/registry.h"
#include "shoal/source/compiler.h"

#include <string>

namespace shoal {

/// Adds what the file declares to `registry` and `rules`; may be called for several files.
/// Errors: false, reported; nothing is added. A component that is declared twice with different fields is an error
/// that shows both.
SHOAL_API bool read_schema_file(const std::string& path, ComponentRegistry& registry, SourceRules& rules,
                                Diagnostics& diagnostics, SourceFiles* files = nullptr);
/// The same for a text that `diagnostics` already knows.
SHOAL_API bool read_schema_text(std::uint32_t file, ComponentRegistry& registry, SourceRules& rules,
                                Diagnostics& diagnostics);

}  // namespace shoal
