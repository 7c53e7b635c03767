#include "shoal/database/detail/archetype_graph.h"

#include "shoal/base/text.h"
#include "shoal/entity/entity_text.h"
#include "shoal/table/detail/take_plan.h"

namespace shoal {
namespace {

std::uint64_t key_of_neighbour(const Archetype& type, ComponentType component, bool with) {
    return pair_key(type.number(), component.number * 2 + with);
}

}  // namespace

ArchetypeGraph::~ArchetypeGraph() {
    plans_.for_each([](std::uint64_t, const TakePlan* plan) { destroy_owned("database", plan); });
    for (const Archetype* type : archetypes_) destroy_owned("database", type);
    for (const Schema* schema : schemas_) destroy_owned("database", schema);
}

// --- component types ---------------------------------------------------------------------------------------------

void ArchetypeGraph::refuse(ComponentType component, Entity asked_for) const {
    std::string message =
        component ? concat("component type number ", component.number,
                           " is not registered in this database, which has ", schemas_.size())
                  : std::string(
                        "a component type without a number, such as find_component() returns for a name that it "
                        "does not know, is not registered in this database");
    if (asked_for) message += concat("; it was asked for about entity ", entity_text(asked_for));
    message += "; take the numbers that component<T>() and add_component() return";
    fail_assertion("the component type is registered", message);
}

ComponentType ArchetypeGraph::find_component(ComponentId component) const {
    return component_by_id_.find_or(component, {});
}

Result<ComponentType> ArchetypeGraph::find_same(const Schema& schema) const {
    const ComponentType known = find_component(schema.id());
    if (!known) return known;
    const Schema& there = this->schema(known);
    if (there.layout_hash() == schema.layout_hash() && there.name() == schema.name()) return known;
    return Status::error(concat("the database has another component type \"", there.name(), "\": ", there.to_text(),
                                ", not ", schema.to_text()));
}

Result<ComponentType> ArchetypeGraph::add_component(const Schema& schema) {
    if (Result<ComponentType> known = find_same(schema); !known || *known) return known;
    if (schema.many() && schema.enableable())
        return Status::error(concat("the component \"", schema.name(),
                                    "\" may occur several times in an entity, and one bit cannot say which of them are "
                                    "disabled; leave out `enableable`, or keep it in a component manager"));
    const ComponentType component{static_cast<std::uint32_t>(schemas_.size())};
    schemas_.push_back(make_owned<Schema>("database", schema));
    component_by_id_.add(schema.id(), component);
    return component;
}

// --- archetypes --------------------------------------------------------------------------------------------------

const Archetype& ArchetypeGraph::archetype(std::span<const ComponentType> components) {
    BitSet signature{Owner("database")};
    for (const ComponentType component : components) {
        require(component);
        signature.set(component.number);
    }
    return archetype(signature);
}

const Archetype& ArchetypeGraph::archetype(const BitSet& signature) {
    std::uint64_t key = 0;
    signature.for_each([&](std::size_t number) { key = hash_key(key + number + 1); });
    const auto is_same = [&](std::uint32_t number) { return archetypes_[number]->signature() == signature; };
    if (const std::uint32_t* known = number_by_signature_.find_if(key, is_same)) return *archetypes_[*known];
    Array<ComponentType> components("database");
    Array<const Schema*> schemas("database");
    signature.for_each([&](std::size_t number) {
        components.push_back({static_cast<std::uint32_t>(number)});
        schemas.push_back(&schema(components.back()));
    });
    const auto number = static_cast<std::uint32_t>(archetypes_.size());
    archetypes_.push_back(make_owned<Archetype>("database", number, components, schemas));
    number_by_signature_.add(key, number);
    return *archetypes_.back();
}

const Archetype& ArchetypeGraph::neighbour(const Archetype& type, ComponentType component, bool with) {
    require(component);
    SHOAL_ASSERT(owns(type), "the archetype is of another database");
    if (type.has(component) == with) return type;
    const std::uint64_t key = key_of_neighbour(type, component, with);
    if (const std::uint32_t* known = neighbours_.find(key)) return *archetypes_[*known];
    BitSet signature = type.signature();
    signature.set(component.number, with);
    const Archetype& made = archetype(signature);
    neighbours_.set(key, made.number());
    neighbours_.set(key_of_neighbour(made, component, !with), type.number());
    return made;
}

bool ArchetypeGraph::knows_neighbour(const Archetype& type, ComponentType component, bool with) const {
    return type.has(component) == with || neighbours_.find(key_of_neighbour(type, component, with)) != nullptr;
}

const TakePlan& ArchetypeGraph::plan(const Archetype& from, const Archetype& to) {
    const std::uint64_t key = pair_key(from.number(), to.number());
    if (TakePlan* const* known = plans_.find(key)) return **known;
    auto* plan = make_owned<TakePlan>("database");
    for (const ComponentType component : from.components()) {
        const std::span<const ColumnDefinition> columns = schema(component).columns();
        if (to.has(component))
            plan->keep(from.first_column(component), to.first_column(component), columns);
        else
            plan->drop(from.first_column(component), columns);
    }
    plans_.add(key, plan);
    return *plan;
}

std::span<const Schema* const> ArchetypeGraph::schemas() const { return schemas_; }
std::span<const Archetype* const> ArchetypeGraph::archetypes() const { return archetypes_; }

}  // namespace shoal
