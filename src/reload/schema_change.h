#pragma once
// Changes the fields of component types without a C++ type, for Reloader::reload(). A manager with the new schema
// replaces the old manager, whose rows are kept until the change can no longer fail.
// Thread: the structural thread of the world.

#include "shoal/world/world.h"

#include <vector>

namespace shoal {

class SchemaChange {
public:
    explicit SchemaChange(World& world) : world_(world) {}
    static Result<SchemaChange*> make(World& world, const Schema& schema);
    static void destroy(SchemaChange* change) { destroy_owned("reload", change); }
    /// Undoes the changes, unless keep() was called.
    ~SchemaChange();
    SchemaChange(const SchemaChange&) = delete;
    SchemaChange& operator=(const SchemaChange&) = delete;

    /// Changes the fields of all component types whose fields differ in the blob. Errors: a store cannot change the
    /// fields of a component type, a value cannot be converted, or memory has run out.
    Status begin(const Blob& blob);
    /// Changes the fields of one component type. Errors: the same as for a blob, or no store has the component type.
    Status begin(const Schema& schema);
    void keep();
    std::uint32_t num_schemas() const { return static_cast<std::uint32_t>(changes_.size()); }

private:
    struct Change {
        ComponentManager* before;
        ComponentManager* after;
    };
    Status change(const Schema& schema, Store& store);
    Status fill(const ComponentManager& before, ComponentManager& after) const;
    ComponentManager* find_changeable(const Store& store) const;

    World& world_;
    std::vector<Change> changes_;
};

}  // namespace shoal
