#pragma once
// Commands are requests by passes to change entities. A world, or a database without a world, makes these changes when
// it settles.
//
//     schedule.add("hunt", query<Read<&Shark::hunger>, Read<&Position::value>>(sea),
//                  [](Commands& commands, Entity shark, float hunger, const Vec3& place) {
//                      if (hunger > 9) return commands.destroy(shark);
//                      const Entity egg = commands.create(kReef, Position{place}, Egg{.mother = shark});
//                      commands.add(shark, Nest{.egg = egg});  // translated when it settles
//                  });
//     schedule.add("sow", {writes(sea)}, [&](PassContext&) { sea.commands().create(kReef, Position{}, Algae{}); });
//
//     pass 0, loop 0    chunk 0: create destroy ...    chunk 1: add ...       a log per chunk, no locks; the chunks
//     pass 1, loop 0    chunk 0: ...                                          depend only on the numbers of rows
//
// create() returns a *pending* entity. Later commands in the same chunk, and the entity fields in their values, may
// refer to the pending entity; all other code sees a dead entity. Do not keep it: after 64 settles that create
// entities, its number is reused.
//
// Commands belong to the world, or to the directory of the stores (see component_directory.h); a database without
// a world has its own. A command reaches the store that keeps its component type: a database, a manager, the
// transforms, the owners, or any other store that implements Store::add_values(). If no store keeps a component type
// yet, the world's database will keep it; a world without a database then makes one. An entity that is created only
// with components of other stores gets no row in a database, and no zone. An entity that is created without components
// gets a row in the first database, if there is one.
// Other changes are expressed as component types or as calls:
//
//     commands.add(sword, ChildOf{hand});  // links transforms; remove<ChildOf> unlinks them
//     commands.add(cannon, Owned{ship});   // gives it an owner; remove<Owned> releases it
//     commands.name(shark, "Bruce");
//     commands.tag(shark, "hungry");                                  // one more: an entity may have several tags
//     commands.untag(shark, "sleepy");                                // remove<Tag> takes all of them
//     commands.set<&Transform::position>(shark, place);               // one field; its children move with it
//     const Entity boat = commands.spawn(blob, {.position = place});  // a copy of a blob: its first entity
//     const Entity twin = commands.copy(ship);                        // of an entity, and of all below it
//     commands.call(boat, [&](Entity self) { crews.hire(self, 12); });
//
// The rules. All logs together form one list. It is ordered by pass (in schedule order; commands from outside of
// schedules come first), then by loop within the pass, by chunk, and by time within the chunk. This order does not
// depend on the number of workers. Settling first destroys entities, then creates entities, spawns blobs, copies
// entities, moves entities, adds and removes components, sets fields, and finally makes the calls. Pending entities get
// their ids in the order of the list.
//   - An entity that a command destroys is destroyed once, whatever other commands it has.
//     A pending entity that is destroyed is never created.
//   - If several commands move an entity, the last one counts.
//   - If several commands add or remove one component type, the last one counts, with its value.
//     For a `many` type, all adds after the last remove count.
//   - Fields are set after components are added and removed, in the order of the list: if several commands set a field,
//     the last one counts. A set does not count if an add or a remove of the component type follows it in the list. For
//     a `many` type, an add does not cancel a set, and the set changes the first value that the entity has then.
//   - A copy has the state that the original had before the moves, adds and removes of the same settle.
//   - A command is carried out in all stores that it affects, or in none: if one store has no room for it, the others
//     are not changed. Other commands are still carried out. Links are made last; if a link cannot be made, only the
//     link is dropped. If a store may refuse a change that its prepare_change() has accepted, that store is changed
//     first. If there are two such stores, or memory runs out after the first change, the command may be carried out in
//     part; a line is then logged.
//   - Commands are dropped, and counted in SettleCounts::num_dropped, when they are about dead entities, about entities
//     that another command destroys, or about pending entities of other chunks or frames; when they set a field of a
//     component that the entity does not have, or has disabled; and, with a line in the log, when there is no memory or
//     no id for them, or the store refuses a value. An entity field that refers to a pending entity of another chunk or
//     frame, or to one that is not created, becomes null.
//   - Otherwise, commands have the effect of the immediate calls: an entity without a row gets one in the first zone
//   when it is
//     given components of the database, and moving an entity without a row does nothing. A move applies to all
//     databases of the world.
//   - If a pass fails (see world/schedule.h), the commands that it has already requested are still carried out.
// Until the settle, values pin the blobs that contain their read-only arrays, and spawns pin the blobs of a library.
// Pending commands are saved with the world, except calls of functions and values with opaque fields.
// Thread: the Commands of a chunk belong to the chunk until it ends. The Commands of a pass (World::commands()) belong
// to one thread, and the functions of the pass's loops must not use them. A loop that takes Commands must be started by
// its pass, not from a chunk of another loop.

#include "shoal/command/detail/command_recorder.h"
#include "shoal/command/detail/loop_scope.h"
#include "shoal/database/database.h"
#include "shoal/store/detail/spawn_override.h"
#include "shoal/store/detail/waiting_commands.h"
#include "shoal/table/detail/field_mistake.h"

namespace shoal {

class CommandLog;

/// Whether this is a pending entity: one that a command will create.
constexpr bool is_pending(Entity entity) { return entity.id >> 30 == 1; }

/// The commands of one chunk. The function of a loop takes them as its first argument (in a pass, after a const
/// PassContext&); other code calls World::commands(), or Database::commands().
class Commands : detail::UndeclaredCalls {
    using Kind = detail::CommandKind;

public:
    Commands(const Commands&) = delete;
    Commands& operator=(const Commands&) = delete;

    /// Requests an entity with these components and returns the pending entity. Its row in the database will be in
    /// `zone` if one is given, and otherwise in the first zone.
    template <GivenComponent... Ts>
    SHOAL_INLINE Entity create(Zone zone, const Ts&... values) {
        require_zone(zone);
        return record_create(zone, values...);
    }
    template <GivenComponent... Ts>
    SHOAL_INLINE Entity create(const Ts&... values) {
        return record_create(kNoZone, values...);
    }
    /// Requests an entity for each element of `out`.
    template <GivenComponent... Ts>
    void create(std::span<Entity> out, Zone zone, const Ts&... values) {
        for (Entity& entity : out) entity = create(zone, values...);
    }
    template <GivenComponent... Ts>
    void create(std::span<Entity> out, const Ts&... values) {
        for (Entity& entity : out) entity = create(values...);
    }
    /// Requests an entity of a database's archetype; components without a value get their defaults. Requires: the
    /// values are plain bytes.
    Entity create(const Database& database, const Archetype& type, Zone zone = kNoZone,
                  std::span<const ComponentValues> values = {}) {
        const Entity entity = take_pending();
        record_create(*recorder_, entity, database, type, zone, values);
        return entity;
    }

    SHOAL_INLINE void destroy(Entity entity) { record<detail::DestroyCommand>(entity, 0); }
    void destroy(std::span<const Entity> entities) {
        for (const Entity entity : entities) destroy(entity);
    }
    SHOAL_INLINE void move(Entity entity, Zone zone) {
        require_zone(zone);
        record<detail::TypedCommand<Kind::kMove>>(entity, zone);
    }

    /// Adds components, or sets the values of existing ones. Disabled{value} adds a disabled component.
    template <GivenComponent... Ts>
    SHOAL_INLINE void add(Entity entity, const Ts&... values)
        requires(sizeof...(Ts) > 0)
    {
        record<detail::TypedCommand<Kind::kAdd, Ts...>, Ts...>(entity, ++numbers_.num_ordered, values...);
    }
    /// Adds component types that are given by their numbers in a database. Requires: the values are plain bytes.
    void add(Entity entity, const Database& database, std::span<const ComponentValues> values) {
        record_add(*recorder_, entity, ++numbers_.num_ordered, database, values);
    }
    template <DescribedComponent... Ts>
    SHOAL_INLINE void remove(Entity entity)
        requires(sizeof...(Ts) > 0)
    {
        record<detail::TypedCommand<Kind::kRemove, Ts...>>(entity, ++numbers_.num_ordered);
    }
    using UndeclaredCalls::create, UndeclaredCalls::add, UndeclaredCalls::remove;
    /// Removes component types that are given by their numbers in a database.
    void remove(Entity entity, const Database& database, std::span<const ComponentType> components) {
        recorder_->record(Kind::kRemove, entity, ++numbers_.num_ordered, database, components, {});
    }
    /// Adds or removes a component type that has no C++ type, in any store. `image` is a struct image of the value;
    /// nullptr: the default value.
    /// Requires: the values are plain bytes; the schema belongs to the store of the type.
    void add(Entity entity, const Schema& component, const std::byte* image) {
        recorder_->record(Kind::kAdd, entity, ++numbers_.num_ordered, component, image);
    }
    void remove(Entity entity, const Schema& component) {
        recorder_->record(Kind::kRemove, entity, ++numbers_.num_ordered, component, nullptr);
    }

    /// Sets a field when the world settles, as World::set() does. Dropped if the entity then lacks the component.
    template <auto kMember>
    SHOAL_INLINE void set(Entity entity, const ValueOf<kMember>& value) {
        using Mistake = detail::FieldMistake;
        constexpr Mistake kMistake = detail::find_set_mistake<kMember>();
        static_assert(detail::kDiffersFrom<kMistake, Mistake::kUndeclared>,
                      "the component is not declared; write SHOAL_COMPONENT(Name, fields...)");
        static_assert(detail::kDiffersFrom<kMistake, Mistake::kAllFields>,
                      "a command sets one field; say add() for all of them, or name one: &T::field");
        static_assert(detail::kDiffersFrom<kMistake, Mistake::kNoField>,
                      "the member is not among the fields of its SHOAL_COMPONENT declaration");
        static_assert(detail::kDiffersFrom<kMistake, Mistake::kOpaque>,
                      "a command does not set a field whose type only C++ knows; say add(), or call()");
        static_assert(detail::kDiffersFrom<kMistake, Mistake::kComputed>,
                      "the store of a component computes it, so its fields are not set; say what add() links or owns");
        if constexpr (kMistake == Mistake::kNone) {
            using Command = detail::SetCommand<kMember>;
            record<Command, typename Command::Value>(entity, ++numbers_.num_ordered, typename Command::Value(value));
        }
    }

    /// Requests a copy of a blob, and returns the pending entity that becomes the first entity of the copy. `pose` and
    /// `zone` have the meaning of SpawnOptions::root_poses and SpawnOptions::zone. All copies of the same blob in the
    /// same zone are spawned in one call.
    ///
    /// The last two overloads replace values in the copy, as SpawnOptions::overrides does: commands.spawn(level,
    /// kNoZone, {{"lamp", "light.range", 9}}). The new values may refer to pending entities. Such a copy is spawned in
    /// a separate call. If an override matches nothing, a line is logged when the world settles, and that copy is
    /// dropped; the others are spawned. Pending commands are saved with their overrides. A command is dropped
    /// immediately, with a line in the log, if an override is for a copy other than 0 or all, or if its value cannot be
    /// saved (see check_override()). Requires: a world; the blob outlives the settle.
    Entity spawn(const Blob& blob) { return record_spawn(detail::kSpawnList, kNoZone, &blob, {}, nullptr); }
    SHOAL_API Entity spawn(const Blob& blob, const RootPose& pose, Zone zone = kNoZone);
    SHOAL_API Entity spawn(const Blob& blob, Zone zone, Array<SpawnOverride> overrides);
    SHOAL_API Entity spawn(const Blob& blob, const RootPose& pose, Zone zone, Array<SpawnOverride> overrides);
    /// Requests a copy of an entity, with its components and the entities below it, as shoal::copy() makes it. Returns
    /// the pending entity that becomes the copy. `pose` is the pose of the copy in the world.
    /// Requires: a world.
    Entity copy(Entity original) { return record_spawn(detail::kCopyList, kNoZone, nullptr, original, nullptr); }
    SHOAL_API Entity copy(Entity original, const RootPose& pose);

    /// Replaces the name of an entity; an empty string removes it (see components/debug_name.h). Unlike a command that
    /// adds a DebugName, this command makes the world keep the string. The command is carried out with the calls, in
    /// the order of the list; if the world refuses the string, a line is logged. Requires: a world.
    SHOAL_API void name(Entity entity, std::string_view name);
    /// tag() adds a tag to an entity that lacks it, and untag() removes one (see components/tag.h). The commands are
    /// carried out with the calls, like name().
    SHOAL_API void tag(Entity entity, std::string_view tag);
    SHOAL_API void untag(Entity entity, std::string_view tag);

    /// Calls function(entity) after all other commands, in the order of the list; the entity is then no longer pending.
    /// The function is copied. It may make the same calls as a destruction callback (see world.h).
    template <class Function>
        requires std::is_invocable_v<Function&, Entity>
    void call(Entity entity, Function function) {
        record_call(entity, kNullEntity, std::move(function));
    }
    /// Like the call() above, but calls function(entity, other). `other` is null if it was pending and was not created.
    template <class Function>
        requires std::is_invocable_v<Function&, Entity, Entity>
    void call(Entity entity, Entity other, Function function) {
        record_call(entity, other, std::move(function));
    }

protected:
    Commands() = default;

    /// Records into the log of a chunk until release().
    SHOAL_INLINE void take_up(detail::CommandRecorder& recorder) {
        recorder_ = &recorder;
        numbers_ = recorder.numbers();
    }
    SHOAL_INLINE void release() {
        recorder_->set_numbers(numbers_);
        release_cursors(std::make_index_sequence<detail::kNumCommandKinds>());
    }

private:
    friend class CommandLog;
    friend struct CommandLoop;

    template <std::size_t... kKinds>
    SHOAL_INLINE void release_cursors(std::index_sequence<kKinds...>) {
        (release_cursor(cursors_[kKinds]), ...);
    }
    SHOAL_INLINE void release_cursor(detail::CommandCursor& cursor) {
        if (cursor.list != nullptr) recorder_->release(*cursor.list, cursor.num_rows);
        cursor = {};
    }

    // No address of a member is ever passed on, so the object stays in registers unless its own address is passed on.
    // For each kind of command, the object holds the list that was used first. `list` is always a compile-time
    // constant.
    SHOAL_INLINE static bool has_room(const detail::CommandCursor& cursor, const detail::CommandList& list) {
        return SHOAL_LIKELY(cursor.list == &list && cursor.num_rows != cursor.capacity);
    }
    /// Adds a row to a list if the cursor has no room for it, for example because the cursor belongs to another list.
    SHOAL_INLINE static detail::NewRow add_row_slowly(detail::CommandRecorder& recorder, detail::CommandCursor& cursor,
                                                      const detail::CommandList& list) {
        if (cursor.list != nullptr && cursor.list != &list) return recorder.add_row(list);
        cursor = recorder.hold(list, cursor.list != nullptr);
        return cursor.add_row();
    }
    SHOAL_INLINE detail::NewRow add_row(const detail::CommandList& list, Entity entity, std::uint32_t number) {
        detail::CommandCursor& cursor = cursors_[static_cast<std::size_t>(list.kind)];
        const detail::NewRow added =
            has_room(cursor, list) ? cursor.add_row() : add_row_slowly(*recorder_, cursor, list);
        added.set_entity(entity);
        added.set_number(number);
        return added;
    }
    static constexpr bool is_block_full(EntityBits next_pending) {
        return next_pending % detail::CommandRecorder::kPendingBlock == 0;
    }
    SHOAL_INLINE Entity take_pending() {
        if (SHOAL_UNLIKELY(is_block_full(numbers_.next_pending)))
            numbers_.next_pending = recorder_->take_pending_block();
        return {numbers_.next_pending++};
    }

    template <class Command, class... Ts, class... Values>
    SHOAL_INLINE static void write(const detail::NewRow& added, Entity entity, std::uint32_t number,
                                   Values&&... values) {
        added.set_entity(entity);
        if constexpr (Command::kList.kind != Kind::kDestroy) added.set_number(number);
        std::size_t i = 0;
        static_cast<void>(i);
        (::new (static_cast<void*>(added.value(Command::kLayout.offsets[i++], sizeof(Ts))))
             Ts(static_cast<Values&&>(values)),
         ...);
    }
    /// The result of recording a command for which the cursor had no room.
    struct Recorded {
        detail::CommandCursor cursor;
        Entity entity;
    };
    template <class T>
    using ByValue = std::conditional_t<std::is_trivially_copyable_v<T>, T,
                                       std::conditional_t<std::is_nothrow_copy_constructible_v<T>, const T&, T&&>>;
    // Records the whole command, with all arguments by value: otherwise the values would have to outlive a call, and
    // the loop would spill them at every row.
    template <class Command, class... Ts>
    static SHOAL_NOINLINE Recorded record_slowly(detail::CommandRecorder& recorder, detail::CommandCursor cursor,
                                                 Entity entity, std::uint32_t number, ByValue<Ts>... values) {
        if (Command::kList.kind == Kind::kCreate && is_block_full(entity.id)) entity = {recorder.take_pending_block()};
        const detail::NewRow added =
            has_room(cursor, Command::kList) ? cursor.add_row() : add_row_slowly(recorder, cursor, Command::kList);
        write<Command, Ts...>(added, entity, number, static_cast<ByValue<Ts>&&>(values)...);
        return {cursor, entity};
    }
    /// Adds a row, and returns its entity: for a creation, the next pending entity.
    template <class Command, class... Ts, class... Values>
    SHOAL_INLINE Entity place(Entity entity, std::uint32_t number, Values&&... values) {
        constexpr bool kCreates = Command::kList.kind == Kind::kCreate;
        detail::CommandCursor& cursor = cursors_[static_cast<std::size_t>(Command::kList.kind)];
        if (!(kCreates && is_block_full(entity.id)) && has_room(cursor, Command::kList)) {
            write<Command, Ts...>(cursor.add_row(), entity, number, static_cast<Values&&>(values)...);
        } else {
            const Recorded recorded =
                record_slowly<Command, Ts...>(*recorder_, cursor, entity, number, static_cast<Values&&>(values)...);
            cursor = recorded.cursor, entity = recorded.entity;
        }
        if constexpr (kCreates) numbers_.next_pending = entity.id + 1;
        return entity;
    }
    template <class Command, class... Ts>
    SHOAL_INLINE Entity record(Entity entity, std::uint32_t number, const Ts&... values) {
        if constexpr ((std::is_nothrow_copy_constructible_v<Ts> && ...))
            return place<Command, Ts...>(entity, number, values...);
        else  // if a copy throws, no row is left without values
            return place<Command, Ts...>(entity, number, Ts(values)...);
    }
    template <class... Ts>
    SHOAL_INLINE Entity record_create(Zone zone, const Ts&... values) {
        return record<detail::TypedCommand<Kind::kCreate, Ts...>, Ts...>({numbers_.next_pending}, zone, values...);
    }
    Entity record_spawn(const Blob& blob, const RootPose* pose, Zone zone, Array<SpawnOverride>&& overrides);
    void record_text(TextChange change, Entity entity, std::string_view text);
    friend class CommandLoader;
    SHOAL_API static void record_create(detail::CommandRecorder& recorder, Entity entity, const Database& database,
                                        const Archetype& type, Zone zone, std::span<const ComponentValues> values);
    SHOAL_API static void record_add(detail::CommandRecorder& recorder, Entity entity, std::uint32_t number,
                                     const Database& database, std::span<const ComponentValues> values);
    SHOAL_INLINE Entity record_spawn(const detail::CommandList& list, Zone zone, const Blob* blob, Entity original,
                                     const RootPose* pose) {
        const Entity first = take_pending();
        const detail::NewRow added = add_row(list, first, zone);
        ::new (static_cast<void*>(added.value(detail::SpawnValue::kOffset, sizeof(detail::SpawnValue))))
            detail::SpawnValue{blob, original};
        if (pose != nullptr)
            ::new (static_cast<void*>(added.value(detail::kPoseOffset, sizeof(RootPose)))) RootPose(*pose);
        return first;
    }
    template <class Function>
    void record_call(Entity entity, Entity other, Function&& function) {
        using Call = detail::CallCommand<std::remove_cvref_t<Function>>;
        const detail::NewRow added = add_row(Call::kList, entity, ++numbers_.num_ordered);
        ::new (static_cast<void*>(added.value(Call::kOffset, sizeof(typename Call::Value))))
            typename Call::Value(other, std::move(function));
    }

    detail::CommandRecorder* recorder_ = nullptr;
    detail::CommandNumbers numbers_;
    detail::CommandCursor cursors_[detail::kNumCommandKinds] = {};  // indexed by kind
};

namespace detail {

/// A chunk's commands during a run of rows, kept in a local object of the loop.
class RangeCommands : public Commands {
public:
    SHOAL_INLINE explicit RangeCommands(CommandRecorder& recorder) { take_up(recorder); }
    SHOAL_INLINE ~RangeCommands() { release(); }
};

}  // namespace detail

}  // namespace shoal
