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
    /// A bit per row for each enableable component, in the order of component ids.
    std::vector<std::uint64_t> enabled;

    // The results of comparisons, and Database::num_structural_changes() when they were made.
    bool is_as_before = false;
    std::vector<Entity> found{};
    std::uint64_t compared_at = kNever, found_at = kNever;
    static constexpr std::uint64_t kNever = ~std::uint64_t(0);
};

/// Identifies the archetypes of a database by keys that are the same on all ranks.
class TypeKeys {
public:
    explicit TypeKeys(Database& database) : database_(database) {}

    /// Returns the key of an archetype. Cost: a look-up, except in the first call.
    std::uint64_t key(const Archetype& type);
    /// Returns the key, or 0 if key() was never called for this archetype. Thread: any, between changes.
    std::uint64_t known_key(const Archetype& type) const {
        return type.number() < keys_.size() ? keys_[type.number()] : 0;
    }
    /// Returns the ids of the archetype's component types, ascending.
    const std::vector<std::uint64_t>& components(std::uint64_t key) const { return types_.at(key).components; }
    /// Returns the archetype with these component types. Errors: the database lacks some of the types; `key` is the key
    /// of another archetype.
    Result<const Archetype*> find(std::uint64_t key, std::span<const std::uint64_t> components);
    /// Returns the component types of an archetype, in ascending order of their ids.
    std::vector<ComponentType> types_of(const Archetype& type) const;

private:
    struct Known {
        const Archetype* type;
        std::vector<std::uint64_t> components;
    };

    Database& database_;
    std::map<std::uint64_t, Known> types_;
    std::vector<std::uint64_t> keys_;  // by archetype number; 0: not known yet
};

/// The rows of the tables of some zones.
class ZoneRows {
public:
    ZoneRows(Database& database, TypeKeys& types) : database_(database), types_(types) {}

    /// Calls visit(rows) for the tables of `zones` whose rows or enabled components have changed.
    template <class Visit>
    void for_each_changed(const ZoneSet& zones, Visit&& visit) {
        list_changed();
        for (TableRows* rows : changed_)
            if (zones.contains(rows->key.zone_number()) && !is_as_before(*rows)) visit(*rows);
    }
    /// Arranges these rows as in the diagram above, and returns the changes. Requires: all entities of the rows have
    /// names.
    TableChange arrange(const EntityNames& names, TableRows& rows);
    /// Puts the rows of a table into the order that another rank has sent. Shape: all entities of the table, and their
    /// names.
    void set(const TableKey& key, std::vector<Entity> owners, std::vector<Name> names);
    /// Enables the components that another rank has enabled in these rows. Shape: see TableRows. Errors: too few bits.
    Status enable(const TableKey& key, std::span<const std::uint64_t> enabled);
    /// Returns all rows of these zones as new rows, for a rank without copies of the zones.
    std::vector<TableChange> list_all(const ZoneSet& zones) const;
    /// Returns the entities in a table that were not in it at the last settle. Cost: O(rows) after a structural change.
    /// Lifetime: until the rows are arranged.
    const std::vector<Entity>& find_new(TableRows& rows) const;

    TableRows& at(const TableKey& key);
    const std::map<TableKey, TableRows>& all() const { return rows_; }
    void clear();
    /// Drops the tables of all other zones.
    void keep(const ZoneSet& zones);
    /// Updates the table pointers.
    void note_tables();

private:
    void list_changed();
    bool has_rows_as_before(TableRows& rows) const;
    bool is_as_before(TableRows& rows) const;
    std::vector<std::uint64_t> enabled_of(const DatabaseTable& table) const;

    Database& database_;
    TypeKeys& types_;
    std::map<TableKey, TableRows> rows_;
    std::vector<TableRows*> changed_;  // tables that may have changed, as of `listed_at_`
    std::uint64_t listed_at_ = TableRows::kNever;
    std::size_t num_tables_ = 0;               // at the last note_tables()
    std::uint64_t epoch_ = ~std::uint64_t(0);  // the table epoch of the database at that time
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
