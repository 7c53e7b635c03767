// Entities and their components. In passes and loops, rows must not move, so changes become commands.

#include "script/state.h"

#include "shoal/base/log.h"
#include "shoal/resource/blob.h"
#include "shoal/world/copy.h"

#include <algorithm>
#include <tuple>
#include <vector>

namespace shoal::lua {

// --- component types ---------------------------------------------------------------------------------------------

Result<KeptComponent> State::find_kept(std::string_view component) {
    if (!rows_are_held() && !world.directory().find_kept(ComponentId(component)))
        static_cast<void>(world.find_field(concat(component, ".")));  // creates the store if the type is built in
    return GuestHost::find_kept(component);
}

Status check_access(const State& state, const Store& store, const Schema& schema, bool writes) {
    if (state.pass == nullptr || state.pass->is_everything) return {};
    for (const Access& access : state.pass->accesses) {
        if (access.store != &store || (writes && !access.writes)) continue;
        if (access.component == ComponentId() || (access.component == schema.id() && access.field == kAllFields))
            return {};
    }
    return Status::error(concat("pass \"", state.pass->name, "\" does not declare that it ",
                                writes ? "writes" : "reads", " \"", schema.name(), "\"; add ",
                                writes ? "writes" : "reads", " = {\"", schema.name(), "\"} to it"));
}

namespace {

/// The commands of the chunk or of the running call; nullptr if changes are made immediately.
Commands* commands_of(State& state) {
    if (!state.rows_are_held()) return nullptr;
    return state.commands != nullptr ? state.commands : &state.world.commands();
}

bool read_component(lua_State* lua, State& state, int index, KeptComponent& kept) {
    std::string_view name;
    if (!read_text(lua, state, index, "the name of a component type", name)) return false;
    const Result<KeptComponent> found = state.find_kept(name);
    if (!found) return fail(state, found.message()), false;
    kept = *found;
    return true;
}

// --- entities ----------------------------------------------------------------------------------------------------

int alive(lua_State* lua) {  // a short function, because it is called often; it does not raise errors
    const bool lives = is_entity(lua, 1) && state_of(lua).world.entities().alive(entity_at(lua, 1));
    lua_pushboolean(lua, lives ? 1 : 0);
    return 1;
}

Status add_component(State& state, Entity entity, const KeptComponent& kept, const std::byte* image) {
    if (kept.schema->has_opaque())
        return Status::error(
            concat("\"", kept.schema->name(), "\" has fields of C++ types, which scripts do not make"));
    if (Commands* const commands = commands_of(state)) return commands->add(entity, *kept.schema, image), Status();
    return kept.store->add_values(*kept.schema, {&entity, 1}, {.images = image}).status();
}

/// Adds a component with values from the table at `table`, or with defaults if it is 0.
Status add_from_table(lua_State* lua, State& state, Entity entity, const KeptComponent& kept, int table) {
    const std::span<const std::byte> defaults = kept.schema->default_image();
    Array<std::byte> image(defaults.begin(), defaults.end(), Owner("scripts"));
    if (table != 0)
        if (Status status = read_image(lua, state, table, *kept.schema, image.data()); !status) return status;
    return add_component(state, entity, kept, image.data());
}

/// Adds the components in a table such as {wheel = {angle = 1}, body = {}}.
Status add_all(lua_State* lua, State& state, Entity entity, int table) {
    // All components are read before the first one is added, because a Lua store may change the table.
    struct Given {
        KeptComponent kept;
        Array<std::byte> image{Owner("scripts")};
    };
    std::vector<Given> all;
    Status read = each_pair(lua, table, [&]() -> Status {
        if (lua_type(lua, -2) != LUA_TSTRING || lua_type(lua, -1) != LUA_TTABLE)
            return Status::error("components are given as {name = {field = value}}");
        const Result<KeptComponent> kept = state.find_kept(text_at(lua, -2));
        if (!kept) return kept.status();
        const std::span<const std::byte> defaults = kept->schema->default_image();
        all.push_back({*kept, Array<std::byte>(defaults.begin(), defaults.end(), Owner("scripts"))});
        return read_image(lua, state, lua_gettop(lua), *kept->schema, all.back().image.data());
    });
    if (!read) return read;
    for (const Given& given : all)
        if (Status status = add_component(state, entity, given.kept, given.image.data()); !status) return status;
    return {};
}

int create(lua_State* lua, State& state) {
    if (lua_type(lua, 1) > LUA_TNIL && lua_type(lua, 1) != LUA_TTABLE)
        return fail(state, "argument 1 is a table of components, not ", type_of(lua, 1));
    Commands* const commands = commands_of(state);
    Entity entity;
    if (commands != nullptr) {
        entity = commands->create();
    } else {
        if (const Status status = state.world.entities().create({&entity, 1}); !status)
            return fail(state, status.message());
    }
    const Status status = lua_type(lua, 1) == LUA_TTABLE ? add_all(lua, state, entity, 1) : Status();
    if (!status) {
        if (commands != nullptr)
            commands->destroy(entity);
        else
            state.world.entities().destroy(entity);
        return fail(state, status.message());
    }
    if (commands == nullptr) state.script->note_made({&entity, 1});
    push_entity(lua, entity);
    return 1;
}

int destroy(lua_State* lua, State& state) {
    Entity entity;
    if (!read_entity(lua, state, 1, entity)) return kFailed;
    bool has_lived = true;
    if (Commands* const commands = commands_of(state))
        commands->destroy(entity);
    else
        has_lived = state.world.entities().destroy(entity);
    return lua_pushboolean(lua, has_lived ? 1 : 0), 1;
}

template <TextChange kChange>
int change_text(lua_State* lua, State& state) {
    Entity entity;
    std::string_view text;
    if (!read_living(lua, state, 1, entity) || !read_text(lua, state, 2, "a name or a tag", text)) return kFailed;
    state.link.steps_left -= static_cast<double>(text.size()) / 16;
    Commands* const held = commands_of(state);
    Commands& commands = held != nullptr ? *held : state.world.commands();
    if constexpr (kChange == TextChange::kName)
        commands.name(entity, text);
    else if constexpr (kChange == TextChange::kTag)
        commands.tag(entity, text);
    else
        commands.untag(entity, text);
    return 0;
}

// --- components --------------------------------------------------------------------------------------------------

int has(lua_State* lua, State& state) {
    Entity entity;
    KeptComponent kept;
    if (!read_entity(lua, state, 1, entity) || !read_component(lua, state, 2, kept)) return kFailed;
    if (const Status status = check_access(state, *kept.store, *kept.schema, false); !status)
        return fail(state, status.message());
    const bool lives = state.world.entities().alive(entity);
    const ComponentRow row = lives ? kept.store->find_row(kept.schema->id(), entity, 0) : ComponentRow{};
    lua_pushboolean(lua, row && row.is_enabled ? 1 : 0);
    return 1;
}

int add(lua_State* lua, State& state) {
    Entity entity;
    KeptComponent kept;
    if (!read_living(lua, state, 1, entity) || !read_component(lua, state, 2, kept)) return kFailed;
    const int type = lua_type(lua, 3);
    if (type > LUA_TNIL && type != LUA_TTABLE)
        return fail(state, "argument 3 is a table of fields, not ", type_of(lua, 3));
    return done(state, add_from_table(lua, state, entity, kept, type == LUA_TTABLE ? 3 : 0));
}

int remove(lua_State* lua, State& state) {
    Entity entity;
    KeptComponent kept;
    if (!read_living(lua, state, 1, entity) || !read_component(lua, state, 2, kept)) return kFailed;
    if (Commands* const commands = commands_of(state)) return commands->remove(entity, *kept.schema), 0;
    return done(state, kept.store->remove_values(*kept.schema, {&entity, 1}).status());
}

/// Returns a path, which stays cached during a call.
const FieldPath* find_path(State& state, std::string_view name) {
    const std::uint64_t hash = ComponentId(name).hash;
    if (FieldPath* const* known = state.paths.find(hash); known != nullptr && (*known)->name() == name) return *known;
    Result<FieldPath> found = state.world.find_field(name);
    if (!found) return fail(state, found.message()), nullptr;
    FieldPath* const kept = make_owned<FieldPath>("scripts", std::move(*found));
    if (FieldPath* const* other = state.paths.find(hash)) destroy_owned("scripts", *other);
    return state.paths.set(hash, kept);
}

/// Whether a pass may use a path.
bool check_path(State& state, const FieldPath& path, bool writes) {
    if (state.pass == nullptr || state.pass->is_everything) return true;
    const KeptComponent kept = state.world.directory().find_kept(path.component());
    const Status status = kept ? check_access(state, path.store(), *kept.schema, writes) : Status();
    return status ? true : (fail(state, status.message()), false);
}

/// Pushes a table with all fields of a component.
int get_component(lua_State* lua, State& state, Entity entity, std::string_view name) {
    const Result<KeptComponent> kept = state.find_kept(name);
    if (!kept) return fail(state, kept.message());
    Array<std::byte> image(kept->schema->struct_bytes(), std::byte(0), Owner("scripts"));
    Status status = check_access(state, *kept->store, *kept->schema, false);
    if (status) status = read_component(state.world, *kept, entity, image.data());
    if (!status) return fail(state, status.message());
    push_image(lua, state, *kept->schema, image.data());
    return 1;
}

int get(lua_State* lua, State& state) {
    Entity entity;
    std::string_view name;
    if (!read_entity(lua, state, 1, entity) || !read_text(lua, state, 2, "the path of a field", name)) return kFailed;
    if (name.find('.') == std::string_view::npos && name.find('[') == std::string_view::npos)
        return read_living(lua, state, 1, entity) ? get_component(lua, state, entity, name) : kFailed;
    const FieldPath* const path = find_path(state, name);
    if (path == nullptr || !check_path(state, *path, false)) return kFailed;
    const Result<AnyValue> value = path->read(entity);
    if (!value) return fail(state, value.message());
    return push_value(lua, state, value->type(), value->bytes().data(), true);
}

int set(lua_State* lua, State& state) {
    Entity entity;
    std::string_view name;
    if (!read_entity(lua, state, 1, entity) || !read_text(lua, state, 2, "the path of a field", name)) return kFailed;
    const FieldPath* const path = find_path(state, name);
    if (path == nullptr || !check_path(state, *path, true)) return kFailed;
    const FieldType type = path->type().type;
    if (type == FieldType::kOpaque || type == FieldType::kBlobArray)
        return fail(state, "\"", name, "\" cannot be set by a script");
    if (lua_type(lua, 3) == LUA_TNONE) return fail(state, "argument 3 is the value of \"", name, "\"; it is missing");
    AnyValue value(path->type());
    const int num_values = lua_gettop(lua) - 2;
    Status status = read_value(lua, state, 3, num_values, path->type(), name, value.bytes().data());
    return done(state, status ? path->write(entity, value) : status);
}

constexpr Function kOfEntities[] = {{"alive", alive},
                                    {"create", run_body<in_world<create>>},
                                    {"destroy", run_body<in_world<destroy>>},
                                    {"name", run_body<in_world<change_text<TextChange::kName>>>},
                                    {"tag", run_body<in_world<change_text<TextChange::kTag>>>},
                                    {"untag", run_body<in_world<change_text<TextChange::kUntag>>>}};
constexpr Function kOfRows[] = {{"has", run_body<in_world<has>>},
                                {"add", run_body<in_world<add>>},
                                {"remove", run_body<in_world<remove>>},
                                {"get", run_body<in_world<get>>},
                                {"set", run_body<in_world<set>>}};

}  // namespace

std::span<const Function> entity_functions() { return kOfEntities; }
std::span<const Function> row_functions() { return kOfRows; }

// --- the rest ----------------------------------------------------------------------------------------------------

namespace {

/// Copies an entity with its descendants.
int copy(lua_State* lua, State& state) {
    Entity entity;
    if (!read_living(lua, state, 1, entity)) return kFailed;
    if (Commands* const commands = commands_of(state)) return push_entity(lua, commands->copy(entity)), 1;
    const Result<Spawned> copied = copy(state.world, entity);
    if (!copied) return fail(state, copied.message());
    state.script->note_made(copied->entities());
    push_entity(lua, copied->entity(0));
    return 1;
}

/// Whether a string is a source, not a blob. A blob has a zero byte near its start.
bool is_source(std::string_view text) { return text.substr(0, 64).find('\0') == std::string_view::npos; }

/// The overrides in the second argument of spawn().
struct GivenOverrides {
    lua_State* lua;
    State& state;
};

/// Reads a field's value from the top of the stack.
Result<AnyValue> read_override(GivenOverrides& given, std::string_view name) {
    const Result<FieldPath> path = given.state.world.find_field(name);
    if (!path) return path.status();
    if (path->type().type == FieldType::kBlobArray)
        return Status::error(concat("\"", name, "\" cannot be set by a script"));
    AnyValue value(path->type());
    const int top = lua_gettop(given.lua);
    if (Status status = read_value(given.lua, given.state, top, 1, path->type(), name, value.bytes().data()); !status)
        return status;
    return value;
}

/// Reads {["path.of.field"] = value} from the top of the stack, for an entity in a resource.
Status read_overrides(GivenOverrides& given, std::string_view entity, Array<SpawnOverride>& to) {
    lua_State* const lua = given.lua;
    if (lua_type(lua, -1) != LUA_TTABLE)
        return Status::error(concat("values of \"", entity, "\" are overridden as {[\"light.range\"] = 9}"));
    return each_pair(lua, lua_gettop(lua), [&] {
        if (lua_type(lua, -2) != LUA_TSTRING)
            return Status::error(concat("values of \"", entity, "\" are overridden by the paths of their fields"));
        const std::string_view field = text_at(lua, -2);
        const Result<AnyValue> value = read_override(given, field);
        if (value) to.push_back({std::string(entity), std::string(field), *value});
        return value.status();
    });
}

/// Reads {entity = {...}}, and sorts it by name, so that the parts of a field follow the field.
Status read_all_overrides(void* context, Array<SpawnOverride>& to) {
    auto& given = *static_cast<GivenOverrides*>(context);
    lua_State* const lua = given.lua;
    Status status = each_pair(lua, 2, [&] {
        return lua_type(lua, -2) == LUA_TSTRING
                   ? read_overrides(given, text_at(lua, -2), to)
                   : Status::error("overrides are given by entity: {lamp = {[\"light.range\"] = 9}}");
    });
    if (!status) return status;
    std::ranges::sort(to, {}, [](const SpawnOverride& one) { return std::tie(one.entity, one.field); });
    return {};
}

int spawn(lua_State* lua, State& state) {
    std::string_view text;
    if (!read_text(lua, state, 1, "a compiled resource, or the text of a source", text)) return kFailed;
    const bool overrides = lua_gettop(lua) >= 2 && lua_type(lua, 2) != LUA_TNIL;
    if (overrides && lua_type(lua, 2) != LUA_TTABLE)
        return fail(state, "argument 2 is a table of what is overridden, by entity, not ", type_of(lua, 2));
    if (state.rows_are_held())
        return fail(state, "spawn() runs outside of passes and loops; copy an entity, or send an event");
    Array<std::byte> bytes{Owner("scripts")};
    if (is_source(text)) {
        if (state.options.compile == nullptr)
            return fail(state,
                        "this program spawns compiled resources only; compile the source before, or set "
                        "ScriptOptions::compile");
        if (const Status status = state.options.compile(state.options.compile_context, text, bytes); !status)
            return fail(state, status.message());
    } else {
        const auto* const first = reinterpret_cast<const std::byte*>(text.data());
        bytes.assign(first, first + text.size());
    }
    GivenOverrides given{lua, state};
    const Result<Spawned> spawned = spawn_bytes(state.world, bytes, overrides ? read_all_overrides : nullptr, &given);
    if (!spawned) return fail(state, spawned.message());
    state.script->note_made(spawned->entities());
    return push_list(lua, spawned->entities()), 1;
}

/// Without arguments, returns a number in [0, 1). With n, returns an integer from 1 to n. With m and n, returns an
/// integer from m to n.
int draw(lua_State* lua, State& state) {
    const int num_arguments = lua_gettop(lua);
    if (num_arguments == 0) {
        lua_pushnumber(lua, static_cast<double>(state.random.next() >> 11) * 0x1p-53);
        return 1;
    }
    std::int64_t bounds[2] = {1, 1};
    for (int i = 0; i < std::min(num_arguments, 2); ++i)
        if (lua_type(lua, i + 1) != LUA_TNUMBER || !read_integer(lua, i + 1, bounds[num_arguments == 1 ? 1 : i]))
            return fail(state, "argument ", i + 1, " is a whole number, not ", type_of(lua, i + 1));
    if (bounds[0] > bounds[1]) return fail(state, "there is no whole number from ", bounds[0], " to ", bounds[1]);
    const std::uint64_t count = static_cast<std::uint64_t>(bounds[1]) - static_cast<std::uint64_t>(bounds[0]) + 1;
    const std::uint64_t drawn = count == 0 ? state.random.next() : state.random.next() % count;
    push_integer(lua, static_cast<std::int64_t>(static_cast<std::uint64_t>(bounds[0]) + drawn));
    return 1;
}

/// Converts its arguments with the environment's tostring, and writes them to one line of the log.
int write_log(lua_State* lua, State& state) {
    if (state.options.is_quiet) return 0;
    std::string text = state.script == nullptr ? "script" : state.script->name;
    text += ':';
    bool is_signed = false;
    std::uint64_t bits = 0;
    for (int i = 1; i <= lua_gettop(lua); ++i) {
        text += ' ';
        const int type = lua_type(lua, i);
        if (type == LUA_TSTRING || type == LUA_TNUMBER) {
            lua_pushvalue(lua, i);  // a copy, because text_at() converts numbers in place
            text += text_at(lua, -1);
            lua_pop(lua, 1);
        } else if (type == LUA_TBOOLEAN) {
            text += lua_toboolean(lua, i) != 0 ? "true" : "false";
        } else if (is_entity(lua, i)) {
            text += concat("entity ", entity_at(lua, i).index(), ":", +entity_at(lua, i).generation());
        } else if (read_wide(lua, i, is_signed, bits)) {
            text += is_signed ? concat(static_cast<std::int64_t>(bits)) : concat(bits);
        } else {
            text += type_of(lua, i);
        }
    }
    state.link.steps_left -= static_cast<double>(text.size());
    log(LogLevel::kNote, text);
    return 0;
}

constexpr Function kOthers[] = {{"copy", run_body<in_world<copy>>},
                                {"spawn", run_body<in_world<spawn>>},
                                {"random", run_body<in_world<draw>>},
                                {"log", run_body<write_log>}};

}  // namespace

std::span<const Function> other_functions() { return kOthers; }

}  // namespace shoal::lua
