#pragma once
// Removes rows one by one from a table of plain rows with a paged index. A PackedRows is a local copy of the data that
// is needed, so that the compiler keeps the data in registers.
//
//     entries   [ .. e:3 .. m:9 .. ]      e is removed: the last row moves into its place
//     owners    [ .. .. .. e .. .. m ]    -> [ .. .. .. m .. .. ]
//
// Thread: the structural thread of the table.

#include "shoal/table/detail/change_stamps.h"
#include "shoal/table/detail/row_index.h"

namespace shoal {

struct PackedRows {
    std::span<EntityBits> entries;  // by entity index
    Entity* owners;                 // by row
    ChangeMark* marks;              // by row / kRowsPerChangeMark
    ChangeMark mark;
    std::uint32_t num_rows;

    /// Removes the row of `entity` if it has one. copy_row(to, from) must copy the elements of row `from` to row `to`.
    template <class CopyRow>
    SHOAL_INLINE bool remove(Entity entity, CopyRow&& copy_row) {
        if (SHOAL_UNLIKELY(entity.index() >= entries.size())) return false;
        EntityBits& entry = entries[entity.index()];
        const std::uint32_t row = RowIndex::row_in(entry, entity);
        if (row == kNilRow) return false;
        SHOAL_ASSERT(row < num_rows, "the row index names a row that does not exist");
        entry = 0;
        if (SHOAL_LIKELY(row != num_rows - 1)) copy_row(row, num_rows - 1);
        close(row);
        return true;
    }
    /// Removes a row whose index entry and elements the caller has already handled. Requires: row < num_rows.
    SHOAL_INLINE void close(std::uint32_t row) {
        const std::uint32_t last = --num_rows;
        if (SHOAL_UNLIKELY(row == last)) return;
        const Entity moved = owners[last];
        // A dead owner may have lost its entry to a newer entity with the same index, which keeps the entry.
        EntityBits& moved_entry = entries[moved.index()];
        if (SHOAL_LIKELY(moved_entry == RowIndex::entry_of(moved, last))) moved_entry = RowIndex::entry_of(moved, row);
        owners[row] = moved;
        marks[row / kRowsPerChangeMark] = mark;
    }
};

}  // namespace shoal
