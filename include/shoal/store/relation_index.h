#pragma once
// Who refers to an entity through one field of a component: found without a search.
//
//     struct Missile { Entity target; float speed; };
//     SHOAL_COMPONENT(Missile, (target, relation(cleared)), speed)
//
//     by target      e7 -> missile e20 <-> missile e31        a list for each target
//                    e9 -> missile e22
//
// The lists are brought up to date by update(), from what a ComponentMirror finds; the field is written like any other.
// World does this when it settles, for every field that is declared a relation: see World::referrers().
// Lifetime: store and entities outlive it. Thread: update() and clear_references() as structural calls of the store; const
// calls from any thread between them.
// Cost: 12 bytes for each entity index up to the highest referrer, 4 up to the highest target, and a mirror of the field;
// twice as much with 64-bit ids.

#include "shoal/entity/entity_manager.h"
#include "shoal/store/component_mirror.h"
#include "shoal/table/field_part.h"

namespace shoal {

namespace detail {

/// A reference in the list of its target. Links are entity indices of referrers, and 0 is none.
struct ReferenceLink {
    Entity referrer, target;  ///< null: no reference
    std::uint32_t next = 0, previous = 0;
};

}  // namespace detail

/// The entities that refer to one target, in an unspecified order that is the same in every run.
/// Lifetime: until the index is updated.
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

class RelationIndex {
public:
    /// Knows no references until the first update(). Requires: the field is declared a relation.
    SHOAL_API RelationIndex(Store& store, const Schema& component, std::uint32_t field, const EntityManager& entities);
    RelationIndex(const RelationIndex&) = delete;
    RelationIndex& operator=(const RelationIndex&) = delete;

    Store& store() const { return mirror_.store(); }
    const Schema& component() const { return mirror_.component(); }
    std::uint32_t field() const { return field_; }
    Relation relation() const { return component().fields()[field_].relation; }

    /// Takes over what the rows say now, and appends the targets of new references that do not live. Ids that were never
    /// given out count as null.
    SHOAL_API void update(Array<Entity>& dead_targets);
    /// Returns who refers to an entity, dead or alive.
    Referrers referrers(Entity target) const {
        const std::uint32_t first = target.index() < first_.size() ? first_[target.index()] : 0;
        return {links_.data(), first, target};
    }
    /// Forgets the reference of an entity, such as one that has died.
    SHOAL_API void forget(Entity referrer);
    /// Makes the references to an entity null, in the rows too.
    SHOAL_API void clear_references(Entity target);
    /// Appends the targets that do not live any more.
    SHOAL_API void list_dead_targets(Array<Entity>& dead) const;
    /// Checks the lists. Errors: a link does not lead back. Cost: O(indices).
    SHOAL_API Status validate() const;

private:
    Entity refer(Entity referrer);

    const EntityManager& entities_;
    std::uint32_t field_;
    FieldPart part_;
    ComponentMirror mirror_;
    Array<detail::ReferenceLink> links_{Owner("relation")};  // by index of the referrer
    Array<std::uint32_t> first_{Owner("relation")};          // by index of the target
};

}  // namespace shoal
