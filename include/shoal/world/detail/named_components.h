#pragma once
// Access to the component types of a world by name, for code without C++ types: plugins, scripts and Python.
// Thread: the structural thread of the world. Const functions may be called from any thread.

#include "shoal/world/world.h"

#include <cstddef>
#include <span>
#include <string_view>

namespace shoal {

/// Returns the error for a component type that no store keeps. The message suggests a similar name, or ends with
/// `what_to_do`.
SHOAL_API Status unknown_component(const World& world, std::string_view name, std::string_view what_to_do);
/// Returns whether two declarations of a component type are equal.
SHOAL_API bool is_same_declaration(const Schema& a, const Schema& b);
/// Checks the bytes of a blob, creates stores for its component types, and spawns it without skipping any component.
///
/// If `list` is not null, it is called to append overrides. The call is made after all stores have been created and
/// before anything is spawned, so `list` can look up a field's type and convert a value to that type. If `list` fails,
/// nothing is spawned, but the new stores remain.
///
/// Errors: as for Blob::load(), World::adopt_schemas() and World::spawn(); an error from `list`; rows would refer to
/// arrays in `bytes`, which is valid only during the call.
SHOAL_API Result<Spawned> spawn_bytes(World& world, std::span<const std::byte> bytes,
                                      Status (*list)(void* context, Array<SpawnOverride>& overrides) = nullptr,
                                      void* context = nullptr);

}  // namespace shoal
