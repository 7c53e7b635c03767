#pragma once
// Functions that the reader and the writer of schema files share.

#include "shoal/table/detail/schema.h"

namespace shoal {

/// Returns the value of a field whose declaration has no default: no rotation, the identity, the first value of an
/// enum; empty for zeros.
Array<std::byte> default_without_declaration(const FieldDefinition& field);

/// Returns the difference between two declarations of the same component; empty if they are equal.
std::string difference(const Schema& a, const Schema& b);

}  // namespace shoal
