#pragma once
// Keeps rows of tables in an order that does not depend on how zones are divided. After each settle, a table contains
// the remaining rows of the last settle, followed by the new rows:
//
//     last settle   a b c d e
//     b, d removed  a e c            from the last removed row to the first, the last row takes its place
//     new           a e c f g        by name
//
// Other ranks receive the numbers of the removed rows and the names of the new rows, and change their copies in the
// same way.
// Thread: the structural thread of the world.

#include "cluster/entity_names.h"
#include "shoal/database/database.h"

#include <map>
#include <vector>

namespace shoal::cluster {

/// Identifies a table on all ranks, unlike the numbers of archetypes, which differ between ranks.
struct TableKey {
    std::uint64_t zone = kNoZone;  ///< 64 bits, to avoid padding between the members
    std::uint64_t type = 0;        ///< a hash of the ids of the component types

    Zone zone_number() const { return static_cast<Zone>(zone); }
    friend auto operator<=>(const TableKey&, const TableKey&) = default;
};

/// How a table has changed since the last settle.
struct TableChange {
    TableKey key;
    std::vector<std::uint32_t> gone;     ///< removed rows, ascending
    std::vector<Name> come;              ///< new rows, in order
    std::vector<std::uint64_t> enabled;  ///< see TableRows
};

/// The rows of a table after the last settle.
struct TableRows {
    TableKey key;
    const DatabaseTable* table = nullptr;  ///< nullptr: the table no longer exists
    std::vector<Entity> owners;
    std::vector<Name> names;  ///< of the owners
    /// A bit per row for each enableable component, in the order of component ids. What the ranks with copies were told
    /// last; empty if there are none.
    std::vector<std::uint64_t> enabled;

    // The difference between these rows and the table now.
    std::vector<std::uint32_t> differing{};  ///< rows whose owner is another one, ascending
    std::vector<Entity> found{};             ///< entities in the table that are not in `owners`
    std::uint64_t since = 0;                 ///< rows that were placed before this stamp do not differ
};

/// Identifies the archetypes of a database by keys that are the same on all ranks.
class TypeKeys {
public:
    explicit TypeKeys(Database& database) : database_(database) {}

    /// Returns the key of an archetype. Cost: a look-up, except in the first call.
    std::uint64_t key(const Archetype& type);
    /// Returns the ids of the archetype's component types, ascending.
    const std::vector<std::uint64_t>& components(std::uint64_t key) const { return types_.at(key).components; }
    /// Returns the archetype with these component types. Errors: the database lacks some of the types; `key` is the key
    /// of another archetype.
    Result<const Archetype*> find(std::uint64_t key, std::span<const std::uint64_t> components);
    /// Returns the component types of an archetype, in ascending order of their ids.
    std::vector<ComponentType> types_of(const Archetype& type) const;
    /// Returns those of them that are enableable. Requires: key() was called for the archetype.
    std::span<const ComponentType> enableable(const Archetype& type) const { return keys_[type.number()].enableable; }

private:
    struct Known {
        const Archetype* type;
        std::vector<std::uint64_t> components;
    };

    Database& database_;
    struct Key {
        std::uint64_t key = 0;  // 0: not known yet
        std::vector<ComponentType> enableable;
    };
    std::map<std::uint64_t, Known> types_;
    std::vector<Key> keys_;  // by archetype number
};

/// The rows of the tables of some zones.
class ZoneRows {
public:
    ZoneRows(Database& database, TypeKeys& types) : database_(database), types_(types) {}

    /// Calls visit(rows) for the tables of `zones` whose rows have changed since the last settle. Requires: all calls
    /// name the same zones until keep() or clear(). Cost: after a structural change, looks at the marks of the rows
    /// that were placed since the last settle, and compares these rows.
    template <class Visit>
    void for_each_changed(const ZoneSet& zones, Visit&& visit) {
        list_changed(zones);
        for (TableRows* rows : changed_)
            if (!rows->differing.empty()) visit(*rows);
    }
    /// Arranges the rows of a changed table as in the diagram above. Sets the key, `gone` and `come` of `change`.
    /// Requires: for_each_changed() visits these rows; all entities of the table have names.
    void arrange(const EntityNames& names, TableRows& rows, TableChange& change);
    /// Completes the changes of tables in `zones` with the enabled components, and adds the tables in which only these
    /// have changed.
    void add_enabled(const ZoneSet& zones, std::vector<TableChange>& changes);
    /// Puts the rows of a table into the order that another rank has sent. Shape: all entities of the table, and their
    /// names.
    void set(const TableKey& key, std::vector<Entity> owners, std::vector<Name> names);
    /// Enables the components that another rank has enabled in these rows. Shape: see TableRows. Errors: too few bits.
    Status enable(const TableKey& key, std::span<const std::uint64_t> enabled);
    /// Returns all rows of these zones as new rows, for a rank without copies of the zones.
    std::vector<TableChange> list_all(const ZoneSet& zones);
    /// Returns the bits of a table: see TableRows. Lifetime: until the next call.
    const std::vector<std::uint64_t>& enabled_of(const DatabaseTable& table);

    TableRows& at(const TableKey& key);
    /// Returns the rows of a table that note_tables() has noted, or nullptr. Thread: any, between changes.
    const TableRows* find(const DatabaseTable& table) const {
        const TableRows* const rows = table.number() < by_number_.size() ? by_number_[table.number()] : nullptr;
        return rows != nullptr && rows->table == &table ? rows : nullptr;
    }
    const std::map<TableKey, TableRows>& all() const { return rows_; }
    void clear();
    /// Drops the tables of all other zones.
    void keep(const ZoneSet& zones);
    /// Updates the table pointers.
    void note_tables();

private:
    static constexpr std::uint64_t kNever = ~std::uint64_t(0);

    void list_changed(const ZoneSet& zones);
    void compare(TableRows& rows);

    Database& database_;
    TypeKeys& types_;
    std::map<TableKey, TableRows> rows_;
    std::vector<TableRows*> by_number_;          // indexed by table number; nullptr: there is no such table
    std::vector<TableRows*> ended_;              // tables with rows that the database has removed since
    std::vector<TableRows*> changed_;            // tables whose rows had changed, as of `listed_at_`
    std::uint64_t listed_at_ = kNever;           // Database::num_structural_changes()
    std::uint64_t epoch_ = ~std::uint64_t(0);    // the table epoch of the database at the last note_tables()
    std::vector<Entity> before_;                 // for compare()
    std::vector<std::pair<Name, Entity>> come_;  // for arrange()
    std::vector<std::uint64_t> enabled_;         // for enabled_of()
};

/// Removes rows from a list, from the last to the first. The last row of the list replaces each removed row.
/// Requires: `gone` is ascending, and the rows exist.
template <class T>
void take_out_rows(std::vector<T>& rows, const std::vector<std::uint32_t>& gone) {
    for (std::size_t i = gone.size(); i-- > 0;) {
        rows[gone[i]] = rows.back();
        rows.pop_back();
    }
}

}  // namespace shoal::cluster
