#pragma once
// The component types of a database and the archetypes that they form, as a graph: an edge leads to the archetype with
// one more component type or one fewer.
//
//     {position} ---with velocity--- {position, velocity} ---with food--- {position, velocity, food}
//                                            |
//                                      without position --- {velocity}
//
// An archetype is made when it is first needed. Edges, and the plans for moving rows from one archetype to another, are
// computed once and remembered. Component types and archetypes live as long as the graph; both are numbered in the
// order in which they were added.
// Thread: const calls from any thread between changes.

#include "shoal/base/detail/hash_map.h"
#include "shoal/base/status.h"
#include "shoal/database/detail/archetype.h"

namespace shoal {

class TakePlan;

class ArchetypeGraph {
public:
    ArchetypeGraph() = default;
    ArchetypeGraph(const ArchetypeGraph&) = delete;
    ArchetypeGraph& operator=(const ArchetypeGraph&) = delete;
    SHOAL_API ~ArchetypeGraph();

    // --- component types -----------------------------------------------------------------------------------------

    /// Adds a component type, or returns the one that is already there.
    /// Errors: another type has this name (the message shows both), or the schema is both `many` and `enableable`.
    SHOAL_API Result<ComponentType> add_component(const Schema& schema);
    /// Returns the component type, which converts to false if there is none.
    SHOAL_API ComponentType find_component(ComponentId component) const;
    /// Returns the component type with this schema, or one that converts to false. Errors: another type has this name
    /// (the message shows both).
    SHOAL_API Result<ComponentType> find_same(const Schema& schema) const;
    SHOAL_API std::span<const Schema* const> schemas() const;  ///< indexed by number
    const Schema& schema(ComponentType component) const {
        require(component);
        return *schemas_[component.number];
    }
    /// Ends the program unless the component type is registered here.
    void require(ComponentType component, Entity asked_for = {}) const {
        if (SHOAL_UNLIKELY(component.number >= schemas_.size())) refuse(component, asked_for);
    }
    /// `asked_for` is the entity of the call, for the message; null: none.
    [[noreturn]] SHOAL_API SHOAL_NOINLINE void refuse(ComponentType component, Entity asked_for) const;

    // --- archetypes ----------------------------------------------------------------------------------------------

    SHOAL_API std::span<const Archetype* const> archetypes() const;  ///< indexed by number
    std::size_t num_archetypes() const { return archetypes_.size(); }
    bool owns(const Archetype& type) const {
        return type.number() < archetypes_.size() && archetypes_[type.number()] == &type;
    }
    /// Returns the archetype of a set of component types, in any order. Lifetime: the graph.
    SHOAL_API const Archetype& archetype(std::span<const ComponentType> components);
    SHOAL_API const Archetype& archetype(const BitSet& signature);
    /// Returns the archetype with one more component type, or one fewer. Cost: a look-up, except the first time.
    const Archetype& with(const Archetype& type, ComponentType component) { return neighbour(type, component, true); }
    const Archetype& without(const Archetype& type, ComponentType lost) { return neighbour(type, lost, false); }
    /// Whether with() or without() would leave the graph unchanged, because the edge is already known.
    SHOAL_API bool knows_neighbour(const Archetype& type, ComponentType component, bool with) const;
    /// Returns the plan for moving rows from one archetype to another. Cost: a look-up, except the first time.
    SHOAL_API const TakePlan& plan(const Archetype& from, const Archetype& to);

private:
    SHOAL_API const Archetype& neighbour(const Archetype& type, ComponentType component, bool with);

    Array<const Schema*> schemas_{Owner("database")};  // indexed by component type number; owned
    HashMap<ComponentId, ComponentType> component_by_id_{Owner("database")};
    Array<const Archetype*> archetypes_{Owner("database")};                         // indexed by number; owned
    HashMap<std::uint64_t, std::uint32_t> number_by_signature_{Owner("database")};  // keyed by hash of the signature
    HashMap<std::uint64_t, std::uint32_t> neighbours_{Owner("database")};  // keyed by archetype, component and `with`
    HashMap<std::uint64_t, TakePlan*> plans_{Owner("database")};           // keyed by both archetypes; owned
};

}  // namespace shoal
