#pragma once
// The built-in component types for which the world chooses the store.
// Thread: any; the functions only read constants.

#include "shoal/world/world.h"

namespace shoal {

/// A built-in component type for which the world chooses the store, or which has only one layout.
struct BuiltIn {
    const Schema* schema;
    Result<Store*> (*make)(World& world);  // nullptr: any store may keep the type
    // If the type has an effect only in a special store, the name of that store, and of the function that creates it.
    std::string_view whose, maker;
    bool may_have_manager = false;  // a program may create a manager and set the values itself
};

/// Returns the built-in component type with that name, or nullptr.
const BuiltIn* find_built_in(ComponentId name);
/// Returns the built-in component type with the same name and layout, or nullptr.
const BuiltIn* find_built_in(const Schema& component);

}  // namespace shoal
