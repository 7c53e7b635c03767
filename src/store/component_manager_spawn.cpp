// Spawning: all components of one type of a blob, as often as there are copies, in a few long copies.

#include "shoal/base/text.h"
#include "shoal/store/component_manager.h"

#include <algorithm>
#include <cstring>

namespace shoal {
namespace {

constexpr std::size_t kMaxSpread = 4;  // indices per entity of a batch that is looked at as a whole

/// Turns the blob entity that an Entity field holds into the entity of one copy.
Entity translate(const SpawnBatch& batch, std::uint32_t copy, Entity stored) {
    if (stored.id >= batch.num_blob_entities) return kNullEntity;  // none; a checked blob holds nothing else
    return batch.entities[std::size_t(copy) * batch.num_blob_entities + static_cast<std::size_t>(stored.id)];
}

struct IndexRange {
    std::uint32_t lowest = 0xFFFFFFFF, highest = 0;
};

/// The lowest and the highest index of `entities`.
IndexRange index_range(std::span<const Entity> entities) {
    IndexRange range;
    // A loop for each of the two, or g++ makes no vectors of them; over few, so that the second finds them in the
    // cache.
    while (!entities.empty()) {
        const std::span<const Entity> some = entities.first(std::min<std::size_t>(entities.size(), 1024));
        std::uint32_t lowest = 0xFFFFFFFF, highest = 0;
        for (std::size_t i = 0; i < some.size(); ++i) lowest = std::min(lowest, some[i].index());
        for (std::size_t i = 0; i < some.size(); ++i) highest = std::max(highest, some[i].index());
        range = {std::min(range.lowest, lowest), std::max(range.highest, highest)};
        entities = entities.subspan(some.size());
    }
    return range;
}

}  // namespace

/// Whether the index keeps nothing between the lowest and the highest index of a batch. Entities made together mostly
/// lie close together: then this is a loop over vectors, where a look-up per entity costs as much as copying it.
bool ComponentManager::is_free(std::uint32_t lowest_index, std::uint32_t highest_index) const {
    const std::span<const EntityBits> entries = index_.entries();
    const std::size_t begin = std::min<std::size_t>(lowest_index, entries.size());
    const std::size_t end = std::min<std::size_t>(highest_index + std::size_t(1), entries.size());
    EntityBits any = 0;
    for (const EntityBits entry : entries.subspan(begin, end - begin)) any |= entry;
    return any == 0;
}

/// Asserts what the store interface requires.
void ComponentManager::require_batch(const SpawnBatch& batch) const {
    SHOAL_ASSERT(batch.component == schema_.id() && batch.columns.size() == schema_.columns().size(),
                 "the batch is of another component type");
    SHOAL_ASSERT(batch.entities.size() == std::size_t(batch.num_blob_entities) * batch.num_copies,
                 "a batch has as many entities as there are blob entities in all copies");
    SHOAL_ASSERT(!schema_.has_opaque(), "a component with opaque fields cannot be spawned from a blob");
    std::uint32_t highest_owner = 0;
    for (const std::uint32_t owner : batch.entity_index) highest_owner = std::max(highest_owner, owner);
    SHOAL_ASSERT(batch.entity_index.empty() || highest_owner < batch.num_blob_entities,
                 "the owner of a component is not among the blob entities");
}

/// Removes what older entities left on the indices of the new ones, and makes room.
Status ComponentManager::make_room(const SpawnBatch& batch, std::uint32_t highest) {
    for (std::uint32_t copy = 0; copy < batch.num_copies; ++copy)
        for (std::size_t i = 0; i < batch.entity_index.size(); ++i) {
            const Entity owner = batch.owner(copy, i);
            if (SHOAL_LIKELY(index_.find_any_generation(owner) == kNilRow)) continue;
            remove_stale(owner);
            if (!schema_.many() && has(owner))
                return Status::error(concat("an entity of the batch has a \"", schema_.name(), "\" already"));
        }
    return reserve_rows(batch.entity_index.size() * batch.num_copies, highest);
}

Status ComponentManager::spawn(const SpawnBatch& batch) {
    require_unlocked();
    require_batch(batch);
    if (batch.entity_index.empty() || batch.num_copies == 0) return {};
    const auto [lowest, highest] = index_range(batch.entities);
    SHOAL_ASSERT(lowest != 0, "an entity of the batch is null");
    const bool is_compact = highest - lowest < kMaxSpread * batch.entities.size();
    Status status = plain_index_ && is_compact && is_free(lowest, highest)
                        ? reserve_rows(batch.entity_index.size() * batch.num_copies, highest)
                        : make_room(batch, highest);
    if (!status) return status;
    if (options_.index == RowIndexKind::kIdentity)
        spawn_in_place(batch);
    else
        spawn_packed(batch);
    return {};
}

void ComponentManager::spawn_packed(const SpawnBatch& batch) {
    const auto count = static_cast<std::uint32_t>(batch.entity_index.size());
    const std::uint32_t first = table_.num_rows();
    ++num_structural_changes_;
    const std::span<Entity> owners = table_.append_unowned(count * batch.num_copies);
    for (std::uint32_t copy = 0; copy < batch.num_copies; ++copy) {
        const RowRange rows{first + copy * count, first + (copy + 1) * count};
        place_copy(batch, copy, rows, owners.data() + std::size_t(copy) * count);
        table_.copy_columns(rows, batch.columns);
        if (schema_.has(FieldType::kEntity)) translate_entities(batch, rows, copy);
    }
    // Heads are pushed last to first, so that a chain is in source order.
    for (std::uint32_t row = table_.num_rows(); schema_.many() && row-- > first;) table_.push_chain(row);
}

/// Writes the owners of one copy, and their rows to the index.
void ComponentManager::place_copy(const SpawnBatch& batch, std::uint32_t copy, RowRange rows, Entity* owners) {
    if (!plain_index_) {
        for (std::uint32_t row = rows.begin; row < rows.end; ++row) {
            const Entity owner = batch.owner(copy, row - rows.begin);
            *owners++ = owner;
            if (!schema_.many()) index_.set(owner, row);
        }
        return;
    }
    EntityBits* const __restrict entries = index_.entries().data();
    const Entity* const entities = batch.entities.data() + std::size_t(copy) * batch.num_blob_entities;
    const std::uint32_t* const from = batch.entity_index.data();
    for (std::uint32_t i = 0; i < rows.size(); ++i) {
        const Entity owner = entities[from[i]];
        owners[i] = owner;
        entries[owner.index()] = RowIndex::entry_of(owner, rows.begin + i);
    }
}

/// Rows are entity indices: every component goes to a place of its own.
void ComponentManager::spawn_in_place(const SpawnBatch& batch) {
    const std::span<const ColumnDefinition> columns = schema_.columns();
    for (std::uint32_t copy = 0; copy < batch.num_copies; ++copy)
        for (std::size_t i = 0; i < batch.entity_index.size(); ++i) {
            const std::uint32_t row = place(batch.owner(copy, i));
            for (std::uint32_t c = 0; c < columns.size(); ++c) {
                const std::size_t bytes = columns[c].element_bytes;
                std::memcpy(table_.write_element(c, row), batch.columns[c] + i * bytes, bytes);
            }
            if (schema_.has(FieldType::kEntity)) translate_entities(batch, {row, row + 1}, copy);
        }
}

void ComponentManager::translate_entities(const SpawnBatch& batch, RowRange rows, std::uint32_t copy) {
    for (const Field& field : schema_.fields()) {
        if (field.type != FieldType::kEntity) continue;
        const ColumnDefinition& column = schema_.columns()[field.first_column];
        const std::size_t offset = schema_.whole() ? field.struct_offset : 0;
        std::byte* data = table_.write_column(field.first_column, rows) + offset;
        for (std::uint32_t row = rows.begin; row < rows.end; ++row)
            for (std::uint32_t value = 0; value < field.num_values(); ++value) {
                std::byte* place = data + std::size_t(row) * column.element_bytes + value * sizeof(Entity);
                Entity entity;
                std::memcpy(&entity, place, sizeof entity);
                entity = translate(batch, copy, entity);
                std::memcpy(place, &entity, sizeof entity);
            }
    }
}

}  // namespace shoal
