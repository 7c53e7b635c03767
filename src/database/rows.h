#pragma once
// Adds, moves and removes rows in a database's tables: the parts that calls, settling and spawning share.

#include "shoal/database/database.h"

#include <utility>

namespace shoal {

/// Removes a row; the last row takes its place.
SHOAL_INLINE void Database::remove_row(DatabaseTable& table, std::uint32_t row) {
    tables_.count_changes();
    for (PresenceBits& bits : table.presence_) bits.set(row, bits.get(table.num_rows() - 1));
    const Entity owner = table.has_many() ? table.entities()[row] : kNullEntity;
    table.table_.remove(row);
    if (SHOAL_UNLIKELY(table.num_rows() == 0)) tables_.note_rows(table);
    if (SHOAL_UNLIKELY(table.has_many())) drop_further(owner, table.type(), nullptr);
}

/// Makes room in several tables or, after an error, in none. for_each_gain(visit) calls visit(table, number of rows),
/// any number of times for each table. Errors: out of memory. On error, no row has changed.
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

/// Whether rows can be moved from one table to another column by column.
inline bool moves_whole(const DatabaseTable& from, const DatabaseTable& to) {
    return &from != &to && from.is_plain() && to.is_plain();
}

namespace detail {

inline constexpr std::size_t kPrefetchFrom = 4096;  // with fewer entities in a call, the data is in the cache anyway
inline constexpr std::size_t kPrefetchAhead = 48;

inline constexpr std::size_t kFewRows = 8;    // up to this number of rows are moved one by one
inline constexpr std::size_t kRowsAhead = 8;  // rows whose columns are prefetched while rows are moved one by one

}  // namespace detail

/// Finds the rows of a call's entities. Usually the directory covers all entities, and its arrays stay in registers.
class LocationOf {
public:
    static constexpr std::uint32_t kNoTable = 0xFFFFFFFF;

    LocationOf(const DatabaseDirectory& directory, std::span<const Entity> entities)
        : directory_(&directory),
          num_fetched_(entities.size() < detail::kPrefetchFrom ? 0 : entities.size() - detail::kPrefetchAhead) {
        if (directory.covers(entities)) covered_ = directory.covered();
    }
    SHOAL_INLINE DatabaseDirectory::Location operator()(Entity entity) const {
        return SHOAL_LIKELY(covered_.entries != nullptr) ? covered_.find(entity) : directory_->find(entity);
    }
    /// Prefetches the directory's entry for the entity at i + kPrefetchAhead.
    SHOAL_INLINE void fetch_ahead(std::span<const Entity> entities, std::size_t i) const {
        if (i < num_fetched_) directory_->prefetch(entities[i + detail::kPrefetchAhead]);
    }

private:
    const DatabaseDirectory* directory_;
    DatabaseDirectory::Covered covered_;
    std::size_t num_fetched_;
};

/// Sets the bits of one enableable component type in one row after another. Remembers the addresses of some tables,
/// because entities of several kinds are usually mixed.
class Database::RowBits {
public:
    struct Counts {
        std::uint32_t num_rows = 0, num_flipped = 0;
    };

    RowBits(Database& database, std::span<const Entity> entities, ComponentType component)
        : database_(database),
          entities_(entities),
          location_of_(database.directory_, entities),
          component_(component) {}

    /// Whether the rows of all living entities have the component type.
    bool are_all_there() {
        const LocationOf location_of = location_of_;
        std::uint32_t last = LocationOf::kNoTable;
        for (std::size_t i = 0; i < entities_.size(); ++i) {
            location_of.fetch_ahead(entities_, i);
            const DatabaseDirectory::Location at = location_of(entities_[i]);
            if (SHOAL_LIKELY(at && at.table == last)) continue;
            const bool is_there = at && (target_of(at).number == at.table || look_at(target_of(at), at.table));
            if (!is_there && database_.entities_.alive(entities_[i])) return false;
            if (is_there) last = at.table;
        }
        return true;
    }
    /// Sets the bits of the rows of all entities, including dead ones. Inlined, the loop takes twice as long.
    __attribute__((noinline)) Counts set_all(bool is_enabled) {
        Counts counts;
        std::size_t i = set_in_one_table(is_enabled, counts);
        const LocationOf location_of = location_of_;
        for (const std::span<const Entity> entities = entities_; i < entities.size(); ++i) {
            location_of.fetch_ahead(entities, i);
            const DatabaseDirectory::Location at = location_of(entities[i]);
            if (SHOAL_UNLIKELY(!at)) continue;
            ++counts.num_rows;
            counts.num_flipped += set(at, is_enabled);
        }
        database_.tables_.count_changes(counts.num_flipped);
        return counts;
    }

private:
    static constexpr std::size_t kNumTargets = 16;

    struct Target {
        std::uint32_t number = LocationOf::kNoTable;
        ChangeMark now;
        ChangeMark* marks;  // see Table::row_marks()
        std::uint64_t* words;
        std::uint64_t unused;  // pads the size, so that indexing is a shift

        /// Sets the bit of a row. Returns whether the bit has changed.
        SHOAL_INLINE bool set(std::uint32_t row, bool is_enabled) const {
            std::uint64_t& word = words[row / 64];
            if ((word >> row % 64 & 1) == std::uint64_t(is_enabled)) return false;
            word ^= std::uint64_t(1) << row % 64;
            marks[row / kRowsPerChangeMark] = now;
            return true;
        }
    };

    Target& target_of(DatabaseDirectory::Location at) { return targets_[at.table % kNumTargets]; }

    /// Sets the bit of a row, if its table has the component type. Returns whether the bit has changed.
    SHOAL_INLINE bool set(DatabaseDirectory::Location at, bool is_enabled) {
        Target& target = target_of(at);
        if (SHOAL_UNLIKELY(target.number != at.table) && !look_at(target, at.table)) return false;
        return target.set(at.row, is_enabled);
    }

    /// Sets the bits of the first entities, as long as their rows are in one table, whose addresses stay in registers.
    /// Returns the number of these entities.
    SHOAL_INLINE std::size_t set_in_one_table(bool is_enabled, Counts& counts) {
        const LocationOf location_of = location_of_;  // not a member, which a written word could be
        const std::span<const Entity> entities = entities_;
        Target target{};
        std::size_t i = 0;
        for (; i < entities.size(); ++i) {
            location_of.fetch_ahead(entities, i);
            const DatabaseDirectory::Location at = location_of(entities[i]);
            if (SHOAL_UNLIKELY(!at)) continue;
            if (SHOAL_UNLIKELY(at.table != target.number)) {
                if (target.number != LocationOf::kNoTable) break;
                if (target_of(at).number != at.table && !look_at(target_of(at), at.table)) break;
                target = target_of(at);
            }
            ++counts.num_rows;
            counts.num_flipped += target.set(at.row, is_enabled);
        }
        return i;
    }

    __attribute__((noinline)) bool look_at(Target& target, std::uint32_t number) const {
        DatabaseTable& table = database_.tables_[number];
        const int index = table.type().enableable_index(component_);
        if (index < 0) return false;
        target.number = number;
        target.words = table.presence_[static_cast<std::size_t>(index)].words();
        target.marks = table.table_.row_marks();
        target.now = table.table_.mark_of_now();
        return true;
    }

    Database& database_;
    std::span<const Entity> entities_;
    LocationOf location_of_;
    ComponentType component_;
    Target targets_[kNumTargets];  // indexed by table number % kNumTargets
};

}  // namespace shoal
