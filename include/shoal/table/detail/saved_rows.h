#pragma once
// The parts of a table in a snapshot: what Table::save() writes, for other code that reads it.
//
//     num_rows, owner        an entity for each row
//     field/NAME             a column of a field
//     field/NAME.x           a lane of a split field
//     field/NAME...          a component that is kept whole, named after its first field
//     links/next ...         if the table has links
//     stamp, stamps          of the last writes: for the rows, then for each column; an element per block
//
// Thread: any.

#include "shoal/state/snapshot.h"
#include "shoal/table/detail/schema.h"

#include <string>

namespace shoal {

/// Returns the name of a column in a snapshot. This is the name of the field, so that a table whose columns differ
/// can also find the column.
SHOAL_API std::string saved_column_name(const Schema& schema, std::uint32_t column);

/// Returns the bytes in a column's elements that do not belong to any field.
SHOAL_API Array<SnapshotGap> gaps_in_column(const Schema& schema, std::uint32_t column);

/// Returns "x", "y", "z" or "w"; sources and field paths also use these names for lanes. Requires: lane < 4.
constexpr std::string_view lane_name(std::uint32_t lane) { return std::string_view("xyzw").substr(lane, 1); }
/// Returns "links/next" and so on, in the order of LinkColumn.
SHOAL_API std::string_view saved_link_name(int link);

}  // namespace shoal
