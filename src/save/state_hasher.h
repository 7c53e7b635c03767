#pragma once
// Hashes of parts of the state; see shoal/save/state_hash.h. state_rows.h defines the parts.
// Thread: several threads may hash stores at the same time while no store changes.

#include "shoal/base/string_id.h"
#include "shoal/save/state_hash.h"
#include "shoal/table/detail/schema.h"

namespace shoal {

class Store;

/// If `component` is null, appends all hashes of a store. Otherwise, appends the hash of one of the component type's
/// fields, or of all its fields (kAllFields), but not the hash of the entities that have the component.
void append_hashes(Store& store, ComponentId component, std::uint32_t field, Array<StateHash>& hashes);
/// Appends the hashes of all stores, of ids and of random numbers.
void append_all_hashes(const World& world, Array<StateHash>& hashes);

}  // namespace shoal
