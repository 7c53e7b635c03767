// Event channels, and observers, which see additions, removals and changes when the world settles.

#include "script/state.h"

#include <algorithm>

namespace shoal::lua {

// --- channels ----------------------------------------------------------------------------------------------------

namespace {

Channel* read_channel(lua_State* lua, State& state, bool writes) {
    Token token;
    if (!read_token(lua, state, 1, kChannel, "a channel of events", token)) return nullptr;
    Channel* const channel = find_part<Channel>(state, &Guest::channels, token);
    if (channel == nullptr) return fail(state, "the script that has opened the channel was unloaded"), nullptr;
    if (state.pass == nullptr || state.pass->is_everything) return channel;
    if (state.pass->declares(*channel, writes)) return channel;
    fail(state, "pass \"", state.pass->name, "\" does not declare the channel; add ",
         writes ? "writes_to" : "reads_from", " = {\"", channel->name, "\"} to it");
    return nullptr;
}

int events(lua_State* lua, State& state) {
    if (lua_type(lua, 1) != LUA_TTABLE)
        return fail(state, "argument 1 is a table that describes events: name and fields");
    if (state.rows_are_held()) return fail(state, "channels are opened outside of passes and loops");
    if (!has_room(state, state.script->channels.size(), "channels")) return kFailed;
    Result<Schema> schema = read_schema(lua, state, 1, "events");
    if (!schema) return fail(state, schema.message());
    if (schema->struct_bytes() == 0)
        return fail(state, "events \"", schema->name(), "\" have no fields; give them one");
    const Result<detail::EventLog*> log = state.world.events().named(schema->name(), schema->struct_bytes());
    if (!log) return fail(state, log.message());
    auto* const channel = make_owned<Channel>("scripts", *state.script, std::move(*schema), **log);
    state.script->channels.push_back(channel);
    channel->serial = state.next_serial();
    push_token(lua, state, {0, channel->serial, kChannel});
    return 1;
}

int write(lua_State* lua, State& state) {
    const Channel* const channel = read_channel(lua, state, true);
    if (channel == nullptr) return kFailed;
    const std::span<const std::byte> defaults = channel->schema.default_image();
    Array<std::byte> image(defaults.begin(), defaults.end(), Owner("scripts"));
    if (lua_type(lua, 2) != LUA_TTABLE) return fail(state, "argument 2 is a table of fields, not ", type_of(lua, 2));
    const Status status = read_image(lua, state, 2, channel->schema, image.data());
    if (status) channel->log.append(image);
    return done(state, status);
}

int push_events(lua_State* lua, const State& state, const Channel& channel, std::span<const std::byte> bytes) {
    const std::size_t event_bytes = channel.schema.struct_bytes();
    push_list(lua, bytes.size() / event_bytes,
              [&](std::size_t i) { push_image(lua, state, channel.schema, bytes.data() + i * event_bytes); });
    return 1;
}

template <std::span<const std::byte> (detail::EventLog::*kRead)() const>
int read(lua_State* lua, State& state) {
    const Channel* const channel = read_channel(lua, state, false);
    return channel == nullptr ? kFailed : push_events(lua, state, *channel, (channel->log.*kRead)());
}

// --- observers ---------------------------------------------------------------------------------------------------

/// Pushes the previous values, which are the second argument of functions that observe removals and changes.
int push_before(lua_State* lua, State& state) {
    const auto serial = static_cast<std::uint32_t>(lua_tonumber(lua, lua_upvalueindex(1)));
    if (state.observer == nullptr || state.observer_serial != serial)
        return fail(state, "the observer has ended; ask what was before in its function only");
    const ObservedBatch& batch = *state.observer;
    std::int64_t i = 0;
    if (lua_type(lua, 1) != LUA_TNUMBER || !read_integer(lua, 1, i) || i < 1 ||
        static_cast<std::uint64_t>(i) > batch.entities.size())
        return fail(state, "argument 1 is the number of an entity in the list, from 1 to ", batch.entities.size());
    if (batch.values_before == nullptr) return lua_pushnil(lua), 1;
    push_image(lua, state, batch.component,
               batch.values_before + static_cast<std::size_t>(i - 1) * batch.component.struct_bytes());
    return 1;
}

template <ObserverKind kKind>
int observe(lua_State* lua, State& state) {
    std::string_view name;
    if (!read_text(lua, state, 1, "the name of a component type", name)) return kFailed;
    if (!read_function(lua, state, 2, "what is called")) return kFailed;
    if (state.rows_are_held()) return fail(state, "observers are added outside of passes and loops");
    if (!has_room(state, state.script->observers.size(), "observers")) return kFailed;
    const std::size_t dot = std::min(name.find('.'), name.size());
    GuestObserver observer{.kind = kKind, .name = std::string(name.substr(0, dot))};
    observer.component = ComponentId(observer.name);
    if (dot != name.size()) observer.field = name.substr(dot + 1);
    lua_pushvalue(lua, 2);
    observer.function = static_cast<std::uintptr_t>(luaL_ref(lua, LUA_REGISTRYINDEX));
    const Result<std::uint32_t> number = state.script->add(observer);
    if (number) return push_integer(lua, *number), 1;
    state.end(observer);
    return fail(state, "observer of \"", name, "\": ", number.message());
}

int end_observer(lua_State* lua, State& state) {
    std::int64_t number = 0;
    if (lua_type(lua, 1) != LUA_TNUMBER || !read_integer(lua, 1, number))
        return fail(state, "argument 1 is what on_add, on_remove or on_change has returned");
    if (state.rows_are_held()) return fail(state, "observers are removed outside of passes and loops");
    return done(state, state.script->remove_observer(number));
}

constexpr Function kEvents[] = {{"events", run_body<in_world<events>>},
                                {"write", run_body<in_world<write>>},
                                {"read", run_body<in_world<read<&detail::EventLog::read>>>},
                                {"read_last", run_body<in_world<read<&detail::EventLog::read_last>>>}};
constexpr Function kObservers[] = {{"on_add", run_body<in_world<observe<ObserverKind::kAdd>>>},
                                   {"on_remove", run_body<in_world<observe<ObserverKind::kRemove>>>},
                                   {"on_change", run_body<in_world<observe<ObserverKind::kChange>>>},
                                   {"off", run_body<in_world<end_observer>>}};

}  // namespace

void State::tell(Guest& guest, const GuestObserver& told, const ObservedBatch& batch) {
    const CallScope scope(*this, static_cast<Script*>(&guest));
    lua_rawgeti(lua, LUA_REGISTRYINDEX, static_cast<int>(told.function));
    push_list(lua, batch.entities);
    observer = &batch;
    observer_serial = next_serial();
    lua_pushnumber(lua, observer_serial);
    lua_pushcclosure(lua, run_body<push_before>, 1);
    const Status status = call(lua, 2, 0);
    observer = nullptr;
    const std::string field = told.field.empty() ? "" : concat('.', told.field);
    if (!status) report(concat("observer of \"", told.name, field, "\" of script \"", guest.name, "\""), status);
}

void State::end(const GuestObserver& done) { luaL_unref(lua, LUA_REGISTRYINDEX, static_cast<int>(done.function)); }

std::span<const Function> event_functions() { return kEvents; }
std::span<const Function> observer_functions() { return kObservers; }

}  // namespace shoal::lua
