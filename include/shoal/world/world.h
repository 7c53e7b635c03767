#pragma once
// A world: stores, a schedule, and the moment when changes settle.
//
//     EntityManager entities;
//     World world(entities);
//     auto& masses = world.manager<PointMass>();
//     auto spawned = world.spawn(level, {.copies = 31});
//     world.schedule().add(...);
//     world.step(dt);                       // passes in order, then settle
//
// Several worlds can share one entity manager: each drops the rows of dead entities at its own settle. A world owns
// the managers that it makes, the pages of their tables, the texts behind string ids and a seeded random generator;
// stores attached to it belong to others.
// Thread: one structural thread at a time per world. Inside a pass, see schedule.h.

#include "shoal/base/random.h"
#include "shoal/base/string_table.h"
#include "shoal/resource/library.h"
#include "shoal/resource/spawner.h"
#include "shoal/world/ledger.h"
#include "shoal/world/schedule.h"

#include <cstddef>
#include <utility>

namespace shoal {

class TransformManager;
struct TransformOptions;

struct WorldOptions {
    Executor* executor = nullptr;        ///< outlives the world; nullptr: passes run on the calling thread
    ResourceLibrary* library = nullptr;  ///< outlives the world; its blobs are pinned by rows that refer to them
    std::uint64_t seed = 1;              ///< of the random generator
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

    /// Returns the manager of T's components, made at the first call. `options` count at that call only.
    /// Requires: no store was attached, or made from a schema alone, for that component type before.
    template <class T>
    Manager<T>& manager(const ManagerOptions& options = {}) {
        static_assert(kIsDescribed<T>, "the component is not declared; write SHOAL_COMPONENT(Name, fields...)");
        if (void* owned = find_owned(schema_of<T>())) return *static_cast<Manager<T>*>(owned);
        Manager<T>& made = make<Manager<T>>(options);
        own({&made, &made.core(), &made.core(), destroy<Manager<T>>, true});
        return made;
    }
    /// Returns the manager of a component type that has no C++ struct here, made at the first call.
    /// Errors: a store takes another component type of that name, and the message shows both schemas; or it is not
    /// the world's own.
    SHOAL_API Result<ComponentManager*> manager(const Schema& schema, const ManagerOptions& options = {});

    /// Returns the transforms of this world, made at the first call. `options` count at that call only. See
    /// components/transform.h. Requires: no other store was attached for that component type before.
    SHOAL_API TransformManager& transforms();
    SHOAL_API TransformManager& transforms(const TransformOptions& options);
    /// Returns what transforms() made, or nullptr.
    TransformManager* find_transforms() const { return transforms_; }

    /// Returns the database of this world, made at the first call. `options` count at that call only.
    SHOAL_API Database& database(const DatabaseOptions& options = {});

    /// Makes a store of another class, as S(entities, pool, arguments...), which the world owns like its managers.
    /// Requires: none of its component types has a store.
    template <class S, class... Arguments>
    S& make_store(Arguments&&... arguments) {
        S& made = make<S>(std::forward<Arguments>(arguments)...);
        own({&made, &made, nullptr, destroy<S>, false});
        return made;
    }

    /// Makes `store` part of this world: it is spawned into, settled and reported. It stays its owner's, who detaches
    /// it before it dies. In a world that has settled before it settles at once, so that its writes carry the world's
    /// stamp. Errors: a component type of it has a store already.
    SHOAL_API Status attach(Store& store);
    SHOAL_API void detach(Store& store);

    /// All stores, in the order in which they came. Lifetime: until the next comes or goes.
    std::span<Store* const> stores() const { return stores_; }
    /// Returns the store of a component type, or nullptr.
    SHOAL_API Store* find_store(ComponentId component) const;

    // --- resources -----------------------------------------------------------------------------------------------

    /// Registers functions that spawn component types in place of stores.
    ComponentRegistry& registry() { return registry_; }

    /// Makes a manager for every component type of the blob that has neither store nor spawn function, through the
    /// schema that the blob carries; for transforms it is transforms(). Errors: a store's schema differs from the
    /// blob's.
    SHOAL_API Status adopt_schemas(const Blob& blob);
    /// Spawns a blob: one call creates all ids, then one batch goes to the store of each component type. Component
    /// types that nobody takes are skipped and counted, or an error, as the options say.
    /// Errors: a schema that differs, no ids or memory; nothing has changed.
    SHOAL_API Result<Spawned> spawn(const Blob& blob, const SpawnOptions& options = {});

    // --- time ----------------------------------------------------------------------------------------------------

    Schedule& schedule() { return schedule_; }
    const Schedule& schedule() const { return schedule_; }
    /// Runs the schedule and settles. `dt` in seconds. Meanwhile rows of databases stay; see store/commands.h.
    SHOAL_API void step(float dt);
    /// Has all databases do what commands asked for, and then every store drop the rows of the dead and give memory
    /// back. Rows move.
    SHOAL_API void settle();
    const SettleStatistics& settle_statistics() const { return settles_; }
    std::uint64_t frame() const { return frame_; }
    /// Writes since the last settle carry this stamp.
    std::uint64_t stamp() const { return stamp_; }

    // --- the rest ------------------------------------------------------------------------------------------------

    EntityManager& entities() { return entities_; }
    const EntityManager& entities() const { return entities_; }
    Executor& executor() { return *executor_; }
    Random& random() { return random_; }
    StringTable& strings() { return strings_; }
    const StringTable& strings() const { return strings_; }
    PagePool& pool() { return pool_; }
    const PagePool& pool() const { return pool_; }

    /// Returns a hash of everything that the stores hold: owners and fields of every row, in order. Opaque fields are
    /// left out. The same for any number of workers. Cost: reads every row.
    SHOAL_API std::uint64_t state_hash() const;

private:
    struct Owned {
        void* object;
        Store* store;
        ComponentManager* manager;  // nullptr: a store of another class
        void (*destroy)(void* object);
        bool typed;  // object is a Manager<T>
    };

    template <class S, class... Arguments>
    S& make(Arguments&&... arguments) {
        static_assert(alignof(S) <= alignof(std::max_align_t));
        return *::new (allocate_memory(sizeof(S), "world")) S(entities_, pool_, std::forward<Arguments>(arguments)...);
    }
    template <class S>
    static void destroy(void* object) {
        static_cast<S*>(object)->~S();
        release_memory(object, sizeof(S), "world");
    }

    SHOAL_API void* find_owned(const Schema& schema) const;
    SHOAL_API void own(const Owned& owned);
    std::uint64_t count_pins(ResourceId resource) const;

    EntityManager& entities_;
    SerialExecutor serial_;
    Executor* executor_;
    ResourceLibrary* library_;
    PagePool pool_;
    StringTable strings_;
    Random random_;
    ComponentRegistry registry_;
    Array<Owned> owned_{Owner("world")};
    Array<Store*> stores_{Owner("world")};
    TransformManager* transforms_ = nullptr;
    Database* database_ = nullptr;
    Schedule schedule_;
    SettleStatistics settles_;
    std::uint64_t frame_ = 0;
    std::uint64_t stamp_ = 1;
};

}  // namespace shoal
