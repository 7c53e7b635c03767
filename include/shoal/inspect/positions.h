#pragma once
// Finds the position field of a table. This is a vec3 field called `position`, or the only field of a component type
// called `position`. The type may be declared in C++ or in a schema file, with any layout. A database table holds
// several component types, so the first field that fits is used.
//
//     apart    x y z  x y z  x y z         stride 12 (a column of vectors)
//     split    x x x   y y y   z z z       stride 4, three lanes
//     whole    {mass x y z} {mass x y z}   stride of the struct
//
// Thread: the same as for the table.

#include "shoal/table/detail/table.h"

#include <cstring>
#include <optional>

namespace shoal {

/// A vec3 field in all rows of a table. Lifetime: until the next structural call.
struct Vec3Rows {
    const std::byte* lane[3] = {};  ///< the address for row 0
    std::size_t stride = 0;         ///< bytes between consecutive rows of a lane
    std::uint32_t num_rows = 0;

    Vec3 operator[](std::uint32_t row) const {
        Vec3 value;
        std::memcpy(&value.x, lane[0] + row * stride, sizeof(float));
        std::memcpy(&value.y, lane[1] + row * stride, sizeof(float));
        std::memcpy(&value.z, lane[2] + row * stride, sizeof(float));
        return value;
    }
};

/// Returns the vec3 field `field_name` (or "component.field" in a database table), or else the only field of the
/// component type `field_name`. Returns nothing if the field is missing or has a different type.
SHOAL_API std::optional<Vec3Rows> find_vec3(const Table& table, std::string_view field_name);

/// A bounding box of points. Empty until a point is added.
struct Bounds {
    Vec3 low, high;
    std::uint64_t num_points = 0;
    std::uint64_t num_skipped = 0;  ///< points that are NaN or infinite

    SHOAL_API void add(Vec3 point);
    SHOAL_API void unite(const Bounds& other);
    Vec3 size() const { return high - low; }
};

}  // namespace shoal
