#pragma once
// The component types of ours that a world keeps in stores of its choice.
// Thread: const.

#include "shoal/world/world.h"

namespace shoal {

/// A component type of ours that a world keeps in a store of its choice, or that has one layout only.
struct BuiltIn {
    const Schema* schema;
    Result<Store*> (*make)(World& world);  // nullptr: it lies in any store
    // Whose it is, and the call that makes that store, if it does nothing in a store that only keeps it.
    std::string_view whose, maker;
    bool may_have_manager = false;  // a program may make one, and say itself what that store would
};

/// Returns the built-in component type of that name, or nullptr.
const BuiltIn* find_built_in(ComponentId name);
/// The same, if it has that layout.
const BuiltIn* find_built_in(const Schema& component);

}  // namespace shoal
