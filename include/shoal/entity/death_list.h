#pragma once
// Who died, in order, for readers that come by when it suits them. Each reader has a cursor; what every cursor has
// passed is forgotten, and without cursors nothing is kept.
//
//     position   0 ........ begin ............... end       64 bits, never reused
//                  forgotten |  kept, side by side |
//                                 ^      ^         ^
//                              cursors of three stores
//
// A cursor more than `max_entries` behind falls behind: the list lets go of its part, and its reader must go through
// all that it has and ask alive(). The pages of a burst are given back when the list has stayed short since.
// Thread: the structural thread of the entity manager that owns it.

#include "shoal/base/page_memory.h"
#include "shoal/entity/entity.h"

#include <span>

namespace shoal {

/// A place in a death list. 0 is none.
struct DeathCursor {
    std::uint32_t number = 0;
};

/// What a cursor has not passed yet.
struct DeathRange {
    std::span<const Entity> entities;  ///< in order of death; empty when the cursor fell behind
    std::uint64_t begin = 0;           ///< position of entities[0]
    std::uint64_t end = 0;             ///< where to advance to when all of it is dealt with
    bool fell_behind = false;          ///< sweep by alive() instead, then advance to `end`
};

class DeathList {
public:
    /// Reserves room for `max_entries`. Errors: no address space.
    SHOAL_API Status reserve(std::size_t max_entries);

    /// Opens a cursor at the end: it sees deaths from now on.
    SHOAL_API DeathCursor open();
    SHOAL_API void close(DeathCursor cursor);

    /// Returns whether an append would be kept: whether a cursor is open that has not fallen behind.
    bool is_followed() const { return is_followed_; }
    SHOAL_API void append(std::span<const Entity> dead);

    /// The position of the next death: a cursor that was advanced to it has nothing to read.
    std::uint64_t end() const { return end_; }
    /// Lifetime: until the next append, advance or close.
    SHOAL_API DeathRange read(DeathCursor cursor) const;
    /// Moves the cursor to `position`. Requires: not behind the cursor, not beyond the end; a cursor that fell behind
    /// goes to the `end` of the range that said so, or further.
    SHOAL_API void advance(DeathCursor cursor, std::uint64_t position);

    /// Returns how many entries are kept for the slowest cursor.
    std::size_t size() const { return static_cast<std::size_t>(end_ - begin_); }
    SHOAL_API MemoryUse memory_use() const;

private:
    static constexpr std::uint64_t kClosed = ~std::uint64_t(0);

    std::uint64_t position_of(DeathCursor cursor) const;
    void forget_before(std::uint64_t floor);
    void rewind();

    PageArray<Entity> entries_;  // slot of a position: position - base_
    std::size_t max_entries_ = 0;
    std::uint64_t base_ = 0, begin_ = 0, end_ = 0;
    Array<std::uint64_t> positions_{Owner("death list")};  // by cursor number - 1
    bool is_followed_ = false;
    std::size_t num_touched_ = 0;  // slots whose pages may be committed
    std::size_t last_length_ = 0;  // the longest the list was before it was last empty
};

}  // namespace shoal
