#pragma once
// The part of a database query that knows no C++ types: which tables, which rows of them, and how they are cut for
// jobs.
//
//     tables      matched, with rows, in the zones           DatabaseMatch keeps them right as tables come and go
//     ranges      [0, n) of a table, or the blocks of 1,024 rows in which a field that is read was written
//     chunks      cut at multiples of 64 rows; small tables share one; cuts depend on numbers of rows only
//
// Thread: as for DatabaseMatch.

#include "shoal/database/lock.h"
#include "shoal/database/match.h"

namespace shoal {

/// Rows of one table.
struct TableRows {
    DatabaseTable* table = nullptr;
    RowRange rows;
};

/// Ranges of rows, shared out into chunks.
class TableCuts {
public:
    /// Requires: rows.begin is a multiple of 64.
    SHOAL_API void add(DatabaseTable& table, RowRange rows);
    /// Cuts what was added. Cost: nothing when it is one chunk.
    SHOAL_API void cut();

    std::uint32_t num_chunks() const { return static_cast<std::uint32_t>(chunk_ends_.size()); }
    /// Requires: chunk < num_chunks().
    std::span<const TableRows> chunk(std::uint32_t chunk) const {
        const std::uint32_t begin = chunk == 0 ? 0 : chunk_ends_[chunk - 1];
        return {ranges_.data() + begin, chunk_ends_[chunk] - begin};
    }
    std::span<const TableRows> ranges() const { return ranges_; }

private:
    Array<TableRows> ranges_{Owner("query")};
    Array<std::uint32_t> chunk_ends_{Owner("query")};  // by chunk: index into ranges_
    std::uint64_t weight_ = 0;
};

/// Columns of a component type whose writes a query asks for.
struct WatchedColumns {
    ComponentType component;
    std::uint32_t first = 0;  ///< among those of the component type
    std::uint32_t count = 0;
};

class QueryTables {
public:
    /// `watched` are the columns that count for set_since(). `database` outlives it.
    SHOAL_API QueryTables(Database& database, std::span<const ComponentType> with,
                          std::span<const ComponentType> without, std::span<const WatchedColumns> watched);

    Database& database() const { return *database_; }
    void set_zones(const ZoneSet& zones) {
        zones_ = zones;
        in_zones_ = true;
    }
    void set_since(std::uint64_t stamp) { since_ = stamp; }

    /// To be called before each loop.
    void refresh() const { match_.refresh(); }
    /// Calls visit(table) for each table, in an order that depends on the tables only.
    template <class Visit>
    void for_each_table(Visit&& visit) const {
        if (SHOAL_UNLIKELY(in_zones_))
            match_.for_each_table(zones_, visit);
        else
            match_.for_each_table(visit);
    }
    /// Calls visit(table, RowRange) for all that is to be gone through.
    template <class Visit>
    void for_each_range(Visit&& visit) const {
        for_each_table([&, all_rows = since_ == 0](DatabaseTable& table) {
            if (SHOAL_LIKELY(all_rows)) return static_cast<void>(visit(table, RowRange{0, table.num_rows()}));
            for (RowRange rows = next_changed(table, 0); rows.begin < rows.end; rows = next_changed(table, rows.end))
                visit(table, rows);
        });
    }
    /// Whether a row of `table` is to be gone through, whatever its bits say.
    bool contains(const DatabaseTable& table, std::uint32_t row) const {
        return match_.matches(table) && (!in_zones_ || zones_.contains(table.zone())) &&
               (since_ == 0 || is_changed(table, row));
    }
    /// Rows of the tables, toggled off or not, written or not.
    SHOAL_API std::uint64_t num_rows() const;

private:
    SHOAL_API RowRange next_changed(const DatabaseTable& table, std::uint32_t row) const;
    SHOAL_API bool is_changed(const DatabaseTable& table, std::uint32_t row) const;

    Database* database_;
    mutable DatabaseMatch match_;  // refreshed by the first loop after a table came or went
    Array<WatchedColumns> watched_{Owner("query")};
    ZoneSet zones_;
    bool in_zones_ = false;
    std::uint64_t since_ = 0;
};

}  // namespace shoal
