#pragma once
// The keys of levels and entities that mean something, and what kind of text an entity is.
// Thread: any thread.

#include "shoal/document/document.h"
#include "shoal/source/source_rules.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace shoal {

/// The keys of levels and entities that mean something.
enum class EntityKey : std::uint8_t {
    kGuid,
    kType,
    kChildren,
    kEditor,
    kModifiedComponents,
    kPrefab,
    kComponents,
    kDeletedComponents,
    kModifiedChildren,
    kDeletedChildren,
    kName,
    kPlainType,
    kPlainGuid,
    kId,
    kUnits,
    kEntities,
    kVersions,
};
inline constexpr std::string_view kEntityKeys[] = {
    "_guid",
    "_type",
    "children",
    "editor",
    "modified_components",
    "prefab",
    "components",
    "deleted_components",
    "modified_children",
    "deleted_children",
    "name",
    "type",
    "guid",
    "id",
    "units",
    "entities",
    "_versions",
};

inline std::string_view key_name(EntityKey key) { return kEntityKeys[static_cast<std::size_t>(key)]; }

/// Returns whether a source with this root is a level.
SHOAL_API bool is_level_text(Node root);

/// Returns whether an entity is written in the short form: its own keys are component types. A key that looks like one that
/// says how the entity is built makes it the long form, so that a typing mistake is told.
SHOAL_API bool is_short_form(Node entity, std::span<const RenamedKey> renamed_keys = {});
/// Returns whether an entity in the short form may have a key.
SHOAL_API bool is_key_of_short_form(std::string_view key);

}  // namespace shoal
