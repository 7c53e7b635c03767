#pragma once
// The memory of a table's rows: the columns of its schema, the owner of each row, and link columns.
//
//     rows in use   num_rows() <= rows that may be written without a call <= rows that the memory has room for
//
// A small table uses a block in a slab that several tables share. At 64 KiB of rows it is promoted to its own range of
// address space; from then on, columns grow in place. An empty table that reserves 256 KiB to 16 MiB of rows in one
// call gets a block in 2 MiB pages, and is promoted when it outgrows that block. The size of a column's memory is a
// multiple of 64 bytes, so a vector loop may run past the last row to the next multiple.
// Here, a row is only its elements; callers that move rows update the index, links and stamps.
// Thread: as for the table.

#include "shoal/base/detail/page_memory.h"
#include "shoal/table/detail/copy_elements.h"
#include "shoal/table/detail/row_versions.h"
#include "shoal/table/detail/schema.h"

#include <span>

namespace shoal {

/// The address of a column.
struct PhysicalColumn {
    std::byte* data = nullptr;
    std::uint32_t element_bytes = 0;
    std::size_t large_bytes = 0;  ///< how many bytes of its frame are requested in 2 MiB pages
    const OpaqueOperations* opaque = nullptr;
};

class ColumnStorage {
public:
    /// Allocates nothing until rows are reserved. Requires: `schema` and `pool` outlive the storage.
    SHOAL_API ColumnStorage(const Schema& schema, PagePool& pool, std::uint32_t max_rows, std::uint32_t num_links);
    SHOAL_API ~ColumnStorage();
    ColumnStorage(const ColumnStorage&) = delete;
    ColumnStorage& operator=(const ColumnStorage&) = delete;

    const Schema& schema() const { return *schema_; }
    std::uint32_t num_rows() const { return num_rows_; }
    std::uint32_t max_rows() const { return max_rows_; }
    bool has_room() const { return num_rows_ < ready_rows_; }
    bool has_room_for(std::size_t count) const { return count <= ready_rows_ - num_rows_; }
    /// The number of rows for which stamps must have room.
    std::uint32_t ready_rows() const { return ready_rows_; }

    std::byte* column(std::uint32_t column) const { return columns_[column].data; }
    const PhysicalColumn& physical_column(std::uint32_t column) const { return columns_[column]; }
    SHOAL_INLINE std::byte* element(std::uint32_t column, std::uint32_t row) const {
        return columns_[column].data + std::size_t(row) * columns_[column].element_bytes;
    }
    Entity* owners() const { return owners_; }
    /// Whether `address` is in the columns' memory.
    bool contains(const void* address) const {
        const std::byte* const begin = slab_bytes_ != 0 ? block_ : range_.data;
        const std::size_t num_bytes = slab_bytes_ != 0 ? slab_bytes_ : range_.num_bytes;
        return reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(begin) < num_bytes;
    }
    std::uint32_t* links(std::uint32_t link) const {
        return reinterpret_cast<std::uint32_t*>(columns_[schema_->num_columns() + 1 + link].data);
    }
    /// Increases when columns move in memory. Never 0.
    std::uint64_t placement() const { return placement_; }
    /// Invalidates addresses that other code keeps, although the columns have not moved.
    void renew_placement() { ++placement_, versions_.views_changed(); }
    const detail::RowVersions& row_versions() const { return versions_; }
    void rows_changed() { versions_.rows_changed(); }  ///< must be called when a row loses its owner

    SHOAL_INLINE void prefetch(std::uint32_t row) const {
        if (row >= num_rows_) return;
        for (const PhysicalColumn& column : columns_)
            __builtin_prefetch(column.data + std::size_t(row) * column.element_bytes);
    }

    // --- the number of rows --------------------------------------------------------------------------------------

    /// Makes room for `count` more rows. Errors: not enough capacity or memory. On error, nothing has changed.
    SHOAL_API Status reserve(std::uint32_t count);
    /// Adds rows of arbitrary bytes and returns the first new row. Requires: has_room_for(count).
    SHOAL_INLINE std::uint32_t extend(std::uint32_t count) {
        const std::uint32_t first = num_rows_;
        num_rows_ += count;
        return first;
    }
    /// Shows rows in foreign memory instead of the previously shown rows. Requires: this storage has never held its own
    /// rows, and no column is opaque.
    SHOAL_API void show(std::uint32_t num_rows, Entity* owners, std::span<std::byte* const> columns,
                        std::span<std::uint32_t* const> links);
    /// Drops all rows after the first `num_rows`. Requires: their opaque elements have been destroyed.
    SHOAL_INLINE void cut(std::uint32_t num_rows) {
        if (touched_rows_ < num_rows_) touched_rows_ = num_rows_;
        if (num_rows != num_rows_) rows_changed();
        num_rows_ = num_rows;
    }

    // --- elements ------------------------------------------------------------------------------------------------

    /// Copies the elements of a row, except opaque elements.
    SHOAL_INLINE void copy_elements_of_row(std::uint32_t from, std::uint32_t to) const {
        by_size_.for_each(addresses_.data(), ends_,
                          [&]<std::size_t kBytes>(std::byte* data, std::size_t bytes)
                              SHOAL_INLINED { copy_element<kBytes>(data + to * bytes, data + from * bytes, bytes); });
    }
    /// Moves a row, including its owner and links, to a free row.
    SHOAL_API void move_row(std::uint32_t from, std::uint32_t to);
    /// Copies rows, including their owners and links. Requires: no column is opaque; no row is both read and written,
    /// unless the rows of both lists are consecutive.
    SHOAL_API void copy_rows(RowList from, RowList to);
    /// Swaps two rows, including their owners and links.
    SHOAL_API void swap_rows(std::uint32_t a, std::uint32_t b);
    /// Moves row from[i] to row rows.begin + i, including its owner and links. Shape: `copy` has room for rows.size()
    /// elements of any column. Requires: no column is opaque, and `from` lists each row in `rows` once.
    SHOAL_API void permute(RowRange rows, std::span<const std::uint32_t> from, std::byte* copy);
    std::size_t most_element_bytes() const { return most_element_bytes_; }

    class OpaqueRow;
    /// Construct and destroy the opaque elements of rows.
    SHOAL_API void construct_opaque(RowRange rows);
    SHOAL_API void destroy_opaque(RowRange rows);

    // --- memory and health ---------------------------------------------------------------------------------------

    /// Must be called once per frame. Frees pages that have been unused for several calls, and returns whether it freed
    /// any.
    SHOAL_API bool settle();
    /// Immediately frees all memory that is not needed.
    SHOAL_API void shrink();
    SHOAL_API MemoryUse memory_use() const;
    /// How often the rows were copied to their own range, or to a larger range after a reservation was reduced.
    std::uint32_t num_promotions() const { return num_promotions_; }
    bool in_slab() const { return slab_bytes_ != 0; }
    /// Checks that the columns are inside their memory, are aligned, and do not overlap.
    SHOAL_API Status validate() const;

private:
    void add_column(std::uint32_t element_bytes, const OpaqueOperations* opaque);
    void place_in_block(std::byte* block, std::uint32_t rows);
    void place_in_range(std::byte* range, std::uint32_t rows);
    void note_addresses();
    Status grow(std::uint32_t rows);
    Status move_to_block(std::uint32_t rows, std::size_t spare_bytes);
    bool move_to_shared(std::uint32_t rows);
    void take_block(std::byte* block, std::size_t bytes, std::uint32_t rows);
    void free_block();
    Status move_to_range(std::uint32_t rows);
    void move_contents(const Array<PhysicalColumn>& from);
    void make_ready(std::uint32_t rows);
    void release();
    void discard_beyond(std::uint32_t rows);
    std::size_t committed_bytes(std::uint32_t rows) const;
    bool is_wasteful() const;
    void move_opaque(std::uint32_t from, std::uint32_t to);

    std::uint32_t num_rows_ = 0;      // members used by loops and single-row calls are first
    std::uint32_t ready_rows_ = 0;    // rows that may be written without requesting memory
    std::uint32_t touched_rows_ = 0;  // at least this many rows of the range have committed pages
    std::uint32_t capacity_ = 0;      // rows that the memory has room for
    Entity* owners_ = nullptr;
    std::uint64_t placement_ = 1;
    Array<PhysicalColumn> columns_{Owner("table")};  // the schema's columns, owners, links
    Array<std::byte*> addresses_{Owner("table")};    // addresses of the columns in by_size_
    ColumnsBySize by_size_{"table"};                 // the schema columns that are not opaque
    ColumnsBySize::Ends<std::byte*> ends_;           // pointers into addresses_
    const Schema* schema_;
    PagePool* pool_;
    PageRange range_;
    std::byte* block_ = nullptr;
    std::size_t slab_bytes_ = 0;  // size of block_; 0: the rows are in range_
    std::uint64_t shape_ = 0;
    std::size_t most_element_bytes_ = 0;
    std::uint32_t max_rows_, num_promotions_ = 0, num_wasteful_calls_ = 0;
    std::size_t row_bytes_ = 0;  // bytes per row in all columns
    [[no_unique_address]] detail::RowVersions versions_;
};

/// The opaque elements that were taken out of one row. The elements are destroyed with this object, so that their
/// destructors find a consistent table.
class ColumnStorage::OpaqueRow {
public:
    SHOAL_API OpaqueRow(ColumnStorage& storage, std::uint32_t row);
    SHOAL_API ~OpaqueRow();
    OpaqueRow(const OpaqueRow&) = delete;
    OpaqueRow& operator=(const OpaqueRow&) = delete;

    /// Moves the elements to a row whose opaque elements are not constructed.
    SHOAL_API void put(std::uint32_t row);

private:
    template <class Visit>
    void for_each(Visit&& visit);

    ColumnStorage& storage_;
    std::byte* memory_;  // local_, or inside allocated_
    std::byte* allocated_ = nullptr;
    std::size_t allocated_bytes_ = 0;
    alignas(kCacheLineBytes) std::byte local_[256];
};

}  // namespace shoal
