#pragma once
// Writes LuaCATS annotations for component types. Editors use them through the Lua language server.
//
//     const Schema* const schemas[] = {&schema_of<Wheel>()};
//     const std::string text = lua_types(schemas);  // a file beside the scripts, such as shoal.meta.lua
//
// The file declares the table `shoal`, a class for each component type, and the names of components and field paths.
// `shoal schema --lua-types` prints it for schema files and blobs.
// Thread: any thread.

#include "shoal/base/detail/config.h"

#include <span>
#include <string>

namespace shoal {

class Schema;

/// Returns the text of the file. Component types keep the given order.
SHOAL_API std::string lua_types(std::span<const Schema* const> schemas);

}  // namespace shoal
