#pragma once
// Finds the row of an entity. There are three kinds of index, chosen by how common a component is:
//
//     paged     the default: one flat array over all entity indices, in reserved address space. Untouched pages cost
//               nothing; touched pages cost 4 bytes per index. An index that is created for many entities starts in
//               shared 2 MiB pages, and moves to its own address space when it outgrows them.
//     hash      open addressing, for rare components: 8 bytes per slot (16 with 64-bit ids), at most 3/4 full.
//     identity  the row is the entity index, so some rows are holes. For components that nearly every entity has: keeps
//               one generation per index.
//
// An entry has the generation of its entity, so a stale, null or foreign id finds kNilRow. An index holds at most one
// generation per entity index.
// Thread: find() from any thread between structural calls.

#include "shoal/base/detail/page_memory.h"
#include "shoal/entity/entity.h"

#include <span>

namespace shoal {

inline constexpr std::uint32_t kNilRow = 0xFFFFFFFF;

enum class RowIndexKind : std::uint8_t { kPaged, kHash, kIdentity };

/// The lowest and the highest index of some entities.
struct IndexRange {
    std::uint32_t lowest = 0xFFFFFFFF, highest = 0;
};
SHOAL_API IndexRange index_range(std::span<const Entity> entities);

class RowIndex {
public:
    /// `pool`, if not null, outlives the index. Without a pool, the index has its own address space from the start.
    /// If there is no address space even for the smallest index, reserve() fails later.
    SHOAL_API explicit RowIndex(RowIndexKind kind, PagePool* pool = nullptr);

    RowIndexKind kind() const { return kind_; }

    /// Returns the row of `entity`, or kNilRow. Total: any id is valid. Cost: one look-up.
    std::uint32_t find(Entity entity) const {
        if (SHOAL_LIKELY(kind_ == RowIndexKind::kPaged)) return find_in(entries(), entity);
        return find_other(entity);
    }
    /// Like find(), but is given the entries of a paged index, so that a loop keeps their address in a register.
    SHOAL_INLINE static std::uint32_t find_in(std::span<const EntityBits> entries, Entity entity) {
        if (SHOAL_UNLIKELY(entity.index() >= entries.size())) return kNilRow;
        return row_in(entries[entity.index()], entity);
    }

    /// Returns the row that is stored for the index of `entity`, whatever the generation, or kNilRow.
    std::uint32_t find_any_generation(Entity entity) const {
        if (SHOAL_UNLIKELY(kind_ != RowIndexKind::kPaged)) return find_any_other(entity);
        if (SHOAL_UNLIKELY(entity.index() >= num_flat_)) return kNilRow;
        const EntityBits entry = flat_[entity.index()];
        return entry != 0 ? static_cast<std::uint32_t>(entry & kIndexMask) : kNilRow;
    }

    /// Returns the entry in a paged index for a living entity whose row is `row`.
    static constexpr EntityBits entry_of(Entity entity, std::uint32_t row) { return (entity.id & ~kIndexMask) | row; }
    /// Returns the row in `entry`, or kNilRow if the entry is another entity's. If the entry has the entity's
    /// generation, subtracting that generation leaves the row; otherwise, the difference is larger than any row. An
    /// empty entry has generation 0, which no entity has.
    SHOAL_INLINE static constexpr std::uint32_t row_in(EntityBits entry, Entity entity) {
        const EntityBits generation = entity.id & ~kIndexMask;
        if (SHOAL_UNLIKELY(generation == 0)) return kNilRow;
        const EntityBits row = entry - generation;
        return row <= kIndexMask ? static_cast<std::uint32_t>(row) : kNilRow;
    }
    /// The highest entity index that may be set.
    std::uint32_t max_index() const { return max_index_; }
    /// The entries of a paged index, for loops over many entities. Shape: indexed by entity index, 0 for no entry;
    /// empty for other kinds. Lifetime: until the next reserve().
    std::span<EntityBits> entries() { return {flat_, num_flat_}; }
    std::span<const EntityBits> entries() const { return {flat_, num_flat_}; }
    /// Requires: index < entries().size().
    EntityBits& entry(std::uint32_t index) { return flat_[index]; }

    /// Whether no index in `range` has an entry. Also false if the range is too long for one loop over all its indices,
    /// which is rare if the entities were created together. Requires: the index is paged.
    SHOAL_API bool is_free(IndexRange range, std::size_t num_entities) const;
    /// Whether no entity index in [lowest, highest] has an entry. Requires: the index is paged. Cost: a vectorised
    /// loop, whereas a look-up for each entity would take as long as copying its component.
    SHOAL_API bool is_free(std::uint32_t lowest, std::uint32_t highest) const;
    /// Gives consecutive rows, starting at `first_row`, to the leading entities. Stops at the first entity that is dead
    /// according to `living` (an EntityManager), or whose index already has an entry. Calls note(span, are_run) for the
    /// entities in order; if `are_run`, the ids in the span are consecutive. Returns how many entities got a row.
    /// Requires: room is reserved, and the index is paged.
    template <class Living, class Note>
    std::uint32_t set_leading(std::span<const Entity> entities, const Living& living, std::uint32_t first_row,
                              Note&& note);

    /// Whether a paged index has an entry, used or empty, for each of `entities`.
    SHOAL_API bool covers(std::span<const Entity> entities) const;

    /// Calls visit(i, row) for each of `entities` in order; `row` is kNilRow if the entity does not have a row. If
    /// `far` is not 0, entries are prefetched `far` entities ahead, and fetch(row) is called `far` / 2 entities ahead,
    /// with the row that visit() will probably get.
    template <class Visit, class Fetch>
    SHOAL_INLINE void find_each(std::span<const Entity> entities, std::size_t far, Visit&& visit, Fetch&& fetch) const;

    /// Prefetches the entry of `entity`. This is inline because g++ would drop a call that seems to have no effect.
    SHOAL_INLINE void prefetch(Entity entity) const {
        if (entity.index() < num_flat_) __builtin_prefetch(flat_ + entity.index());
    }

    /// Makes room for the rows of `num_more` more entities with indices up to `max_index`. Errors: out of memory. On
    /// error, nothing has changed.
    Status reserve(std::uint32_t num_more, std::uint32_t max_index) {
        if (SHOAL_LIKELY(kind_ != RowIndexKind::kHash && max_index <= max_index_ && max_index < capacity())) return {};
        return reserve_more(num_more, max_index);
    }

    /// Sets the row of `entity`, replacing an entry of any generation at its index. Requires: room is reserved; the
    /// entity is not null; with an identity index, row == entity.index().
    void set(Entity entity, std::uint32_t row) {
        SHOAL_ASSERT(entity && (kind_ != RowIndexKind::kPaged || entity.index() < num_flat_),
                     "the row index has reserved no room for the entity");
        if (SHOAL_LIKELY(kind_ == RowIndexKind::kPaged))
            flat_[entity.index()] = static_cast<EntityBits>(entity.generation()) << kIndexBits | row;
        else
            set_other(entity, row);
    }

    /// Returns the entry to write for `entity` if there is room and the entry is empty, otherwise nullptr. Requires:
    /// the index is paged; the entity is not null.
    EntityBits* free_entry(Entity entity) {
        if (SHOAL_UNLIKELY(entity.index() > max_index_)) return nullptr;
        EntityBits* const entry = flat_ + entity.index();
        return SHOAL_LIKELY(*entry == 0) ? entry : nullptr;
    }

    /// Removes the entry of `entity` if the entry's row is `row`. If a newer entity has the same index, its entry
    /// stays.
    SHOAL_API void erase(Entity entity, std::uint32_t row);

    /// Removes all entries, but keeps the memory unless `release` is true.
    SHOAL_API void clear(bool release = false);

    /// Units: bytes; `used` counts entries in use, and `committed` counts touched pages, as far as known.
    SHOAL_API MemoryUse memory_use() const;

    SHOAL_API ~RowIndex();
    RowIndex(const RowIndex&) = delete;
    RowIndex& operator=(const RowIndex&) = delete;

private:
    struct Slot {
        Entity entity;
        std::uint32_t row = 0;

        bool is_used() const { return static_cast<bool>(entity); }
    };

    static constexpr std::size_t kRunLength = 512;  // entities per run; their entries stay in the cache

    SHOAL_API bool set_run(std::span<const Entity> entities, std::uint32_t first_row);
    /// Declared pure, so that a loop does not have to reload what it has read before the call.
    SHOAL_API std::uint32_t find_other(Entity entity) const __attribute__((pure));
    SHOAL_API std::uint32_t find_any_other(Entity entity) const;
    SHOAL_API void set_other(Entity entity, std::uint32_t row);
    SHOAL_API Status reserve_more(std::uint32_t num_more, std::uint32_t max_index);
    /// The number of entity indices that a flat index has address space for.
    std::size_t capacity() const { return num_flat_ + generations_.capacity(); }
    std::size_t slot_of(std::uint32_t entity_index) const;
    Status grow_flat(std::uint32_t num_more, std::size_t num_indices);
    bool move_to_block(std::size_t num_indices);
    void free_block();
    Status grow_hash(std::size_t num_slots);

    RowIndexKind kind_;
    std::uint32_t max_index_ = 0;    // highest entity index that may be set
    std::uint32_t num_entries_ = 0;  // hash only
    std::size_t num_slots_ = 0;      // hash only, a power of two
    EntityBits* flat_ = nullptr;     // paged: by entity index; generation above row, or 0 if empty
    std::size_t num_flat_ = 0;       // entries that flat_ has address space for
    PagePool* pool_;
    std::size_t block_bytes_ = 0;  // the size of flat_ if it is a block of pool_; 0: flat_ is in paged_
    PageArray<EntityBits> paged_;
    PageArray<Generation> generations_;  // identity: by entity index; 0 if the row is a hole
    PageArray<Slot> slots_;              // hash
};

template <class Living, class Note>
std::uint32_t RowIndex::set_leading(std::span<const Entity> entities, const Living& living, std::uint32_t first_row,
                                    Note&& note) {
    std::uint32_t row = first_row;
    while (row - first_row < entities.size()) {
        std::span<const Entity> some = entities.subspan(row - first_row);
        if (some.size() > kRunLength) some = some.first(kRunLength);
        const std::uint32_t begin = row;
        const bool are_run = living.is_living_run(some) && set_run(some, row);
        for (const Entity entity : are_run ? std::span<const Entity>() : some) {
            if (SHOAL_UNLIKELY(!living.alive(entity) || flat_[entity.index()] != 0)) break;
            flat_[entity.index()] = entry_of(entity, row++);
        }
        if (are_run) row += static_cast<std::uint32_t>(some.size());
        note(some.first(row - begin), are_run);
        if (row - begin < some.size()) break;
    }
    return row - first_row;
}

template <class Visit, class Fetch>
SHOAL_INLINE void RowIndex::find_each(std::span<const Entity> entities, std::size_t far, Visit&& visit,
                                      Fetch&& fetch) const {
    const std::span<const EntityBits> flat = entries();
    std::size_t i = 0;
    // This loop has no test per entity, because every index is in range.
    if (covers(entities)) {
        const auto row_of = [&](std::size_t k) { return row_in(flat[entities[k].index()], entities[k]); };
        for (; far != 0 && i + far < entities.size(); ++i) {
            __builtin_prefetch(flat.data() + entities[i + far].index());
            // For a stale id, this prefetches another entity's row; for an id without an entry, it prefetches row 0.
            // This is cheaper than a test.
            fetch(static_cast<std::uint32_t>(flat[entities[i + far / 2].index()] & kIndexMask));
            visit(i, row_of(i));
        }
        for (; i < entities.size(); ++i) visit(i, row_of(i));
        return;
    }
    for (; i < entities.size(); ++i) {
        if (far != 0 && i + far < entities.size()) {
            prefetch(entities[i + far]);
            if (const std::uint32_t row = find(entities[i + far / 2]); row != kNilRow) fetch(row);
        }
        visit(i, find(entities[i]));
    }
}

}  // namespace shoal
