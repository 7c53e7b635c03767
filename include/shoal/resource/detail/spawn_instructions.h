#pragma once
// Reads the spawn instructions in a blob: the components of database/spawn_zone.h.
// Thread: the same as const calls on the blob.

#include "shoal/base/detail/bit_set.h"
#include "shoal/resource/blob.h"
#include "shoal/resource/detail/registry.h"
#include "shoal/store/detail/zone.h"

namespace shoal {

/// Returns the zone that a blob sets for each entity or its nearest ancestor, or kNoZone. Empty if the blob sets no
/// zones.
SHOAL_API Array<Zone> named_zones(const Blob& blob);
/// Returns the entities of a blob for which this component is initially disabled. `registry`: for older names of the
/// type; may be nullptr.
SHOAL_API BitSet find_disabled_entities(const Blob& blob, ComponentId component,
                                        const ComponentRegistry* registry = nullptr);

}  // namespace shoal
