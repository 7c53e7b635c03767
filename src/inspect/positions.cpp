#include "shoal/inspect/positions.h"

#include <algorithm>
#include <cmath>

namespace shoal::inline SHOAL_ABI {

std::optional<Vec3Rows> find_vec3(const Table& table, std::string_view field_name) {
    const Schema& schema = table.schema();
    const int index = schema.find_field(field_name);
    if (index < 0) return std::nullopt;
    const Field& field = schema.fields()[static_cast<std::size_t>(index)];
    if (field.type != FieldType::kVec3 || field.array_length != 0) return std::nullopt;
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

}  // namespace shoal::inline SHOAL_ABI
