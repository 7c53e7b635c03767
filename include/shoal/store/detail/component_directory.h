#pragma once
// A component directory knows which store keeps which component type. Commands, the spawner, fields by name, plugins
// and scripts find stores through it. A world owns one; it also works without a world:
//
//     ComponentDirectory directory(entities);
//     if (Status added = directory.add(masses); !added) return added;    // its component type is its own from now on
//     Store* store = directory.find(schema_of<PointMass>().id());        // nullptr: nobody keeps it
//     Result<Store*> found = directory.require(schema_of<Transform>());  // its owner, a world, may make the store
//
//     component type --directory--> store --its tables--> rows
//
// Each component type is kept by one store. A store may show queries others beside those, such as what it computes.
//
// The commands that passes ask for belong to the directory. A world carries them out when it settles. A program without
// a world calls WaitingCommands::of_directory(directory).apply() before it settles the stores (see waiting_commands.h).
// A database that is in no other directory is in one of its own, and carries them out itself.
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

/// Who has a directory, such as a world. It makes stores, and is told when one ends.
class DirectoryOwner {
public:
    /// Makes the store of a component type that nobody keeps, if it has one of its own; nullptr: it has none.
    /// Errors: it cannot be made; the message says what is missing.
    virtual Result<Store*> make_store_of(const Schema& component) = 0;
    /// Returns the schema of the component type of this name for which make_store_of() makes a store of its own, or
    /// nullptr: there is none.
    virtual const Schema* find_built_in(ComponentId name) const = 0;
    /// Returns the store that is to keep a component type which commands name and which has no store of its own.
    virtual Result<Store*> choose_store_for(const Schema& component) = 0;
    /// Errors: the component type would do nothing in this store, or may not be there.
    virtual Status check_store(const Store& store, const Schema& component) const = 0;
    /// Told of a store that was added.
    virtual void note_store(Store& store) = 0;
    /// Told of a store that ends while it is in the directory, before it is taken out.
    virtual void forget_store(Store& store) = 0;

protected:
    ~DirectoryOwner() = default;
};

/// A component type, and the store that keeps or shows it.
struct KeptComponent {
    Store* store = nullptr;  ///< nullptr: no store keeps it, or shows it
    const Schema* schema = nullptr;
    explicit operator bool() const { return store != nullptr; }
};

class ComponentDirectory {
public:
    /// `entities` outlives the directory, and so does `owner`; nullptr: nobody makes stores.
    SHOAL_API explicit ComponentDirectory(EntityManager& entities, DirectoryOwner* owner = nullptr);
    /// Its stores are in no directory then.
    SHOAL_API ~ComponentDirectory();
    ComponentDirectory(const ComponentDirectory&) = delete;
    ComponentDirectory& operator=(const ComponentDirectory&) = delete;

    EntityManager& entities() const { return entities_; }

    // --- stores --------------------------------------------------------------------------------------------------

    /// Adds a store, which keeps its component types from now on.
    /// Errors: another store keeps one of them, or the owner refuses it; the store is in another directory than its
    /// own; commands wait in its own.
    /// Nothing has changed. Requires: no passes run.
    SHOAL_API Status add(Store& store);
    /// Adds a store that the directory owns from now on: it ends with destroy(object), in end_stores() or destroy().
    /// Requires: add() takes it.
    SHOAL_API void own(Store& store, void* object, void (*destroy)(void* object));
    /// Makes a store as S(entities, pool, arguments...), and owns it. A Manager<T> is known as the face of its core.
    /// Requires: none of its component types has a store; no passes run. Lifetime: `pool` outlives the directory.
    template <class S, class... Arguments>
    S& make(PagePool& pool, Arguments&&... arguments) {
        static_assert(alignof(S) <= alignof(std::max_align_t));
        if (is_held_) entities_.hold(false);  // so that own() ends the program, and says what was made
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
    /// Removes a store, of which the owner is told. In a world, detach() tells its services before. Requires: it is
    /// here; no passes run.
    SHOAL_API void remove(Store& store);

    // For the owner, and for what brings a world into another state. Requires, for each: no passes run.

    /// Removes a store that the directory owns, if it is here, and ends it.
    SHOAL_API void destroy(Store& store);
    /// How many the directory owns, with those that were removed; and ends those that came after the first `num_owned`.
    std::size_t num_owned() const { return owned_.size(); }
    SHOAL_API void destroy_after(std::size_t num_owned);
    /// Drops the commands, removes all stores, and ends those that the directory owns, the last one first. Nobody is
    /// told.
    SHOAL_API void end_stores();
    /// Puts a store in the place of another one, for the same component type. Nobody is told. Requires: `before` is
    /// here, `after` nowhere. One that is owned stays so.
    SHOAL_API void replace(Store& before, Store& after);
    bool has(const Store& store) const { return store.component_directory() == this; }
    /// All stores, in the order in which they were added. Lifetime: until a store is added or removed.
    std::span<Store* const> stores() const { return stores_; }

    // --- component types -----------------------------------------------------------------------------------------

    /// The number of component types that stores keep.
    std::size_t num_types() const { return keepers_.size(); }
    /// Returns the store that keeps a component type, or nullptr. Cost: a look-up.
    Store* find(ComponentId component) const { return keepers_.find_or(component, nullptr); }
    /// Returns the store of a component type, or else one that shows it, with its schema there.
    SHOAL_API KeptComponent find_kept(ComponentId component) const;
    /// Returns the schema with which a store keeps a component type, or nullptr.
    SHOAL_API const Schema* find_schema(ComponentId component) const;
    /// Returns the store that keeps a component type, or shows it in this layout beside those that it keeps, or
    /// nullptr.
    SHOAL_API Store* find_shown(const Schema& component) const;
    /// The same, and lets the owner make the store of a type that has one of its own; nullptr: nobody keeps it, and it
    /// has none.
    SHOAL_API Result<Store*> require(const Schema& component);
    /// The same as require() for what a program cannot go on without: the program ends with the message of an error.
    SHOAL_API Store* require_or_end(const Schema& component);
    /// Lets the owner make the store of a built-in component type of this name, if there is one and no store keeps it.
    /// Errors: it cannot be made.
    SHOAL_API Status require_built_in(ComponentId name);
    /// Returns the store of class S that keeps a component type; nullptr: nobody keeps it, or a store of another class.
    template <class S>
    S* find_as(ComponentId component) const {
        return dynamic_cast<S*>(find(component));
    }
    /// The same for a command. If the component type has no store, the owner chooses one for it; without an owner, the
    /// first that takes it keeps it from now on. Errors: no store takes it.
    SHOAL_API Result<Store*> require_for_command(const Schema& component);

    /// Errors: another store keeps the component type, or the owner refuses it.
    SHOAL_API Status check(const Store& store, const Schema& component) const;
    /// Lets a store keep a further component type. Errors: as above; the store takes no others
    /// (Store::take_component()).
    SHOAL_API Status claim(Store& store, const Schema& component);
    template <class T>
    Status claim(Store& store) {
        return claim(store, schema_of<T>());
    }
    /// Told by a store that it keeps a further component type. Requires: check() has said that it may.
    void note(Store& store, ComponentId component) { keepers_.set(component, &store); }

    // --- all of them together ------------------------------------------------------------------------------------

    /// The components that the directory has once.
    Singletons& singletons() { return singletons_; }
    const Singletons& singletons() const { return singletons_; }

    /// Refuses structural calls of all stores and of the entity manager from now on, because passes run, or allows them
    /// again.
    SHOAL_API void hold(bool holds);
    bool is_held() const { return is_held_; }

    /// The stamp that writes to the stores carry: each settle opens the next one.
    std::uint64_t stamp() const { return stamp_; }
    /// For who settles the stores, or loads them. Requires: no passes run.
    void set_stamp(std::uint64_t stamp) { stamp_ = stamp; }

    // --- for the command room ------------------------------------------------------------------------------------

    /// The commands that wait; nullptr: nobody has asked for any. Thread: any.
    WaitingCommands* commands() const { return __atomic_load_n(&commands_, __ATOMIC_ACQUIRE); }
    /// Gives the directory `made`, which release(made) ends with it. Returns `made`, or what another thread gave it
    /// first.
    /// Thread: any.
    SHOAL_API WaitingCommands& set_commands(WaitingCommands& made, void (*release)(WaitingCommands&));
    /// Drops the commands, as the end of the directory does. What destructors of values ask for meanwhile is dropped,
    /// too.
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
