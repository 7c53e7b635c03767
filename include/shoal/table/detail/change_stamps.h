#pragma once
// When the columns of a table were last written, by block of 1,024 rows.
//
//     block            0    1    2
//     column 0 ...     s    s    s     one stamp per column and block: writes to that column
//     rows             s    s    s     one stamp per block: rows added and moved in, which writes all columns
//
// Thread: that of the table.

#include "shoal/base/assert.h"
#include "shoal/base/memory.h"
#include "shoal/base/row_range.h"
#include "shoal/base/status.h"

namespace shoal {

class StateReader;
class StateWriter;

inline constexpr std::uint32_t kRowsPerStampBlock = 1024;

class ChangeStamps {
public:
    explicit ChangeStamps(std::size_t num_columns) : num_columns_(num_columns) {}

    /// Writes from now on carry `stamp`. Requires: no less than before.
    void set_now(std::uint64_t stamp) { now_ = stamp; }
    std::uint64_t now() const { return now_; }

    /// Keeps stamps for `num_rows` rows at least.
    void reserve(std::uint32_t num_rows) {
        if (SHOAL_UNLIKELY(num_rows > std::uint64_t(num_blocks_) * kRowsPerStampBlock)) grow(num_rows);
    }
    std::size_t num_blocks() const { return num_blocks_; }

    /// Marks a column in one row, or in some rows, as written. Requires: stamps are kept for the rows.
    SHOAL_INLINE void mark(std::uint32_t column, std::uint32_t row) {
        const std::size_t place = column * num_blocks_ + row / kRowsPerStampBlock;
        SHOAL_ASSERT(place < columns_.size(), "the column or the row does not exist");
        columns_[place] = now_;
    }
    SHOAL_API void mark(std::uint32_t column, RowRange rows);
    /// Marks all columns. Requires: as above.
    SHOAL_INLINE void mark_row(std::uint32_t row) { rows_[row / kRowsPerStampBlock] = now_; }
    SHOAL_API void mark_rows(RowRange rows);
    /// By block: where loops over many rows write the stamp themselves.
    std::uint64_t* row_stamps() { return rows_.data(); }

    /// Returns the stamp of the last write to a block of a column.
    SHOAL_API std::uint64_t written(std::uint32_t column, std::uint32_t block) const;
    /// Returns when rows of a block were last added or moved in.
    std::uint64_t placed(std::uint32_t block) const {
        SHOAL_ASSERT(block < rows_.size(), "the block does not exist");
        return rows_[block];
    }

    /// Writes the stamps of so many rows, or reads them. Requires: stamps are kept for the rows.
    SHOAL_API void save(StateWriter& to, std::uint32_t num_rows) const;
    SHOAL_API Status load(StateReader& from, std::uint32_t num_rows);

private:
    SHOAL_API void grow(std::uint32_t num_rows);

    std::uint64_t now_ = 1;
    std::size_t num_columns_, num_blocks_ = 0;
    Array<std::uint64_t> rows_{Owner("table")};     // [block]
    Array<std::uint64_t> columns_{Owner("table")};  // [column][block]
};

}  // namespace shoal
