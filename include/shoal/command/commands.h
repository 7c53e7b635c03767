#pragma once
// Changes of entities that passes ask for, and that are made when the world, or a database without one, settles.
//
//     schedule.add("hunt", query<Read<&Shark::hunger>, Read<&Position::value>>(sea),
//                  [](Commands& commands, Entity shark, float hunger, const Vec3& place) {
//                      if (hunger > 9) return commands.destroy(shark);
//                      const Entity egg = commands.create(kReef, Position{place}, Egg{.mother = shark});
//                      commands.add(shark, Nest{.egg = egg});  // translated when it settles
//                  });
//     schedule.add("sow", {writes(sea)}, [&](PassContext&) { sea.commands().create(kReef, Position{}, Algae{}); });
//
//     pass 0, loop 0    chunk 0: create destroy ...    chunk 1: add ...       a log for each chunk: no locks, and cuts
//     pass 1, loop 0    chunk 0: ...                                          depend on numbers of rows only
//
// create() returns a *pending* entity. Later commands of the same chunk, and the entity fields of the values that they
// bring, may refer to it; for everything else it is a dead entity. Do not keep it: after 64 settles that create
// entities its number is used again.
//
// In a world, commands reach whichever store keeps a component type: the database, a manager, the transforms, the owners, or
// a store of another class that has Store::add_values(). A component type that nobody keeps yet gets its home in the
// database. An entity that is created with components of other stores only gets no row in the database, and no zone. A
// world without a database makes an empty one, which keeps the commands.
// What is more than a component has a component type too, or is a call:
//
//     commands.add(sword, ChildOf{hand});  // links transforms; remove<ChildOf> unlinks them
//     commands.add(cannon, Owned{ship});   // gives it an owner; remove<Owned> releases it
//     commands.name(shark, "Bruce");
//     commands.tag(shark, "hungry");                                  // one more: an entity may have several tags
//     commands.untag(shark, "sleepy");                                // remove<Tag> takes all of them
//     const Entity boat = commands.spawn(blob, {.position = place});  // a copy of a blob: its first entity
//     const Entity twin = commands.copy(ship);                        // of an entity, and of all below it
//     commands.call(boat, [&](Entity self) { crews.hire(self, 12); });
//
// The rules. All logs together are one list, ordered by pass (its place in the schedule; commands from outside of
// schedules come first), then by loop of the pass, by chunk, and by time in the chunk. The number of workers changes
// nothing. Settling destroys entities, creates entities, spawns and copies, moves, then adds and removes components, and
// makes the calls at last. Pending entities get their ids in the order of the list.
//   - An entity that a command destroys is destroyed once, whatever else the list says about it. A pending entity that
//     is destroyed is never created.
//   - Of several moves of an entity the last counts.
//   - Of several adds and removes of one component type the last counts, with the value that it brings. With `many`, all
//     adds after the last remove count.
//   - A copy is of what the original is before the moves, adds and removes of the same settle.
//   - A command is carried out in all stores that it is about, or in none: when one has no room, the others are not
//     changed, and commands that it can take are. Links are made at last: one that cannot be made is dropped alone. A store
//     of another class that refuses without saying so before, Store::prepare_values(), is changed first; if two of them
//     are named, or memory runs out behind it, the log says that a command was carried out in part.
//   - Commands are dropped, and counted in SettleCounts::num_dropped, when they are about dead entities, about entities
//     that another command destroys, or about pending entities of other chunks or frames; and, with a line in the log,
//     when there is no memory or no id for them. An entity field that refers to such a pending entity becomes null.
//   - Otherwise commands do what the immediate calls do: an entity without a row gets one in the first zone when it is
//     given components of the database, and moving it does nothing.
//   - Commands that a pass asked for before it failed (see world/schedule.h) are carried out.
// Until the settle, values pin the blobs that their read-only arrays lie in.
// Thread: the Commands of a chunk belong to the chunk until it ends. Those of a pass (Database::commands()) belong to
// one thread, and the functions of the pass's loops may not use them. A loop that takes Commands must be started by its
// pass, not from a chunk of another loop.

#include "shoal/command/detail/command_recorder.h"
#include "shoal/command/loop_scope.h"
#include "shoal/database/database.h"

namespace shoal {

class CommandLog;

/// Whether this is a pending entity: one that a command will create.
constexpr bool is_pending(Entity entity) { return entity.id >> 30 == 1; }

/// The commands of one chunk. Functions of loops take them as their first argument (in a pass, after a const
/// PassContext&); everybody else calls Database::commands().
class Commands {
    using Kind = detail::CommandKind;

public:
    /// For the log, which makes the commands of chunks and passes.
    explicit Commands(CommandLog& log) : recorder_(log) {}
    Commands(Commands&&) = default;

    /// Asks for an entity with these components and returns the pending entity. Those in the database lie in `zone`, or
    /// in the first one.
    template <GivenComponent... Ts>
    Entity create(Zone zone, const Ts&... values) {
        require_zone(zone);
        return record_create(zone, values...);
    }
    template <GivenComponent... Ts>
    Entity create(const Ts&... values) {
        return record_create(kNoZone, values...);
    }
    /// The same for as many entities as `out` has room for.
    template <GivenComponent... Ts>
    void create(std::span<Entity> out, Zone zone, const Ts&... values) {
        for (Entity& entity : out) entity = create(zone, values...);
    }
    template <GivenComponent... Ts>
    void create(std::span<Entity> out, const Ts&... values) {
        for (Entity& entity : out) entity = create(values...);
    }
    /// The same for the component types of an archetype; those without a value get their defaults.
    /// Requires: values are bytes.
    SHOAL_API Entity create(const Archetype& type, Zone zone = kNoZone, std::span<const ComponentValues> values = {});

    void destroy(Entity entity) { recorder_.destroy(entity); }
    void destroy(std::span<const Entity> entities) {
        for (const Entity entity : entities) destroy(entity);
    }
    void move(Entity entity, Zone zone) {
        require_zone(zone);
        recorder_.record<Kind::kMove>(entity, zone);
    }

    /// Gives components, or sets the values of those that are there. Off{value} gives one that is switched off.
    template <GivenComponent... Ts>
    void add(Entity entity, const Ts&... values)
        requires(sizeof...(Ts) > 0)
    {
        recorder_.record<Kind::kAdd>(entity, recorder_.next_number(), values...);
    }
    /// The same for component types of the database. Requires: values are bytes.
    SHOAL_API void add(Entity entity, std::span<const ComponentValues> values);
    template <DescribedComponent... Ts>
    void remove(Entity entity)
        requires(sizeof...(Ts) > 0)
    {
        recorder_.add_row(detail::TypedCommand<Kind::kRemove, Ts...>::kList, entity, recorder_.next_number());
    }
    /// The same for component types of the database.
    SHOAL_API void remove(Entity entity, std::span<const ComponentType> components);

    /// Asks for a copy of a blob, and returns the pending entity that becomes the first of the copy. `pose` and `zone` are
    /// as in SpawnOptions::root_poses and zone. Copies of one blob that lie in one zone are spawned in one call.
    /// Requires: a world; the blob outlives the settle.
    Entity spawn(const Blob& blob) { return record_spawn(detail::kSpawnList, kNoZone, &blob, {}, nullptr); }
    Entity spawn(const Blob& blob, const RootPose& pose, Zone zone = kNoZone) {
        if (zone != kNoZone) require_zone(zone);
        return record_spawn(detail::kSpawnAtList, zone, &blob, {}, &pose);
    }
    /// Asks for a copy of an entity, with all of its components and what is below it, as World::copy() makes it, and
    /// returns the pending entity that becomes the copy. With a pose, that is where it lies in the world.
    /// Requires: a world.
    Entity copy(Entity original) { return record_spawn(detail::kCopyList, kNoZone, nullptr, original, nullptr); }
    Entity copy(Entity original, const RootPose& pose) {
        return record_spawn(detail::kCopyAtList, kNoZone, nullptr, original, &pose);
    }

    /// Names an entity in place of the name that it has, or takes its name for the empty text (see
    /// components/debug_name.h). The world keeps the text, which a command that adds a DebugName does not. Done with the
    /// calls, in the order of the list; what the world refuses is a line in the log. Requires: a world.
    SHOAL_API void name(Entity entity, std::string_view name);
    /// Gives an entity a tag, unless it has it, or takes one from it, in the same way (see components/tag.h).
    SHOAL_API void tag(Entity entity, std::string_view tag);
    SHOAL_API void untag(Entity entity, std::string_view tag);

    /// Calls function(entity) when all other commands are carried out, in the order of the list; the entity is no
    /// pending one any more. The function may do what a destruction callback may (see world.h). It is copied.
    template <class Function>
        requires std::is_invocable_v<Function&, Entity>
    void call(Entity entity, Function function) {
        record_call(entity, kNullEntity, std::move(function));
    }
    /// The same with two entities: function(entity, other). `other` is null if it is pending and was not created.
    template <class Function>
        requires std::is_invocable_v<Function&, Entity, Entity>
    void call(Entity entity, Entity other, Function function) {
        record_call(entity, other, std::move(function));
    }

private:
    friend class CommandLog;

    template <class... Ts>
    SHOAL_INLINE Entity record_create(Zone zone, const Ts&... values) {
        const Entity entity = recorder_.take_pending();
        recorder_.record<Kind::kCreate>(entity, zone, values...);
        return entity;
    }
    void record_text(TextChange change, Entity entity, std::string_view text);
    SHOAL_API Entity record_spawn(const detail::CommandList& list, Zone zone, const Blob* blob, Entity original,
                                  const RootPose* pose);
    template <class Function>
    void record_call(Entity entity, Entity other, Function&& function) {
        using Call = detail::CallCommand<std::remove_cvref_t<Function>>;
        const auto added = recorder_.add_row(Call::kList, entity, recorder_.next_number());
        ::new (static_cast<void*>(added.value(Call::kOffset, sizeof(typename Call::Value))))
            typename Call::Value(other, std::move(function));
    }

    detail::CommandRecorder recorder_;
};

}  // namespace shoal
