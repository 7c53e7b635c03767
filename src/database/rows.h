#pragma once
// Adding, moving and removing rows of the tables of a database: what its calls, settling and spawning share.

#include "shoal/database/database.h"

#include <utility>

namespace shoal {

/// Takes a row away; the last one moves into its place.
SHOAL_INLINE void Database::remove_row(DatabaseTable& table, std::uint32_t row) {
    tables_.count_changes();
    for (PresenceBits& bits : table.presence_) bits.set(row, bits.get(table.num_rows() - 1));
    const Entity owner = table.has_many() ? table.entities()[row] : kNullEntity;
    table.table_.remove(row);
    if (SHOAL_UNLIKELY(table.num_rows() == 0)) tables_.note_rows(table);
    if (SHOAL_UNLIKELY(table.has_many())) drop_further(owner, table.type(), nullptr);
}

/// Makes room in several tables, all or none of it: for_each_gain(visit) calls visit(table, number of rows), for a table
/// as often as it likes. Errors: no memory; no row has changed.
template <class ForEachGain>
Status Database::reserve_in_all(ForEachGain&& for_each_gain) {
    for_each_gain([](DatabaseTable& table, std::uint32_t count) { table.num_wanted_ += count; });
    Status status;
    for_each_gain([&](DatabaseTable& table, std::uint32_t) {
        const std::uint32_t count = std::exchange(table.num_wanted_, 0);
        if (status) status = reserve_rows(table, count);
    });
    return status;
}

/// Whether many rows go from one table to another column by column.
inline bool moves_whole(const DatabaseTable& from, const DatabaseTable& to) {
    return &from != &to && from.is_plain() && to.is_plain();
}

namespace detail {

inline constexpr std::size_t kPrefetchFrom = 4096;  // entities in a call; below it all is in the cache
inline constexpr std::size_t kPrefetchAhead = 48;

inline constexpr std::size_t kFewRows = 8;    // are moved one by one
inline constexpr std::size_t kRowsAhead = 8;  // whose columns are fetched while rows are moved one by one

}  // namespace detail

/// The bits that a call sets in one row after another, of a table that it looks at once.
class Database::RowBits {
public:
    static constexpr std::size_t kMostTypes = 16;

    struct Change {
        bool flips = false;    // whether any bit is another now
        bool enables = false;  // whether one is set now, and was not
    };

    bool are_of(const DatabaseTable& table) const { return table_ == &table; }
    /// Looks at another table from now on, and sets no bits of it yet.
    void look_at(DatabaseTable& table) { table_ = &table, num_types_ = 0; }
    /// Sets the bits of a component type to `is_enabled`, if the table has it. Requires: at most kMostTypes.
    void add(ComponentType component, bool is_enabled) {
        const int index = table_->type().enableable_index(component);
        if (index < 0) return;
        SHOAL_ASSERT(num_types_ < kMostTypes, "a call enables or disables too many component types at once");
        types_[num_types_++] = {table_->presence_[static_cast<std::size_t>(index)].words(), is_enabled};
    }
    SHOAL_INLINE Change set(std::uint32_t row) {
        Change change;
        for (std::size_t i = 0; i < num_types_; ++i) {
            std::uint64_t& word = types_[i].words[row / 64];
            const std::uint64_t bit = std::uint64_t(1) << row % 64;
            if (((word & bit) != 0) == types_[i].is_enabled) continue;
            word ^= bit;
            change.flips = true;
            change.enables |= types_[i].is_enabled;
        }
        if (change.flips) table_->table_.stamp_row(row);
        return change;
    }

private:
    struct Type {
        std::uint64_t* words;
        bool is_enabled;
    };

    DatabaseTable* table_ = nullptr;
    Type types_[kMostTypes];
    std::size_t num_types_ = 0;
};

/// Fetches the entry of an entity of a call that comes some way after entity number `i`.
SHOAL_INLINE void fetch_ahead(const DatabaseDirectory& directory, std::span<const Entity> entities, std::size_t i) {
    if (entities.size() >= detail::kPrefetchFrom && i + detail::kPrefetchAhead < entities.size())
        directory.prefetch(entities[i + detail::kPrefetchAhead]);
}

}  // namespace shoal
