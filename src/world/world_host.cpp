#include "world/world_host.h"

#include "shoal/base/text.h"
#include "shoal/components/debug_name.h"
#include "shoal/components/tag.h"
#include "shoal/transform/pose_math.h"
#include "shoal/transform/transform.h"
#include "shoal/world/copy.h"
#include "world/built_ins.h"
#include "world/entity_texts.h"
#include "world/world_state.h"

#include <algorithm>

namespace shoal {

// --- stores ------------------------------------------------------------------------------------------------------

Result<Store*> WorldHost::make_store_of(const Schema& component) { return world_.make_built_in(component); }

/// The database of the world, but for what cannot be kept there.
Result<Store*> WorldHost::choose_store_for(const Schema& component) {
    if (!component.many() || !component.toggled()) return &world_.database();
    const Result<ComponentManager*> manager = world_.manager(component);
    return manager ? Result<Store*>(*manager) : Result<Store*>(manager.status());
}

/// Errors: the component type does nothing in a store that only keeps it, as this one would.
Status WorldHost::check_store(const Store& store, const Schema& component) const {
    if (component.single() && store.places_whole_entities())
        return Status::error(concat("\"", component.name(),
                                    "\" is a single, so it cannot have its home in the database; ask for it with "
                                    "World::single(), or let queries name it"));
    const BuiltIn* const built_in = find_built_in(component);
    if (!store.only_keeps() || built_in == nullptr || built_in->whose.empty()) return {};
    return Status::error(concat("\"", component.name(), "\" is what ", built_in->whose,
                                " of a world say, so it cannot have its home in ", store.kind(),
                                "; call World::", built_in->maker, "() before it is used"));
}

void WorldHost::forget_store(Store& store) {
    SHOAL_ASSERT(!world_.is_settling_,
                 "a callback or a reaction destroyed a database while its world settles; do it later");
    world_.forget(store);
}

// --- commands ----------------------------------------------------------------------------------------------------

Result<std::uint32_t> WorldHost::spawn(const Blob& blob, std::span<const Entity> firsts,
                                       std::span<const RootPose> poses, Zone zone,
                                       std::span<const SpawnOverride> overrides) {
    SpawnOptions options;
    options.copies = static_cast<std::uint32_t>(firsts.size());
    options.root_poses = poses;
    options.overrides.assign(overrides.begin(), overrides.end());
    options.first_entities = firsts;
    options.zone = zone;
    options.keep_names = false;
    Status status;
    if (blob.num_entities() == 0) status = Status::error(concat("\"", blob.name(), "\" has no entities"));
    if (status) status = world_.spawn(blob, options).status();
    if (status) return static_cast<std::uint32_t>(firsts.size() * blob.num_entities());
    world_.entities_.destroy(firsts);
    return status;
}

Result<std::uint32_t> WorldHost::copy(Entity original, std::span<const Entity> firsts,
                                      std::span<const RootPose> poses) {
    SpawnOptions options;
    options.copies = static_cast<std::uint32_t>(firsts.size());
    options.root_poses = poses;
    options.first_entities = firsts;
    options.keep_names = false;
    const Result<Spawned> copied = shoal::copy(world_, original, options);
    if (copied) return static_cast<std::uint32_t>(copied->entities().size());
    world_.entities_.destroy(firsts);
    return copied.status();
}

Status WorldHost::change_text(TextChange change, Entity entity, std::string_view text) {
    const Schema& component = change == TextChange::kName ? schema_of<DebugName>() : schema_of<Tag>();
    const Result<Store*> home = world_.home_of(component);
    return home ? change_text_in(**home, component, world_.strings_, change, entity, text) : home.status();
}

// --- what saved commands refer to --------------------------------------------------------------------------------

const Schema* WorldHost::find_loaded_schema(ComponentId component) const {
    const BlobComponents* const saved =
        world_.loaded_types_ == nullptr ? nullptr : world_.loaded_types_->find_components(component);
    return saved == nullptr ? nullptr : saved->schema;
}

Status WorldHost::check_poses(std::span<const RootPose> poses) const {
    const bool are_sound = std::all_of(poses.begin(), poses.end(), [](const RootPose& pose) {
        return is_sound_position(pose.position) && is_sound_scale(pose.scale) && is_sound_rotation(pose.rotation);
    });
    return are_sound ? Status()
                     : Status::error("a pose is flat, infinite or not a number, or its rotation is not of length 1");
}

Status WorldHost::check_images(const Schema& schema, std::span<const std::byte> images) const {
    static_assert(sizeof(Transform) == sizeof(RootPose) && offsetof(Transform, scale) == offsetof(RootPose, scale));
    if (schema.has(FieldType::kBlobArray)) return check_arrays(world_.library(), schema, images);
    if (schema.layout_hash() != schema_of<Transform>().layout_hash() || schema.id() != schema_of<Transform>().id())
        return {};
    return check_poses({reinterpret_cast<const RootPose*>(images.data()), images.size() / sizeof(RootPose)});
}

std::string_view WorldHost::name_of_blob(const Blob& blob) const {
    const ResourceLibrary* const library = world_.library();
    return library != nullptr && library->find(blob.id()) == &blob ? blob.name() : std::string_view();
}

const Blob* WorldHost::find_blob(ResourceId resource) const {
    const ResourceLibrary* const library = world_.library();
    return library == nullptr ? nullptr : library->find(resource);
}

}  // namespace shoal
