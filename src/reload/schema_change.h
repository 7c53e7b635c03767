#pragma once
// Lets component types that a world keeps by a schema alone have other fields, for Reloader::reload(). A new manager with the
// new schema takes the place of the old one, whose rows stay until it is certain that they are not needed.
// Thread: the structural thread of the world.

#include "shoal/world/world.h"

#include <vector>

namespace shoal {

class SchemaChange {
public:
    explicit SchemaChange(World& world) : world_(world) {}
    static Result<SchemaChange*> make(World& world, const Schema& schema);
    static void destroy(SchemaChange* change) { destroy_owned("reload", change); }
    /// Takes all back, unless keep() was called.
    ~SchemaChange();
    SchemaChange(const SchemaChange&) = delete;
    SchemaChange& operator=(const SchemaChange&) = delete;

    /// Errors: a component type of the blob has other fields than its store, which cannot change them; a value cannot be
    /// converted; no memory.
    Status begin(const Blob& blob);
    /// The same for one schema. Errors: no store keeps the component type.
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
