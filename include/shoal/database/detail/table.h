#pragma once
// The rows of one archetype in one zone: a table, and a bit per row for each enableable component type.
//
//     row                 0    1    2   ...  num_rows-1
//     entity              e0   e1   e2
//     columns             ..   ..   ..          those of the archetype's schema
//     bits of "asleep"    1    0    1           an enableable component type: does the entity have it now?
//
// Passes and queries read columns, or write columns without marking them and mark them when the loop ends. Only the
// Database adds and removes rows.
// Lifetime: a table that stays empty is removed after many settles, and its number is used again. Each removal
// increases Database::table_list_epoch(). Thread: as for Table.

#include "shoal/database/detail/archetype.h"
#include "shoal/store/detail/zone.h"
#include "shoal/table/detail/column.h"
#include "shoal/table/detail/row_path.h"

namespace shoal {

/// An address that identifies a list of C++ types; nullptr for none.
using TypedKey = const void*;

/// A bit per row, in page memory with 64-byte alignment: jobs that are cut at multiples of 512 rows share no cache
/// line.
class PresenceBits {
public:
    explicit PresenceBits(PagePool& pool) : pool_(&pool) {}
    SHOAL_API ~PresenceBits();
    PresenceBits(PresenceBits&& other) noexcept
        : pool_(other.pool_), words_(other.words_), num_words_(other.num_words_) {
        other.words_ = nullptr, other.num_words_ = 0;
    }
    PresenceBits& operator=(PresenceBits&&) = delete;

    /// The number of rows that there is room for.
    std::uint32_t num_reached() const { return static_cast<std::uint32_t>(num_words_ * 64); }
    bool get(std::uint32_t row) const { return test_bit(words_, row); }
    void set(std::uint32_t row, bool value) { set_bit(words_, row, value); }
    void set(RowRange rows, bool value) { set_bits(words_, rows.begin, rows.end, value); }
    /// Makes room for `num_rows` rows. Errors: out of memory. On error, nothing has changed.
    SHOAL_API Status reserve(std::uint32_t num_rows);
    SHOAL_API void release();
    /// Shape: bit row % 64 of word row / 64.
    std::uint64_t* words() { return words_; }
    const std::uint64_t* words() const { return words_; }
    std::size_t num_bytes() const { return num_words_ * sizeof(std::uint64_t); }

private:
    PagePool* pool_;
    std::uint64_t* words_ = nullptr;
    std::size_t num_words_ = 0;
};

class DatabaseTable {
public:
    SHOAL_API DatabaseTable(std::uint32_t number, const Archetype& type, Zone zone, PagePool& pool,
                            std::uint32_t capacity_rows, RowIndex& index);
    DatabaseTable(const DatabaseTable&) = delete;
    DatabaseTable& operator=(const DatabaseTable&) = delete;

    std::uint32_t number() const { return number_; }
    const Archetype& type() const { return *type_; }
    std::uint32_t type_number() const { return type_number_; }
    Zone zone() const { return zone_; }
    std::uint32_t num_rows() const { return table_.num_rows(); }
    /// Whether rows are only bytes: the table has no opaque columns, no enableable component types, and no `many`
    /// types.
    bool is_plain() const { return table_.is_plain() && presence_.empty() && !has_many_; }
    /// Whether entities may have several values of a type: the first value is in the row, and the database has the
    /// others.
    bool has_many() const { return has_many_; }
    std::span<const Entity> entities() const { return table_.entities(); }
    const detail::RowVersions& row_versions() const { return table_.row_versions(); }
    /// The rows; first_column() finds the columns of a component. Requires: no structural call is made on this table.
    Table& table() { return table_; }
    const Table& table() const { return table_; }
    std::uint32_t first_column(ComponentType component) const { return type_->first_column(component); }
    /// Write and read rows and bits; see Table::load(). `schemas` has the schemas of the database's component types, by
    /// number.
    SHOAL_API void save(SnapshotWriter& to, std::span<const Schema* const> schemas) const;
    SHOAL_API Status load(SnapshotReader& from, std::span<const Schema* const> schemas);
    /// The memory of rows and bits.
    SHOAL_API MemoryUse memory_use() const;
    /// Checks rows and bits. Cost: O(rows).
    SHOAL_API Status validate() const;

    /// The bits of an enableable component type; nullptr for a component type that every row has, or that no row has.
    /// Shape: bit row % 64 of word row / 64. Bits past the last row are arbitrary.
    const std::uint64_t* presence(ComponentType component) const {
        const int index = type_->enableable_index(component);
        return index < 0 ? nullptr : presence_[static_cast<std::size_t>(index)].words();
    }
    /// Requires: row < num_rows().
    bool has(ComponentType component, std::uint32_t row) const {
        if (!type_->has(component)) return false;
        const std::uint64_t* bits = presence(component);
        return bits == nullptr || test_bit(bits, row);
    }

    /// The view of the field `kMember`, with the member's C++ type. Requires: the archetype has `component`, which has
    /// the field.
    template <auto kMember>
    ReadColumn<kMember> column(ComponentType component) const {
        const std::uint32_t first = required_column(component);
        return make_column<kMember, const ValueOf<kMember>>(
            [this, first](std::uint32_t c) { return table_.column(first + c); }, struct_offset<kMember>(), num_rows(),
            table_, first);
    }
    /// The writable view of a field, for a pass that marks its writes when it ends: see mark_written.
    template <auto kMember>
    WriteColumn<kMember> unmarked_column(ComponentType component) {
        const std::uint32_t first = required_column(component);
        return make_column<kMember, ValueOf<kMember>>(
            [this, first](std::uint32_t c) { return table_.unmarked_column(first + c); }, struct_offset<kMember>(),
            num_rows(), table_, first);
    }
    template <auto kMember>
    void mark_written(ComponentType component, RowRange rows) {
        const std::uint32_t first = required_column(component) + FieldLayout<kMember>::kFirstColumn;
        for (std::uint32_t c = 0; c < FieldLayout<kMember>::kNumColumns; ++c) table_.mark_written(first + c, rows);
    }

    /// The offset of a member in its struct, for components kept whole; otherwise 0.
    template <auto kMember>
    static std::size_t struct_offset() {
        if constexpr (FieldLayout<kMember>::kLayout == ColumnLayout::kWhole)
            return FieldLayout<kMember>::struct_offset();
        else
            return 0;
    }

private:
    friend class Database;
    friend class RowMove;
    friend struct MovedRow;

    std::uint32_t required_column(ComponentType component) const {
        const std::uint32_t first = first_column(component);
        SHOAL_ASSERT(first != kNoColumn, "the archetype of this table does not have the component");
        return first;
    }
    /// Whether a row can be appended without allocating, setting bits, or noting that the table is no longer empty.
    bool has_reserved_plain_row() const { return has_reserved_row() && presence_.empty(); }
    bool has_reserved_row() const { return table_.has_room() && table_.num_rows() != 0; }

    /// What a step does to the bit of one enableable component type.
    struct StepBit {
        enum class Change : std::uint8_t { kKeep, kEnable, kDisable };

        PresenceBits* from;  // nullptr: only the target has the component type
        PresenceBits* to;
        Change change;
    };

    /// The last move of a row from here to another table, when its entity gained or lost components.
    struct Step {
        TypedKey key = nullptr;  // identifies the components
        DatabaseTable* target = nullptr;
        RowPath path;
        Array<std::byte*> gained{Owner("database table")};  // columns in the target, in the order of the call
        Array<StepBit> bits{Owner("database table")};       // same order as target->type().enableable()

        /// Whether the target has room for the bits of one more row.
        bool has_reserved_bits() const { return target->num_rows() < num_reached; }
        /// Looks up how many rows the bits of the target have room for.
        SHOAL_API void look_up_reach();
        /// Writes the bits of a row that moves to the end of the target, and replaces them in `from` with the bits of
        /// the last row. Not inline, so that rows without bits do not pay for the registers that this uses.
        __attribute__((noinline)) SHOAL_API void move_bits(const DatabaseTable& from, std::uint32_t row) const;

        std::uint32_t num_reached = 0;  // the number of rows whose bits the target has room for; it only grows
    };

    /// The component type that a call with C++ types last enabled or disabled.
    struct LastEnableable {
        TypedKey key = nullptr;  // identifies the component type
        PresenceBits* bits = nullptr;
    };

    /// Records that a component type was enabled or disabled by a call that names a single C++ type.
    void note_enableable(ComponentType component, TypedKey key) {
        if (const int index = type_->enableable_index(component); index >= 0 && key != nullptr)
            last_enableable_ = {key, &presence_[static_cast<std::size_t>(index)]};
    }

    std::uint32_t number_;
    Zone zone_;
    std::uint32_t type_number_;  // a copy, next to the other members that loops read
    bool has_many_;
    Table table_;
    const Archetype* type_;
    Array<PresenceBits> presence_{Owner("database table")};  // same order as type().enableable()
    Step last_added_, last_removed_;
    LastEnableable last_enableable_;
    std::uint32_t num_wanted_ = 0;  // rows that the current call will add
};

}  // namespace shoal
