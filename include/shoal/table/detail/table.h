#pragma once
// A table stores components in packed columns: row i of every column belongs to one component.
//
//     row            0    1    2   ...  num_rows-1 | capacity
//     entity         e0   e1   e2                  |           the owner of each row
//     column 0 ...   ..   ..   ..                  |           one per Schema::columns(), 64-byte aligned
//     links          ..   ..   ..                  |           chain {next, previous}, tree {parent, first child, ...}
//
// Rows are packed: when one is removed, the last row moves into its place. A table consists of parts: the storage of
// the columns, the links between rows, the stamps of the last writes, and the row index that is attached to it. When a
// table moves a row, it updates all of these parts. Code that writes to a column marks the rows that it has written.
// For each column and block of 1,024 rows, the table keeps the stamp of the last write. The destructor of an opaque
// value runs after its row has been removed, when the table is consistent, so it may remove other rows. The destructor
// of a moved-from value, and the assignment of a value, must not change tables.
// Thread: structural calls from one thread at a time; between them, any thread may read columns, and several threads
// may write them if no two of them write to the same cache line.

#include "shoal/table/detail/column_storage.h"
#include "shoal/table/detail/packed_rows.h"
#include "shoal/table/detail/row_links.h"

namespace shoal {

class EntityManager;
class SnapshotReader;
class SnapshotWriter;
class Table;
class TakePlan;
struct SnapshotMarks;
SHOAL_API void ask_write_guard(const Table& table, std::uint32_t column);
SHOAL_API void ask_read_guard(const Table& table, std::uint32_t column);

inline constexpr std::uint32_t kDefaultCapacityRows = 1u << (kIndexBits < 22 ? kIndexBits : 22);

struct TableOptions {
    std::uint32_t capacity_rows = kDefaultCapacityRows;  ///< the maximum number of rows
    bool chain = false;                                  ///< several rows per entity, linked from the row index
    bool tree = false;                                   ///< rows link to parents, children and siblings
};

class Table {
public:
    /// Allocates nothing until rows are added. Requires: `schema` and `pool` outlive the table.
    SHOAL_API Table(const Schema& schema, PagePool& pool, const TableOptions& options = {});

    const Schema& schema() const { return storage_.schema(); }
    std::uint32_t num_rows() const { return storage_.num_rows(); }
    std::uint32_t capacity_rows() const { return storage_.max_rows(); }

    // --- columns -------------------------------------------------------------------------------------------------

    /// Lifetime of all columns: until rows are added (while the table is small), removed or moved.
    std::span<const Entity> entities() const { return {storage_.owners(), num_rows()}; }
    /// Shape: num_rows() elements of schema().column(column).element_bytes.
    const std::byte* column(std::uint32_t column) const { return storage_.column(column); }
    /// Marks the rows of a column (by default all) as written and returns the column's first element.
    std::byte* write_column(std::uint32_t column) { return write_column(column, {0, num_rows()}); }
    std::byte* write_column(std::uint32_t column, RowRange rows) {
        mark_written(column, rows);
        return storage_.column(column);
    }
    /// Marks one row of a column as written and returns its element.
    std::byte* write_element(std::uint32_t column, std::uint32_t row) {
        SHOAL_ASSERT(row < num_rows(), "the column or the row does not exist");
        if constexpr (SHOAL_CHECKED != 0) ask_write_guard(*this, column);
        stamps_.mark(column, row);
        return storage_.element(column, row);
    }
    /// Marks one row of a column as written. Requires: the column and the row exist.
    SHOAL_INLINE void mark_existing(std::uint32_t column, std::uint32_t row) {
        SHOAL_CHECK(row < num_rows() && column < schema().num_columns(), "the column or the row does not exist");
        if constexpr (SHOAL_CHECKED != 0) ask_write_guard(*this, column);
        stamps_.mark_existing(column, row);
    }
    /// Like mark_existing(), but returns the row's element.
    SHOAL_INLINE std::byte* write_existing(std::uint32_t column, std::uint32_t row) {
        mark_existing(column, row);
        return storage_.element(column, row);
    }
    /// Marks rows[i] as written if bit i of `chosen` is set. Other threads may mark rows of the column at the same
    /// time.
    SHOAL_API void mark_shared(std::uint32_t column, const std::uint32_t* rows, std::span<const std::uint64_t> chosen);
    /// Marks rows as written, for a pass that has written to an unmarked_column().
    SHOAL_API void mark_written(std::uint32_t column, RowRange rows);
    /// Like mark_written(), but only for several existing rows, the first of which is at the start of a block that
    /// contains them all. For other rows, returns false and marks nothing.
    SHOAL_INLINE bool mark_block(std::uint32_t column, RowRange rows) {
        return SHOAL_CHECKED == 0 && rows.end <= num_rows() && stamps_.mark_block(column, rows);
    }
    /// Marks all rows as written in several existing columns. If there are fewer than two rows or more than one block,
    /// returns false and marks nothing.
    SHOAL_INLINE bool mark_only_block(const std::uint16_t* columns_end, std::size_t num_columns) {
        return SHOAL_CHECKED == 0 && stamps_.mark_only_block(columns_end, num_columns, num_rows());
    }
    SHOAL_API void stamp_rows(RowRange rows);  ///< marks all columns of some rows as written
    void stamp_row(std::uint32_t row) { stamps_.mark_row(row); }
    /// For loops that stamp many rows: row_marks()[row / kRowsPerChangeMark] = mark_of_now(). Lifetime: until the next
    /// structural call.
    ChangeMark* row_marks() { return stamps_.row_marks(); }
    ChangeMark mark_of_now() const { return stamps_.mark_of_now(); }
    /// Returns a column without marking it, for a pass that calls mark_written() when it ends.
    std::byte* unmarked_column(std::uint32_t column) { return storage_.column(column); }
    /// A pointer to a column's address, which is updated when the column moves. The addresses of a component's columns
    /// are side by side.
    /// Lifetime: the table.
    const PhysicalColumn& physical_column(std::uint32_t column) const { return storage_.physical_column(column); }
    /// Whether `address` is in the columns' memory, so that any structural call may change what is there.
    bool contains(const void* address) const { return storage_.contains(address); }
    /// Increases when columns move in memory or is_plain() changes. While it stays the same, addresses are valid. Never
    /// 0.
    std::uint64_t placement() const { return storage_.placement(); }
    const detail::RowVersions& row_versions() const { return storage_.row_versions(); }

    /// Prefetches a row's elements; kNilRow is ignored.
    SHOAL_INLINE void prefetch(std::uint32_t row) const { storage_.prefetch(row); }

    // --- adding rows ---------------------------------------------------------------------------------------------

    /// Makes room for `count` more rows. Errors: not enough capacity or memory. On error, nothing has changed.
    SHOAL_API Status reserve(std::uint32_t count);
    bool has_room() const { return storage_.has_room(); }
    /// Appends rows owned by `owners` and returns the first new row. Elements hold arbitrary bytes (opaque ones are
    /// default-constructed) until the caller fills them; the index is not updated. Requires: room is reserved.
    SHOAL_API std::uint32_t append(std::span<const Entity> owners);
    /// Like append(), but for one row. Requires: has_room().
    std::uint32_t append_one(Entity owner) {
        SHOAL_ASSERT(has_room(), "a row was appended that was not reserved");
        const std::uint32_t row = storage_.extend(1);
        storage_.owners()[row] = owner;
        if (SHOAL_UNLIKELY(!is_plain_)) finish_append({row, row + 1});
        stamps_.mark_row(row);
        return row;
    }
    /// Appends rows and returns a span for their owners. The caller fills the span immediately. Requires: room is
    /// reserved.
    SHOAL_API std::span<Entity> append_unowned(std::uint32_t count);
    /// Moves rows of another table to the end of this one, updates the index, and returns the first new row. In columns
    /// that `from` lacks, the elements hold arbitrary bytes (opaque ones are default-constructed). Requires: room is
    /// reserved; `plan` fits the schemas; both tables share one paged index, or have no index; neither table has links;
    /// if there are several rows, both tables are plain.
    SHOAL_API std::uint32_t take(Table& from, RowList rows, const TakePlan& plan);
    /// Like take() above, but for one row.
    std::uint32_t take(Table& from, std::uint32_t row, const TakePlan& plan) {
        if (SHOAL_LIKELY(is_packed_ && from.is_packed_)) return take_packed(from, row, plan);
        return take(from, RowRange{row, row + 1}, plan);
    }
    /// For tables with an identity index: sets the owner of row owner.index(). Earlier rows without an owner are holes,
    /// whose owner is null and whose fields keep harmless values. The elements of the new row hold arbitrary bytes
    /// (opaque ones are default-constructed) until the caller fills them. Requires: room is reserved in the table and
    /// in the index; the row is a hole or is past the last row.
    SHOAL_API void occupy(Entity owner);
    std::uint32_t num_holes() const { return num_holes_; }

    /// Shows rows in the caller's memory instead of the previously shown rows. For stores that keep their rows
    /// themselves. The index, links and stamps are not updated; the caller maintains them.
    /// Shape: `owners` is indexed by row. `columns` has an address for each of Schema::columns(). Each address is
    /// aligned to 64 bytes, and its memory has room up to the next multiple of 64 bytes. `links` has the next and
    /// previous row of each row if the table has chains. Requires: this table has never had its own rows, and the
    /// memory stays valid until the next show().
    SHOAL_API void show(std::span<Entity> owners, std::span<std::byte* const> columns,
                        std::span<std::uint32_t* const> links);

    // --- removing and moving rows --------------------------------------------------------------------------------

    /// Whether rows are only bytes, without opaque columns and without links.
    bool is_plain() const { return is_plain_; }
    /// Whether rows are plain and found by a paged index.
    bool is_packed() const { return is_packed_; }

    /// Removes a row, its links and its index entry. The last row moves into its place. With an identity index, the row
    /// becomes a hole instead, and trailing holes are removed. The children of the removed row become roots, and its
    /// neighbours in the chain are linked to each other.
    SHOAL_INLINE void remove(std::uint32_t row) {
        if (SHOAL_UNLIKELY(!is_packed_)) return remove_unpacked(row);
        SHOAL_ASSERT(row < num_rows(), "the row does not exist");
        const Entity owner = storage_.owners()[row];
        EntityBits& entry = index_->entries()[owner.index()];
        if (entry == RowIndex::entry_of(owner, row)) entry = 0;
        storage_.copy_elements_of_row(num_rows() - 1, row);
        close_row(row);
    }
    /// Removes the rows that these entities own, and returns how many rows were removed. If `spared` is not null, keeps
    /// the rows of entities that are alive in it. Requires: the table has an index; `owners` is not in this table.
    SHOAL_API std::uint32_t remove_owned(std::span<const Entity> owners, const EntityManager* spared = nullptr);
    /// Like remove_owned() above, but for one owner. copy_row(to, from) must copy the elements of row `from` to row
    /// `to`. Requires: is_packed().
    template <class CopyRow>
    SHOAL_INLINE bool remove_owned(Entity owner, CopyRow&& copy_row) {
        PackedRows rows = packed_rows();
        if (!rows.remove(owner, copy_row)) return false;
        storage_.cut(rows.num_rows);
        return true;
    }
    /// Removes all rows of dead entities and returns how many rows were removed. If rows are packed, the remaining rows
    /// keep their order. Requires: the table has an index.
    SHOAL_API std::uint32_t remove_dead(const EntityManager& entities);
    /// Removes `rows`, which has no duplicates. The last remaining rows move into their places. The index is updated
    /// only for moved rows; the caller removes the entries of the removed owners. Requires: is_plain(); the index is
    /// paged, or there is none.
    SHOAL_API void remove_rows(RowList rows);
    /// Removes one row, which already holds the elements of the last row. Requires: is_packed().
    SHOAL_INLINE void close_row(std::uint32_t row) {
        SHOAL_ASSERT(row < num_rows(), "the row does not exist");
        PackedRows rows = packed_rows();
        rows.close(row);
        storage_.cut(rows.num_rows);
    }
    /// Removes all rows, but keeps the memory. Clears the index.
    SHOAL_API void clear();
    /// Swaps two rows, including their links and index entries.
    SHOAL_API void swap(std::uint32_t a, std::uint32_t b);
    /// Moves row from[i] to row rows.begin + i. Requires: the table has no chains, no column is opaque, and no link
    /// leads out of `rows`.
    SHOAL_API void permute(RowRange rows, std::span<const std::uint32_t> from);

    // --- filling existing rows -----------------------------------------------------------------------------------

    /// Copies one struct image to every row in `rows`. Requires: no field is opaque.
    void fill(RowRange rows, const std::byte* image) { scatter(rows, image, 0); }
    /// Copies images[i] to row rows.begin + i. Shape: images are `stride` bytes apart, or there is one image for all
    /// rows if `stride` is 0. Requires: no field is opaque.
    SHOAL_API void scatter(RowRange rows, const std::byte* images, std::size_t stride);
    /// Copies whole columns into `rows`. Shape: a pointer to rows.size() elements for each of the first schema columns.
    SHOAL_API void copy_columns(RowRange rows, std::span<const std::byte* const> columns);

    // --- index and links -----------------------------------------------------------------------------------------

    /// Attaches a row index, which the table then keeps up to date. With nullptr, detaches the index. Requires: the
    /// index outlives the table.
    SHOAL_API void attach_index(RowIndex* index);
    RowIndex* index() const { return index_; }

    /// Whether several rows may belong to an entity, and whether rows have parents.
    bool has_chain() const { return links_.has_chain(); }
    bool has_tree() const { return links_.has_tree(); }
    /// Returns the link of each row, or kNilRow where there is none. Shape: num_rows(). Requires: the table has this
    /// group of links.
    std::span<const std::uint32_t> links(LinkColumn link) const { return {links_.column(link), num_rows()}; }
    /// Makes the last appended row the head of its entity's chain, or its only member. Requires: the table has chains
    /// and an index.
    SHOAL_API void push_chain(std::uint32_t row);
    /// Makes `child` the first child of `parent`, or a root if `parent` is kNilRow. Requires: the table has trees;
    /// `parent` does not descend from `child`.
    SHOAL_API void link_tree(std::uint32_t child, std::uint32_t parent);
    /// Gives parents to childless roots: row first + i gets the parent first + parents[i], or none if parents[i] is
    /// kNilRow. Requires: parents[i] < i or kNilRow.
    SHOAL_API void link_trees(std::uint32_t first, std::span<const std::uint32_t> parents);

    // --- stamps --------------------------------------------------------------------------------------

    /// Sets the stamp that writes get from now on. Requires: the stamp never decreases.
    void set_stamp(std::uint64_t stamp) { stamps_.set_now(stamp); }
    std::uint64_t stamp() const { return stamps_.now(); }
    /// Returns the stamp of the last write to a block of 1,024 rows in a column. Adding and moving rows counts as a
    /// write.
    std::uint64_t written_stamp(std::uint32_t column, std::uint32_t block) const {
        return stamps_.written(column, block);
    }
    /// Returns the stamp at which rows were last added to a block or moved into it. Removing rows at the end does not
    /// change this stamp.
    std::uint64_t placed_stamp(std::uint32_t block) const { return stamps_.placed(block); }
    /// Returns the rows of a column's snapshot block that were written, added or moved at `since` or later.
    /// placed_since() returns only the rows that were added or moved. Marks are kept for about 128 stamps; for earlier
    /// writes, all rows of a block of 1,024 rows are returned.
    SnapshotMarks written_since(std::uint32_t column, std::uint32_t snapshot_block, std::uint64_t since) const;
    SHOAL_API SnapshotMarks placed_since(std::uint32_t snapshot_block, std::uint64_t since) const;

    // --- saving --------------------------------------------------------------------------------------------------

    /// Writes all rows: owners, columns (named after their fields), links and stamps. Refuses opaque fields. If the
    /// writer checks values, also refuses values that load() would not accept.
    SHOAL_API void save(SnapshotWriter& to) const;
    /// In the column that the writer has just written, refuses the values that save() would refuse.
    SHOAL_API void refuse_bad_values(SnapshotWriter& to, std::uint32_t column) const;
    /// Replaces all rows with the rows that save() wrote. The caller updates the index. Errors: out of memory, or the
    /// data does not fit this table. On error, the table is empty.
    SHOAL_API Status load(SnapshotReader& from);

    // --- memory and health ---------------------------------------------------------------------------------------

    /// Must be called once per frame. Frees pages that have been unused for several calls.
    void settle_memory() {
        if (storage_.settle()) note_places();
    }
    /// Immediately frees all memory that is not needed.
    SHOAL_API void shrink();
    MemoryUse memory_use() const { return storage_.memory_use(); }
    /// How often the rows were copied to their own range, or to a larger range if the first reservation was too small.
    std::uint32_t num_promotions() const { return storage_.num_promotions(); }
    bool in_slab() const { return storage_.in_slab(); }

    /// Checks all invariants of the table: addresses, alignment, index, links and stamps. Cost: O(rows).
    /// Errors: an invariant is broken. The message names the invariant and the row.
    SHOAL_API Status validate() const;

private:
    void note_kind();
    SHOAL_API void note_places();
    SHOAL_API std::uint32_t take_packed(Table& from, std::uint32_t row, const TakePlan& plan);
    SHOAL_API void finish_append(RowRange rows);
    SHOAL_API void remove_unpacked(std::uint32_t row);
    void forget(std::uint32_t row);
    void close(std::uint32_t row);
    void leave_hole(std::uint32_t row);
    void move_rows(RowList from, RowList to);
    void write_entries(RowList rows);
    void require_rows(RowRange rows) const;
    Status load_rows(SnapshotReader& from, std::uint64_t source);
    Status check_values(SnapshotReader& from) const;
    void clear_rows();
    bool has_exact_index() const;
    Status validate_index() const;
    Status validate_chains() const;
    bool is_displaced(Entity owner) const;
    PackedRows packed_rows() {
        return {index_->entries(), storage_.owners(), stamps_.row_marks(), stamps_.mark_of_now(), storage_.num_rows()};
    }

    bool is_plain_ = true, is_packed_ = false;
    std::uint32_t num_holes_ = 0;
    ColumnStorage storage_;
    ChangeStamps stamps_;
    RowIndex* index_ = nullptr;
    RowLinks links_;
};

}  // namespace shoal
