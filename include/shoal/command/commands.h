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
// database. An entity that is created with components of other stores only gets no row in the database, and no zone.
//
// The rules. All logs together are one list, ordered by pass (its place in the schedule; commands from outside of
// schedules come first), then by loop of the pass, by chunk, and by time in the chunk. The number of workers changes
// nothing. Settling destroys entities, creates entities, moves them, and then adds and removes components. Entities get
// their ids in the order of the list.
//   - An entity that a command destroys is destroyed once, whatever else the list says about it. A pending entity that
//     is destroyed is never created.
//   - Of several moves of an entity the last counts.
//   - Of several adds and removes of one component type the last counts, with the value that it brings.
//   - Commands are dropped, and counted in SettleCounts::num_dropped, when they are about dead entities, about entities
//     that another command destroys, or about pending entities of other chunks or frames; and, with a line in the log,
//     when there is no memory or no id for them. An entity field that refers to such a pending entity becomes null.
//   - Otherwise commands do what the immediate calls do: an entity without a row gets one in the first zone when it is
//     given components of the database, and moving it does nothing.
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

    /// Asks for an entity with these components and returns the pending entity.
    template <DescribedComponent... Ts>
    Entity create(Zone zone, const Ts&... values) {
        SHOAL_ASSERT(zone < kMaxZones, "zones are 0 to kMaxZones - 1");
        const Entity entity = recorder_.take_pending();
        recorder_.record<Kind::kCreate>(entity, zone, values...);
        return entity;
    }
    /// The same for as many entities as `out` has room for.
    template <DescribedComponent... Ts>
    void create(std::span<Entity> out, Zone zone, const Ts&... values) {
        for (Entity& entity : out) entity = create(zone, values...);
    }
    /// The same for the component types of an archetype; those without a value get their defaults.
    /// Requires: values are bytes.
    SHOAL_API Entity create(const Archetype& type, Zone zone, std::span<const ComponentValues> values = {});

    void destroy(Entity entity) { recorder_.destroy(entity); }
    void destroy(std::span<const Entity> entities) {
        for (const Entity entity : entities) destroy(entity);
    }
    void move(Entity entity, Zone zone) {
        SHOAL_ASSERT(zone < kMaxZones, "zones are 0 to kMaxZones - 1");
        recorder_.record<Kind::kMove>(entity, zone);
    }

    /// Gives components, or sets the values of those that are there.
    template <DescribedComponent... Ts>
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

private:
    friend class CommandLog;

    detail::CommandRecorder recorder_;
};

}  // namespace shoal
