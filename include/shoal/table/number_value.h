#pragma once
// Numbers of any field type as doubles, for code that learns at run time which type it has.
// Thread: any.

#include "shoal/table/field.h"

namespace shoal {

/// Returns a number, or 0 or 1 for a bool; one of 64 bits may be rounded. Requires: a bool or a number.
SHOAL_API double read_number(FieldType type, const std::byte* value);
/// Writes a number; as an integer rounded to the nearest, as a bool whether it is not 0. Returns false if it does not fit, and
/// then writes nothing. Requires: as above.
SHOAL_API bool write_number(FieldType type, double number, std::byte* value);

}  // namespace shoal
