#pragma once
// Spawns blobs into rows. All ids are created in one call. Then the stores get one batch per component type, in the
// spawn order of the blob.
//
//     Result<Spawned> bullets = spawn({world.directory()}, blob, {.copies = 200});  // or of stores without a world
//     Entity reef = bullets->find("reef", 17);
//
//     blob entity        0   1   2   0   1   2 ...       entities of copy k: [k * n, (k + 1) * n)
//     spawned entity     e0  e1  e2  e3  e4  e5
//
// A store is found by the identifier of the component type (see store/component_directory.h). The columns are copied
// directly from the blob, so they must have the layout of the store; a different layout is refused, never converted.
// Components of the types in database/spawn_zone.h are not passed to a store. They control where a database places an
// entity.
// Thread: the structural thread of the directory.

#include "shoal/base/detail/string_table.h"
#include "shoal/entity/entity_manager.h"
#include "shoal/resource/blob.h"
#include "shoal/resource/detail/registry.h"
#include "shoal/store/detail/component_directory.h"
#include "shoal/store/detail/spawn_override.h"

namespace shoal {

/// Where to spawn a blob's components. A plain struct of references.
struct SpawnTargets {
    const ComponentDirectory& directory;
    const ComponentRegistry* registry = nullptr;  ///< the registry's spawn functions take precedence over stores
    Status (*set_property)(void* context, Entity entity, std::string_view path, const AnyValue& value) = nullptr;
    void* context = nullptr;         ///< for set_property, which applies an override of "properties.path"
    StringTable* strings = nullptr;  ///< holds the texts of overridden string ids, as long as they are used
};

struct SpawnOptions {
    std::uint32_t copies = 1;
    /// The pose of each copy. The local pose of each root in the copy becomes root pose x local pose. The roots are the
    /// transforms whose entity has no ancestor with a transform. Other components do not change, except the position
    /// field that is passed to Database::spawn_into_tiles. `overrides` are applied afterwards, so an overridden
    /// position, rotation or scale of a root replaces the result. If a root pose with an uneven scale would shear a
    /// rotated root, the root's position is exact, and its rotation and scale are the nearest possible, as in
    /// TransformManager::set_world_pose().
    /// Shape: one per copy, or empty. Requires: all values are finite, rotations have length 1, and scales are nonzero.
    /// Lifetime: the call.
    std::span<const RootPose> root_poses{};
    /// Existing entities that have no components yet; each becomes blob entity 0 of one copy. If empty, new entities
    /// are created. If the spawn fails after ids were created, these entities are destroyed. Shape: one per copy, or
    /// empty.
    /// Lifetime: the call.
    std::span<const Entity> first_entities{};
    /// Like `first_entities`, but for all entities of the copies. Shape: the same as Spawned::entities(), or empty.
    /// Lifetime: the call.
    std::span<const Entity> all_entities{};
    /// Values that replace values of the blob, applied in order; see store/spawn_override.h.
    Array<SpawnOverride> overrides{};
    /// The zone for entities for which the blob does not set a zone. If kNoZone, the stores decide.
    Zone zone = kNoZone;
    /// Whether to refuse a blob with components that neither a store nor a function accepts. Otherwise, these
    /// components are skipped and counted.
    bool fail_on_unknown = false;
    /// Keeps names and GUIDs for Spawned::find(). This takes about 12 bytes, plus the text, for each blob entity that
    /// has a name or a GUID.
    bool keep_names = true;
    bool tells_services = true;  ///< whether WorldService::spawned() is called
};

/// A component type in the blob that neither a store nor a function accepts.
struct UnknownComponents {
    std::string name;
    std::uint32_t count = 0;  ///< number of components in the blob
};

/// The result of a spawn. Neither the blob nor the stores need to outlive it.
/// destroy() destroys the entities; the destructor leaves them alive.
class Spawned {
public:
    std::uint32_t num_blob_entities() const { return num_blob_entities_; }
    std::uint32_t num_copies() const { return num_copies_; }
    /// The number of components added, over all copies.
    std::uint64_t num_components() const { return num_components_; }

    /// Shape: num_copies() x num_blob_entities(), in blob order, copy after copy.
    std::span<const Entity> entities() const { return entities_; }
    /// Requires: blob_index < num_blob_entities() and copy < num_copies().
    SHOAL_API Entity entity(std::uint32_t blob_index, std::uint32_t copy = 0) const;
    /// The blob entities without a parent.
    std::span<const std::uint32_t> roots() const { return roots_; }

    /// Returns the entity with this GUID path. If there is none, returns the first entity with this name, or null.
    /// Requires: copy < num_copies(), unless nothing was spawned.
    SHOAL_API Entity find(std::string_view name_or_guid_path, std::uint32_t copy = 0) const;
    SHOAL_API Entity find_guid(std::uint64_t guid, std::uint32_t copy = 0) const;

    /// The component types that were skipped.
    std::span<const UnknownComponents> unknown() const { return unknown_; }

    /// Destroys the entities that are still alive, clears this object, and returns the number of destroyed entities.
    /// Their components are removed as the stores' policies specify. Requires: `entities` is the manager that created
    /// the entities.
    SHOAL_API std::uint32_t destroy(EntityManager& entities);

private:
    friend class SpawnCall;
    void keep_names(const Blob& blob);

    std::uint32_t num_blob_entities_ = 0;
    std::uint32_t num_copies_ = 0;
    std::uint64_t num_components_ = 0;
    Array<Entity> entities_{Owner("spawned")};
    Array<std::uint32_t> roots_{Owner("spawned")};
    Array<std::uint64_t> guids_{Owner("spawned")};           // ascending
    Array<std::uint32_t> entity_of_guid_{Owner("spawned")};  // by position in guids_
    Array<char> name_texts_{Owner("spawned")};               // concatenated
    Array<std::size_t> name_ends_{Owner("spawned")};         // by name, ascending by text
    Array<std::uint32_t> entity_of_name_{Owner("spawned")};  // by name
    Array<UnknownComponents> unknown_{Owner("spawned")};
};

/// Spawns `options.copies` copies of a blob. Overrides are looked up before anything is created; if a store refuses the
/// value of an override, everything is undone.
/// Errors: the number of root poses is neither 0 nor the number of copies, the zone is out of range, a layout differs
/// (the message shows both schemas), a component type is unknown and fail_on_unknown is set, an override is invalid, no
/// ids are left, or a store fails. An override is invalid if it names a copy, entity or field that does not exist, or
/// if its value does not fit or is outside the range in the schema. On error, no rows or entities of the spawn remain.
/// Cost: one call to the entity manager, and one call to a store per component type.
SHOAL_API Result<Spawned> spawn(const SpawnTargets& targets, const Blob& blob, const SpawnOptions& options = {});

/// Checks whether an override may give a field a value. Requires: the value has the type of the field.
/// Errors: the value is not valid for that type or is outside the range in the schema, or the field is an array.
SHOAL_API Status check_override_value(const class FieldPath& path, const AnyValue& value);

/// Spawns some entities of a blob. References to other entities are null, and children of other entities become roots.
/// Ignores singletons, names and SpawnOptions::first_entities.
/// Shape: `which` has indices of blob entities, in ascending order. The result has options.copies x which.size()
/// entities.
/// Errors: the same as for spawn().
SHOAL_API Result<Spawned> spawn_part(const SpawnTargets& targets, const Blob& blob,
                                     std::span<const std::uint32_t> which, const SpawnOptions& options = {});

}  // namespace shoal
