// The memory of a table's columns: a block of a slab while the table is small, and later the table's own range. A table
// that is filled by one call, such as a spawn, uses a block of large pages that it shares with other tables. A page
// fault costs 1.4 us for 4 KiB and 0.1 ms for 2 MiB, which is seven times less for the same memory if all of it is
// used.
//
// In a range, each column has a frame that starts on a 2 MiB boundary, so that the column can use large pages from its
// first row on. The column itself starts up to three cache lines and three pages later, at a different distance in each
// of 16 frames, so that the first rows of all columns do not fall into the same cache sets:
//
//     |<- frame of column 0 ------------>|<- frame of column 1 ---------------->|
//     |column 0 ...                      | 64 B |column 1 ...                   |
//
// The distances are only a few cache lines, because they cost memory: a column may waste only one page and 5 % of its
// rows. It needs one more page only if the stagger does not fit into the rest of the last page.

#include "shoal/table/detail/column_storage.h"

#include "shoal/base/text.h"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace shoal {
namespace {

constexpr std::size_t kPromotionBytes = std::size_t(64) << 10;     // a table with more bytes of rows gets a range
constexpr std::size_t kLeastSharedBytes = std::size_t(256) << 10;  // fewer bytes are not worth a page of 2 MiB
constexpr std::size_t kLargeColumnBytes = std::size_t(16) << 20;   // at this size and above, the last page may be large
constexpr std::size_t kStaggerLines = 4;                           // the number of start offsets within a page
constexpr std::size_t kStaggerPages = 4;
constexpr std::size_t kMaxStaggerBytes = kStaggerPages * kPageBytes;
constexpr std::uint32_t kRowsAhead = 64;  // this many extra rows are made ready, plus 1/64 of the requested rows
constexpr std::uint32_t kPatience = 8;    // calls to settle() before pages are freed

std::size_t column_bytes(std::uint32_t rows, std::uint32_t element_bytes) {
    return round_up(std::size_t(rows) * element_bytes, kCacheLineBytes);
}

std::size_t stagger(std::size_t column) {
    return column / kStaggerLines % kStaggerPages * kPageBytes + column % kStaggerLines * kCacheLineBytes;
}
static_assert((kStaggerLines - 1) * kCacheLineBytes <= (kPageBytes - (kStaggerLines - 1) * kCacheLineBytes) / 20,
              "see above: 5 % of the rows pay for the stagger");

/// A column that may fill a large page starts in a large page. Shorter columns, which occur in tables with a small
/// capacity, are in consecutive pages.
struct Frame {
    Frame(std::size_t offset, std::uint32_t rows, std::uint32_t element_bytes) {
        const std::size_t bytes = kMaxStaggerBytes + column_bytes(rows, element_bytes);
        const std::size_t step = bytes + bytes / 64 < kLargePageBytes ? kPageBytes : kLargePageBytes;
        begin = round_up(offset, step);
        end = begin + round_up(bytes, step);
    }
    std::size_t begin, end;  // in the range
};

/// The number of bytes from the start of frame `c` that should be in large pages while the table has `rows` rows and
/// may grow to `ready_rows` rows.
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

/// Blocks are an odd number of granules, so that consecutive blocks of the same size begin in different cache sets.
std::size_t round_up_to_odd_granules(std::size_t bytes) {
    return (round_up(bytes, PagePool::kGranuleBytes) / PagePool::kGranuleBytes | 1) * PagePool::kGranuleBytes;
}

std::size_t range_bytes(const Columns& columns, std::uint32_t rows) {
    std::size_t bytes = 0;
    for (const PhysicalColumn& column : columns) bytes = Frame(bytes, rows, column.element_bytes).end;
    return bytes;
}

bool has_large_pages_beyond(const Columns& columns, std::uint32_t rows) {
    for (std::size_t c = 0; c < columns.size(); ++c)
        if (columns[c].large_bytes > wanted_large_bytes(c, columns[c].element_bytes, rows, rows)) return true;
    return false;
}

}  // namespace

ColumnStorage::ColumnStorage(const Schema& schema, PagePool& pool, std::uint32_t max_rows, std::uint32_t num_links)
    : schema_(&schema), pool_(&pool), max_rows_(max_rows) {
    static std::atomic<std::uint64_t> num_made{0};
    placement_ += num_made.fetch_add(1, std::memory_order_relaxed) << 32;  // no two tables have the same placement
    SHOAL_ASSERT(max_rows > 0 && (kIndexBits == 32 || max_rows <= kIndexMask + 1),
                 "a table's capacity is 1 row to as many as there are entity indices (2^22 by default)");
    for (const ColumnDefinition& column : schema.columns()) {
        SHOAL_ASSERT(column.alignment <= kCacheLineBytes, "a field cannot be aligned to more than 64 bytes");
        const auto number = static_cast<std::uint16_t>(columns_.size());
        if (column.opaque == nullptr) by_size_.add({number, number, column.element_bytes});
        add_column(column.element_bytes, column.opaque);
    }
    add_column(sizeof(Entity), nullptr);
    for (std::uint32_t i = 0; i < num_links; ++i) add_column(sizeof(std::uint32_t), nullptr);
    addresses_.resize(by_size_.size());
    ends_ = by_size_.ends_in(addresses_.data());
}

ColumnStorage::~ColumnStorage() {
    destroy_opaque({0, num_rows_});
    release();
}

void ColumnStorage::add_column(std::uint32_t element_bytes, const OpaqueOperations* opaque) {
    columns_.push_back({nullptr, element_bytes, 0, opaque});
    row_bytes_ += element_bytes;
    most_element_bytes_ = std::max<std::size_t>(most_element_bytes_, element_bytes);
    shape_ = hash_bytes(&element_bytes, sizeof element_bytes, shape_);
}

// --- elements ----------------------------------------------------------------------------------------------------

void ColumnStorage::move_row(std::uint32_t from, std::uint32_t to) {
    copy_elements_of_row(from, to);
    for (auto c = static_cast<std::uint32_t>(schema_->num_columns()); c < columns_.size(); ++c)
        copy_element(element(c, to), element(c, from), columns_[c].element_bytes);
    if (schema_->has_opaque()) move_opaque(from, to);
}

void ColumnStorage::move_opaque(std::uint32_t from, std::uint32_t to) {
    for (std::uint32_t c = 0; c < columns_.size(); ++c) {
        if (columns_[c].opaque == nullptr) continue;
        columns_[c].opaque->move_construct(element(c, to), element(c, from));
        columns_[c].opaque->destroy(element(c, from));
    }
}

void ColumnStorage::copy_rows(RowList from, RowList to) {
    for (const PhysicalColumn& column : columns_)
        copy_elements(column.data, to, {column.data, column.element_bytes}, from, column.element_bytes);
}

void ColumnStorage::swap_rows(std::uint32_t a, std::uint32_t b) {
    rows_changed();
    for (const PhysicalColumn& column : columns_) {
        const std::size_t bytes = column.element_bytes;
        if (column.opaque == nullptr) swap_elements(column.data + a * bytes, column.data + b * bytes, bytes);
    }
    if (!schema_->has_opaque()) return;
    OpaqueRow spare(*this, a);
    move_opaque(b, a);
    spare.put(b);
}

void ColumnStorage::permute(RowRange rows, std::span<const std::uint32_t> from, std::byte* copy) {
    rows_changed();
    for (const PhysicalColumn& column : columns_) {
        const std::size_t bytes = column.element_bytes;
        copy_elements(copy, RowRange{0, rows.size()}, {column.data, bytes}, from, bytes);
        copy_elements(column.data, rows, {copy, bytes}, RowRange{0, rows.size()}, bytes);
    }
}

void ColumnStorage::construct_opaque(RowRange rows) {
    for (std::uint32_t c = 0; schema_->has_opaque() && c < columns_.size(); ++c)
        for (std::uint32_t row = rows.begin; columns_[c].opaque != nullptr && row < rows.end; ++row)
            columns_[c].opaque->construct(element(c, row));
}

void ColumnStorage::destroy_opaque(RowRange rows) {
    for (std::uint32_t c = 0; schema_->has_opaque() && c < columns_.size(); ++c)
        for (std::uint32_t row = rows.begin; columns_[c].opaque != nullptr && row < rows.end; ++row)
            columns_[c].opaque->destroy(element(c, row));
}

// --- opaque elements apart from their row ------------------------------------------------------------------------

ColumnStorage::OpaqueRow::OpaqueRow(ColumnStorage& storage, std::uint32_t row) : storage_(storage) {
    std::size_t bytes = 0;
    for (const PhysicalColumn& column : storage.columns_)
        if (column.opaque != nullptr) bytes += round_up(column.element_bytes, kCacheLineBytes);
    memory_ = local_;
    if (bytes > sizeof local_) {
        allocated_bytes_ = bytes + kCacheLineBytes;
        allocated_ = static_cast<std::byte*>(allocate_memory(allocated_bytes_, "table"));
        memory_ = allocated_ + kCacheLineBytes - reinterpret_cast<std::uintptr_t>(allocated_) % kCacheLineBytes;
    }
    for_each([&](const OpaqueOperations& operations, std::byte* element, std::uint32_t column) {
        operations.move_construct(element, storage.element(column, row));
        operations.destroy(storage.element(column, row));
    });
}

ColumnStorage::OpaqueRow::~OpaqueRow() {
    for_each(
        [](const OpaqueOperations& operations, std::byte* element, std::uint32_t) { operations.destroy(element); });
    if (allocated_ != nullptr) release_memory(allocated_, allocated_bytes_, "table");
}

void ColumnStorage::OpaqueRow::put(std::uint32_t row) {
    for_each([&](const OpaqueOperations& operations, std::byte* element, std::uint32_t column) {
        operations.move_construct(storage_.element(column, row), element);
    });
}

template <class Visit>
void ColumnStorage::OpaqueRow::for_each(Visit&& visit) {
    std::byte* element = memory_;
    for (std::uint32_t c = 0; c < storage_.columns_.size(); ++c) {
        const PhysicalColumn& column = storage_.columns_[c];
        if (column.opaque == nullptr) continue;
        visit(*column.opaque, element, c);
        element += round_up(column.element_bytes, kCacheLineBytes);
    }
}

// --- memory ------------------------------------------------------------------------------------------------------

void ColumnStorage::place_in_block(std::byte* block, std::uint32_t rows) {
    for (PhysicalColumn& column : columns_) {
        column.data = block;
        column.large_bytes = 0;
        block += column_bytes(rows, column.element_bytes);
    }
    capacity_ = rows;
    note_addresses();
}

void ColumnStorage::place_in_range(std::byte* range, std::uint32_t rows) {
    std::size_t offset = 0;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
        const Frame frame(offset, rows, columns_[c].element_bytes);
        columns_[c].data = range + frame.begin + stagger(c);
        columns_[c].large_bytes = 0;
        offset = frame.end;
    }
    capacity_ = rows;
    note_addresses();
}

void ColumnStorage::note_addresses() {
    renew_placement();
    owners_ = reinterpret_cast<Entity*>(columns_[schema_->num_columns()].data);
    std::size_t i = 0;
    for (const ColumnsBySize::Column& column : by_size_) addresses_[i++] = columns_[column.from].data;
}

Status ColumnStorage::reserve(std::uint32_t count) {
    if (has_room_for(count)) return {};
    if (count > max_rows_ - num_rows_)
        return Status::error(concat("the table of \"", schema_->name(), "\" holds ", num_rows_, " rows and at most ",
                                    max_rows_, "; ", count, " more do not fit"));
    const std::uint32_t rows = num_rows_ + count;
    if (rows > capacity_)
        if (Status status = grow(rows); !status) return status;
    make_ready(rows);
    return {};
}

/// Moves the rows to memory that has room for `rows` rows. Errors: out of memory. On error, nothing has changed.
Status ColumnStorage::grow(std::uint32_t rows) {
    const std::size_t bytes = block_bytes(columns_, rows);
    const bool at_once = num_rows_ == 0 && range_.data == nullptr && bytes >= kLeastSharedBytes;
    if (at_once && move_to_shared(rows + std::min(rows / 64, max_rows_ - rows))) return {};
    // A table that grows gets room to spare, but wastes less than half a page per column.
    const std::size_t spare = num_rows_ == 0 ? 0 : std::min(bytes, columns_.size() * kPageBytes / 2);
    if (bytes <= kPromotionBytes && range_.data == nullptr) return move_to_block(rows, spare);
    return move_to_range(rows);
}

/// Moves the rows of a small table to a block for `rows` rows plus as many more as fit into `spare_bytes`.
Status ColumnStorage::move_to_block(std::uint32_t rows, std::size_t spare_bytes) {
    const std::size_t wanted = round_up_to_odd_granules(block_bytes(columns_, rows) + spare_bytes);
    const std::size_t bytes =
        std::min(wanted, block_bytes(columns_, rows) <= kPageBytes ? kPageBytes : kPromotionBytes);
    std::uint32_t room = rows;
    for (std::uint32_t step = 1u << 16; step > 0; step /= 2)
        if (room + step <= max_rows_ && block_bytes(columns_, room + step) <= bytes) room += step;
    Result<std::byte*> block = pool_->allocate_block(bytes);
    if (!block) return block.status();
    take_block(*block, bytes, room);
    return {};
}

/// Moves the rows to a block for `rows` rows in large pages that tables share. Returns false if no block is available.
bool ColumnStorage::move_to_shared(std::uint32_t rows) {
    const std::size_t bytes = round_up(block_bytes(columns_, rows), PagePool::kGranuleBytes);
    if (bytes <= kPromotionBytes || bytes > PagePool::kMaxSharedBytes) return false;
    Result<std::byte*> block = pool_->allocate_shared(bytes);
    if (block) take_block(*block, bytes, rows);
    return block.ok();
}

void ColumnStorage::take_block(std::byte* block, std::size_t bytes, std::uint32_t rows) {
    const Array<PhysicalColumn> from = columns_;
    place_in_block(block, rows);
    move_contents(from);
    free_block();
    block_ = block;
    slab_bytes_ = bytes;
    make_ready(num_rows_);
}

void ColumnStorage::free_block() {
    if (slab_bytes_ > kPromotionBytes)
        pool_->free_shared(block_, slab_bytes_);
    else if (slab_bytes_ != 0)
        pool_->free_block(block_, slab_bytes_);
    block_ = nullptr;
    slab_bytes_ = 0;
}

/// Moves the rows to their own range. If address space is short, halves the reservation repeatedly, down to what is
/// needed.
Status ColumnStorage::move_to_range(std::uint32_t rows) {
    std::size_t touched_hint = 0;
    std::uint32_t room = max_rows_, spare = std::min(rows / 2, max_rows_ - rows);
    Result<PageRange> range = pool_->take_range(range_bytes(columns_, room), shape_ + room, &touched_hint);
    while (!range && room / 2 >= rows + spare) {
        room /= 2;
        range = pool_->take_range(range_bytes(columns_, room), shape_ + room, &touched_hint);
    }
    // If address space is limited, this may be more than a table's share. With room to spare, a table seldom moves.
    for (bool is_last = false; !range && !is_last; spare /= 2) {
        is_last = spare == 0;
        room = rows + spare;
        range = reserve_pages(range_bytes(columns_, room), kLargePageBytes);
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

void ColumnStorage::move_contents(const Array<PhysicalColumn>& from) {
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
void ColumnStorage::make_ready(std::uint32_t rows) {
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
}

void ColumnStorage::release() {
    free_block();
    const std::uint32_t touched = std::max(touched_rows_, num_rows_);
    if (range_.data != nullptr) {
        // The range's next owner knows only about the `touched` pages. Large pages beyond these were made ready but
        // never used, and must be discarded.
        if (has_large_pages_beyond(columns_, touched)) discard_beyond(touched);
        pool_->give_range(range_, shape_ + capacity_, committed_bytes(touched), touched);
    }
    range_ = {};
    for (PhysicalColumn& column : columns_) column.data = nullptr, column.large_bytes = 0;
    capacity_ = ready_rows_ = touched_rows_ = 0;
    note_addresses();
}

/// The number of bytes in the range that are backed by memory after `rows` rows have been written.
std::size_t ColumnStorage::committed_bytes(std::uint32_t rows) const {
    std::size_t bytes = 0;
    for (std::size_t c = 0; rows > 0 && c < columns_.size(); ++c) {
        const std::size_t end = stagger(c) + std::size_t(rows) * columns_[c].element_bytes;
        const std::size_t begin = columns_[c].large_bytes > 0 ? 0 : stagger(c) / kPageBytes * kPageBytes;
        const std::size_t page = end <= columns_[c].large_bytes ? kLargePageBytes : kPageBytes;
        bytes += round_up(end, page) - begin;
    }
    return bytes;
}

MemoryUse ColumnStorage::memory_use() const {
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

/// Whether the committed memory exceeds what the rows need by more than 5 % and a page per column.
bool ColumnStorage::is_wasteful() const {
    if (num_rows_ == 0) return capacity_ > 0;
    if (slab_bytes_ == 0 && range_.data == nullptr) return false;  // the rows are in foreign memory
    const std::size_t used = num_rows_ * row_bytes_;
    if (slab_bytes_ != 0) {
        const std::size_t spare = slab_bytes_ - used;
        if (spare > used + columns_.size() * PagePool::kGranuleBytes) return true;
        if (spare <= columns_.size() * kPageBytes)
            return false;  // true for most tables, so the rest need not be computed
    }
    std::size_t allowed = 0;
    for (const PhysicalColumn& column : columns_) {
        const std::size_t bytes = std::size_t(num_rows_) * column.element_bytes;
        allowed += bytes + bytes / 20 + (bytes > kLargeColumnBytes ? kLargePageBytes : kPageBytes);
    }
    if (slab_bytes_ != 0) return slab_bytes_ > allowed;
    return committed_bytes(std::max(touched_rows_, num_rows_)) > allowed;
}

bool ColumnStorage::settle() {
    num_wasteful_calls_ = is_wasteful() ? num_wasteful_calls_ + 1 : 0;
    if (num_wasteful_calls_ < kPatience) return false;
    shrink();
    return true;
}

void ColumnStorage::shrink() {
    num_wasteful_calls_ = 0;
    if (num_rows_ == 0) {
        release();
        return;
    }
    if (range_.data != nullptr) {
        discard_beyond(num_rows_);
    } else if (slab_bytes_ != 0) {
        const std::size_t bytes = round_up_to_odd_granules(block_bytes(columns_, num_rows_));
        // If no smaller block is available, the table keeps its block.
        if (bytes < slab_bytes_ && !move_to_shared(num_rows_) && bytes <= kPromotionBytes)
            static_cast<void>(move_to_block(num_rows_, 0).ok());
    }
}

void ColumnStorage::discard_beyond(std::uint32_t rows) {
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
        // The first large page begins before the column.
        if (large == 0 && column.large_bytes != 0) discard_pages(frame, stagger(c) / kPageBytes * kPageBytes);
        column.large_bytes = large;
    }
    touched_rows_ = rows;
    ready_rows_ = rows;
}

// --- rows in foreign memory --------------------------------------------------------------------------------------

void ColumnStorage::show(std::uint32_t num_rows, Entity* owners, std::span<std::byte* const> columns,
                         std::span<std::uint32_t* const> links) {
    SHOAL_ASSERT(slab_bytes_ == 0 && range_.data == nullptr && !schema_->has_opaque(),
                 "a table that has rows of its own shows no others");
    const std::size_t first_link = schema_->num_columns() + 1;
    SHOAL_ASSERT(columns.size() + 1 == first_link && first_link + links.size() == columns_.size(),
                 "the rows have other columns than the table");
    for (std::size_t c = 0; c < columns.size(); ++c) columns_[c].data = columns[c];
    columns_[columns.size()].data = reinterpret_cast<std::byte*>(owners);
    for (std::size_t i = 0; i < links.size(); ++i)
        columns_[first_link + i].data = reinterpret_cast<std::byte*>(links[i]);
    num_rows_ = ready_rows_ = capacity_ = touched_rows_ = num_rows;
    rows_changed();
    note_addresses();
}

// --- health ------------------------------------------------------------------------------------------------------

Status ColumnStorage::validate() const {
    const auto broken = [&](std::string_view what) {
        return Status::error(concat("table of \"", schema_->name(), "\": ", what));
    };
    if (num_rows_ > ready_rows_ || ready_rows_ > capacity_ || capacity_ > max_rows_)
        return broken(concat("rows ", num_rows_, ", ready ", ready_rows_, ", room ", capacity_, " are not in order"));
    const std::byte* begin = slab_bytes_ != 0 ? block_ : range_.data;
    if (begin == nullptr) return {};  // foreign memory is not checked
    const std::byte* end = begin + (slab_bytes_ != 0 ? slab_bytes_ : range_.num_bytes);
    const std::byte* previous_end = begin;
    for (std::uint32_t c = 0; capacity_ > 0 && c < columns_.size(); ++c) {
        const PhysicalColumn& column = columns_[c];
        if (reinterpret_cast<std::uintptr_t>(column.data) % kCacheLineBytes != 0)
            return broken(concat("column ", c, " is not 64-byte aligned"));
        if (column.data < previous_end) return broken(concat("column ", c, " overlaps the one before"));
        previous_end = column.data + column_bytes(capacity_, column.element_bytes);
        if (previous_end > end) return broken(concat("column ", c, " runs past the storage"));
    }
    return {};
}

}  // namespace shoal
