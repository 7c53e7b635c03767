#pragma once
// Functions that are used by both the reader and the writer of schema files.

#include "shoal/table/detail/schema.h"

namespace shoal {

/// Returns the default of a field that declares none, such as no rotation, the identity or the first value of an enum.
/// Empty if the default is all zeros.
Array<std::byte> default_without_declaration(const FieldDefinition& field);

/// Describes the difference between two declarations of the same component; empty if they are equal.
std::string difference(const Schema& a, const Schema& b);

}  // namespace shoal
