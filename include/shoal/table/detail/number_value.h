#pragma once
// Numbers of any field type as doubles, for code that learns at run time which type it has.
// Thread: any.

#include "shoal/table/detail/schema.h"

namespace shoal {

/// Returns a number, or 0 or 1 for a bool; one of 64 bits may be rounded. Requires: a bool or a number.
SHOAL_API double read_number(FieldType type, const std::byte* value);
/// Writes a number; as an integer rounded to the nearest, as a bool whether it is not 0. Returns false if it does not
/// fit, and then writes nothing. Requires: as above.
SHOAL_API bool write_number(FieldType type, double number, std::byte* value);

/// The type of each number of a value: of a vector, floats.
constexpr FieldType lane_type(FieldType type) { return field_type_lanes(type) > 1 ? FieldType::kFloat : type; }
/// Returns the first number of a value of a field that is outside of its range, of type lane_type(); nullptr: none is.
SHOAL_API const std::byte* find_out_of_range(const Field& field, const std::byte* value);

}  // namespace shoal
