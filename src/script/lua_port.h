#pragma once
// What differs between LuaJIT and Lua 5.4. All other sources of the room are the same for both.

#include "shoal/base/config.h"

#include <lua.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace shoal::lua {

/// What Lua gives its allocator and hooks: the budget, and the state that it belongs to.
struct Link {
    double steps_left = 0;
    std::int32_t num_nested = 0;  // calls of functions of scripts that take stack of C, one within the other
    void* state = nullptr;
    int make_wide = LUA_NOREF, read_wide = LUA_NOREF;  // of the prelude: 64-bit numbers of LuaJIT
};
inline Link& link_of(lua_State* lua) {
    void* user = nullptr;
    lua_getallocf(lua, &user);
    return *static_cast<Link*>(user);
}

/// What a script holds of columns, batches, queries and channels: a place in an array of the state, and which use of it.
struct Token {
    std::uint32_t slot = 0;
    std::uint32_t serial = 0;
    std::uint32_t kind = 0;
};
enum TokenKind : std::uint32_t { kColumn, kEntities, kBatch, kQuery, kChannel, kNumTokenKinds };

#if defined(LUAJIT_VERSION)
inline constexpr bool kLengthsAreFunctions = false;
#else
inline constexpr bool kLengthsAreFunctions = true;  ///< the library asks __len of tables
#endif

std::string_view version_text();
/// Opens base, string, table, math and coroutine, and what the prelude needs.
void open_libraries(lua_State* lua);
/// Compiles a text, never bytecode, and leaves a function, or a message. Returns whether it is a function.
bool compile(lua_State* lua, std::string_view text, const char* chunk_name);
/// Takes a table from the top, which becomes the environment of the chunk below.
void set_environment(lua_State* lua);
/// Makes room for more values on the stack. Unlike lua_checkstack(), which raises an error in LuaJIT, it returns false if it
/// would be too large.
bool reserve_stack(lua_State* lua, int slots);
std::size_t raw_length(lua_State* lua, int index);
/// Reads a whole number that is one exactly. Returns false for others.
bool read_integer(lua_State* lua, int index, std::int64_t& value);
/// Whether a number is not a double, and so may be one that doubles do not have.
bool is_whole(lua_State* lua, int index);
/// Pushes a whole number. In LuaJIT those beyond 2^53, which its numbers round, are 64-bit numbers: 9007199254740993LL.
void push_integer(lua_State* lua, std::int64_t value);
/// The same; Lua 5.4 has it as a signed number with the same bits, and fields of type uint64 take it back as that.
void push_unsigned(lua_State* lua, std::uint64_t value);
/// Reads a 64-bit number of LuaJIT. Returns false for all else.
bool read_wide(lua_State* lua, int index, bool& is_signed, std::uint64_t& bits);
/// Reads a token that the prelude has made without the C interface: cdata, in LuaJIT.
bool read_foreign_token(lua_State* lua, int index, Token& token);

/// Adds what counts steps to the text of a script, and keeps its lines. Returns an empty text, and says why, if the text
/// names what is reserved for that.
bool add_budget(std::string_view text, std::string& counted, std::string& why);
/// Begins a budget of steps for what the calling thread of Lua runs next. `reset` is the function of the prelude.
void begin_budget(lua_State* lua, int reset, std::uint64_t steps);

}  // namespace shoal::lua
