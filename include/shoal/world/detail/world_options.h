#pragma once
// The options of a new world.

#include "shoal/base/detail/page_memory.h"

#include <cstdint>

namespace shoal {

class Executor;
class ResourceLibrary;

/// The kind of store that World::adopt_schemas() creates for a blob's component type if there is no C++ type for it.
enum class DefaultStore : std::uint8_t {
    kManagers,
    kDatabase,  ///< except for types that are both `many` and `enableable`, which are kept in managers
};

struct WorldOptions {
    Executor* executor = nullptr;        ///< must outlive the world; nullptr: all work is done on the calling thread
    ResourceLibrary* library = nullptr;  ///< must outlive the world; rows that refer to its blobs pin them
    std::uint64_t seed = 1;              ///< the seed of random() and of PassContext::random_for()
    DefaultStore default_store = DefaultStore::kManagers;
    PagePoolOptions pages{};
};

}  // namespace shoal
