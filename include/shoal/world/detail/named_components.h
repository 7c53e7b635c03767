#pragma once
// Component types of a world by name, for code without C++ types.
// Shared by plugins, scripts and Python.
// Thread: the structural thread of the world; const calls from any thread.

#include "shoal/world/world.h"

#include <cstddef>
#include <span>
#include <string_view>

namespace shoal {

/// Returns the error for a component type that no store keeps. The message suggests a similar name, or says what to do.
SHOAL_API Status unknown_component(const World& world, std::string_view name, std::string_view what_to_do);
/// Whether two declarations of a component type are equal.
SHOAL_API bool is_same_declaration(const Schema& a, const Schema& b);
/// Checks the bytes of a blob, makes stores for its component types, and spawns it, so that no component is left out.
///
/// `list`, if given, is called when the stores of all component types exist, and before anything is spawned.
/// It appends the overrides: a caller that learns the type of a field at run time can look the field up then, and
/// convert the value to that type. If `list` fails, nothing is spawned; stores that were made stay.
///
/// Errors: those of Blob::load(), World::adopt_schemas(), World::spawn() and `list`. It is also an error if rows would
/// refer to arrays in the bytes, because these are valid only during the call.
SHOAL_API Result<Spawned> spawn_bytes(World& world, std::span<const std::byte> bytes,
                                      Status (*list)(void* context, Array<SpawnOverride>& overrides) = nullptr,
                                      void* context = nullptr);

}  // namespace shoal
