#include "shoal/inspect/positions.h"

#include "shoal/table/detail/field_of_component.h"

#include <algorithm>
#include <cmath>

namespace shoal {
namespace {

bool is_only_field(const Schema& schema, std::string_view component) {
    int count = 0;
    for (std::uint32_t i = 0; i < schema.fields().size(); ++i)
        count += FieldOfComponent(schema, i).component == component ? 1 : 0;
    return count == 1;
}

/// Returns the index of the vec3 field called `name`, or else of the only field of the component type `name`; -1 if
/// there is neither.
int find_vec3_field(const Schema& schema, std::string_view name) {
    int found = -1;
    for (std::uint32_t i = 0; i < schema.fields().size(); ++i) {
        const Field& field = schema.fields()[i];
        if (field.type != FieldType::kVec3 || field.array_length != 0) continue;
        const FieldOfComponent at(schema, i);
        if (field.name == name || at.name == name) return static_cast<int>(i);
        if (found < 0 && at.component == name && is_only_field(schema, name)) found = static_cast<int>(i);
    }
    return found;
}

}  // namespace

std::optional<Vec3Rows> find_vec3(const Table& table, std::string_view field_name) {
    const Schema& schema = table.schema();
    const int index = find_vec3_field(schema, field_name);
    if (index < 0) return std::nullopt;
    const Field& field = schema.fields()[static_cast<std::size_t>(index)];
    Vec3Rows rows;
    rows.num_rows = table.num_rows();
    rows.stride = schema.columns()[field.first_column].element_bytes;
    const std::size_t offset = schema.offset_in_column(field);
    for (std::uint32_t lane = 0; lane < 3; ++lane) {
        const bool split = field.num_columns == 3;
        const std::byte* first = table.column(field.first_column + (split ? lane : 0));
        rows.lane[lane] = split || rows.num_rows == 0 ? first : first + offset + lane * sizeof(float);
    }
    return rows;
}

void Bounds::add(Vec3 point) {
    if (!std::isfinite(point.x) || !std::isfinite(point.y) || !std::isfinite(point.z)) {
        ++num_skipped;
        return;
    }
    if (num_points++ == 0) {
        low = high = point;
        return;
    }
    low = {std::min(low.x, point.x), std::min(low.y, point.y), std::min(low.z, point.z)};
    high = {std::max(high.x, point.x), std::max(high.y, point.y), std::max(high.z, point.z)};
}

void Bounds::unite(const Bounds& other) {
    const std::uint64_t points = num_points + other.num_points, skipped = num_skipped + other.num_skipped;
    if (other.num_points > 0) {
        add(other.low);
        add(other.high);
    }
    num_points = points;
    num_skipped = skipped;
}

}  // namespace shoal
