// Where the columns of a table lie: a block of a slab while it is small, then a range of its own. A table that is
// filled at once, as by a spawn, lies in a block of large pages that it shares with others: a page fault costs 1.4 us
// for 4 KiB and 0.1 ms for 2 MiB, seven times less for the same memory, if only it is used.
//
// In a range each column has a frame that starts on a 2 MiB boundary, so that large pages can serve it from its first
// row on; the column itself starts up to three cache lines and three pages later, at another distance in each of 16
// frames, so that the first rows of all columns do not fall into the same cache sets:
//
//     |<- frame of column 0 ------------>|<- frame of column 1 ---------------->|
//     |column 0 ...                      | 64 B |column 1 ...                   |
//
// The cache lines are so few because they are paid for: a column may waste one page and 5 % of its rows, and needs
// more than one page beyond its rows only when these fill all but the stagger of their last page.

#include "shoal/base/text.h"
#include "shoal/table/table.h"

#include <algorithm>
#include <cstring>

namespace shoal {
namespace {

constexpr std::size_t kPromotionBytes = std::size_t(64) << 10;     // of rows; more of them get a range
constexpr std::size_t kLeastSharedBytes = std::size_t(256) << 10;  // less is no reason to take a page of 2 MiB
constexpr std::size_t kLargeColumnBytes = std::size_t(16) << 20;   // from here on the last page may be a large one
constexpr std::size_t kStaggerLines = 4;                           // starts within a page, one cache line apart
constexpr std::size_t kStaggerPages = 4;
constexpr std::size_t kMaxStaggerBytes = kStaggerPages * kPageBytes;
constexpr std::uint32_t kRowsAhead = 64;  // made ready beyond those asked for, and 1 in 64
constexpr std::uint32_t kPatience = 8;    // calls of settle_memory before pages go

std::size_t column_bytes(std::uint32_t rows, std::uint32_t element_bytes) {
    return round_up(std::size_t(rows) * element_bytes, kCacheLineBytes);
}

std::size_t stagger(std::size_t column) {
    return column / kStaggerLines % kStaggerPages * kPageBytes + column % kStaggerLines * kCacheLineBytes;
}
static_assert((kStaggerLines - 1) * kCacheLineBytes <= (kPageBytes - (kStaggerLines - 1) * kCacheLineBytes) / 20,
              "see above: 5 % of the rows pay for the stagger");

std::size_t frame_bytes(std::uint32_t rows, std::uint32_t element_bytes) {
    return round_up(kMaxStaggerBytes + column_bytes(rows, element_bytes), kLargePageBytes);
}

/// Bytes from the start of frame `c` that shall lie in large pages while `rows` rows are in use and `ready_rows` may
/// be.
std::size_t wanted_large_bytes(std::size_t c, std::uint32_t element_bytes, std::uint32_t rows,
                               std::uint32_t ready_rows) {
    const std::size_t used = std::size_t(rows) * element_bytes;
    if (used > kLargeColumnBytes)
        return round_up(stagger(c) + std::size_t(ready_rows) * element_bytes, kLargePageBytes);
    return (stagger(c) + used + used / 64) / kLargePageBytes * kLargePageBytes;
}

using Columns = Array<PhysicalColumn>;

std::size_t block_bytes(const Columns& columns, std::uint32_t rows) {
    std::size_t bytes = 0;
    for (const PhysicalColumn& column : columns) bytes += column_bytes(rows, column.element_bytes);
    return bytes;
}

/// Blocks are an odd number of granules: many of one size side by side then begin in all cache sets, and not over and
/// over in the same few.
std::size_t round_up_to_odd_granules(std::size_t bytes) {
    return (round_up(bytes, PagePool::kGranuleBytes) / PagePool::kGranuleBytes | 1) * PagePool::kGranuleBytes;
}

std::size_t range_bytes(const Columns& columns, std::uint32_t rows) {
    std::size_t bytes = 0;
    for (const PhysicalColumn& column : columns) bytes += frame_bytes(rows, column.element_bytes);
    return bytes;
}

bool has_large_pages_beyond(const Columns& columns, std::uint32_t rows) {
    for (std::size_t c = 0; c < columns.size(); ++c)
        if (columns[c].large_bytes > wanted_large_bytes(c, columns[c].element_bytes, rows, rows)) return true;
    return false;
}

}  // namespace

void Table::place_in_block(std::byte* block, std::uint32_t rows) {
    for (PhysicalColumn& column : columns_) {
        column.data = block;
        column.large_bytes = 0;
        block += column_bytes(rows, column.element_bytes);
    }
    capacity_ = rows;
    refresh_pointers();
}

void Table::place_in_range(std::byte* range, std::uint32_t rows) {
    for (std::size_t c = 0; c < columns_.size(); ++c) {
        columns_[c].data = range + stagger(c);
        columns_[c].large_bytes = 0;
        range += frame_bytes(rows, columns_[c].element_bytes);
    }
    capacity_ = rows;
    refresh_pointers();
}

void Table::refresh_pointers() {
    ++placement_;
    std::size_t c = schema_->columns().size();
    entities_ = reinterpret_cast<Entity*>(columns_[c++].data);
    const auto next_link = [&] { return reinterpret_cast<std::uint32_t*>(columns_[c++].data); };
    if (options_.chain) links_[0] = next_link();
    for (int i = 1; options_.tree && i < 5; ++i) links_[i] = next_link();
}

Status Table::reserve(std::uint32_t count) {
    if (count <= ready_rows_ - num_rows_) return {};
    if (count > options_.capacity_rows - num_rows_)
        return Status::error(concat("the table of \"", schema_->name(), "\" holds ", num_rows_, " rows and at most ",
                                    options_.capacity_rows, "; ", count, " more do not fit"));
    const std::uint32_t rows = num_rows_ + count;
    if (rows > capacity_) {
        const std::size_t bytes = block_bytes(columns_, rows);
        const bool at_once = num_rows_ == 0 && range_.data == nullptr && bytes >= kLeastSharedBytes;
        if (at_once && move_to_shared(rows + std::min(rows / 64, options_.capacity_rows - rows))) return {};
        const bool small = bytes <= kPromotionBytes && range_.data == nullptr;
        // A table that grows gets room to spare, but wastes less than half a page per column.
        const std::size_t spare = num_rows_ == 0 ? 0 : std::min(bytes, columns_.size() * kPageBytes / 2);
        if (Status status = small ? move_to_block(rows, spare) : move_to_range(rows); !status) return status;
    }
    make_ready(rows);
    return {};
}

/// Moves the rows of a small table to a block that holds `rows` rows, and what `spare_bytes` more give room for.
Status Table::move_to_block(std::uint32_t rows, std::size_t spare_bytes) {
    const std::size_t wanted = round_up_to_odd_granules(block_bytes(columns_, rows) + spare_bytes);
    const std::size_t bytes =
        std::min(wanted, block_bytes(columns_, rows) <= kPageBytes ? kPageBytes : kPromotionBytes);
    std::uint32_t room = rows;
    for (std::uint32_t step = 1u << 16; step > 0; step /= 2)
        if (room + step <= options_.capacity_rows && block_bytes(columns_, room + step) <= bytes) room += step;
    Result<std::byte*> block = pool_->allocate_block(bytes);
    if (!block) return block.status();
    take_block(*block, bytes, room);
    return {};
}

/// Moves the rows to a block for `rows` rows among others in large pages. Returns whether there is one.
bool Table::move_to_shared(std::uint32_t rows) {
    const std::size_t bytes = round_up(block_bytes(columns_, rows), PagePool::kGranuleBytes);
    if (bytes <= kPromotionBytes || bytes > PagePool::kMaxSharedBytes) return false;
    Result<std::byte*> block = pool_->allocate_shared(bytes);
    if (block) take_block(*block, bytes, rows);
    return block.ok();
}

void Table::take_block(std::byte* block, std::size_t bytes, std::uint32_t rows) {
    const Array<PhysicalColumn> from = columns_;
    place_in_block(block, rows);
    move_contents(from);
    free_block();
    block_ = block;
    slab_bytes_ = bytes;
    make_ready(num_rows_);
}

void Table::free_block() {
    if (slab_bytes_ > kPromotionBytes)
        pool_->free_shared(block_, slab_bytes_);
    else if (slab_bytes_ != 0)
        pool_->free_block(block_, slab_bytes_);
    block_ = nullptr;
    slab_bytes_ = 0;
}

/// Moves the rows to a range of their own. The reservation is halved down to what is needed.
Status Table::move_to_range(std::uint32_t rows) {
    std::size_t touched_hint = 0;
    std::uint32_t room = options_.capacity_rows;
    Result<PageRange> range = pool_->take_range(range_bytes(columns_, room), shape_ + room, &touched_hint);
    while (!range && room > rows) {
        room = std::max(rows, room / 2);
        range = pool_->take_range(range_bytes(columns_, room), shape_ + room, &touched_hint);
    }
    if (!range)
        return Status::error(
            concat("the table of \"", schema_->name(), "\" cannot grow to ", rows, " rows: ", range.message()));
    if (touched_hint == 0) prefer_small_pages(range->data, range->num_bytes);
    const Array<PhysicalColumn> from = columns_;
    const PageRange old_range = range_;
    place_in_range(range->data, room);
    range_ = *range;
    ready_rows_ = 0;
    touched_rows_ = 0;
    if (touched_hint != 0) make_ready(static_cast<std::uint32_t>(touched_hint));
    touched_rows_ = static_cast<std::uint32_t>(touched_hint);
    make_ready(rows);
    if (num_rows_ != 0) ++num_promotions_;
    move_contents(from);
    free_block();
    if (old_range.data != nullptr) release_pages(old_range);
    return {};
}

void Table::move_contents(const Array<PhysicalColumn>& from) {
    if (num_rows_ == 0) return;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
        const std::size_t bytes = columns_[c].element_bytes;
        if (columns_[c].opaque == nullptr) {
            std::memcpy(columns_[c].data, from[c].data, num_rows_ * bytes);
            continue;
        }
        for (std::uint32_t row = 0; row < num_rows_; ++row) {
            columns_[c].opaque->move_construct(columns_[c].data + row * bytes, from[c].data + row * bytes);
            columns_[c].opaque->destroy(from[c].data + row * bytes);
        }
    }
}

/// Prepares the pages of `rows` rows and a few more. Rows up to ready_rows_ can then be written without a call.
void Table::make_ready(std::uint32_t rows) {
    if (slab_bytes_ != 0 && range_.data == nullptr) {
        ready_rows_ = capacity_;
    } else {
        const std::uint32_t ahead = rows / 64 + kRowsAhead;
        ready_rows_ = std::max(ready_rows_, rows > capacity_ - std::min(capacity_, ahead) ? capacity_ : rows + ahead);
        for (std::size_t c = 0; c < columns_.size(); ++c) {
            const std::size_t large = wanted_large_bytes(c, columns_[c].element_bytes, rows, ready_rows_);
            if (large <= columns_[c].large_bytes) continue;
            std::byte* frame = columns_[c].data - stagger(c);
            prefer_large_pages(frame + columns_[c].large_bytes, large - columns_[c].large_bytes);
            columns_[c].large_bytes = large;
        }
    }
    grow_stamps();
}

void Table::grow_stamps() {
    const std::size_t needed = (std::size_t(ready_rows_) + kRowsPerStampBlock - 1) / kRowsPerStampBlock;
    if (needed <= num_stamp_blocks_) return;
    const std::size_t num_columns = schema_->columns().size();
    const std::size_t num_blocks = std::max(needed, num_stamp_blocks_ * 2);
    Array<std::uint64_t> stamps(num_columns * num_blocks, 0, OwnedAllocator<std::uint64_t>("table"));
    for (std::size_t c = 0; c < num_columns; ++c)
        std::copy_n(stamps_.begin() + static_cast<std::ptrdiff_t>(c * num_stamp_blocks_), num_stamp_blocks_,
                    stamps.begin() + static_cast<std::ptrdiff_t>(c * num_blocks));
    stamps_.swap(stamps);
    row_stamps_.resize(num_blocks, 0);
    num_stamp_blocks_ = num_blocks;
}

void Table::release_storage() {
    ++placement_;
    free_block();
    const std::uint32_t touched = std::max(touched_rows_, num_rows_);
    if (range_.data != nullptr) {
        // The next owner knows of pages by `touched` only: large ones beyond, made ready and never used, must go.
        if (has_large_pages_beyond(columns_, touched)) discard_beyond(touched);
        pool_->give_range(range_, shape_ + capacity_, committed_bytes(touched), touched);
    }
    range_ = {};
    for (PhysicalColumn& column : columns_) column.data = nullptr, column.large_bytes = 0;
    capacity_ = ready_rows_ = touched_rows_ = 0;
    entities_ = nullptr;
    for (std::uint32_t*& link : links_) link = nullptr;
}

/// Bytes of the range that are backed by memory once `rows` rows were written.
std::size_t Table::committed_bytes(std::uint32_t rows) const {
    std::size_t bytes = 0;
    for (std::size_t c = 0; rows > 0 && c < columns_.size(); ++c) {
        const std::size_t end = stagger(c) + std::size_t(rows) * columns_[c].element_bytes;
        const std::size_t begin = columns_[c].large_bytes > 0 ? 0 : stagger(c) / kPageBytes * kPageBytes;
        const std::size_t page = end <= columns_[c].large_bytes ? kLargePageBytes : kPageBytes;
        bytes += round_up(end, page) - begin;
    }
    return bytes;
}

MemoryUse Table::memory_use() const {
    MemoryUse use;
    for (const PhysicalColumn& column : columns_) use.used_bytes += std::size_t(num_rows_) * column.element_bytes;
    if (slab_bytes_ != 0) {
        use.committed_bytes = use.reserved_bytes = slab_bytes_;
    } else if (range_.data != nullptr) {
        use.committed_bytes = committed_bytes(std::max(touched_rows_, num_rows_));
        use.reserved_bytes = range_.num_bytes;
    }
    return use;
}

/// Whether more is committed than the rows, 5 % and a page per column.
bool Table::is_wasteful() const {
    if (num_rows_ == 0) return capacity_ > 0;
    std::size_t used = 0, allowed = 0;
    for (const PhysicalColumn& column : columns_) {
        const std::size_t bytes = std::size_t(num_rows_) * column.element_bytes;
        used += bytes;
        allowed += bytes + bytes / 20 + (bytes > kLargeColumnBytes ? kLargePageBytes : kPageBytes);
    }
    if (slab_bytes_ != 0) return slab_bytes_ > std::min(allowed, 2 * used + columns_.size() * PagePool::kGranuleBytes);
    return committed_bytes(std::max(touched_rows_, num_rows_)) > allowed;
}

void Table::settle_memory() {
    num_wasteful_calls_ = is_wasteful() ? num_wasteful_calls_ + 1 : 0;
    if (num_wasteful_calls_ >= kPatience) shrink();
}

void Table::shrink() {
    num_wasteful_calls_ = 0;
    if (num_rows_ == 0) {
        release_storage();
        return;
    }
    if (range_.data != nullptr) {
        discard_beyond(num_rows_);
    } else if (slab_bytes_ != 0) {
        const std::size_t bytes = round_up_to_odd_granules(block_bytes(columns_, num_rows_));
        // When no smaller block can be had, the one it has will do.
        if (bytes < slab_bytes_ && !move_to_shared(num_rows_) && bytes <= kPromotionBytes)
            static_cast<void>(move_to_block(num_rows_, 0).ok());
    }
}

void Table::discard_beyond(std::uint32_t rows) {
    const std::uint32_t touched = std::max(touched_rows_, num_rows_);
    for (std::size_t c = 0; c < columns_.size(); ++c) {
        PhysicalColumn& column = columns_[c];
        std::byte* frame = column.data - stagger(c);
        const std::size_t used = stagger(c) + std::size_t(rows) * column.element_bytes;
        const std::size_t end = stagger(c) + std::size_t(touched) * column.element_bytes;
        const std::size_t first = round_up(used, kPageBytes);
        const std::size_t last = std::max(round_up(end, kPageBytes), column.large_bytes);
        if (first < last) discard_pages(frame + first, last - first);
        const std::size_t large = std::min(column.large_bytes, used / kLargePageBytes * kLargePageBytes);
        prefer_small_pages(frame + large, column.large_bytes - large);
        // The first large page began before the column.
        if (large == 0 && column.large_bytes != 0) discard_pages(frame, stagger(c) / kPageBytes * kPageBytes);
        column.large_bytes = large;
    }
    touched_rows_ = rows;
    ready_rows_ = rows;
}

}  // namespace shoal
