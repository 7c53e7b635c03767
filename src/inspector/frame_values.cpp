#include "inspector/frame_values.h"

#include "shoal/save/state_difference.h"
#include "shoal/table/detail/field_part.h"

#include <cstring>

namespace shoal::inspect {

FrameValues::FrameValues(const World& world) {
    const std::vector<Entity> living = living_entities(world);
    for (const Store* store : world.directory().stores())
        for (const Schema* schema : store->schemas()) {
            TypeValues& values = types_[schema->id().hash];
            values.schema = schema;
            for (const Field& field : schema->fields()) {
                if (values.offsets.empty()) values.offsets.push_back(0);
                const bool is_plain = field.type != FieldType::kOpaque;
                values.offsets.push_back(values.offsets.back() + (is_plain ? field.size : 0));
            }
            for (const Entity entity : living) {
                const ComponentRow at = store->find_row(schema->id(), entity, 0);
                if (!at || !at.is_enabled) continue;
                values.row_of.emplace(entity.id, values.entities.size());
                values.entities.push_back(entity);
                if (values.offsets.empty()) continue;
                const std::size_t begin = values.rows.size();
                values.rows.resize(begin + values.offsets.back());
                for (std::size_t i = 0; i < schema->fields().size(); ++i)
                    if (values.offsets[i + 1] != values.offsets[i])
                        store->read_field(at, field_part(*schema, schema->fields()[i]),
                                          values.rows.data() + begin + values.offsets[i]);
            }
        }
}

bool FrameValues::same_bytes(const std::byte* a, const std::byte* b, std::size_t size) {
    return std::memcmp(a, b, size) == 0;
}

}  // namespace shoal::inspect
