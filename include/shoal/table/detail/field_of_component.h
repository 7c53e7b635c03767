#pragma once
// The component that a field of a table belongs to, and the field's name there.
//
//     rows of a database     place+raft    "place.position", "raft.bounds.least"    Schema::combine() names them
//     rows of a manager      raft          "bounds.least"                           dots in names are structs
//
// Thread: different objects may be used on different threads.

#include "shoal/table/detail/schema.h"

namespace shoal {

/// A field and its component. The fields of a component are side by side in a table, in the order of the component's
/// own schema.
struct FieldOfComponent {
    std::string_view component;
    std::string_view name;
    std::uint32_t index;  ///< in the component's own schema

    /// Lifetime: the schema.
    SHOAL_API FieldOfComponent(const Schema& table, std::uint32_t field);
};

}  // namespace shoal
