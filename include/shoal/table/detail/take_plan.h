#pragma once
// The columns that rows keep when they move from tables with one schema to tables with another schema. One plan serves
// all tables with these two schemas; see Table::take().
//
//     from    position  velocity  food             kept     position -> position, velocity -> velocity
//     to      position  velocity  mass             dropped  food;  mass is new: the caller fills it
//
// Thread: immutable after creation; any thread.

#include "shoal/table/detail/copy_elements.h"
#include "shoal/table/detail/schema.h"

namespace shoal {

class TakePlan {
public:
    using Column = ColumnsBySize::Column;

    /// Keeps the columns that begin at `from`; in the target schema, they begin at `to`. Shape: `columns` describes
    /// them.
    SHOAL_API void keep(std::uint32_t from, std::uint32_t to, std::span<const ColumnDefinition> columns);
    /// Drops the columns that begin at `from`, which the target schema lacks.
    SHOAL_API void drop(std::uint32_t from, std::span<const ColumnDefinition> columns);

    const ColumnsBySize& kept() const { return kept_; }        ///< without opaque columns
    const ColumnsBySize& dropped() const { return dropped_; }  ///< without opaque columns; `to` is unused
    const Array<Column>& kept_opaque() const { return kept_opaque_; }

private:
    ColumnsBySize kept_{"take plan"}, dropped_{"take plan"};
    Array<Column> kept_opaque_{Owner("take plan")};
};

}  // namespace shoal
