#pragma once
// A store that a plugin implements. Calls from the world are forwarded to the plugin's functions. The rows are in the
// plugin's memory. The table here only refers to them, so that queries, observers and reports find them as in other
// stores.
//
//     world, spawner, commands --> PluginStore --> shoal_store of the plugin
//     queries, observers       --> table, index --> columns of the plugin
//
// Thread: the same as for other stores.

#include "plugin/host.h"
#include "shoal/store/detail/owned_rows.h"

namespace shoal {

class PluginStore final : public Store {
public:
    PluginStore(shoal_world& owner, const Schema& schema, const shoal_store& given);
    ~PluginStore() override;

    const Schema& schema() const { return rows_.schema(); }
    std::uint64_t num_rows() const { return rows_.num_rows(); }
    /// Updates the table from the plugin's current rows. Errors: the rows are invalid. On error, the store has no rows.
    Status refresh();
    /// Gives the context back to the plugin, so that its function `end` is not called.
    void let_go() { given_.end = nullptr; }
    /// Marks all rows as written.
    void mark_all() { rows_.table().stamp_rows({0, rows_.num_rows()}); }
    bool is_saved() const { return given_.save != nullptr && given_.load != nullptr; }
    Status save(Array<std::byte>& bytes) const;
    Status load(const SavedStore& saved);

    // Overrides of Store.
    std::string_view kind() const override { return kind_; }
    std::span<const Schema* const> schemas() const override { return rows_.schemas(); }
    OwnedColumns find_columns(const Schema& component) override;
    Result<std::uint32_t> add_values(const Schema& component, std::span<const Entity> entities,
                                     const AddedValues& values) override;
    Result<std::uint32_t> remove_values(const Schema& component, std::span<const Entity> entities) override;
    Status spawn(const SpawnBatch& batch) override;
    void begin_spawn() override { spawned_.clear(); }
    Status finish_spawn() override;
    void finish_writes(std::uint64_t columns, std::span<const std::uint32_t> rows, Executor* executor) override;
    void drop(std::span<const Entity> entities) override;
    void hold_rows(bool hold) override { rows_.hold(hold); }
    bool is_held() const override { return rows_.is_held(); }
    void settle(const SettleContext& context) override { rows_.settle(context); }
    std::span<const Table* const> tables() const override { return rows_.tables(); }
    ComponentRow find_row(ComponentId component, Entity entity, std::uint32_t index) const override;
    void read_field(const ComponentRow& at, const FieldPart& part, std::byte* value) const override;
    Status write_field(const ComponentRow& at, const FieldPart& part, const std::byte* value) override;
    /// These call the plugin's functions. If the plugin does not have them, the values are lost when it is replaced.
    void save(SnapshotWriter& to) const override;
    Status load(SnapshotReader& from) override;
    std::size_t statistics(std::span<StoreStatistics> out) const override;

private:
    bool has_columns() const { return given_.get == nullptr; }
    Status add(std::span<const Entity> entities, const void* images, std::size_t stride);
    std::uint32_t remove(std::span<const Entity> entities);
    static void remove_dead(void* self, std::span<const Entity> entities);
    Status check(const shoal_rows& shown, Array<std::byte*>& columns) const;
    Status keep(const Status& status) const;
    void set_parents(const PluginSpawn& spawned);
    std::uint32_t number_of(const FieldPart& part) const;

    shoal_world& owner_;
    shoal_store given_;
    const std::string kind_;
    const Schema row_schema_;  // schema of the table, without columns
    OwnedRows rows_;
    Array<Entity> spawned_{Owner("plugins")};  // entities spawned since begin_spawn()
};

}  // namespace shoal
