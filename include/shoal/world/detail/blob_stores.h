#pragma once
// The stores that a world creates for the component types of a blob.
// Thread: the structural thread of the world.

#include "shoal/resource/blob.h"
#include "shoal/resource/detail/registry.h"

#include <string_view>

namespace shoal {

class World;

/// Returns whether a blob's component type is kept in a store, rather than handled by a spawn function or by the
/// spawner.
SHOAL_API bool goes_to_store(const ComponentRegistry& registry, const BlobComponents& components);

/// Creates stores for the blob's built-in component types, and rows for its singletons.
/// Errors: a layout differs; a store cannot be created, or keeps a singleton type as an ordinary component type. The
/// message begins with `purpose`, for example "cannot spawn".
SHOAL_API Status prepare_stores(World& world, const Blob& blob, std::string_view purpose);

}  // namespace shoal
