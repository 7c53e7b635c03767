#pragma once
// Hashes of parts of the state: see shoal/save/state_hash.h. state_rows.h defines the parts.
// Thread: several threads may hash stores at once while no store is changed.

#include "shoal/base/string_id.h"
#include "shoal/save/state_hash.h"
#include "shoal/table/detail/schema.h"

namespace shoal {

class Store;

/// Appends the hashes of a store: all hashes, or the hashes of one component type, or of one of its fields (kAllFields:
/// all fields, but not the hash of which entities have the component).
void append_hashes(Store& store, ComponentId component, std::uint32_t field, Array<StateHash>& hashes);
/// Appends the hashes of all stores, of ids and of random numbers.
void append_all_hashes(const World& world, Array<StateHash>& hashes);

}  // namespace shoal
