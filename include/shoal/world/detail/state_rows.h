#pragma once
// The rows of a world by component type and table: the input for state hashes and for finding the differences between
// two states.
//
//     component     table                    zone
//     body          {body, fish} zone 3      3         the columns of "body" in it
//     fish          the same                 3
//     transform     the transforms           -         without what these keep for themselves
//     world_pose    the same                 -
//
// Thread: several threads may look at the rows of stores at once while no row is changed.

#include "shoal/base/detail/array.h"
#include "shoal/store/detail/zone.h"
#include "shoal/store/store.h"
#include "shoal/table/detail/schema.h"
#include "shoal/table/detail/table.h"
#include "shoal/table/detail/value_check.h"

namespace shoal {

struct StateRows {
    const Store* store = nullptr;
    const Schema* schema = nullptr;  ///< of the component type
    const Table* table = nullptr;
    std::uint32_t first_column = 0;  ///< where the component's columns begin in the table
    Zone zone = kNoZone;
    std::uint64_t place = 0;                      ///< differs between tables of one component type and zone
    const std::uint64_t* enabled_bits = nullptr;  ///< a bit per row; nullptr: all rows are enabled
    bool asks_store = false;  ///< the store keeps the values elsewhere: Store::read_field() has them

    std::uint32_t num_rows() const { return table->num_rows(); }
    /// Where a field with one column is stored. Requires: !asks_store.
    FieldRows values_of(const Field& field) const;
    /// Copies a field of a row. Shape: field.size bytes.
    void read(const Field& field, std::uint32_t row, std::byte* value) const;
};

/// Appends the rows of a store, except tables without rows.
void list_rows(Store& store, Array<StateRows>& rows);

}  // namespace shoal
