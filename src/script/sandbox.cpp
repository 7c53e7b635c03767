// The parts of Lua's libraries that scripts can use. Scripts have no functions that access files, other libraries,
// bytecode or addresses, or that run for long without counting steps.

#include "script/state.h"

#include <algorithm>

namespace shoal::lua {
namespace {

// Some of these exist only in LuaJIT or only in Lua 5.4.
constexpr const char* kGlobals[] = {"assert", "error",  "ipairs", "next", "pairs",  "pcall",    "rawequal", "rawget",
                                    "rawlen", "rawset", "select", "type", "unpack", "tonumber", "tostring", "xpcall"};
constexpr const char* kString[] = {"byte",  "char",    "find", "format", "gmatch", "gsub",   "len",     "lower",
                                   "match", "reverse", "sub",  "upper",  "pack",   "unpack", "packsize"};
constexpr const char* kTable[] = {"concat", "insert", "maxn", "pack", "remove", "sort", "unpack"};
constexpr const char* kMath[] = {
    "abs",  "acos",  "asin", "atan",  "atan2", "ceil",  "cos", "cosh", "deg",       "exp",        "floor",
    "fmod", "frexp", "huge", "ldexp", "log",   "log10", "max", "min",  "modf",      "pi",         "pow",
    "rad",  "sin",   "sinh", "sqrt",  "tan",   "tanh",  "ult", "type", "tointeger", "maxinteger", "mininteger"};
constexpr const char* kBit[] = {"arshift", "band", "bnot", "bor",    "bswap", "bxor",
                                "lshift",  "rol",  "ror",  "rshift", "tobit", "tohex"};
constexpr const char* kCoroutine[] = {"create", "isyieldable", "resume", "running", "status", "wrap", "yield", "close"};
constexpr const char* kUtf8[] = {"char", "charpattern", "codepoint", "codes", "len", "offset"};

/// Copies fields from the second table on the stack to the table on top.
void copy_fields(lua_State* lua, std::span<const char* const> names) {
    for (const char* name : names) {
        lua_getfield(lua, -2, name);
        lua_setfield(lua, -2, name);
    }
}

/// Adds a copy of a library to the table on top of the stack, replacing some functions.
void copy_library(lua_State* lua, const char* library, std::span<const char* const> names,
                  std::span<const Function> ours = {}) {
    lua_getglobal(lua, library);
    if (lua_type(lua, -1) == LUA_TTABLE) {
        lua_newtable(lua);
        copy_fields(lua, names);
        add_functions(lua, ours);
        lua_setfield(lua, -3, library);
    }
    lua_pop(lua, 1);
}

// --- replacements of Lua's own ------------------------------------------------------------------------------------

constexpr std::int64_t kLongest = std::int64_t(1) << 26;

bool read_count(lua_State* lua, State& state, int index, std::int64_t& count) {
    if (lua_type(lua, index) == LUA_TNUMBER && read_integer(lua, index, count)) return true;
    return fail(state, "argument ", index, " is a whole number, not ", type_of(lua, index)), false;
}

/// Like string.rep, but without its long loop if the string is empty.
int repeat(lua_State* lua, State& state) {
    std::string_view text, separator;
    std::int64_t count = 0;
    if (lua_type(lua, 1) == LUA_TNUMBER) lua_tostring(lua, 1);
    if (!read_text(lua, state, 1, "what is repeated", text) || !read_count(lua, state, 2, count)) return kFailed;
    if (lua_type(lua, 3) > LUA_TNIL && !read_text(lua, state, 3, "the separator", separator)) return kFailed;
    if (count <= 0 || text.size() + separator.size() == 0) return lua_pushliteral(lua, ""), 1;
    const std::size_t each = text.size() + separator.size();
    if (static_cast<std::size_t>(count) > state.options.memory_bytes / each || count > kLongest)
        return fail(state, "not enough memory: a text of ", count, " times ", each,
                    " bytes is more than scripts may hold");
    std::string repeated;
    repeated.reserve(static_cast<std::size_t>(count) * each);
    for (std::int64_t i = 0; i < count; ++i) {
        if (i != 0) repeated += separator;
        repeated += text;
    }
    state.link.steps_left -= static_cast<double>(repeated.size()) / 32;
    push_text(lua, repeated);
    return 1;
}

/// Like table.move, but only accepts tables and ignores metamethods.
int move(lua_State* lua, State& state) {
    std::int64_t first = 0, last = 0, to = 0;
    if (lua_type(lua, 1) != LUA_TTABLE) return fail(state, "argument 1 is a table, not ", type_of(lua, 1));
    if (!read_count(lua, state, 2, first) || !read_count(lua, state, 3, last) || !read_count(lua, state, 4, to))
        return kFailed;
    const int target = lua_type(lua, 5) == LUA_TTABLE ? 5 : 1;
    if (last < first) return lua_pushvalue(lua, target), 1;
    const auto fits = [](std::int64_t place) { return place >= -kLongest && place <= kLongest; };
    if (!fits(first) || !fits(last) || !fits(to) ||
        last - first > static_cast<std::int64_t>(state.options.memory_bytes / 16))
        return fail(state, "table.move moves elements from -67108864 to 67108864, and as many as scripts may hold");
    state.link.steps_left -= static_cast<double>(last - first + 1);
    const bool is_forward = to <= first || target == 5;
    for (std::int64_t i = 0; i <= last - first; ++i) {
        const std::int64_t k = is_forward ? i : last - first - i;
        lua_rawgeti(lua, 1, static_cast<int>(first + k));
        lua_rawseti(lua, target, static_cast<int>(to + k));
    }
    return lua_pushvalue(lua, target), 1;
}

/// Like setmetatable, but refuses finalizers, which would run at any time and without a budget.
int set_metatable(lua_State* lua, State& state) {
    if (lua_type(lua, 1) != LUA_TTABLE) return fail(state, "argument 1 is a table, not ", type_of(lua, 1));
    if (lua_type(lua, 2) != LUA_TTABLE && lua_type(lua, 2) != LUA_TNIL)
        return fail(state, "argument 2 is a table or nil, not ", type_of(lua, 2));
    lua_settop(lua, 2);
    if (lua_getmetatable(lua, 1) != 0) {
        if (push_field(lua, -1, "__metatable") != LUA_TNIL)
            return fail(state, "the metatable is protected by __metatable");
        lua_settop(lua, 2);
    }
    if (lua_type(lua, 2) == LUA_TTABLE) {
        if (push_field(lua, 2, "__gc") != LUA_TNIL)
            return fail(state, "scripts have no finalizers; take __gc out of the metatable");
        lua_settop(lua, 2);
    }
    lua_setmetatable(lua, 1);
    return 1;
}

/// Like getmetatable, but only accepts tables, because all scripts share the metatable of strings.
int get_metatable(lua_State* lua, State&) {
    if (lua_type(lua, 1) != LUA_TTABLE || lua_getmetatable(lua, 1) == 0) return lua_pushnil(lua), 1;
    if (push_field(lua, -1, "__metatable") == LUA_TNIL) lua_pop(lua, 1);
    return 1;
}

/// Calls a library function that loops up to the length of a table. No object here needs to be destroyed if Lua raises
/// an error.
int call_with_raw_length(lua_State* lua) {
    if (lua_getmetatable(lua, 1) != 0) {
        if (push_field(lua, -1, "__len") != LUA_TNIL) return luaL_error(lua, "this function takes no table with __len");
        lua_pop(lua, 2);
    }
    // A table with holes may have a very large length, and the function visits that many elements.
    State& state = state_of(lua);
    const std::size_t length = lua_type(lua, 1) == LUA_TTABLE ? raw_length(lua, 1) : 0;
    if (length > state.options.memory_bytes / 16)
        return luaL_error(lua, "this function takes no table whose length is more than scripts may hold");
    state.link.steps_left -= static_cast<double>(length) / 8;
    lua_pushvalue(lua, lua_upvalueindex(1));
    lua_insert(lua, 1);
    lua_call(lua, lua_gettop(lua) - 1, LUA_MULTRET);
    return lua_gettop(lua);
}

/// Adds this check to functions in the library on top of the stack.
void check_lengths(lua_State* lua) {
    for (const char* name : {"concat", "insert", "remove", "unpack"}) {
        lua_getfield(lua, -1, name);
        lua_pushcclosure(lua, call_with_raw_length, 1);
        lua_setfield(lua, -2, name);
    }
}

constexpr Function kOwnGlobals[] = {{"setmetatable", run_body<set_metatable>},
                                    {"getmetatable", run_body<get_metatable>}};
constexpr Function kOwnString[] = {{"rep", run_body<repeat>}};
constexpr Function kOwnTable[] = {{"move", run_body<move>}};

}  // namespace

void push_environment(lua_State* lua, State&) {
    lua_getglobal(lua, "_G");
    lua_newtable(lua);
    copy_fields(lua, kGlobals);
    add_functions(lua, kOwnGlobals);
    copy_library(lua, "string", kString, kOwnString);
    lua_getfield(lua, -1, "string");
    add_functions(lua, pattern_functions());
    lua_pop(lua, 1);
    copy_library(lua, "table", kTable, kOwnTable);
    lua_getfield(lua, -1, "table");
    if (kLengthsAreFunctions) check_lengths(lua);
    lua_pop(lua, 1);
    copy_library(lua, "math", kMath);
    copy_library(lua, "bit", kBit);
    copy_library(lua, "coroutine", kCoroutine);
    copy_library(lua, "utf8", kUtf8);
    lua_replace(lua, -2);
    lua_pushvalue(lua, -1);
    lua_setfield(lua, -2, "_G");
    lua_newtable(lua);
    for (const auto functions :
         {entity_functions(), row_functions(), query_functions(), pass_functions(), component_functions(),
          event_functions().first(1), observer_functions(), store_functions(), other_functions()})
        add_functions(lua, functions);
    lua_getfield(lua, -1, "log");
    lua_setfield(lua, -3, "print");
    lua_getfield(lua, -2, "math");
    lua_getfield(lua, -2, "random");
    lua_setfield(lua, -2, "random");
    lua_pop(lua, 1);
    lua_setfield(lua, -2, "shoal");
}

void seal_libraries(lua_State* lua, State& state) {
    // String methods, as in text:upper(), come from an environment that scripts cannot change.
    push_environment(lua, state);
    lua_pushliteral(lua, "");
    lua_newtable(lua);
    lua_getfield(lua, -3, "string");
    lua_setfield(lua, -2, "__index");
    lua_setmetatable(lua, -2);
    lua_pop(lua, 2);
}

}  // namespace shoal::lua
