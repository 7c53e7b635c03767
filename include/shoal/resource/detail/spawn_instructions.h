#pragma once
// What a blob specifies about spawning its entities: the components of database/spawn_zone.h.
// Thread: as for const calls on the blob.

#include "shoal/base/detail/bit_set.h"
#include "shoal/resource/blob.h"
#include "shoal/resource/detail/registry.h"
#include "shoal/store/detail/zone.h"

namespace shoal {

/// Returns the zone that a blob names for each entity or one of its ancestors; kNoZone: none. Empty: the blob names no
/// zones.
SHOAL_API Array<Zone> named_zones(const Blob& blob);
/// Returns the entities of a blob for which this component is initially disabled. `registry` knows the older names of
/// the type; nullptr: none.
SHOAL_API BitSet find_disabled_entities(const Blob& blob, ComponentId component,
                                        const ComponentRegistry* registry = nullptr);

}  // namespace shoal
