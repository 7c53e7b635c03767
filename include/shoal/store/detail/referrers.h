#pragma once
// The entities that refer to one entity through a field, as a range. A RelationIndex (relation_index.h) returns them.
// Lifetime: until the index is refreshed. Thread: any, between refreshes.

#include "shoal/entity/entity.h"

#include <cstddef>
#include <iterator>

namespace shoal {

namespace detail {

/// A reference in the list of its target. The links are the entity indices of other referrers; 0 means none.
struct ReferenceLink {
    Entity referrer, target;  ///< null: no reference
    std::uint32_t next = 0, previous = 0;
};

}  // namespace detail

/// The entities that refer to one target, in an unspecified order that is the same in every run. Standard library
/// algorithms can iterate over them.
class Referrers {
public:
    class Iterator {
    public:
        using value_type = Entity;
        using difference_type = std::ptrdiff_t;
        using reference = const Entity&;
        using pointer = const Entity*;
        using iterator_category = std::forward_iterator_tag;

        Iterator() = default;
        reference operator*() const { return links_[at_].referrer; }
        pointer operator->() const { return &**this; }
        Iterator& operator++() { return *this = {links_, links_[at_].next, target_}; }
        Iterator operator++(int) {
            const Iterator before = *this;
            return ++*this, before;
        }
        friend bool operator==(const Iterator& a, const Iterator& b) { return a.at_ == b.at_; }

    private:
        friend class Referrers;
        Iterator(const detail::ReferenceLink* links, std::uint32_t at, Entity target)
            : links_(links), at_(at), target_(target) {
            // The list may also contain references to an older entity with the same index as the target.
            while (at_ != 0 && links_[at_].target != target_) at_ = links_[at_].next;
        }

        const detail::ReferenceLink* links_ = nullptr;
        std::uint32_t at_ = 0;
        Entity target_;
    };

    Referrers() = default;
    Referrers(const detail::ReferenceLink* links, std::uint32_t first, Entity target)
        : links_(links), first_(first), target_(target) {}

    Iterator begin() const { return {links_, first_, target_}; }
    Iterator end() const { return {links_, 0, target_}; }
    bool empty() const { return begin() == end(); }
    /// Cost: O(size()).
    SHOAL_API std::size_t size() const;

private:
    const detail::ReferenceLink* links_ = nullptr;
    std::uint32_t first_ = 0;
    Entity target_;
};

}  // namespace shoal
