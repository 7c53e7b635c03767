#pragma once
// A store that is written in Lua: add(entity, values), remove(entity), get(entity) and settle() are functions of a script. The
// store keeps who has a component, and the script what it is.

#include "script/state.h"

namespace shoal::lua {

class LuaStore final : public Store {
public:
    LuaStore(Script& script, Schema&& schema);
    ~LuaStore() override;
    LuaStore(const LuaStore&) = delete;
    LuaStore& operator=(const LuaStore&) = delete;

    /// Takes the functions of a definition. Errors: one is missing.
    Status take_functions(lua_State* lua, int table);
    /// Adds the rows of an older version of the store.
    Status take_rows(LuaStore& older);
    Script& script() const { return script_; }
    const Schema& schema() const { return schema_; }
    bool has(Entity entity) const;
    Status push_values(lua_State* lua, Entity entity);

    std::string_view kind() const override { return "a store in Lua"; }
    std::span<const Schema* const> schemas() const override { return schemas_; }
    Result<std::uint32_t> add_values(const Schema& component, std::span<const Entity> entities,
                                     const AddedValues& values) override;
    Result<std::uint32_t> remove_values(const Schema& component, std::span<const Entity> entities) override;
    Status spawn(const SpawnBatch& batch) override;
    void drop(std::span<const Entity> entities) override;
    void settle(const SettleContext& context) override;
    std::span<const Table* const> tables() const override { return {}; }
    std::size_t statistics(std::span<StoreStatistics> out) const override;

private:
    Status call_add(Entity entity);
    Status add_image(Entity entity, const std::byte* image);
    bool remove(Entity entity);

    Script& script_;
    const Schema schema_;
    const Schema* const schemas_[1];
    int add_ = LUA_NOREF, remove_ = LUA_NOREF, get_ = LUA_NOREF, settle_ = LUA_NOREF;
    Array<Entity> owners_{Owner("scripts")};
    HashMap<std::uint32_t, std::uint32_t> places_{Owner("scripts")};  // among the owners, by index of the entity
    DeathCursor cursor_{};
};

/// Returns the store in Lua that a store of a world is, or nullptr.
LuaStore* find_lua_store(const State& state, const Store* store);

}  // namespace shoal::lua
