#pragma once
// The database tables whose archetypes have some component types and lack others, for loops that run often.
// A bit per table shows whether the table matches. A refresh looks only at new archetypes and new tables.
//
//     table number    0 1 2 3 4 5 ...
//     matched         1 0 1 1 0 1          kept here
//     occupied        1 1 0 1 1 0          kept by the database
//     visited         1 . . 1 . .
//
// An enableable component type cannot rule out a table, only rows: rows_of_word() returns which rows match.
// Thread: call refresh() between structural calls, from one thread; after that, any thread may make the other calls.

#include "shoal/database/database.h"

namespace shoal {

class DatabaseMatch {
public:
    /// Requires: `database` outlives this object. A component type that is both in `with` and in `without` matches
    /// nothing.
    SHOAL_API DatabaseMatch(const Database& database, std::span<const ComponentType> with,
                            std::span<const ComponentType> without = {});

    /// Looks for changes since the last call. Returns whether tables were added or removed. Cost: a comparison if
    /// nothing has changed.
    bool refresh() {
        if (SHOAL_LIKELY(is_fresh())) return false;
        refresh_tables();
        return true;
    }

    /// Calls visit(table) for each matching table that has rows, in the order of table numbers. Requires, here and
    /// below: no table has been added or removed since the last refresh().
    template <class Visit>
    void for_each_table(Visit&& visit) const {
        SHOAL_ASSERT(is_fresh(), "tables came or went after the match looked at them; call refresh() before a loop");
        const std::span<const std::uint64_t> matched = matched_.words(), occupied = database_->occupied();
        DatabaseTable* const* tables = database_->all_tables().data();
        for (std::size_t word = 0; word < matched.size(); ++word, tables += 64)
            for (std::uint64_t bits = matched[word] & occupied[word]; bits != 0; bits &= bits - 1)
                visit(*tables[lowest_bit(bits)]);
    }
    /// Calls visit(table) for each matching table that has rows in `zones`: by table number if most tables are in these
    /// zones, and otherwise zone by zone. Cost: an indirect call for each table, because the loop over zones is
    /// compiled once for all queries.
    template <class Visit>
    void for_each_table(const ZoneSet& zones, Visit&& visit) const {
        using Callee = std::remove_reference_t<Visit>;
        visit_zones(
            zones, [](void* callee, DatabaseTable& table) { (*static_cast<Callee*>(callee))(table); },
            const_cast<std::remove_const_t<Callee>*>(&visit));
    }
    bool matches(const DatabaseTable& table) const {
        SHOAL_ASSERT(table.number() < num_tables_, "the table came after the match looked at tables; call refresh()");
        return matched_[table.number()];
    }
    /// The number of rows in matching tables, including disabled rows; with `zones`, only the rows in these zones.
    SHOAL_API std::uint64_t num_rows() const;
    SHOAL_API std::uint64_t num_rows(const ZoneSet& zones) const;

    /// Whether every row of a matching table matches.
    bool all_rows(const DatabaseTable& table) const {
        for (const ComponentType component : enableable_without_)
            if (table.presence(component) != nullptr) return false;
        return enableable_with_.empty();
    }
    /// Returns 64 bits: bit i is set if row 64 * word + i matches. Bits past the last row are 0. Requires: the table
    /// matches; word * 64 < table.num_rows().
    SHOAL_API std::uint64_t rows_of_word(const DatabaseTable& table, std::uint32_t word) const;

private:
    static constexpr std::size_t kTablesPerZone = 4;  // an estimate: how many of a zone's tables are visited per match

    /// Whether all tables of the database have been looked at, and no table has been removed since then.
    bool is_fresh() const {
        return epoch_ == database_->table_list_epoch() && num_tables_ == database_->all_tables().size();
    }
    SHOAL_API void refresh_tables();
    SHOAL_API void visit_zones(const ZoneSet& zones, void (*visit)(void* callee, DatabaseTable& table),
                               void* callee) const;
    bool matches_type(const Archetype& type) const;

    const Database* database_;
    BitSet with_{Owner("database match")};                              // all types that a table must have
    BitSet without_{Owner("database match")};                           // types that a table must lack, except
                                                                        // enableable types
    Array<ComponentType> enableable_with_{Owner("database match")};     // enableable types that rows must have
    Array<ComponentType> enableable_without_{Owner("database match")};  // enableable types that rows must lack
    BitSet matched_types_{Owner("database match")};                     // indexed by archetype number
    BitSet matched_{Owner("database match")};                           // indexed by table number
    std::size_t num_types_ = 0;                                         // how many archetypes have been looked at
    std::size_t num_tables_ = 0;                                        // how many tables have been looked at
    std::size_t num_matched_ = 0;                                       // number of matching tables
    std::uint64_t epoch_ = 0;
};

}  // namespace shoal
