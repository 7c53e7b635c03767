// Makes entities active or inactive.

#include "shoal/components/activity.h"

#include "shoal/base/text.h"
#include "shoal/entity/entity_text.h"
#include "shoal/store/detail/stable_span.h"

namespace shoal {

ActivityManager::ActivityManager(EntityManager& entities, PagePool& pool)
    : entities_(entities), rows_(schema_of<Inactive>(), entities, pool, {.kind = "the inactive entities"}) {
    entities_.inactive().add_speaker(this);
}

ActivityManager::~ActivityManager() {
    note(table().entities(), false);
    entities_.inactive().remove_speaker(this);
}

Status ActivityManager::set_active(std::span<const Entity> entities, bool is_active) {
    if (is_active)
        static_cast<void>(remove_values(rows_.schema(), entities));
    else if (Result<std::uint32_t> added = add_values(rows_.schema(), entities, {}); !added)
        return added.status();
    return {};
}

Result<std::uint32_t> ActivityManager::add_values(const Schema& component, std::span<const Entity> entities,
                                                  const AddedValues& values) {
    const StableSpan given(entities, table().entities());
    Result<std::uint32_t> added = rows_.add_values(component, given.get(), values);
    if (added) note(given.get(), true);
    return added;
}

Result<bool> ActivityManager::prepare_values(const Schema&, std::span<const Entity> entities, bool removes) {
    return rows_.prepare_values(entities, removes);
}

Result<std::uint32_t> ActivityManager::remove_values(const Schema&, std::span<const Entity> entities) {
    const StableSpan given(entities, table().entities());
    const std::uint32_t num_removed = rows_.remove(given.get());
    if (num_removed != 0) note(given.get(), false);
    return num_removed;
}

Status ActivityManager::spawn(const SpawnBatch& batch) {
    if (Status status = rows_.reserve_batch(batch); !status) return status;
    const RowRange rows = rows_.append_batch(batch);
    note(table().entities().subspan(rows.begin, rows.size()), true);
    return {};
}

void ActivityManager::finish_load() { note(table().entities(), true); }

/// Tells the entity manager that the living entities in `entities` have the component Inactive, or no longer have it.
void ActivityManager::note(std::span<const Entity> entities, bool is_inactive) {
    Array<Entity> living{Owner("inactive entities")};
    for (const Entity entity : entities)
        if (entities_.alive(entity)) living.push_back(entity);
    entities_.inactive().set_by_itself(this, living, is_inactive);
}

Status ActivityManager::validate() const {
    if (Status status = rows_.validate(); !status) return status;
    for (const Entity entity : table().entities())
        if (entities_.alive(entity) && !entities_.inactive().has(entity))
            return Status::error(concat("entity ", entity_text(entity), " has Inactive, and counts as active"));
    return {};
}

}  // namespace shoal
