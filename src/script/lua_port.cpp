// The only source that differs between LuaJIT and Lua 5.4.

#include "script/lua_port.h"

#include "script/budget_text.h"

#if defined(LUAJIT_VERSION)
#define SHOAL_LUA_IS_JIT 1
#else
#define SHOAL_LUA_IS_JIT 0
#endif

namespace shoal::lua {
namespace {

void open(lua_State* lua, const char* name, lua_CFunction function) {
#if SHOAL_LUA_IS_JIT
    lua_pushcfunction(lua, function);
    lua_pushstring(lua, name);
    lua_call(lua, 1, 0);
#else
    luaL_requiref(lua, name, function, 1);
    lua_pop(lua, 1);
#endif
}

}  // namespace

#if SHOAL_LUA_IS_JIT

std::string_view version_text() { return "LuaJIT 2.1"; }

void open_libraries(lua_State* lua) {
    open(lua, "", luaopen_base);
    open(lua, LUA_STRLIBNAME, luaopen_string);
    open(lua, LUA_TABLIBNAME, luaopen_table);
    open(lua, LUA_MATHLIBNAME, luaopen_math);
    open(lua, LUA_BITLIBNAME, luaopen_bit);
    open(lua, LUA_JITLIBNAME, luaopen_jit);
    lua_pushcfunction(lua, luaopen_ffi);  // for the prelude only; ffi is not a global
    lua_pushliteral(lua, LUA_FFILIBNAME);
    lua_call(lua, 1, 1);
    lua_setglobal(lua, LUA_FFILIBNAME);
}

void set_environment(lua_State* lua) { lua_setfenv(lua, -2); }
bool reserve_stack(lua_State* lua, int slots) {
    const auto reserve = [](lua_State* on) {
        int& wanted = *static_cast<int*>(lua_touserdata(on, 1));
        if (lua_checkstack(on, wanted) == 0) wanted = -1;
        return 0;
    };
    if (lua_cpcall(lua, reserve, &slots) == 0) return slots >= 0;
    lua_pop(lua, 1);
    return false;
}
std::size_t raw_length(lua_State* lua, int index) { return lua_objlen(lua, index); }

bool read_integer(lua_State* lua, int index, std::int64_t& value) {
    const double number = lua_tonumber(lua, index);
    if (!(number >= -9007199254740992.0 && number <= 9007199254740992.0)) return false;
    value = static_cast<std::int64_t>(number);
    return static_cast<double>(value) == number;
}

bool is_whole(lua_State*, int) { return false; }

namespace {

constexpr int kTypeOfCdata = 10;  // LuaJIT has no public name for it
constexpr std::int64_t kMostExact = std::int64_t(1) << 53;

void push_wide(lua_State* lua, bool is_signed, std::uint64_t bits) {
    lua_rawgeti(lua, LUA_REGISTRYINDEX, link_of(lua).make_wide);
    lua_pushboolean(lua, is_signed ? 1 : 0);
    lua_pushnumber(lua, static_cast<double>(bits >> 32));
    lua_pushnumber(lua, static_cast<double>(bits & 0xFFFFFFFF));
    lua_call(lua, 3, 1);
}

}  // namespace

void push_integer(lua_State* lua, std::int64_t value) {
    if (value < -kMostExact || value > kMostExact) return push_wide(lua, true, static_cast<std::uint64_t>(value));
    lua_pushnumber(lua, static_cast<double>(value));
}
void push_unsigned(lua_State* lua, std::uint64_t value) {
    if (value > static_cast<std::uint64_t>(kMostExact)) return push_wide(lua, false, value);
    lua_pushnumber(lua, static_cast<double>(value));
}

bool read_wide(lua_State* lua, int index, bool& is_signed, std::uint64_t& bits) {
    if (lua_type(lua, index) != kTypeOfCdata) return false;
    lua_pushvalue(lua, index);
    lua_rawgeti(lua, LUA_REGISTRYINDEX, link_of(lua).read_wide);
    lua_insert(lua, -2);
    lua_call(lua, 1, 3);
    const bool is_wide = lua_type(lua, -3) == LUA_TBOOLEAN;
    if (is_wide) {
        is_signed = lua_toboolean(lua, -3) != 0;
        bits =
            static_cast<std::uint64_t>(lua_tonumber(lua, -2)) << 32 | static_cast<std::uint64_t>(lua_tonumber(lua, -1));
    }
    lua_pop(lua, 3);
    return is_wide;
}

bool read_foreign_token(lua_State* lua, int index, Token& token) {
    if (lua_type(lua, index) != kTypeOfCdata) return false;
    // This is a column that the prelude made, or a 64-bit number of the same size. In both cases, the token is checked
    // against the slots.
    const auto* const words = static_cast<const std::uint32_t*>(lua_topointer(lua, index));
    token = {words[0], words[1], kColumn};
    return true;
}

bool add_budget(std::string_view text, std::string& counted, std::string& why) {
    return add_budget_checks(text, counted, why);
}

void begin_budget(lua_State* lua, int reset, std::uint64_t steps) {
    link_of(lua).steps_left = static_cast<double>(steps);
    lua_rawgeti(lua, LUA_REGISTRYINDEX, reset);
    lua_call(lua, 0, 0);
}

#else

namespace {

constexpr int kStepsPerHook = 1000;

/// Counts the instructions of all coroutines together. When no steps are left, every instruction raises an error, so
/// that pcall cannot continue.
void count_steps(lua_State* lua, lua_Debug*) {
    double& left = link_of(lua).steps_left;
    if (left >= 0) {
        left -= lua_gethookcount(lua);
        if (lua_gethookcount(lua) == 1) lua_sethook(lua, count_steps, LUA_MASKCOUNT, kStepsPerHook);
    }
    if (left >= 0) return;
    lua_sethook(lua, count_steps, LUA_MASKCOUNT, 1);
    luaL_error(lua, "the script has used all steps of its budget; do less in one call, or raise ScriptOptions::steps");
}

}  // namespace

std::string_view version_text() { return "Lua 5.4"; }

void open_libraries(lua_State* lua) {
    open(lua, "_G", luaopen_base);
    open(lua, LUA_STRLIBNAME, luaopen_string);
    open(lua, LUA_TABLIBNAME, luaopen_table);
    open(lua, LUA_MATHLIBNAME, luaopen_math);
    open(lua, LUA_COLIBNAME, luaopen_coroutine);
    open(lua, LUA_UTF8LIBNAME, luaopen_utf8);
}

void set_environment(lua_State* lua) { lua_setupvalue(lua, -2, 1); }
bool reserve_stack(lua_State* lua, int slots) { return lua_checkstack(lua, slots) != 0; }
std::size_t raw_length(lua_State* lua, int index) { return lua_rawlen(lua, index); }

bool read_integer(lua_State* lua, int index, std::int64_t& value) {
    int is_integer = 0;
    value = lua_tointegerx(lua, index, &is_integer);
    return is_integer != 0;
}
bool is_whole(lua_State* lua, int index) { return lua_isinteger(lua, index) != 0; }
void push_integer(lua_State* lua, std::int64_t value) { lua_pushinteger(lua, value); }
void push_unsigned(lua_State* lua, std::uint64_t value) { lua_pushinteger(lua, static_cast<std::int64_t>(value)); }
bool read_wide(lua_State*, int, bool&, std::uint64_t&) { return false; }

bool read_foreign_token(lua_State*, int, Token&) { return false; }

bool add_budget(std::string_view text, std::string& counted, std::string&) {
    counted = text;
    return true;
}

void begin_budget(lua_State* lua, int, std::uint64_t steps) {
    link_of(lua).steps_left = static_cast<double>(steps);
    lua_sethook(lua, count_steps, LUA_MASKCOUNT, kStepsPerHook);
}

#endif

bool compile(lua_State* lua, std::string_view text, const char* chunk_name) {
    return luaL_loadbufferx(lua, text.data(), text.size(), chunk_name, "t") == 0;
}

}  // namespace shoal::lua
