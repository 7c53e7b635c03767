#pragma once
// Which store keeps a component type, for tests that hold for each of them.

#include "shoal/world/world.h"

namespace shoal_test {

/// Keeps T in the world's database, or in a manager with such an index.
template <class T>
void keep_in(shoal::World& world, bool in_database, shoal::RowIndexKind index) {
    if (in_database)
        world.database().component<T>();
    else
        world.manager<T>({.index = index});
}

}  // namespace shoal_test
