#pragma once
// A table is how data lies in memory: packed columns, row i of every column belonging to one component.
//
//     row            0    1    2   ...  num_rows-1 | capacity
//     entity         e0   e1   e2                  |           the owner of each row
//     column 0 ...   ..   ..   ..                  |           one per Schema::columns(), 64-byte aligned
//     links          ..   ..   ..                  |           chain {next}, tree {parent, first child, next, previous}
//
// A small table lies in a block of a slab that others share. At 64 KiB of rows it is promoted to a range of address
// space of its own; from then on growing copies nothing and moves no address. An empty table that is to hold 256 KiB
// to 16 MiB of rows at once takes a block in 2 MiB pages, and is promoted when it outgrows that. A column's room is a
// multiple of 64 bytes: a vector loop may run past the last row up to there.
// Rows are packed: removing one moves the last row into its place. The attached row index and the link columns are
// kept right by every move. Nothing hands out mutable memory without a mark: per column and block of 1,024 rows the
// table keeps the stamp of the last write.
// Thread: structural calls from one thread at a time; between them columns may be read from any thread, and written
// by several threads as long as no two write one cache line.

#include "shoal/base/page_memory.h"
#include "shoal/table/packed_rows.h"
#include "shoal/table/schema.h"
#include "shoal/table/structural_change.h"
#include "shoal/table/table_parts.h"

namespace shoal {

class Table {
public:
    /// Holds nothing until rows are added. `schema` and `pool` outlive the table.
    SHOAL_API Table(const Schema& schema, PagePool& pool, const TableOptions& options = {});
    SHOAL_API ~Table();
    Table(const Table&) = delete;
    Table& operator=(const Table&) = delete;

    const Schema& schema() const { return *schema_; }
    std::uint32_t num_rows() const { return num_rows_; }
    std::uint32_t capacity_rows() const { return options_.capacity_rows; }

    // --- columns -------------------------------------------------------------------------------------------------

    /// Lifetime of all columns: until rows are added (while the table is small), removed or moved.
    std::span<const Entity> entities() const { return {entities_, num_rows_}; }
    /// Shape: num_rows() elements of schema().columns()[column].element_bytes.
    const std::byte* column(std::uint32_t column) const { return columns_[column].data; }
    /// Marks the rows (all of them) of a column as written and returns its first element.
    std::byte* write_column(std::uint32_t column) { return write_column(column, {0, num_rows_}); }
    SHOAL_API std::byte* write_column(std::uint32_t column, RowRange rows);
    /// Marks one row as written and returns its element.
    std::byte* write_element(std::uint32_t column, std::uint32_t row) {
        const std::size_t place = std::size_t(column) * num_stamp_blocks_ + row / kRowsPerStampBlock;
        SHOAL_ASSERT(row < num_rows_ && place < stamps_.size(), "the column or the row does not exist");
        if constexpr (SHOAL_CHECKED != 0) ask_write_guard(*this, column);
        stamps_[place] = stamp_;
        return columns_[column].data + std::size_t(row) * columns_[column].element_bytes;
    }
    /// Marks rows as written that a pass wrote through columns handed out without a mark.
    SHOAL_API void mark_written(std::uint32_t column, RowRange rows);
    SHOAL_API void stamp_rows(RowRange rows);  ///< marks all columns of some rows as written
    void stamp_row(std::uint32_t row) { row_stamps_[row / kRowsPerStampBlock] = stamp_; }
    /// The columns for a pass that marks them itself when it has ended. See mark_written.
    std::byte* unmarked_column(std::uint32_t column) { return columns_[column].data; }
    /// Grows when columns come to lie elsewhere or is_plain() changes; while it stays, addresses may be kept. Not 0.
    std::uint64_t placement() const { return placement_; }

    /// Fetches a row's elements into the cache; kNilRow is ignored.
    SHOAL_INLINE void prefetch(std::uint32_t row) const {
        if (row >= num_rows_) return;
        for (const PhysicalColumn& column : columns_)
            __builtin_prefetch(column.data + std::size_t(row) * column.element_bytes);
    }

    // --- structural calls ----------------------------------------------------------------------------------------

    /// Makes room for `count` more rows. Errors: capacity or memory is short; nothing has changed.
    SHOAL_API Status reserve(std::uint32_t count);
    /// Appends rows owned by `owners` and returns the first. Elements hold arbitrary bytes (opaque ones are made by
    /// default) until the caller fills them; the index is not told. Requires: reserved.
    SHOAL_API std::uint32_t append(std::span<const Entity> owners);
    /// Appends one row; as above, but requires room only if has_room() is false.
    std::uint32_t append_one(Entity owner) {
        SHOAL_ASSERT(has_room(), "a row was appended that was not reserved");
        const std::uint32_t row = num_rows_++;
        entities_[row] = owner;
        if (SHOAL_UNLIKELY(plain_ == false)) finish_append({row, row + 1});
        row_stamps_[row / kRowsPerStampBlock] = stamp_;
        return row;
    }
    bool has_room() const { return num_rows_ < ready_rows_; }
    /// Appends rows whose owners the caller writes to the span that it gets, at once. Requires: reserved.
    SHOAL_API std::span<Entity> append_unowned(std::uint32_t count);

    /// With an identity index, where rows can be holes: gives a hole an owner, and makes a hole of a row (trailing
    /// holes are removed). A hole's owner is null; its fields keep harmless values.
    SHOAL_API void occupy(std::uint32_t row, Entity owner);
    SHOAL_API void vacate(std::uint32_t row);

    /// Removes a row; the last row moves into its place. Links to it end: children become roots, the chain closes.
    SHOAL_API void remove(std::uint32_t row);
    /// Removes rows, none named twice; the last rows that stay move into their places. An index is told of moved rows
    /// only: the entries of the removed owners are the caller's. Requires: is_plain(), paged index or none.
    SHOAL_API void remove_rows(std::span<const std::uint32_t> rows);
    SHOAL_API void remove_range(RowRange rows);
    /// Whether rows are bytes and nothing more: no opaque columns, no links, and nobody watches.
    bool is_plain() const { return plain_; }
    /// Removes the rows that these entities own, except of those alive in `spared`. Requires: is_plain(), paged index.
    SHOAL_API std::uint32_t remove_owned(std::span<const Entity> owners, const EntityManager* spared = nullptr);
    /// The same for one; copy_row(to, from) copies the elements of a row.
    template <class CopyRow>
    SHOAL_INLINE bool remove_owned(Entity owner, CopyRow&& copy_row) {
        PackedRows rows = packed_rows(index_->entries());
        const bool removed = rows.remove(owner, copy_row);
        return num_rows_ = rows.num_rows, removed;
    }
    /// The same for a row whose elements were filled with the last one's, and whose index entry is the caller's.
    SHOAL_INLINE void close_row(std::uint32_t row, std::span<EntityBits> entries) {
        SHOAL_ASSERT(row < num_rows_, "the row does not exist");
        PackedRows rows = packed_rows(entries);
        rows.close(row), num_rows_ = rows.num_rows;
    }
    /// Removes all rows of the dead and returns how many; the others keep their order. Requires: as above.
    SHOAL_API std::uint32_t remove_dead(const EntityManager& entities);
    /// Swaps two rows, links and index included.
    SHOAL_API void swap(std::uint32_t a, std::uint32_t b);
    /// Removes all rows and keeps memory. The index is cleared.
    SHOAL_API void clear();

    // --- filling rows (all take rows that exist) -----------------------------------------------------------------

    /// Gives every row of `rows` the component of one struct image. Requires: no opaque fields.
    SHOAL_API void fill(RowRange rows, const std::byte* image);
    /// Row rows.begin + i gets images[i]. Shape: `stride` bytes from image to image.
    SHOAL_API void scatter(RowRange rows, const std::byte* images, std::size_t stride);
    /// Writes the component of `row` to a struct image, opaque fields left out.
    SHOAL_API void gather_image(std::uint32_t row, std::byte* image) const;
    /// Copies whole columns into `rows`. Shape: one pointer for each of the first schema columns, rows.size() elements
    /// each.
    SHOAL_API void copy_columns(RowRange rows, std::span<const std::byte* const> columns);

    // --- index and links -----------------------------------------------------------------------------------------

    /// The index that moves keep right; at most one, which outlives the table. nullptr detaches.
    void attach_index(RowIndex* index) { index_ = index; }
    RowIndex* index() const { return index_; }

    /// Shape: num_rows() rows, kNilRow for none. Requires: the table has the group.
    std::span<const std::uint32_t> links(LinkColumn link) const { return {links_[static_cast<int>(link)], num_rows_}; }
    /// Makes the last appended row the head of its entity's chain, or its only member. Requires: chain and an index.
    SHOAL_API void push_chain(std::uint32_t row);
    /// Makes `child` the first child of `parent`, or a root with kNilRow. Requires: tree; parent is no descendant.
    SHOAL_API void link_tree(std::uint32_t child, std::uint32_t parent);
    /// Links childless roots: row first + i to first + parents[i], or to none (kNilRow). Requires: parents[i] < i.
    SHOAL_API void link_trees(std::uint32_t first, std::span<const std::uint32_t> parents);
    /// Row rows.begin + i becomes what row from[i] was. Requires: no chain, nothing opaque, no link out of `rows`.
    SHOAL_API void permute(RowRange rows, std::span<const std::uint32_t> from);

    // --- stamps and changes --------------------------------------------------------------------------------------

    /// Writes from now on carry `stamp`. Requires: no less than before.
    void set_stamp(std::uint64_t stamp) { stamp_ = stamp; }
    std::uint64_t stamp() const { return stamp_; }
    /// Returns the stamp of the last write to a block of 1,024 rows of a column, added and moved rows included.
    SHOAL_API std::uint64_t written_stamp(std::uint32_t column, std::uint32_t block) const;
    /// Keeps a list of structural changes while anyone watches. Counted.
    SHOAL_API void watch_changes(bool watch);
    std::span<const StructuralChange> changes() const { return changes_; }
    void clear_changes() { changes_.clear(); }

    // --- memory and health ---------------------------------------------------------------------------------------

    /// To be called once a frame: gives pages back that were not needed for several calls.
    SHOAL_API void settle_memory();
    /// Gives back all that is not needed, at once.
    SHOAL_API void shrink();
    SHOAL_API MemoryUse memory_use() const;
    /// Times that the rows were copied to a range of their own, or to a larger one after a reservation was cut down.
    std::uint32_t num_promotions() const { return num_promotions_; }
    bool in_slab() const { return slab_bytes_ != 0; }

    /// Checks everything that the table promises: places, alignment, index, links, stamps. Cost: O(rows).
    /// Errors: names what is broken and in which row.
    SHOAL_API Status validate() const;

private:
    void add_column(std::uint32_t element_bytes, const OpaqueOperations* opaque);
    void group_columns();
    void refresh_plain();
    void refresh_pointers();
    void place_in_block(std::byte* block, std::uint32_t rows);
    void place_in_range(std::byte* range, std::uint32_t rows);
    Status move_to_block(std::uint32_t rows, std::size_t spare_bytes);
    bool move_to_shared(std::uint32_t rows);
    void take_block(std::byte* block, std::size_t bytes, std::uint32_t rows);
    void free_block();
    Status move_to_range(std::uint32_t rows);
    void move_contents(const Array<PhysicalColumn>& from);
    void make_ready(std::uint32_t rows);
    void grow_stamps();
    void release_storage();
    void discard_beyond(std::uint32_t rows);
    std::size_t committed_bytes(std::uint32_t rows) const;
    bool is_wasteful() const;
    void finish_append(RowRange rows);
    PackedRows packed_rows(std::span<EntityBits> entries) {
        if (touched_rows_ < num_rows_) touched_rows_ = num_rows_;
        return {entries, entities_, row_stamps_.data(), stamp_, num_rows_};
    }
    void copy_row(std::uint32_t from, std::uint32_t to);
    void move_rows_down(RowRange rows, std::uint32_t to);
    void move_row(std::uint32_t from, std::uint32_t to);
    void swap_columns(std::uint32_t a, std::uint32_t b);
    std::uint32_t find_before(std::uint32_t row) const;
    void destroy_opaque(RowRange rows);
    void leave_chain(std::uint32_t row);
    void rename_in_chain(std::uint32_t row, std::uint32_t before, std::uint32_t as);
    void swap_chains(std::uint32_t a, std::uint32_t b);
    void swap_trees(std::uint32_t a, std::uint32_t b);
    void leave_tree(std::uint32_t row);
    void unlink_from_parent(std::uint32_t row);
    void relabel_tree(std::uint32_t row, std::uint32_t from, std::uint32_t to);
    struct Check;
    std::uint32_t& link(LinkColumn column, std::uint32_t row) { return links_[static_cast<int>(column)][row]; }

    std::uint32_t num_rows_ = 0;      // what loops and single rows need comes first, side by side
    std::uint32_t ready_rows_ = 0;    // may be written without asking for memory
    std::uint32_t touched_rows_ = 0;  // rows of the range whose pages are committed, at least
    bool plain_ = true;               // no opaque columns, no links, nobody watches
    Entity* entities_ = nullptr;
    std::uint64_t placement_ = 1;
    Array<PhysicalColumn> columns_{Owner("table")};  // schema columns, entity, links
    std::uint64_t stamp_ = 1;
    std::size_t num_stamp_blocks_ = 0;
    Array<std::uint64_t> stamps_{Owner("table")};      // [column][block of rows]
    Array<std::uint64_t> row_stamps_{Owner("table")};  // [block]: rows added or moved in
    RowIndex* index_ = nullptr;
    const Schema* schema_;
    PagePool* pool_;
    TableOptions options_;
    std::uint32_t capacity_ = 0;  // rows that the storage has room for
    std::uint32_t* links_[5] = {};
    Array<std::uint32_t> copy_order_{Owner("table")};  // columns by element size
    Array<CopyGroup> copy_groups_{Owner("table")};
    PageRange range_;
    std::byte* block_ = nullptr;
    std::size_t slab_bytes_ = 0;  // of block_; 0: the rows lie in range_
    std::uint64_t shape_ = 0;
    std::uint32_t num_promotions_ = 0, num_wasteful_calls_ = 0, num_watchers_ = 0;
    Array<StructuralChange> changes_{Owner("table")};
};

}  // namespace shoal
