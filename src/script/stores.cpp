// Stores that are written in Lua. A world uses them like C++ stores, for spawning, queries, settling and reports.

#include "script/store.h"

#include "script/compile.h"
#include "shoal/job/detail/work_scope.h"
#include "shoal/resource/migration.h"
#include "shoal/state/snapshot.h"
#include "shoal/table/detail/field_part.h"

#include <algorithm>
#include <utility>

namespace shoal::lua {

LuaStore::LuaStore(Script& script, const Schema& schema)
    : script_(script),
      rows_(schema, script.state().world.entities(), script.state().world.pool(),
            {.remove_dead = remove_dead, .store = this, .kind = "a store in Lua"}) {}

LuaStore::~LuaStore() {
    lua_State* const lua = script_.state().lua;
    for (const int function : {add_, remove_, get_, set_, settle_}) luaL_unref(lua, LUA_REGISTRYINDEX, function);
}

Status LuaStore::take_functions(lua_State* lua, int table) {
    const struct {
        const char* name;
        int* function;
        bool is_needed;
    } kFunctions[] = {{"add", &add_, true},
                      {"remove", &remove_, true},
                      {"get", &get_, true},
                      {"set", &set_, false},
                      {"settle", &settle_, false}};
    for (const auto& one : kFunctions) {
        if (push_field(lua, table, one.name) == LUA_TFUNCTION) {
            *one.function = luaL_ref(lua, LUA_REGISTRYINDEX);
            continue;
        }
        lua_pop(lua, 1);
        if (one.is_needed)
            return Status::error(concat("store of \"", schema().name(), "\" has no function \"", one.name,
                                        "\"; it has add(entity, values), remove(entity) and get(entity)"));
    }
    return {};
}

// --- calls of the script -----------------------------------------------------------------------------------------

/// Calls a function with an entity and, unless `image` is nullptr, a table of the component's fields.
Status LuaStore::call(int function, Entity entity, const std::byte* image, int num_results) const {
    State& state = script_.state();
    lua_State* const lua = state.running;
    lua_rawgeti(lua, LUA_REGISTRYINDEX, function);
    push_entity(lua, entity);
    if (image != nullptr) push_image(lua, state, schema(), image);
    return state.call(lua, image != nullptr ? 2 : 1, num_results);
}

void LuaStore::report(const Status& failure) const {
    script_.state().report(concat("store of \"", schema().name(), "\" of script \"", script_.name, "\""), failure,
                           &last_error_);
}

/// Reads the result of get(entity). Errors: the result is not a table of fields.
Status LuaStore::read_back(Entity entity, std::byte* image) const {
    if (Status status = call(get_, entity, nullptr, 1); !status) return status;
    State& state = script_.state();
    lua_State* const lua = state.running;
    std::ranges::copy(schema().default_image(), image);
    Status status;
    if (lua_type(lua, -1) != LUA_TTABLE)
        status = Status::error(concat("get() of the store of \"", schema().name(), "\" returned ", type_of(lua, -1),
                                      ", not a table of fields"));
    else
        status = read_image(lua, state, lua_gettop(lua), schema(), image);
    lua_pop(lua, 1);
    return status;
}

void LuaStore::read_row(std::uint32_t row, std::byte* image) const { read_image(rows_.table(), schema(), row, image); }

Status LuaStore::show(Entity entity) {
    Array<std::byte> image(schema().struct_bytes(), std::byte(0), Owner("scripts"));
    if (Status status = read_back(entity, image.data()); !status) return status;
    const std::uint32_t row = rows_.find(entity);
    if (row == kNilRow) return {};  // get() has removed it
    rows_.table().scatter({row, row + 1}, image.data(), 0);
    rows_.table().stamp_row(row);
    return {};
}

Status LuaStore::add(Entity entity, const std::byte* image) {
    const std::uint32_t there = rows_.index().find_any_generation(entity);
    if (there != kNilRow && rows_.owner(Instance{there}) != entity)
        remove(rows_.owner(Instance{there}));  // a dead entity had the same index
    const bool had = has(entity);
    if (Status status = call(add_, entity, image); !status) return status;
    Array<std::byte> kept(schema().struct_bytes(), std::byte(0), Owner("scripts"));
    Status status = read_back(entity, kept.data());
    if (status) status = rows_.add_values(schema(), {&entity, 1}, {.images = kept.data()}).status();
    if (!has(entity) || (!status && !had)) {  // the entity was destroyed, or the values were refused
        rows_.remove({&entity, 1});
        if (const Status removed = call(remove_, entity, nullptr); !removed) report(removed);
    }
    return status;
}

/// Adds all components, or none if there is an error. On error, existing components keep their values.
Status LuaStore::add_all(std::span<const Entity> entities, const std::byte* images, std::size_t stride) {
    const Array<Entity> all(entities.begin(), entities.end(), Owner("scripts"));  // the span may refer to the table
    if (Status status = rows_.reserve_for(all); !status) return status;
    Array<std::byte> before(all.size() * schema().struct_bytes(), std::byte(0), Owner("scripts"));
    Array<std::uint8_t> had(all.size(), 0, Owner("scripts"));
    Status status;
    std::size_t i = 0;
    for (; i < all.size() && status; ++i) {
        had[i] = has(all[i]) ? 1 : 0;
        if (had[i] != 0) read_row(rows_.find(all[i]), before.data() + i * schema().struct_bytes());
        if (rows_.entity_manager().alive(all[i])) status = add(all[i], images + i * stride);
    }
    while (!status && i-- > 0) {
        if (had[i] == 0)
            remove(all[i]);
        else if (const Status back = add(all[i], before.data() + i * schema().struct_bytes()); !back)
            report(back);
    }
    return status;
}

/// The row is removed first, so that the recursion ends if the script's remove() removes the component again.
bool LuaStore::remove(Entity entity) {
    if (!has(entity)) return false;
    rows_.remove({&entity, 1});
    if (const Status status = call(remove_, entity, nullptr); !status) report(status);
    return true;
}

std::uint32_t LuaStore::remove_all(std::span<const Entity> entities) {
    const CallScope scope(script_.state(), &script_);
    const Array<Entity> all(entities.begin(), entities.end(), Owner("scripts"));
    return static_cast<std::uint32_t>(std::ranges::count_if(all, [&](Entity entity) { return remove(entity); }));
}

Status LuaStore::take_rows(LuaStore& older) {
    const CallScope scope(script_.state(), &script_);
    older.tell_all();
    const Table& table = older.rows_.table();
    Array<const std::byte*> columns{Owner("scripts")};
    for (std::uint32_t c = 0; c < older.schema().columns().size(); ++c) columns.push_back(table.column(c));
    const RegisteredComponent* const known = script_.state().world.registry().find(schema().id());
    const Result<ConvertedColumns> converted = convert_rows(older.schema(), columns, table.num_rows(), schema(),
                                                            known == nullptr ? nullptr : known->migrations);
    if (!converted) return converted.status();
    Array<std::byte> images(table.num_rows() * schema().struct_bytes(), std::byte(0), Owner("scripts"));
    for (std::size_t row = 0; row < table.num_rows(); ++row)
        read_columns(schema(), converted->columns, row, images.data() + row * schema().struct_bytes());
    return add_all(table.entities(), images.data(), schema().struct_bytes());
}

// --- what queries and properties write ---------------------------------------------------------------------------

OwnedColumns LuaStore::find_columns(const Schema& component) {
    OwnedColumns columns = rows_.find_columns(component);
    if (!columns) return columns;
    columns.is_read_only = set_ == LUA_NOREF;
    columns.is_source = set_ != LUA_NOREF;
    columns.instead = "give its store in Lua a function set(entity, values)";
    return columns;
}

/// Calls the script with the new values of a row. Errors: the script refuses them. On error, the row is reset to the
/// script's values.
Status LuaStore::tell(Entity entity) {
    if (!has(entity) || !rows_.entity_manager().alive(entity)) return {};
    Array<std::byte> image(schema().struct_bytes(), std::byte(0), Owner("scripts"));
    read_row(rows_.find(entity), image.data());
    State& state = script_.state();
    const CallScope scope(state, &script_);
    const LoopScope loop(state);  // set()'s other changes become commands, because a loop may be using the rows
    Status status = call(set_, entity, image.data());
    Status shown = show(entity);
    return status ? std::move(shown) : std::move(status);
}

void LuaStore::tell_later(Entity entity) {
    const std::lock_guard lock(mutex_);
    told_.push_back(entity);
}

void LuaStore::tell_all() {
    if (told_.empty()) return;
    Array<Entity> all = std::move(told_);
    told_ = Array<Entity>(Owner("scripts"));
    std::ranges::sort(all, {}, &Entity::id);
    all.erase(std::ranges::unique(all).begin(), all.end());
    for (const Entity entity : all)
        if (const Status status = tell(entity); !status) report(status);
}

void LuaStore::finish_writes(std::uint64_t, std::span<const std::uint32_t> rows, Executor*) {
    for (const std::uint32_t row : rows) tell_later(rows_.owner(Instance{row}));
    if (WorkScope::current() == nullptr) tell_all();
}

Status LuaStore::write_field(const ComponentRow& at, const FieldPart& part, const std::byte* value) {
    if (set_ == LUA_NOREF)
        return Status::error(concat("the store of \"", schema().name(), "\" in script \"", script_.name,
                                    "\" does not let fields be set; give it a function set(entity, values)"));
    if (Status status = Store::write_field(at, part, value); !status) return status;
    const Entity entity = rows_.owner(Instance{at.row});
    if (WorkScope::current() == nullptr) return tell(entity);
    return tell_later(entity), Status();
}

// --- what a world calls ------------------------------------------------------------------------------------------

Result<std::uint32_t> LuaStore::add_values(const Schema& component, std::span<const Entity> entities,
                                           const AddedValues& values) {
    rows_.require_unlocked("add()");
    if (component.layout_hash() != schema().layout_hash())
        return Status::error(concat("\"", schema().name(), "\" is kept by a script with other fields"));
    if (values.write != nullptr) return Status::error(concat("\"", schema().name(), "\" takes values that are bytes"));
    const CallScope scope(script_.state(), &script_);
    const bool has_images = values.images != nullptr;
    if (Status status = add_all(entities, has_images ? values.images : schema().default_image().data(),
                                has_images ? values.stride : 0);
        !status)
        return status;
    return static_cast<std::uint32_t>(std::ranges::count_if(entities, [&](Entity entity) { return has(entity); }));
}

Result<std::uint32_t> LuaStore::remove_values(const Schema&, std::span<const Entity> entities) {
    rows_.require_unlocked("remove()");
    return remove_all(entities);
}

Status LuaStore::spawn(const SpawnBatch& batch) {
    rows_.require_unlocked("spawn()");
    require_batch(batch, schema());
    const CallScope scope(script_.state(), &script_);
    const SpawnedImages spawned(batch, schema());
    return add_all(spawned.owners, spawned.images.data(), schema().struct_bytes());
}

void LuaStore::drop(std::span<const Entity> entities) { remove_all(entities); }

void LuaStore::remove_dead(void* self, std::span<const Entity> entities) {
    LuaStore& store = *static_cast<LuaStore*>(self);
    store.remove_all(dead_owners(store.rows_, entities));
}

void LuaStore::settle(const SettleContext& context) {
    State& state = script_.state();
    const CallScope scope(state, &script_);
    tell_all();
    rows_.remove_dead(context);
    if (settle_ != LUA_NOREF) {
        lua_rawgeti(state.running, LUA_REGISTRYINDEX, settle_);
        if (const Status status = state.call(state.running, 0, 0); !status) report(status);
    }
    rows_.settle_table(context);
}

void LuaStore::save(SnapshotWriter& to) const {
    if (!told_.empty())
        return to.refuse(concat("passes have written \"", schema().name(),
                                "\", and its store in Lua is told when the world settles; save after World::settle()"));
    rows_.save(to);
}

Status LuaStore::load(SnapshotReader& from) {
    told_.clear();
    const std::span<const Entity> owners = rows_.table().entities();
    forgotten_.insert(forgotten_.end(), owners.begin(), owners.end());
    return rows_.load(from);
}

/// The script's changes to the world become commands, so that the world is first restored as it was saved.
void LuaStore::finish_load() {
    State& state = script_.state();
    const CallScope scope(state, &script_);
    const LoopScope loop(state);
    const Array<Entity> before = std::exchange(forgotten_, Array<Entity>(Owner("scripts")));
    for (const Entity entity : before)
        if (const Status status = call(remove_, entity, nullptr); !status) report(status);
    Array<std::byte> image(schema().struct_bytes(), std::byte(0), Owner("scripts"));
    for (std::uint32_t row = 0; row < rows_.num_rows(); ++row) {
        read_row(row, image.data());
        if (const Status status = call(add_, rows_.owner(Instance{row}), image.data()); !status) report(status);
    }
}

// --- stores of scripts -------------------------------------------------------------------------------------------

LuaStore* find_lua_store(const State& state, const Store* store) {
    for (const Guest* guest : state.guests)
        for (LuaStore* one : static_cast<const Script*>(guest)->stores)
            if (one == store) return one;
    return nullptr;
}

Status attach_store(LuaStore& store) {
    State& state = store.script().state();
    Status status = state.world.attach(store);
    if (status) state.renew_all();
    return status;
}

void detach_store(LuaStore& store) {
    State& state = store.script().state();
    World& world = state.world;
    if (std::ranges::find(world.directory().stores(), &store) == world.directory().stores().end()) return;
    world.detach(store);
    state.renew_all();
}

void destroy_store(LuaStore* store) {
    detach_store(*store);
    erase(store->script().stores, store);
    destroy_owned("scripts", store);
}

namespace {

int store(lua_State* lua, State& state) {
    if (lua_type(lua, 1) != LUA_TTABLE) return fail(state, "argument 1 is a table that describes a store");
    if (state.rows_are_held()) return fail(state, "stores are made outside of passes and loops");
    if (!has_room(state, state.script->stores.size(), "stores")) return kFailed;
    lua_settop(lua, 1);
    static constexpr std::string_view kKeys[] = {"component", "add", "remove", "get", "set", "settle"};
    if (const Status status = check_keys(lua, 1, kKeys); !status) return fail(state, "a store: ", status.message());
    if (push_field(lua, 1, "component") != LUA_TTABLE)
        return fail(state,
                    "a store has a \"component\": a table with its name and fields, as shoal.component takes it");
    Result<Schema> schema = read_schema(lua, state, 2, "component");
    if (!schema) return fail(state, schema.message());
    if (schema->many() || schema->enableable() || schema->singleton())
        return fail(state,
                    "a store in Lua keeps one component for an entity; take many, enableable and singleton away");
    state.forget_paths();
    auto* const made = make_owned<LuaStore>("scripts", *state.script, *schema);
    state.script->stores.push_back(made);
    Status status = note_component(lua, state, 2, made->schema());
    if (status) status = made->take_functions(lua, 1);
    if (status) status = attach_store(*made);
    if (status) return 0;
    fail(state, status.message());
    destroy_store(made);
    return kFailed;
}

/// Records that a Lua store has changed an entity.
int changed(lua_State* lua, State& state) {
    Entity entity;
    std::string_view name;
    if (!read_living(lua, state, 1, entity) || !read_text(lua, state, 2, "the name of a component type", name))
        return kFailed;
    const Result<KeptComponent> kept = state.find_kept(name);
    if (!kept) return fail(state, kept.message());
    LuaStore* const store = find_lua_store(state, kept->store);
    if (store == nullptr) return fail(state, "\"", name, "\" is not kept by a store in Lua; set its fields");
    if (const Status status = check_access(state, *store, *kept->schema, true); !status)
        return fail(state, status.message());
    if (!store->has(entity)) return fail(state, "the entity has no \"", name, "\"; shoal.add() gives it one");
    return done(state, store->show(entity));
}

constexpr Function kStores[] = {{"store", run_body<in_world<store>>}, {"changed", run_body<in_world<changed>>}};

}  // namespace

std::span<const Function> store_functions() { return kStores; }

}  // namespace shoal::lua
