#include "shoal/entity/detail/death_list.h"

#include "shoal/base/text.h"
#include "shoal/entity/detail/saved_entities.h"
#include "shoal/state/snapshot.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace shoal {
namespace {

/// The pages of this many entries are always kept, because they are not worth freeing.
constexpr std::size_t kAlwaysKept = (std::size_t(64) << 10) / sizeof(Entity);

}  // namespace

Status DeathList::reserve(std::size_t max_entries) {
    // Twice the size, so that kept entries move to the front only after at least as many entries have been appended.
    constexpr std::size_t kMost = ~std::size_t(0);
    const std::size_t num_slots = max_entries > kMost / 2 ? kMost : 2 * max_entries;
    if (Status status = entries_.reserve(num_slots, num_slots); !status) return status;
    max_entries_ = max_entries;
    return {};
}

DeathCursor DeathList::open(std::string_view reader) {
    auto slot = std::find(positions_.begin(), positions_.end(), kClosed);
    if (slot == positions_.end()) slot = positions_.insert(slot, kClosed);
    *slot = end_;
    readers_.resize(positions_.size());
    readers_[static_cast<std::size_t>(slot - positions_.begin())] = reader;
    is_followed_ = true;
    return {static_cast<std::uint32_t>(slot - positions_.begin()) + 1};
}

std::string_view DeathList::slowest_reader() const {
    const auto slowest = std::min_element(positions_.begin(), positions_.end());
    SHOAL_ASSERT(slowest != positions_.end() && *slowest != kClosed, "nobody has deaths to read");
    return readers_[static_cast<std::size_t>(slowest - positions_.begin())];
}

void DeathList::close(DeathCursor cursor) {
    position(cursor);
    positions_[cursor.number - 1] = kClosed;
    forget_before(begin_);
}

void DeathList::append(std::span<const Entity> dead) {
    if (!is_followed_ || dead.empty()) return;
    const std::uint64_t end = end_ + dead.size();
    if (end - begin_ > max_entries_) forget_before(end - max_entries_);
    if (!is_followed_) {
        base_ = begin_ = end_ = end;  // even a cursor at the old end has fallen behind
        return;
    }
    if (end - base_ > entries_.capacity()) {
        std::memmove(entries_.data(), entries_.data() + (begin_ - base_), size() * sizeof(Entity));
        base_ = begin_;
    }
    std::memcpy(entries_.data() + (end_ - base_), dead.data(), dead.size_bytes());
    end_ = end;
    num_touched_ = std::max(num_touched_, static_cast<std::size_t>(end_ - base_));
}

DeathRange DeathList::read(DeathCursor cursor) const {
    const std::uint64_t position = this->position(cursor);
    if (position < begin_) return {{}, end_, end_, true};
    return {{entries_.data() + (position - base_), static_cast<std::size_t>(end_ - position)}, position, end_, false};
}

void DeathList::advance(DeathCursor cursor, std::uint64_t position) {
    const std::uint64_t before = this->position(cursor);
    SHOAL_ASSERT(position >= before && position <= end_,
                 "a death cursor may only advance to a position in the range that it has read");
    positions_[cursor.number - 1] = position;
    if (std::exchange(was_loaded_, false) || before <= begin_) forget_before(begin_);
}

/// Drops the entries before `floor`, and the entries that all cursors have passed. Cursors before `floor` fall behind.
void DeathList::forget_before(std::uint64_t floor) {
    std::uint64_t slowest = kClosed;
    for (const std::uint64_t position : positions_)
        if (position >= floor) slowest = std::min(slowest, position);
    is_followed_ = slowest != kClosed;
    begin_ = std::max(begin_, std::min(slowest, end_));
    if (begin_ == end_) rewind();
}

/// Moves an empty list back to the front of its memory, and frees pages that have not been needed lately.
void DeathList::rewind() {
    const auto length = static_cast<std::size_t>(end_ - base_);
    const std::size_t needed = std::max({length, last_length_, kAlwaysKept});
    if (num_touched_ > 2 * needed) {
        entries_.discard(needed, entries_.capacity());
        num_touched_ = needed;
    }
    last_length_ = length;
    base_ = end_;
}

// --- saving ------------------------------------------------------------------------------------------------------

void DeathList::save(SnapshotWriter& to) const {
    to.value("end", end_);
    to.array("dead", std::span<const Entity>(entries_.data() + (begin_ - base_), size()));
}

Status DeathList::load(SnapshotReader& from) {
    std::uint64_t end = 0;
    if (Status status = from.value("end", end); !status) return status;
    const Result<std::uint64_t> count = from.count("dead", sizeof(Entity));
    if (!count) return count.status();
    if (!from.is_trusted() && end > ~std::uint64_t(0) / 4)
        return from.error("end", "there cannot have been so many deaths");
    if (*count > max_entries_ || *count > end)
        return from.error("dead", concat(*count, " deaths are listed, and ", max_entries_, " at most"));
    if (Array<Entity> dead("death list"); !from.is_trusted())
        if (Status status = read_entities(from, "dead", dead); !status) return status;
    if (Status status = from.elements("dead", static_cast<void*>(entries_.data()), sizeof(Entity), *count); !status)
        return status;
    base_ = begin_ = end - *count;
    end_ = end;
    num_touched_ = std::max(num_touched_, static_cast<std::size_t>(*count));
    is_followed_ = false;
    was_loaded_ = true;
    for (std::uint64_t& position : positions_)
        if (position != kClosed) position = end_, is_followed_ = true;
    return {};
}

void DeathList::set_position(DeathCursor cursor, std::uint64_t position) {
    this->position(cursor);
    SHOAL_ASSERT(position <= end_, "a death cursor cannot be behind the last death");
    positions_[cursor.number - 1] = position;
    is_followed_ |= position >= begin_;
}

MemoryUse DeathList::memory_use() const {
    return {size() * sizeof(Entity), round_up(num_touched_ * sizeof(Entity), kPageBytes), entries_.reserved_bytes()};
}

}  // namespace shoal
