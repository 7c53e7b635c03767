#pragma once
// A singleton is a component type, such as the wind, that has only one component in a directory of stores. All
// singletons belong to one entity, and each is the only row of a manager, so they are saved, reported and observed like
// any other component.
//
//     SHOAL_COMPONENT((Wind, singleton), force)
//
//     ComponentManager& wind = directory.singletons().require(schema_of<Wind>());  // the first call makes the row
//
// Thread: one structural thread; between its calls, const calls from any thread.

#include "shoal/base/status.h"
#include "shoal/entity/entity.h"
#include "shoal/table/detail/column.h"
#include "shoal/table/detail/schema.h"

#include <type_traits>

namespace shoal {

class ComponentDirectory;
class ComponentManager;
class SnapshotReader;
class SnapshotWriter;

class Singletons {
public:
    explicit Singletons(ComponentDirectory& directory) : directory_(directory) {}

    /// Returns the manager of a singleton, which has one row. Creates the manager and the row if necessary. Requires:
    /// the schema is `singleton`; no store keeps the type in a different layout; no pass is running, unless the manager
    /// and the row already exist.
    SHOAL_API ComponentManager& require(const Schema& component);
    /// Like require() above, but read-only. Requires: a call, a query or a blob has named the singleton, so that it
    /// exists.
    SHOAL_API const ComponentManager& require(const Schema& component) const;
    /// Marks a singleton as written, and returns its column, which holds the struct. Requires: as for require(), and no
    /// pass is running.
    SHOAL_API std::byte* write(const Schema& component);
    /// Like write() and the read-only require(), but for a C++ type declared `SHOAL_COMPONENT((Wind, singleton),
    /// force)`.
    template <class T>
    T& of() {
        require_declared<T>();
        return *reinterpret_cast<T*>(write(schema_of<T>()));
    }
    template <class T>
    const T& of() const {
        require_declared<T>();
        return *reinterpret_cast<const T*>(read(schema_of<T>()));
    }
    /// Gives a manager its row, if it has none. Errors: its schema allows several rows; ids or memory run out.
    SHOAL_API Status make_row(ComponentManager& manager);
    /// Returns the entity that has the singletons, or null if there are none yet.
    Entity entity() const { return entity_; }

    /// Forgets the entity if it has died.
    SHOAL_API void note_deaths();
    /// Destroys the entity.
    SHOAL_API void destroy();

    SHOAL_API void save(SnapshotWriter& to) const;
    /// Errors: the saved entity is not alive.
    SHOAL_API Status load(SnapshotReader& from);
    /// Creates the singletons that are missing from the loaded state, with their defaults. Errors: a singleton has
    /// several rows, or its row belongs to a dead entity.
    SHOAL_API Status finish_load(SnapshotReader& from);

private:
    template <class T>
    static void require_declared() {
        static_assert(kIsSingleton<T>,
                      "the component is not declared singleton; write SHOAL_COMPONENT((Name, singleton), fields...)");
        static_assert(!std::is_empty_v<T>, "a singleton without fields says nothing; give it a field");
    }
    SHOAL_API const std::byte* read(const Schema& component) const;

    ComponentDirectory& directory_;
    Entity entity_;
};

}  // namespace shoal
