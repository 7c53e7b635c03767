#pragma once
// The environment that a script runs in.

#include "script/state.h"

namespace shoal::lua {

/// Pushes a table with what a script may use. Each script gets one of its own, with copies of the libraries, so that
/// none can change what another uses.
void push_environment(lua_State* lua, State& state);
/// Takes what scripts do not get from what texts have as methods.
void seal_libraries(lua_State* lua, State& state);

}  // namespace shoal::lua
