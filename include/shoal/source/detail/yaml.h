#pragma once
// Reads YAML into the same tree as SJSON and JSON. docs/formats/yaml.md lists the supported parts of YAML.
//
//     engine:
//       maxSpeed: 250
//     volume:
//       aabbox: {min: [-25, 0], max: [25, 30]}
//     collidable:                      # null: all defaults
//
// Scalars follow the core schema of YAML 1.2: `yes` and `no` are strings. Keys are strings, exactly as written. A list
// tagged !!pairs keeps its order and its repeated keys. It is read as a list of mappings with one key each.
// Thread: calls are independent; one thread at a time per Diagnostics.

#include "shoal/base/status.h"
#include "shoal/document/detail/document.h"
#include "shoal/document/detail/read_options.h"

#include <cstdint>

namespace shoal {

/// The maximum number of nodes that a file's aliases may repeat in total. A few lines of aliases can expand to billions
/// of nodes.
inline constexpr std::uint32_t kMaxYamlAliasNodes = 1 << 20;
/// The maximum number of directives (lines that begin with %) at the start of a file.
inline constexpr std::uint32_t kMaxYamlDirectives = 16;

/// Reads a file that `diagnostics` holds. A byte order mark is skipped. An empty file is read as an empty mapping.
/// Errors: reported to `diagnostics`, but only the first syntax error. On error, returns no document.
/// Lifetime: the document owns its strings.
SHOAL_API Result<Document> read_yaml(std::uint32_t file, Diagnostics& diagnostics, const ReadOptions& options = {});

}  // namespace shoal
