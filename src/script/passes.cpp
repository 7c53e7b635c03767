// Passes of scripts, and component types that scripts declare.

#include "script/compile.h"

#include "shoal/base/log.h"
#include "shoal/job/work_scope.h"
#include "shoal/reload/reloader.h"
#include "shoal/store/component_manager.h"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace shoal::lua {

// --- running -----------------------------------------------------------------------------------------------------

namespace {

/// Fills the table that functions of passes get.
void fill_frame(const State& state, const PassContext& context) {
    lua_State* const lua = state.lua;
    lua_rawgeti(lua, LUA_REGISTRYINDEX, state.frame);
    lua_pushliteral(lua, "dt");
    lua_pushnumber(lua, context.dt);
    lua_rawset(lua, -3);  // scripts have the table, and may have given it a metatable
    lua_pushliteral(lua, "number");
    push_integer(lua, static_cast<std::int64_t>(context.frame));
    lua_rawset(lua, -3);
    lua_pop(lua, 1);
}

Status run_once(State& state, const PassEntry& pass) {
    lua_rawgeti(state.lua, LUA_REGISTRYINDEX, pass.run);
    lua_rawgeti(state.lua, LUA_REGISTRYINDEX, state.frame);
    return state.call(state.lua, 1, 0);
}

/// An error is reported, and the frame goes on.
void run_pass(PassEntry& pass, const PassContext& context) {
    State& state = *pass.script->state;
    const CallScope scope(state, pass.script);
    const Random outside = state.random;
    state.pass = &pass;
    state.random = context.random_for(ComponentId(pass.name).hash);
    fill_frame(state, context);
    Status status;
    if (pass.query == nullptr) {
        status = run_once(state, pass);
    } else {
        lua_rawgeti(state.lua, LUA_REGISTRYINDEX, pass.run);
        status = run_query(state.lua, state, *pass.query, lua_gettop(state.lua), state.frame);
        lua_pop(state.lua, 1);
    }
    state.pass = nullptr;
    state.random = outside;
    if (status)
        pass.last_error.clear();
    else
        state.report(concat("pass \"", pass.name, "\" of script \"", pass.script->name, "\""), status,
                     &pass.last_error);
}

/// A pass as a schedule knows it: one thread, because a Lua state is not shared.
struct ScriptRows {
    PassEntry* pass;

    template <class Function>
    static constexpr bool kFits = std::is_invocable_v<Function&, Executor&>;
    static constexpr std::uint64_t bytes_per_row() { return 0; }
    std::span<const Access> accesses() const { return pass->accesses; }
    std::uint64_t num_rows() const {
        return pass->query == nullptr || pass->query->query == nullptr ? 0 : pass->query->query->num_rows();
    }
    template <class Function>
    void for_each(Executor& executor, Function&& function) const {
        function(executor);
    }
};

}  // namespace

// --- adding, removing --------------------------------------------------------------------------------------------

namespace {

Status add_accesses(State& state, PassEntry& pass, const Array<std::string>& names, bool writes) {
    for (const std::string& name : names) {
        const Result<KeptComponent> kept = require_component(state, name);
        if (!kept) return kept.status();
        const OwnedColumns columns = kept->store->find_columns(*kept->schema);
        const bool is_derived = columns.is_read_only || columns.is_source;
        pass.accesses.push_back(
            {kept->store, nullptr, is_derived ? ComponentId() : kept->schema->id(), kAllFields, writes});
    }
    return {};
}

/// Lists what a pass touches. Errors: a store is not there.
Status find_accesses(PassEntry& pass) {
    State& state = *pass.script->state;
    pass.accesses.clear();
    for (const Channel* channel : pass.reads) pass.accesses.push_back({nullptr, channel->log, {}, kAllFields, false});
    for (const Channel* channel : pass.writes) pass.accesses.push_back({nullptr, channel->log, {}, kAllFields, true});
    if (Status status = add_accesses(state, pass, pass.read_names, false); !status) return status;
    if (Status status = add_accesses(state, pass, pass.write_names, true); !status) return status;
    if (pass.query != nullptr) {
        if (!pass.query->problem) return pass.query->problem;
        const std::span<const Access> accesses = pass.query->query->accesses();
        pass.accesses.insert(pass.accesses.end(), accesses.begin(), accesses.end());
    }
    pass.is_everything = pass.accesses.empty();
    if (pass.is_everything)
        pass.accesses.push_back(writes_everything());
    else
        pass.accesses.push_back({nullptr, &state, {}, kAllFields, true});  // one Lua pass at a time
    return {};
}

}  // namespace

Status add_pass(PassEntry& pass) {
    State& state = *pass.script->state;
    if (Status status = find_accesses(pass); !status) return status;
    Schedule& schedule = state.world.schedule();
    for (std::size_t i = 0; i < schedule.num_passes(); ++i)
        if (schedule.statistics(i).name == pass.name)
            return Status::error(
                concat("the world has a pass \"", pass.name, "\" already; give this one another name"));
    PassEntry* const entry = &pass;
    PassOrder order = schedule.add(pass.name, ScriptRows{entry},
                                   [entry](const PassContext& context, Executor&) { run_pass(*entry, context); });
    for (const std::string& other : pass.after) order.after(other);
    for (const std::string& other : pass.before) order.before(other);
    if (pass.every_frames > 1) order.every_frames(pass.every_frames);
    if (pass.every_seconds > 0) order.every_seconds(pass.every_seconds);
    pass.is_added = true;
    pass.rests = false;
    return {};
}

void suspend_pass(PassEntry& pass) {
    if (!std::exchange(pass.is_added, false)) return;
    const Status removed = pass.script->state->world.schedule().remove(pass.name);
    static_cast<void>(removed);  // the program may have removed it
}

void renew_pass(PassEntry& pass) {
    if (!pass.is_added) return;
    const State& state = *pass.script->state;
    Schedule& schedule = state.world.schedule();
    const Status status = find_accesses(pass);
    if (!status) pass.accesses.clear();
    if (!schedule.declare(pass.name, pass.accesses)) return;  // the program has removed it
    if (status.ok() == pass.rests) static_cast<void>(schedule.enable(pass.name, status.ok()));
    if (!pass.rests || status) pass.is_told = false;
    pass.rests = !status;
    if (pass.rests && !state.is_exchanging && !std::exchange(pass.is_told, true))
        log(LogLevel::kWarning, concat("pass \"", pass.name, "\" of script \"", pass.script->name,
                                       "\" rests until what it needs is there again: ", status.message()));
}

void destroy_pass(PassEntry* pass) {
    State& state = *pass->script->state;
    erase(pass->script->passes, pass);
    if (pass->query != nullptr) destroy_query(pass->query);
    luaL_unref(state.lua, LUA_REGISTRYINDEX, pass->run);
    luaL_unref(state.lua, LUA_REGISTRYINDEX, pass->definition);
    destroy_owned("scripts", pass);
}

// --- reading -----------------------------------------------------------------------------------------------------

namespace {

Status read_channels(lua_State* lua, PassEntry& pass, const char* field, Array<const Channel*>& channels) {
    Array<std::string> names{Owner("scripts")};
    if (Status status = read_texts(lua, 1, field, names); !status) return status;
    for (const std::string& name : names) {
        const auto has_name = [&](const Channel* channel) { return channel->name == name; };
        const auto at = std::ranges::find_if(pass.script->channels, has_name);
        if (at == pass.script->channels.end())
            return Status::error(concat("the script has no channel \"", name, "\"; open it with shoal.events before"));
        channels.push_back(*at);
    }
    return {};
}

Status read_times(lua_State* lua, PassEntry& pass) {
    double frames = 0, seconds = 0;
    if (Status status = read_field(lua, 1, "every_frames", frames); !status) return status;
    if (Status status = read_field(lua, 1, "every_seconds", seconds); !status) return status;
    if (!(frames >= 0 && frames <= 1e9) || !(seconds >= 0 && seconds <= 1e9))
        return Status::error("\"every_frames\" and \"every_seconds\" are from 0 to 1e9");
    pass.every_frames = static_cast<std::uint32_t>(frames);
    pass.every_seconds = static_cast<float>(seconds);
    return {};
}

Status read_lists(lua_State* lua, PassEntry& pass) {
    if (Status status = read_texts(lua, 1, "after", pass.after); !status) return status;
    if (Status status = read_texts(lua, 1, "before", pass.before); !status) return status;
    if (Status status = read_texts(lua, 1, "reads", pass.read_names); !status) return status;
    if (Status status = read_texts(lua, 1, "writes", pass.write_names); !status) return status;
    if (Status status = read_channels(lua, pass, "reads_from", pass.reads); !status) return status;
    if (Status status = read_channels(lua, pass, "writes_to", pass.writes); !status) return status;
    return read_times(lua, pass);
}

Status read_query_of(lua_State* lua, PassEntry& pass) {
    std::string text;
    Array<std::string> columns{Owner("scripts")};
    if (Status status = read_field(lua, 1, "query", text); !status) return status;
    if (Status status = read_texts(lua, 1, "columns", columns); !status) return status;
    if (text.empty())
        return columns.empty() ? Status() : Status::error("\"columns\" needs a \"query\" that names their components");
    const Result<Query*> query = make_query(*pass.script, text, std::move(columns));
    if (!query) return query.status();
    pass.query = *query;
    return {};
}

/// What a pass declares beside the fields of its table.
Status read_pass(lua_State* lua, PassEntry& pass) {
    static constexpr std::string_view kKeys[] = {"name",       "run",       "query",        "columns",
                                                 "reads",      "writes",    "after",        "before",
                                                 "reads_from", "writes_to", "every_frames", "every_seconds"};
    if (Status status = check_keys(lua, 1, kKeys); !status) return status;
    if (Status status = read_lists(lua, pass); !status) return status;
    if (Status status = read_query_of(lua, pass); !status) return status;
    lua_getfield(lua, 1, "run");
    const bool has_function = lua_type(lua, -1) == LUA_TFUNCTION;
    if (has_function)
        pass.run = luaL_ref(lua, LUA_REGISTRYINDEX);
    else
        lua_pop(lua, 1);
    if (!has_function) return Status::error("\"run\" is missing: the function that is called for each batch");
    return add_pass(pass);
}

int pass(lua_State* lua, State& state) {
    if (lua_type(lua, 1) != LUA_TTABLE) return fail(state, "argument 1 is a table that describes a pass");
    if (state.rows_are_held()) return fail(state, "passes are added outside of passes and loops");
    if (!has_room(state, state.script->passes.size(), "passes")) return kFailed;
    lua_settop(lua, 1);
    lua_pushnil(lua);
    lua_setmetatable(lua, 1);  // it is read as it is
    auto* const made = make_owned<PassEntry>("scripts", state.script);
    state.script->passes.push_back(made);
    Status status = read_field(lua, 1, "name", made->name);
    if (status && made->name.empty()) status = Status::error("a pass has no \"name\"");
    const bool was_ordered = state.world.schedule().prepare().ok();
    if (status) status = read_pass(lua, *made);
    if (status && was_ordered && !state.script->is_loading) {
        status = state.world.schedule().prepare();
        if (!status) suspend_pass(*made);
    }
    if (status) return 0;
    fail(state, "pass \"", made->name, "\": ", status.message());
    destroy_pass(made);
    return kFailed;
}

int remove_pass(lua_State* lua, State& state) {
    std::string_view name;
    if (!read_text(lua, state, 1, "the name of a pass", name)) return kFailed;
    if (state.rows_are_held()) return fail(state, "passes are removed outside of passes and loops; disable it");
    const auto has_name = [&](const PassEntry* one) { return one->name == name; };
    const auto at = std::ranges::find_if(state.script->passes, has_name);
    if (at == state.script->passes.end()) return fail(state, "the script has no pass \"", name, "\"");
    suspend_pass(**at);
    destroy_pass(*at);
    return 0;
}

int enable(lua_State* lua, State& state) {
    std::string_view name;
    if (!read_text(lua, state, 1, "the name of a pass", name)) return kFailed;
    const bool is_on = lua_gettop(lua) < 2 || lua_toboolean(lua, 2) != 0;
    return done(state, state.world.schedule().enable(name, is_on));
}

constexpr Function kPassFunctions[] = {{"pass", run_body<in_world<pass>>},
                                       {"remove_pass", run_body<in_world<remove_pass>>},
                                       {"enable", run_body<in_world<enable>>}};

}  // namespace

std::span<const Function> pass_functions() { return kPassFunctions; }

// --- component types ---------------------------------------------------------------------------------------------

namespace {

/// Reads {"angle", "float", default = 1, unit = "rad"} at the top.
Status read_field_definition(lua_State* lua, FieldDefinition& field) {
    if (lua_type(lua, -1) != LUA_TTABLE) return Status::error("a field is {\"name\", \"type\"}");
    const int table = lua_gettop(lua);
    static constexpr std::string_view kKeys[] = {"default", "length", "bytes", "unit", "split"};
    std::string type;
    for (int i = 1; i <= 2; ++i) {
        lua_rawgeti(lua, table, i);
        if (lua_type(lua, -1) == LUA_TSTRING) (i == 1 ? field.name : type) = lua_tostring(lua, -1);
        lua_pop(lua, 1);
    }
    if (field.name.empty() || type.empty()) return Status::error("a field is {\"name\", \"type\"}");
    field.type = field_type_from_name(type);
    const bool is_known = field.type != FieldType(0) && field.type != FieldType::kEnum &&
                          field.type != FieldType::kBlobArray && field.type != FieldType::kOpaque;
    if (!is_known)
        return Status::error(concat("field \"", field.name, "\": there is no type \"", type,
                                    "\"; write float, vec3, int32, bool, entity, string_id or another plain type"));
    double length = 0, bytes = 0;
    Status status = check_keys(lua, table, kKeys, 2);
    if (!status) return Status::error(concat("field \"", field.name, "\": ", status.message()));
    status = read_field(lua, table, "length", length);
    if (status) status = read_field(lua, table, "bytes", bytes);
    if (status) status = read_field(lua, table, "unit", field.unit);
    if (status) status = read_field(lua, table, "split", field.split);
    if (!status) return status;
    if (!(length >= 0 && length <= 65536) || !(bytes >= 0 && bytes <= 65536))
        return Status::error(concat("field \"", field.name, "\": \"length\" and \"bytes\" are from 0 to 65536"));
    field.array_length = static_cast<std::uint32_t>(length);
    if (field.type == FieldType::kFixedString) field.value_bytes = static_cast<std::uint32_t>(bytes);
    return {};
}

Status read_default(lua_State* lua, State& state, FieldDefinition& field) {
    Status status;
    if (push_field(lua, -1, "default") != LUA_TNIL) {
        ValueType type{.type = field.type, .array_length = field.array_length};
        type.value_bytes = field.type == FieldType::kFixedString ? field.value_bytes : field_type_bytes(field.type);
        field.default_value.resize(type.num_bytes());
        status = read_value(lua, state, lua_gettop(lua), 1, type, field.name, field.default_value.data());
    }
    lua_pop(lua, 1);
    return status;
}

Status read_fields(lua_State* lua, State& state, int table, ComponentDefinition& definition) {
    lua_getfield(lua, table, "fields");
    Status status;
    if (lua_type(lua, -1) == LUA_TTABLE) {
        const std::size_t count = std::min<std::size_t>(raw_length(lua, -1), 65);
        for (std::size_t i = 1; i <= count && status; ++i) {
            lua_rawgeti(lua, -1, static_cast<int>(i));
            definition.fields.emplace_back();
            status = read_field_definition(lua, definition.fields.back());
            if (status) status = read_default(lua, state, definition.fields.back());
            lua_pop(lua, 1);
        }
    } else if (lua_type(lua, -1) != LUA_TNIL) {
        status = Status::error("\"fields\" is a list of {\"name\", \"type\"}");
    }
    lua_pop(lua, 1);
    return status;
}

/// Errors: a key has another name now.
Status check_old_words(lua_State* lua, int table) {
    constexpr std::pair<const char*, const char*> kRenamed[] = {
        {"single", "singleton"},   // the old word first
        {"toggled", "enableable"}  // the old word first
    };
    for (const auto& [old, word] : kRenamed) {
        lua_getfield(lua, table, old);
        const bool is_there = lua_type(lua, -1) != LUA_TNIL;
        lua_pop(lua, 1);
        if (is_there) return Status::error(concat("the key \"", old, "\" is called \"", word, "\" now"));
    }
    return {};
}

}  // namespace

Result<Schema> read_schema(lua_State* lua, State& state, int table, std::string_view what) {
    ComponentDefinition definition;
    double version = 1;
    lua_pushnil(lua);
    lua_setmetatable(lua, table);
    Status status = read_field(lua, table, "name", definition.name);
    if (status && definition.name.empty()) status = Status::error("it has no \"name\"");
    const bool is_component = what == "component";
    static constexpr std::string_view kKeys[] = {"name", "fields",    "version", "whole", "enableable",
                                                 "many", "singleton", "compile", "keys",  "spawn_order"};
    if (status && is_component) status = check_old_words(lua, table);
    if (status) status = check_keys(lua, table, std::span(kKeys).first(is_component ? std::size(kKeys) : 2));
    if (status) status = read_field(lua, table, "version", version);
    if (status && !(version >= 1 && version <= 1e9)) status = Status::error("\"version\" is from 1 to 1e9");
    if (status) status = read_field(lua, table, "whole", definition.whole);
    if (status) status = read_field(lua, table, "enableable", definition.enableable);
    if (status) status = read_field(lua, table, "many", definition.many);
    if (status) status = read_field(lua, table, "singleton", definition.singleton);
    definition.version = static_cast<std::uint32_t>(version);
    if (status) status = read_fields(lua, state, table, definition);
    if (!status) return Status::error(concat(what, " \"", definition.name, "\": ", status.message()));
    return Schema::make(std::move(definition));
}

namespace {

/// Whether a script has what would not fit other fields.
const Script* find_user(const State& state, const Schema& component, const Store& store) {
    for (const Script* script : state.scripts) {
        if (script != state.script && script->name == state.script->name) continue;  // the one that this one replaces
        for (const Query* query : script->queries)
            for (const TextComponent& named : query->query->components())
                if (named.schema->id() == component.id()) return script;
        for (const PassEntry* pass : script->passes)
            for (const Access& access : pass->accesses)
                if (access.store == &store) return script;
        for (const ObserverEntry& observer : script->observers)
            if (ComponentId(std::string_view(observer.name).substr(0, observer.name.find('.'))) == component.id())
                return script;
    }
    return nullptr;
}

Status change_fields(State& state, const Schema& schema, const Store& store) {
    if (const Script* const user = find_user(state, schema, store))
        return Status::error(concat("component \"", schema.name(),
                                    "\" is declared with other fields than it has, and script \"", user->name,
                                    "\" has queries, passes or observers that name it; ",
                                    user == state.script ? "declare it before them" : "unload that one before"));
    const Result<SchemaChange*> change = begin_schema_change(state.world, schema);
    if (!change) return change.status();
    if (state.script->is_loading)
        state.script->changes.push_back(*change);
    else
        end_schema_change(*change, true);
    return {};
}

Status make_table(State& state, const Schema& schema) {
    const Result<Store*> keeper = state.world.directory().require(schema);
    if (!keeper || *keeper != nullptr) return keeper.status();
    const Result<ComponentManager*> made = state.world.manager(schema);
    if (!made) return made.status();
    if (state.script->is_loading) state.script->made_stores.push_back(*made);
    return {};
}

int component(lua_State* lua, State& state) {
    if (lua_type(lua, 1) != LUA_TTABLE) return fail(state, "argument 1 is a table that describes a component type");
    if (state.rows_are_held()) return fail(state, "component types are declared outside of passes and loops");
    if (!has_room(state, state.script->types.size(), "component types")) return kFailed;
    const Result<Schema> schema = read_schema(lua, state, 1, "component");
    if (!schema) return fail(state, schema.message());
    state.forget_paths();
    KeptComponent kept = state.world.directory().find_kept(schema->id());
    Status status;
    if (!kept) status = make_table(state, *schema);
    if (status) kept = state.world.directory().find_kept(schema->id());
    if (status && !is_same_declaration(*kept.schema, *schema)) status = change_fields(state, *schema, *kept.store);
    return done(state, status ? note_component(lua, state, 1, *schema) : status);
}

constexpr Function kComponents[] = {{"component", run_body<in_world<component>>}};

}  // namespace

std::span<const Function> component_functions() { return kComponents; }

}  // namespace shoal::lua
