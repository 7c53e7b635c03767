#pragma once
// Changes components through the functions that commands use. If a store refuses a change, undo() undoes all changes in
// reverse order.
// Thread: the structural thread of the world.

#include "shoal/database/database.h"
#include "shoal/store/store.h"

#include <vector>

namespace shoal {

class OwnershipManager;
class TransformManager;

/// A struct image of a component.
using Image = Array<std::byte>;

/// A component of an entity. The entity may have several of the same type.
struct ReloadedComponent {
    Store* store = nullptr;
    const Schema* schema = nullptr;  // Lifetime: valid during the reload
    Entity entity;
    std::uint32_t index = 0;

    ComponentRow find() const { return store->find_row(schema->id(), entity, index); }
};

class ReloadSteps {
public:
    explicit ReloadSteps(TransformManager* transforms) : transforms_(transforms) {}
    ReloadSteps(const ReloadSteps&) = delete;
    ReloadSteps& operator=(const ReloadSteps&) = delete;

    // Errors of all steps: the store refuses the change. On error, the step has changed nothing.

    /// Writes the field with this index in the schema. Returns whether the value was different. Shape: `value` has the
    /// size of the field. Requires: the entity has the component.
    Result<bool> write(const ReloadedComponent& place, std::size_t field, const std::byte* value);
    /// Adds components to entities. Shape: a struct image for each entity. Requires: the entities are alive. If the
    /// type is not `many`, they do not have the component yet.
    Status add(Store& store, const Schema& schema, std::span<const Entity> entities, const std::byte* images);
    /// Removes the components of a type. Requires: the entities have the component.
    Status remove(Store& store, const Schema& schema, std::span<const Entity> entities);
    /// For a `many` type, replaces all of an entity's values. If `in_place` is set and the number of values is
    /// unchanged, overwrites the values.
    Status set_list(const ReloadedComponent& first, std::span<const Image> values, bool in_place);
    /// Enables or disables a component. Returns whether this changed anything. Requires: the entity has the component.
    Result<bool> set_enabled(Database& database, const ReloadedComponent& place, bool on);
    /// Records the owners of entities for undo(). The caller changes the owners afterwards.
    void note_owners(OwnershipManager& owners, std::span<const Entity> owned);
    /// Links an entity to a parent, or makes it a root if `parent` is null. Keeps its local pose. Requires: the entity
    /// and the parent have transforms.
    Status link(Entity child, Entity parent);
    Status move(Database& database, Entity entity, Zone zone);

    /// Undoes all steps.
    void undo();

private:
    enum class Kind : std::uint8_t { kWrite, kAdd, kRemove, kList, kEnable, kOwn, kLink, kMove };
    struct Step {
        Kind kind;
        ReloadedComponent place;
        std::size_t field = 0;
        Array<std::byte> bytes{Owner("reload")};  // the previous value or image
        Array<Image> list{Owner("reload")};       // the previous values
        Array<Entity> owners{Owner("reload")};    // pairs of an owned entity and its owner
        Entity parent{};
        Zone zone = kNoZone;
    };
    void undo(const Step& step);
    static Status take_back(const Step& step);
    static Status give_back(const Step& step);
    static Status replace_list(const ReloadedComponent& first, std::span<const Image> values);
    void note_removed(const ReloadedComponent& place, const ComponentRow& at);
    static Status set_parent(TransformManager& transforms, Entity child, Entity parent);

    TransformManager* transforms_;
    std::vector<Step> steps_;
};

/// Returns the struct image of a component in a table.
Image image_of_row(const Store& store, const ComponentRow& at, const Schema& schema);
/// For a `many` type, returns the struct images of all of an entity's values.
Array<Image> images_of_list(const ReloadedComponent& first);
bool same_image(const Image& a, const Image& b, const Schema& schema);

}  // namespace shoal
