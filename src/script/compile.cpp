// Calls scripts' compile functions. They receive the source of a component as a table, and their result is stored in
// fields.

#include "script/compile.h"

#include "shoal/document/detail/document.h"
#include "shoal/document/detail/traceback.h"
#include "shoal/resource/detail/registry.h"
#include "shoal/table/detail/field_part.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace shoal::lua {

/// A component being compiled.
struct Compilation {
    const CompileInput& input;
    CompileOutput& output;
    SourcePosition place{};  // the position of the value that the function has refused
    std::string refusal;     // the reason
};

DeclaredType::~DeclaredType() { luaL_unref(script.state().lua, LUA_REGISTRYINDEX, compile); }

Status note_component(lua_State* lua, State& state, int table, const Schema& schema) {
    lua_getfield(lua, table, "compile");
    const int given = lua_type(lua, -1);
    const int function = given == LUA_TFUNCTION ? luaL_ref(lua, LUA_REGISTRYINDEX) : (lua_pop(lua, 1), LUA_NOREF);
    double order = 0;
    Array<std::string> keys{Owner("scripts")};
    Status status = read_texts(lua, table, "keys", keys);
    if (status) status = read_field(lua, table, "spawn_order", order);
    if (status && given != LUA_TNIL && given != LUA_TFUNCTION)
        status = Status::error("\"compile\" is a function of what the source says and of how to refuse it");
    if (status && given == LUA_TNIL && !keys.empty()) status = Status::error("\"keys\" needs a function \"compile\"");
    if (status && !(order >= -1e9 && order <= 1e9)) status = Status::error("\"spawn_order\" is from -1e9 to 1e9");
    if (!status) {
        luaL_unref(lua, LUA_REGISTRYINDEX, function);
        return Status::error(concat("component \"", schema.name(), "\": ", status.message()));
    }
    for (DeclaredType*& known : state.script->types)
        if (known->schema.id() == schema.id()) {
            destroy_owned("scripts", std::exchange(known, state.script->types.back()));
            state.script->types.pop_back();
            break;
        }
    auto* const type = make_owned<DeclaredType>("scripts", *state.script, schema);
    type->compile = function;
    type->spawn_order = static_cast<std::int32_t>(order);
    type->keys = std::move(keys);
    type->key_views.assign(type->keys.begin(), type->keys.end());
    state.script->types.push_back(type);
    return {};
}

// --- arguments ---------------------------------------------------------------------------------------------------

namespace {

/// The number of stack slots that push_node() needs.
int num_slots(Node node) {
    int most = 0;
    if (node.is_list() || node.is_mapping())
        for (const Node child : node) most = std::max(most, num_slots(child));
    return most + 3;
}

void push_node(lua_State* lua, Node node) {
    switch (node.kind()) {
        case NodeKind::kNull:
            return lua_pushnil(lua);
        case NodeKind::kBool:
            return lua_pushboolean(lua, node.as_bool() ? 1 : 0);
        case NodeKind::kInteger:
        case NodeKind::kNumber:
            if (const std::int64_t* const whole = node.is_integer() ? node.as_int64() : nullptr)
                return push_integer(lua, *whole);
            if (const std::uint64_t* const whole = node.is_integer() ? node.as_uint64() : nullptr)
                return push_unsigned(lua, *whole);
            return lua_pushnumber(lua, node.as_double());
        case NodeKind::kString:
            return push_text(lua, node.as_string());
        default:
            break;
    }
    lua_createtable(lua, node.is_list() ? static_cast<int>(node.size()) : 0, 0);
    int i = 0;
    for (const Node child : node) {
        if (node.is_list())
            push_integer(lua, ++i);
        else
            push_text(lua, child.key());
        push_node(lua, child);
        lua_rawset(lua, -3);
    }
}

/// The second argument of a compile function. refuse(message, key, key ...) raises an error at the position of the
/// value with these keys.
int refuse(lua_State* lua, State& state) {
    Compilation* const now = state.compilation;
    if (now == nullptr) return fail(state, "a compile function has ended; refuse what it was given only while it runs");
    std::string_view message;
    if (!read_text(lua, state, 1, "what is wrong", message)) return kFailed;
    Node at = now->input.node;
    for (int i = 2; i <= lua_gettop(lua); ++i) {
        std::int64_t number = 0;
        const bool is_number = lua_type(lua, i) == LUA_TNUMBER;
        Node child;
        if (is_number && at.is_list() && read_integer(lua, i, number) && number >= 1 && number <= at.size())
            child = at[static_cast<std::uint32_t>(number - 1)];
        else if (lua_type(lua, i) == LUA_TSTRING)
            child = at.find(text_at(lua, i));
        if (!child) break;  // if the key is missing, the enclosing value is reported
        at = child;
    }
    now->place = at.position();
    now->refusal = message;
    return fail(state, message);
}

// --- results -----------------------------------------------------------------------------------------------------

Status take_entities(lua_State* lua, const Field& field, CompileOutput& output) {
    const int value = lua_gettop(lua);
    const bool is_list = field.num_values() > 1 || lua_type(lua, value) == LUA_TTABLE;
    for (std::uint32_t i = 0; i < field.num_values(); ++i) {
        if (is_list)
            lua_rawgeti(lua, value, static_cast<int>(i) + 1);
        else
            lua_pushvalue(lua, value);
        const int type = lua_type(lua, -1);
        const std::string reference(type == LUA_TSTRING ? text_at(lua, -1) : std::string_view());
        lua_pop(lua, 1);
        if (type == LUA_TNIL) continue;
        if (type != LUA_TSTRING)
            return Status::error(
                concat("\"", field.name, "\" is an entity of the source: return a text that refers to it"));
        const std::uint32_t entity = output.find_entity(reference);
        if (entity == kNoBlobEntity) return Status::error(concat("there is no entity ", quoted(reference)));
        output.store_entity(field.struct_offset + i * static_cast<std::uint32_t>(sizeof(Entity)), entity);
    }
    return {};
}

/// Stores in the blob the string, or the list of strings, on top of the stack.
Status intern_texts(lua_State* lua, CompileOutput& output) {
    if (lua_type(lua, -1) == LUA_TSTRING) return output.intern(text_at(lua, -1)).status();
    Status status;
    for (std::size_t i = 1; lua_type(lua, -1) == LUA_TTABLE && status && i <= raw_length(lua, -1); ++i) {
        lua_rawgeti(lua, -1, static_cast<int>(i));
        if (lua_type(lua, -1) == LUA_TSTRING) status = intern_texts(lua, output);
        lua_pop(lua, 1);
    }
    return status;
}

/// Stores the value on top of the stack in a field.
Status take_field(lua_State* lua, State& state, const Schema& schema, std::string_view name, CompileOutput& output) {
    const int index = schema.find_field(name);
    if (index < 0) return find_field_part(schema, name).status();
    const Field& field = schema.fields()[static_cast<std::size_t>(index)];
    if (field.type == FieldType::kEntity) return take_entities(lua, field, output);
    if (field.type == FieldType::kBlobArray || field.type == FieldType::kOpaque)
        return Status::error(concat("\"", name, "\" cannot be set by a script"));
    std::byte* const value = output.image().data() + field.struct_offset;
    if (Status status = read_value(lua, state, lua_gettop(lua), 1, field_part(schema, field).type, name, value);
        !status)
        return status;
    return field.type == FieldType::kStringId ? intern_texts(lua, output) : Status();
}

/// Stores the fields of the table on top of the stack. Accepts nil.
Status take_fields(lua_State* lua, State& state, const Schema& schema, CompileOutput& output) {
    if (lua_type(lua, -1) == LUA_TNIL) return {};
    if (lua_type(lua, -1) != LUA_TTABLE)
        return Status::error(concat("the compile function of \"", schema.name(), "\" returned ", type_of(lua, -1),
                                    "; it returns a table of fields, or nothing"));
    return each_pair(lua, lua_gettop(lua), [&] {
        return lua_type(lua, -2) == LUA_TSTRING
                   ? take_field(lua, state, schema, text_at(lua, -2), output)
                   : Status::error("a compile function returns fields by their names: {field = value}");
    });
}

/// Whether the table on top of the stack has a value for a field.
bool returns(lua_State* lua, std::string_view field) {
    if (lua_type(lua, -1) != LUA_TTABLE) return false;
    const bool has = push_field(lua, -1, field) != LUA_TNIL;
    lua_pop(lua, 1);
    return has;
}

/// Compiles the fields that the function has not returned. Returns false if an error was reported.
bool take_rest(lua_State* lua, const DeclaredType& type, const CompileInput& input, CompileOutput& output) {
    bool is_good = true;
    for (const Node child : input.node) {
        if (!output.is_field(child) || returns(lua, child.key())) continue;
        const auto is_key = [&](const std::string& key) { return key == child.key(); };
        const bool is_of_function = std::ranges::any_of(type.keys, is_key) && type.schema.find_field(child.key()) < 0;
        if (!is_of_function && !output.read_field(child)) is_good = false;
    }
    return is_good;
}

/// Reports an error that the function raised, at the position that it gave.
bool report(const Compilation& now, const Status& failure) {
    const bool is_refused = !now.refusal.empty() && failure.message().find(now.refusal) != std::string_view::npos;
    add_with_traceback(now.input.diagnostics, is_refused ? now.place : now.input.node.position(), failure.message());
    return false;
}

bool compile_by_script(void* context, const CompileInput& input, CompileOutput& output) {
    const DeclaredType& type = *static_cast<const DeclaredType*>(context);
    State& state = type.script.state();
    const std::lock_guard lock(state.compile_mutex);
    const CallScope scope(state, &type.script);
    Compilation now{input, output, {}, {}};
    Compilation* const outer = std::exchange(state.compilation, &now);
    const std::size_t num_errors = input.diagnostics.num_errors();
    lua_State* const lua = state.running;
    const int top = lua_gettop(lua);
    if (!reserve_stack(lua, kBodySlots + num_slots(input.node))) {
        state.compilation = outer;
        return report(now, Status::error("the values are nested too deeply for a script"));
    }
    lua_rawgeti(lua, LUA_REGISTRYINDEX, type.compile);
    lua_newtable(lua);
    for (const Node child : input.node) {
        if (!output.is_field(child)) continue;
        push_text(lua, child.key());
        push_node(lua, child);
        lua_rawset(lua, -3);
    }
    lua_pushcfunction(lua, run_body<refuse>);
    Status status = state.call(lua, 2, 1);
    const bool is_good = status && take_rest(lua, type, input, output);
    if (is_good) status = take_fields(lua, state, type.schema, output);
    lua_settop(lua, top);
    state.compilation = outer;
    if (!status) return report(now, status);
    return is_good && input.diagnostics.num_errors() == num_errors;
}

}  // namespace

Status DeclaredType::add_to(ComponentRegistry& registry) const {
    const RegisteredComponent* const known = registry.find(schema.id());
    if (compile == LUA_NOREF && known != nullptr && known->schema != nullptr) return {};  // it may have other fields
    if (Status status = registry.add(schema); !status) return status;
    if (compile == LUA_NOREF && spawn_order == 0) return {};
    return registry.set_compile_function(schema.name(), compile == LUA_NOREF ? nullptr : compile_by_script,
                                         const_cast<DeclaredType*>(this), spawn_order,  // NOLINT: it is only read
                                         CompileScope::kComponent, key_views);
}

}  // namespace shoal::lua
