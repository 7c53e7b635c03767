#include "cluster/parcel.h"

#include "cluster/components.h"
#include "shoal/base/log.h"
#include "shoal/base/text.h"
#include "shoal/table/detail/entity_fields.h"
#include "shoal/world/entity_blob.h"

#include <algorithm>

namespace shoal::cluster {
namespace {

/// A reference to an entity outside of the parcel.
struct OuterReference {
    std::uint64_t component;
    Name target;
    std::uint32_t entity, index, field, value;
};

/// Calls visit(target, reference) for each reference from `entities` to an entity that is not one of them. The target
/// may be dead. `reference.target` is not set.
template <class Visit>
void for_each_outer_reference(World& world, std::span<const Entity> entities, Visit&& visit) {
    std::vector<Entity> sorted(entities.begin(), entities.end()), value;
    std::sort(sorted.begin(), sorted.end());
    for (std::uint32_t i = 0; i < entities.size(); ++i)
        for_each_component(world, entities[i],
                           [&](Store& store, const Schema& component, const ComponentRow& at, std::uint32_t index) {
                               for (std::uint32_t f = 0; f < component.fields().size(); ++f) {
                                   const Field& field = component.fields()[f];
                                   if (field.type != FieldType::kEntity) continue;
                                   value.resize(field.num_values());
                                   store.read_field(at, field_part(component, field),
                                                    reinterpret_cast<std::byte*>(value.data()));
                                   for (std::uint32_t v = 0; v < value.size(); ++v)
                                       if (value[v] && !std::binary_search(sorted.begin(), sorted.end(), value[v]))
                                           visit(value[v], OuterReference{component.id().hash, 0, i, index, f, v});
                               }
                           });
}

/// Makes a spawned entity refer to an entity of another rank.
Status set_reference(World& world, EntityNames& names, Entity entity, const OuterReference& reference) {
    Store* const store = world.directory().find(ComponentId(reference.component));
    const ComponentRow at =
        store == nullptr ? ComponentRow() : store->find_row(ComponentId(reference.component), entity, reference.index);
    if (!at) return Status::error("a reference is in a component that the entity does not have");
    const Schema& component = *at.schema;
    if (reference.field >= component.fields().size() ||
        component.fields()[reference.field].type != FieldType::kEntity ||
        reference.value >= component.fields()[reference.field].num_values())
        return Status::error("a reference is in a field that the component does not have");
    const Result<Entity> target = find_or_make_away(world, names, reference.target);
    if (!target) return target.status();
    const FieldPart part = field_part(component, component.fields()[reference.field]);
    std::vector<Entity> value(component.fields()[reference.field].num_values());
    store->read_field(at, part, reinterpret_cast<std::byte*>(value.data()));
    value[reference.value] = *target;
    return store->write_field(at, part, reinterpret_cast<const std::byte*>(value.data()));
}

/// For component types that have no store here yet, creates stores of the same kind as on the sender.
Status adopt(World& world, const Blob& blob, std::span<const std::uint64_t> of_database) {
    for (const BlobComponents& type : blob.component_types())
        if (world.directory().find(type.id) == nullptr &&
            std::ranges::find(of_database, type.id.hash) != of_database.end())
            if (const auto added = world.database().add_component(*type.schema); !added) return added.status();
    return world.adopt_schemas(blob);
}

}  // namespace

Result<Entity> dead_entity(World& world, EntityNames& names) {
    Entity& dead = names.dead();
    if (dead && !world.entities().alive(dead)) return dead;
    const Result<Entity> made = world.entities().create();
    if (!made) return made.status();
    world.entities().destroy(*made);
    return dead = *made;
}

Result<Entity> find_or_make_away(World& world, EntityNames& names, Name name) {
    if (name == kDeadName) return dead_entity(world, names);
    if (const Entity known = names.find(name)) return known;
    const Result<Entity> made = world.entities().create();
    if (!made) return made.status();
    names.set(*made, name);
    names.mark_away(*made, true);
    return *made;
}

Name name_of_target(const World& world, EntityNames& names, Entity target, std::uint32_t rank) {
    if (!target) return 0;
    if (!world.entities().alive(target)) return kDeadName;
    const Name name = names.name_to_send(target, rank);
    names.mark_known_elsewhere(target);
    return name;
}

Status pack(World& world, EntityNames& names, std::uint32_t rank, std::span<const Entity> entities, MessageWriter& to) {
    const Result<EntityBlob> saved = save_entities(world, entities);
    if (!saved) return saved.status();
    to.array(saved->bytes);
    std::vector<std::uint64_t> of_database;
    for (const Schema* schema : world.database().schemas()) of_database.push_back(schema->id().hash);
    to.array(of_database);
    std::vector<Name> own_names;
    for (const Entity entity : entities)
        own_names.push_back(world.database().has_row(entity) ? names.name(entity) : names.name_to_send(entity, rank));
    to.array(own_names);
    std::vector<OuterReference> references;
    for_each_outer_reference(world, entities, [&](Entity target, OuterReference reference) {
        reference.target = name_of_target(world, names, target, rank);
        references.push_back(reference);
    });
    to.array(references);
    return {};
}

bool refers_to_unnamed(World& world, const EntityNames& names, std::span<const Entity> entities) {
    bool found = false;
    for_each_outer_reference(world, entities, [&](Entity target, const OuterReference&) {
        found |= names.name(target) == 0 && world.database().has_row(target);
    });
    return found;
}

Result<std::vector<Entity>> take_in(World& world, EntityNames& names, std::span<const Name> given) {
    std::vector<Entity> entities = names.find(given), known, made;
    for (std::size_t i = 0; i < given.size(); ++i) {
        if (!entities[i]) continue;
        if (!names.is_elsewhere(entities[i]))
            return Status::error(
                concat("an entity that another rank sends, ", name_text(given[i]), ", is here already"));
        names.mark_come(std::span(&entities[i], 1));  // a second time, the entity is no longer elsewhere
        known.push_back(entities[i]);
    }
    made.resize(given.size() - known.size());
    if (Status status = world.entities().create(made); !status) return status;
    strip(world, known);
    if (known.empty()) {
        entities.swap(made);
    } else {
        std::size_t num_taken = 0;
        for (Entity& entity : entities)
            if (!entity) entity = made[num_taken++];
    }
    if (!names.set(entities, given)) return Status::error("an entity is there twice");
    names.mark_come(entities);
    return entities;
}

Result<std::vector<Entity>> unpack(World& world, EntityNames& names, MessageReader& from) {
    const std::span<const std::byte> bytes = from.bytes();
    const auto of_database = from.array<std::uint64_t>();
    const auto given = from.array<Name>();
    const auto references = from.array<OuterReference>();
    if (!from.is_sound()) return Status::error("entities that another rank sends are cut off");
    const Result<Blob> blob = Blob::load(bytes);
    if (!blob) return blob.status();
    if (blob->num_entities() != given.size()) return Status::error("entities and names are not equally many");
    if (Status status = adopt(world, *blob, of_database); !status) return status;
    Result<std::vector<Entity>> entities = take_in(world, names, given);
    if (!entities) return entities.status();
    const Result<Spawned> spawned = world.spawn(
        *blob, {.all_entities = *entities, .fail_on_unknown = true, .keep_names = false, .tells_services = false});
    if (!spawned) return spawned.status();
    for (const OuterReference& reference : references) {
        if (reference.entity >= entities->size()) return Status::error("a reference is of an entity that is not there");
        if (const Status set = set_reference(world, names, (*entities)[reference.entity], reference); !set)
            log(LogLevel::kWarning, concat("a reference to an entity of another rank is lost: ", set.message()));
    }
    return entities;
}

}  // namespace shoal::cluster
