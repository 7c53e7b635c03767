#pragma once
// Finds the entity that a reference names. See docs/formats/source.md, "References", for the rules.

#include "shoal/base/detail/hash_map.h"
#include "shoal/base/string_id.h"
#include "shoal/source/detail/composer.h"
#include "shoal/source/detail/entity_key.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace shoal {

class ReferenceIndex {
public:
    struct Found {
        std::uint32_t entity = kNoBlobEntity;
        std::uint32_t other = kNoBlobEntity;  ///< another entity with the same name; if set, the reference is ambiguous
    };

    explicit ReferenceIndex(const Composition& composition) : entities_(composition.entities()) {}

    /// Finds the entity that `reference` names as seen from the entity `from`. Cost: O(depth x log(entities)); the
    /// first call builds the index.
    Found find(std::uint32_t from, std::string_view reference) const {
        if (has_upper_case_guid(reference)) {
            std::string lower(reference);
            lower_guids(lower);
            const Found found = find(from, lower);
            if (found.entity != kNoBlobEntity) return found;  // otherwise, it may be a name
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

private:
    void build() const {
        is_built_ = true;
        by_guid_.reserve(entities_.size());
        for (std::uint32_t i = 0; i < entities_.size(); ++i) {
            by_guid_.insert(entities_[i].guid, i);
            if (const std::string_view name = entities_[i].entity->name; !name.empty())
                names_.push_back({hash_text(name), i});
        }
        std::sort(names_.begin(), names_.end());
    }

    std::string path_of(std::uint32_t entity) const {
        std::vector<std::string_view> keys;
        for (; entity != kNoBlobEntity; entity = entities_[entity].parent)
            keys.push_back(entities_[entity].entity->key);
        std::string path;
        for (auto key = keys.rbegin(); key != keys.rend(); ++key) path.append(*key).push_back('/');
        return path;
    }

    /// Searches inside one entity, or everywhere if it is kNoBlobEntity.
    Found find_inside(std::uint32_t scope, std::string_view reference) const {
        const std::string path = path_of(scope) + std::string(reference);
        if (const std::uint32_t* const exact = by_guid_.find(hash_text(path))) return {*exact};
        const std::uint32_t begin = scope == kNoBlobEntity ? 0 : scope;
        const std::uint32_t end =
            scope == kNoBlobEntity ? static_cast<std::uint32_t>(entities_.size()) : entities_[scope].end;
        const Named wanted{hash_text(reference), begin};
        auto at = std::lower_bound(names_.begin(), names_.end(), wanted);
        Found found;
        for (; at != names_.end() && at->hash == wanted.hash && at->entity < end; ++at) {
            if (found.entity != kNoBlobEntity) return found.other = at->entity, found;
            found.entity = at->entity;
        }
        return found;
    }

    std::span<const ComposedEntity> entities_;
    struct Named {
        std::uint64_t hash;
        std::uint32_t entity;
        friend auto operator<=>(const Named&, const Named&) = default;
    };
    // The index is built by the first find(), because most sources have no references.
    mutable bool is_built_ = false;
    mutable HashMap<std::uint64_t, std::uint32_t> by_guid_{Owner("reference index")};
    mutable std::vector<Named> names_;  // sorted by hash, then by entity
};

}  // namespace shoal
