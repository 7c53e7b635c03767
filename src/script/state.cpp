#include "script/state.h"

#include "shoal/base/detail/bit_set.h"
#include "shoal/base/log.h"
#include "shoal/job/detail/work_scope.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace shoal::lua {

static_assert(sizeof(EntityBits) == 4, "an entity of 64 bits leaves no room for the tag of a light userdata");

// --- memory, calls -----------------------------------------------------------------------------------------------

namespace {

/// Allocations cost steps, because a single step may copy a string of several megabytes.
constexpr double kBytesPerStep = 32;

void* allocate(void* user, void* memory, std::size_t old_bytes, std::size_t bytes) {
    Link& link = *static_cast<Link*>(user);
    State& state = *static_cast<State*>(link.state);
    if (memory == nullptr) old_bytes = 0;
    const std::size_t used = state.memory_used - old_bytes + bytes;
    link.steps_left -= static_cast<double>(bytes) / kBytesPerStep;
    if (bytes > old_bytes && used > state.options.memory_bytes && state.num_unlimited == 0) {
        link.steps_left -= static_cast<double>(state.memory_used) / kBytesPerStep;  // Lua 5.4 will collect garbage
        return nullptr;
    }
    void* const made = bytes == 0 ? nullptr : allocate_memory(bytes, "Lua");
    if (made != nullptr && memory != nullptr) std::memcpy(made, memory, std::min(old_bytes, bytes));
    if (memory != nullptr) release_memory(memory, old_bytes, "Lua");
    state.memory_used = used;
    return made;
}

constexpr const char* kTraceback = "\nstack traceback:";
constexpr const char* kOwnChunk = "=[shoal]";

/// Removes the prelude's functions from the traceback on top of the stack.
void hide_own_functions(lua_State* lua) {
    const std::string_view text = text_at(lua, -1);
    std::string shown;
    for (std::string_view rest = text; !rest.empty();) {
        const std::string_view line = rest.substr(0, std::min(rest.find('\n'), rest.size() - 1) + 1);
        if (!line.starts_with("\t[shoal]:")) shown += line;
        rest.remove_prefix(line.size());
    }
    while (shown.ends_with('\n')) shown.pop_back();
    if (shown.size() != text.size()) push_text(lua, shown);
}

/// Pushes the message, followed by the last calls. Unlike luaL_traceback(), whose time is quadratic in the depth of the
/// stack, this is fast for thousands of calls.
void push_last_calls(lua_State* lua) {
    std::string text = lua_tostring(lua, -1);
    text += kTraceback;
    lua_Debug at{};
    for (int level = 1; level <= 20 && lua_getstack(lua, level, &at) != 0; ++level)
        if (lua_getinfo(lua, "Sl", &at) != 0 && at.currentline > 0)
            text += concat("\n\t", std::string_view(at.short_src), ':', at.currentline, ": in function");
    text += "\n\t...";
    push_text(lua, text);
}

/// Adds a traceback to an error.
int add_traceback(lua_State* lua) {
    State& state = state_of(lua);
    ++state.num_unlimited;
    if (lua_type(lua, 1) != LUA_TSTRING) lua_pushfstring(lua, "an error that is %s, not a text", type_of(lua, 1));
    // An error from a loop over a query already has a traceback.
    if (std::strstr(lua_tostring(lua, -1), kTraceback) == nullptr) {
        lua_Debug deep{};
        if (lua_getstack(lua, 200, &deep) != 0)
            push_last_calls(lua);
        else
            luaL_traceback(lua, lua, lua_tostring(lua, -1), 1);
        hide_own_functions(lua);
    }
    --state.num_unlimited;
    return 1;
}

Status error_of(const State& state, lua_State* on, int code) {
    if (code == LUA_ERRMEM)
        return Status::error(concat("not enough memory: scripts may hold ", state.options.memory_bytes,
                                    " bytes; keep less, or raise ScriptOptions::memory_bytes"));
    return Status::error(lua_type(on, -1) == LUA_TSTRING ? text_at(on, -1) : "an error without a text");
}

}  // namespace

Status State::call(lua_State* on, int num_arguments, int num_results) {
    const int function = lua_gettop(on) - num_arguments;
    if (link.num_nested >= kMostNested) {
        lua_settop(on, function - 1);
        return Status::error(kTooDeep);
    }
    lua_pushcfunction(on, add_traceback);
    lua_insert(on, function);
    const std::uint32_t unlimited = std::exchange(num_unlimited, 0);
    const std::int32_t nested = link.num_nested++;
    const int code = lua_pcall(on, num_arguments, num_results, function);
    link.num_nested = nested;
    num_unlimited = unlimited;
    lua_remove(on, function);
    if (code == 0) return {};
    Status status = error_of(*this, on, code);
    lua_pop(on, 1);
    return status;
}

bool holds_too_much(lua_State* lua, State& state) {
    lua_gc(lua, LUA_GCCOLLECT, 0);
    if (state.memory_used <= state.options.memory_bytes) return false;
    return fail(state, "not enough memory: scripts may hold ", state.options.memory_bytes, " bytes"), true;
}

bool has_room(State& state, std::size_t num_made, const char* what) {
    constexpr std::size_t kMost = 1000;
    state.link.steps_left -= kStepsToMake;
    if (num_made < kMost) return true;
    return fail(state, "a script makes at most ", kMost, ' ', what, "; make each once, and keep it in a variable"),
           false;
}

int raise(lua_State* lua, State& state) {
    if (state.error.find(kTraceback) == std::string::npos)
        luaL_where(lua, 1);
    else
        lua_pushliteral(lua, "");
    lua_pushlstring(lua, state.error.data(), state.error.size());
    lua_concat(lua, 2);
    return lua_error(lua);
}

int refuse_in_compilation(State& state) {
    return fail(state,
                "a compile function uses what it is given; of the table shoal it may call log() only, because there is "
                "no world where sources are compiled");
}

void State::begin_call() {
    if (num_calls != 0) return;
    // LuaJIT does not collect garbage when an allocation fails, so it is collected here.
    if (memory_used > options.memory_bytes - options.memory_bytes / 4) lua_gc(lua, LUA_GCCOLLECT, 0);
    begin_budget(lua, reset, options.steps);
    forget_paths();
}

void State::report(std::string_view where, const Status& failure, std::string* last) {
    ++num_failures;
    last_failure = Status::error(concat(where, ": ", failure.message()));
    if (last != nullptr && *last == failure.message()) return;
    if (last != nullptr) *last = failure.message();
    log(LogLevel::kError, last_failure.message());
}

void State::forget_paths() {
    if (paths.empty()) return;
    paths.for_each([](std::uint64_t, FieldPath* path) { destroy_owned("scripts", path); });
    paths.clear();
}

bool State::rows_are_held() const { return num_loops != 0 || WorkScope::current() != nullptr; }

/// While passes are running, other threads may read the world's strings, so new strings from scripts are first stored
/// here. Scripts must be able to read them immediately, because they use strings instead of ids.
Status State::keep_text(std::string_view text) {
    StringTable& strings = world.strings();
    if (!rows_are_held()) return strings.intern_until_unused(text).status();
    if (Status noted = strings.note(text); !noted || !strings.text(StringId(text)).empty()) return noted;
    if (noted_at != world.frame()) noted_texts.collect(BitSet(Owner("scripts")));
    noted_at = world.frame();
    return noted_texts.intern_until_unused(text).status();
}

std::string_view State::text_of(StringId id) const {
    const std::string_view text = world.strings().text(id);
    return text.empty() ? noted_texts.text(id) : text;
}

// --- beginning, end ----------------------------------------------------------------------------------------------

namespace {

void make_tokens(State& state);

/// Runs the prelude, which defines how functions are called with columns.
void run_prelude(State& state) {
    lua_State* const lua = state.lua;
    if (!compile(lua, prelude_text(), kOwnChunk)) {
        log(LogLevel::kError, lua_tostring(lua, -1));
        SHOAL_ASSERT(false, "the prelude of scripts is not Lua; this is a bug in shoal");
    }
    lua_newtable(lua);
    add_functions(lua, methods_of(kNumTokenKinds));
    lua_pushlightuserdata(lua, state.slots);
    lua_pushlightuserdata(lua, &state.link.steps_left);
    lua_pushlightuserdata(lua, &state.link.num_nested);
    push_integer(lua, kMostNested);
    lua_pushstring(lua, kTooDeep);
    if (const Status status = state.call(lua, 6, 5); !status) {
        log(LogLevel::kError, status.message());
        SHOAL_ASSERT(false, "the prelude of scripts failed; this is a bug in shoal");
    }
    state.link.read_wide = luaL_ref(lua, LUA_REGISTRYINDEX);
    state.link.make_wide = luaL_ref(lua, LUA_REGISTRYINDEX);
    lua_setfield(lua, LUA_REGISTRYINDEX, "shoal.tick");
    state.reset = luaL_ref(lua, LUA_REGISTRYINDEX);
    state.enter = luaL_ref(lua, LUA_REGISTRYINDEX);
}

}  // namespace

State::State(World& of_world, const ScriptOptions& given)
    : GuestHost(of_world, "scripts",
                {"script", "declare it with shoal.component before", "open it with shoal.events before"}, true),
      options(given),
      random(of_world.random().next()) {
    link.state = this;
    lua = lua_newstate(allocate, &link);
    SHOAL_ASSERT(lua != nullptr, "Lua has made no state");
    running = lua;
    lua_gc(lua, LUA_GCSETPAUSE, 120);
    lua_gc(lua, LUA_GCSETSTEPMUL, 400);
    open_libraries(lua);
    lua_newtable(lua);
    frame = luaL_ref(lua, LUA_REGISTRYINDEX);
    make_tokens(*this);
    run_prelude(*this);
}

void State::renew_all() {
    forget_paths();
    GuestHost::renew_all();
}

State::~State() {
    forget_paths();
    lua_close(lua);
}

void add_functions(lua_State* lua, std::span<const Function> functions) {
    for (const Function& one : functions) {
        lua_pushcfunction(lua, one.function);
        lua_setfield(lua, -2, one.name);
    }
}

// --- tokens -----------------------------------------------------------------------------------------------------

namespace {

int token_text(lua_State* lua, State&) {
    static constexpr const char* kNames[kNumTokenKinds] = {"a column", "entities of a batch", "a batch", "a query",
                                                           "a channel of events"};
    const auto* const token = static_cast<const Token*>(lua_touserdata(lua, 1));
    if (lua_type(lua, 1) == LUA_TUSERDATA && token->kind < kNumTokenKinds)
        lua_pushstring(lua, kNames[token->kind]);
    else
        lua_pushstring(lua, "a column");
    return 1;
}

int entity_text(lua_State* lua, State&) {
    const Entity entity = entity_at(lua, 1);
    const std::string text = is_entity(lua, 1) ? concat("entity ", entity.index(), ":", +entity.generation()) : "?";
    push_text(lua, text);
    return 1;
}

/// Makes two metatables: one for entities, and one for all tokens, with a list of methods for each kind of token.
void make_tokens(State& state) {
    lua_State* const lua = state.lua;
    lua_newtable(lua);
    add_functions(lua, methods_of(kNumTokenKinds));  // functions such as index and set
    lua_getfield(lua, -1, "index");
    lua_setfield(lua, -2, "__index");
    lua_getfield(lua, -1, "set");
    lua_setfield(lua, -2, "__newindex");
    lua_getfield(lua, -1, "length");
    lua_setfield(lua, -2, "__len");
    lua_pushcfunction(lua, run_body<token_text>);
    lua_setfield(lua, -2, "__tostring");
    for (std::uint32_t kind = 0; kind < kNumTokenKinds; ++kind) {
        lua_newtable(lua);
        add_functions(lua, methods_of(kind));
        lua_rawseti(lua, -2, static_cast<int>(kind) + 1);
    }
    state.tokens = luaL_ref(lua, LUA_REGISTRYINDEX);
    lua_pushlightuserdata(lua, nullptr);  // all light userdata share one metatable
    lua_newtable(lua);
    lua_pushcfunction(lua, run_body<entity_text>);
    lua_setfield(lua, -2, "__tostring");
    lua_setmetatable(lua, -2);
    lua_pop(lua, 1);
}

}  // namespace

void push_token(lua_State* lua, State& state, const Token& token) {
    *static_cast<Token*>(lua_newuserdata(lua, sizeof(Token))) = token;
    lua_rawgeti(lua, LUA_REGISTRYINDEX, state.tokens);
    lua_setmetatable(lua, -2);
}

bool read_token(lua_State* lua, State& state, int index, TokenKind kind, const char* what, Token& token) {
    if (kind == kColumn && read_foreign_token(lua, index, token)) return true;
    // All userdata are tokens, because no library in the environment makes other userdata.
    if (lua_type(lua, index) == LUA_TUSERDATA) {
        token = *static_cast<const Token*>(lua_touserdata(lua, index));
        if (token.kind == kind) return true;
    }
    return fail(state, "argument ", index, " is ", what, ", not ", type_of(lua, index)), false;
}

// --- arguments ---------------------------------------------------------------------------------------------------

bool is_entity(lua_State* lua, int index) {
    return lua_type(lua, index) == LUA_TLIGHTUSERDATA &&
           (reinterpret_cast<std::uintptr_t>(lua_touserdata(lua, index)) >> 31) == 1;
}

Entity entity_at(lua_State* lua, int index) {
    const auto bits = static_cast<EntityBits>(reinterpret_cast<std::uintptr_t>(lua_touserdata(lua, index)));
    return {bits & 0x7FFFFFFFu};  // pending entities have bit 30, as in Commands
}

void push_entity(lua_State* lua, Entity entity) {
    if (!entity) return lua_pushnil(lua);
    lua_pushlightuserdata(lua, reinterpret_cast<void*>(std::uintptr_t(entity.id) | 0x80000000u));  // NOLINT
}

static bool is_wide(lua_State* lua, int index) {
    bool is_signed = false;
    std::uint64_t bits = 0;
    return read_wide(lua, index, is_signed, bits);
}

const char* type_of(lua_State* lua, int index) {
    constexpr const char* kNames[] = {"missing", "nil",     "a boolean",  "", "a number",
                                      "a text",  "a table", "a function", "", "a coroutine"};  // indexed by type + 1
    const int type = lua_type(lua, index);
    if (type == LUA_TLIGHTUSERDATA) return is_entity(lua, index) ? "an entity" : "a light userdata";
    if (type <= LUA_TTHREAD && type != LUA_TUSERDATA) return kNames[type + 1];
    return is_wide(lua, index) ? "a 64-bit number" : "a column, a batch, a query or a channel";
}

bool read_text(lua_State* lua, State& state, int index, const char* what, std::string_view& text) {
    if (lua_type(lua, index) != LUA_TSTRING)
        return fail(state, "argument ", index, " is ", what, ", a text, not ", type_of(lua, index)), false;
    text = text_at(lua, index);
    return true;
}

bool read_entity(lua_State* lua, State& state, int index, Entity& entity) {
    if (!is_entity(lua, index))
        return fail(state, "argument ", index, " is an entity, not ", type_of(lua, index)), false;
    entity = entity_at(lua, index);
    return true;
}

bool read_living(lua_State* lua, State& state, int index, Entity& entity) {
    if (!read_entity(lua, state, index, entity)) return false;
    if (is_pending(entity) && state.rows_are_held()) return true;
    if (state.world.entities().alive(entity)) return true;
    return fail(state, "entity ", entity.index(), ":", +entity.generation(), " is dead; ask shoal.alive() before"),
           false;
}

bool read_function(lua_State* lua, State& state, int index, const char* what) {
    if (lua_type(lua, index) == LUA_TFUNCTION) return true;
    return fail(state, "argument ", index, " is ", what, ", a function, not ", type_of(lua, index)), false;
}

namespace {

Status wrong_field(lua_State* lua, const char* field, std::string_view wanted) {
    return Status::error(concat("\"", field, "\" is ", wanted, ", not ", type_of(lua, -1)));
}

Status read_list(lua_State* lua, const char* field, Array<std::string>& texts) {
    if (lua_type(lua, -1) != LUA_TTABLE) return wrong_field(lua, field, "a list of texts");
    const std::size_t length = std::min<std::size_t>(raw_length(lua, -1), 1000);
    if (const Status status = check_keys(lua, lua_gettop(lua), {}, length); !status)
        return Status::error(concat("\"", field, "\": ", status.message()));
    for (std::size_t i = 1; i <= length; ++i) {
        lua_rawgeti(lua, -1, static_cast<int>(i));
        const bool is_text = lua_type(lua, -1) == LUA_TSTRING;
        if (is_text) texts.emplace_back(text_at(lua, -1));
        lua_pop(lua, 1);
        if (!is_text) return Status::error(concat("element ", i, " of \"", field, "\" is not a text"));
    }
    return {};
}

}  // namespace

Status check_keys(lua_State* lua, int table, std::span<const std::string_view> keys, std::size_t num_elements) {
    Status status;
    lua_pushnil(lua);
    while (lua_next(lua, table) != 0) {
        lua_pop(lua, 1);
        const bool is_text = lua_type(lua, -1) == LUA_TSTRING;
        if (is_text && std::ranges::find(keys, text_at(lua, -1)) != keys.end()) continue;
        const double number = lua_type(lua, -1) == LUA_TNUMBER ? lua_tonumber(lua, -1) : 0;
        if (number >= 1 && number <= static_cast<double>(num_elements)) continue;
        const std::string key(is_text ? text_at(lua, -1) : std::string_view());
        const int close = closest_text(key, keys.data(), keys.size());
        std::string hint =
            close < 0 ? "there are" : concat("did you mean \"", keys[static_cast<std::size_t>(close)], "\"?");
        for (std::size_t i = 0; close < 0 && i < keys.size(); ++i) hint += concat(i == 0 ? " " : ", ", keys[i]);
        if (close < 0 && keys.empty()) hint = "it is a list";
        status = Status::error(is_text ? concat("there is no key \"", key, "\"; ", hint)
                                       : concat("a key is ", type_of(lua, -1), ", not a text; ", hint));
        lua_pop(lua, 1);
        break;
    }
    return status;
}

Status read_texts(lua_State* lua, int table, const char* field, Array<std::string>& texts) {
    const int type = push_field(lua, table, field);
    Status status;
    if (type == LUA_TSTRING)
        texts.emplace_back(text_at(lua, -1));
    else if (type != LUA_TNIL)
        status = read_list(lua, field, texts);
    lua_pop(lua, 1);
    return status;
}

/// If a table has a field, pushes it and calls take(). Errors: the field has a different type.
template <class Take>
static Status take_field(lua_State* lua, int table, const char* field, int wanted, std::string_view name, Take&& take) {
    const int type = push_field(lua, table, field);
    Status status;
    if (type == wanted)
        take();
    else if (type != LUA_TNIL)
        status = wrong_field(lua, field, name);
    lua_pop(lua, 1);
    return status;
}

Status read_field(lua_State* lua, int table, const char* field, std::string& text) {
    return take_field(lua, table, field, LUA_TSTRING, "a text", [&] { text = text_at(lua, -1); });
}

Status read_field(lua_State* lua, int table, const char* field, double& number) {
    return take_field(lua, table, field, LUA_TNUMBER, "a number", [&] { number = lua_tonumber(lua, -1); });
}

Status read_field(lua_State* lua, int table, const char* field, bool& flag) {
    return take_field(lua, table, field, LUA_TBOOLEAN, "true or false", [&] { flag = lua_toboolean(lua, -1) != 0; });
}

}  // namespace shoal::lua
