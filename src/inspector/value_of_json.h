#pragma once
// Values of fields that a request gives as JSON: a number, true, a text, or a list of numbers for vectors and arrays.

#include "shoal/document/detail/document.h"
#include "shoal/store/field_path.h"

namespace shoal::inspect {

/// Returns a value for a field, or for a part of a field. Errors: the value does not fit, or is outside of the range in
/// the schema; the message says what is allowed.
Result<AnyValue> value_of_json(Node given, const FieldPath& path);

}  // namespace shoal::inspect
