#pragma once
// A directory of some stores, without a world.

#include "shoal/base/assert.h"
#include "shoal/store/detail/component_directory.h"

namespace shoal_test {

struct Stores : shoal::ComponentDirectory {
    Stores(shoal::EntityManager& entities, std::span<shoal::Store* const> stores)
        : shoal::ComponentDirectory(entities) {
        for (shoal::Store* store : stores) {
            const shoal::Status status = add(*store);
            SHOAL_ASSERT(status.ok(), "a test names stores that do not go together");
        }
    }
};

}  // namespace shoal_test
