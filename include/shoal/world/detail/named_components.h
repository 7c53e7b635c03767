#pragma once
// Component types of a world as code without C++ types knows them, by their names: what plugins, scripts and Python
// share.
// Thread: the structural thread of the world, or const calls.

#include "shoal/world/world.h"

#include <cstddef>
#include <span>
#include <string_view>

namespace shoal {

/// The error for a component type that no store keeps: it names one that is close, or else says what to do.
SHOAL_API Status unknown_component(const World& world, std::string_view name, std::string_view what_to_do);
/// Whether two declarations of a component type say the same.
SHOAL_API bool is_same_declaration(const Schema& a, const Schema& b);
/// Checks the bytes of a blob, gives its component types a store, and spawns it, so that none of them is left out.
///
/// `list`, if it is given, is called when the stores of all component types are there, and before anything is spawned.
/// It appends what is to be overridden: who learns at run time which type a field has can look the field up then, and
/// convert the value for it. If it fails, nothing is spawned; stores that were made stay.
///
/// Errors: of Blob::load(), World::adopt_schemas(), World::spawn() and `list`; rows would refer to arrays in the bytes,
/// which the caller gives for the call only.
SHOAL_API Result<Spawned> spawn_bytes(World& world, std::span<const std::byte> bytes,
                                      Status (*list)(void* context, Array<SpawnOverride>& overrides) = nullptr,
                                      void* context = nullptr);

}  // namespace shoal
