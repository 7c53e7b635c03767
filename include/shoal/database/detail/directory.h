#pragma once
// Finds the row of each entity: its table, and its row number in that table.
//
//     entity index        0    1     2   ...
//     rows                .   g:5    .        4 bytes: generation above row; one RowIndex that all tables share
//     tables              .    7     .        2 bytes: the lower half of the table's number
//     upper tables        .    0     .        2 bytes, reserved only once there are more than 65,536 tables
//
// Two arrays need 6 bytes per entity instead of 8, and a look-up that needs only the row touches half the cache lines.
// The upper half makes thousands of zones with hundreds of archetypes possible. Databases without it pay for a branch
// that is never taken; databases with it lose the fast path for calls about one entity.
// Thread: any thread may call find() between structural calls.

#include "shoal/table/detail/row_index.h"

namespace shoal {

class EntityManager;

class DatabaseDirectory {
public:
    struct Location {
        std::uint32_t table = 0;
        std::uint32_t row = kNilRow;
        explicit operator bool() const { return row != kNilRow; }
    };

    /// Any id is allowed; stale and foreign ids have no location. Cost: one look-up in each of two arrays.
    SHOAL_INLINE Location find(Entity entity) const {
        if (SHOAL_UNLIKELY(entity.index() >= num_narrow_)) return find_wide(entity);
        const std::uint32_t row = RowIndex::row_in(rows_.entries()[entity.index()], entity);
        if (SHOAL_UNLIKELY(row == kNilRow)) return {};
        return {tables_[entity.index()], row};
    }
    /// For the fast path of structural calls: one test checks that the directory covers the index, that rows are not
    /// held, and that there are at most 65,536 tables. If the test fails, nothing is found.
    SHOAL_INLINE Location find_unless_held(Entity entity) const {
        if (SHOAL_UNLIKELY(!is_open(entity.index()))) return {};
        return find_covered(entity);
    }
    /// Whether no entity has a row at this index, and a row can be set there. Uses the same test as find_unless_held().
    SHOAL_INLINE bool is_free_unless_held(Entity entity) const {
        return SHOAL_LIKELY(is_open(entity.index())) && rows_.entries()[entity.index()] == 0;
    }
    /// Sets the location of an entity. Requires: find_unless_held() has found it, or is_free_unless_held() has returned
    /// true.
    SHOAL_INLINE void set_reserved(Entity entity, std::uint32_t table, std::uint32_t row) {
        rows_.entry(entity.index()) = RowIndex::entry_of(entity, row);
        tables_[entity.index()] = static_cast<std::uint16_t>(table);
    }
    /// Like find(), but does not test that the directory covers the index. Requires: covers().
    SHOAL_INLINE Location find_covered(Entity entity) const { return covered().find(entity); }
    /// The arrays that find_covered() reads. A loop can keep their addresses in registers, whatever it writes.
    /// Lifetime: until the next reserve().
    struct Covered {
        const EntityBits* entries = nullptr;
        const std::uint16_t* tables = nullptr;

        SHOAL_INLINE Location find(Entity entity) const {
            return {tables[entity.index()], RowIndex::row_in(entries[entity.index()], entity)};
        }
    };
    Covered covered() const { return {rows_.entries().data(), tables_.data()}; }
    SHOAL_INLINE Location guess_covered(Entity entity) const {
        const EntityBits entry = rows_.entries()[entity.index()];
        return {tables_[entity.index()], static_cast<std::uint32_t>(entry & kIndexMask)};
    }
    SHOAL_INLINE void prefetch_covered(Entity entity) const {
        __builtin_prefetch(rows_.entries().data() + entity.index());
        __builtin_prefetch(tables_.data() + entity.index());
    }
    /// Whether the `covered` functions may be called for all of `entities`. Cost: a fraction of a look-up per entity.
    bool covers(std::span<const Entity> entities) const { return num_narrow_ != 0 && rows_.covers(entities); }
    /// For prefetching: the location stored for the index, even if it belongs to another entity.
    SHOAL_INLINE Location guess(Entity entity) const {
        const std::span<const EntityBits> entries = rows_.entries();
        if (SHOAL_UNLIKELY(entity.index() >= entries.size())) return {0, 0};
        return {table_of(entity.index()), static_cast<std::uint32_t>(entries[entity.index()] & kIndexMask)};
    }
    /// The table of the entity that has a row at this index. Requires: there is such an entity.
    SHOAL_INLINE std::uint32_t table_of(std::uint32_t entity_index) const {
        std::uint32_t table = tables_[entity_index];
        if (SHOAL_UNLIKELY(upper_tables_.capacity() != 0)) table |= std::uint32_t(upper_tables_[entity_index]) << 16;
        return table;
    }
    SHOAL_INLINE void set_table(std::uint32_t entity_index, std::uint32_t table) {
        tables_[entity_index] = static_cast<std::uint16_t>(table);
        if (SHOAL_UNLIKELY(upper_tables_.capacity() != 0))
            upper_tables_[entity_index] = static_cast<std::uint16_t>(table >> 16);
    }
    /// Sets the table for all of `entities`.
    SHOAL_API void set_table(std::span<const Entity> entities, std::uint32_t table);
    /// Gives consecutive rows of a table to `entities`, stopping before the first one that is dead or has a row, and
    /// returns how many entities got a row. Requires: room is reserved.
    SHOAL_API std::uint32_t set_leading(std::span<const Entity> entities, const EntityManager& living,
                                        std::uint32_t table, std::uint32_t first_row);
    /// Gives all rows of a loaded table to their owners, which may be dead, and returns how many owners got a row.
    /// Owners must be ids with indices up to `max_index`.
    SHOAL_API std::uint32_t set_owners(std::span<const Entity> owners, std::uint32_t max_index, std::uint32_t table);
    SHOAL_INLINE void prefetch(Entity entity) const {
        rows_.prefetch(entity);
        if (entity.index() < tables_.capacity()) __builtin_prefetch(tables_.data() + entity.index());
    }

    /// Makes room for entities with indices up to `max_index`. Errors: no address space. On error, nothing has changed.
    SHOAL_API Status reserve(std::uint32_t max_index);
    /// Makes room for table numbers below `num_tables`. Errors: as for reserve().
    SHOAL_API Status reserve_tables(std::uint32_t num_tables);

    /// While rows are held, no row may be added, removed or moved. Holds can be nested. Thread: any.
    void hold() { __atomic_fetch_sub(&gate_, kHold, __ATOMIC_RELAXED); }
    void release() {
        SHOAL_ASSERT(is_held(), "rows are released that were not held");
        __atomic_fetch_add(&gate_, kHold, __ATOMIC_RELAXED);
    }
    bool is_held() const { return __atomic_load_n(&gate_, __ATOMIC_RELAXED) < 0; }

    RowIndex& rows() { return rows_; }
    const RowIndex& rows() const { return rows_; }
    SHOAL_API MemoryUse memory_use() const;

private:
    static constexpr std::int64_t kHold = std::int64_t(1) << 40;

    SHOAL_INLINE bool is_open(std::uint32_t entity_index) const { return std::int64_t(entity_index) < gate_; }
    void note_width();
    /// Like find(), for any index. Pure: a loop need not read again what it has read before the call.
    __attribute__((pure)) SHOAL_API Location find_wide(Entity entity) const;
    template <class Living>
    std::uint32_t set_rows(std::span<const Entity> entities, const Living& living, std::uint32_t table,
                           std::uint32_t first_row);

    RowIndex rows_ = RowIndex(RowIndexKind::kPaged);
    PageArray<std::uint16_t> tables_;        // indexed by entity index
    PageArray<std::uint16_t> upper_tables_;  // indexed by entity index
    std::size_t num_narrow_ = 0;             // the entries that find() reads directly: all, or 0 with upper tables
    std::uint32_t max_index_ = 0;
    std::int64_t gate_ = 0;  // reserved entries (0 with upper tables), minus kHold for each hold
};

}  // namespace shoal
