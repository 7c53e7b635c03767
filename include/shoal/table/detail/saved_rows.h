#pragma once
// The parts of a table in a snapshot: what Table::save() writes, for others than the table that read it.
//
//     num_rows, owner        an entity for each row
//     field/NAME             a column of a field
//     field/NAME.x           a lane of a split field
//     field/NAME...          a component that is kept whole, named after its first field
//     links/next ...         of tables with links
//     stamp, stamps          of the last writes: the rows, then each column; an element for each block of rows
//
// Thread: any.

#include "shoal/state/snapshot.h"
#include "shoal/table/detail/schema.h"

#include <string>

namespace shoal {

/// Returns what a column is called in a snapshot: after its field, so that tables with other columns have it, too.
SHOAL_API std::string saved_column_name(const Schema& schema, std::uint32_t column);

/// Returns the bytes of a column that belong to no field.
SHOAL_API Array<SnapshotGap> gaps_in_column(const Schema& schema, std::uint32_t column);

/// Returns "x", "y", "z" or "w", as sources and paths of fields call a lane, too. Requires: lane < 4.
constexpr std::string_view lane_name(std::uint32_t lane) { return std::string_view("xyzw").substr(lane, 1); }
/// Returns "links/next" and so on, in the order of LinkColumn.
SHOAL_API std::string_view saved_link_name(int link);

}  // namespace shoal
