#pragma once
// Values of fields that a request gives as JSON: a number, true, a text, or a list of numbers for vectors and arrays.

#include "shoal/document/document.h"
#include "shoal/store/field_path.h"

namespace shoal::inspect {

/// Returns the value as the field, or the part of one, keeps it. Errors: it does not fit, or is outside of the range that the
/// schema gives; the message says what would.
Result<AnyValue> value_of_json(Node given, const FieldPath& path);

}  // namespace shoal::inspect
