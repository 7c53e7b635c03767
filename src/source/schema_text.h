#pragma once
// What the reader and the writer of schema files share.

#include "shoal/table/detail/schema.h"

namespace shoal {

/// Returns the value that a field has when its declaration gives none: no rotation, the identity, the first value of an
/// enum, or nothing for zeros.
Array<std::byte> default_without_declaration(const FieldDefinition& field);

/// Returns the difference between two declarations of one component; empty when there is none.
std::string difference(const Schema& a, const Schema& b);

}  // namespace shoal
