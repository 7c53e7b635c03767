#pragma once
// Records when the columns of a table were last written: for each block of 1,024 rows and, for recent writes, also for
// each group of 8 rows.
//
//     rows             0..7 8..15 ...             a mark of one byte for each 8 rows: a write costs only one store
//     column 0 ...     m    m     m               m: written at stamp base + m; 0: not since
//     rows             m    m     m               rows added and moved in, which writes all columns
//
//     block            0    1    2
//     column 0 ...     s    s    s                writes of many rows, and marks older than base
//     rows             s    s    s
//
// The latest stamp or mark of a block is the time of its last write. When the current stamp does not fit into a mark,
// base is increased, and older marks are folded into the stamps.
// Thread: as for the table.

#include "shoal/base/assert.h"
#include "shoal/base/detail/array.h"
#include "shoal/base/detail/row_range.h"
#include "shoal/base/status.h"

namespace shoal {

class SnapshotReader;
class SnapshotWriter;
struct SnapshotMarks;

inline constexpr std::uint32_t kRowsPerStampBlock = 1024;
inline constexpr std::uint32_t kRowsPerChangeMark = 8;

enum class ChangeMark : std::uint8_t {};  // not a character type, which could alias anything

class ChangeStamps {
public:
    explicit ChangeStamps(std::size_t num_columns) : num_columns_(num_columns) {}

    /// Sets the stamp that writes get from now on. Requires: stamp >= now().
    void set_now(std::uint64_t stamp) {
        if (SHOAL_UNLIKELY(stamp - base_ - 1 >= kMaxMark)) move_base(stamp);
        now_ = stamp;
        mark_ = static_cast<ChangeMark>(stamp - base_);
    }
    std::uint64_t now() const { return now_; }

    /// Makes room for the stamps of at least `num_rows` rows.
    void reserve(std::uint32_t num_rows) {
        if (SHOAL_UNLIKELY(num_rows > std::uint64_t(num_marks_) * kRowsPerChangeMark)) grow(num_rows);
    }
    std::size_t num_blocks() const { return num_blocks_; }

    /// Marks one or several rows of a column as written. Requires: stamps are kept for the rows.
    SHOAL_INLINE void mark(std::uint32_t column, std::uint32_t row) {
        const std::size_t place = column * num_marks_ + row / kRowsPerChangeMark;
        SHOAL_ASSERT(place < num_column_marks_, "the column or the row does not exist");
        marks_[place] = mark_;
    }
    SHOAL_API void mark(std::uint32_t column, RowRange rows);
    /// Like mark(), but only for several rows that begin at the start of a block and end within it, as in a loop over a
    /// small table. For other rows, or if the column does not exist, returns false and marks nothing.
    SHOAL_INLINE bool mark_block(std::uint32_t column, RowRange rows) {
        if (rows.begin % kRowsPerStampBlock != 0 || rows.end - rows.begin - 2 >= kRowsPerStampBlock - 1) return false;
        if (SHOAL_UNLIKELY(column >= num_columns_)) return false;
        stamps_[column * num_blocks_ + rows.begin / kRowsPerStampBlock] = now_;
        return true;
    }
    /// Like mark(), but for all `num_rows` rows of a table, and for several columns, which must exist; `columns_end` is
    /// the end of their list. If there are fewer than two rows or more than one block, returns false and marks nothing.
    SHOAL_INLINE bool mark_only_block(const std::uint16_t* columns_end, std::size_t num_columns,
                                      std::uint32_t num_rows) {
        if (num_rows - 2 >= kRowsPerStampBlock - 1) return false;
        for (; num_columns != 0; --num_columns) stamps_[*--columns_end * num_blocks_] = now_;
        return true;
    }
    /// Like mark(), but does not test whether the column and the row exist.
    SHOAL_INLINE void mark_existing(std::uint32_t column, std::uint32_t row) {
        marks_[column * num_marks_ + row / kRowsPerChangeMark] = mark_;
    }
    /// See Table::mark_shared().
    SHOAL_API void mark_shared(std::uint32_t column, const std::uint32_t* rows, std::span<const std::uint64_t> chosen);
    /// Marks one or several rows as written in all columns. Requires: stamps are kept for the rows.
    SHOAL_INLINE void mark_row(std::uint32_t row) { row_marks_[row / kRowsPerChangeMark] = mark_; }
    SHOAL_API void mark_rows(RowRange rows);
    /// The marks, indexed by row / kRowsPerChangeMark, for loops over many rows that write mark_of_now() themselves.
    ChangeMark* row_marks() { return row_marks_; }
    ChangeMark mark_of_now() const { return mark_; }

    /// Returns the stamp of the last write to a block of a column.
    SHOAL_API std::uint64_t written(std::uint32_t column, std::uint32_t block) const;
    /// Returns the stamp at which rows were last added to a block or moved into it.
    SHOAL_API std::uint64_t placed(std::uint32_t block) const;
    /// Returns the rows of a snapshot block that were written, or may have been written, at `since` or later. A
    /// snapshot block covers several blocks of the table. placed_since() returns the rows that were added or moved.
    SHOAL_API SnapshotMarks written_since(std::uint32_t column, std::uint32_t snapshot_block,
                                          std::uint64_t since) const;
    SHOAL_API SnapshotMarks placed_since(std::uint32_t snapshot_block, std::uint64_t since) const;

    std::size_t memory_bytes() const {
        return (num_columns_ + 1) * (num_blocks_ * sizeof(std::uint64_t) + num_marks_ * sizeof(ChangeMark));
    }

    /// These functions write and read the stamps of `num_rows` rows. Requires: stamps are kept for the rows.
    SHOAL_API void save(SnapshotWriter& to, std::uint32_t num_rows) const;
    SHOAL_API Status load(SnapshotReader& from, std::uint32_t num_rows);

private:
    static constexpr std::uint64_t kMaxMark = 255;

    /// The stamps and marks of a column, or of the rows that were added or moved.
    struct Line {
        std::uint64_t* stamps;
        ChangeMark* marks;
    };
    Line rows() const { return column(static_cast<std::uint32_t>(num_columns_)); }
    Line column(std::uint32_t column) const;
    std::size_t marks_in(std::uint32_t block) const;
    void mark(const Line& line, RowRange rows) const;
    void mark_many(const Line& line, std::size_t begin, std::size_t end) const;
    std::uint64_t written(const Line& line, std::uint32_t block) const;
    void add_written(const Line& line, std::uint32_t snapshot_block, std::uint64_t since, SnapshotMarks& to) const;
    void fold(const Line& line, std::uint64_t steps) const;
    SHOAL_API void grow(std::uint32_t num_rows);
    SHOAL_API void move_base(std::uint64_t stamp);

    ChangeMark mark_ = ChangeMark(1);  // the mark of now_
    std::uint64_t now_ = 1, base_ = 0;
    std::size_t num_columns_, num_marks_ = 0, num_blocks_ = 0, num_column_marks_ = 0;
    ChangeMark* row_marks_ = nullptr;              // in marks_
    Array<ChangeMark> marks_{Owner("table")};      // [column 0, ..., rows][mark]
    Array<std::uint64_t> stamps_{Owner("table")};  // [column 0, ..., rows][block]
};

}  // namespace shoal
