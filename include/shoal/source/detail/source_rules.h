#pragma once
// Rules for the content of sources, in addition to schemas. Schema files set them; the composer and the compiler apply
// them.
// Thread: plain data.

#include "shoal/document/diagnostics.h"
#include "shoal/table/detail/schema.h"

#include <cstdint>
#include <string>
#include <vector>

namespace shoal {

/// The key that holds a level's entities if the level has both `units` and `entities`.
enum class LevelEntities : std::uint8_t { kUndecided, kUnits, kEntities, kBoth };

/// An alias of a key, for sources in other formats. It stands for a key of entities (`inherit` for `prefab`) or a field
/// of components (`pos` for `position`). As a key of an entity, it may also stand for a field of one of its components
/// (`pos` for `transform.position`).
struct RenamedKey {
    std::string from;
    std::string to;
};

/// Rules for content that no schema declares.
struct SourceRules {
    bool keep_unknown_components = false;  ///< as text in the blob's debug section; otherwise, they are errors
    bool keep_unknown_fields = false;      ///< the same for unknown fields, and for unknown keys in entities and levels
    std::vector<std::string> ignored_keys;
    std::vector<RenamedKey> renamed_keys;
    LevelEntities level_entities = LevelEntities::kUndecided;
    std::vector<std::string> components_in_files;  ///< see ComposeOptions

    struct Declaration {
        std::string component;
        SourcePosition position;
        std::string migrations{};  ///< the text of a mapping that holds `migrations` and `renamed_from`; empty: none
    };
    /// Older versions of component types, for sources that were written for them. See read_older_schema_file().
    std::vector<Schema> older_schemas{};
    std::vector<Declaration> declarations;  ///< the declarations of component types in schema files
};

}  // namespace shoal
