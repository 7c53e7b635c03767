#pragma once
// Where a component type has its home, for tests that hold wherever it is.

#include "shoal/world/world.h"

namespace shoal_test {

/// Gives T its home in the world's database, or in a manager with such an index.
template <class T>
void keep_in(shoal::World& world, bool in_database, shoal::RowIndexKind index) {
    if (in_database)
        world.database().component<T>();
    else
        world.manager<T>({.index = index});
}

}  // namespace shoal_test
