#pragma once
// The entities of a call that have a row in a database, grouped by table.
//
//     call       e5  e2  e9  e5  e7  e3           e5 is named twice, e9 has no row
//     groups     table 0: rows 4 1 (e5 e2)        table 3: rows 8 0 (e7 e3)
//     missing    2    repeated   3                which entities of the call
//
// The directory entries of the selected entities hold kIndexMask instead of a row until the entities are moved, removed
// or unselected. This detects an entity that is named twice.
// Thread: the same as the database.

#include "shoal/database/database.h"

#include <utility>

namespace shoal {

class Database::Selection {
public:
    static constexpr const char* kRuleForDestructors =
        "a destructor that runs in a call for many entities may destroy entities one by one, and make no other change";

    enum class Chosen : std::uint8_t { kAny, kLiving, kDead };

    struct Group {
        DatabaseTable* table;
        DatabaseTable* target;  // where the rows go; set by the caller
        std::uint32_t begin, end;

        std::uint32_t size() const { return end - begin; }
        bool moves() const { return target != table; }
    };

    Selection(DatabaseDirectory& directory, const TableSet& tables, const EntityManager& entities)
        : directory_(directory), tables_(tables), entities_(entities) {}
    Selection(const Selection&) = delete;
    Selection& operator=(const Selection&) = delete;

    /// Starts a new selection. Requires: all rows of the previous selection have been moved, removed or unselected.
    void select(std::span<const Entity> entities, Chosen chosen);
    /// Restores the rows in the directory, for all selected entities or for a group.
    void unselect(std::span<const Entity> entities);
    void unselect(const Group& group, std::span<const Entity> entities);
    /// Must be called when all selected rows have been moved, removed or unselected. Returns how many rows there were.
    std::uint32_t finish() { return std::exchange(num_selected_, 0); }
    /// Frees memory that only large calls need.
    void trim();

    bool empty() const { return num_selected_ == 0; }
    /// Ends the program if a call for many entities has not ended yet.
    void require_empty() const { SHOAL_ASSERT(num_selected_ == 0, kRuleForDestructors); }
    std::span<Group> groups() { return groups_; }
    std::span<const Group> groups() const { return groups_; }
    /// The rows of a group, and the index of each row's entity in the call.
    std::span<const std::uint32_t> rows_of(const Group& group) const {
        return {rows_.data() + group.begin, group.size()};
    }
    std::span<const std::uint32_t> sources_of(const Group& group) const {
        return {sources_.data() + group.begin, group.size()};
    }
    std::span<const std::uint32_t> missing() const { return missing_; }    ///< living entities without a row
    std::span<const std::uint32_t> repeated() const { return repeated_; }  ///< repeated mentions of an entity
    std::uint32_t num_skipped() const { return num_skipped_; }

private:
    void group_by_table();

    DatabaseDirectory& directory_;
    const TableSet& tables_;
    const EntityManager& entities_;
    Array<std::uint32_t> rows_{Owner("database")};      // the first num_selected_ are used, sorted by group
    Array<std::uint32_t> sources_{Owner("database")};   // like rows_: the number of the entity in the call
    Array<std::uint32_t> of_table_{Owner("database")};  // the table number of each entity of the call
    std::uint32_t num_selected_ = 0;
    Array<Group> groups_{Owner("database")};
    Array<std::uint32_t> missing_{Owner("database")};
    Array<std::uint32_t> repeated_{Owner("database")};
    std::uint32_t num_skipped_ = 0;
};

}  // namespace shoal
