#pragma once
// Changes of entities that are asked for while passes run, and made when the database settles.
//
//     schedule.add("hunt", query<Read<&Shark::hunger>, Read<&Position::value>>(sea),
//                  [](Commands& commands, Entity shark, float hunger, const Vec3& place) {
//                      if (hunger > 9) return commands.destroy(shark);
//                      const Entity egg = commands.create(kReef, Position{place}, Egg{.mother = shark});
//                      commands.add(shark, Nest{.egg = egg});                        // translated when it settles
//                  });
//     schedule.add("sow", {writes(sea)}, [&](PassContext&) { sea.commands().create(kReef, Position{}, Algae{}); });
//
//     pass 0, loop 0    chunk 0: create destroy ...    chunk 1: add ...       a log for each chunk: no locks, and cuts
//     pass 1, loop 0    chunk 0: ...                                          depend on numbers of rows only
//
// create() gives a *pending* entity. It names the entity to come in later commands of its chunk, and in the entity
// fields of the values that they bring; to all others it is dead. It is not to be kept: 64 settles that create give its
// number out again.
//
// The rules. The logs are one list, in the order pass (its place in the schedule's line; what is asked for outside of
// schedules comes first), loop of the pass, chunk, time in the chunk. The number of workers changes nothing. Settling
// destroys, then creates, moves, and adds and removes components. Entities get their ids in the order of the list.
//   - A destroyed entity is destroyed, whatever else the list says of it, once. A pending one is never made.
//   - Of several moves of an entity the last counts.
//   - Of several adds and removes of one component type the last counts, with the value that it brings.
//   - What is said of the dead, of those that are destroyed (another destroy included), or of the pending entities of
//     other chunks or frames, is left out and counted in SettleCounts::num_dropped. So is what there is no memory or
//     no id for, and that is logged. An entity field that holds such a pending entity becomes null.
//   - The rest is as in the immediate calls: an entity without a row gets one in the first zone when it is given
//     components, and a move of it does nothing.
// C++ component types that the database does not know are registered when it settles.
// Thread: the Commands of a chunk belong to it until the chunk ends, those of a pass (Database::commands()) to one
// thread, and not to the functions of its loops. A loop that takes Commands is started by its pass, not by a chunk of
// another.

#include "shoal/command/command_list.h"

namespace shoal {

class CommandLog;

/// What a chunk asks for. Functions of loops take it as their first argument (in a pass, behind a const PassContext&);
/// others ask Database::commands().
class Commands {
public:
    explicit Commands(CommandLog& log) : log_(&log) {}
    Commands(Commands&&) = default;
    Commands& operator=(Commands&&) = delete;
    SHOAL_API ~Commands();

    /// Asks for an entity with these components, and returns its pending id.
    template <DescribedComponent... Ts>
    Entity create(Zone zone, const Ts&... values) {
        SHOAL_ASSERT(zone < kMaxZones, "zones are 0 to kMaxZones - 1");
        const Entity entity = take_pending();
        write<detail::CommandKind::kCreate>(entity, zone, values...);
        return entity;
    }
    /// Fills `out` with pending ids of as many entities.
    template <DescribedComponent... Ts>
    void create(std::span<Entity> out, Zone zone, const Ts&... values) {
        for (Entity& entity : out) entity = create(zone, values...);
    }
    /// Component types without a value get their defaults. Requires: values are bytes.
    SHOAL_API Entity create(const Archetype& type, Zone zone, std::span<const ComponentValues> values = {});

    void destroy(Entity entity) {
        if (SHOAL_UNLIKELY(destroyed_.cursor == destroyed_.room_end)) begin_run(destroyed_);
        ::new (static_cast<void*>(destroyed_.cursor)) Entity(entity);
        destroyed_.cursor += sizeof(Entity);
    }
    void destroy(std::span<const Entity> entities) {
        for (const Entity entity : entities) destroy(entity);
    }
    void move(Entity entity, Zone zone) {
        SHOAL_ASSERT(zone < kMaxZones, "zones are 0 to kMaxZones - 1");
        row(detail::TypedCommand<detail::CommandKind::kMove>::kList, entity, zone);
    }

    /// Gives components, or sets the values of those that are there.
    template <DescribedComponent... Ts>
    void add(Entity entity, const Ts&... values)
        requires(sizeof...(Ts) > 0)
    {
        write<detail::CommandKind::kAdd>(entity, ++num_ordered_, values...);
    }
    SHOAL_API void add(Entity entity, std::span<const ComponentValues> values);
    template <DescribedComponent... Ts>
    void remove(Entity entity)
        requires(sizeof...(Ts) > 0)
    {
        row(detail::TypedCommand<detail::CommandKind::kRemove, Ts...>::kList, entity, ++num_ordered_);
    }
    SHOAL_API void remove(Entity entity, std::span<const ComponentType> components);

private:
    friend class CommandLog;
    friend class CommandSettler;
    static constexpr std::uint32_t kPendingBlock = 64;  // ids that a chunk takes at once
    struct MadeList;

    /// Rows of one list, as far as one piece of memory reaches.
    struct Run {
        const detail::CommandList* list;
        std::byte* begin;
        std::byte* end;  // of the rows; of the last run of a list, Stream::cursor
    };
    struct Stream {
        const detail::CommandList* list;
        std::byte* cursor = nullptr;
        std::byte* room_end = nullptr;
        std::uint32_t run = 0, num_rows = 0;  // the last run, and the rows that it has room for
    };

    Entity take_pending() {
        if (SHOAL_UNLIKELY(next_pending_ % kPendingBlock == 0)) take_pending_block();
        return {next_pending_++};
    }
    template <detail::CommandKind kKind, class... Ts>
    void write(Entity entity, std::uint32_t number, const Ts&... values) {
        static_assert((!DescriptionOf<Ts>::kMany && ...), "an entity has one component of a type in a database");
        using Command = detail::TypedCommand<kKind, Ts...>;
        std::byte* const to = row(Command::kList, entity, number);
        std::size_t i = 0;
        static_cast<void>(to), static_cast<void>(i);
        (::new (static_cast<void*>(to + Command::kLayout.offsets[i++])) Ts(values), ...);
    }
    SHOAL_INLINE std::byte* row(const detail::CommandList& list, Entity entity, std::uint32_t number) {
        Stream* stream = streams_.data();
        Stream* const end = stream + streams_.size();
        while (stream != end && stream->list != &list) ++stream;
        if (SHOAL_UNLIKELY(stream == end)) stream = &add_stream(list);
        if (SHOAL_UNLIKELY(stream->cursor == stream->room_end)) begin_run(*stream);
        std::byte* const to = stream->cursor;
        stream->cursor += list.row_bytes;
        ::new (static_cast<void*>(to)) detail::CommandRow{entity, number};
        return to;
    }
    SHOAL_API Stream& add_stream(const detail::CommandList& list);
    SHOAL_API void begin_run(Stream& stream);
    void close_runs();
    SHOAL_API void take_pending_block();
    std::byte* take_memory(std::size_t num_bytes, std::size_t alignment);
    const detail::CommandList& made_list(detail::CommandKind kind, std::span<const ComponentType> components,
                                         std::span<const ComponentValues> values);
    void write_values(const detail::CommandList& list, Entity entity, std::uint32_t number,
                      std::span<const ComponentValues> values);
    void forget();

    CommandLog* log_;
    EntityBits next_pending_ = 0;
    std::uint32_t num_ordered_ = 0;
    Stream destroyed_{&detail::kDestroyList};
    Array<Stream> streams_{Owner("commands")};
    Array<Run> runs_{Owner("commands")};  // as they were begun
    Array<EntityBits> pending_blocks_{Owner("commands")};
    Array<detail::CommandBlock> blocks_{Owner("commands")};
    Array<MadeList*> made_{Owner("commands")};
    std::byte* free_begin_ = nullptr;
    std::byte* free_end_ = nullptr;
    bool is_open_ = false;  // from the start of a loop until it settles
};

/// Says which pass the calling thread runs, for the order of what it asks for. For schedules.
class PassScope {
public:
    /// Passes are 1, 2, 3 ... in the order in which their commands count.
    SHOAL_API explicit PassScope(std::uint32_t pass);
    SHOAL_API ~PassScope();
    PassScope(const PassScope&) = delete;
    PassScope& operator=(const PassScope&) = delete;

private:
    friend class CommandLog;
    std::uint32_t pass_, num_loops_ = 0;
    PassScope* outer_;
};

namespace detail {

/// While it lives, the calling thread runs the function of a loop, which must not ask for the commands of its pass.
class LoopScope {
public:
    SHOAL_API LoopScope();
    SHOAL_API ~LoopScope();
    LoopScope(const LoopScope&) = delete;
    LoopScope& operator=(const LoopScope&) = delete;

private:
    PassScope* pass_;
};

/// Returns the first of as many Commands as a loop has chunks.
SHOAL_API Commands* open_commands(Database& database, std::uint32_t num_chunks);

/// A function of a loop whose first argument is bound.
template <class Function>
struct WithCommands {
    Function& function;
    Commands& commands;

    template <class... Arguments>
    SHOAL_INLINE auto operator()(Arguments&&... arguments)
        -> decltype(function(commands, static_cast<Arguments&&>(arguments)...)) {
        return function(commands, static_cast<Arguments&&>(arguments)...);
    }
};

}  // namespace detail
}  // namespace shoal
