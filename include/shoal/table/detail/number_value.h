#pragma once
// Reads and writes numbers of any field type as doubles, for code that learns the type at run time.
// Thread: any.

#include "shoal/table/detail/schema.h"

namespace shoal {

/// Returns a number, or 0 or 1 for a bool; a 64-bit integer may be rounded. Requires: the type is a bool or a number.
SHOAL_API double read_number(FieldType type, const std::byte* value);
/// Writes a number. An integer gets the nearest whole number, and a bool becomes true if the number is not 0. If the
/// number does not fit, writes nothing and returns false. Requires: the type is a bool or a number.
SHOAL_API bool write_number(FieldType type, double number, std::byte* value);

/// The type of each number in a value, for example float for a vector.
constexpr FieldType lane_type(FieldType type) { return field_type_lanes(type) > 1 ? FieldType::kFloat : type; }
/// Returns the first number in `value` that is outside the field's range, or nullptr. The number has the type
/// lane_type().
SHOAL_API const std::byte* find_out_of_range(const Field& field, const std::byte* value);

}  // namespace shoal
