#pragma once
// A world holds stores and a schedule of passes, and settles what the passes asked for.
//
//     EntityManager entities;
//     World world(entities);
//     auto& masses = world.manager<PointMass>();
//     if (auto spawned = world.spawn(level, {.copies = 31}); !spawned) return report(spawned.status());
//     world.schedule().add("fall", query<Write<&PointMass::velocity>>(masses),
//                          [](const PassContext& frame, auto&& v) { v.z -= 9.81f * frame.dt; });
//     world.step(1.0f / 60);  // runs the passes, then settles
//
// Passes tell later passes of things through event channels, events<T>() (see command/events.h). Functions that
// reactions() are given are told what has come, gone or changed when the world settles (see reactions.h). Who refers to
// an entity is found with relations() (see relations.h).
//
// Several worlds can share one entity manager: each removes the rows of dead entities when it settles. A world owns
// the managers that it makes, the pages of their tables, the texts of string ids and a seeded random generator.
// Attached stores belong to their callers.
//
// While passes run, the rows of all stores stay where they are: a structural call, a new or detached store, step() or
// settle() ends the program. Passes request changes through Commands (see command/commands.h), which are made when the
// world settles. Settling destroys entities, so it may call destruction callbacks:
//
//     step()   |- passes: rows stay ----------|- settle: commands, relations, stores, places, reactions -|
//                  Commands request changes         callbacks are told which entities died
//
// Such a callback, or a reaction, may spawn, destroy, add and remove. It may attach a store, or make one by using it
// for the first time; that store settles with the others. Commands that it asks for are carried out at the next settle
// at the latest.
// If it settles, steps, saves or loads the world, or detaches a store, the program ends; the same holds for functions
// that commands call, and for spawn functions. A destruction callback that is called neither by a settle nor in a pass
// may settle the world. docs/guarantees.md has the whole table.
// Thread: one structural thread at a time per world. For what a pass may do, see schedule.h.

#include "shoal/base/random.h"
#include "shoal/base/string_table.h"
#include "shoal/command/events.h"
#include "shoal/resource/library.h"
#include "shoal/resource/spawner.h"
#include "shoal/store/component_directory.h"
#include "shoal/store/field_path.h"
#include "shoal/store/waiting_commands.h"
#include "shoal/store/zone.h"
#include "shoal/world/schedule.h"
#include "shoal/world/service.h"

#include <cstddef>

namespace shoal {

class ActivityManager;
class DataManager;
class FollowedPlaces;
class ModelPoseManager;
class OwnershipManager;
class Reactions;
class Relations;
class SchemaChange;
class TransformManager;
class WorldHost;
struct TransformOptions;

/// What settling has done and cost. Schedule::statistics() has the costs of passes, Store::statistics() those of
/// component types; inspect/report.h prints all three.
struct SettleStatistics {
    std::uint64_t num_settles = 0;
    std::int64_t last_ns = 0;
    std::int64_t total_ns = 0;
    SettleCounts last{};
    SettleCounts total{};
};

/// Where World::adopt_schemas() keeps component types that come in blobs, without a C++ type.
enum class DefaultHome : std::uint8_t {
    kManagers,
    kDatabase,  ///< except `many` types that are `toggled`: managers keep them
};

struct WorldOptions {
    Executor* executor = nullptr;        ///< outlives the world; nullptr: all work is done on the calling thread
    ResourceLibrary* library = nullptr;  ///< outlives the world; rows that refer to its blobs pin them
    std::uint64_t seed = 1;              ///< of random(), and of PassContext::random_for()
    DefaultHome default_home = DefaultHome::kManagers;
    PagePoolOptions pages{};
};

class World {
public:
    /// `entities` outlives the world.
    SHOAL_API explicit World(EntityManager& entities, const WorldOptions& options = {});
    SHOAL_API ~World();
    World(const World&) = delete;
    World& operator=(const World&) = delete;

    // --- stores --------------------------------------------------------------------------------------------------

    /// Returns the manager of component type T. The first call makes it, with `options`.
    /// Requires: the component type has no store that was attached or made from a schema alone; at the first call, no
    /// passes run.
    template <class T>
    Manager<T>& manager(const ManagerOptions& options = {}) {
        static_assert(kIsDescribed<T>, "the component is not declared; write SHOAL_COMPONENT(Name, fields...)");
        static_assert(!kIsSingle<T>, "the world has one component of this type; call World::single<T>()");
        if (void* owned = find_owned(schema_of<T>())) return *static_cast<Manager<T>*>(owned);
        Manager<T>& made = make<Manager<T>>(options);
        own({&made, &made.core(), &made.core(), destroy<Manager<T>>, true});
        return made;
    }
    /// Returns the manager of a component type that has a schema but no C++ type. The first call makes it.
    /// Errors: there is a store for another component type of that name (the message shows both schemas), or the store
    /// of the component type is attached, not owned by the world.
    SHOAL_API Result<ComponentManager*> manager(const Schema& schema, const ManagerOptions& options = {});

    /// Returns the transforms of this world (see transform/transform.h), those too that were attached. The first call
    /// makes them, with `options`, unless a query or a blob that names Transform has made them before.
    /// Requires: no store of another class was attached for Transform; if they are there, the mode is that of
    /// `options`; if they have to be made, no passes run.
    SHOAL_API TransformManager& transforms();
    SHOAL_API TransformManager& transforms(const TransformOptions& options);
    /// Returns the store that keeps Transform, which knows who is whose parent. It is made if need be.
    /// Requires: then, no passes run.
    SHOAL_API Store& require_transforms();
    /// Returns the transforms if they were made or attached, otherwise nullptr.
    TransformManager* find_transforms() const { return transforms_; }
    /// The same for database().
    Database* find_database() const { return database_; }
    /// Returns the store that keeps Tag, whose entities queries find by Query::tagged(). The first call makes it.
    /// Requires: it lists the entities of each tag, as a manager does; at the first call, no passes run.
    SHOAL_API Store& require_tags();

    /// Returns who owns whom in this world (see components/ownership.h), and the poses of models (see
    /// pose/model_pose.h).
    /// The first call makes them; the poses of models use transforms() and the library.
    /// Requires: no other store was attached for Owned or ModelPose; for models, WorldOptions::library; at the first
    /// call, no passes run.
    SHOAL_API OwnershipManager& ownership();
    SHOAL_API ModelPoseManager& model_poses();
    /// Returns the named values of entities in this world (see components/data.h). The first call makes their store,
    /// which uses the library. Requires: at the first call, no passes run.
    SHOAL_API DataManager& data();
    /// Makes the store of a built-in component type that has one of its own, unless a store keeps the type already:
    /// transforms(), ownership(), activity(), data(), model_poses(), and managers for Tag, DebugName, AttachedToNode,
    /// PointMass and singles. Queries, commands, reactions and spawn() do so when they name the type. Returns nullptr
    /// for other types that no store keeps. Errors: model poses without a library. Requires: if it has to be made, no
    /// passes run.
    SHOAL_API Result<Store*> home_of(const Schema& component);
    /// The same for what a program cannot go on without. Requires: no error.
    SHOAL_API void require_built_in(const Schema& component);

    /// Returns the database of this world: the first that was attached, or one that the first call makes, with
    /// `options`, unless commands have made it before, which have named a component type that no store kept.
    /// Others may be attached too. They settle and spawn with it, each component type has its home in one of them, and
    /// a query joins one of them with the other stores. Requires: if it is made, no passes run.
    SHOAL_API Database& database(const DatabaseOptions& options = {});

    /// Makes a store of another class, as S(entities, pool, arguments...), which the world owns.
    /// Requires: none of its component types has a store; no passes run.
    template <class S, class... Arguments>
    S& make_store(Arguments&&... arguments) {
        S& made = make<S>(std::forward<Arguments>(arguments)...);
        own({&made, &made, nullptr, destroy<S>, false});
        return made;
    }

    /// Makes `store` part of this world, which then spawns into it, settles it and reports it. The caller still owns
    /// the store; one that ends leaves the world. If the world has settled before, the store settles at once, so that
    /// its writes carry the world's stamp. Requires: no passes run; a store does not end while the world settles.
    /// Errors: one of its component types has its home in another store; it is attached already, here or to another
    /// world; commands wait in it. Nothing has changed.
    SHOAL_API Status attach(Store& store);
    /// Takes a store out of this world. If the world made it, it lives as long as the world, which makes another when
    /// one is asked for. Requires: it is attached; no passes run, and the world is not settling.
    SHOAL_API void detach(Store& store);

    /// Makes a store of this world the home of a component type: the one that keeps its rows. A type that is nobody's
    /// gets its home from whoever names it first, such as manager<T>() or a call of the database with a T.
    /// Errors: another store keeps it; the store takes no further types (only the database does).
    template <class T>
    Status home(Store& store) {
        return set_home(schema_of<T>(), store);
    }
    SHOAL_API Status set_home(const Schema& component, Store& store);
    /// Returns all stores, in the order in which they were added. Lifetime: until a store is added or removed.
    std::span<Store* const> stores() const { return directory_.stores(); }
    /// Which store keeps which component type: see store/component_directory.h. Stores come and go by the calls above.
    ComponentDirectory& directory() { return directory_; }
    const ComponentDirectory& directory() const { return directory_; }
    /// Returns the store of a component type, or nullptr.
    Store* find_store(ComponentId component) const { return directory_.find(component); }

    // --- singles -------------------------------------------------------------------------------------------------

    /// Returns the one component of type T that this world has, declared `SHOAL_COMPONENT((Wind, single), force)`, and
    /// marks it as written. The first call makes it, with default values, as a row of a manager: it is saved, reacted
    /// to and reported as every other. Passes name it in their queries: Single<Read<&Wind::force>>, and in a query of
    /// singles alone Single<Write<&Wind::force>>. A blob that has one sets it when it is spawned.
    /// Requires: no passes run. Lifetime: until the next structural call about it, or until its entity dies.
    template <class T>
    T& single() {
        static_assert(kIsSingle<T>,
                      "the component is not declared single; write SHOAL_COMPONENT((Name, single), fields...)");
        static_assert(!std::is_empty_v<T>, "a single without fields says nothing; give it a field");
        return *reinterpret_cast<T*>(write_single(schema_of<T>()));
    }
    /// The same for reading. Requires: there is one, from a call, a query or a blob that named it.
    template <class T>
    const T& single() const {
        static_assert(kIsSingle<T>,
                      "the component is not declared single; write SHOAL_COMPONENT((Name, single), fields...)");
        static_assert(!std::is_empty_v<T>, "a single without fields says nothing; give it a field");
        return *reinterpret_cast<const T*>(require_single(schema_of<T>()).table().column(0));
    }
    /// Returns the manager of a single, which has one row. Both are made if need be.
    /// Requires: the schema says so, and no store keeps the type in another layout; if they are made, no passes run.
    SHOAL_API ComponentManager& require_single(const Schema& component);
    SHOAL_API const ComponentManager& require_single(const Schema& component) const;
    /// Returns the entity that has the singles of this world; null before there is one.
    Entity singles() const { return singles_; }

    // --- queries -------------------------------------------------------------------------------------------------

    /// Returns a query over the stores that keep the components of the terms, wherever these are: in managers, in the
    /// database, or in stores of their own, such as Transform, WorldPose and Owned (see query/query.h).
    /// Requires: each of these component types is kept by one of the stores. Lifetime: that of these stores.
    template <class... Terms>
    auto query() {
        return shoal::query<Terms...>(*this);
    }

    // --- active or not -------------------------------------------------------------------------------------------

    /// Makes entities inactive, or active again: queries pass over those that are inactive, and over what hangs below
    /// them in the transforms. Dead ones are skipped. See components/activity.h. Errors: no memory; nothing has
    /// changed.
    /// Requires: no passes run; a pass adds the component Inactive with its commands.
    SHOAL_API Status set_active(std::span<const Entity> entities, bool is_active);
    Status set_active(Entity entity, bool is_active) { return set_active({&entity, 1}, is_active); }
    /// Whether an entity lives and queries visit it.
    bool is_active(Entity entity) const { return entities_.alive(entity) && !entities_.inactive().has(entity); }
    /// Returns the store of Inactive. The first call makes it. Requires: then, no passes run.
    SHOAL_API ActivityManager& activity();

    // --- events ---------------------------------------------------------------------------------------------------

    /// Returns this world's channel of events of type T (see command/events.h). The first call makes it.
    /// Requires: at the first call, no passes run. Lifetime: as the world. In a shared library with hidden symbols,
    /// types are other types; give it the reference.
    template <class T>
    Events<T>& events() {
        if (void* owned = find_events(&detail::event_type<T>)) return *static_cast<Events<T>*>(owned);
        auto& made = *::new (allocate_memory(sizeof(Events<T>), "world")) Events<T>();
        own_events({&detail::event_type<T>, &made, &made.log_, destroy<Events<T>>, detail::event_name<T>()});
        return made;
    }
    /// Returns the channel of a name whose events are bytes, for code without C++ types. The first call makes it.
    /// Errors: its events have another size. Requires: no passes run. Lifetime: until end_events() was called as often.
    SHOAL_API Result<detail::EventLog*> events(std::string_view name, std::uint32_t event_bytes);
    SHOAL_API void end_events(const detail::EventLog& events);

    // --- reactions, relations, places -----------------------------------------------------------------------------

    /// Functions that are told what has come, gone and changed, and the journal: see world/reactions.h.
    SHOAL_API Reactions& reactions();
    SHOAL_API const Reactions& reactions() const;
    /// Who refers to whom: see world/relations.h.
    SHOAL_API Relations& relations();
    SHOAL_API const Relations& relations() const;
    /// Fields and transforms that follow each other, and tiles: see world/places.h.
    SHOAL_API FollowedPlaces& places();

    // --- fields by name ------------------------------------------------------------------------------------------

    /// Finds a field of a component type by its name, such as "body.position", for many reads and writes: see
    /// store/field_path.h. A built-in component type that no store keeps gets its store, as home_of() makes it, unless
    /// passes run. Errors: there is none; the message says what there is.
    SHOAL_API Result<FieldPath> find_field(std::string_view name);
    /// Returns the value of a field of a single: `world.field("wind.force")`. Errors: there is no such single or field.
    SHOAL_API Result<AnyValue> field(std::string_view name) const;
    SHOAL_API Status set_field(std::string_view name, const AnyValue& value);
    /// Returns the value of a field of an entity: `world.field(fish, "body.position")`.
    /// Errors: as above; the entity is dead, or has no such component; the message says which. Cost: that of
    /// find_field().
    SHOAL_API Result<AnyValue> field(Entity entity, std::string_view name) const;
    /// The same with a type that is known. Errors: as above; the field has another type.
    template <PlainValue T>
    Result<T> field(Entity entity, std::string_view name) const {
        const Result<FieldPath> path = find_path(entity, name);
        if (!path) return path.status();
        return path->template read<T>(entity);
    }
    /// Sets the value of a field of an entity, through its store, and marks it as written. The text of a string id
    /// is kept in strings(); if passes run, from their end on. "data.armor.front" is a value of its data: see
    /// components/data.h.
    /// Errors: as above; the value has another type or does not fit. Nothing has changed.
    SHOAL_API Status set_field(Entity entity, std::string_view name, const AnyValue& value);

    /// Returns the commands of the pass that the calling thread runs, or those from outside of passes, for all stores
    /// of this world: see command/commands.h. Requires: passes run in step(), or not at all.
    Commands& commands() { return WaitingCommands::of_directory(directory_).here(); }
    /// Those of them that wait for the world to settle: how many there are, and what they name.
    WaitingCommands& waiting_commands() { return WaitingCommands::of_directory(directory_); }

    // --- resources -----------------------------------------------------------------------------------------------

    /// Returns the registry of functions that spawn component types in place of stores, and of what has changed since
    /// their older versions.
    ComponentRegistry& registry() { return registry_; }

    /// Gives each component type of the blob that has neither a store nor a spawn function a home, with the schema in
    /// the blob: a manager, or the database (see DefaultHome). Built-in component types have the stores that home_of()
    /// makes.
    /// Components of older versions than registry() knows are migrated, as they are by spawn(): see
    /// resource/migration.h.
    /// Errors: the schema of a store differs from the blob's; managers made before stay.
    SHOAL_API Status adopt_schemas(const Blob& blob);
    /// Spawns a blob: one call creates all ids, then the store of each component type gets one batch. Component types
    /// without a store are skipped and counted, or are an error, as the options say; stores of built-in types are made.
    /// With options.overrides, entities get values of their own, as by set_field() after the spawn, named values
    /// ("data.armor") too: {.overrides = {{"lamp", "light.range", 9}}}. A reload leaves them as they are.
    /// Errors: a schema differs, or ids or memory run out, or model poses without a library, or an override fits
    /// nothing; no entity of the blob is left, but the stores of built-in types and the singles that it names stay.
    SHOAL_API Result<Spawned> spawn(const Blob& blob, const SpawnOptions& options = {});

    // --- time ----------------------------------------------------------------------------------------------------

    Schedule& schedule() { return schedule_; }
    const Schedule& schedule() const { return schedule_; }
    /// Runs the passes of the schedule, ends the frame of the event channels, then settles. Does so too when a pass
    /// fails, and then throws what the pass threw; schedule().status() says which pass it was, and why (see
    /// world/schedule.h). Units: dt in seconds. Requires: as settle().
    void step(float dt) {
        step_and_settle(dt);
        schedule_.failure_.rethrow();
    }
    /// The first half of step(), for programs that do something before they settle(): runs the passes and ends the
    /// frame of the event channels. Throws as step() does. Checked builds warn of 100 runs without a settle. Requires:
    /// as settle().
    void run_passes(float dt) {
        run_frame(dt);
        schedule_.failure_.rethrow();
    }
    /// Carries out the commands that wait; then each store removes the rows of dead entities and frees memory.
    /// Rows move. Requires: no passes run, and the world is not settling.
    SHOAL_API void settle();
    const SettleStatistics& settle_statistics() const { return settles_; }
    /// Returns the number of steps so far.
    std::uint64_t frame() const { return frame_; }
    /// Returns the stamp that writes have carried since the last settle.
    std::uint64_t stamp() const { return stamp_; }

    // --- what the world is made of ------------------------------------------------------------------------------

    /// The services of this world, in their order: see world/service.h.
    WorldServices& services() { return services_; }
    const WorldServices& services() const { return services_; }
    /// Whether neither passes run, nor the world settles, nor a blob is spawned.
    bool is_at_rest() const { return !passes_run_ && !is_settling_ && num_open_spawns_ == 0; }
    EntityManager& entities() { return entities_; }
    const EntityManager& entities() const { return entities_; }
    Executor& executor() { return *executor_; }
    Random& random() { return random_; }
    const Random& random() const { return random_; }
    /// Texts interned until unused are removed when the world settles, if nothing that the world keeps has their id:
    /// rows, data, defaults, commands, events, unloaded zones, overrides of spawns, and values before that reactions
    /// are told.
    StringTable& strings() { return strings_; }
    const StringTable& strings() const { return strings_; }
    const ResourceLibrary* library() const { return library_; }
    PagePool& pool() { return pool_; }
    const PagePool& pool() const { return pool_; }

    /// Returns a hash of the state: the owner and the fields of every row of all stores, in order, without opaque
    /// fields, who lives, and which random numbers come next. It is the same for any number of workers, and for a world
    /// that was saved and loaded. It is the sum of the hashes of the parts: see world/state_hash.h. Cost: reads every
    /// row.
    SHOAL_API std::uint64_t state_hash() const;

private:
    friend class ReloadCall;
    friend class SchemaChange;
    friend class WorldHost;
    friend class WorldState;

    struct Owned {
        void* object;
        Store* store;
        ComponentManager* manager;  // nullptr: not a ComponentManager
        void (*destroy)(void* object);
        bool typed;  // `object` is a Manager<T>
    };

    struct OwnServices;

    struct OwnedEvents {
        const void* type;
        void* object;
        detail::EventLog* log;
        void (*destroy)(void* object);
        std::string_view name;
    };

    template <class S, class... Arguments>
    S& make(Arguments&&... arguments) {
        static_assert(alignof(S) <= alignof(std::max_align_t));
        if (passes_run_) entities_.hold(false);  // so that own() ends the program, and says what was made
        return *::new (allocate_memory(sizeof(S), "world")) S(entities_, pool_, std::forward<Arguments>(arguments)...);
    }
    template <class S>
    static void destroy(void* object) {
        static_cast<S*>(object)->~S();
        release_memory(object, sizeof(S), "world");
    }

    Result<Spawned> spawn_unlogged(const Blob& blob, const SpawnOptions& options);
    void note(Store& store);
    [[noreturn]] static void refuse_store(const Store& store);
    void forget(Store& store);
    void replace_store(ComponentManager& before, ComponentManager& after);
    SHOAL_API Result<FieldPath> find_path(Entity entity, std::string_view name) const;
    bool goes_to_store(const BlobComponents& components) const;
    Result<Store*> make_built_in(const Schema& component);
    Status make_single(ComponentManager& manager);
    SHOAL_API std::byte* write_single(const Schema& component);
    Status prepare_store(const Schema& component);
    Status prepare_stores(const Blob& blob, std::string_view purpose);
    Status take_schema(const Schema& schema);
    SHOAL_API void* find_owned(const Schema& schema) const;
    SHOAL_API void own(const Owned& owned);
    void destroy_stores_after(std::size_t num_owned);
    SHOAL_API void* find_events(const void* type) const;
    SHOAL_API void own_events(const OwnedEvents& owned);
    SHOAL_API void run_frame(float dt);
    SHOAL_API void step_and_settle(float dt);
    void warn_of_missing_settle();
    void hold_rows(bool hold);
    void note_deaths();
    void settle_stores();
    void move_attached_transforms(const SettleContext& context);
    std::uint64_t count_pins(ResourceId resource) const;

    EntityManager& entities_;
    SerialExecutor serial_;
    Executor* executor_;
    ResourceLibrary* library_;
    DefaultHome default_home_;
    PagePool pool_;
    StringTable strings_;
    Random random_;
    ComponentRegistry registry_;
    Array<Owned> owned_{Owner("world")};
    WorldHost* host_;
    ComponentDirectory directory_;
    WaitingCommands* commands_;
    Array<OwnedEvents> events_{Owner("world")};
    TransformManager* transforms_ = nullptr;  // this and the next four: made here, or attached
    ActivityManager* activity_ = nullptr;
    OwnershipManager* ownership_ = nullptr;
    ModelPoseManager* model_poses_ = nullptr;
    DataManager* data_ = nullptr;
    Entity singles_;
    Database* database_ = nullptr;
    Schedule schedule_;
    SettleStatistics settles_;
    WorldServices services_;
    OwnServices* own_services_;
    std::uint64_t frame_ = 0;
    std::uint64_t stamp_ = 1, deaths_at_settle_ = 0;  // the second: for checked builds
    const Blob* loaded_types_ = nullptr;              // of the state that is loaded now
    bool passes_run_ = false;
    bool is_settling_ = false;
    std::uint32_t num_open_spawns_ = 0, num_unsettled_frames_ = 0;  // the second: for checked builds
};

}  // namespace shoal
