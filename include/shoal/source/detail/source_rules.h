#pragma once
// What a source may contain besides what schemas declare: set by schema files, applied by the composer and the
// compiler.
// Thread: values.

#include "shoal/document/diagnostics.h"
#include "shoal/table/detail/schema.h"

#include <cstdint>
#include <string>
#include <vector>

namespace shoal {

/// Which key of a level that has both `units` and `entities` holds its entities.
enum class LevelEntities : std::uint8_t { kUndecided, kUnits, kEntities, kBoth };

/// A key of another format that has the meaning of one of ours: a key of entities (`inherit` means `prefab`), a field
/// of components (`pos` means `position`), or a field of a component that an entity gives itself (`pos` means
/// `transform.position`).
struct RenamedKey {
    std::string from;
    std::string to;
};

/// What a source may contain without a schema. Set by schema files.
struct SourceRules {
    bool keep_unknown_components = false;  ///< kept as text in the blob's debug section; otherwise they are errors
    bool keep_unknown_fields = false;      ///< the same for unknown fields, and unknown keys of entities and levels
    std::vector<std::string> ignored_keys;
    std::vector<RenamedKey> renamed_keys;
    LevelEntities level_entities = LevelEntities::kUndecided;
    std::vector<std::string> components_in_files;  ///< see ComposeOptions

    struct Declaration {
        std::string component;
        SourcePosition position;
        std::string migrations{};  ///< the text of `migrations` and `renamed_from` as a mapping; empty: none
    };
    /// Older versions of component types, for sources that were written for them: see read_older_schema_file().
    std::vector<Schema> older_schemas{};
    std::vector<Declaration> declarations;  ///< where schema files declare component types
};

}  // namespace shoal
