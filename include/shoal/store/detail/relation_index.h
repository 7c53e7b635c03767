#pragma once
// Finds, without a search, the entities that refer to an entity through one field of a component.
//
//     struct Missile {
//         Entity target;
//     };
//     SHOAL_COMPONENT(Missile, (target, relation(cleared)))
//
//     by target      e7 -> missile e20 <-> missile e31        a list for each target
//                    e9 -> missile e22
//
// The field is written like any other field; refresh() then updates the lists, using a ComponentMirror. A world does
// this when it settles, for every field that is declared a relation: see Relations::referrers().
// Lifetime: the store and the entity manager outlive the index. Thread: refresh() and clear_references() count as
// structural calls to the store; between them, any thread may make const calls. Cost: 16 bytes for each entity index up
// to the highest referrer (24 with 64-bit ids), 4 bytes for each index up to the highest target, and a mirror of the
// field.

#include "shoal/entity/entity_manager.h"
#include "shoal/store/detail/component_mirror.h"
#include "shoal/store/detail/referrers.h"
#include "shoal/table/detail/field_part.h"

namespace shoal {

class RelationIndex {
public:
    /// The index is empty until the first refresh(). Requires: the field is declared a relation.
    SHOAL_API RelationIndex(Store& store, const Schema& component, std::uint32_t field, const EntityManager& entities);
    RelationIndex(const RelationIndex&) = delete;
    RelationIndex& operator=(const RelationIndex&) = delete;

    Store& store() const { return mirror_.store(); }
    const Schema& component() const { return mirror_.component(); }
    std::uint32_t field() const { return field_; }
    Relation relation() const { return component().fields()[field_].relation; }

    /// Updates the lists from the rows, and appends the dead targets of new references to `dead_targets`. Ids of
    /// entities that never existed count as null.
    SHOAL_API void refresh(Array<Entity>& dead_targets);
    /// Returns the entities that refer to `target`, which may be dead.
    SHOAL_API Referrers referrers(Entity target) const;
    /// Forgets an entity's reference, for example after the entity's death.
    SHOAL_API void forget(Entity referrer);
    /// Sets all references to an entity to null, in the lists and in the rows. Call refresh() afterwards, so that a
    /// later write of the same reference counts as a change.
    SHOAL_API void clear_references(Entity target);
    /// Whether clear_references() has changed rows since the last refresh().
    bool has_cleared() const { return has_cleared_; }
    /// Forgets the references of dead entities, and appends the dead targets of the remaining references. Cost:
    /// O(indices).
    SHOAL_API void find_dead(Array<Entity>& dead_targets);
    /// Writes the lists, whose order depends on the order in which references were made.
    SHOAL_API void save(SnapshotWriter& to) const;
    /// Loads what save() wrote; if the data is missing, the index is empty until the next refresh(). Errors: the lists
    /// contradict each other. On error, the index is empty.
    SHOAL_API Status load(SnapshotReader& from);
    /// Checks the lists. Errors: a link has no link back. Cost: O(indices).
    SHOAL_API Status validate() const;

private:
    Entity refer(Entity referrer);
    Status load_lists(SnapshotReader& from);
    bool are_lists() const;

    const EntityManager& entities_;
    std::uint32_t field_;
    bool has_cleared_ = false;
    FieldPart part_;
    ComponentMirror mirror_;
    Array<detail::ReferenceLink> links_{Owner("relation")};  // by index of the referrer
    Array<std::uint32_t> first_{Owner("relation")};          // by index of the target
};

}  // namespace shoal
