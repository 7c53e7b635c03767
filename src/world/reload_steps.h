#pragma once
// Changes of single components, made through the doors that commands use, and taken back in the opposite order if a later
// one is refused.
// Thread: the structural thread of the world.

#include "shoal/database/database.h"
#include "shoal/store/store.h"

namespace shoal {

class TransformManager;

/// A component of an entity, or one of several.
struct ReloadPlace {
    Store* store = nullptr;
    const Schema* schema = nullptr;  // Lifetime: that of the reload
    Entity entity;
    std::uint32_t index = 0;

    ComponentRow find() const { return store->find_row(schema->id(), entity, index); }
};

class ReloadSteps {
public:
    explicit ReloadSteps(TransformManager* transforms) : transforms_(transforms) {}
    ReloadSteps(const ReloadSteps&) = delete;
    ReloadSteps& operator=(const ReloadSteps&) = delete;

    // Errors, of all: the store refuses; that step has changed nothing.

    /// Writes a field, by its place in the schema, and returns whether it had another value. Shape: the field's size.
    /// Requires: the entity has the component.
    Result<bool> write(const ReloadPlace& place, std::size_t field, const std::byte* value);
    /// Gives entities components. Shape: a struct image for each. Requires: they live and have none, or may have several.
    Status add(Store& store, const Schema& schema, std::span<const Entity> entities, const std::byte* images);
    /// Takes the components of a type from entities that have one.
    Status remove(Store& store, const Schema& schema, std::span<const Entity> entities);
    /// Takes one of several away.
    Status remove_one(const ReloadPlace& place);
    /// Links an entity to a parent, or to none, and keeps its local pose. Requires: both have transforms.
    Status link(Entity child, Entity parent);
    Status move(Database& database, Entity entity, Zone zone);

    /// Takes all back.
    void undo();

private:
    enum class Kind : std::uint8_t { kWrite, kAdd, kRemove, kLink, kMove };
    struct Step {
        Kind kind;
        ReloadPlace place;
        std::size_t field = 0;
        Array<std::byte> bytes{Owner("reload")};  // the value, or the image, that was there
        Entity parent{};
        Zone zone = kNoZone;
    };
    void undo(const Step& step);
    void note_removed(const ReloadPlace& place, const ComponentRow& at);
    static Status set_parent(TransformManager& transforms, Entity child, Entity parent);

    TransformManager* transforms_;
    std::vector<Step> steps_;
};

/// Returns the struct image of a component in a table.
Array<std::byte> image_of_row(const ComponentRow& at, const Schema& schema);

}  // namespace shoal
