#pragma once
// Finds the entity that a text refers to. docs/formats/source.md, "References", has the rules.

#include "shoal/base/hash_map.h"
#include "shoal/source/composer.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shoal {

class ReferenceIndex {
public:
    struct Found {
        std::uint32_t entity = kNoBlobEntity;
        std::uint32_t other = kNoBlobEntity;  ///< another with the same name: the reference is ambiguous
    };

    explicit ReferenceIndex(const Composition& composition) : entities_(composition.entities()) {}

    /// Looks for `reference` as seen from `from`. Cost: O(depth x log(entities)); the first call builds the index.
    Found find(std::uint32_t from, std::string_view reference) const;

private:
    void build() const;
    /// Looks inside one entity, or inside everything (kNoBlobEntity).
    Found find_inside(std::uint32_t scope, std::string_view reference) const;
    std::string path_of(std::uint32_t entity) const;

    std::span<const ComposedEntity> entities_;
    struct Named {
        std::uint64_t hash;
        std::uint32_t entity;
    };
    // Made by the first find(): most sources have no references.
    mutable bool is_built_ = false;
    mutable HashMap<std::uint64_t, std::uint32_t> by_guid_{Owner("reference index")};
    mutable std::vector<Named> names_;  // by hash, then entity
};

}  // namespace shoal
