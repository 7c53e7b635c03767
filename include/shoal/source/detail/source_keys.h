#pragma once
// A table of all keys that have a meaning in levels, entities and components, for source_grammar.h and the JSON Schema.
//
//     data  _guid  _type  type  guid  id  editor  name  prefab  components ... entities  _versions
//     [--------- kComponentKeys --------]                       [------ lists --------]
//           [-------------------------------- kEntityKeys ----------------------------------------]
//
// Thread: any thread.

#include "shoal/document/detail/document.h"
#include "shoal/source/detail/source_rules.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace shoal {

/// The keys, in the order of kSourceKeys.
enum class SourceKey : std::uint8_t {
    kData,
    kGuid,
    kType,
    kPlainType,
    kPlainGuid,
    kId,
    kEditor,
    kName,
    kPrefab,
    kComponents,
    kModifiedComponents,
    kDeletedComponents,
    kChildren,
    kModifiedChildren,
    kDeletedChildren,
    kUnits,
    kEntities,
    kVersions,
};

/// The kind of a key's value. If a key's kind is kTypeName or precedes it, the entity is in the long form.
enum class KeyValue : std::uint8_t {
    kResource,
    kNewComponents,
    kChangedComponents,
    kNewEntities,
    kChangedEntities,
    kDeletions,  ///< the keys of components or children
    kTypeName,
    kText,
    kEditor,  ///< a mapping in which only `name` has a meaning
    kVersions,
    kFields,
};

struct KeyMeaning {
    std::string_view name;
    KeyValue value;
    bool in_level;
    bool in_entity;
};

inline constexpr KeyMeaning kSourceKeys[] = {
    {"data", KeyValue::kFields, false, false},
    {"_guid", KeyValue::kText, true, true},
    {"_type", KeyValue::kTypeName, true, true},
    {"type", KeyValue::kTypeName, true, true},
    {"guid", KeyValue::kText, true, true},
    {"id", KeyValue::kText, true, true},
    {"editor", KeyValue::kEditor, true, true},
    {"name", KeyValue::kText, true, true},
    {"prefab", KeyValue::kResource, false, true},
    {"components", KeyValue::kNewComponents, false, true},
    {"modified_components", KeyValue::kChangedComponents, false, true},
    {"deleted_components", KeyValue::kDeletions, false, true},
    {"children", KeyValue::kNewEntities, false, true},
    {"modified_children", KeyValue::kChangedEntities, false, true},
    {"deleted_children", KeyValue::kDeletions, false, true},
    {"units", KeyValue::kNewEntities, true, false},
    {"entities", KeyValue::kNewEntities, true, false},
    {"_versions", KeyValue::kVersions, true, true},
};
static_assert(std::size(kSourceKeys) == static_cast<std::size_t>(SourceKey::kVersions) + 1, "a row for each SourceKey");
static_assert(kSourceKeys[static_cast<std::size_t>(SourceKey::kId)].name == "id" &&
                  kSourceKeys[static_cast<std::size_t>(SourceKey::kPrefab)].name == "prefab" &&
                  kSourceKeys[static_cast<std::size_t>(SourceKey::kVersions)].name == "_versions",
              "the rows are in the order of SourceKey");

/// The keys of levels and entities, and the keys that a component may have beside its fields.
inline constexpr std::span kEntityKeys = std::span(kSourceKeys).subspan<1>();
inline constexpr std::span kComponentKeys = std::span(kSourceKeys).first<6>();

/// The keys that hold a list element's key or its type. If an element has several of them, the first one in this order
/// is used.
inline constexpr SourceKey kGuidKeys[] = {SourceKey::kGuid, SourceKey::kPlainGuid, SourceKey::kId};
inline constexpr SourceKey kTypeKeys[] = {SourceKey::kType, SourceKey::kPlainType};

constexpr const KeyMeaning& meaning_of(SourceKey key) { return kSourceKeys[static_cast<std::size_t>(key)]; }
constexpr std::string_view key_name(SourceKey key) { return meaning_of(key).name; }
constexpr bool has_meaning(const KeyMeaning& key, bool of_level) { return of_level ? key.in_level : key.in_entity; }
/// Returns whether entities with this key are in the long form.
constexpr bool marks_long_form(const KeyMeaning& key) { return key.value <= KeyValue::kTypeName; }
/// Returns whether the elements of a list are new or changed components.
constexpr bool has_components(const KeyMeaning& list) {
    return list.value == KeyValue::kNewComponents || list.value == KeyValue::kChangedComponents;
}

/// Return whether a key is one of kEntityKeys or kComponentKeys, respectively.
SHOAL_API bool is_entity_key(std::string_view key);
SHOAL_API bool is_wrapper_key(std::string_view key);
/// Returns whether the composer uses a key of levels, entities or components. Such a key is never ignored or
/// renamed.
SHOAL_API bool is_structural_key(std::string_view key);

/// Returns whether a source with this root is a level.
SHOAL_API bool is_level_text(Node root);

/// Returns whether an entity in the short form may have a key. It may not have keys that define how an entity is built,
/// or misspellings of them.
SHOAL_API bool is_key_of_short_form(std::string_view key);

}  // namespace shoal
