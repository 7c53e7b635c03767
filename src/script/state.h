#pragma once
// A Lua state in a world, and what its scripts have made.
//
//     State      the host of all scripts: the world, Lua, its budgets, the slots of columns
//     Script     a guest, with its environment, stores and component types
//     Query      a query of a guest, and the columns that a function gets
//     Slot       one column of the batch that a function works on; its serial says whether a script may still use it
//
// Functions that scripts call are bodies, int (lua_State*, State&), which return how many results they leave, or fail(). A
// body raises no error of Lua itself, because it has objects that would never be destroyed: it reads arguments with the
// functions below, touches tables of scripts without their metatables, and while it runs Lua has memory without a limit and
// kBodySlots of its stack. What needs more slots asks reserve_stack().

#include "script/lua_port.h"
#include "shoal/base/hash_map.h"
#include "shoal/base/random.h"
#include "shoal/base/text.h"
#include "shoal/plugin/guest.h"
#include "shoal/script/scripts.h"

#include <algorithm>
#include <mutex>
#include <span>
#include <string>
#include <utility>

namespace shoal::lua {

struct Script;

struct Slot {
    std::byte* first = nullptr;           // nullptr: no row has it
    const std::uint32_t* rows = nullptr;  // by row: where it lies; kNilRow: none; nullptr: in order
    std::uint32_t count = 0;              // of rows; 0 when the batch has ended
    std::uint32_t serial = 0;             // of the batch
    std::uint32_t step = 0;               // elements from one row to the next, in values of the type
    std::uint32_t form = 0;               // which class of the prelude reads it; 0: Slot::index
    std::uint32_t stride = 0;             // bytes from one row to the next
    const GuestColumn* plan = nullptr;
    bool is_written = false;
};
inline constexpr std::uint32_t kNumSlots = 1024;

struct Query final : GuestQuery {
    using GuestQuery::GuestQuery;
    void destroy() override { destroy_owned("scripts", this); }

    std::uint32_t serial = 0;  // in its tokens; 0: it has none
    int shapes = LUA_NOREF;    // a list of arguments: the number of a column, or a table of such numbers

private:
    Status find_columns() override;
    void forget_columns() override;
};

struct Channel final : GuestChannel {
    Channel(Guest& of, Schema&& of_events, detail::EventLog& of_world)
        : GuestChannel(of, of_events.name(), of_world), schema(std::move(of_events)) {}
    void destroy() override { destroy_owned("scripts", this); }

    std::uint32_t serial = 0;  // in its tokens
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
    Array<DeclaredType*> types{Owner("scripts")};  // that it has declared
};

struct State : GuestHost {
    State(World& of_world, const ScriptOptions& given);
    ~State() override;
    void tell(Guest& guest, const GuestObserver& observer, const ObservedBatch& batch) override;
    void end(const GuestObserver& observer) override;
    void renew_all() override;
    /// Makes the store of a built-in type, if rows may move.
    Result<KeptComponent> find_kept(std::string_view component) override;

    const ScriptOptions options;
    Link link;
    lua_State* lua = nullptr;
    lua_State* running = nullptr;  // the coroutine that calls what is in C++, or `lua`
    std::size_t memory_used = 0;
    std::uint32_t num_unlimited = 1;  // while it is not 0, no allocation fails
    int enter = LUA_NOREF;            // of the prelude: calls a function with the columns of a batch
    int reset = LUA_NOREF;            // of the prelude: begins a budget
    int frame = LUA_NOREF;            // the table that passes get
    int base = LUA_NOREF;             // what environments are copies of
    int tokens = LUA_NOREF;           // the metatable of tokens
    Slot slots[kNumSlots];
    std::uint32_t num_slots = 0;                                 // in use: those of batches that functions work on
    std::uint32_t last_serial = 0;                               // of batches, queries and channels
    HashMap<std::uint64_t, FieldPath*> paths{Owner("scripts")};  // by hash of the name, until stores may have changed
    // What runs now.
    Script* script = nullptr;
    PassEntry* pass = nullptr;
    Commands* commands = nullptr;             // of the chunk
    const ObservedBatch* observer = nullptr;  // that runs
    std::uint32_t observer_serial = 0;
    std::uint32_t num_loops = 0;         // rows stay where they are
    std::recursive_mutex compile_mutex;  // compile functions are called from one thread at a time
    Compilation* compilation = nullptr;  // of the component that a function compiles
    Random random;
    StringTable noted_texts;     // that the world does not keep yet, because its rows are held
    std::uint64_t noted_at = 0;  // the frame
    std::string error;           // of the body that fails
    Status last_failure;
    std::uint64_t num_failures = 0;

    /// Calls the function below `num_arguments` values at the top. Errors: it raised one; there are no results then.
    Status call(lua_State* on, int num_arguments, int num_results);
    /// Begins a budget, unless a script calls.
    void begin_call();
    /// Logs an error of a function that the world has called.
    void report(std::string_view where, const Status& failure, std::string* last = nullptr);
    void forget_paths();
    /// Whether rows must stay where they are.
    bool rows_are_held() const;
    /// Lets the world keep the text of a string id, at once or as soon as it may. Errors: as of StringTable::intern().
    Status keep_text(std::string_view text);
    /// Returns the text of a string id, or an empty text.
    std::string_view text_of(StringId id) const;
    /// Of 31 bits, as the prelude compares them.
    std::uint32_t next_serial() {
        last_serial = (last_serial + 1) & 0x7FFFFFFF;
        return last_serial == 0 ? ++last_serial : last_serial;
    }
};

inline State& Script::state() const { return static_cast<State&>(host); }
inline State& state_of(const Guest& guest) { return static_cast<State&>(guest.host); }

/// What runs now, until the end of the scope.
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

/// A loop during which rows stay where they are. At the end of the outermost one, the world gets the texts that waited
/// for it.
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
inline constexpr int kBodySlots = 100;  // of the stack, for a body and all that it calls but other bodies
using Body = int (*)(lua_State*, State&);

inline State& state_of(lua_State* lua) { return *static_cast<State*>(link_of(lua).state); }
int raise(lua_State* lua, State& state);
/// Whether what a body has made is more than scripts may hold, also without what nobody refers to; then there is an error.
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

/// What a script may not call while it compiles a component.
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

/// Ends a body that leaves no result.
inline int done(State& state, const Status& status) { return status ? 0 : fail(state, status.message()); }

/// Adds functions to the table at the top.
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
/// In place of those of the library string.
std::span<const Function> pattern_functions();
/// What the tokens of each kind have as methods.
std::span<const Function> methods_of(std::uint32_t kind);
const char* prelude_text();

// --- arguments ---------------------------------------------------------------------------------------------------

/// Each returns false, and has said why in state.error, if the value is another one. `what` names it: "the path".
bool read_text(lua_State* lua, State& state, int index, const char* what, std::string_view& text);
bool read_entity(lua_State* lua, State& state, int index, Entity& entity);
/// The same, and the entity lives, or is pending in commands.
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
/// Pushes a list of `count` elements, each of which push(i) leaves at the top.
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
/// Calls visit() for each pair of the table at `table`, with the key below the value at the top. Errors: of visit().
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
/// Pushes the field of a table, without what metatables say, and returns its type.
inline int push_field(lua_State* lua, int table, std::string_view field) {
    push_text(lua, field);
    lua_rawget(lua, table < 0 ? table - 1 : table);
    return lua_type(lua, -1);
}
/// Reads a list of texts in the field of a table. Errors: it is none; a single text is a list of one.
Status read_texts(lua_State* lua, int table, const char* field, Array<std::string>& texts);
/// Returns a text, and a number as one, which it becomes. Requires: there is one of these. Lifetime: that of the value.
inline std::string_view text_at(lua_State* lua, int index) {
    std::size_t length = 0;
    const char* const first = lua_tolstring(lua, index, &length);
    return {first, length};
}
/// Whether a table has no keys but these, and elements 1 to `num_elements`. Errors: it has another, and the message
/// names the one that is close.
Status check_keys(lua_State* lua, int table, std::span<const std::string_view> keys, std::size_t num_elements = 0);
/// Reads fields of a table; the default stays if there is none. Errors: it has another type.
Status read_field(lua_State* lua, int table, const char* field, std::string& text);
Status read_field(lua_State* lua, int table, const char* field, double& number);
Status read_field(lua_State* lua, int table, const char* field, bool& flag);

// --- values ------------------------------------------------------------------------------------------------------

/// Pushes a value; the parts of a vector one by one if `is_flat`, and else as a table. Returns how many.
int push_value(lua_State* lua, const State& state, const ValueType& type, const std::byte* bytes, bool is_flat);
/// Reads a value as a type; `num_values` follow each other, for the parts of a vector. Errors: it does not fit.
Status read_value(lua_State* lua, State& state, int index, int num_values, const ValueType& type, std::string_view name,
                  std::byte* bytes);
/// Writes what a table says to a struct image. Errors: it names no field, or a value does not fit.
Status read_image(lua_State* lua, State& state, int table, const Schema& schema, std::byte* image);
/// Pushes a table of all fields.
void push_image(lua_State* lua, const State& state, const Schema& schema, const std::byte* image);

// --- the environment that a script runs in -----------------------------------------------------------------------

/// Pushes a table with what a script may use. Each script gets one of its own, with copies of the libraries, so that
/// none can change what another uses.
void push_environment(lua_State* lua, State& state);
/// Takes what scripts do not get from what texts have as methods.
void seal_libraries(lua_State* lua, State& state);

// --- what scripts make -------------------------------------------------------------------------------------------

/// Errors: the pass that runs has not declared it.
Status check_access(const State& state, const Store& store, const Schema& schema, bool writes);
Result<Schema> read_schema(lua_State* lua, State& state, int table, std::string_view what);

/// Calls the function at `function` for all rows.
Status run_query(lua_State* lua, State& state, const Query& query, int function, int frame);
void destroy_store(LuaStore* store);
Status attach_store(LuaStore& store);
void detach_store(LuaStore& store);

/// Whether a script may make one more of what it has: their memory is not that of Lua. Counts the steps that it takes.
/// Errors:
/// there are as many as there may be. `what` names them: "queries".
bool has_room(State& state, std::size_t num_made, const char* what);
inline constexpr double kStepsToMake = 1000;
/// Finds the query or the channel that a token names; nullptr: it is gone.
template <class T, class Part>
T* find_part(const State& state, Array<Part*> Guest::* list, const Token& token) {
    for (const Guest* guest : state.guests)
        for (Part* part : guest->*list)
            if (static_cast<T*>(part)->serial == token.serial) return static_cast<T*>(part);
    return nullptr;
}

}  // namespace shoal::lua
