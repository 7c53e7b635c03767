// Event channels: buffers of chunks, and the array to which they are copied when events are read.
//
//     array of a frame    | chunk 0 | chunk 1 | chunk 2 ...   |  room that recent frames have needed        |
//     buffers                                  (in place)        chunk 57 | chunk 58 ... copied after them
//
// Once all of its predecessors have ended, a chunk writes directly to its place in the array. In a loop, the first
// worker's chunks do so, up to the first chunk that has written nothing or was begun by another worker.

#include "shoal/command/events.h"

#include "command/log_blocks.h"
#include "shoal/base/detail/page_memory.h"
#include "shoal/job/detail/work_scope.h"
#include "shoal/job/row_ranges.h"
#include "shoal/table/detail/access_guard.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <utility>

namespace shoal::detail {

constinit thread_local EventCursor event_cursors[kNumEventCursors] = {};

namespace {

constexpr const char* kOwner = "events";
constexpr std::size_t kLeastArrayBytes = 1024;
constexpr std::size_t kLeastSharedBytes = std::size_t(256) << 10;  // from this size on, several workers copy

std::atomic<std::uint32_t> g_num_logs{0};

/// The copied events of one frame, in order.
struct EventArray {
    LogBlock memory;
    std::size_t num_bytes = 0;
    Array<LogBlock> outgrown{Owner(kOwner)};  // earlier results of read() may refer to this memory

    ~EventArray() {
        clear(0);
        release(memory);
    }

    /// Returns how much room there is after the other events, rounded down to a multiple of `event_bytes`.
    std::size_t room(std::size_t usual_bytes, std::size_t event_bytes) {
        if (memory.data == nullptr && usual_bytes != 0) memory = allocate(std::max(usual_bytes, kLeastArrayBytes));
        return (memory.num_bytes - num_bytes) / event_bytes * event_bytes;
    }
    /// Returns room for more events after the existing ones. `usual_bytes` is the number of bytes that recent frames
    /// have needed.
    std::byte* append(std::size_t more_bytes, std::size_t usual_bytes) {
        const std::size_t needed_bytes = num_bytes + more_bytes;
        if (needed_bytes > memory.num_bytes) {
            const std::size_t room = std::max({needed_bytes, usual_bytes, 2 * memory.num_bytes, kLeastArrayBytes});
            const LogBlock grown = allocate(room);
            if (num_bytes != 0) std::memcpy(grown.data, memory.data, num_bytes);
            outgrown.push_back(std::exchange(memory, grown));
        }
        return memory.data + std::exchange(num_bytes, needed_bytes);
    }
    /// Discards the events, and releases the memory if recent frames needed less than half of it.
    void clear(std::size_t usual_bytes) {
        for (const LogBlock& block : outgrown) release(block);
        outgrown.clear();
        num_bytes = 0;
        if (memory.num_bytes > std::max(2 * usual_bytes, kLeastArrayBytes)) release(std::exchange(memory, {}));
    }
    /// Allocates large pages for many events.
    static LogBlock allocate(std::size_t least_bytes) {
        if (least_bytes < kLargePageBytes)
            return {static_cast<std::byte*>(allocate_memory(least_bytes, kOwner)), least_bytes};
        const std::size_t room = round_up(least_bytes, kLargePageBytes);
        const Result<PageRange> range = reserve_pages(room, kLargePageBytes);
        SHOAL_ASSERT(range.ok(), "there is no address space left for the events of a frame; write fewer");
        prefer_large_pages(range->data, room);
        return {range->data, room};
    }
    static void release(const LogBlock& block) {
        if (block.num_bytes >= kLargePageBytes) return release_pages({block.data, block.num_bytes});
        if (block.data != nullptr) release_memory(block.data, block.num_bytes, kOwner);
    }
};

}  // namespace

/// The events of one chunk, or of a pass between two loops.
struct EventBuffer final : OpenInScope {
    EventLog* log = nullptr;
    WorkPosition place;
    std::uint64_t opened = 0;               // the number of buffers opened before this one
    Array<LogBlock> blocks{Owner(kOwner)};  // all except the last are full
    std::byte* end = nullptr;               // the end of the events in the last block
    std::byte* room_end = nullptr;          // the end of the last block
    bool is_in_place = false;               // the first events are at the end of the array, and not in blocks
    std::size_t place_in_array = 0;         // an offset in bytes; set when the buffer is copied
    bool is_held = false;                   // held by a writer, which knows the end

    void close(bool is_over) override;
};

/// Whether no work of the pass precedes `place`, because it is before the first loop, or in the first chunk of that
/// loop.
bool is_first_of_pass(const WorkPosition& place) {
    if (place.pass == 0) return false;
    if (place.num_steps == 1) return place.steps[0].loop == 0;
    return place.num_steps == 2 && place.steps[0].loop == 1 && place.steps[0].chunk == 0 && place.steps[1].loop == 0;
}

/// Whether `last`, which has ended, and `next` are consecutive chunks, with no work between them.
bool is_next_chunk(const WorkPosition& last, const WorkPosition& next) {
    return last.num_steps == 2 && next.num_steps == 2 && last.pass == next.pass &&
           last.steps[0].loop == next.steps[0].loop && last.steps[0].chunk + 1 == next.steps[0].chunk &&
           next.steps[1].loop == 0;
}

struct EventLog::State {
    State(std::uint32_t size, EventLog* of) : event_bytes(size), log(of) {}
    ~State();

    EventCursor cursor_in(WorkScope& scope);
    EventCursor& own_cursor(WorkScope& scope);
    EventBuffer& open(const WorkPosition& place);
    bool is_next(const WorkPosition& place) const;
    void begin_in_place(EventBuffer& buffer);
    void end_in_place(const EventBuffer& buffer, bool is_over);
    EventCursor add_block(EventBuffer& buffer);
    std::byte* add_outside();
    std::size_t bytes_in(const EventBuffer& buffer, std::size_t block) const;
    void copy(std::size_t frame, Executor* executor);
    void copy_buffers(std::span<EventBuffer* const> buffers, std::byte* array) const;
    void recycle(std::size_t frame);
    void require_readable(WorkScope* scope) const;
    std::span<const std::byte> read(std::size_t frame);

    const std::uint32_t event_bytes;
    EventLog* const log;
    std::mutex mutex;  // guards all members below except the atomics
    struct Frame {
        std::atomic<bool> has_new{false};            // some buffers have not been copied yet
        Array<EventBuffer*> buffers{Owner(kOwner)};  // in the order in which they were opened
        EventArray array;
    } frames[2];
    std::size_t now = 0;  // the index of this frame; the other frame is the last one
    std::atomic<std::uint32_t> num_open{0};
    std::atomic<bool> passes_run{false};
    std::uint64_t num_opened = 0;
    std::size_t usual_bytes = 0;  // bytes that recent frames have needed
    bool tail_is_taken = false;   // a buffer grows at the end of this frame's array
    WorkPosition last_in_place;   // the last chunk that wrote in place and has ended
    EventCursor outside = {};     // for threads outside of passes
    Array<EventBuffer*> idle{Owner(kOwner)};
    LogBlocks blocks{kOwner};
};

EventLog::State::~State() {
    recycle(0), recycle(1);
    for (const EventBuffer* buffer : idle) destroy_owned(kOwner, buffer);
}

// --- writing -----------------------------------------------------------------------------------------------------

EventBuffer& EventLog::State::open(const WorkPosition& place) {
    SHOAL_ASSERT(place.is_exact(), "events were written in loops within loops within loops; write them further out");
    if (idle.empty()) {
        idle.push_back(make_owned<EventBuffer>(kOwner));
        idle.back()->log = log;
        idle.back()->owner = log;
    }
    EventBuffer& buffer = *idle.back();
    idle.pop_back();
    buffer.place = place;
    buffer.opened = num_opened++;
    buffer.end = buffer.room_end = nullptr;
    buffer.is_in_place = false;
    frames[now].buffers.push_back(&buffer);
    frames[now].has_new.store(true, std::memory_order_release);
    return buffer;
}

/// Returns a cursor at the beginning of a new block.
EventCursor EventLog::State::add_block(EventBuffer& buffer) {
    if (buffer.is_in_place && buffer.blocks.empty()) {
        buffer.end = buffer.room_end;
        end_in_place(buffer, false);
    }
    const LogBlock block = blocks.take(event_bytes, !buffer.blocks.empty());
    buffer.blocks.push_back(block);
    buffer.room_end = block.data + block.num_bytes / event_bytes * event_bytes;
    return {log, block.data, buffer.room_end, &buffer};
}

/// Whether all events of this frame that precede `place` have been written, and are in the array.
bool EventLog::State::is_next(const WorkPosition& place) const {
    if (is_next_chunk(last_in_place, place)) return true;
    if (!is_first_of_pass(place)) return false;
    return std::none_of(frames[now].buffers.begin(), frames[now].buffers.end(), [&](const EventBuffer* buffer) {
        return !buffer->blocks.empty() && !comes_before(place, buffer->place);
    });
}

/// Lets a new buffer grow at the end of the array, if its events belong there and there is room.
void EventLog::State::begin_in_place(EventBuffer& buffer) {
    if (tail_is_taken || !is_next(buffer.place)) return;
    EventArray& array = frames[now].array;
    const std::size_t room = array.room(usual_bytes, event_bytes);
    if (room == 0) return;
    buffer.is_in_place = tail_is_taken = true;
    buffer.end = array.memory.data + array.num_bytes;
    buffer.room_end = buffer.end + room;
}

void EventLog::State::end_in_place(const EventBuffer& buffer, bool is_over) {
    EventArray& array = frames[now].array;
    array.num_bytes = static_cast<std::size_t>(buffer.end - array.memory.data);
    tail_is_taken = false;
    last_in_place = is_over ? buffer.place : WorkPosition();
}

void EventBuffer::close(bool is_over) {
    SHOAL_ASSERT(!is_held,
                 "an EventWriter lives while its pass starts a loop, reads or ends; let it end before, or write with "
                 "Events::write()");
    EventCursor& cursor = event_cursors[log->number_ % kNumEventCursors];
    if (cursor.buffer == this) {
        end = cursor.at;
        cursor = {};
    }
    if (is_in_place && blocks.empty()) {
        const std::lock_guard lock(log->state_->mutex);
        log->state_->end_in_place(*this, is_over);
    }
    log->state_->num_open.fetch_sub(1, std::memory_order_release);
}

std::byte* EventLog::State::add_outside() {
    const std::lock_guard lock(mutex);
    SHOAL_ASSERT(!passes_run.load(std::memory_order_relaxed) && num_open.load(std::memory_order_relaxed) == 0,
                 "a thread that runs neither a pass nor a chunk of one wrote events while passes run; write them in a "
                 "loop of a query or of for_rows()");
    const WorkPosition place = WorkScope::place();
    if (outside.buffer == nullptr || comes_before(outside.buffer->place, place))
        outside = {log, nullptr, nullptr, &open(place)};
    if (outside.at == outside.end) outside = add_block(*outside.buffer);
    return outside.buffer->end = (outside.at += event_bytes), outside.at - event_bytes;
}

/// Returns the calling thread's cursor in the buffer of the scope.
EventCursor& EventLog::State::own_cursor(WorkScope& scope) {
    EventCursor& cursor = event_cursors[log->number_ % kNumEventCursors];
    if (cursor.log == log) return cursor;
    if (cursor.buffer != nullptr) cursor.buffer->end = cursor.at;
    cursor = cursor_in(scope);
    return cursor;
}

EventCursor EventLog::hold_more(std::byte* at, EventBuffer* held) {
    EventCursor result{this, at, at, held};
    if (held == nullptr) {
        WorkScope* const scope = WorkScope::current();
        if (scope == nullptr) {
            at = state_->add_outside();
            return {this, at, at + state_->event_bytes, nullptr};
        }
        result = std::exchange(state_->own_cursor(*scope), {});
        result.buffer->is_held = true;
    }
    if (result.at != result.end) return result;
    const std::lock_guard lock(state_->mutex);
    return state_->add_block(*result.buffer);
}

void EventLog::release(std::byte* at, EventBuffer& held) {
    held.end = at;
    held.is_held = false;
}

std::byte* EventLog::add_slot_slowly() {
    WorkScope* const scope = WorkScope::current();
    if (scope == nullptr) return state_->add_outside();
    EventCursor& cursor = state_->own_cursor(*scope);
    if (cursor.at == cursor.end) {
        const std::lock_guard lock(state_->mutex);
        cursor = state_->add_block(*cursor.buffer);
    }
    return std::exchange(cursor.at, cursor.at + state_->event_bytes);
}

void EventLog::append(std::span<const std::byte> events) {
    const std::size_t event_bytes = state_->event_bytes;
    while (!events.empty()) {
        std::byte* const slot = add_slot(event_bytes);
        std::size_t num_bytes = event_bytes;
        if (EventCursor& cursor = event_cursors[number_ % kNumEventCursors]; cursor.log == this) {
            const auto room = static_cast<std::size_t>(cursor.end - cursor.at);
            num_bytes += std::min(room, events.size() - event_bytes);
            cursor.at = slot + num_bytes;
        }
        std::memcpy(slot, events.data(), num_bytes);
        events = events.subspan(num_bytes);
    }
}

/// Returns the position at which the scope appends. Opens a buffer if the scope has none.
EventCursor EventLog::State::cursor_in(WorkScope& scope) {
    for (OpenInScope* opened = scope.first_open(); opened != nullptr; opened = opened->next)
        if (opened->owner == log) {
            auto& buffer = static_cast<EventBuffer&>(*opened);
            SHOAL_ASSERT(
                !buffer.is_held,
                "events were written beside an EventWriter of the same channel and thread; write them with it");
            return {log, buffer.end, buffer.room_end, &buffer};
        }
    if constexpr (SHOAL_CHECKED != 0) ask_write_guard(log, "events");
    const std::lock_guard lock(mutex);
    EventBuffer& buffer = open(WorkScope::place());
    num_open.fetch_add(1, std::memory_order_relaxed);
    scope.keep_open(buffer);
    begin_in_place(buffer);
    return {log, buffer.end, buffer.room_end, &buffer};
}

// --- reading -----------------------------------------------------------------------------------------------------

std::size_t EventLog::State::bytes_in(const EventBuffer& buffer, std::size_t block) const {
    const LogBlock& memory = buffer.blocks[block];
    if (block + 1 == buffer.blocks.size()) return static_cast<std::size_t>(buffer.end - memory.data);
    return memory.num_bytes / event_bytes * event_bytes;
}

void EventLog::State::copy_buffers(std::span<EventBuffer* const> buffers, std::byte* array) const {
    for (const EventBuffer* buffer : buffers) {
        std::byte* to = array + buffer->place_in_array;
        for (std::size_t i = 0; i < buffer->blocks.size(); ++i) {
            const std::size_t block_bytes = bytes_in(*buffer, i);
            std::memcpy(to, buffer->blocks[i].data, block_bytes);
            to += block_bytes;
        }
    }
}

/// Copies the events of the buffers to the array, in order, after the events that were written in place.
void EventLog::State::copy(std::size_t frame, Executor* executor) {
    Array<EventBuffer*>& buffers = frames[frame].buffers;
    std::sort(buffers.begin(), buffers.end(), [](const EventBuffer* a, const EventBuffer* b) {
        if (comes_before(a->place, b->place)) return true;
        return !comes_before(b->place, a->place) && a->opened < b->opened;
    });
    std::size_t num_bytes = 0;
    for (EventBuffer* buffer : buffers) {
        buffer->place_in_array = num_bytes;
        for (std::size_t i = 0; i < buffer->blocks.size(); ++i) num_bytes += bytes_in(*buffer, i);
    }
    std::byte* const to = frames[frame].array.append(num_bytes, usual_bytes);
    const auto copy_some = [&](RowRange some, std::uint32_t = 0) {
        copy_buffers(std::span(buffers).subspan(some.begin, some.size()), to);
    };
    const RowRange all{0, static_cast<std::uint32_t>(buffers.size())};
    if (executor != nullptr && num_bytes >= kLeastSharedBytes)
        for_rows(*executor, cut_rows(all.size(), 1, 4), copy_some);
    else
        copy_some(all);
    recycle(frame);
}

/// Keeps the buffers for reuse.
void EventLog::State::recycle(std::size_t frame) {
    for (EventBuffer* buffer : frames[frame].buffers) {
        for (const LogBlock& block : buffer->blocks) blocks.give_back(block);
        buffer->blocks.clear();
        idle.push_back(buffer);
        if (outside.buffer == buffer) outside = {};
    }
    frames[frame].buffers.clear();
    last_in_place = {};
    frames[frame].has_new.store(false, std::memory_order_release);
}

/// Ends the program if a buffer may be open, because it might grow while it is copied. Requires: the mutex is held.
void EventLog::State::require_readable(WorkScope* scope) const {
    if (scope != nullptr && scope->is_in_loop())
        for (const EventBuffer* buffer : frames[now].buffers)
            SHOAL_ASSERT(buffer->place.pass != scope->pass(),
                         "a function of a loop read events that its own pass writes; read them before the loop, or in "
                         "a later pass");
    SHOAL_ASSERT(num_open.load(std::memory_order_acquire) == 0,
                 "events were read while another thread writes them; a pass that reads them declares reads() of the "
                 "channel, and waits for its own loops");
}

std::span<const std::byte> EventLog::State::read(std::size_t frame) {
    Frame& read = frames[frame];
    if (read.has_new.load(std::memory_order_acquire)) {
        WorkScope* const scope = WorkScope::current();
        if (scope != nullptr && !scope->is_in_loop()) scope->close_all();
        const std::lock_guard lock(mutex);
        if (frame == now) require_readable(scope);
        // In the function of a loop, this thread copies alone: another loop would close the buffers of the first loop,
        // and closing them requires the mutex that is held here.
        const bool may_share = scope != nullptr && !scope->is_in_loop();
        if (read.has_new.load(std::memory_order_relaxed)) copy(frame, may_share ? scope->executor() : nullptr);
    }
    return {read.array.memory.data, read.array.num_bytes};
}

std::span<const std::byte> EventLog::read() const {
    if constexpr (SHOAL_CHECKED != 0) ask_read_guard(this, "events");
    return state_->read(state_->now);
}
std::span<const std::byte> EventLog::read_last() const { return state_->read(1 - state_->now); }

// --- frames ------------------------------------------------------------------------------------------------------

void EventLog::end_frame() {
    State& state = *state_;
    const std::lock_guard lock(state.mutex);
    SHOAL_ASSERT(
        state.num_open.load(std::memory_order_acquire) == 0 && !state.passes_run.load(std::memory_order_relaxed),
        "a frame of events was ended while passes run; end it when they have ended");
    State::Frame& last = state.frames[1 - state.now];
    state.recycle(1 - state.now);
    state.usual_bytes = decaying_peak(last.array.num_bytes, state.usual_bytes);
    last.array.clear(state.usual_bytes);
    state.outside = {};
    state.blocks.trim();
    state.now = 1 - state.now;
}

void EventLog::replace(std::span<const std::byte> events, std::span<const std::byte> last_events) {
    State& state = *state_;
    const std::lock_guard lock(state.mutex);
    SHOAL_ASSERT(
        state.num_open.load(std::memory_order_acquire) == 0 && !state.passes_run.load(std::memory_order_relaxed),
        "events were replaced while passes run; do it when they have ended");
    for (const std::size_t frame : {state.now, 1 - state.now}) {
        const std::span<const std::byte> given = frame == state.now ? events : last_events;
        SHOAL_ASSERT(given.size() % state.event_bytes == 0, "the bytes are not whole events");
        state.recycle(frame);
        state.frames[frame].array.clear(state.usual_bytes);
        if (given.empty()) continue;
        std::memcpy(state.frames[frame].array.append(given.size(), state.usual_bytes), given.data(), given.size());
    }
    state.outside = {};
    state.tail_is_taken = false;
}

std::uint32_t EventLog::event_bytes() const { return state_->event_bytes; }

void EventLog::hold(bool passes_run) { state_->passes_run.store(passes_run, std::memory_order_relaxed); }

EventLog::EventLog(std::uint32_t event_bytes)
    : state_(make_owned<State>(kOwner, event_bytes, this)),
      number_(g_num_logs.fetch_add(1, std::memory_order_relaxed)) {}

EventLog::~EventLog() {
    if (WorkScope* const scope = WorkScope::current()) scope->close_all();
    SHOAL_ASSERT(state_->num_open.load(std::memory_order_acquire) == 0,
                 "an event channel was destroyed while a pass writes to it");
    destroy_owned(kOwner, state_);
}

}  // namespace shoal::detail
