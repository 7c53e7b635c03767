#pragma once
// Visits the entity references in rows and structs of a component type, to translate them when ids change.
// Thread: as for the memory that holds the rows.

#include "shoal/base/detail/bytes.h"
#include "shoal/entity/entity.h"
#include "shoal/table/detail/schema.h"

#include <cstring>

namespace shoal {

/// Calls visit(entity) with each reference in a field, and stores the value that visit() assigns to its argument. The
/// values begin at `first` and are `stride` bytes apart.
template <class Visit>
void for_each_entity(const Field& field, std::byte* first, std::size_t stride, std::size_t num_rows, Visit&& visit) {
    for (std::size_t row = 0; row < num_rows; ++row, first += stride)
        for (std::uint32_t i = 0; i < field.num_values(); ++i) {
            auto entity = read_as<Entity>(first + i * sizeof(Entity));
            visit(entity);
            std::memcpy(first + i * sizeof entity, &entity, sizeof entity);
        }
}
/// Like for_each_entity() above, but for all fields of consecutive struct images.
template <class Visit>
void for_each_entity(const Schema& schema, std::byte* images, std::size_t num_images, Visit&& visit) {
    if (!schema.has(FieldType::kEntity)) return;
    for (const Field& field : schema.fields())
        if (field.type == FieldType::kEntity)
            for_each_entity(field, images + field.struct_offset, schema.struct_bytes(), num_images, visit);
}

}  // namespace shoal
