#pragma once
// The keys of levels and entities that have a meaning, and whether an entity is in the short form.
// Thread: any thread.

#include "shoal/base/detail/hash_map.h"
#include "shoal/document/detail/document.h"
#include "shoal/source/detail/source_rules.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace shoal {

/// The keys of levels and entities that have a meaning.
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

/// Returns whether a key is one of them.
SHOAL_API bool is_entity_key(std::string_view key);
inline std::string_view key_name(EntityKey key) { return kEntityKeys[static_cast<std::size_t>(key)]; }

/// Returns whether a source with this root is a level.
SHOAL_API bool is_level_text(Node root);

/// Returns whether an entity in the short form may have a key: not one that defines how an entity is built, nor one
/// that looks like a misspelling of such a key.
SHOAL_API bool is_key_of_short_form(std::string_view key);

/// Distinguishes entities in the short form, whose own keys are component types, from the long form. A key that the
/// short form does not allow makes it the long form, so that a misspelled key is reported.
/// Lifetime: keys passed to it must outlive it. Cost: each distinct word is checked once.
class ShortForm {
public:
    explicit ShortForm(std::span<const RenamedKey> renamed_keys = {}) : renamed_keys_(renamed_keys) {}
    SHOAL_API bool has(Node entity);

private:
    std::span<const RenamedKey> renamed_keys_;
    HashMap<std::string_view, bool> may_have_{Owner("short form")};
};

}  // namespace shoal
