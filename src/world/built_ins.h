#pragma once
// The built-in component types whose store is chosen by the world.
// Thread: any; the functions only read constants.

#include "shoal/world/world.h"

namespace shoal {

/// A built-in component type whose store is chosen by the world, or which has only one layout.
struct BuiltIn {
    const Schema* schema;
    Result<Store*> (*make)(World& world);  // nullptr: any store may keep the type
    // For a type that only has an effect in a special store: the name of that store, and of the call that creates it.
    std::string_view whose, maker;
    bool may_have_manager = false;  // a program may create a manager and set the values itself
};

/// Returns the built-in component type with that name, or nullptr.
const BuiltIn* find_built_in(ComponentId name);
/// Returns the built-in component type with the same name and layout, or nullptr.
const BuiltIn* find_built_in(const Schema& component);

}  // namespace shoal
