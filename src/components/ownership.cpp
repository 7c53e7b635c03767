#include "shoal/components/ownership.h"

#include "shoal/base/text.h"

#include <algorithm>
#include <cstring>

namespace shoal {
namespace {

constexpr std::uint32_t kOwnerColumn = 0;
constexpr std::uint32_t kManyOwned = 16;

/// The blob entity that owns component `i`, or kNoBlobEntity.
std::uint32_t blob_owner(const SpawnBatch& batch, std::size_t i) {
    Entity stored;
    std::memcpy(&stored, batch.columns[kOwnerColumn] + i * sizeof stored, sizeof stored);
    return stored.id < batch.num_blob_entities ? static_cast<std::uint32_t>(stored.id) : kNoBlobEntity;
}

/// Returns a blob entity that owns itself, however indirectly, or kNoBlobEntity.
std::uint32_t find_cycle(const SpawnBatch& batch) {
    Array<std::uint32_t> owner_of = Array<std::uint32_t>(batch.num_blob_entities, kNoBlobEntity, "ownership");
    for (std::size_t i = 0; i < batch.entity_index.size(); ++i) owner_of[batch.entity_index[i]] = blob_owner(batch, i);
    Array<std::uint32_t> walk_of = Array<std::uint32_t>(batch.num_blob_entities, kNoBlobEntity, "ownership");
    for (std::uint32_t start = 0; start < batch.num_blob_entities; ++start) {
        std::uint32_t entity = start;
        while (entity != kNoBlobEntity && walk_of[entity] == kNoBlobEntity) {
            walk_of[entity] = start;
            entity = owner_of[entity];
        }
        if (entity != kNoBlobEntity && walk_of[entity] == start) return entity;
    }
    return kNoBlobEntity;
}

}  // namespace

OwnershipManager::OwnershipManager(EntityManager& entities, PagePool& pool)
    : entities_(entities), table_(schema_of<Owned>(), pool, {.tree = true}) {
    table_.attach_index(&index_);
    callback_ = entities.add_destruction_callback(
        [](void* self, std::span<const Entity> dead) { static_cast<OwnershipManager*>(self)->take_along(dead); }, this);
}

OwnershipManager::~OwnershipManager() { entities_.remove_destruction_callback(callback_); }

// --- owning and releasing ----------------------------------------------------------------------------------------

Status OwnershipManager::own(Entity owner, std::span<const Entity> owned) {
    if (!entities_.alive(owner)) return Status::error("an entity that is not alive cannot own others");
    Array<Entity> newcomers{Owner("ownership")};  // a copy: `owned` may lie in the table
    Array<Entity> owning{Owner("ownership")};     // those that could own the owner
    std::uint32_t highest = owner.index();
    for (const Entity entity : owned) {
        if (!entities_.alive(entity)) continue;
        newcomers.push_back(entity);
        highest = std::max(highest, entity.index());
        const std::uint32_t row = index_.find(entity);
        const bool owns = row != kNilRow && table_.links(LinkColumn::kTreeFirstChild)[row] != kNilRow;
        if (owns || entity == owner) owning.push_back(entity);
    }
    std::sort(owning.begin(), owning.end());
    for (Entity above = owner; above && !owning.empty(); above = this->owner(above))
        if (std::binary_search(owning.begin(), owning.end(), above))
            return Status::error("an entity cannot own itself, or one that owns it; release the owner first");
    if (newcomers.empty()) return {};
    if (Status status = reserve(newcomers.size() + 1, highest); !status) return status;
    for (const Entity entity : newcomers) link(entity, owner);
    return {};
}

Status OwnershipManager::reserve(std::size_t num_rows, std::uint32_t highest_index) {
    if (num_rows > table_.capacity_rows() - table_.num_rows())
        return Status::error(concat("ownership holds ", table_.num_rows(), " rows and at most ", table_.capacity_rows(),
                                    "; ", num_rows, " more do not fit"));
    const auto count = static_cast<std::uint32_t>(num_rows);
    if (Status status = index_.reserve(count, highest_index); !status) return status;
    return table_.reserve(count);
}

/// Returns the row of a living entity, made if there is none. Requires: reserved.
std::uint32_t OwnershipManager::row_of(Entity entity) {
    const std::uint32_t there = index_.find_any_generation(entity);
    if (there != kNilRow && table_.entities()[there] == entity) return there;
    // Its index was given out again before this manager was told of a death.
    if (there != kNilRow) {
        const Entity dead = table_.entities()[there];
        take_along({&dead, 1});
    }
    const std::uint32_t row = table_.append({&entity, 1});
    std::memcpy(table_.write_element(kOwnerColumn, row), &kNullEntity, sizeof(Entity));
    index_.set(entity, row);
    return row;
}

/// Requires: reserved; `owned` owns no owner of `owner`.
void OwnershipManager::link(Entity owned, Entity owner) {
    const Entity before = this->owner(owned);
    if (before == owner) return;
    row_of(owner);
    const std::uint32_t row = row_of(owned);  // may move the owner's
    table_.link_tree(row, index_.find(owner));
    std::memcpy(table_.write_element(kOwnerColumn, row), &owner, sizeof owner);
    if (before) remove_if_idle(index_.find(before));
}

/// Sets a row free; its links go too.
void OwnershipManager::unlink(std::uint32_t row) {
    table_.link_tree(row, kNilRow);
    std::memcpy(table_.write_element(kOwnerColumn, row), &kNullEntity, sizeof(Entity));
}

/// Removes a row. If the last one, which takes its place, owns many, it changes places with one half way down before:
/// it would move with every row that goes, and a move costs a step for each that it owns.
void OwnershipManager::remove_row(std::uint32_t row) {
    const std::uint32_t last = table_.num_rows() - 1, down = last / 2;
    const std::span<const std::uint32_t> next = table_.links(LinkColumn::kTreeNext);
    std::uint32_t num_owned = 0;
    for (std::uint32_t child = table_.links(LinkColumn::kTreeFirstChild)[last];
         child != kNilRow && num_owned < kManyOwned; child = next[child])
        ++num_owned;
    if (num_owned == kManyOwned && row != last) {
        table_.swap(down, last);
        if (row == down) row = last;
    }
    table_.remove(row);
}

void OwnershipManager::remove_if_idle(std::uint32_t row) {
    if (row == kNilRow) return;
    const auto none = [&](LinkColumn link) { return table_.links(link)[row] == kNilRow; };
    if (none(LinkColumn::kTreeParent) && none(LinkColumn::kTreeFirstChild)) remove_row(row);
}

std::uint32_t OwnershipManager::release(std::span<const Entity> owned) {
    const Array<Entity> entities = Array<Entity>(owned.begin(), owned.end(), "ownership");
    std::uint32_t num_released = 0;
    for (const Entity entity : entities) {
        const Entity before = owner(entity);
        if (!before) continue;
        ++num_released;
        unlink(index_.find(entity));
        remove_if_idle(index_.find(entity));
        remove_if_idle(index_.find(before));
    }
    return num_released;
}

Entity OwnershipManager::owner(Entity owned) const {
    const std::uint32_t row = index_.find(owned);
    if (row == kNilRow) return kNullEntity;
    const std::uint32_t parent = table_.links(LinkColumn::kTreeParent)[row];
    return parent == kNilRow ? kNullEntity : table_.entities()[parent];
}

// --- death -------------------------------------------------------------------------------------------------------

/// Removes the rows of the dead and asks for the deaths of what they own.
void OwnershipManager::take_along(std::span<const Entity> dead) {
    if (table_.num_rows() == 0) return;
    Array<Entity> next{Owner("ownership")};
    for (const Entity entity : dead)
        for_each_owned(entity, [&](Entity owned) {
            if (entities_.alive(owned)) next.push_back(owned);
        });
    drop(dead);
    if (!next.empty()) entities_.destroy_next(next);
}

void OwnershipManager::drop(std::span<const Entity> entities) {
    const Array<Entity> leaving = Array<Entity>(entities.begin(), entities.end(), "ownership");
    Array<Entity> freed{Owner("ownership")};
    for (const Entity entity : leaving) {
        const std::uint32_t row = index_.find(entity);
        if (row == kNilRow) continue;
        const Entity before = owner(entity);
        freed.clear();
        for_each_owned(entity, [&](Entity owned) { freed.push_back(owned); });
        remove_row(row);
        if (before) remove_if_idle(index_.find(before));
        for (const Entity owned : freed) {
            unlink(index_.find(owned));
            remove_if_idle(index_.find(owned));
        }
    }
}

// --- store -------------------------------------------------------------------------------------------------------

Status OwnershipManager::spawn(const SpawnBatch& batch) {
    SHOAL_ASSERT(batch.component == schema_->id() && batch.columns.size() == schema_->columns().size(),
                 "the batch is of another component type");
    if (const std::uint32_t entity = find_cycle(batch); entity != kNoBlobEntity)
        return Status::error(concat("the entity at place ", entity, " of the resource owns itself, through those that ",
                                    "it owns; take \"owned\" from one of them"));
    std::uint32_t highest = 0;
    for (const Entity entity : batch.entities) {
        highest = std::max(highest, entity.index());
        if (index_.find(entity) != kNilRow)
            return Status::error("an entity of the batch owns others or is owned already");
    }
    const std::size_t most_rows = std::min(batch.entities.size(), 2 * batch.entity_index.size() * batch.num_copies);
    if (Status status = reserve(most_rows, highest); !status) return status;
    for (std::uint32_t copy = 0; copy < batch.num_copies; ++copy)
        for (std::size_t i = 0; i < batch.entity_index.size(); ++i) {
            const std::uint32_t owner = blob_owner(batch, i);
            if (owner == kNoBlobEntity) continue;
            link(batch.owner(copy, i), batch.entities[std::size_t(copy) * batch.num_blob_entities + owner]);
        }
    return {};
}

void OwnershipManager::settle(const SettleContext& context) {
    table_.settle_memory();
    table_.set_stamp(std::max(table_.stamp(), context.stamp));
}

std::size_t OwnershipManager::statistics(std::span<StoreStatistics> out) const {
    if (!out.empty())
        out[0] = {.component = schema_->name(),
                  .num_rows = table_.num_rows(),
                  .rows = table_.memory_use(),
                  .index = index_.memory_use()};
    return 1;
}

Status OwnershipManager::validate() const {
    if (Status status = table_.validate(); !status) return status;
    const auto* owners = reinterpret_cast<const Entity*>(table_.column(kOwnerColumn));
    for (std::uint32_t row = 0; row < table_.num_rows(); ++row) {
        const Entity entity = table_.entities()[row];
        if (!entities_.alive(entity)) return Status::error(concat("ownership: row ", row, " is of a dead entity"));
        if (owners[row] != owner(entity))
            return Status::error(concat("ownership: row ", row, " names another owner than its link"));
        if (!owners[row] && table_.links(LinkColumn::kTreeFirstChild)[row] == kNilRow)
            return Status::error(concat("ownership: row ", row, " neither owns nor is owned"));
    }
    return {};
}

}  // namespace shoal
