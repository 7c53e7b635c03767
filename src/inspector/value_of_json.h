#pragma once
// Field values that a request gives as JSON: a number, true, a string, or a list of numbers for a vector or an array.

#include "shoal/document/detail/document.h"
#include "shoal/store/field_path.h"

namespace shoal::inspect {

/// Returns a value for a field, or for a part of a field. Errors: the value does not fit, or is outside the schema's
/// range; the message says what is allowed.
Result<AnyValue> value_of_json(Node given, const FieldPath& path);

}  // namespace shoal::inspect
