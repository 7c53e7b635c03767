#include "shoal/inspect/positions.h"

#include <algorithm>
#include <cmath>

namespace shoal::inline SHOAL_ABI {

namespace {

/// `column(c)` gives the first element of a column.
template <class Byte, class Columns>
std::optional<Vec3Lanes<Byte>> lanes_of(const Schema& schema, std::string_view field_name, std::uint32_t num_rows,
                                        Columns&& column) {
    const int index = schema.find_field(field_name);
    if (index < 0) return std::nullopt;
    const Field& field = schema.fields()[static_cast<std::size_t>(index)];
    if (field.type != FieldType::kVec3 || field.array_length != 0) return std::nullopt;
    Vec3Lanes<Byte> rows;
    rows.num_rows = num_rows;
    rows.stride = schema.columns()[field.first_column].element_bytes;
    const std::size_t offset = schema.whole() ? field.struct_offset : 0;
    for (std::uint32_t lane = 0; lane < 3; ++lane) {
        const bool split = field.num_columns == 3;
        Byte* first = column(field.first_column + (split ? lane : 0));
        rows.lane[lane] = split || num_rows == 0 ? first : first + offset + lane * sizeof(float);
    }
    return rows;
}

}  // namespace

std::optional<Vec3Rows> find_vec3(const Table& table, std::string_view field_name) {
    return lanes_of<const std::byte>(table.schema(), field_name, table.num_rows(),
                                     [&](std::uint32_t column) { return table.column(column); });
}

std::optional<Vec3Rows> find_vec3(const Schema& schema, std::span<const std::byte* const> columns,
                                  std::uint32_t num_rows, std::string_view field_name) {
    return lanes_of<const std::byte>(schema, field_name, num_rows,
                                     [&](std::uint32_t column) { return columns[column]; });
}

std::optional<WritableVec3Rows> write_vec3(Table& table, std::string_view field_name) {
    return lanes_of<std::byte>(table.schema(), field_name, table.num_rows(),
                               [&](std::uint32_t column) { return table.write_column(column); });
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
