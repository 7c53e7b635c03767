#pragma once
// Component types that scripts have declared, and their compile functions.

#include "script/state.h"

namespace shoal::lua {

struct DeclaredType {
    DeclaredType(Script& of, const Schema& of_type) : script(of), schema(of_type) {}
    DeclaredType(const DeclaredType&) = delete;
    DeclaredType& operator=(const DeclaredType&) = delete;
    ~DeclaredType();

    /// Adds the type to a registry, so that sources can use it. Errors: the registry has a different type or a
    /// different function under this name.
    Status add_to(ComponentRegistry& registry) const;

    Script& script;
    const Schema schema;
    int compile = LUA_NOREF;  // the function, if there is one
    std::int32_t spawn_order = 0;
    Array<std::string> keys{Owner("scripts")};  // keys that the function reads, in addition to fields
    Array<std::string_view> key_views{Owner("scripts")};
};

/// Records the component type that the table at `table` declares, and its compile function. Errors: the table is
/// invalid.
Status note_component(lua_State* lua, State& state, int table, const Schema& schema);

}  // namespace shoal::lua
