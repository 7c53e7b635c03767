#pragma once
// The rows of a world by component type and table, from which state hashes and differences between states are computed.
//
//     component     table                    zone
//     body          {body, fish} zone 3      3         the columns of "body" in it
//     fish          the same                 3
//     transform     the transforms           -         without what these keep for themselves
//     world_pose    the same                 -
//
// Thread: several threads may read the rows of stores at the same time while no row changes.

#include "shoal/base/detail/array.h"
#include "shoal/store/detail/zone.h"
#include "shoal/store/store.h"
#include "shoal/table/detail/schema.h"
#include "shoal/table/detail/table.h"
#include "shoal/table/detail/value_check.h"

namespace shoal {

struct StateRows {
    const Store* store = nullptr;
    const Schema* schema = nullptr;  ///< schema of the component type
    const Table* table = nullptr;
    std::uint32_t first_column = 0;  ///< the table's first column of the component
    Zone zone = kNoZone;
    std::uint64_t place = 0;                      ///< distinguishes tables with the same component type and zone
    const std::uint64_t* enabled_bits = nullptr;  ///< one bit per row; nullptr: all rows are enabled
    bool asks_store = false;  ///< values are not in the table: use Store::read_field()

    std::uint32_t num_rows() const { return table->num_rows(); }
    /// Returns where the values of a field with one column are. Requires: !asks_store.
    FieldRows values_of(const Field& field) const;
    /// Copies a field of a row. Shape: field.size bytes.
    void read(const Field& field, std::uint32_t row, std::byte* value) const;
};

/// Appends the rows of a store, except tables without rows.
void list_rows(Store& store, Array<StateRows>& rows);

}  // namespace shoal
