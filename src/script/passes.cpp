// The passes and component types that scripts declare.

#include "script/compile.h"

#include <algorithm>
#include <utility>

namespace shoal::lua {

// --- running -----------------------------------------------------------------------------------------------------

namespace {

/// Fills in the table that pass functions receive.
void fill_frame(const State& state, const PassContext& context) {
    lua_State* const lua = state.lua;
    lua_rawgeti(lua, LUA_REGISTRYINDEX, state.frame);
    lua_pushliteral(lua, "dt");
    lua_pushnumber(lua, context.dt);
    lua_rawset(lua, -3);  // raw, because scripts may set the table's metatable
    lua_pushliteral(lua, "number");
    push_integer(lua, static_cast<std::int64_t>(context.frame));
    lua_rawset(lua, -3);
    lua_pop(lua, 1);
}

Status run_once(State& state, const PassEntry& pass) {
    lua_rawgeti(state.lua, LUA_REGISTRYINDEX, pass.function);
    lua_rawgeti(state.lua, LUA_REGISTRYINDEX, state.frame);
    return state.call(state.lua, 1, 0);
}

}  // namespace

/// Reports errors. The frame continues after an error.
void PassEntry::run(const PassContext& context, Executor&) {
    State& state = state_of(guest);
    const CallScope scope(state, static_cast<Script*>(&guest));
    const Random outside = state.random;
    state.pass = this;
    state.random = context.random_for(ComponentId(name).hash);
    fill_frame(state, context);
    Status status;
    if (query == nullptr) {
        status = run_once(state, *this);
    } else {
        lua_rawgeti(state.lua, LUA_REGISTRYINDEX, function);
        status = run_query(state.lua, state, static_cast<const Query&>(*query), lua_gettop(state.lua), state.frame);
        lua_pop(state.lua, 1);
    }
    state.pass = nullptr;
    state.random = outside;
    if (status)
        last_error.clear();
    else
        state.report(concat("pass \"", name, "\" of script \"", guest.name, "\""), status, &last_error);
}

void PassEntry::destroy() {
    luaL_unref(state_of(guest).lua, LUA_REGISTRYINDEX, function);
    destroy_owned("scripts", this);
}

// --- reading -----------------------------------------------------------------------------------------------------

namespace {

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
    if (Status status = read_texts(lua, 1, "reads", pass.reads); !status) return status;
    if (Status status = read_texts(lua, 1, "writes", pass.writes); !status) return status;
    if (Status status = read_texts(lua, 1, "reads_from", pass.reads_from); !status) return status;
    if (Status status = read_texts(lua, 1, "writes_to", pass.writes_to); !status) return status;
    return read_times(lua, pass);
}

Status read_query_of(lua_State* lua, PassEntry& pass) {
    std::string text;
    Array<std::string> columns{Owner("scripts")};
    if (Status status = read_field(lua, 1, "query", text); !status) return status;
    if (Status status = read_texts(lua, 1, "columns", columns); !status) return status;
    if (text.empty())
        return columns.empty() ? Status() : Status::error("\"columns\" needs a \"query\" that names their components");
    auto* const query = make_owned<Query>("scripts", pass.guest, text, std::move(columns));
    Status status = pass.guest.add(*query);
    if (status) pass.query = query;
    return status;
}

/// Reads the declarations of a pass, except its query and columns.
Status read_pass(lua_State* lua, PassEntry& pass) {
    static constexpr std::string_view kKeys[] = {"name",       "run",       "query",        "columns",
                                                 "reads",      "writes",    "after",        "before",
                                                 "reads_from", "writes_to", "every_frames", "every_seconds"};
    if (Status status = check_keys(lua, 1, kKeys); !status) return status;
    if (Status status = read_lists(lua, pass); !status) return status;
    lua_getfield(lua, 1, "run");
    const bool has_function = lua_type(lua, -1) == LUA_TFUNCTION;
    if (has_function)
        pass.function = luaL_ref(lua, LUA_REGISTRYINDEX);
    else
        lua_pop(lua, 1);
    if (!has_function) return Status::error("\"run\" is missing: the function that is called for each batch");
    return read_query_of(lua, pass);
}

int pass(lua_State* lua, State& state) {
    if (lua_type(lua, 1) != LUA_TTABLE) return fail(state, "argument 1 is a table that describes a pass");
    if (state.rows_are_held()) return fail(state, "passes are added outside of passes and loops");
    if (!has_room(state, state.script->passes.size(), "passes")) return kFailed;
    lua_settop(lua, 1);
    lua_pushnil(lua);
    lua_setmetatable(lua, 1);  // so that reading it does not call metamethods
    std::string name;
    Status status = read_field(lua, 1, "name", name);
    if (status && name.empty()) status = Status::error("a pass has no \"name\"");
    if (!status) return fail(state, "pass \"", name, "\": ", status.message());
    auto* const made = make_owned<PassEntry>("scripts", *state.script, name);
    status = read_pass(lua, *made);
    if (status)
        status = state.script->add(*made);
    else
        made->destroy();
    return status ? 0 : fail(state, "pass \"", name, "\": ", status.message());
}

int remove_pass(lua_State* lua, State& state) {
    std::string_view name;
    if (!read_text(lua, state, 1, "the name of a pass", name)) return kFailed;
    if (state.rows_are_held()) return fail(state, "passes are removed outside of passes and loops; disable it");
    GuestPass* const pass = state.script->find_pass(name);
    if (pass == nullptr) return fail(state, "the script has no pass \"", name, "\"");
    static_cast<void>(state.script->remove(*pass));  // the program may have removed it
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

/// Reads {"angle", "float", default = 1, unit = "rad"} from the top of the stack.
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

/// Errors: the table uses the old name of a key.
Status check_old_words(lua_State* lua, int table) {
    constexpr std::pair<const char*, const char*> kRenamed[] = {
        {"single", "singleton"},   // the old name first
        {"toggled", "enableable"}  // the old name first
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

int component(lua_State* lua, State& state) {
    if (lua_type(lua, 1) != LUA_TTABLE) return fail(state, "argument 1 is a table that describes a component type");
    if (state.rows_are_held()) return fail(state, "component types are declared outside of passes and loops");
    if (!has_room(state, state.script->types.size(), "component types")) return kFailed;
    const Result<Schema> schema = read_schema(lua, state, 1, "component");
    if (!schema) return fail(state, schema.message());
    state.forget_paths();
    const Status status = state.script->declare(*schema);
    return done(state, status ? note_component(lua, state, 1, *schema) : status);
}

constexpr Function kComponents[] = {{"component", run_body<in_world<component>>}};

}  // namespace

std::span<const Function> component_functions() { return kComponents; }

}  // namespace shoal::lua
