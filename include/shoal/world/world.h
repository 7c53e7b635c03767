#pragma once
// A world holds stores and a schedule of passes. When it settles, it carries out the changes that passes have
// requested.
//
//     EntityManager entities;
//     World world(entities);
//     auto& masses = world.manager<PointMass>();
//     if (auto spawned = world.spawn(level, {.copies = 31}); !spawned) return report(spawned.status());
//     world.schedule().add("fall", query<Write<&PointMass::velocity>>(masses),
//                          [](const PassContext& frame, auto&& v) { v.z -= 9.81f * frame.dt; });
//     world.step(1.0f / 60);  // runs the passes, then settles
//
// The parts of a world, each with the header that describes it:
//
//     directory()   which store keeps which component type                       store/detail/component_directory.h
//     schedule()    the passes, and their order                                  world/schedule.h
//     commands()    what passes ask for, carried out when the world settles      command/commands.h
//     services()    further work of a settle: those below, and a program's       react/service.h
//     observers(), relations(), position_links()                                 room react
//     elsewhere     save(), load(), Frames, Persistence, ZoneStreaming, ...      room save; Reloader: room reload
//
//     step()   |- passes: rows stay ----------|- settle: commands, relations, stores, position links, observers -|
//                  Commands request changes         callbacks are told which entities died
//
// While passes are running, the rows of all stores stay where they are. During that time, structural calls, creating or
// detaching a store, step() and settle() end the program. During a settle, a callback or an observer may spawn,
// destroy, add and remove. It must not settle, step, save or load the world, and must not detach a store. See
// docs/guarantees.md for the complete table.
//
// A world owns the stores that it creates, their pages, a string table and a random number generator. Several worlds
// can share one entity manager: each world removes the rows of dead entities when it settles.
// Thread: one structural thread at a time per world. For what a pass may do, see schedule.h.

#include "shoal/base/detail/string_table.h"
#include "shoal/base/random.h"
#include "shoal/command/detail/event_channels.h"
#include "shoal/query/lookup.h"
#include "shoal/react/service.h"
#include "shoal/resource/library.h"
#include "shoal/resource/spawner.h"
#include "shoal/store/detail/component_directory.h"
#include "shoal/store/detail/waiting_commands.h"
#include "shoal/world/detail/world_options.h"
#include "shoal/world/schedule.h"

namespace shoal {

class ActivityManager;
class PropertyManager;
class PositionLinks;
class ModelPoseManager;
class OwnershipManager;
class Observers;
class Relations;
class TransformManager;
struct TransformOptions;

class World {
public:
    /// Lifetime: `entities` must outlive the world.
    SHOAL_API explicit World(EntityManager& entities, const WorldOptions& options = {});
    SHOAL_API ~World();
    World(const World&) = delete;
    World& operator=(const World&) = delete;

    // --- stores: each is made by the first call that asks for it. Requires: if it has to be made, no passes run ----

    /// The map from component types to stores. Queries, commands and spawn() create stores for the following built-in
    /// types when they use them: Transform, Owned, Inactive, Properties, ModelPose, Tag, DebugName, AttachedToNode,
    /// PointMass.
    ComponentDirectory& directory() { return directory_; }
    const ComponentDirectory& directory() const { return directory_; }

    /// Returns the manager of component type T, and creates it with `options` if it does not exist.
    /// Requires: the component type is not kept in a store that was attached, or that was created from a schema alone.
    template <class T>
    Manager<T>& manager(const ManagerOptions& options = {}) {
        static_assert(kIsDescribed<T>, "the component is not declared; write SHOAL_COMPONENT(Name, fields...)");
        static_assert(!kIsSingleton<T>, "the world has one component of this type; call World::singleton<T>()");
        void* const face = find_face(schema_of<T>());
        return face != nullptr ? *static_cast<Manager<T>*>(face) : directory_.make<Manager<T>>(pool_, options);
    }
    /// Returns the manager of a component type that has a schema but no C++ type. Errors: a store keeps a different
    /// component type with that name; the component type's store was attached, so the world does not own it.
    SHOAL_API Result<ComponentManager*> manager(const Schema& schema, const ManagerOptions& options = {});
    /// Returns the first database of this world, and creates it with `options` if there is none. More databases may be
    /// attached. The world settles them and spawns into them. Each component type is kept in at most one of them.
    SHOAL_API Database& database(const DatabaseOptions& options = {});
    /// Returns the transforms of this world (see transform/transform.h). Requires: no store of a different class keeps
    /// Transform; if the transforms already exist, they have the same mode as `options`.
    SHOAL_API TransformManager& transforms();
    SHOAL_API TransformManager& transforms(const TransformOptions& options);
    /// Return the managers for ownership (see components/ownership.h), inactive entities (components/activity.h), named
    /// values (components/properties.h) and model poses (pose/model_pose.h). Requires: no other store keeps Owned,
    /// Inactive, Properties or ModelPose, respectively; for model_poses(), WorldOptions::library is set.
    SHOAL_API OwnershipManager& ownership();
    SHOAL_API ActivityManager& activity();
    SHOAL_API PropertyManager& properties();
    SHOAL_API ModelPoseManager& model_poses();
    /// Creates a store of another class by calling S(entities, pool, arguments...). The world owns it.
    /// Requires: none of its component types has a store; no pass is running.
    template <class S, class... Arguments>
    S& make_store(Arguments&&... arguments) {
        return directory_.make<S>(pool_, std::forward<Arguments>(arguments)...);
    }

    /// Adds `store` to this world. From then on, the world spawns into the store, settles it and reports its costs. The
    /// caller still owns the store. The store's destructor detaches it, and must not be called while the world is
    /// settling. Requires: no pass is running.
    /// Errors: another store keeps one of its component types; the store is already attached to a world; it has pending
    /// commands. On error, nothing has changed.
    SHOAL_API Status attach(Store& store);
    /// Removes a store from this world. If the world created the store, it exists until the world is destroyed, and the
    /// next call that needs such a store creates a new one. Requires: the store is attached; no pass is running, and
    /// the world is not settling.
    SHOAL_API void detach(Store& store);

    /// Returns the singleton of type T and marks it as written; see singletons.h. Requires: no pass is running; passes
    /// access it through queries, as in Singleton<Read<&Wind::force>>. Lifetime: until the next structural call on it.
    template <class T>
    T& singleton() {
        return directory_.singletons().of<T>();
    }
    /// Returns the singleton of type T for reading. Requires: the singleton exists, because a call, a query or a blob
    /// has already used it.
    template <class T>
    const T& singleton() const {
        return directory_.singletons().of<T>();
    }

    // --- queries, commands, events ---------------------------------------------------------------------------------

    /// Returns a query over the stores that keep the components in its terms; see query/query.h. Requires: each of
    /// these component types has a store. Lifetime: as long as these stores exist.
    template <class... Terms>
    auto query() {
        return shoal::query<Terms...>(directory_);
    }
    /// Returns the commands of the pass that the calling thread is running. Outside of passes, returns the world's own
    /// commands. See command/commands.h.
    Commands& commands() { return WaitingCommands::of_directory(directory_).here(); }
    /// Return this world's event channel for type T, and all of its channels; see command/detail/event_channels.h.
    /// Requires: no pass is running during the first call for a type. Lifetime: as long as the world exists.
    template <class T>
    Events<T>& events() {
        return events_.of<T>();
    }
    EventChannels& events() { return events_; }

    // --- services: see react/service.h -----------------------------------------------------------------------------

    WorldServices& services() { return services_; }
    const WorldServices& services() const { return services_; }
    SHOAL_API Observers& observers();  ///< callbacks for additions, removals and changes; the journal
    SHOAL_API const Observers& observers() const;
    SHOAL_API Relations& relations();  ///< references between entities
    SHOAL_API const Relations& relations() const;
    SHOAL_API PositionLinks& position_links();  ///< links between position fields, transforms and tiles

    // --- fields of entities: see query/lookup.h; by name, "body.position": store/field_path.h ----------------------

    /// Returns a read-only, pointer-like object for a field of an entity. It is null if the entity is dead or lacks the
    /// component. Cost: includes finding the store; for many look-ups, keep a Lookup.
    template <auto kMember>
    auto get(Entity entity) const {
        return Lookup<kMember>::once(directory_).find(entity);
    }
    /// Sets a field through its component type's store. Errors: the entity is dead or lacks the component; the store
    /// rejects the value.
    template <auto kMember>
    Status set(Entity entity, const ValueOf<kMember>& value) {
        return Lookup<kMember>::once(directory_).set(entity, value);
    }
    /// Get and set a field of an entity or a singleton by name. "properties.armor" names a property. For a string id,
    /// strings() has the string. Errors: as for set() above; the field does not exist or has a different type.
    SHOAL_API Result<AnyValue> get(std::string_view name) const;
    SHOAL_API Result<AnyValue> get(Entity entity, std::string_view name) const;
    template <PlainValue T>
    Result<T> get(Entity entity, std::string_view name) const {
        const Result<FieldPath> path = find_path(entity, name);
        return path ? path->template read<T>(entity) : Result<T>(path.status());
    }
    SHOAL_API Status set(std::string_view name, const AnyValue& value);
    SHOAL_API Status set(Entity entity, std::string_view name, const AnyValue& value);
    /// Finds a field for repeated use. If the component type is built in and has no store, creates one, unless passes
    /// are running. Errors: no such field exists.
    SHOAL_API Result<FieldPath> find_field(std::string_view name);

    // --- resources -------------------------------------------------------------------------------------------------

    /// The migrations, and the functions that spawn component types in place of stores; see resource/detail/registry.h.
    ComponentRegistry& registry() { return registry_; }
    /// Creates a store for each component type of the blob that has no store and no spawn function.
    /// WorldOptions::default_store determines the kind of store. Errors: a store's schema differs from the blob's. On
    /// error, stores that were already created remain.
    SHOAL_API Status adopt_schemas(const Blob& blob);
    SHOAL_API Status adopt_schemas(const Schema& schema);  ///< for a single component type
    /// Spawns a blob. One call creates all ids. Then each component type's store receives one batch. Stores of built-in
    /// types are created. Depending on the options, other component types without a store are skipped and counted, or
    /// are an error. {.overrides = {{"lamp", "light.range", 9}}} sets values for this spawn only, and a reload does not
    /// change them. Errors: a schema differs; ids or memory run out; model poses need a library; an override matches
    /// nothing. On error, no entity from the blob remains, but new stores of built-in types and the blob's singletons
    /// do remain.
    SHOAL_API Result<Spawned> spawn(const Blob& blob, const SpawnOptions& options = {});

    // --- time ------------------------------------------------------------------------------------------------------

    Schedule& schedule() { return schedule_; }
    const Schedule& schedule() const { return schedule_; }
    /// Runs the passes, ends the frame of the event channels, and then settles. If a pass fails, step() still settles,
    /// and then rethrows the exception of the pass (see Schedule::status()). Units: dt in seconds. Requires: as for
    /// settle().
    void step(float dt) {
        step_and_settle(dt);
        schedule_.rethrow();
    }
    /// Like step(), but does not settle. Checked builds warn after 100 runs without a settle.
    void run_passes(float dt) {
        run_frame(dt);
        schedule_.rethrow();
    }
    /// Carries out the pending commands. Then each store removes the rows of dead entities and frees memory. Rows may
    /// move. Requires: no pass is running, and the world is not settling.
    SHOAL_API void settle();
    const SettleStatistics& settle_statistics() const { return settles_; }
    /// Return the number of steps so far, and the stamp that writes have received since the last settle.
    std::uint64_t frame() const { return schedule_.frame(); }
    std::uint64_t stamp() const { return directory_.stamp(); }

    // --- what it uses ----------------------------------------------------------------------------------------------

    EntityManager& entities() { return entities_; }
    const EntityManager& entities() const { return entities_; }
    Executor& executor() { return *options_.executor; }
    Random& random() { return random_; }
    const Random& random() const { return random_; }
    /// When the world settles, strings that were interned "until unused" may be removed if their ids are not in use.
    StringTable& strings() { return strings_; }
    const StringTable& strings() const { return strings_; }
    const ResourceLibrary* library() const { return options_.library; }
    PagePool& pool() { return pool_; }
    const PagePool& pool() const { return pool_; }

private:
    class Host;
    struct OwnServices;
    SHOAL_API void* find_face(const Schema& schema) const;
    SHOAL_API Result<FieldPath> find_path(Entity entity, std::string_view name) const;
    SHOAL_API void run_frame(float dt);
    SHOAL_API void step_and_settle(float dt);
    void warn_of_missing_settle();
    void hold_rows(bool hold);
    void settle_stores();

    EntityManager& entities_;
    SerialExecutor serial_;
    WorldOptions options_;
    PagePool pool_;
    StringTable strings_;
    Random random_;
    ComponentRegistry registry_;
    Host* host_;
    ComponentDirectory directory_;
    EventChannels events_;
    Schedule schedule_;
    SettleStatistics settles_;
    WorldServices services_;
    OwnServices* own_services_;
    std::uint64_t deaths_at_settle_ = 0, num_unsettled_frames_ = 0;  // for checked builds
};

}  // namespace shoal
