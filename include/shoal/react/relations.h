#pragma once
// The relations of a world: an index for each field that is declared one, and what becomes of references to the dead.
//
//     struct Limpet {
//         Entity whale;
//     };
//     SHOAL_COMPONENT(Limpet, (whale, relation(dies_too)))
//
//     for (const Entity limpet : world.relations().referrers<&Limpet::whale>(whale)) all.push_back(limpet);
//
//     relation                 the reference stays as it is, and names an entity that does not live
//     relation(cleared)        it becomes null
//     relation(dies_too)       the entity that refers to the target dies too, and so does whoever refers to that one
//
// It does not matter which store keeps the component, nor how the field is written. The indices are as of the last
// settle: they are brought up to date after the commands. Then the targets that have died since are dealt with, before
// the stores remove the rows of the dead, so that a settle removes them all (but for managers that look for the dead at
// random). A disabled component counts as not there: what becomes of its reference is decided when it is enabled.
// Thread: as World; referrers() from any thread, also while passes run.

#include "shoal/entity/entity_manager.h"
#include "shoal/react/service.h"
#include "shoal/store/referrers.h"
#include "shoal/store/store.h"
#include "shoal/table/column.h"

namespace shoal {

class RelationIndex;
class ComponentDirectory;

/// Who refers to whom: World::relations().
class Relations final : public WorldService {
public:
    SHOAL_API explicit Relations(ComponentDirectory& directory);
    SHOAL_API ~Relations() override;

    /// Returns the entities whose field refers to `target`, as of the last settle:
    /// `for (const Entity missile : world.relations().referrers<&Missile::target>(ship))`.
    /// Requires: the field is declared a relation. Cost: that of the entities that are found.
    template <auto kMember>
    Referrers referrers(Entity target) const {
        constexpr auto kDescription = shoal_describe(ComponentTag<ComponentOf<kMember>>{});
        static_assert(kDescription.fields[FieldLayout<kMember>::kIndex].relation != Relation::kNone,
                      "the field is not declared a relation; write (field, relation) in SHOAL_COMPONENT");
        return referrers(schema_of<ComponentOf<kMember>>().id(), FieldLayout<kMember>::kIndex, target);
    }
    /// Returns who refers to an entity through a field, by its number in the schema; nobody if it is no relation of a
    /// store of the last settle.
    SHOAL_API Referrers referrers(ComponentId component, std::uint32_t field, Entity target) const;

    std::string describe() const override;
    /// Brings the indices up to date, those of relations that are new too, and deals with the dead. Destroys entities.
    void after_commands(const SettleContext& context) override;
    void forget(const Store& store) override;
    std::uint32_t state_version() const override { return 1; }
    /// Writes what it knows, or takes it over; see RelationIndex::load(). Requires: the stores were loaded.
    void save_part(SnapshotWriter& to) const override;
    Status load_part(SnapshotReader& from, std::uint32_t version) override;

private:
    const RelationIndex* find(ComponentId component, std::uint32_t field) const;
    void find_new();
    void follow_deaths();
    template <class Chooses>
    void forget_if(Chooses&& chooses);
    void deal_with(std::span<const Entity> dead, Array<Entity>& doomed);

    ComponentDirectory& directory_;
    EntityManager& entities_;
    DeathCursor cursor_;
    std::size_t num_known_ = 0;  // component types whose fields were looked at
    Array<RelationIndex*> indices_{Owner("relation")};
};

}  // namespace shoal
