#pragma once
// The differences between LuaJIT and Lua 5.4. All other sources of the room are the same for both.

#include "shoal/base/detail/config.h"

#include <lua.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace shoal::lua {

/// The data that Lua passes to its allocator and hooks, which is the budget of a State.
struct Link {
    double steps_left = 0;
    std::int32_t num_nested = 0;  // nesting depth of script calls that use the C stack
    void* state = nullptr;
    int make_wide = LUA_NOREF, read_wide = LUA_NOREF;  // prelude functions for LuaJIT's 64-bit numbers
};
inline Link& link_of(lua_State* lua) {
    void* user = nullptr;
    lua_getallocf(lua, &user);
    return *static_cast<Link*>(user);
}

/// A script's handle to a column, batch, query or channel: an index into an array of the State, and a serial number.
struct Token {
    std::uint32_t slot = 0;
    std::uint32_t serial = 0;
    std::uint32_t kind = 0;
};
enum TokenKind : std::uint32_t { kColumn, kEntities, kBatch, kQuery, kChannel, kNumTokenKinds };

#if defined(LUAJIT_VERSION)
inline constexpr bool kLengthsAreFunctions = false;
#else
inline constexpr bool kLengthsAreFunctions = true;  ///< whether library functions call __len
#endif

std::string_view version_text();
/// Opens base, string, table, math and coroutine, and the libraries that the prelude needs.
void open_libraries(lua_State* lua);
/// Compiles Lua code, but refuses bytecode, and pushes a function or an error message. Returns whether it pushed a
/// function.
bool compile(lua_State* lua, std::string_view text, const char* chunk_name);
/// Pops a table and makes it the environment of the chunk below it.
void set_environment(lua_State* lua);
/// Reserves stack slots. Unlike lua_checkstack(), which raises an error in LuaJIT, this returns false if the stack
/// would be too large.
bool reserve_stack(lua_State* lua, int slots);
std::size_t raw_length(lua_State* lua, int index);
/// Reads a number with an integer value. Returns false for other values.
bool read_integer(lua_State* lua, int index, std::int64_t& value);
/// Whether a number has an integer type, whose values may not fit in a double.
bool is_whole(lua_State* lua, int index);
/// Pushes an integer. In LuaJIT, integers beyond 2^53 are pushed as 64-bit numbers, such as 9007199254740993LL, because
/// doubles would round them.
void push_integer(lua_State* lua, std::int64_t value);
/// Like push_integer(), but for unsigned integers. In Lua 5.4, pushes the signed number with the same bits, which
/// uint64 fields accept.
void push_unsigned(lua_State* lua, std::uint64_t value);
/// Reads one of LuaJIT's 64-bit numbers. Returns false for other values.
bool read_wide(lua_State* lua, int index, bool& is_signed, std::uint64_t& bits);
/// Reads a token that the prelude has made without the C interface. In LuaJIT, this is cdata.
bool read_foreign_token(lua_State* lua, int index, Token& token);

/// Adds step counting to a script's code; line numbers do not change. Returns false and sets `why` if the code uses a
/// reserved name.
bool add_budget(std::string_view text, std::string& counted, std::string& why);
/// Starts a budget of steps for the next call on this Lua thread. `reset` refers to the prelude's function.
void begin_budget(lua_State* lua, int reset, std::uint64_t steps);

}  // namespace shoal::lua
