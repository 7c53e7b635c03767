#include "shoal/table/detail/change_stamps.h"

#include "shoal/base/detail/bits.h"
#include "shoal/base/detail/page_memory.h"
#include "shoal/state/snapshot.h"

#include <algorithm>
#include <cstring>

namespace shoal {
namespace {

static_assert(kElementsPerSnapshotBlock % kRowsPerStampBlock == 0 && kRowsPerChangeMark == kElementsPerSnapshotMark);
constexpr std::size_t kMarksPerBlock = kRowsPerStampBlock / kRowsPerChangeMark;
constexpr std::uint32_t kBlocksPerSnapshotBlock = kElementsPerSnapshotBlock / kRowsPerStampBlock;
constexpr std::size_t kMarksAtOnce = 16;     // the number of marks is a multiple of this, so loops have no remainder
constexpr std::uint64_t kStepsOfBase = 128;  // when base is increased, the marks of the last 128 stamps are kept

std::size_t num_blocks_of(std::uint64_t num_rows) {
    return static_cast<std::size_t>((num_rows + kRowsPerStampBlock - 1) / kRowsPerStampBlock);
}

/// Returns the highest mark that is at most `limit`.
std::uint8_t highest_mark(const ChangeMark* marks, std::size_t count, std::uint8_t limit = 255) {
    std::uint8_t highest = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const auto mark = static_cast<std::uint8_t>(marks[i]);
        highest = std::max(highest, mark <= limit ? mark : std::uint8_t(0));
    }
    return highest;
}

/// Copies each line, which has `length` values, to the start of a longer line.
template <class T>
void widen(Array<T>& lines, std::size_t num_lines, std::size_t length, std::size_t new_length) {
    Array<T> wide(num_lines * new_length, T(0), Owner("table"));
    for (std::size_t i = 0; i < num_lines; ++i)
        std::copy_n(lines.data() + i * length, length, wide.data() + i * new_length);
    lines.swap(wide);
}

}  // namespace

void ChangeStamps::grow(std::uint32_t num_rows) {
    const std::size_t needed = (std::size_t(num_rows) + kRowsPerChangeMark - 1) / kRowsPerChangeMark;
    const std::size_t num_marks = round_up(std::max(needed, num_marks_ * 2), kMarksAtOnce);
    const std::size_t num_blocks = num_blocks_of(std::uint64_t(num_marks) * kRowsPerChangeMark);
    widen(marks_, num_columns_ + 1, num_marks_, num_marks);
    widen(stamps_, num_columns_ + 1, num_blocks_, num_blocks);
    num_marks_ = num_marks;
    num_blocks_ = num_blocks;
    num_column_marks_ = num_columns_ * num_marks;
    row_marks_ = marks_.data() + num_column_marks_;
}

ChangeStamps::Line ChangeStamps::column(std::uint32_t column) const {
    return {const_cast<std::uint64_t*>(stamps_.data()) + column * num_blocks_,
            const_cast<ChangeMark*>(marks_.data()) + column * num_marks_};
}

/// Returns the number of marks in a block; the last block of a small table has fewer.
std::size_t ChangeStamps::marks_in(std::uint32_t block) const {
    return std::min(kMarksPerBlock, num_marks_ - block * kMarksPerBlock);
}

// --- writing -----------------------------------------------------------------------------------------------------

/// If a write begins at the first row of a block, as in loops, or covers more than half of the block, stamps the whole
/// block.
SHOAL_INLINE void ChangeStamps::mark(const Line& line, RowRange rows) const {
    if (rows.begin == rows.end) return;
    const std::size_t first = rows.begin / kRowsPerChangeMark, last = (rows.end - 1) / kRowsPerChangeMark;
    if (first % kMarksPerBlock == 0 && last - first < kMarksPerBlock)
        line.stamps[first / kMarksPerBlock] = now_;
    else if (last - first <= 1)
        line.marks[first] = line.marks[last] = mark_;
    else
        mark_many(line, first, last + 1);
}

void ChangeStamps::mark_many(const Line& line, std::size_t begin, std::size_t end) const {
    while (begin < end) {
        const std::size_t block = begin / kMarksPerBlock;
        const std::size_t count = std::min(end, (block + 1) * kMarksPerBlock) - begin;
        if (begin % kMarksPerBlock == 0 || count > kMarksPerBlock / 2)
            line.stamps[block] = now_;
        else
            std::memset(static_cast<void*>(line.marks + begin), static_cast<int>(mark_), count);
        begin += count;
    }
}

void ChangeStamps::mark(std::uint32_t column, RowRange rows) {
    SHOAL_ASSERT(column < num_columns_, "the column does not exist");
    if (mark_block(column, rows)) return;
    if (rows.end - rows.begin == 1) return mark(column, rows.begin);
    mark(this->column(column), rows);
}

/// A mark that is already set is not written again, so that threads only read its cache line.
void ChangeStamps::mark_shared(std::uint32_t column, const std::uint32_t* rows, std::span<const std::uint64_t> chosen) {
    SHOAL_ASSERT(column < num_columns_, "the column does not exist");
    auto* const marks = reinterpret_cast<std::uint8_t*>(this->column(column).marks);
    const auto now = static_cast<std::uint8_t>(mark_);
    for (std::size_t word = 0; word < chosen.size(); ++word)
        for_each_bit(chosen[word], word * 64, [&](std::size_t i) {
            const std::uint32_t place = rows[i] / kRowsPerChangeMark;
            SHOAL_ASSERT(place < num_marks_, "the row does not exist");
            if (__atomic_load_n(marks + place, __ATOMIC_RELAXED) != now)
                __atomic_store_n(marks + place, now, __ATOMIC_RELAXED);
        });
}

void ChangeStamps::mark_rows(RowRange rows) {
    if (rows.end - rows.begin == 1) return mark_row(rows.begin);
    mark(this->rows(), rows);
}

/// Moves the marks of the first `steps` stamps after base into the stamps, and shifts later marks.
void ChangeStamps::fold(const Line& line, std::uint64_t steps) const {
    const auto limit = static_cast<std::uint8_t>(std::min(steps, kMaxMark));
    for (std::uint32_t block = 0; block < num_blocks_; ++block) {
        ChangeMark* const marks = line.marks + block * kMarksPerBlock;
        const std::size_t count = marks_in(block);
        if (const std::uint8_t folded = highest_mark(marks, count, limit); folded != 0)
            line.stamps[block] = std::max(line.stamps[block], base_ + folded);
        for (std::size_t i = 0; i < count; ++i) {
            const auto mark = static_cast<std::uint8_t>(marks[i]);
            marks[i] = static_cast<ChangeMark>(std::max(mark, limit) - limit);
        }
    }
}

void ChangeStamps::move_base(std::uint64_t stamp) {
    const std::uint64_t base = stamp - kStepsOfBase;
    fold(rows(), base - base_);
    for (std::uint32_t c = 0; c < num_columns_; ++c) fold(column(c), base - base_);
    base_ = base;
}

// --- queries -----------------------------------------------------------------------------------------------------

std::uint64_t ChangeStamps::written(const Line& line, std::uint32_t block) const {
    const std::uint8_t mark = highest_mark(line.marks + block * kMarksPerBlock, marks_in(block));
    return mark == 0 ? line.stamps[block] : std::max(line.stamps[block], base_ + mark);
}

std::uint64_t ChangeStamps::written(std::uint32_t column, std::uint32_t block) const {
    SHOAL_ASSERT(column < num_columns_ && block < num_blocks_, "the column or block does not exist");
    return std::max(written(this->column(column), block), written(rows(), block));
}

std::uint64_t ChangeStamps::placed(std::uint32_t block) const {
    SHOAL_ASSERT(block < num_blocks_, "the block does not exist");
    return written(rows(), block);
}

/// Adds the rows that were written at `since` or later. If only the stamp of a block is known, adds all rows of the
/// block.
void ChangeStamps::add_written(const Line& line, std::uint32_t snapshot_block, std::uint64_t since,
                               SnapshotMarks& to) const {
    const std::uint64_t least = since <= base_ ? 1 : since - base_;
    const std::uint32_t begin = snapshot_block * kBlocksPerSnapshotBlock;
    const std::size_t end = std::min<std::size_t>(begin + kBlocksPerSnapshotBlock, num_blocks_);
    for (std::uint32_t block = begin; block < end; ++block) {
        const std::size_t first = (block - begin) * kMarksPerBlock;
        if (line.stamps[block] >= since) {
            set_bits(to.words, first, first + kMarksPerBlock, true);
            continue;
        }
        const ChangeMark* const marks = line.marks + block * kMarksPerBlock;
        const std::size_t count = marks_in(block);
        if (least > kMaxMark || highest_mark(marks, count) < least) continue;
        std::uint8_t is_written[kMarksPerBlock] = {};
        for (std::size_t i = 0; i < count; ++i) is_written[i] = static_cast<std::uint8_t>(marks[i]) >= least;
        to.add(first, is_written);
    }
}

SnapshotMarks ChangeStamps::placed_since(std::uint32_t snapshot_block, std::uint64_t since) const {
    SHOAL_ASSERT(snapshot_block * kBlocksPerSnapshotBlock < num_blocks_, "the block does not exist");
    SnapshotMarks marks;
    add_written(rows(), snapshot_block, since, marks);
    return marks;
}

SnapshotMarks ChangeStamps::written_since(std::uint32_t column, std::uint32_t snapshot_block,
                                          std::uint64_t since) const {
    SHOAL_ASSERT(column < num_columns_, "the column does not exist");
    SnapshotMarks marks = placed_since(snapshot_block, since);
    add_written(this->column(column), snapshot_block, since, marks);
    return marks;
}

// --- saving ------------------------------------------------------------------------------------------------------

void ChangeStamps::save(SnapshotWriter& to, std::uint32_t num_rows) const {
    const std::size_t num_used = num_blocks_of(num_rows);
    Array<std::uint64_t> used{Owner("table")};  // [rows, column 0, ...][block]
    used.reserve((num_columns_ + 1) * num_used);
    for (std::uint32_t block = 0; block < num_used; ++block) used.push_back(placed(block));
    // If a block has been empty, its column stamps may be older than its rows. Such stamps are meaningless.
    for (std::uint32_t c = 0; c < num_columns_; ++c)
        for (std::uint32_t block = 0; block < num_used; ++block)
            used.push_back(std::max(written(column(c), block), used[block]));
    to.value("stamp", now_);
    to.array("stamps", used);
}

Status ChangeStamps::load(SnapshotReader& from, std::uint32_t num_rows) {
    const std::size_t num_used = num_blocks_of(num_rows);
    Array<std::uint64_t> used((num_columns_ + 1) * num_used, 0, Owner("table"));
    std::uint64_t now = 0;
    if (Status status = from.value("stamp", now); !status) return status;
    if (Status status = from.elements("stamps", used.data(), sizeof(std::uint64_t), used.size()); !status)
        return status;
    if (!from.is_trusted() && now > ~std::uint64_t(0) / 4)
        return from.error("stamp", "there cannot have been so many steps");
    if (!from.is_trusted() && std::any_of(used.begin(), used.end(), [&](std::uint64_t stamp) { return stamp > now; }))
        return from.error("stamps", "one of them lies in the future");
    std::fill(marks_.begin(), marks_.end(), ChangeMark(0));
    std::fill(stamps_.begin(), stamps_.end(), 0);
    std::copy_n(used.begin(), num_used, rows().stamps);
    for (std::uint32_t c = 0; c < num_columns_; ++c)
        std::copy_n(used.data() + (c + 1) * num_used, num_used, column(c).stamps);
    base_ = now - 1;
    set_now(now);
    return {};
}

}  // namespace shoal
