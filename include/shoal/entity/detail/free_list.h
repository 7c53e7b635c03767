#pragma once
// The free list: ids to be reused, first in, first out. Each id already has its next generation.
//
//     slots    [ c d e . . . . a b ]      a ring whose capacity is a power of two, in page memory
//                      ^       ^
//                    free    oldest
//
// When the ring is full, its capacity doubles in place: the ids before `oldest` move after the last one. Used pages are
// never freed.
// Thread: the structural thread of the entity manager that owns the list.

#include "shoal/base/detail/page_memory.h"
#include "shoal/entity/entity.h"

#include <span>

namespace shoal {

class FreeList {
public:
    /// Reserves address space for `max_ids` ids, or for fewer if address space is short, but at least for `minimum`
    /// ids. Errors: there is no room for `minimum` ids.
    SHOAL_API Status reserve(std::size_t max_ids, std::size_t minimum);

    std::size_t size() const { return num_ids_; }
    std::size_t max_size() const { return slots_.capacity(); }
    /// Returns the id at `place` in the queue; place 0 is the oldest. Requires: place < size().
    Entity operator[](std::size_t place) const { return slots_[(oldest_ + place) & (capacity_ - 1)]; }

    /// Returns the oldest id and the ids that directly follow it in memory, at most `max_ids` in total. Requires:
    /// size() > 0.
    std::span<const Entity> oldest_run(std::size_t max_ids) const {
        return {slots_.data() + oldest_, smaller(max_ids, smaller(num_ids_, capacity_ - oldest_))};
    }
    /// Requires: num_ids <= size().
    void drop_oldest(std::size_t num_ids) {
        oldest_ = (oldest_ + num_ids) & (capacity_ - 1);
        num_ids_ -= num_ids;
    }

    /// Makes room for `num_ids` more ids. Requires: size() + num_ids <= max_size().
    void make_room(std::size_t num_ids) {
        if (SHOAL_UNLIKELY(num_ids_ + num_ids > capacity_)) grow(num_ids_ + num_ids);
    }
    /// Returns the next free slots that are contiguous in memory; empty if there is no room.
    std::span<Entity> free_run() {
        const std::size_t first = (oldest_ + num_ids_) & (capacity_ - 1);
        return {slots_.data() + first, smaller(capacity_ - num_ids_, capacity_ - first)};
    }
    /// Adds the first `num_ids` slots of free_run().
    void add_run(std::size_t num_ids) {
        const std::size_t end = ((oldest_ + num_ids_) & (capacity_ - 1)) + num_ids;
        if (end > num_touched_) num_touched_ = end;
        num_ids_ += num_ids;
    }

    /// Adds one id. Requires: make_room() has been called for this id.
    void add(Entity id) {
        free_run().front() = id;
        add_run(1);
    }

    /// Removes all ids.
    void clear() { oldest_ = num_ids_ = 0; }
    SHOAL_API MemoryUse memory_use() const;

private:
    static constexpr std::size_t smaller(std::size_t a, std::size_t b) { return a < b ? a : b; }
    SHOAL_API SHOAL_NOINLINE void grow(std::size_t num_ids);

    PageArray<Entity> slots_;
    std::size_t capacity_ = 0;  // capacity of the ring, at most slots_.capacity()
    std::size_t oldest_ = 0;    // the slot of the oldest id
    std::size_t num_ids_ = 0;
    std::size_t num_touched_ = 0;  // slots written so far
};

}  // namespace shoal
