#pragma once
// The differences between LuaJIT and Lua 5.4. All other sources of the room are the same for both.

#include "shoal/base/detail/config.h"

#include <lua.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace shoal::lua {

/// The data that Lua passes to its allocator and hooks: the budget, and the Lua state that it belongs to.
struct Link {
    double steps_left = 0;
    std::int32_t num_nested = 0;  // nested calls of script functions that use the C stack
    void* state = nullptr;
    int make_wide = LUA_NOREF, read_wide = LUA_NOREF;  // functions of the prelude for 64-bit numbers of LuaJIT
};
inline Link& link_of(lua_State* lua) {
    void* user = nullptr;
    lua_getallocf(lua, &user);
    return *static_cast<Link*>(user);
}

/// A script's handle to a column, batch, query or channel: an index into an array of the state, and a serial number.
struct Token {
    std::uint32_t slot = 0;
    std::uint32_t serial = 0;
    std::uint32_t kind = 0;
};
enum TokenKind : std::uint32_t { kColumn, kEntities, kBatch, kQuery, kChannel, kNumTokenKinds };

#if defined(LUAJIT_VERSION)
inline constexpr bool kLengthsAreFunctions = false;
#else
inline constexpr bool kLengthsAreFunctions = true;  ///< whether the library calls __len of tables
#endif

std::string_view version_text();
/// Opens base, string, table, math and coroutine, and what the prelude needs.
void open_libraries(lua_State* lua);
/// Compiles a text, never bytecode, and pushes a function or an error message. Returns whether a function was pushed.
bool compile(lua_State* lua, std::string_view text, const char* chunk_name);
/// Pops a table, which becomes the environment of the chunk below it.
void set_environment(lua_State* lua);
/// Reserves stack slots. Unlike lua_checkstack(), which raises an error in LuaJIT, this returns false if the stack
/// would be too large.
bool reserve_stack(lua_State* lua, int slots);
std::size_t raw_length(lua_State* lua, int index);
/// Reads a number that is exactly an integer. Returns false for other values.
bool read_integer(lua_State* lua, int index, std::int64_t& value);
/// Whether a number has an integer type, whose values may not fit into a double.
bool is_whole(lua_State* lua, int index);
/// Pushes an integer. In LuaJIT, integers beyond 2^53, which its numbers round, are 64-bit numbers: 9007199254740993LL.
void push_integer(lua_State* lua, std::int64_t value);
/// The same; in Lua 5.4, pushes the signed number with the same bits, which fields of type uint64 accept.
void push_unsigned(lua_State* lua, std::uint64_t value);
/// Reads a 64-bit number of LuaJIT. Returns false for other values.
bool read_wide(lua_State* lua, int index, bool& is_signed, std::uint64_t& bits);
/// Reads a token that the prelude has made without the C interface: cdata, in LuaJIT.
bool read_foreign_token(lua_State* lua, int index, Token& token);

/// Adds step counting to the text of a script; line numbers do not change. Returns an empty text, and sets `why`, if
/// the text uses a reserved name.
bool add_budget(std::string_view text, std::string& counted, std::string& why);
/// Starts a budget of steps for the next call on this thread of Lua. `reset` is the function of the prelude.
void begin_budget(lua_State* lua, int reset, std::uint64_t steps);

}  // namespace shoal::lua
