// Makes entities own and release others, and destroys the entities that dead owners owned.

#include "shoal/components/ownership.h"

#include "shoal/base/detail/bytes.h"
#include "shoal/base/log.h"
#include "shoal/base/text.h"
#include "shoal/entity/entity_text.h"
#include "shoal/state/snapshot.h"
#include "shoal/store/detail/stable_span.h"

#include <algorithm>
#include <cstring>

namespace shoal {
namespace {

constexpr std::uint32_t kOwnerColumn = 0;
constexpr std::uint32_t kManyOwned = 16;

/// Returns the blob entity that component `i` names as the owner, or kNoBlobEntity.
std::uint32_t blob_owner(const SpawnBatch& batch, std::size_t i) {
    const auto stored = read_as<Entity>(batch.columns[kOwnerColumn] + i * sizeof(Entity));
    return stored.id < batch.num_blob_entities ? static_cast<std::uint32_t>(stored.id) : kNoBlobEntity;
}

/// Returns a blob entity that directly or indirectly owns itself, or kNoBlobEntity.
std::uint32_t find_cycle(const SpawnBatch& batch) {
    Array<std::uint32_t> owner_of(batch.num_blob_entities, kNoBlobEntity, "ownership");
    for (std::size_t i = 0; i < batch.entity_index.size(); ++i) owner_of[batch.entity_index[i]] = blob_owner(batch, i);
    Array<std::uint32_t> walk_of(batch.num_blob_entities, kNoBlobEntity, "ownership");
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

OwnedColumns OwnershipManager::find_columns(const Schema& component) {
    OwnedColumns columns = rows_.find_columns(component);
    columns.is_read_only = true;  // the links hold the same data
    columns.needs_parent = true;
    columns.instead = "own entities with Commands::add(owned, Owned{owner}) or OwnershipManager::own()";
    return columns;
}

Result<std::uint32_t> OwnershipManager::remove_values(const Schema&, std::span<const Entity> entities) {
    return release(entities);
}

/// Reserves memory for the entities and the same number of owners.
Result<bool> OwnershipManager::prepare_values(const Schema&, std::span<const Entity> entities, bool removes) {
    if (!removes)
        if (Status status = rows_.reserve(2 * entities.size()); !status) return status;
    return true;
}

Result<std::uint32_t> OwnershipManager::add_values(const Schema&, std::span<const Entity> entities,
                                                   const AddedValues& values) {
    std::uint32_t num_owned = 0;
    for (std::size_t i = 0; i < entities.size(); ++i) {
        Owned owned;
        if (values.images != nullptr) std::memcpy(&owned, values.images + i * values.stride, sizeof owned);
        Status status;
        if (!owned.owner)
            release(entities[i]);
        else
            status = own(owned.owner, entities[i]);
        if (status)
            ++num_owned;
        else
            log(LogLevel::kError, concat("entity ", entity_text(entities[i]), " was not given to ",
                                         entity_text(owned.owner), ": ", status.message()));
    }
    return num_owned;
}

OwnershipManager::OwnershipManager(EntityManager& entities, PagePool& pool)
    : entities_(entities),
      rows_(schema_of<Owned>(), entities, pool,
            {.death = DeathPolicy::kByCallback,
             .tree = true,
             .remove_dead =
                 [](void* self, std::span<const Entity> dead) {
                     static_cast<OwnershipManager*>(self)->destroy_owned(dead);
                 },
             .store = this,
             .kind = "the owners"}) {}

OwnershipManager::~OwnershipManager() = default;

// --- owning and releasing ----------------------------------------------------------------------------------------

Status OwnershipManager::own(Entity owner, std::span<const Entity> owned) {
    if (!entities_.alive(owner)) return Status::error("an entity that is not alive cannot own others");
    Array<Entity> newcomers{Owner("ownership")};  // a copy, because `owned` may be in the table
    Array<Entity> owning{Owner("ownership")};     // newcomers that might be or own `owner`
    std::uint32_t highest = owner.index();
    for (const Entity entity : owned) {
        if (!entities_.alive(entity)) continue;
        newcomers.push_back(entity);
        highest = std::max(highest, entity.index());
        const std::uint32_t row = rows_.find(entity);
        const bool owns = row != kNilRow && table().links(LinkColumn::kTreeFirstChild)[row] != kNilRow;
        if (owns || entity == owner) owning.push_back(entity);
    }
    std::sort(owning.begin(), owning.end());
    for (Entity above = owner; above && !owning.empty(); above = this->owner(above))
        if (std::binary_search(owning.begin(), owning.end(), above))
            return Status::error("an entity cannot own itself, or one that owns it; release the owner first");
    if (newcomers.empty()) return {};
    if (Status status = rows_.reserve(newcomers.size() + 1, highest); !status) return status;
    for (const Entity entity : newcomers) link(entity, owner);
    return {};
}

/// Returns the row of a living entity, adding it if there is none. Requires: memory is reserved.
std::uint32_t OwnershipManager::row_of(Entity entity) {
    if (rows_.remove_stale(entity)) return rows_.find(entity);
    const std::uint32_t row = rows_.append(entity);
    std::memcpy(rows_.table().write_element(kOwnerColumn, row), &kNullEntity, sizeof(Entity));
    return row;
}

/// Requires: memory is reserved, and `owned` does not directly or indirectly own `owner`.
void OwnershipManager::link(Entity owned, Entity owner) {
    const Entity before = this->owner(owned);
    if (before == owner) return;
    row_of(owner);
    const std::uint32_t row = row_of(owned);  // may move the owner's row
    rows_.table().link_tree(row, rows_.find(owner));
    std::memcpy(rows_.table().write_element(kOwnerColumn, row), &owner, sizeof owner);
    if (before) remove_if_idle(rows_.find(before));
}

/// Releases a row from its owner.
void OwnershipManager::unlink(std::uint32_t row) {
    rows_.table().link_tree(row, kNilRow);
    std::memcpy(rows_.table().write_element(kOwnerColumn, row), &kNullEntity, sizeof(Entity));
}

Status OwnershipManager::write_field(const ComponentRow& at, const FieldPart&, const std::byte* value) {
    const Entity owned = table().entities()[at.row];
    const auto owner = read_as<Entity>(value);
    if (owner) return own(owner, owned);
    release(owned);
    return {};
}

/// Removes a row. If the last row owns many entities, it is first swapped with a row in the middle. Otherwise, that row
/// would move whenever a row is removed, and each move would take a step for each entity that the row owns.
void OwnershipManager::remove_row(std::uint32_t row) {
    const std::uint32_t last = rows_.num_rows() - 1, down = last / 2;
    const std::span<const std::uint32_t> next = table().links(LinkColumn::kTreeNext);
    std::uint32_t num_owned = 0;
    for (std::uint32_t child = table().links(LinkColumn::kTreeFirstChild)[last];
         child != kNilRow && num_owned < kManyOwned; child = next[child])
        ++num_owned;
    if (num_owned == kManyOwned && row != last) {
        rows_.table().swap(down, last);
        if (row == down) row = last;
    }
    rows_.remove_row(row);
}

void OwnershipManager::remove_if_idle(std::uint32_t row) {
    if (row == kNilRow) return;
    const auto none = [&](LinkColumn link) { return table().links(link)[row] == kNilRow; };
    if (none(LinkColumn::kTreeParent) && none(LinkColumn::kTreeFirstChild)) remove_row(row);
}

std::uint32_t OwnershipManager::release(std::span<const Entity> owned) {
    rows_.require_unlocked("release()");
    const StableSpan entities(owned, table().entities());
    std::uint32_t num_released = 0;
    for (const Entity entity : entities.get()) {
        const Entity before = owner(entity);
        if (!before) continue;
        ++num_released;
        unlink(rows_.find(entity));
        remove_if_idle(rows_.find(entity));
        remove_if_idle(rows_.find(before));
    }
    return num_released;
}

Entity OwnershipManager::owner(Entity owned) const {
    const std::uint32_t row = rows_.find(owned);
    if (row == kNilRow) return kNullEntity;
    const std::uint32_t parent = table().links(LinkColumn::kTreeParent)[row];
    return parent == kNilRow ? kNullEntity : table().entities()[parent];
}

// --- death -------------------------------------------------------------------------------------------------------

/// Removes the rows of dead entities, and passes the entities that they own to destroy_next().
void OwnershipManager::destroy_owned(std::span<const Entity> dead) {
    if (num_rows() == 0) return;
    Array<Entity> next{Owner("ownership")};
    for (const Entity entity : dead)
        for_each_owned(entity, [&](Entity owned) {
            if (entities_.alive(owned)) next.push_back(owned);
        });
    drop(dead);
    if (!next.empty()) entities_.destroy_next(next);
}

void OwnershipManager::drop(std::span<const Entity> entities) {
    rows_.require_unlocked("drop()");
    const StableSpan dropped(entities, table().entities());
    Array<Entity> freed{Owner("ownership")};
    for (const Entity entity : dropped.get()) {
        const std::uint32_t row = rows_.find(entity);
        if (row == kNilRow) continue;
        const Entity before = owner(entity);
        freed.clear();
        for_each_owned(entity, [&](Entity owned) { freed.push_back(owned); });
        remove_row(row);
        if (before) remove_if_idle(rows_.find(before));
        for (const Entity owned : freed) {
            unlink(rows_.find(owned));
            remove_if_idle(rows_.find(owned));
        }
    }
}

// --- store -------------------------------------------------------------------------------------------------------

Status OwnershipManager::spawn(const SpawnBatch& batch) {
    require_batch(batch, rows_.schema());
    if (const std::uint32_t entity = find_cycle(batch); entity != kNoBlobEntity)
        return Status::error(concat("the entity at place ", entity, " of the resource owns itself, through the ",
                                    "entities that it owns; remove \"owned\" from one of them"));
    std::uint32_t highest = 0;
    for (const Entity entity : batch.entities) {
        highest = std::max(highest, entity.index());
        if (rows_.find(entity) != kNilRow)
            return Status::error("an entity of the batch owns others or is owned already");
    }
    const std::size_t most_rows = std::min(batch.entities.size(), 2 * batch.entity_index.size() * batch.num_copies);
    if (Status status = rows_.reserve(most_rows, highest); !status) return status;
    for (std::uint32_t copy = 0; copy < batch.num_copies; ++copy)
        for (std::size_t i = 0; i < batch.entity_index.size(); ++i) {
            const std::uint32_t owner = blob_owner(batch, i);
            if (owner == kNoBlobEntity) continue;
            link(batch.owner(copy, i), batch.translate(copy, Entity{owner}));
        }
    return {};
}

Status OwnershipManager::load(SnapshotReader& from) {
    Status status = rows_.load(from);
    if (status && !from.is_trusted()) status = validate();
    if (!status) rows_.clear();
    return status;
}

Status OwnershipManager::validate() const {
    if (Status status = rows_.validate(); !status) return status;
    const auto* owners = reinterpret_cast<const Entity*>(table().column(kOwnerColumn));
    for (std::uint32_t row = 0; row < rows_.num_rows(); ++row) {
        const Entity entity = table().entities()[row];
        if (!entities_.alive(entity)) return Status::error(concat("ownership: row ", row, " belongs to a dead entity"));
        if (owners[row] != owner(entity))
            return Status::error(concat("ownership: the owner and the link of row ", row, " disagree"));
        if (!owners[row] && table().links(LinkColumn::kTreeFirstChild)[row] == kNilRow)
            return Status::error(concat("ownership: row ", row, " neither owns nor is owned"));
    }
    return {};
}

}  // namespace shoal
