#pragma once
// A store without tables: a list of components, each a struct image whose references are translated.

#include "resource/samples.h"
#include "shoal/resource/spawner.h"

#include <gtest/gtest.h>

#include <cstring>
#include <utility>
#include <vector>

namespace resource_test {

class FakeStore final : public Store {
public:
    struct Row {
        Entity owner;
        std::vector<std::byte> image;
    };

    explicit FakeStore(const Schema& schema) : schema_(schema) {}
    ~FakeStore() override { EXPECT_FALSE(is_spawning) << "a spawn that began was not finished"; }

    std::span<const Schema* const> schemas() const override { return {&schema_pointer_, 1}; }

    Status spawn(const SpawnBatch& batch) override {
        ++num_batches;
        parents.assign(batch.parents.begin(), batch.parents.end());
        num_root_poses = batch.root_poses.size();
        if (is_full) return Status::error("the store is full");
        for (std::uint32_t copy = 0; copy < batch.num_copies; ++copy) {
            const std::span<const Entity> entities =
                batch.entities.subspan(std::size_t(copy) * batch.num_blob_entities, batch.num_blob_entities);
            for (std::size_t i = 0; i < batch.entity_index.size(); ++i) {
                rows.push_back({entities[batch.entity_index[i]], gather(schema_, batch.columns, i)});
                translate(rows.back().image, entities);
            }
        }
        return {};
    }

    void begin_spawn() override {
        EXPECT_FALSE(std::exchange(is_spawning, true)) << "once for all batches of a spawn";
        num_rows_before = rows.size();
    }
    Status finish_spawn() override {
        EXPECT_TRUE(std::exchange(is_spawning, false)) << "only a spawn that began";
        if (!is_full_at_end) return {};
        rows.resize(num_rows_before);
        return Status::error("the store is full in the end");
    }

    void drop(std::span<const Entity> entities) override {
        ++num_drops;
        std::erase_if(rows, [&](const Row& row) {
            return std::find(entities.begin(), entities.end(), row.owner) != entities.end();
        });
    }

    void settle(const SettleContext&) override {}
    std::span<const Table* const> tables() const override { return {}; }
    std::size_t statistics(std::span<StoreStatistics>) const override { return 0; }

    template <class T>
    T row_as(std::size_t row) const {
        T component;
        std::memcpy(static_cast<void*>(&component), rows[row].image.data(), sizeof component);
        return component;
    }

    std::vector<Row> rows;
    int num_batches = 0;
    int num_drops = 0;
    std::vector<std::uint32_t> parents;  // of the last batch
    std::size_t num_root_poses = 0;
    std::size_t num_rows_before = 0;  // the spawn
    bool is_spawning = false;
    bool is_full = false;
    bool is_full_at_end = false;

private:
    void translate(std::vector<std::byte>& image, std::span<const Entity> entities) const {
        for (const Field& field : schema_.fields()) {
            if (field.type != FieldType::kEntity) continue;
            for (std::size_t i = 0; i < field.num_values(); ++i) {
                const std::size_t offset = field.struct_offset + i * sizeof(Entity);
                const auto index = get<EntityBits>(image, offset);
                put(image, offset, index == kNoReference ? kNullEntity : entities[static_cast<std::size_t>(index)]);
            }
        }
    }

    const Schema& schema_;
    const Schema* schema_pointer_ = &schema_;
};

}  // namespace resource_test
