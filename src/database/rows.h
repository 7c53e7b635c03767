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

/// Whether rows go from one table to another column by column.
inline bool moves_whole(const DatabaseTable& from, const DatabaseTable& to) {
    return &from != &to && from.is_plain() && to.is_plain();
}

namespace detail {

inline constexpr std::size_t kPrefetchFrom = 4096;  // entities in a call; below it all is in the cache
inline constexpr std::size_t kPrefetchAhead = 48;

inline constexpr std::size_t kFewRows = 8;    // are moved one by one
inline constexpr std::size_t kRowsAhead = 8;  // whose columns are fetched while rows are moved one by one

}  // namespace detail
}  // namespace shoal
