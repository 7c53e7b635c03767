#pragma once
// A component directory knows which store keeps each component type. Commands, the spawner, field paths, plugins and
// scripts find stores through it. A world owns a directory; a directory also works without a world:
//
//     ComponentDirectory directory(entities);
//     if (Status added = directory.add(masses); !added) return added;    // from now on, `masses` keeps its type
//     Store* store = directory.find(schema_of<PointMass>().id());        // nullptr: no store keeps it
//     Result<Store*> found = directory.require(schema_of<Transform>());  // a world may create the store
//
//     component type --directory--> store --its tables--> rows
//
// Each component type is kept by only one store. A store may also show other types to queries, such as computed types.
//
// Commands recorded by passes wait in the directory. A world carries them out when it settles. A program without a
// world calls WaitingCommands::of_directory(directory).apply() before it settles the stores (see waiting_commands.h). A
// database that is not in another directory has its own directory, and carries out the commands itself.
// Thread: one structural thread; between its calls, const calls from any thread.

#include "shoal/base/detail/array.h"
#include "shoal/base/detail/hash_map.h"
#include "shoal/base/detail/memory.h"
#include "shoal/entity/entity_manager.h"
#include "shoal/store/detail/singletons.h"
#include "shoal/store/store.h"

#include <type_traits>

namespace shoal {

class WaitingCommands;

/// The owner of a directory, such as a world. The owner creates stores, and is notified when a store is destroyed.
class DirectoryOwner {
public:
    /// Creates the dedicated store for a component type that no store keeps yet. Returns nullptr if the type has no
    /// dedicated store. Errors: the store cannot be created. The message says what is missing.
    virtual Result<Store*> make_store_of(const Schema& component) = 0;
    /// Returns the schema of the component type with this name if make_store_of() can create its store; otherwise
    /// nullptr.
    virtual const Schema* find_built_in(ComponentId name) const = 0;
    /// Chooses the store for a component type that a command names and that has no dedicated store.
    virtual Result<Store*> choose_store_for(const Schema& component) = 0;
    /// Checks whether a store may keep a component type. Errors: the type would have no effect in this store, or is not
    /// allowed there.
    virtual Status check_store(const Store& store, const Schema& component) const = 0;
    /// Called after a store is added.
    virtual void note_store(Store& store) = 0;
    /// Called when a store in the directory is destroyed, before it is removed from the directory.
    virtual void forget_store(Store& store) = 0;

protected:
    ~DirectoryOwner() = default;
};

/// A component type, and the store that keeps or shows it.
struct KeptComponent {
    Store* store = nullptr;  ///< nullptr: no store keeps or shows the type
    const Schema* schema = nullptr;
    explicit operator bool() const { return store != nullptr; }
};

class ComponentDirectory {
public:
    /// Requires: `entities` and `owner` outlive the directory. Without an owner, no stores are created automatically.
    SHOAL_API explicit ComponentDirectory(EntityManager& entities, DirectoryOwner* owner = nullptr);
    /// Afterwards, the stores are not in any directory.
    SHOAL_API ~ComponentDirectory();
    ComponentDirectory(const ComponentDirectory&) = delete;
    ComponentDirectory& operator=(const ComponentDirectory&) = delete;

    EntityManager& entities() const { return entities_; }

    // --- stores --------------------------------------------------------------------------------------------------

    /// Adds a store, which keeps its component types from now on.
    /// Errors: another store keeps one of the types, or the owner refuses one; the store is already attached to a
    /// world; commands are waiting in the store's own directory. On error, nothing has changed. Requires: no pass is
    /// running.
    SHOAL_API Status add(Store& store);
    /// Adds a store and takes ownership of it: end_stores() and destroy() call destroy(object).
    /// Requires: add() accepts the store.
    SHOAL_API void own(Store& store, void* object, void (*destroy)(void* object));
    /// Constructs S(entities, pool, arguments...) and takes ownership of it. A Manager<T> becomes the face() of its
    /// core. Requires: no store keeps any of its component types yet, no pass is running, and `pool` outlives the
    /// directory.
    template <class S, class... Arguments>
    S& make(PagePool& pool, Arguments&&... arguments) {
        static_assert(alignof(S) <= alignof(std::max_align_t));
        if (is_held_) entities_.hold(false);  // lets own() name the store in the message with which it ends the program
        S* const made = make_owned<S>("world", entities_, pool, std::forward<Arguments>(arguments)...);
        const auto end = [](void* object) { destroy_owned("world", static_cast<S*>(object)); };
        if constexpr (std::is_base_of_v<Store, S>) {
            own(*made, made, end);
        } else {
            made->core().set_face(made);
            own(made->core(), made, end);
        }
        return *made;
    }
    bool owns(const Store& store) const { return find_owned(store) != owned_.size(); }
    /// Removes a store and notifies the owner. In a world, call detach() instead, which first notifies the services.
    /// Requires: the store is in this directory, and no pass is running.
    SHOAL_API void remove(Store& store);

    // For the owner, and for code that loads another state into a world. Each call requires that no pass is running.

    /// Destroys a store that the directory owns; if it is still in the directory, removes it first.
    SHOAL_API void destroy(Store& store);
    /// The number of stores that the directory owns, including removed ones. destroy_after() destroys all owned stores
    /// after the first `num_owned`.
    std::size_t num_owned() const { return owned_.size(); }
    SHOAL_API void destroy_after(std::size_t num_owned);
    /// Drops the commands, removes all stores, and destroys the stores that the directory owns, newest first. The owner
    /// is not notified.
    SHOAL_API void end_stores();
    /// Replaces `before` with `after`, a store for the same component type. The owner is not notified. If the directory
    /// owned `before`, it still owns that store. Requires: `before` is in this directory, and `after` is not in any
    /// directory.
    SHOAL_API void replace(Store& before, Store& after);
    bool has(const Store& store) const { return store.component_directory() == this; }
    /// All stores, in the order in which they were added. Lifetime: until a store is added or removed.
    std::span<Store* const> stores() const { return stores_; }

    // --- component types -----------------------------------------------------------------------------------------

    /// The number of component types that stores keep.
    std::size_t num_types() const { return keepers_.size(); }
    /// Returns the store that keeps a component type, or nullptr. Cost: a look-up.
    Store* find(ComponentId component) const { return keepers_.find_or(component, nullptr); }
    /// Returns the store that keeps a component type, or else a store that shows it, with the schema that the type has
    /// there.
    SHOAL_API KeptComponent find_kept(ComponentId component) const;
    /// Returns the schema of a component type in the store that keeps it, or nullptr if no store does.
    SHOAL_API const Schema* find_schema(ComponentId component) const;
    /// Returns the store that keeps a component type, or else a store that shows it in this layout, or else nullptr.
    SHOAL_API Store* find_shown(const Schema& component) const;
    /// Like find_shown(), but lets the owner create the store of a built-in type. Returns nullptr if no store keeps the
    /// type and it is not built in.
    SHOAL_API Result<Store*> require(const Schema& component);
    /// Like require(), but an error ends the program with the error's message. For stores that the program needs.
    SHOAL_API Store* require_or_end(const Schema& component);
    /// Lets the owner create the store of the built-in component type with this name, if that type exists and no store
    /// keeps it. Errors: the store cannot be created.
    SHOAL_API Status require_built_in(ComponentId name);
    /// Returns the store that keeps a component type if that store is an S; otherwise nullptr.
    template <class S>
    S* find_as(ComponentId component) const {
        return dynamic_cast<S*>(find(component));
    }
    /// Like require(), but for a command. If the component type has no store, the owner chooses a store; without an
    /// owner, the first store that accepts the type keeps it from now on. Errors: no store accepts the type.
    SHOAL_API Result<Store*> require_for_command(const Schema& component);

    /// Checks whether a store may keep a component type. Errors: another store keeps the type, or the owner refuses it.
    SHOAL_API Status check(const Store& store, const Schema& component) const;
    /// Lets a store keep another component type. Errors: as for check(); the store accepts no further types
    /// (Store::take_component()).
    SHOAL_API Status claim(Store& store, const Schema& component);
    template <class T>
    Status claim(Store& store) {
        return claim(store, schema_of<T>());
    }
    /// Called by a store that now keeps another component type. Requires: check() has allowed the type.
    void note(Store& store, ComponentId component) { keepers_.set(component, &store); }

    // --- all stores together -------------------------------------------------------------------------------------

    /// The singleton components of the directory.
    Singletons& singletons() { return singletons_; }
    const Singletons& singletons() const { return singletons_; }

    /// With `true`, makes all stores and the entity manager refuse structural calls, because passes are about to run.
    /// With `false`, allows the calls again.
    SHOAL_API void hold(bool holds);
    bool is_held() const { return is_held_; }

    /// The stamp of current writes to the stores. Each settle starts a new stamp.
    std::uint64_t stamp() const { return stamp_; }
    /// For code that settles or loads the stores. Requires: no pass is running.
    void set_stamp(std::uint64_t stamp) { stamp_ = stamp; }

    // --- for the command room ------------------------------------------------------------------------------------

    /// The waiting commands; nullptr until they are first used. Thread: any.
    WaitingCommands* commands() const { return __atomic_load_n(&commands_, __ATOMIC_ACQUIRE); }
    /// Gives `made` to the directory, which calls release(made) when it is destroyed. If another thread has
    /// already set an object, returns that object and leaves `made` to the caller. Thread: any.
    SHOAL_API WaitingCommands& set_commands(WaitingCommands& made, void (*release)(WaitingCommands&));
    /// Drops the waiting commands, and the commands that the destructors of their values record. The directory's
    /// destructor also does this.
    SHOAL_API void end_commands();

private:
    friend class Store;
    struct Owned {
        Store* store;
        void* object;
        void (*destroy)(void* object);
    };
    void leave(Store& store);
    void erase(Store& store);
    void end(const Owned& owned);
    void clear();
    [[noreturn]] static void refuse_held(const Store& store);
    std::size_t find_owned(const Store& store) const;

    EntityManager& entities_;
    DirectoryOwner* owner_;
    Array<Store*> stores_{Owner("world")};
    Array<Owned> owned_{Owner("world")};
    Singletons singletons_{*this};
    std::uint64_t stamp_ = 1;
    bool is_held_ = false;
    HashMap<ComponentId, Store*> keepers_{Owner("world")};
    WaitingCommands* commands_ = nullptr;
    void (*release_commands_)(WaitingCommands&) = nullptr;
};

}  // namespace shoal
