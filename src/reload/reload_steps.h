#pragma once
// Changes of single components, made through the doors that commands use, and taken back in the opposite order if a later
// one is refused.
// Thread: the structural thread of the world.

#include "shoal/database/database.h"
#include "shoal/store/store.h"

#include <vector>

namespace shoal {

class OwnershipManager;
class TransformManager;

/// A struct image of a component.
using Image = Array<std::byte>;

/// A component of an entity, or one of several.
struct ReloadedComponent {
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
    Result<bool> write(const ReloadedComponent& place, std::size_t field, const std::byte* value);
    /// Gives entities components. Shape: a struct image for each. Requires: they live and have none, or may have several.
    Status add(Store& store, const Schema& schema, std::span<const Entity> entities, const std::byte* images);
    /// Takes the components of a type from entities that have one.
    Status remove(Store& store, const Schema& schema, std::span<const Entity> entities);
    /// Gives an entity these values of a `many` type, in this order, in place of those that it has. `in_place`: values are
    /// overwritten if there are as many as before.
    Status set_list(const ReloadedComponent& first, std::span<const Image> values, bool in_place);
    /// Enables or disables a component, and returns whether it was the other way. Requires: the entity has it.
    Result<bool> set_enabled(Database& database, const ReloadedComponent& place, bool on);
    /// Notes who owns these entities, before they get other owners. No call of this class does that.
    void note_owners(OwnershipManager& owners, std::span<const Entity> owned);
    /// Links an entity to a parent, or to none, and keeps its local pose. Requires: both have transforms.
    Status link(Entity child, Entity parent);
    Status move(Database& database, Entity entity, Zone zone);

    /// Takes all back.
    void undo();

private:
    enum class Kind : std::uint8_t { kWrite, kAdd, kRemove, kList, kEnable, kOwn, kLink, kMove };
    struct Step {
        Kind kind;
        ReloadedComponent place;
        std::size_t field = 0;
        Array<std::byte> bytes{Owner("reload")};  // the value, or the image, that was there
        Array<Image> list{Owner("reload")};       // the values that were there
        Array<Entity> owners{Owner("reload")};    // who was owned, and by whom, in turn
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
/// Returns the images of all values of a `many` type that an entity has.
Array<Image> images_of_list(const ReloadedComponent& first);
bool same_image(const Image& a, const Image& b, const Schema& schema);

}  // namespace shoal
