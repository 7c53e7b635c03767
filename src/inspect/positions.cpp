#include "shoal/inspect/positions.h"

#include <algorithm>
#include <cmath>

namespace shoal {

namespace {

/// The component type and the name of a field: rows of a database have fields of several component types.
struct FieldPath {
    std::string_view component, field;
};

FieldPath path_of(const Schema& schema, const Field& field) {
    const std::string_view name = field.name;
    const std::size_t dot = name.find('.');
    if (dot == std::string_view::npos) return {schema.name(), name};
    return {name.substr(0, dot), name.substr(dot + 1)};
}

bool is_only_field(const Schema& schema, std::string_view component) {
    return std::count_if(schema.fields().begin(), schema.fields().end(),
                         [&](const Field& field) { return path_of(schema, field).component == component; }) == 1;
}

/// Returns the index of the single vec3 that is called `name`, or is all that the component type `name` has, or -1.
int find_vec3_field(const Schema& schema, std::string_view name) {
    int found = -1;
    for (std::size_t i = 0; i < schema.fields().size(); ++i) {
        const Field& field = schema.fields()[i];
        if (field.type != FieldType::kVec3 || field.array_length != 0) continue;
        const FieldPath path = path_of(schema, field);
        if (field.name == name || path.field == name) return static_cast<int>(i);
        if (found < 0 && path.component == name && is_only_field(schema, name)) found = static_cast<int>(i);
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
