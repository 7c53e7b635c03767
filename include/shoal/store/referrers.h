#pragma once
// The entities that refer to another one through a field: what a RelationIndex (relation_index.h) gives to a loop.
// Lifetime: until the index is refreshed. Thread: any, between refreshes.

#include "shoal/entity/entity.h"

namespace shoal {

namespace detail {

/// A reference in the list of its target. Links are entity indices of referrers, and 0 is none.
struct ReferenceLink {
    Entity referrer, target;  ///< null: no reference
    std::uint32_t next = 0, previous = 0;
};

}  // namespace detail

/// The entities that refer to one target, in an unspecified order that is the same in every run.
class Referrers {
public:
    class Iterator {
    public:
        Entity operator*() const { return links_[at_].referrer; }
        Iterator& operator++() {
            at_ = links_[at_].next;
            skip_others();
            return *this;
        }
        friend bool operator==(const Iterator& a, const Iterator& b) { return a.at_ == b.at_; }

    private:
        friend class Referrers;
        Iterator(const detail::ReferenceLink* links, std::uint32_t at, Entity target)
            : links_(links), at_(at), target_(target) {
            skip_others();
        }
        /// References to an older entity on the index of the target are in the same list.
        void skip_others() {
            while (at_ != 0 && links_[at_].target != target_) at_ = links_[at_].next;
        }

        const detail::ReferenceLink* links_;
        std::uint32_t at_;
        Entity target_;
    };

    Referrers() = default;
    Referrers(const detail::ReferenceLink* links, std::uint32_t first, Entity target)
        : links_(links), first_(first), target_(target) {}

    Iterator begin() const { return {links_, first_, target_}; }
    Iterator end() const { return {links_, 0, target_}; }
    bool empty() const { return begin() == end(); }

private:
    const detail::ReferenceLink* links_ = nullptr;
    std::uint32_t first_ = 0;
    Entity target_;
};

}  // namespace shoal
