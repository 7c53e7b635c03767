#pragma once
// From a blob to rows: all ids in one call, then one batch per component type, in the spawn order of the blob.
//
//     Result<Spawned> bullets = spawn({world.directory()}, blob, {.copies = 200});  // or of stores without a world
//     Entity reef = bullets->find("reef", 17);
//
//     blob entity        0   1   2   0   1   2 ...       entities of copy k: [k * n, (k + 1) * n)
//     spawned entity     e0  e1  e2  e3  e4  e5
//
// A store is found by the identifier of the component type (see store/component_directory.h). The columns are copied as
// they lie in the blob, so their layout must be that of the store: another layout is refused, never guessed at. The
// components of database/spawn_zone.h go to no store: they say how an entity comes into a database.
// Thread: the structural thread of the directory.

#include "shoal/base/string_table.h"
#include "shoal/entity/entity_manager.h"
#include "shoal/resource/blob.h"
#include "shoal/resource/registry.h"
#include "shoal/store/component_directory.h"
#include "shoal/store/spawn_override.h"

namespace shoal {

/// Where a blob's components go. An open struct of references.
struct SpawnTargets {
    const ComponentDirectory& directory;
    const ComponentRegistry* registry = nullptr;  ///< its spawn functions come before stores
    Status (*set_property)(void* context, Entity entity, std::string_view path, const AnyValue& value) = nullptr;
    void* context = nullptr;  ///< of set_property, which sets a named value that an override calls "properties.path"
    StringTable* strings = nullptr;  ///< keeps the texts of string ids that are overridden, until they are unused
};

struct SpawnOptions {
    std::uint32_t copies = 1;
    /// Where each copy is put: the local pose of each of its roots becomes root pose x local, the position scaled,
    /// rotated and moved. Roots here are transforms without an ancestor that has one; other components stay as they
    /// are, except for the field that Database::spawn_into_tiles names. What `overrides` says comes later: a root whose
    /// position, rotation or scale is overridden has that value, whatever the root pose is. A root pose with an uneven
    /// scale would shear a rotated root: then its position is exact, and its rotation and scale are the nearest ones, as
    /// in TransformManager::set_world_pose. Shape: one per copy, or empty. Requires: finite, rotations of length 1, no
    /// scale of zero. Lifetime: the call.
    std::span<const RootPose> root_poses{};
    /// Living entities without components that become blob entity 0 of each copy; empty: new ones. If the spawn fails
    /// after ids were created, they are destroyed. Shape: one per copy, or empty. Lifetime: the call.
    std::span<const Entity> first_entities{};
    /// The same for all entities of the copies. Shape: as Spawned::entities(), or empty. Lifetime: the call.
    std::span<const Entity> all_entities{};
    /// Values in place of those of the blob, one after the other: see store/spawn_override.h.
    Array<SpawnOverride> overrides{};
    /// Where entities lie of which the blob does not say it; kNoZone: the stores decide.
    Zone zone = kNoZone;
    /// Refuse a blob with components that nobody takes; otherwise they are skipped and counted.
    bool fail_on_unknown = false;
    /// Keep names and GUIDs for Spawned::find, about 12 bytes and the text for each that the blob has.
    bool keep_names = true;
    bool tells_services = true;  ///< of a world; false: a reload leaves what is spawned as it is
};

/// A component type of the blob that no store and no function takes.
struct UnknownComponents {
    std::string name;
    std::uint32_t count = 0;  ///< components in the blob
};

/// What a spawn made. It refers to nothing: neither blob nor stores need to stay.
/// destroy() destroys the entities; the destructor leaves them alive.
class Spawned {
public:
    std::uint32_t num_blob_entities() const { return num_blob_entities_; }
    std::uint32_t num_copies() const { return num_copies_; }
    /// Components added, over all copies.
    std::uint64_t num_components() const { return num_components_; }

    /// Shape: num_copies() x num_blob_entities(), in blob order, copy after copy.
    std::span<const Entity> entities() const { return entities_; }
    /// Requires: blob_index < num_blob_entities(), copy < num_copies().
    SHOAL_API Entity entity(std::uint32_t blob_index, std::uint32_t copy = 0) const;
    /// The blob entities without a parent.
    std::span<const std::uint32_t> roots() const { return roots_; }

    /// Returns the entity with this GUID path, otherwise the first with this name, otherwise null.
    /// Requires: copy < num_copies(), unless nothing was spawned.
    SHOAL_API Entity find(std::string_view name_or_guid_path, std::uint32_t copy = 0) const;
    SHOAL_API Entity find_guid(std::uint64_t guid, std::uint32_t copy = 0) const;

    /// What was skipped.
    std::span<const UnknownComponents> unknown() const { return unknown_; }

    /// Destroys the entities that still live and forgets all. Returns how many there were; their components are removed
    /// as the stores' policies say. Requires: the manager that the entities came from.
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
    Array<char> name_texts_{Owner("spawned")};               // one after another
    Array<std::size_t> name_ends_{Owner("spawned")};         // by name, ascending by text
    Array<std::uint32_t> entity_of_name_{Owner("spawned")};  // by name
    Array<UnknownComponents> unknown_{Owner("spawned")};
};

/// Spawns `options.copies` of a blob. Overrides are looked up before anything is made; what a store refuses of their values
/// is taken back with all else.
/// Errors: root poses, but not one per copy; a zone out of range; a layout that differs (the message shows both
/// schemas); unknown components, if asked for; an override that names no copy, entity or field of the blob, or whose value
/// does not fit, or is outside of the range that the schema gives; no ids; or what a store says. Then nothing remains: rows
/// are dropped and entities destroyed. Cost: one call to the entity manager, and one to a store per component type.
SHOAL_API Result<Spawned> spawn(const SpawnTargets& targets, const Blob& blob, const SpawnOptions& options = {});

/// Says whether an override may give a field a value. Requires: the value has the type of the field.
/// Errors: it is not a value of that type, or is outside of the range that the schema gives; the field is an array.
SHOAL_API Status check_override_value(const class FieldPath& path, const AnyValue& value);

/// Spawns some entities of a blob. References to others are null, and who hangs below another is a root; singletons,
/// names and SpawnOptions::first_entities are left out.
/// Shape: which: blob entities, ascending; of the result: options.copies x which.size() entities. Errors: as above.
SHOAL_API Result<Spawned> spawn_part(const SpawnTargets& targets, const Blob& blob,
                                     std::span<const std::uint32_t> which, const SpawnOptions& options = {});

}  // namespace shoal
