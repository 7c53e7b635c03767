#pragma once
// The tables of a database: one for each archetype in each zone that has had entities of that archetype.
//
//     table number        0                    1              2       3
//     table               {position} zone 3    {mass} zone 3  free    {position} zone 7
//     occupied            1                    0              0       1                    does it hold rows?
//     zone 3              0 -> 1               the tables of a zone are a list
//
// A table that stays empty is removed, and its number is used again: code that keeps numbers or addresses must compare
// the epoch. While the epoch stays the same, tables are only appended.
// Thread: const calls from any thread between structural calls.

#include "shoal/base/detail/bit_set.h"
#include "shoal/base/detail/hash_map.h"
#include "shoal/database/detail/directory.h"
#include "shoal/database/detail/table.h"

namespace shoal {

class TableSet {
public:
    /// `directory` finds the rows of all tables. Requires: `directory` and `pool` outlive the set.
    SHOAL_API TableSet(PagePool& pool, DatabaseDirectory& directory, std::uint32_t capacity_rows);
    TableSet(const TableSet&) = delete;
    TableSet& operator=(const TableSet&) = delete;
    SHOAL_API ~TableSet();

    /// Returns the table of an archetype in a zone, or nullptr.
    SHOAL_API DatabaseTable* find(const Archetype& type, Zone zone) const;
    /// Returns the table of an archetype in a zone, and makes it if there is none. Errors: no address space. On error,
    /// nothing has changed.
    SHOAL_API Result<DatabaseTable*> find_or_make(const Archetype& type, Zone zone);
    /// Requires: a table has this number.
    DatabaseTable& operator[](std::uint32_t number) const { return *tables_[number]; }

    std::span<DatabaseTable* const> by_number() const {  ///< nullptr where a number is free
        return {tables_.data(), tables_.size()};
    }
    /// All tables: first the tables of list_also(), then the tables of the set.
    SHOAL_API std::span<const Table* const> list() const;
    /// Lists a table that does not belong to the set. Requires: the table outlives the set.
    SHOAL_API void list_also(const Table& table);
    /// One bit per table number, set if the table has rows.
    std::span<const std::uint64_t> occupied() const { return occupied_.words(); }
    std::uint64_t epoch() const { return epoch_; }
    /// Where the columns of a component type are in each table; kept up to date as tables are added.
    /// Shape: indexed by table number; nullptr: the table lacks the type. Lifetime: the set. Thread: any, between
    /// structural calls.
    SHOAL_API const Array<const PhysicalColumn*>& columns_of(ComponentType component) const;

    /// Calls visit(table) for each table.
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (DatabaseTable* table : tables_)
            if (table != nullptr) visit(*table);
    }
    /// Calls visit(table) for each table in a zone.
    template <class Visit>
    void for_each_of_zone(Zone zone, Visit&& visit) const {
        for (std::uint32_t next = first_in_zone_.find_or(zone, kNone); next != kNone; next = next_in_zone_[next])
            visit(*tables_[next]);
    }

    /// Increases with every row that is added, removed or moved, and with every bit that is flipped.
    std::uint64_t num_changes() const { return num_changes_; }
    void count_changes(std::uint64_t count = 1) { num_changes_ += count; }
    /// Must be called when a table becomes empty, or is no longer empty.
    SHOAL_API void note_rows(const DatabaseTable& table);

    /// Settles the memory of some tables, and removes those that have been empty for a long time. Returns whether any
    /// table was removed.
    SHOAL_API bool settle_memory();

    /// Writes the list of tables, without their rows. `saved_types` has the saved number of each archetype.
    SHOAL_API void save(SnapshotWriter& to, std::span<const std::uint32_t> saved_types) const;
    /// Makes the tables that save() wrote, and removes other tables. `types` are the archetypes by their saved numbers;
    /// existing tables keep their rows. Errors: the saved tables contradict each other. On error, the set stays
    /// consistent.
    SHOAL_API Status load(SnapshotReader& from, std::span<const Archetype* const> types);

    /// Checks that the numbers, bits and lists are consistent.
    SHOAL_API Status validate() const;

private:
    static constexpr std::uint32_t kNone = 0xFFFFFFFF;

    /// Where the columns of a component type are, for look-ups.
    struct ColumnsOfType {
        ComponentType component;
        Array<const PhysicalColumn*> of_table{Owner("database")};  // indexed by table number
    };

    void retire(DatabaseTable& table);
    void note_columns(std::uint32_t number) const;
    void note_all_columns() const;
    void note_columns(std::uint32_t number, ColumnsOfType& to) const;
    void list_tables();
    Status validate(const DatabaseTable& table, std::uint32_t number) const;

    PagePool* pool_;
    DatabaseDirectory* directory_;
    std::uint32_t capacity_rows_;
    Array<DatabaseTable*> tables_{Owner("database")};  // indexed by number; owned
    std::uint64_t num_changes_ = 0;
    BitSet occupied_{Owner("database")};                    // indexed by number
    Array<std::uint32_t> next_in_zone_{Owner("database")};  // for each number: the next table of its zone, or kNone
    Array<std::uint32_t> empty_visits_{Owner("database")};  // for each number: consecutive visits that found it empty
    Array<std::uint32_t> free_numbers_{Owner("database")};
    Array<const Table*> list_{Owner("database")};
    Array<const Table*> listed_also_{Owner("database")};
    HashMap<std::uint64_t, std::uint32_t> number_by_place_{Owner("database")};  // keyed by zone and archetype
    HashMap<Zone, std::uint32_t> first_in_zone_{Owner("database")};
    std::uint64_t epoch_ = 0;
    std::size_t next_visited_ = 0;
    mutable Array<ColumnsOfType*> columns_of_types_{Owner("database")};  // owned; only for types that were requested
};

}  // namespace shoal
