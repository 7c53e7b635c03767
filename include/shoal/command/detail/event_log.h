#pragma once
// The part of an event channel that depends on the size of an event, but not on its type.
//
//     cursor      where the calling thread appends, for each of the last few channels that it has written to
//     buffer      what one chunk has written: blocks of 4 KiB, 32 KiB, 32 KiB ...
//     frame       buffers, which the first reader sorts by place and copies to one array
//
// Thread: see events.h.

#include "shoal/base/detail/config.h"
#include "shoal/base/detail/memory.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace shoal::detail {

class EventLog;
struct EventBuffer;

/// The position at which a thread appends to the buffer of its current scope. Null outside of scopes.
struct EventCursor {
    const EventLog* log;
    std::byte* at;
    std::byte* end;
    EventBuffer* buffer;
};

inline constexpr std::size_t kNumEventCursors = 4;
/// Shape: indexed by channel number modulo kNumEventCursors.
extern SHOAL_API constinit thread_local EventCursor event_cursors[kNumEventCursors];

class EventLog {
public:
    SHOAL_API explicit EventLog(std::uint32_t event_bytes);
    SHOAL_API ~EventLog();
    EventLog(const EventLog&) = delete;
    EventLog& operator=(const EventLog&) = delete;

    /// Returns the place for a new event. Requires: event_bytes is the size given to the constructor.
    SHOAL_INLINE std::byte* add_slot(std::size_t event_bytes) {
        EventCursor& cursor = event_cursors[number_ % kNumEventCursors];
        if (SHOAL_UNLIKELY(cursor.log != this || cursor.at == cursor.end)) return add_slot_slowly();
        std::byte* const slot = cursor.at;
        cursor.at = slot + event_bytes;
        return slot;
    }
    /// Returns more room for a writer whose room is full. The room comes after `at` in the buffer that the writer
    /// holds. If `held` is nullptr, the room is in the buffer of the scope, which the writer holds from now on.
    SHOAL_API EventCursor hold_more(std::byte* at, EventBuffer* held);
    /// Ends a writer's hold on its buffer. The writer has written up to `at`.
    SHOAL_API static void release(std::byte* at, EventBuffer& held);
    /// Appends events, as bytes.
    SHOAL_API void append(std::span<const std::byte> events);
    SHOAL_API std::span<const std::byte> read() const;
    SHOAL_API std::span<const std::byte> read_last() const;
    SHOAL_API void end_frame();
    /// Replaces the events of this frame and of the last frame. Shape: multiples of the event size. Requires: no pass
    /// is running.
    SHOAL_API void replace(std::span<const std::byte> events, std::span<const std::byte> last_events);
    SHOAL_API std::uint32_t event_bytes() const;
    /// Records whether passes are running in the world that owns the channel. While they run, only these passes may
    /// write.
    SHOAL_API void hold(bool passes_run);

private:
    friend struct EventBuffer;
    struct State;
    SHOAL_API std::byte* add_slot_slowly();

    State* state_;
    std::uint32_t number_;
};

}  // namespace shoal::detail
