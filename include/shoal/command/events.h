#pragma once
// Event channels carry values from passes to later passes. A pass writes values of one type. Later passes, in this
// frame and in the next one, read them as one array.
//
//     Events<Collision>& hits = world.events<Collision>();
//     schedule.add("collide", query<Read<&Body::height>>(bodies).writing(hits),
//                  [](EventWriter<Collision>& hits, Entity body, float height) {
//                      if (height < 0) hits.write({body, height});
//                  });
//     schedule.add("hurt", {reads(hits), writes(health)}, [&](PassContext&) {
//         for (const Collision& hit : hits.read()) health.lose(hit.body, -hit.depth);
//     });
//
//     frame 1   | outside | collide: chunk 0, 1, 2, ... | hurt: read()      |
//     frame 2   | outside | early: read_last() | collide | hurt: read()     |      early gets what frame 1 wrote
//
// read() returns the events of this frame so far, and read_last() returns all events of the previous frame.
// World::step() ends the frame of the world's channels when its passes have ended, before it settles. A pass therefore
// misses no events if it calls both functions, or if it runs after the writers and calls read(). A pass that does not
// run in every frame misses the events of the frames in between. After World::step(), read_last() has the events of
// that step.
//
// Order. For any number of workers, events are in the order in which a single thread would write them: first the events
// from outside of passes, then pass by pass in schedule order, loop by loop and chunk by chunk. A schedule orders
// passes by their declarations: a pass with reads(hits) runs after the preceding passes with writes(hits). Two passes
// with writes(hits) never overlap.
//
// Writing. The function of a query.writing(hits) gets an EventWriter, whose position the compiler keeps in registers. A
// pass that uses this query declares writes(hits). In other loops, an EventWriter is a local variable for the rows of a
// chunk. Code that writes only a few events may call hits.write() anywhere. This call takes twice as long, because its
// position is in memory.
//
//     schedule.add("weigh", {reads(bodies), writes(hits)}, [&](PassContext&) {
//         EventWriter<Collision> to(hits);
//         for (const Entity body : bodies.entities()) to.write({body, -1});
//     });
//
// Events are plain values: T is trivially copyable. Entities in events may die before the events are read; test
// alive(). Values that refer to a blob do not pin it. The state hash of a world does not contain events.
//
// A channel keeps its memory: if frames are alike, writing and reading do not allocate. Memory that recent frames did
// not need is released.
// Thread: a function of a loop writes to the list of its chunk, and takes a lock for each block of 4 or 32 KiB, but not
// for each event. Loops of queries and for_rows() have chunks; a thread that a pass has started in another way must not
// write. Outside of passes, only one thread at a time may write. Any number of passes may read at the same time.

#include "shoal/command/detail/event_log.h"

#include <string_view>
#include <type_traits>

namespace shoal {

template <class T>
class Events {
    static_assert(std::is_trivially_copyable_v<T>,
                  "an event is a plain value; let it refer to larger things by an entity or an index");
    static_assert(alignof(T) <= alignof(std::max_align_t));

public:
    /// Makes a channel whose owner must call end_frame(). World::events() makes one that belongs to a world.
    Events() : log_(sizeof(T)) {}

    /// Appends an event. Requires: the running pass, if any, declares writes() for this channel (tested in checked
    /// builds). Cost: an append to memory; outside of passes, also a lock.
    SHOAL_INLINE void write(const T& value) { ::new (static_cast<void*>(log_.add_slot(sizeof(T)))) T(value); }
    void write(std::span<const T> values) { log_.append(std::as_bytes(values)); }

    /// Returns the events of this frame so far. Requires: no loop that writes them is running. A function of a loop may
    /// only call this if its pass has not written since the last read().
    /// Lifetime: until the end of the next frame; later writes do not change the span.
    /// Cost: the first call after a write copies the new events, except those that the first worker of a pass has
    /// written.
    std::span<const T> read() const { return span_of(log_.read()); }
    /// Returns all events of the previous frame. Lifetime: until the frame ends.
    std::span<const T> read_last() const { return span_of(log_.read_last()); }

    /// Ends the frame: the events of read() become the events of read_last(), whose old events are discarded.
    /// World::step() calls this for the channels of the world. Requires: no pass is running.
    void end_frame() { log_.end_frame(); }

private:
    friend class EventChannels;
    static std::span<const T> span_of(std::span<const std::byte> bytes) {
        return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
    }

    template <class>
    friend class EventWriter;
    detail::EventLog log_;
};

/// Writes events on one thread. A writer is a local object, so the compiler keeps its position in registers. While it
/// holds events, its thread must not write to the channel in another way, and must not start a loop of an executor.
/// Lifetime: a writer is destroyed before the pass or chunk that made it ends, and before the events are read. Thread:
/// the thread that made it.
template <class T>
class EventWriter {
public:
    explicit EventWriter(Events<T>& events) : log_(events.log_) {}
    EventWriter(const EventWriter&) = delete;
    EventWriter& operator=(const EventWriter&) = delete;
    ~EventWriter() { release(); }

    /// Appends an event. Requires: as for Events::write(). Cost: an append; outside of passes, also a lock.
    SHOAL_INLINE void write(const T& value) {
        if (SHOAL_UNLIKELY(at_ == end_)) {
            const detail::EventCursor more = write_slowly(log_, at_, held_, value);
            at_ = more.at, end_ = more.end, held_ = more.buffer;
            return;
        }
        ::new (static_cast<void*>(at_)) T(value);
        at_ += sizeof(T);
    }
    void write(std::span<const T> values) {
        release();
        log_.append(std::as_bytes(values));
    }

private:
    // All arguments are passed by value, so that the address of the writer is not passed on and the compiler can keep
    // its members in registers.
    static SHOAL_NOINLINE detail::EventCursor write_slowly(detail::EventLog& log, std::byte* at,
                                                           detail::EventBuffer* held, T value) {
        detail::EventCursor more = log.hold_more(at, held);
        ::new (static_cast<void*>(more.at)) T(value);
        more.at += sizeof(T);
        return more;
    }
    SHOAL_INLINE void release() {
        if (held_ != nullptr) detail::EventLog::release(at_, *held_);
        at_ = end_ = nullptr, held_ = nullptr;
    }

    detail::EventLog& log_;
    std::byte* at_ = nullptr;
    std::byte* end_ = nullptr;
    detail::EventBuffer* held_ = nullptr;  // nullptr: no buffer is held
};

namespace detail {
/// The address of this variable identifies an event type, as TypedSlot identifies a component type.
template <class T>
inline char event_type = 0;

/// The name of an event type in saves, as the compiler writes it.
template <class T>
constexpr std::string_view event_name() {
    const std::string_view text = __PRETTY_FUNCTION__;  // ... [with T = Name; ...] or [T = Name]
    const std::size_t begin = text.find("T = ") + 4;
    return text.substr(begin, text.find_first_of(";]", begin) - begin);
}
}  // namespace detail

}  // namespace shoal
