#pragma once
// What the last loop of a plan found about related entities. The next loop looks again only for what may have changed.
//
//     driver's row        0    1    2           in blocks that the last loop visited
//     owner               e7   e8   e9          compared with the table
//     row of the link     4    2    0           looked up again if its owner or value may have changed
//     related entity      e1   e1   e3
//     its row             5    5    6           looked up again if rows of its table have moved
//
// Stamps show what may have changed: see change_stamps.h. Writes of the current stamp cannot be ordered, so they count
// as changes also in the next loop. If the link is in the driver's table or in a database, or the store of the link is
// also joined, links are read in every loop, and only related entities and their rows are remembered.
// Thread: begin() and reserve() before threads share a loop; each thread then uses its own rows.

#include "shoal/base/detail/array.h"
#include "shoal/entity/entity.h"
#include "shoal/table/detail/table.h"

namespace shoal {

class DatabaseTable;

namespace detail {

/// The rows of a table that may have changed since the last loop.
class ChangedRows {
public:
    static constexpr std::uint32_t kOnlyOwners = ~std::uint32_t(0);

    /// Looks for changes since the last call: of owners and the values in a column, or only of owners. In the first
    /// call, and after the table was loaded or has moved in memory, everything has changed.
    void find(const Table& table, std::uint32_t column = kOnlyOwners);
    bool any() const { return any_; }
    /// Whether so many rows have changed that all are looked up.
    bool are_many() const { return are_many_; }
    /// A copy of what a loop over rows needs, so that it is in registers. Requires: a column, not are_many().
    struct Groups {
        const bool* are_changed;
        std::uint32_t last;
        /// Whether a row may have changed; true for kNilRow if any row has.
        SHOAL_INLINE bool has(std::uint32_t row) const {
            const std::uint32_t group = row / kRowsPerChangeMark;
            return are_changed[group < last ? group : last];
        }
    };
    Groups groups() const { return {groups_.data(), static_cast<std::uint32_t>(groups_.size() - 1)}; }

private:
    void list_groups(const Table& table, std::uint32_t column);

    bool any_ = true, are_many_ = true;
    std::uint32_t num_rows_ = 0;
    std::uint64_t since_ = 0;             // later writes have this stamp or a later one
    std::uint64_t placement_ = 0;         // identifies the table
    Array<bool> groups_{Owner("query")};  // by row / kRowsPerChangeMark; the last one is for rows past the end
};

/// The rows of related entities, by row of the driver. A copy has no rows.
class RecentRows {
public:
    RecentRows() = default;
    RecentRows(const RecentRows& other) : is_kept_(other.is_kept_) {}
    RecentRows& operator=(const RecentRows& other) { return is_kept_ = other.is_kept_, rows_.clear(), *this; }

    /// Keeps rows from now on.
    void keep() { is_kept_ = true; }
    bool is_kept() const { return is_kept_; }
    /// Makes room for the rows of a driver's table, if rows are kept.
    void reserve(std::uint32_t table, std::uint32_t num_rows) {
        if (!is_kept_) return;
        if (table >= rows_.size()) rows_.resize(table + 1);
        rows_[table].resize(num_rows, kNilRow);
    }
    std::uint32_t* of(std::uint32_t table) { return rows_[table].data(); }

    ChangedRows moved;  ///< the moved rows in the store of a field; unused if the rows are in a database

private:
    bool is_kept_ = false;
    Array<Array<std::uint32_t>> rows_{Owner("query")};  // indexed by the number of the driver's table
};

/// The entities in a link field, by row of the driver. A copy has none.
class RecentLinks {
public:
    static constexpr std::uint32_t kNoTable = ~std::uint32_t(0);

    /// What is known about 64 rows of a driver's table.
    struct Group {
        std::uint64_t loop = 0;          ///< the last loop that visited the rows
        std::uint32_t table = kNoTable;  ///< the database table that has a row for each related entity, if there is one
    };
    struct OfTable {
        Array<Entity> entities{Owner("query")};          ///< by row: the related entity; null: none
        Array<Entity> owners{Owner("query")};            ///< by row; empty: links are read in each loop
        Array<std::uint32_t> link_rows{Owner("query")};  ///< by row: the row of its owner in the store of the link
        Array<Group> groups{Owner("query")};             ///< by row / 64
        DatabaseTable* unmoved = nullptr;  ///< a database table without moved rows; nullptr: none is known
    };

    RecentLinks() = default;
    RecentLinks(const RecentLinks&) {}
    RecentLinks& operator=(const RecentLinks&) { return *this = RecentLinks(); }
    RecentLinks(RecentLinks&&) noexcept = default;
    RecentLinks& operator=(RecentLinks&&) noexcept = default;

    /// Begins a loop. `store` is the table of the links if links are kept, otherwise nullptr.
    void begin(const Table* store, std::uint32_t column) {
        ++loop_;
        keeps_links_ = store != nullptr;
        if (keeps_links_) changed_.find(*store, column);
    }
    /// Makes room for the rows of a driver's table. Shape: `related` has the tables of the database that has the
    /// related entities, by number; empty if none of their fields are in a database.
    void reserve(std::uint32_t table, std::uint32_t num_rows, std::span<DatabaseTable* const> related);
    OfTable& of(std::uint32_t table) { return tables_[table]; }
    /// The links that may have changed since the last loop.
    const ChangedRows& changed() const { return changed_; }
    /// Whether the last loop visited all of these rows.
    bool are_known(const OfTable& table, RowRange rows) const {
        for (std::uint32_t group = rows.begin / 64; group * 64 < rows.end; ++group)
            if (table.groups[group].loop + 1 != loop_) return false;
        return true;
    }
    /// Whether the related entities of these rows, as of the last loop, are in the table `unmoved`.
    static bool are_unmoved(const OfTable& table, RowRange rows);
    /// Notes that this loop visits rows; see Group::table.
    void note(OfTable& table, RowRange rows, std::uint32_t related) const {
        for (std::uint32_t group = rows.begin / 64; group * 64 < rows.end; ++group)
            table.groups[group] = {loop_, related};
    }

private:
    struct OfDatabaseTable {
        ChangedRows moved;
        std::uint64_t loop = 0;  // the last loop that looked for moved rows
    };

    std::uint64_t loop_ = 1;
    bool keeps_links_ = false;
    ChangedRows changed_;
    Array<OfTable> tables_{Owner("query")};           // indexed by the number of the driver's table
    Array<OfDatabaseTable> related_{Owner("query")};  // indexed by the number of the related entities' table
};

}  // namespace detail
}  // namespace shoal
