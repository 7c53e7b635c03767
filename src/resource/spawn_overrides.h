#pragma once
// Looks up what SpawnOptions::overrides name, before anything is spawned.
// Thread: that of the spawn.

#include "shoal/resource/spawner.h"
#include "shoal/store/field_path.h"

namespace shoal {

/// Whom an override is about: an entity of a blob, in one copy or in all.
struct OverriddenEntity {
    std::uint32_t entity = kNoBlobEntity;
    std::uint32_t first_copy = 0, num_copies = 0;
};
/// Errors: no entity has the GUID path or the name, or several have the name; there is no such copy among `num_copies`. The
/// message says what there is.
Result<OverriddenEntity> find_overridden(const Blob& blob, std::uint32_t num_copies, const SpawnOverride& given);

struct FoundOverride {
    OverriddenEntity who;
    FieldPath path;
    AnyValue value;  // of the type of the field
};
/// Looks up a field that an entity will have, and converts the value.
/// Errors: those of find_overridden(); there is no such field; the entity has no such component; a function takes it, or its
/// store computes it; the value does not fit, or is outside of the range that the schema gives. Lifetime: that of the stores.
Result<FoundOverride> find_override(const SpawnTargets& targets, const Blob& blob, std::uint32_t num_copies,
                                    const SpawnOverride& given);

/// Returns the error for an override, which says what it was about. `why`: what is wrong, and what there is.
Status override_error(const Blob& blob, const SpawnOverride& given, std::string_view why);

}  // namespace shoal
