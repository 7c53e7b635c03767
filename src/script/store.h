#pragma once
// A store that is written in Lua. A script has the functions add(entity, values), remove(entity), get(entity),
// set(entity, values) and settle(). The script owns the components. They are also copied to columns here, so that
// queries, observers, properties and reports find them as in other stores.
//
//     spawner, commands -->  add, remove of the script  --get-->  row
//     queries, properties  <-->  row  --set of the script, when a loop or the step has ended-->  get  -->  row
//
// Thread: the same as for other stores. Lua runs only on the structural thread, so the script is not notified of a
// pass's writes until the world settles.

#include "script/state.h"
#include "shoal/store/detail/owned_rows.h"

#include <mutex>

namespace shoal::lua {

class LuaStore final : public Store {
public:
    LuaStore(Script& script, const Schema& schema);
    ~LuaStore() override;
    LuaStore(const LuaStore&) = delete;
    LuaStore& operator=(const LuaStore&) = delete;

    /// Reads the functions of a definition. Errors: a function is missing.
    Status take_functions(lua_State* lua, int table);
    /// Adds the rows of an older version of the store, and sets new fields to their defaults. Errors: the store refuses
    /// them.
    Status take_rows(LuaStore& older);
    /// Calls get() for an entity, and writes the result to its row. Errors: the result does not fit.
    Status show(Entity entity);
    Script& script() const { return script_; }
    const Schema& schema() const { return rows_.schema(); }
    bool has(Entity entity) const { return rows_.has(entity); }

    std::string_view kind() const override { return "a store in Lua"; }
    std::span<const Schema* const> schemas() const override { return rows_.schemas(); }
    OwnedColumns find_columns(const Schema& component) override;
    Result<std::uint32_t> add_values(const Schema& component, std::span<const Entity> entities,
                                     const AddedValues& values) override;
    Result<std::uint32_t> remove_values(const Schema& component, std::span<const Entity> entities) override;
    Status spawn(const SpawnBatch& batch) override;
    void finish_writes(std::uint64_t columns, std::span<const std::uint32_t> rows, Executor* executor) override;
    void drop(std::span<const Entity> entities) override;
    void hold_rows(bool hold) override { rows_.hold(hold); }
    bool is_held() const override { return rows_.is_held(); }
    void settle(const SettleContext& context) override;
    std::span<const Table* const> tables() const override { return rows_.tables(); }
    Status write_field(const ComponentRow& at, const FieldPart& part, const std::byte* value) override;
    std::size_t statistics(std::span<StoreStatistics> out) const override { return rows_.statistics(out); }
    /// Saves the rows. After all stores have been loaded, remove() and add() are called, so that the script recreates
    /// its data from the rows.
    void save(SnapshotWriter& to) const override;
    Status load(SnapshotReader& from) override;
    void finish_load() override;

private:
    Status call(int function, Entity entity, const std::byte* image, int num_results = 0) const;
    Status read_back(Entity entity, std::byte* image) const;
    void read_row(std::uint32_t row, std::byte* image) const;
    Status add(Entity entity, const std::byte* image);
    Status add_all(std::span<const Entity> entities, const std::byte* images, std::size_t stride);
    bool remove(Entity entity);
    std::uint32_t remove_all(std::span<const Entity> entities);
    static void remove_dead(void* self, std::span<const Entity> entities);
    Status tell(Entity entity);
    void tell_later(Entity entity);
    void tell_all();
    void report(const Status& failure) const;

    Script& script_;
    OwnedRows rows_;
    int add_ = LUA_NOREF, remove_ = LUA_NOREF, get_ = LUA_NOREF, set_ = LUA_NOREF, settle_ = LUA_NOREF;
    mutable std::string last_error_;
    std::mutex mutex_;
    Array<Entity> forgotten_{Owner("scripts")};  // the entities that existed before a load
    Array<Entity> told_{Owner("scripts")};       // entities that passes have written; guarded by mutex_
};

/// Returns a world's store as a Lua store; nullptr if it is a different kind of store.
LuaStore* find_lua_store(const State& state, const Store* store);

}  // namespace shoal::lua
