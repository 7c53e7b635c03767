#include "source/reference_index.h"

#include "shoal/base/string_id.h"
#include "shoal/source/entity_key.h"

#include <algorithm>

namespace shoal {

void ReferenceIndex::build() const {
    is_built_ = true;
    by_guid_.reserve(entities_.size());
    for (std::uint32_t i = 0; i < entities_.size(); ++i) {
        by_guid_.insert(entities_[i].guid, i);
        if (const std::string_view name = entities_[i].entity->name; !name.empty())
            names_.push_back({hash_text(name), i});
    }
    std::sort(names_.begin(), names_.end(),
              [](const Named& a, const Named& b) { return a.hash != b.hash ? a.hash < b.hash : a.entity < b.entity; });
}

std::string ReferenceIndex::path_of(std::uint32_t entity) const {
    std::vector<std::string_view> keys;
    for (; entity != kNoBlobEntity; entity = entities_[entity].parent) keys.push_back(entities_[entity].entity->key);
    std::string path;
    for (auto key = keys.rbegin(); key != keys.rend(); ++key) path.append(*key).push_back('/');
    return path;
}

ReferenceIndex::Found ReferenceIndex::find_inside(std::uint32_t scope, std::string_view reference) const {
    const std::string path = path_of(scope) + std::string(reference);
    if (const std::uint32_t* const exact = by_guid_.find(hash_text(path))) return {*exact};
    const std::uint32_t begin = scope == kNoBlobEntity ? 0 : scope;
    const std::uint32_t end =
        scope == kNoBlobEntity ? static_cast<std::uint32_t>(entities_.size()) : entities_[scope].end;
    const Named wanted{hash_text(reference), begin};
    auto at = std::lower_bound(names_.begin(), names_.end(), wanted, [](const Named& a, const Named& b) {
        return a.hash != b.hash ? a.hash < b.hash : a.entity < b.entity;
    });
    Found found;
    for (; at != names_.end() && at->hash == wanted.hash && at->entity < end; ++at) {
        if (found.entity != kNoBlobEntity) return found.other = at->entity, found;
        found.entity = at->entity;
    }
    return found;
}

ReferenceIndex::Found ReferenceIndex::find(std::uint32_t from, std::string_view reference) const {
    if (has_upper_case_guid(reference)) {
        std::string lower(reference);
        lower_guids(lower);
        const Found found = find(from, lower);
        if (found.entity != kNoBlobEntity) return found;  // otherwise it may be a name
    }
    if (reference == "self") return {from};
    if (reference == "parent" || reference == "..") return {entities_[from].parent};
    if (!is_built_) build();
    std::uint32_t scope = from;
    for (; reference.substr(0, 3) == "../"; reference.remove_prefix(3)) {
        if (scope == kNoBlobEntity) return {};
        scope = entities_[scope].parent;
    }
    if (!reference.empty() && reference[0] == '#') reference.remove_prefix(1);
    if (reference.empty()) return {};
    for (;; scope = entities_[scope].parent) {
        const Found found = find_inside(scope, reference);
        if (found.entity != kNoBlobEntity || scope == kNoBlobEntity) return found;
    }
}

}  // namespace shoal
