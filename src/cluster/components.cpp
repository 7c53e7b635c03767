#include "cluster/components.h"

#include "shoal/table/detail/entity_fields.h"

#include <cstring>

namespace shoal::cluster {

void strip(World& world, std::span<const Entity> entities) {
    if (entities.empty()) return;
    for (Store* store : world.directory().stores()) store->drop(entities);
}

namespace {

struct ComponentKey {
    std::uint64_t component, index, is_enabled, parent;
};

/// Returns the lasting name of the parent entity of a row, or 0.
Name name_of_parent(const EntityNames& names, const ComponentRow& at) {
    if (!at.table->has_tree()) return 0;
    const std::uint32_t parent = at.table->links(LinkColumn::kTreeParent)[at.row];
    return parent == kNilRow ? 0 : names.lasting_name(at.table->entities()[parent]);
}

}  // namespace

std::uint64_t hash_of(const World& world, const EntityNames& names, Entity entity) {
    std::uint64_t sum = 0;
    std::vector<std::byte> value;
    for_each_component(world, entity,
                       [&](Store& store, const Schema& component, const ComponentRow& at, std::uint32_t index) {
                           const ComponentKey key{component.id().hash, index, at.is_enabled, name_of_parent(names, at)};
                           std::uint64_t hash = hash_bytes(&key, sizeof key);
                           for (const Field& field : component.fields()) {
                               if (field.opaque != nullptr) continue;
                               const FieldPart part = field_part(component, field);
                               value.resize(part.type.num_bytes());
                               store.read_field(at, part, value.data());
                               if (field.type == FieldType::kEntity) {
                                   std::vector<Name> others;
                                   for (std::uint32_t i = 0; i < field.num_values(); ++i) {
                                       const auto other = read_as<Entity>(value.data() + i * sizeof(Entity));
                                       others.push_back(world.entities().alive(other) ? names.lasting_name(other) : 0);
                                   }
                                   hash = hash_bytes(others.data(), others.size() * sizeof(Name), hash);
                               } else {
                                   hash = hash_bytes(value.data(), value.size(), hash);
                               }
                           }
                           sum += hash;
                       });
    return sum;
}

BitSet find_referenced(World& world) {
    BitSet referenced{Owner("cluster")};
    Array<ComponentTable> tables{Owner("cluster")};
    for (Store* store : world.directory().stores())
        for (const Schema* component : store->schemas()) {
            if (!component->has(FieldType::kEntity)) continue;
            tables.clear();
            store->list_tables(*component, tables);
            for (const ComponentTable& each : tables)
                for (const Field& field : component->fields()) {
                    if (field.type != FieldType::kEntity || !each.has_fields) continue;
                    const std::uint32_t column = each.first_column + field.first_column;
                    const std::byte* value = each.table->column(column) + component->offset_in_column(field);
                    const std::uint32_t stride = component->columns()[field.first_column].element_bytes;
                    for (std::uint32_t row = 0; row < each.table->num_rows(); ++row, value += stride)
                        for (std::uint32_t i = 0; i < field.num_values(); ++i)
                            referenced.set(read_as<Entity>(value + i * sizeof(Entity)).index());
                }
        }
    return referenced;
}

}  // namespace shoal::cluster
