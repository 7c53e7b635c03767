#pragma once
// The relations of a world consist of an index for each field that is declared a relation, and of rules for references
// to dead entities.
//
//     struct Limpet {
//         Entity whale;
//     };
//     SHOAL_COMPONENT(Limpet, (whale, relation(dies_too)))
//
//     for (const Entity limpet : world.relations().referrers<&Limpet::whale>(whale)) all.push_back(limpet);
//
//     relation                 the reference stays unchanged, and names a dead entity
//     relation(cleared)        it becomes null
//     relation(dies_too)       the entity that refers to the target dies too, and so do entities that refer to it
//
// Relations work for all stores, however the field is written. The indices show the state at the last settle. Each
// settle updates them after the commands. Then, before the stores remove the rows of dead entities, it applies the
// rules for targets that have died. One settle therefore removes all rows of dead entities (except in managers that
// check random rows for dead owners). A disabled component counts as absent; its rule is applied when the component is
// enabled.
// Thread: the same as for World; any thread may call referrers(), even while passes are running.

#include "shoal/entity/entity_manager.h"
#include "shoal/react/service.h"
#include "shoal/store/detail/referrers.h"
#include "shoal/store/store.h"
#include "shoal/table/detail/column.h"

namespace shoal {

class RelationIndex;
class ComponentDirectory;

/// Indexes the references between entities; see World::relations().
class Relations final : public WorldService {
public:
    SHOAL_API explicit Relations(ComponentDirectory& directory);
    SHOAL_API ~Relations() override;

    /// Returns the entities whose field referred to `target` at the last settle:
    /// `for (const Entity missile : world.relations().referrers<&Missile::target>(ship))`.
    /// Requires: the field is declared a relation. Cost: proportional to the number of entities returned.
    template <auto kMember>
    Referrers referrers(Entity target) const {
        constexpr auto kDescription = shoal_describe(ComponentTag<ComponentOf<kMember>>{});
        static_assert(kDescription.fields[FieldLayout<kMember>::kIndex].relation != Relation::kNone,
                      "the field is not declared a relation; write (field, relation) in SHOAL_COMPONENT");
        return referrers(schema_of<ComponentOf<kMember>>().id(), FieldLayout<kMember>::kIndex, target);
    }
    /// Like the template, but takes the field's index in the schema. Returns no entities if no store had the relation
    /// at the last settle.
    SHOAL_API Referrers referrers(ComponentId component, std::uint32_t field, Entity target) const;

    std::string describe() const override;
    /// Updates the indices, adds indices for new relations, and applies the rules for dead targets. This may destroy
    /// entities.
    void after_commands(const SettleContext& context) override;
    void forget(const Store& store) override;
    std::uint32_t state_version() const override { return 1; }
    /// save_part() writes the indices, and load_part() restores them; see RelationIndex::load(). load_part() requires
    /// that the stores have been loaded.
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
    std::size_t num_known_ = 0;  // the number of component types whose fields were checked for relations
    Array<RelationIndex*> indices_{Owner("relation")};
};

}  // namespace shoal
