// Stores that are written in Lua: their rows lie in tables of a script, and a world spawns into them, settles and reports them as
// it does with those in C++.

#include "script/store.h"

#include <algorithm>
#include <cstring>

namespace shoal::lua {
namespace {

/// Copies component `i` of a batch to a struct image, with its entities as they are in the world.
void read_batch_image(const SpawnBatch& batch, std::uint32_t copy, std::size_t i, const Schema& schema,
                      std::byte* image) {
    for (std::size_t c = 0; c < schema.columns().size(); ++c) {
        const ColumnDefinition& column = schema.columns()[c];
        std::memcpy(image + column.struct_offset, batch.columns[c] + i * column.element_bytes, column.element_bytes);
    }
    for (const Field& field : schema.fields()) {
        if (field.type != FieldType::kEntity) continue;
        for (std::uint32_t k = 0; k < field.num_values(); ++k) {
            std::byte* const at = image + field.struct_offset + k * sizeof(Entity);
            Entity stored;
            std::memcpy(&stored, at, sizeof stored);
            stored = batch.translate(copy, stored);
            std::memcpy(at, &stored, sizeof stored);
        }
    }
}

}  // namespace

LuaStore::LuaStore(Script& script, Schema&& schema) : script_(script), schema_(std::move(schema)), schemas_{&schema_} {
    cursor_ = script.state->world.entities().open_death_cursor();
}

LuaStore::~LuaStore() {
    lua_State* const lua = script_.state->lua;
    for (const int function : {add_, remove_, get_, settle_}) luaL_unref(lua, LUA_REGISTRYINDEX, function);
    script_.state->world.entities().close_death_cursor(cursor_);
}

Status LuaStore::take_functions(lua_State* lua, int table) {
    const struct {
        const char* name;
        int* function;
        bool is_needed;
    } kFunctions[] = {
        {"add", &add_, true}, {"remove", &remove_, true}, {"get", &get_, true}, {"settle", &settle_, false}};
    for (const auto& one : kFunctions) {
        lua_pushstring(lua, one.name);
        lua_rawget(lua, table);
        if (lua_type(lua, -1) == LUA_TFUNCTION) {
            *one.function = luaL_ref(lua, LUA_REGISTRYINDEX);
            continue;
        }
        lua_pop(lua, 1);
        if (one.is_needed)
            return Status::error(concat("store of \"", schema_.name(), "\" has no function \"", one.name,
                                        "\"; it has add(entity, values), remove(entity) and get(entity)"));
    }
    return {};
}

/// Calls add(entity, values), where values are at the top.
Status LuaStore::call_add(Entity entity) {
    State& state = *script_.state;
    lua_rawgeti(state.lua, LUA_REGISTRYINDEX, add_);
    lua_insert(state.lua, -2);
    push_entity(state.lua, entity);
    lua_insert(state.lua, -2);
    Status status = state.call(state.lua, 2, 0);
    if (status && places_.find(entity.index()) == nullptr) {
        places_.add(entity.index(), static_cast<std::uint32_t>(owners_.size()));
        owners_.push_back(entity);
    }
    return status;
}

Status LuaStore::add_image(Entity entity, const std::byte* image) {
    push_image(script_.state->lua, *script_.state, schema_, image);
    return call_add(entity);
}

bool LuaStore::has(Entity entity) const {
    const std::uint32_t* const place = places_.find(entity.index());
    return place != nullptr && owners_[*place] == entity;
}

bool LuaStore::remove(Entity entity) {
    if (!has(entity)) return false;
    const std::uint32_t place = *places_.find(entity.index());
    places_.erase(entity.index());
    if (place + 1 != owners_.size()) {
        owners_[place] = owners_.back();
        places_.set(owners_[place].index(), place);
    }
    owners_.pop_back();
    State& state = *script_.state;
    lua_rawgeti(state.lua, LUA_REGISTRYINDEX, remove_);
    push_entity(state.lua, entity);
    if (const Status status = state.call(state.lua, 1, 0); !status)
        state.report(concat("store of \"", schema_.name(), "\" of script \"", script_.name, "\""), status);
    return true;
}

/// Leaves the table that get(entity) returns at the top. Errors: it returned none; nothing is left.
Status LuaStore::push_values(lua_State* lua, Entity entity) {
    lua_rawgeti(lua, LUA_REGISTRYINDEX, get_);
    push_entity(lua, entity);
    if (Status status = script_.state->call(lua, 1, 1); !status) return status;
    if (lua_type(lua, -1) == LUA_TTABLE) return {};
    const Status status = Status::error(concat("get() of the store of \"", schema_.name(), "\" returned ",
                                               type_of(lua, -1), ", not a table of fields"));
    lua_pop(lua, 1);
    return status;
}

Status LuaStore::take_rows(LuaStore& older) {
    State& state = *script_.state;
    const CallScope scope(state, &script_);
    for (const Entity entity : older.owners_) {
        Status status = older.push_values(state.lua, entity);
        if (status) status = call_add(entity);
        if (!status) return status;
    }
    return {};
}

// --- what a world calls ------------------------------------------------------------------------------------------

Result<std::uint32_t> LuaStore::add_values(const Schema& component, std::span<const Entity> entities,
                                           const AddedValues& values) {
    if (component.layout_hash() != schema_.layout_hash())
        return Status::error(concat("\"", schema_.name(), "\" is kept by a script with other fields"));
    if (values.write != nullptr) return Status::error(concat("\"", schema_.name(), "\" takes values that are bytes"));
    const CallScope scope(*script_.state, &script_);
    Array<Entity> added{Owner("scripts")};
    for (std::size_t i = 0; i < entities.size(); ++i) {
        const bool had = has(entities[i]);
        const std::byte* const image =
            values.images == nullptr ? schema_.default_image().data() : values.images + i * values.stride;
        if (Status status = add_image(entities[i], image); !status) {
            for (const Entity entity : added) remove(entity);
            return status;
        }
        if (!had) added.push_back(entities[i]);
    }
    return static_cast<std::uint32_t>(entities.size());
}

Result<std::uint32_t> LuaStore::remove_values(const Schema&, std::span<const Entity> entities) {
    const CallScope scope(*script_.state, &script_);
    return static_cast<std::uint32_t>(std::ranges::count_if(entities, [&](Entity entity) { return remove(entity); }));
}

Status LuaStore::spawn(const SpawnBatch& batch) {
    const CallScope scope(*script_.state, &script_);
    Array<std::byte> image(schema_.struct_bytes(), std::byte(0), Owner("scripts"));
    const std::size_t num_before = owners_.size();
    for (std::uint32_t copy = 0; copy < batch.num_copies; ++copy) {
        for (std::size_t i = 0; i < batch.entity_index.size(); ++i) {
            read_batch_image(batch, copy, i, schema_, image.data());
            if (Status status = add_image(batch.owner(copy, i), image.data()); !status) {
                while (owners_.size() > num_before) remove(owners_.back());
                return status;
            }
        }
    }
    return {};
}

void LuaStore::drop(std::span<const Entity> entities) {
    const CallScope scope(*script_.state, &script_);
    for (const Entity entity : entities) remove(entity);
}

void LuaStore::settle(const SettleContext& context) {
    State& state = *script_.state;
    EntityManager& entities = state.world.entities();
    const CallScope scope(state, &script_);
    const DeathRange dead = entities.deaths(cursor_);
    const std::size_t num_before = owners_.size();
    Array<Entity> gone(dead.entities.begin(), dead.entities.end(), Owner("scripts"));
    if (dead.fell_behind) {
        gone.clear();
        for (const Entity owner : owners_)
            if (!entities.alive(owner)) gone.push_back(owner);
    }
    entities.advance(cursor_, dead.end);
    for (const Entity entity : gone) remove(entity);
    if (context.counts != nullptr) context.counts->num_removed += num_before - owners_.size();
    if (settle_ == LUA_NOREF) return;
    lua_rawgeti(state.lua, LUA_REGISTRYINDEX, settle_);
    if (const Status status = state.call(state.lua, 0, 0); !status)
        state.report(concat("store of \"", schema_.name(), "\" of script \"", script_.name, "\""), status);
}

std::size_t LuaStore::statistics(std::span<StoreStatistics> out) const {
    if (!out.empty()) out[0] = {.component = schema_.name(), .num_rows = owners_.size()};
    return 1;
}

// --- stores of scripts -------------------------------------------------------------------------------------------

LuaStore* find_lua_store(const State& state, const Store* store) {
    for (const Script* script : state.scripts)
        for (LuaStore* one : script->stores)
            if (one == store) return one;
    return nullptr;
}

Status attach_store(LuaStore& store) { return store.script().state->world.attach(store); }

void detach_store(LuaStore& store) {
    World& world = store.script().state->world;
    if (std::ranges::find(world.stores(), &store) != world.stores().end()) world.detach(store);
}

void destroy_store(LuaStore* store) {
    detach_store(*store);
    std::erase(store->script().stores, store);
    destroy_owned(store);
}

namespace {

int store(lua_State* lua, State& state) {
    if (lua_type(lua, 1) != LUA_TTABLE) return fail(state, "argument 1 is a table that describes a store");
    if (state.rows_are_held()) return fail(state, "stores are made outside of passes and loops");
    lua_settop(lua, 1);
    lua_pushliteral(lua, "component");
    lua_rawget(lua, 1);
    if (lua_type(lua, -1) != LUA_TTABLE)
        return fail(state,
                    "a store has a \"component\": a table with its name and fields, as shoal.component takes it");
    Result<Schema> schema = read_schema(lua, state, 2, "component");
    if (!schema) return fail(state, schema.message());
    if (schema->many() || schema->toggled() || schema->single())
        return fail(state, "a store in Lua keeps one component for an entity; take many, toggled and single away");
    state.forget_paths();
    auto* const made = make_owned<LuaStore>(*state.script, std::move(*schema));
    state.script->stores.push_back(made);
    Status status = made->take_functions(lua, 1);
    if (status) status = attach_store(*made);
    if (status) return 0;
    fail(state, status.message());
    destroy_store(made);
    return kFailed;
}

constexpr Function kStores[] = {{"store", run_body<store>}};

}  // namespace

std::span<const Function> store_functions() { return kStores; }

}  // namespace shoal::lua
