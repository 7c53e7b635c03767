#include "shoal/source/detail/source_grammar.h"

#include <algorithm>
#include <vector>

namespace shoal {
namespace {

std::vector<std::string_view> names_of(std::span<const KeyMeaning> keys, std::span<const RenamedKey> renamed_keys) {
    std::vector<std::string_view> names;
    for (const KeyMeaning& key : keys) names.push_back(key.name);
    for (const RenamedKey& renamed : renamed_keys) names.push_back(renamed.from);
    return names;
}

}  // namespace

Node wrapped_fields(Node component) {
    ComponentText text;
    text.data = component.find(key_name(SourceKey::kData));
    return text.is_wrapped() ? text.data : Node();
}

std::string_view ComponentText::type_name(bool declares) const {
    if (type && type.is_string()) return type.as_string();
    const bool is_type = plain_type && plain_type.is_string() && (declares || data);
    return is_type ? plain_type.as_string() : std::string_view();
}

SourceGrammar::SourceGrammar(GrammarUser& user, std::span<const RenamedKey> renamed_keys)
    : user_(user),
      renamed_keys_(renamed_keys),
      keys_(names_of(kSourceKeys, renamed_keys)),
      component_keys_(names_of(kComponentKeys, {})) {}

/// If a key is not allowed in the short form, the entity is in the long form, so that misspelled keys are reported.
/// Each key is checked only once.
bool SourceGrammar::is_short_form(Node entity) {
    return std::all_of(entity.begin(), entity.end(), [&](Node child) {
        const auto [may_have, is_new] = is_short_.insert(child.key(), false);
        if (!is_new) return *may_have;
        std::string_view key = child.key();
        for (const RenamedKey& renamed : renamed_keys_)
            if (renamed.from == key) key = renamed.to;
        return *may_have = is_key_of_short_form(key);
    });
}

bool SourceGrammar::has_entries(Node list, SourceKey key) {
    if (!list || list.is_null()) return false;
    return list.is_list() || list.is_mapping() || user_.refuse(EntryProblem::kNoList, list, key);
}

bool SourceGrammar::read_member(Node member, SourceKey list, SourceEntry& entry) {
    entry = {plain_key(member.key()), member.key_position(), member, ItemForm::kByKey};
    return !entry.key.empty() || user_.refuse(EntryProblem::kEmptyKey, member, list);
}

bool SourceGrammar::read_element(Node element, SourceKey list, SourceEntry& entry) {
    const KeyValue value = meaning_of(list).value;
    entry = {{}, element.position(), element, ItemForm::kElement};
    if (value == KeyValue::kDeletions && element.is_string()) {
        entry.key = plain_key(element.as_string());
        return true;
    }
    if (!element.is_mapping()) return user_.refuse(EntryProblem::kKind, element, list);
    read_key(element, list, entry);
    const bool needs_target = value != KeyValue::kNewComponents && value != KeyValue::kNewEntities;
    return !entry.key.empty() || !needs_target || user_.refuse(EntryProblem::kNoTarget, element, list);
}

void SourceGrammar::read_key(Node element, SourceKey list, SourceEntry& entry) {
    for (const SourceKey wanted : kGuidKeys) {
        const Node guid = element.find(key_name(wanted));
        if (!guid || guid.is_null()) continue;
        if (guid.is_string()) {
            entry.key = plain_key(guid.as_string());
            entry.position = guid.position();
            if (!entry.key.empty()) entry.key_name = key_name(wanted);
            return;
        }
        const bool may_be_field = has_components(meaning_of(list)) && wanted != SourceKey::kGuid;
        if (!may_be_field) user_.refuse(EntryProblem::kKeyKind, guid, list);
    }
}

ComponentText SourceGrammar::read_component(Node component) {
    Node keys[kComponentKeys.size()];
    ComponentText text;
    int row = -1;
    for (const Node child : component) {
        row = component_keys_.find(child.key(), row);
        if (row >= 0)
            keys[row] = child;
        else
            text.has_others = true;
    }
    text.data = keys[static_cast<std::size_t>(SourceKey::kData)];
    text.type = keys[static_cast<std::size_t>(SourceKey::kType)];
    text.plain_type = keys[static_cast<std::size_t>(SourceKey::kPlainType)];
    return text;
}

}  // namespace shoal
