#pragma once
// The event channels of a world: one for each event type, and one for each name that code without C++ types has
// requested. events.h explains channels.
//
//     Events<Collision>& hits = channels.of<Collision>();               // also World::events<Collision>()
//     Result<detail::EventLog*> sounds = channels.named("sounds", 16);  // 16 bytes each
//
// Thread: the structural thread of the world.

#include "shoal/base/detail/array.h"
#include "shoal/base/status.h"
#include "shoal/command/events.h"

namespace shoal {

class SnapshotReader;
class SnapshotWriter;

class EventChannels {
public:
    EventChannels() = default;
    SHOAL_API ~EventChannels();
    EventChannels(const EventChannels&) = delete;
    EventChannels& operator=(const EventChannels&) = delete;

    /// Returns the channel for events of type T. The first call makes it. Requires: at the first call, no pass is
    /// running. Lifetime: this object. A shared library with hidden symbols has separate event types, so pass it the
    /// reference.
    template <class T>
    Events<T>& of() {
        if (void* owned = find(&detail::event_type<T>)) return *static_cast<Events<T>*>(owned);
        auto& made = *make_owned<Events<T>>("world");
        own({&detail::event_type<T>, &made, &made.log_, destroy<Events<T>>, detail::event_name<T>()});
        return made;
    }
    /// Returns the channel that has this name. Its events are bytes. The first call makes it.
    /// Errors: its events have a different size. Requires: no pass is running. Lifetime: until end() has been called as
    /// often as this function.
    SHOAL_API Result<detail::EventLog*> named(std::string_view name, std::uint32_t event_bytes);
    SHOAL_API void end(const detail::EventLog& events);

    /// Records whether passes are running. While they run, writes from outside of passes are refused.
    SHOAL_API void hold(bool holds);
    /// Ends the frame of all channels: see Events::end_frame().
    SHOAL_API void end_frame();
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (const Channel& channel : channels_) visit(static_cast<const detail::EventLog&>(*channel.log));
    }
    /// For each channel, calls visit(name, count); `count` is the number of its events in the last frame that has
    /// ended.
    template <class Visit>
    void for_each_count(Visit&& visit) const {
        for (const Channel& channel : channels_)
            visit(channel.name, std::uint64_t(channel.log->read_last().size() / channel.log->event_bytes()));
    }

    SHOAL_API void save(SnapshotWriter& to) const;
    /// Channels that are not in the saved state become empty. Errors: the saved events do not match their channels.
    SHOAL_API Status load(SnapshotReader& from);

private:
    struct Channel {
        const void* type;  // the address of the object, if the channel has only a name
        void* object;
        detail::EventLog* log;
        void (*destroy)(void* object);
        std::string_view name;
        bool has_type() const { return type != object; }
    };
    template <class S>
    static void destroy(void* object) {
        destroy_owned("world", static_cast<S*>(object));
    }
    SHOAL_API void* find(const void* type) const;
    SHOAL_API void own(const Channel& channel);
    std::string part_name(const Channel& channel) const;

    Array<Channel> channels_{Owner("world")};
    bool is_held_ = false;
};

}  // namespace shoal
