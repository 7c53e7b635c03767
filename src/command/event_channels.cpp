#include "shoal/command/detail/event_channels.h"

#include "shoal/base/assert.h"
#include "shoal/base/text.h"
#include "shoal/state/snapshot.h"

namespace shoal {
namespace {

/// A channel with a name.
struct NamedEvents {
    std::string name;
    std::uint32_t event_bytes;
    detail::EventLog log;
    std::uint32_t num_users = 1;
};

void destroy_named(void* object) { destroy_owned("world", static_cast<NamedEvents*>(object)); }

}  // namespace

EventChannels::~EventChannels() {
    for (const Channel& channel : channels_) channel.destroy(channel.object);
}

void* EventChannels::find(const void* type) const {
    for (const Channel& channel : channels_)
        if (channel.type == type) return channel.object;
    return nullptr;
}

void EventChannels::own(const Channel& channel) {
    SHOAL_ASSERT(!is_held_,
                 "a pass made an event channel of the world that runs it; call World::events() before World::step()");
    channels_.push_back(channel);
}

Result<detail::EventLog*> EventChannels::named(std::string_view name, std::uint32_t event_bytes) {
    SHOAL_ASSERT(!is_held_, "a pass asked the world that runs it for an event channel by name; ask between steps");
    if (event_bytes == 0) return Status::error(concat("the events of channel \"", name, "\" have no bytes"));
    for (const Channel& channel : channels_) {
        if (channel.destroy != destroy_named) continue;
        auto& named = *static_cast<NamedEvents*>(channel.object);
        if (named.name != name) continue;
        if (named.event_bytes == event_bytes) return ++named.num_users, &named.log;
        return Status::error(concat("the events of channel \"", name, "\" have ", named.event_bytes, " bytes, not ",
                                    event_bytes, "; give one of the two another name"));
    }
    void* const memory = allocate_memory(sizeof(NamedEvents), "world");
    auto& made = *::new (memory) NamedEvents{std::string(name), event_bytes, detail::EventLog(event_bytes)};
    own({&made, &made, &made.log, destroy_named, made.name});
    return &made.log;
}

void EventChannels::end(const detail::EventLog& events) {
    SHOAL_ASSERT(!is_held_, "a pass ended an event channel of the world that runs it; end it between steps");
    for (std::size_t i = 0; i < channels_.size(); ++i) {
        if (channels_[i].log != &events || channels_[i].destroy != destroy_named) continue;
        if (--static_cast<NamedEvents*>(channels_[i].object)->num_users != 0) return;
        destroy_named(channels_[i].object);
        channels_.erase(channels_.begin() + static_cast<std::ptrdiff_t>(i));
        return;
    }
}

void EventChannels::hold(bool holds) {
    is_held_ = holds;
    for (const Channel& channel : channels_) channel.log->hold(holds);
}

void EventChannels::end_frame() {
    for (const Channel& channel : channels_) channel.log->end_frame();
}

// --- saving ------------------------------------------------------------------------------------------------------

/// A channel of a C++ type and a channel that has only a name get different part names. Channels with the same name,
/// for example of types in two source files, are numbered.
std::string EventChannels::part_name(const Channel& channel) const {
    std::uint32_t number = 0;
    for (const Channel& other : channels_) {
        if (&other == &channel) break;
        number += other.name == channel.name && other.has_type() == channel.has_type();
    }
    return concat(channel.has_type() ? "events/type/" : "events/name/", channel.name,
                  number == 0 ? std::string() : concat(" ", number));
}

void EventChannels::save(SnapshotWriter& to) const {
    for (const Channel& channel : channels_) {
        const SnapshotPath::Scope scope = to.in(part_name(channel));
        const std::uint32_t bytes = channel.log->event_bytes();
        const std::span<const std::byte> now = channel.log->read(), last = channel.log->read_last();
        to.elements("now", now.data(), bytes, now.size() / bytes);
        to.elements("last", last.data(), bytes, last.size() / bytes);
    }
}

Status EventChannels::load(SnapshotReader& from) {
    for (const Channel& channel : channels_) {
        const SnapshotPath::Scope scope = from.in(part_name(channel));
        Array<std::byte> bytes[2] = {Array<std::byte>("world"), Array<std::byte>("world")};
        const char* const names[2] = {"now", "last"};
        const std::uint32_t event_bytes = channel.log->event_bytes();
        for (int i = 0; i < 2 && from.has("now"); ++i) {
            const Result<std::uint64_t> count = from.count(names[i], event_bytes);
            if (!count) return count.status();
            bytes[i].resize(static_cast<std::size_t>(*count) * event_bytes);
            if (Status status = from.elements(names[i], bytes[i].data(), event_bytes, *count); !status) return status;
        }
        channel.log->replace(bytes[0], bytes[1]);
    }
    return {};
}

}  // namespace shoal
