#pragma once
// Lists a world's rows by component type and table. State hashes and differences between states are computed from these
// rows.
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
    std::uint32_t first_column = 0;  ///< the component's first column in the table
    Zone zone = kNoZone;
    std::uint64_t place = 0;                      ///< distinguishes tables with the same component type and zone
    const std::uint64_t* enabled_bits = nullptr;  ///< one bit per row; nullptr: all rows are enabled
    bool asks_store = false;  ///< whether to use Store::read_field(), because values are not in the table

    std::uint32_t num_rows() const { return table->num_rows(); }
    /// Returns the location of a field's values. Requires: the field has one column; `asks_store` is false.
    FieldRows values_of(const Field& field) const;
    /// Copies the value of a field in a row to `value`. Shape: field.size bytes.
    void read(const Field& field, std::uint32_t row, std::byte* value) const;
};

/// Appends the rows of a store. Empty tables are left out.
void list_rows(Store& store, Array<StateRows>& rows);

}  // namespace shoal
