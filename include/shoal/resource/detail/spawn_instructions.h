#pragma once
// Reads the spawn instructions in a blob. They are components of the types in database/spawn_zone.h.
// Thread: the same as const calls on the blob.

#include "shoal/base/detail/bit_set.h"
#include "shoal/resource/blob.h"
#include "shoal/resource/detail/registry.h"
#include "shoal/store/detail/zone.h"

namespace shoal {

/// For each entity, returns the zone that the blob sets for it or its nearest ancestor, or kNoZone. Returns an empty
/// array if the blob sets no zones.
SHOAL_API Array<Zone> named_zones(const Blob& blob);
/// Returns the entities of a blob for which this component is initially disabled. `registry` provides the older names
/// of the type, and may be nullptr.
SHOAL_API BitSet find_disabled_entities(const Blob& blob, ComponentId component,
                                        const ComponentRegistry* registry = nullptr);

}  // namespace shoal
