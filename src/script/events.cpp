// Channels of events, and observers of what has come, gone or changed when the world settles.

#include "script/state.h"

#include <algorithm>

namespace shoal::lua {

// --- channels ----------------------------------------------------------------------------------------------------

void destroy_channel(Channel* channel) {
    State& state = *channel->script->state;
    drop(state.channels, *channel);
    erase(channel->script->channels, channel);
    state.world.events().end(*channel->log);
    destroy_owned("scripts", channel);
}

namespace {

Channel* read_channel(lua_State* lua, State& state, bool writes) {
    Token token;
    if (!read_token(lua, state, 1, kChannel, "a channel of events", token)) return nullptr;
    Channel* const channel = find_kept(state.channels, token);
    if (channel == nullptr) return fail(state, "the script that has opened the channel was unloaded"), nullptr;
    if (state.pass == nullptr || state.pass->is_everything) return channel;
    const Array<const Channel*>& writers = state.pass->writes;
    const Array<const Channel*>& readers = state.pass->reads;
    const bool may_write = std::ranges::find(writers, channel) != writers.end();
    if (may_write || (!writes && std::ranges::find(readers, channel) != readers.end())) return channel;
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
    auto* const channel = make_owned<Channel>("scripts", state.script, std::move(*schema), *log);
    state.script->channels.push_back(channel);
    const std::uint32_t serial = state.next_serial();
    push_token(lua, state, {keep(state.channels, *channel, serial), serial, kChannel});
    return 1;
}

int write(lua_State* lua, State& state) {
    const Channel* const channel = read_channel(lua, state, true);
    if (channel == nullptr) return kFailed;
    const std::span<const std::byte> defaults = channel->schema.default_image();
    Array<std::byte> image(defaults.begin(), defaults.end(), Owner("scripts"));
    if (lua_type(lua, 2) != LUA_TTABLE) return fail(state, "argument 2 is a table of fields, not ", type_of(lua, 2));
    const Status status = read_image(lua, state, 2, channel->schema, image.data());
    if (status) channel->log->append(image);
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
    return channel == nullptr ? kFailed : push_events(lua, state, *channel, (channel->log->*kRead)());
}

// --- observers ---------------------------------------------------------------------------------------------------

/// What a component was: the second argument of functions that observe removals and changes.
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

class ScriptObserver final : public Observer {
public:
    ScriptObserver(Script& script, int run, std::string_view name) : script_(script), run_(run), name_(name) {}
    void run(const ObservedBatch& batch) override {
        State& state = *script_.state;
        const CallScope scope(state, &script_);
        lua_State* const lua = state.lua;
        lua_rawgeti(lua, LUA_REGISTRYINDEX, run_);
        push_list(lua, batch.entities);
        state.observer = &batch;
        state.observer_serial = state.next_serial();
        lua_pushnumber(lua, state.observer_serial);
        lua_pushcclosure(lua, run_body<push_before>, 1);
        const Status status = state.call(lua, 2, 0);
        state.observer = nullptr;
        if (!status) state.report(concat("observer of \"", name_, "\" of script \"", script_.name, "\""), status);
    }

private:
    Script& script_;
    const int run_;
    const std::string name_;
};

/// Says what an observer listens to. Errors: there is no such field.
Result<ObservedChange> observed_change(const ObserverEntry& entry, const Schema& schema) {
    ObservedChange to{.kind = entry.kind};
    to.wants_values = entry.kind != ObserverKind::kAdd && !schema.many() && !schema.has_opaque();
    const std::size_t dot = entry.name.find('.');
    if (dot == std::string::npos) return to;
    if (entry.kind != ObserverKind::kChange) return Status::error("only on_change names a field");
    const std::string_view field = std::string_view(entry.name).substr(dot + 1);
    const int index = schema.find_field(field);
    if (index < 0) return find_field_part(schema, field).status();
    to.field = static_cast<std::uint32_t>(index);
    return to;
}

template <ObserverKind kKind>
int observe(lua_State* lua, State& state) {
    std::string_view name;
    if (!read_text(lua, state, 1, "the name of a component type", name)) return kFailed;
    if (!read_function(lua, state, 2, "what is called")) return kFailed;
    if (state.rows_are_held()) return fail(state, "observers are added outside of passes and loops");
    if (!has_room(state, state.script->observers.size(), "observers")) return kFailed;
    ObserverEntry entry;
    entry.name = name;
    entry.kind = kKind;
    lua_pushvalue(lua, 2);
    entry.run = luaL_ref(lua, LUA_REGISTRYINDEX);
    const Status status = add_observer(*state.script, entry);
    if (!status) {
        luaL_unref(lua, LUA_REGISTRYINDEX, entry.run);
        return fail(state, "observer of \"", name, "\": ", status.message());
    }
    state.script->observers.push_back(entry);
    return push_integer(lua, entry.id.number), 1;
}

int end_observer(lua_State* lua, State& state) {
    std::int64_t number = 0;
    if (lua_type(lua, 1) != LUA_TNUMBER || !read_integer(lua, 1, number))
        return fail(state, "argument 1 is what on_add, on_remove or on_change has returned");
    if (state.rows_are_held()) return fail(state, "observers are removed outside of passes and loops");
    const auto is_it = [&](const ObserverEntry& entry) {
        return entry.id.number == static_cast<std::uint64_t>(number);
    };
    const auto at = std::ranges::find_if(state.script->observers, is_it);
    if (at == state.script->observers.end()) return fail(state, "the script has no observer ", number);
    state.world.observers().remove(at->id);
    luaL_unref(lua, LUA_REGISTRYINDEX, at->run);
    state.script->observers.erase(at);
    return 0;
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

Status add_observer(Script& script, ObserverEntry& entry) {
    State& state = *script.state;
    const std::string_view component = std::string_view(entry.name).substr(0, entry.name.find('.'));
    const Result<KeptComponent> kept = require_component(state, component);
    if (!kept) return kept.status();
    const Result<ObservedChange> to = observed_change(entry, *kept->schema);
    if (!to) return to.status();
    auto* const observer = make_owned<ScriptObserver>("scripts", script, entry.run, entry.name);
    const auto end = [](Observer& done) { destroy_owned("scripts", static_cast<ScriptObserver*>(&done)); };
    const Result<ObserverId> added = state.world.observers().observe(kept->schema->id(), *to, *observer, end);
    if (!added) return destroy_owned("scripts", observer), added.status();
    entry.id = *added;
    entry.store = kept->store;
    return {};
}

void renew_observer(Script& script, ObserverEntry& entry) {
    World& world = script.state->world;
    const std::string_view component = std::string_view(entry.name).substr(0, entry.name.find('.'));
    if (entry.store != nullptr && world.directory().find_kept(ComponentId(component)).store == entry.store) return;
    world.observers().remove(entry.id);
    entry.store = nullptr;
    if (script.is_active) static_cast<void>(add_observer(script, entry));  // nothing is told while nobody keeps it
}

std::span<const Function> event_functions() { return kEvents; }
std::span<const Function> observer_functions() { return kObservers; }

}  // namespace shoal::lua
