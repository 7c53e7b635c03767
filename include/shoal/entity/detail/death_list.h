#pragma once
// The entities that have died, in the order of their deaths, for readers that process them later. Each reader has a
// cursor. The list drops entries that all cursors have passed, and keeps no entries while there are no cursors.
//
//     position   0 ........ begin ............... end       64 bits, never reused
//                  forgotten |  kept, side by side |
//                                 ^      ^         ^
//                              cursors of three stores
//
// A cursor with more than `max_entries` unread entries falls behind: the list drops these entries, and the reader must
// call alive() for each of the reader's entities. After a burst of deaths, the list frees pages once it has stayed
// short for a while.
// Thread: the structural thread of the entity manager that owns the list.

#include "shoal/base/detail/page_memory.h"
#include "shoal/entity/entity.h"

#include <span>
#include <string_view>

namespace shoal {

class SnapshotReader;
class SnapshotWriter;

/// A reader's cursor in a death list; number 0 means none.
struct DeathCursor {
    std::uint32_t number = 0;
};

/// The deaths that a cursor has not passed yet.
struct DeathRange {
    std::span<const Entity> entities;  ///< in the order of their deaths; empty if the cursor fell behind
    std::uint64_t begin = 0;           ///< position of entities[0]
    std::uint64_t end = 0;             ///< advance to here after reading all entities
    bool fell_behind = false;          ///< call alive() for every entity, then advance to `end`

    /// Whether the rows of dead entities are removed faster by one pass over `num_rows` rows than by a look-up for each
    /// dead entity.
    bool calls_for_sweep(std::uint64_t num_rows) const { return fell_behind || entities.size() > num_rows / 2; }
};

class DeathList {
public:
    /// Reserves room for `max_entries`. Errors: no address space.
    SHOAL_API Status reserve(std::size_t max_entries);

    /// Opens a cursor at the end of the list. The cursor sees all deaths from now on. `reader` names the cursor's
    /// owner; the string outlives the cursor.
    SHOAL_API DeathCursor open(std::string_view reader = "a store");
    SHOAL_API void close(DeathCursor cursor);

    /// Whether append() keeps entries, because at least one cursor is open and has not fallen behind.
    bool is_followed() const { return is_followed_; }
    SHOAL_API void append(std::span<const Entity> dead);

    /// The position of the next death. A cursor at this position has nothing to read.
    std::uint64_t end() const { return end_; }
    /// Lifetime: until the next append(), advance() or close().
    SHOAL_API DeathRange read(DeathCursor cursor) const;
    /// Moves a cursor to `position`. Requires: `position` is between the cursor's position and end(). If the cursor
    /// fell behind, `position` is at least the `end` of the range that reported this.
    SHOAL_API void advance(DeathCursor cursor, std::uint64_t position);

    /// The position of a cursor.
    std::uint64_t position(DeathCursor cursor) const {
        SHOAL_ASSERT(cursor.number - 1 < positions_.size() && positions_[cursor.number - 1] != kClosed,
                     "this death cursor is not open");
        return positions_[cursor.number - 1];
    }
    /// Puts a cursor at `position`, or marks it as behind if entries from there on have been dropped. Requires:
    /// position <= end().
    SHOAL_API void set_position(DeathCursor cursor, std::uint64_t position);

    /// Saves the entries that at least one cursor has not passed. After load(), all cursors are at the end until
    /// set_position() moves them.
    SHOAL_API void save(SnapshotWriter& to) const;
    SHOAL_API Status load(SnapshotReader& from);

    std::uint64_t begin() const { return begin_; }      ///< the position of the first kept entry
    SHOAL_API std::string_view slowest_reader() const;  ///< the owner of the slowest cursor. Requires: size() > 0
    /// The number of entries kept for the slowest cursor.
    std::size_t size() const { return static_cast<std::size_t>(end_ - begin_); }
    SHOAL_API MemoryUse memory_use() const;

private:
    static constexpr std::uint64_t kClosed = ~std::uint64_t(0);

    void forget_before(std::uint64_t floor);
    void rewind();

    PageArray<Entity> entries_;  // the slot for a position is position - base_
    std::size_t max_entries_ = 0;
    std::uint64_t base_ = 0, begin_ = 0, end_ = 0;
    Array<std::uint64_t> positions_{Owner("death list")};  // this array and the next are indexed by cursor number - 1
    Array<std::string_view> readers_{Owner("death list")};
    bool is_followed_ = false;
    bool was_loaded_ = false;      // since the last advance(): perhaps no cursor is at begin_
    std::size_t num_touched_ = 0;  // slots whose pages may be committed
    std::size_t last_length_ = 0;  // the list's length before it last became empty
};

}  // namespace shoal
