#pragma once
// Access to the component types of a world by name, for code without C++ types: plugins, scripts and Python.
// Thread: the structural thread of the world; const calls from any thread.

#include "shoal/world/world.h"

#include <cstddef>
#include <span>
#include <string_view>

namespace shoal {

/// Returns the error for a component type that no store keeps. The message suggests a similar name, or says what to do.
SHOAL_API Status unknown_component(const World& world, std::string_view name, std::string_view what_to_do);
/// Returns whether two declarations of a component type are equal.
SHOAL_API bool is_same_declaration(const Schema& a, const Schema& b);
/// Checks the bytes of a blob, creates stores for its component types, and spawns it without skipping any component.
///
/// `list`, if given, appends overrides. It is called after the stores of all component types exist and before anything
/// is spawned, so that it can look up the type of a field and convert a value to that type. If it fails, nothing is
/// spawned; new stores stay.
///
/// Errors: those of Blob::load(), World::adopt_schemas(), World::spawn() and `list`. Rows that would refer to arrays in
/// the bytes are also an error, because the bytes are valid only during the call.
SHOAL_API Result<Spawned> spawn_bytes(World& world, std::span<const std::byte> bytes,
                                      Status (*list)(void* context, Array<SpawnOverride>& overrides) = nullptr,
                                      void* context = nullptr);

}  // namespace shoal
