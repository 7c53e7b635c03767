#pragma once
// Sets of component types, which are named like archetypes, such as "body + fish". Types are added to a set one by one,
// in the order of the tables.

#include "shoal/table/detail/schema.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace shoal {

class TypeSets {
public:
    /// Returns the set that contains `type` and the types of `set`. Set 0 is the empty set.
    std::uint32_t with(std::uint32_t set, const Schema& type) {
        if (set != 0 && last_[set] == type.id().hash) return set;                      // the type is in the set
        if (set == asked_.first && type.id().hash == asked_.second) return answered_;  // the same question as before
        const auto [next, is_new] = next_.try_emplace({set, type.id().hash}, static_cast<std::uint32_t>(names_.size()));
        if (is_new) {
            names_.push_back(set == 0 ? type.name() : names_[set] + " + " + type.name());
            last_.push_back(type.id().hash);
        }
        asked_ = {set, type.id().hash};
        return answered_ = next->second;
    }

    /// Indexed by set. The empty set has an empty name.
    const std::vector<std::string>& names() const { return names_; }

private:
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint32_t> next_;
    std::vector<std::string> names_ = {""};
    std::vector<std::uint64_t> last_ = {0};  // the type that was added last to each set
    std::pair<std::uint32_t, std::uint64_t> asked_ = {0, 0};
    std::uint32_t answered_ = 0;  // the answer for asked_; valid if the type in asked_ is not 0
};

}  // namespace shoal
