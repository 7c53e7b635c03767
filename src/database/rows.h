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

/// Finds the rows of the entities of a call. Mostly the directory reaches all of them, and its arrays stay in registers.
class LocationOf {
public:
    static constexpr std::uint32_t kNoTable = 0xFFFFFFFF;

    LocationOf(const DatabaseDirectory& directory, std::span<const Entity> entities)
        : directory_(&directory), fetches_(entities.size() >= detail::kPrefetchFrom) {
        if (directory.covers(entities)) covered_ = directory.covered();
    }
    SHOAL_INLINE DatabaseDirectory::Location operator()(Entity entity) const {
        return SHOAL_LIKELY(covered_.entries != nullptr) ? covered_.find(entity) : directory_->find(entity);
    }
    /// Fetches what the directory has of an entity that comes some way after number `i`.
    SHOAL_INLINE void fetch_ahead(std::span<const Entity> entities, std::size_t i) const {
        if (fetches_ && i + detail::kPrefetchAhead < entities.size())
            directory_->prefetch(entities[i + detail::kPrefetchAhead]);
    }

private:
    const DatabaseDirectory* directory_;
    DatabaseDirectory::Covered covered_;
    bool fetches_;
};

/// The bits that a call sets in one row after another. Those of a few tables stay looked up, because entities of several
/// kinds mostly come in any order.
class Database::RowBits {
public:
    static constexpr std::size_t kMostTypes = 8;

    struct Change {
        bool flips = false;    // whether the row has another bit now
        bool enables = false;  // whether one is set now and was not
    };

    /// Sets the bits of a row of table number `number`. If its bits are not looked up, name_types(add) calls
    /// add(component, is_enabled) for each component type of the call, at most kMostTypes.
    template <class NameTypes>
    SHOAL_INLINE Change set(const TableSet& tables, std::uint32_t number, std::uint32_t row, NameTypes&& name_types) {
        Target& target = targets_[number % kNumTargets];
        if (SHOAL_UNLIKELY(target.number != number)) {
            target.number = number, target.table = &tables[number], target.num_types = 0;
            name_types([&](ComponentType component, bool is_enabled) { add(target, component, is_enabled); });
        }
        Change change;
        for (const Type *type = target.types, *end = type + target.num_types; type != end; ++type) {
            std::uint64_t& word = type->words[row / 64];
            const std::uint64_t bit = std::uint64_t(1) << row % 64;
            if (((word & bit) != 0) == type->is_enabled) continue;
            word ^= bit;
            change.flips = true;
            change.enables |= type->is_enabled;
        }
        if (change.flips) target.table->table_.stamp_row(row);
        return change;
    }

private:
    static constexpr std::size_t kNumTargets = 16;

    struct Type {
        std::uint64_t* words;
        bool is_enabled;
    };
    struct Target {
        std::uint32_t number = LocationOf::kNoTable, num_types;
        DatabaseTable* table;
        Type types[kMostTypes];
    };

    static void add(Target& target, ComponentType component, bool is_enabled) {
        const int index = target.table->type().enableable_index(component);
        if (index < 0) return;
        SHOAL_ASSERT(target.num_types < kMostTypes, "a call enables or disables too many component types at once");
        target.types[target.num_types++] = {target.table->presence_[static_cast<std::size_t>(index)].words(),
                                            is_enabled};
    }

    Target targets_[kNumTargets];  // by table number % kNumTargets
};

}  // namespace shoal
