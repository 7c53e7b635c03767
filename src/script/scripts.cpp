#include "shoal/script/scripts.h"

#include "script/compile.h"
#include "script/store.h"
#include "shoal/base/file.h"
#include "shoal/document/detail/scalar_text.h"

#include <algorithm>

namespace shoal::lua {
namespace {

Script* find_script(const State& state, std::string_view name) { return static_cast<Script*>(state.find_guest(name)); }

/// Returns "wheels" for "scripts/wheels.lua".
std::string_view name_of(std::string_view path) {
    const std::size_t slash = path.find_last_of("/\\");
    const std::string_view file = path.substr(slash == std::string_view::npos ? 0 : slash + 1);
    return file.substr(0, std::min(file.rfind('.'), file.size()));
}

// --- what a script has made --------------------------------------------------------------------------------------

/// Removes the objects that the world calls, which are passes, observers and stores.
void suspend(Script& script) {
    script.suspend();
    for (LuaStore* store : script.stores) detach_store(*store);
}

/// Adds suspended passes, observers and stores back to the world.
Status resume(Script& script) {
    for (LuaStore* store : script.stores)
        if (Status status = attach_store(*store); !status) return status;
    return script.resume();
}

void remove_all(Script& script) {
    script.remove_parts();
    while (!script.stores.empty()) destroy_store(script.stores.back());
    for (; !script.types.empty(); script.types.pop_back()) destroy_owned("scripts", script.types.back());
    script.remove_channels();
}

void destroy_script(Script* script) {
    remove_all(*script);
    luaL_unref(script->state().lua, LUA_REGISTRYINDEX, script->environment);
    destroy_owned("scripts", script);
}

/// Ends a load, keeping or undoing the changes that its code has made.
void end_load(Script& script, bool keep) {
    if (!keep) remove_all(script);
    script.end_load(keep);
    script.state().forget_paths();
}

// --- running -----------------------------------------------------------------------------------------------------

Script* make_script(State& state, std::string_view name, std::string_view path) {
    auto* const script = make_owned<Script>("scripts", state, name, path);
    lua_State* const lua = state.lua;
    push_environment(lua, state);
    lua_newtable(lua);
    lua_setfield(lua, -2, "keep");
    script->environment = luaL_ref(lua, LUA_REGISTRYINDEX);
    return script;
}

/// Compiles a text, and pushes its function. Errors: the text is not valid Lua.
Status compile_text(State& state, std::string_view text, const std::string& chunk_name) {
    std::string counted, why;
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    if (text.starts_with('#')) text.remove_prefix(std::min(text.find_first_of("\r\n"), text.size()));  // for the shell
    if (!add_budget(text, counted, why)) return Status::error(concat(chunk_name.substr(1), ": ", why));
    if (compile(state.lua, counted, chunk_name.c_str())) return {};
    Status status = Status::error(lua_tostring(state.lua, -1));
    lua_pop(state.lua, 1);
    return status;
}

/// Runs the function on top of the stack in the environment of a script.
Status run_chunk(Script& script) {
    State& state = script.state();
    lua_State* const lua = state.lua;
    lua_rawgeti(lua, LUA_REGISTRYINDEX, script.environment);
    set_environment(lua);
    lua_getfield(lua, LUA_REGISTRYINDEX, "shoal.tick");
    const CallScope scope(state, &script);
    return state.call(lua, 1, 0);
}

/// Copies the rows of the older version's stores to the newer version's stores. Errors: a store's function raised an
/// error.
Status hand_on_rows(const Script& older, const Script& newer) {
    for (LuaStore* from : older.stores)
        for (LuaStore* to : newer.stores)
            if (to->schema().id() == from->schema().id())
                if (Status status = to->take_rows(*from); !status) return status;
    return {};
}

/// Starts a script by running the function on top of the stack. `older` is the version whose rows the script copies, or
/// nullptr. Errors: the function raised an error, or the passes have no valid order. On error, everything that the
/// script has made is removed.
Status start(Script& script, Script* older = nullptr) {
    Schedule& schedule = script.state().world.schedule();
    const bool was_ordered = schedule.prepare().ok();
    script.is_loading = true;
    Status status = run_chunk(script);
    if (status && was_ordered) status = schedule.prepare();
    if (status && older != nullptr) status = hand_on_rows(*older, script);
    end_load(script, status.ok());
    return status;
}

Status error_in(std::string_view path, const Status& status) {
    return Status::error(concat("cannot load script ", path, ": ", status.message()));
}

/// Gives the older version's table `keep` to the newer version.
void share_kept_table(const Script& older, const Script& newer) {
    lua_State* const lua = older.state().lua;
    lua_rawgeti(lua, LUA_REGISTRYINDEX, newer.environment);
    lua_rawgeti(lua, LUA_REGISTRYINDEX, older.environment);
    push_field(lua, -1, "keep");
    lua_setfield(lua, -3, "keep");
    lua_pop(lua, 2);
}

/// Removes a script permanently. Other passes forget their order relative to its passes.
void forget_script(Script* script) {
    State& state = script->state();
    const Array<std::string> passes = script->pass_names();
    destroy_script(script);
    state.forget_passes(passes);
}

/// Restarts a script after its newer version has failed.
Status restart(Script& older, const Status& failure) {
    const std::string path = older.path;
    const Status again = resume(older);
    if (again) return error_in(path, Status::error(concat(failure.message(), "\nthe one before works on")));
    const std::string why(again.message());
    forget_script(&older);
    return error_in(path, Status::error(concat(failure.message(), "\nand the one before is gone, too: ", why)));
}

/// Makes a script from the function on top of the stack, and replaces an older version with it.
Status exchange(State& state, Script* older) {
    Script* const newer = make_script(state, older->name, older->path);
    share_kept_table(*older, *newer);
    suspend(*older);
    Status status = start(*newer, older);
    if (!status) {
        destroy_script(newer);
        return restart(*older, status);
    }
    std::swap(*std::ranges::find(state.guests, older), state.guests.back());
    forget_script(older);
    return {};
}

/// Makes a script from the function on top of the stack, and runs it. Errors: those of start(). On error, the script is
/// destroyed.
Status add_script(State& state, std::string_view name, std::string_view path) {
    Script* const script = make_script(state, name, path);
    Status status = start(*script);
    if (!status) destroy_script(script);
    return status;
}

}  // namespace
}  // namespace shoal::lua

namespace shoal {

using namespace lua;  // NOLINT: this is the room

struct Scripts::Shared : State {
    using State::State;
};

Scripts::Scripts(World& world, const ScriptOptions& options) : shared_(nullptr) {
    shared_ = make_owned<Shared>("scripts", world, options);
    seal_libraries(shared_->lua, *shared_);
}

Scripts::~Scripts() {
    shared_->require_idle();
    shared_->is_exchanging = true;
    while (!shared_->guests.empty()) forget_script(static_cast<Script*>(shared_->guests.back()));
    destroy_owned("scripts", shared_);
}

std::size_t Scripts::num_scripts() const { return shared_->guests.size(); }

ScriptInfo Scripts::script(std::size_t index) const {
    SHOAL_ASSERT(index < num_scripts(), "there are fewer scripts; ask num_scripts()");
    const Script& script = static_cast<const Script&>(*shared_->guests[index]);
    return {script.name, script.path};
}

const Status& Scripts::last_failure() const { return shared_->last_failure; }
std::uint64_t Scripts::num_failures() const { return shared_->num_failures; }
std::size_t Scripts::memory_used() const { return shared_->memory_used; }
std::string_view Scripts::version() { return version_text(); }

Status Scripts::load(const std::string& path) {
    State& state = *shared_;
    state.require_idle();
    const std::string_view name = name_of(path);
    if (const Script* same = find_script(state, name); same != nullptr)
        return error_in(
            path, Status::error(concat("a script \"", name, "\" is loaded already, from ",
                                       same->path.empty() ? "a text" : same->path, "; reload or unload that one")));
    const Result<std::string> text = read_file(path);
    if (!text) return error_in(path, text.status());
    Status status = compile_text(state, *text, "@" + path);
    if (status) status = add_script(state, name, path);
    return status ? Status() : error_in(path, status);
}

Status Scripts::register_components(ComponentRegistry& registry) const {
    for (const Guest* script : shared_->guests)
        for (const DeclaredType* type : static_cast<const Script*>(script)->types)
            if (const Status status = type->add_to(registry); !status)
                return Status::error(concat("component \"", type->schema.name(), "\" of script \"", script->name,
                                            "\": ", status.message()));
    return {};
}

Status Scripts::run(std::string_view text, std::string_view name) {
    State& state = *shared_;
    state.require_idle();
    if (Status status = compile_text(state, text, concat("=", name)); !status) return status;
    if (Script* const script = find_script(state, name); script != nullptr) return run_chunk(*script);
    return add_script(state, name, "");
}

Status Scripts::unload(std::string_view name) {
    shared_->require_idle();
    Script* const script = find_script(*shared_, name);
    if (script == nullptr) return Status::error(concat("no script \"", name, "\" is loaded"));
    forget_script(script);
    return {};
}

Status Scripts::reload(std::string_view name) {
    State& state = *shared_;
    state.require_idle();
    Script* const older = find_script(state, name);
    if (older == nullptr) return Status::error(concat("no script \"", name, "\" is loaded"));
    if (older->path.empty())
        return Status::error(concat("script \"", name, "\" was run from a text; unload it and run the new one"));
    const Result<std::string> text = read_file(older->path);
    if (!text) return error_in(older->path, text.status());
    if (Status status = compile_text(state, *text, "@" + older->path); !status) return error_in(older->path, status);
    state.is_exchanging = true;
    Status status = exchange(state, older);
    state.is_exchanging = false;
    state.renew_all();  // also logs paused parts
    return status;
}

}  // namespace shoal
