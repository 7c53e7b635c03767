#pragma once
// The relations of a world: an index for each field that is declared one, and what becomes of references to the dead.
//
//     struct Limpet {
//         Entity whale;
//     };
//     SHOAL_COMPONENT(Limpet, (whale, relation(dies_too)))
//
//     for (const Entity limpet : world.referrers<&Limpet::whale>(whale)) all.push_back(limpet);
//
//     relation                 the reference stays as it is, and names an entity that does not live
//     relation(cleared)        it becomes null
//     relation(dies_too)       the entity that refers to the target dies too, and so does whoever refers to that one
//
// It does not matter which store keeps the component, nor how the field is written. The indices are as of the last settle:
// they are brought up to date after the commands. Then the targets that have died since are dealt with, before the stores
// remove the rows of the dead, so that a settle removes them all (but for managers that look for the dead at random). A
// component that is switched off counts as not there: what becomes of its reference is decided when it is switched on.
// Thread: as World; referrers() from any thread, also while passes run.

#include "shoal/entity/entity_manager.h"
#include "shoal/store/referrers.h"
#include "shoal/store/store.h"

namespace shoal {

class RelationIndex;

/// Programs use it through World.
class Relations {
public:
    explicit Relations(EntityManager& entities) : entities_(entities) {}
    Relations(const Relations&) = delete;
    Relations& operator=(const Relations&) = delete;
    SHOAL_API ~Relations();

    /// Brings the indices up to date, those of relations that are new too, and deals with the dead. Destroys entities.
    SHOAL_API void settle(std::span<Store* const> stores);
    /// Returns who refers to an entity through a field; nobody if it is no relation of a store of the last settle.
    SHOAL_API Referrers referrers(ComponentId component, std::uint32_t field, Entity target) const;
    /// Writes what it knows, or takes it over; see RelationIndex::load(). Requires: the stores were loaded.
    SHOAL_API void save(StateWriter& to) const;
    SHOAL_API Status load(StateReader& from, std::span<Store* const> stores);
    /// Forgets what it knows of a store.
    SHOAL_API void forget(const Store& store);

private:
    const RelationIndex* find(ComponentId component, std::uint32_t field) const;
    void find_new(std::span<Store* const> stores);
    template <class Chooses>
    void forget_if(Chooses&& chooses);
    void deal_with(std::span<const Entity> dead, Array<Entity>& doomed);

    EntityManager& entities_;
    DeathCursor cursor_;
    std::size_t num_known_ = 0;  // component types whose fields were looked at
    Array<RelationIndex*> indices_{Owner("relation")};
};

}  // namespace shoal
