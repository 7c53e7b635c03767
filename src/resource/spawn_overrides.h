#pragma once
// Looks up the targets of SpawnOptions::overrides before anything is spawned.
// Thread: the same as spawn().

#include "shoal/resource/spawner.h"
#include "shoal/store/field_path.h"

namespace shoal {

/// The target of an override: an entity of a blob, in one copy or in all copies.
struct OverriddenEntity {
    std::uint32_t entity = kNoBlobEntity;
    std::uint32_t first_copy = 0, num_copies = 0;
};
/// Errors: no entity has the GUID path or the name, several entities have the name, or the copy is out of range. The
/// message lists the entities or copies that exist.
Result<OverriddenEntity> find_overridden(const Blob& blob, std::uint32_t num_copies, const SpawnOverride& given);

struct FoundOverride {
    OverriddenEntity who;
    FieldPath path;
    AnyValue value;  // has the type of the field
};
/// Looks up a field that an entity will have, and converts the value.
/// Errors: the same as for find_overridden(), or there is no such field, the entity has no such component, a spawn
/// function handles the component, its store computes the component, or the value does not fit or is outside the range
/// in the schema.
/// Lifetime: as long as the stores.
Result<FoundOverride> find_override(const SpawnTargets& targets, const Blob& blob, std::uint32_t num_copies,
                                    const SpawnOverride& given);

/// Returns an error that names the override. `why` describes the problem and lists the names that exist.
Status override_error(const Blob& blob, const SpawnOverride& given, std::string_view why);

}  // namespace shoal
