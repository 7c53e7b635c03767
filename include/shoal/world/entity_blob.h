#pragma once
// Saves entities as a blob, with their components in all stores of a world: a prefab made while the program runs.
//
//     Result<EntityBlob> saved = save_entities(world, entities_below(world, boat));
//     if (!saved) return report(saved.status());
//     Result<Blob> prefab = Blob::load(saved->bytes);
//     Result<Spawned> fleet = world.spawn(*prefab, {.copies = 12, .root_poses = places});
//
//     Result<EntityBlob> far = save_zones(world, {12});  // all that lies there, to be spawned again later
//
// The entities of the blob are those of the span, in its order. Parents in the transforms are kept; an entity whose
// parent is not saved becomes a root that keeps its pose in the world. References to saved entities are kept; other
// references become null and are counted. The components `zone` and `disabled` hold the zone of an entity in the
// database and which of its components are disabled (see database/spawn_zone.h). Thread: reads the stores of the world.

#include "shoal/world/world.h"

#include <span>
#include <vector>

namespace shoal {

struct EntityBlobOptions {
    std::string_view name{};  ///< the resource's name; needed if rows refer to read-only arrays
    bool keeps_zones = true;  ///< false: the zone is chosen when the blob is spawned
};

struct EntityBlob {
    std::vector<std::byte> bytes;
    std::uint64_t num_components = 0;       ///< including disabled ones
    std::uint64_t num_lost_references = 0;  ///< to entities that are not saved: null in the blob
};

/// Returns an entity, its children in the transforms and the entities that it owns, then the children and owned
/// entities of these, and so on, each once. `entity` is the first, and parents precede their children.
SHOAL_API std::vector<Entity> entities_below(World& world, Entity entity);

/// Returns `entities`, and the entities below them (see above) that are in no zone, loaded or unloaded. Each is
/// returned once; parents precede their children. Requires: `entities` are living.
SHOAL_API std::vector<Entity> entities_with_below(World& world, std::span<const Entity> entities);

/// The same for the entities in some zones of the databases of a world.
SHOAL_API std::vector<Entity> entities_in(World& world, const ZoneSet& zones);

/// Saves living entities. Requires: each entity occurs once, and parents precede their children. Errors: an entity is
/// dead, or its zone is unloaded; a component is not plain bytes, or its store does not show its fields (the message
/// names the component); the library lacks a read-only array. Cost: a look-up per entity and component type.
SHOAL_API Result<EntityBlob> save_entities(World& world, std::span<const Entity> entities,
                                           const EntityBlobOptions& options = {});
/// Saves entities_in() these zones. The world is unchanged. Errors: as above.
SHOAL_API Result<EntityBlob> save_zones(World& world, const ZoneSet& zones, const EntityBlobOptions& options = {});

}  // namespace shoal
