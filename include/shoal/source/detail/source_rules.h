#pragma once
// Rules for the content of sources beyond schemas. Schema files set them; the composer and the compiler apply them.
// Thread: plain data.

#include "shoal/document/diagnostics.h"
#include "shoal/table/detail/schema.h"

#include <cstdint>
#include <string>
#include <vector>

namespace shoal {

/// The key that holds the entities of a level that has both `units` and `entities`.
enum class LevelEntities : std::uint8_t { kUndecided, kUnits, kEntities, kBoth };

/// An alias of a key, for texts in other formats. It stands for a key of entities (`inherit` for `prefab`), for a field
/// of components (`pos` for `position`), or, as a key of an entity, for a field of one of its components (`pos` for
/// `transform.position`).
struct RenamedKey {
    std::string from;
    std::string to;
};

/// Rules for content that no schema declares.
struct SourceRules {
    bool keep_unknown_components = false;  ///< as text in the blob's debug section; otherwise they are errors
    bool keep_unknown_fields = false;      ///< the same for unknown fields, and unknown keys of entities and levels
    std::vector<std::string> ignored_keys;
    std::vector<RenamedKey> renamed_keys;
    LevelEntities level_entities = LevelEntities::kUndecided;
    std::vector<std::string> components_in_files;  ///< see ComposeOptions

    struct Declaration {
        std::string component;
        SourcePosition position;
        std::string migrations{};  ///< `migrations` and `renamed_from` as the text of a mapping; empty: none
    };
    /// Older versions of component types, for sources that were written for them: see read_older_schema_file().
    std::vector<Schema> older_schemas{};
    std::vector<Declaration> declarations;  ///< the declarations of component types in schema files
};

}  // namespace shoal
