#pragma once
// A world's Lua state, and everything that its scripts have made.
//
//     State      the host of all scripts: the world, Lua, its budgets, the slots of columns
//     Script     a guest, with its environment, stores and component types
//     Query      a query of a guest, and the columns that a function gets
//     Slot       one column of the batch that a function works on; its serial says whether a script may still use it
//
// A body is a C++ function that scripts call, of type int (lua_State*, State&). It returns the number of its results,
// or fail(). A body must not raise Lua errors, because its C++ objects would not be destroyed. It reads arguments with
// the functions below, and accesses tables without metamethods. While it runs, Lua's memory is not limited, and
// kBodySlots stack slots are reserved. Call reserve_stack() for more.

#include "script/lua_port.h"
#include "shoal/base/detail/hash_map.h"
#include "shoal/base/random.h"
#include "shoal/base/text.h"
#include "shoal/plugin/detail/guest.h"
#include "shoal/script/scripts.h"

#include <algorithm>
#include <mutex>
#include <span>
#include <string>
#include <utility>

namespace shoal::lua {

struct Script;

struct Slot {
    std::byte* first = nullptr;           // nullptr: no row has the component
    const std::uint32_t* rows = nullptr;  // column index of each row, or kNilRow if it has no value; nullptr: in order
    std::uint32_t count = 0;              // number of rows; 0 after the batch has ended
    std::uint32_t serial = 0;             // serial of the batch
    std::uint32_t step = 0;               // number of values from one row to the next
    std::uint32_t form = 0;               // number of the column class in the prelude; 0: accesses call C
    std::uint32_t stride = 0;             // number of bytes from one row to the next
    const GuestColumn* plan = nullptr;
    bool is_written = false;
};
inline constexpr std::uint32_t kNumSlots = 1024;

struct Query final : GuestQuery {
    using GuestQuery::GuestQuery;
    void destroy() override { destroy_owned("scripts", this); }

    std::uint32_t serial = 0;  // number in the query's tokens; 0: none yet
    int shapes = LUA_NOREF;    // the list of arguments, each a column number or a table of them

private:
    Status find_columns() override;
    void forget_columns() override;
};

struct Channel final : GuestChannel {
    Channel(Guest& of, Schema&& of_events, detail::EventLog& of_world)
        : GuestChannel(of, of_events.name(), of_world), schema(std::move(of_events)) {}
    void destroy() override { destroy_owned("scripts", this); }

    std::uint32_t serial = 0;  // number in the channel's tokens
    const Schema schema;
};

struct PassEntry final : GuestPass {
    using GuestPass::GuestPass;
    void run(const PassContext& context, Executor& executor) override;
    void destroy() override;

    int function = LUA_NOREF;
    std::string last_error;
};

class LuaStore;
struct DeclaredType;
struct Compilation;
struct State;

struct Script final : Guest {
    Script(GuestHost& of, std::string_view of_name, std::string_view of_path) : Guest(of, of_name), path(of_path) {}

    State& state() const;

    const std::string path;
    int environment = LUA_NOREF;
    Array<LuaStore*> stores{Owner("scripts")};
    Array<DeclaredType*> types{Owner("scripts")};  // declared by this script
};

struct State : GuestHost {
    State(World& of_world, const ScriptOptions& given);
    ~State() override;
    void tell(Guest& guest, const GuestObserver& observer, const ObservedBatch& batch) override;
    void end(const GuestObserver& observer) override;
    void renew_all() override;
    /// If rows may move, also creates the missing store of a built-in type.
    Result<KeptComponent> find_kept(std::string_view component) override;

    const ScriptOptions options;
    Link link;
    lua_State* lua = nullptr;
    lua_State* running = nullptr;  // the coroutine that called into C++, or `lua`
    std::size_t memory_used = 0;
    std::uint32_t num_unlimited = 1;  // allocations do not fail while this is not 0
    int enter = LUA_NOREF;            // prelude function that calls a function with a batch's columns
    int reset = LUA_NOREF;            // prelude function that starts a budget
    int frame = LUA_NOREF;            // table that pass functions receive
    int base = LUA_NOREF;             // table that environments are copied from
    int tokens = LUA_NOREF;           // metatable of tokens
    Slot slots[kNumSlots];
    std::uint32_t num_slots = 0;                                 // slots in use by batches
    std::uint32_t last_serial = 0;                               // serial of the newest batch, query or channel
    HashMap<std::uint64_t, FieldPath*> paths{Owner("scripts")};  // by hash of the name; cleared when stores may change
    // The state of the running call.
    Script* script = nullptr;
    PassEntry* pass = nullptr;
    Commands* commands = nullptr;             // commands of the chunk
    const ObservedBatch* observer = nullptr;  // batch of the running observer
    std::uint32_t observer_serial = 0;
    std::uint32_t num_loops = 0;         // rows must not move while this is not 0
    std::recursive_mutex compile_mutex;  // compile functions are called one at a time
    Compilation* compilation = nullptr;  // the component being compiled
    Random random;
    StringTable noted_texts;     // strings that the world will store when rows may move again
    std::uint64_t noted_at = 0;  // the frame in which noted_texts were added
    std::string error;           // message of the failing body
    Status last_failure;
    std::uint64_t num_failures = 0;

    /// Calls the function below the `num_arguments` values on top of the stack. Errors: the function raised an error.
    /// On error, there are no results.
    Status call(lua_State* on, int num_arguments, int num_results);
    /// Starts a budget, unless a script's function is already running.
    void begin_call();
    /// Logs an error in a script function that the world has called.
    void report(std::string_view where, const Status& failure, std::string* last = nullptr);
    void forget_paths();
    /// Whether rows must not move.
    bool rows_are_held() const;
    /// Makes the world store a string for its id, either now or when rows may move. Errors: those of
    /// StringTable::intern().
    Status keep_text(std::string_view text);
    /// Returns the string of a string id, or an empty string.
    std::string_view text_of(StringId id) const;
    /// The serial has 31 bits, because the prelude compares it as an int32_t.
    std::uint32_t next_serial() {
        last_serial = (last_serial + 1) & 0x7FFFFFFF;
        return last_serial == 0 ? ++last_serial : last_serial;
    }
};

inline State& Script::state() const { return static_cast<State&>(host); }
inline State& state_of(const Guest& guest) { return static_cast<State&>(guest.host); }

/// Exists during a call to a script's function.
class CallScope {
public:
    CallScope(State& state, Script* script) : state_(state), script_(state.script) {
        state.begin_call();
        state.script = script;
        ++state.num_calls;
    }
    CallScope(const CallScope&) = delete;
    CallScope& operator=(const CallScope&) = delete;
    ~CallScope() {
        state_.script = script_;
        --state_.num_calls;
    }

private:
    State& state_;
    Script* script_;
};

/// Exists during a loop in which rows must not move. At the end of the outermost loop, the world stores the waiting
/// strings.
class LoopScope {
public:
    explicit LoopScope(State& state) : state_(state) { ++state.num_loops; }
    LoopScope(const LoopScope&) = delete;
    LoopScope& operator=(const LoopScope&) = delete;
    ~LoopScope() {
        --state_.num_loops;
        if (!state_.rows_are_held()) state_.world.strings().take_noted();
    }

private:
    State& state_;
};

// --- bodies ------------------------------------------------------------------------------------------------------

inline constexpr int kFailed = -1;
inline constexpr std::int32_t kMostNested = 200;
inline constexpr const char* kTooDeep =
    "too many coroutines and functions that other functions call, one within the other: at most 200";
inline constexpr int kBodySlots = 100;  // for a body and its callees, except other bodies
using Body = int (*)(lua_State*, State&);

inline State& state_of(lua_State* lua) { return *static_cast<State*>(link_of(lua).state); }
int raise(lua_State* lua, State& state);
/// Returns true and sets an error if scripts use more memory than allowed, even after garbage collection.
bool holds_too_much(lua_State* lua, State& state);
template <Body kBody>
int run_body(lua_State* lua) {
    luaL_checkstack(lua, kBodySlots, "too many calls, one within the other");
    State& state = state_of(lua);
    ++state.num_unlimited;
    lua_State* const outer = std::exchange(state.running, lua);
    const int num_results = kBody(lua, state);
    state.running = outer;
    --state.num_unlimited;
    if (state.num_unlimited == 0 && state.memory_used > state.options.memory_bytes && num_results != kFailed &&
        holds_too_much(lua, state))
        return raise(lua, state);
    return num_results == kFailed ? raise(lua, state) : num_results;
}

/// Fails with the error for a call that is not allowed while a component is being compiled.
int refuse_in_compilation(State& state);
template <Body kBody>
int in_world(lua_State* lua, State& state) {
    return state.compilation != nullptr ? refuse_in_compilation(state) : kBody(lua, state);
}

template <class... Parts>
int fail(State& state, const Parts&... parts) {
    state.error.clear();
    (append_text(state.error, parts), ...);
    return kFailed;
}

/// Ends a body without a result.
inline int done(State& state, const Status& status) { return status ? 0 : fail(state, status.message()); }

/// Adds functions to the table on top of the stack.
struct Function {
    const char* name;
    lua_CFunction function;
};
void add_functions(lua_State* lua, std::span<const Function> functions);
std::span<const Function> entity_functions();
std::span<const Function> row_functions();
std::span<const Function> query_functions();
std::span<const Function> pass_functions();
std::span<const Function> component_functions();
std::span<const Function> event_functions();
std::span<const Function> observer_functions();
std::span<const Function> store_functions();
std::span<const Function> other_functions();
/// Replacements for functions in the string library.
std::span<const Function> pattern_functions();
/// The methods of each kind of token.
std::span<const Function> methods_of(std::uint32_t kind);
const char* prelude_text();

// --- arguments ---------------------------------------------------------------------------------------------------

/// Each of these functions returns false and sets state.error if the value has a different type. `what` is the value's
/// name in the message, such as "the path".
bool read_text(lua_State* lua, State& state, int index, const char* what, std::string_view& text);
bool read_entity(lua_State* lua, State& state, int index, Entity& entity);
/// Like read_entity(), but also fails if the entity is neither alive nor pending in commands.
bool read_living(lua_State* lua, State& state, int index, Entity& entity);
bool read_function(lua_State* lua, State& state, int index, const char* what);
bool read_token(lua_State* lua, State& state, int index, TokenKind kind, const char* what, Token& token);
/// Returns a name for the type of a value, for messages.
const char* type_of(lua_State* lua, int index);
void push_entity(lua_State* lua, Entity entity);
/// Whether a value is an entity.
bool is_entity(lua_State* lua, int index);
Entity entity_at(lua_State* lua, int index);
void push_token(lua_State* lua, State& state, const Token& token);
inline void push_text(lua_State* lua, std::string_view text) { lua_pushlstring(lua, text.data(), text.size()); }
/// Pushes a list of `count` elements, each pushed by push(i).
template <class Push>
void push_list(lua_State* lua, std::size_t count, Push&& push) {
    lua_createtable(lua, static_cast<int>(std::min<std::size_t>(count, 1 << 20)), 0);
    for (std::size_t i = 0; i < count; ++i) {
        push(i);
        lua_rawseti(lua, -2, static_cast<int>(i) + 1);
    }
}
inline void push_list(lua_State* lua, std::span<const Entity> entities) {
    push_list(lua, entities.size(), [&](std::size_t i) { push_entity(lua, entities[i]); });
}
/// Calls visit() for each pair in the table at `table`, with the value on top of the stack and the key below it.
/// Errors: those of visit().
template <class Visit>
Status each_pair(lua_State* lua, int table, Visit&& visit) {
    lua_pushnil(lua);
    while (lua_next(lua, table) != 0) {
        Status status = visit();
        lua_pop(lua, 1);
        if (status) continue;
        lua_pop(lua, 1);
        return status;
    }
    return {};
}
/// Pushes a field of a table, without metamethods, and returns its type.
inline int push_field(lua_State* lua, int table, std::string_view field) {
    push_text(lua, field);
    lua_rawget(lua, table < 0 ? table - 1 : table);
    return lua_type(lua, -1);
}
/// Reads a list of strings from a field of a table; a single string is read as a list of one. Errors: the field is
/// neither a list of strings nor a string.
Status read_texts(lua_State* lua, int table, const char* field, Array<std::string>& texts);
/// Returns a string. Converts a number to a string in place. Requires: the value is a string or a number. Lifetime: as
/// long as the value.
inline std::string_view text_at(lua_State* lua, int index) {
    std::size_t length = 0;
    const char* const first = lua_tolstring(lua, index, &length);
    return {first, length};
}
/// Checks that a table has no keys except `keys` and 1 to `num_elements`. Errors: the table has another key; the
/// message suggests a similar key.
Status check_keys(lua_State* lua, int table, std::span<const std::string_view> keys, std::size_t num_elements = 0);
/// Reads a field of a table. If the field is missing, the value is unchanged. Errors: the field has a different type.
Status read_field(lua_State* lua, int table, const char* field, std::string& text);
Status read_field(lua_State* lua, int table, const char* field, double& number);
Status read_field(lua_State* lua, int table, const char* field, bool& flag);

// --- values ------------------------------------------------------------------------------------------------------

/// Pushes a value. If `is_flat` is set, the parts of a vector are pushed one by one, and otherwise as a table. Returns
/// the number of values that were pushed.
int push_value(lua_State* lua, const State& state, const ValueType& type, const std::byte* bytes, bool is_flat);
/// Reads a value as a given type; for a vector, reads `num_values` consecutive values as its parts. Errors: the value
/// does not fit the type.
Status read_value(lua_State* lua, State& state, int index, int num_values, const ValueType& type, std::string_view name,
                  std::byte* bytes);
/// Writes the fields of a table to a struct image. Errors: the table has an unknown field, or a value does not fit.
Status read_image(lua_State* lua, State& state, int table, const Schema& schema, std::byte* image);
/// Pushes a table of all fields.
void push_image(lua_State* lua, const State& state, const Schema& schema, const std::byte* image);

// --- the environment that a script runs in -----------------------------------------------------------------------

/// Pushes the table of functions that a script may use. Each script gets its own table, with copies of the libraries,
/// so that scripts cannot change each other's libraries.
void push_environment(lua_State* lua, State& state);
/// Removes unsafe functions from the string metatable.
void seal_libraries(lua_State* lua, State& state);

// --- what scripts make -------------------------------------------------------------------------------------------

/// Errors: the running pass has not declared this access.
Status check_access(const State& state, const Store& store, const Schema& schema, bool writes);
Result<Schema> read_schema(lua_State* lua, State& state, int table, std::string_view what);

/// Calls the function at `function` for all rows.
Status run_query(lua_State* lua, State& state, const Query& query, int function, int frame);
void destroy_store(LuaStore* store);
Status attach_store(LuaStore& store);
void detach_store(LuaStore& store);

/// Returns whether a script may make one more object. Counts steps for the object, because objects use memory outside
/// of Lua.
/// Errors: the limit is reached. `what` is the name of the objects in the message, such as "queries".
bool has_room(State& state, std::size_t num_made, const char* what);
inline constexpr double kStepsToMake = 1000;
/// Finds the query or the channel that a token refers to; nullptr if it was removed.
template <class T, class Part>
T* find_part(const State& state, Array<Part*> Guest::* list, const Token& token) {
    for (const Guest* guest : state.guests)
        for (Part* part : guest->*list)
            if (static_cast<T*>(part)->serial == token.serial) return static_cast<T*>(part);
    return nullptr;
}

}  // namespace shoal::lua
