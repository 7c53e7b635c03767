#pragma once
// The built-in component types that a world keeps in stores of its choice.
// Thread: const.

#include "shoal/world/world.h"

namespace shoal {

/// A built-in component type that a world keeps in a store of its choice, or that has only one layout.
struct BuiltIn {
    const Schema* schema;
    Result<Store*> (*make)(World& world);  // nullptr: any store may keep it
    // A type that has no effect in a store that only keeps it has two names here: the store that it needs, and the call
    // that makes this store.
    std::string_view whose, maker;
    bool may_have_manager = false;  // a program may make a manager, and set the values itself
};

/// Returns the built-in component type with that name, or nullptr.
const BuiltIn* find_built_in(ComponentId name);
/// The same, if the component type has that layout.
const BuiltIn* find_built_in(const Schema& component);

}  // namespace shoal
