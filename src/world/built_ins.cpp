#include "world/built_ins.h"

#include "shoal/components/activity.h"
#include "shoal/components/debug_name.h"
#include "shoal/components/ownership.h"
#include "shoal/components/point_mass.h"
#include "shoal/components/properties.h"
#include "shoal/components/tag.h"
#include "shoal/pose/attached_to_node.h"
#include "shoal/pose/model_pose.h"
#include "shoal/transform/transform.h"

namespace shoal {
namespace {

Result<Store*> make_model_poses(World& world) {
    if (world.library() != nullptr) return &world.model_poses();
    return Status::error(
        "the nodes of a \"model_pose\" lie in a resource, which a world finds in its library; give the world one, "
        "WorldOptions::library, and add the resource to it");
}

std::span<const BuiltIn> built_ins() {
    constexpr auto kTransforms = [](World& world) -> Result<Store*> { return &world.transforms(); };
    constexpr auto kOwners = [](World& world) -> Result<Store*> { return &world.ownership(); };
    constexpr auto kActivity = [](World& world) -> Result<Store*> { return &world.activity(); };
    constexpr auto kProperties = [](World& world) -> Result<Store*> { return &world.properties(); };
    constexpr auto kTags = [](World& world) -> Result<Store*> { return &world.manager<Tag>().core(); };
    constexpr auto kNames = [](World& world) -> Result<Store*> { return &world.manager<DebugName>().core(); };
    constexpr auto kAttached = [](World& world) -> Result<Store*> { return &world.manager<AttachedToNode>().core(); };
    constexpr auto kMasses = [](World& world) -> Result<Store*> { return &world.manager<PointMass>().core(); };
    static const BuiltIn kAll[] = {
        {&schema_of<Transform>(), kTransforms, "", ""},
        {&schema_of<ChildOf>(), kTransforms, "the transforms", "transforms", true},
        {&schema_of<WorldPose>(), kTransforms, "the transforms", "transforms"},
        {&schema_of<Owned>(), kOwners, "the owners", "ownership"},
        {&schema_of<Inactive>(), kActivity, "the inactive entities", "activity"},
        {&schema_of<ModelPose>(), make_model_poses, "the model poses", "model_poses"},
        {&schema_of<Properties>(), kProperties, "the properties", "properties"},
        {&schema_of<PropertyValue>(), kProperties, "the properties", "properties"},
        {&schema_of<Tag>(), kTags, "", ""},
        {&schema_of<DebugName>(), kNames, "", ""},
        {&schema_of<AttachedToNode>(), kAttached, "", ""},
        {&schema_of<PointMass>(), kMasses, "", ""},
    };
    return kAll;
}

}  // namespace

const BuiltIn* find_built_in(ComponentId name) {
    for (const BuiltIn& one : built_ins())
        if (one.schema->id() == name) return &one;
    return nullptr;
}

const BuiltIn* find_built_in(const Schema& component) {
    const BuiltIn* const found = find_built_in(component.id());
    return found != nullptr && found->schema->layout_hash() == component.layout_hash() ? found : nullptr;
}

}  // namespace shoal
