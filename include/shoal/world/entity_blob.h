#pragma once
// Saves entities as a blob, with their components in all stores of a world. For example, a program can create prefabs
// at run time.
//
//     Result<EntityBlob> saved = save_entities(world, entities_below(world, boat));
//     if (!saved) return report(saved.status());
//     Result<Blob> prefab = Blob::load(saved->bytes);
//     Result<Spawned> fleet = world.spawn(*prefab, {.copies = 12, .root_poses = places});
//
//     Result<EntityBlob> far = save_zones(world, {12});  // all that lies there, to be spawned again later
//
// The blob contains the entities in the order in which they are passed. Transform parents are kept. If an entity's
// parent is not saved, the entity becomes a root with the same world pose. References to saved entities are kept. Other
// references become null and are counted. The components `zone` and `disabled` hold an entity's database zone and the
// set of its disabled components (see database/spawn_zone.h). Thread: as for reading the stores of the world.

#include "shoal/world/world.h"

#include <span>
#include <vector>

namespace shoal {

struct EntityBlobOptions {
    std::string_view name{};  ///< name of the resource; required if rows refer to read-only arrays
    bool keeps_zones = true;  ///< if false, the zone is chosen when the blob is spawned
};

struct EntityBlob {
    std::vector<std::byte> bytes;
    std::uint64_t num_components = 0;       ///< including disabled ones
    std::uint64_t num_lost_references = 0;  ///< references that became null because their targets were not saved
};

/// Returns an entity with its transform children and the entities that it owns, recursively and without duplicates.
/// `entity` comes first, and parents precede their children.
SHOAL_API std::vector<Entity> entities_below(World& world, Entity entity);

/// Returns `entities`, and also the entities below them (see entities_below()), except those that are in a loaded or
/// unloaded zone. There are no duplicates. Parents precede their children. Requires: all of `entities` are living.
SHOAL_API std::vector<Entity> entities_with_below(World& world, std::span<const Entity> entities);

/// Returns the entities in these zones of the world's databases, and the entities below them, as entities_with_below()
/// does.
SHOAL_API std::vector<Entity> entities_in(World& world, const ZoneSet& zones);

/// Saves living entities. Requires: each entity occurs once, and parents precede their children. Errors: an entity is
/// dead, or its zone is unloaded; a component is not plain bytes, or its store does not expose its fields (the message
/// names the component); the library does not have a read-only array. Cost: one look-up per entity and component type.
SHOAL_API Result<EntityBlob> save_entities(World& world, std::span<const Entity> entities,
                                           const EntityBlobOptions& options = {});
/// Saves the entities that entities_in() returns for these zones. The world does not change. Errors: as for
/// save_entities().
SHOAL_API Result<EntityBlob> save_zones(World& world, const ZoneSet& zones, const EntityBlobOptions& options = {});

}  // namespace shoal
