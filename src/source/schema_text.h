#pragma once
// Functions that the reader and the writer of schema files both use.

#include "shoal/table/detail/schema.h"

namespace shoal {

/// Returns the default of a field that declares none: no rotation, the identity, or the first value of an enum; empty
/// if it is all zeros.
Array<std::byte> default_without_declaration(const FieldDefinition& field);

/// Describes the difference between two declarations of the same component; empty if they are equal.
std::string difference(const Schema& a, const Schema& b);

}  // namespace shoal
