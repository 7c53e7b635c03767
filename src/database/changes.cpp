// The database's implementation of Store for changes to several component types, given by their schemas.

#include "shoal/base/text.h"
#include "shoal/database/database.h"

#include <algorithm>

namespace shoal {
namespace {

ComponentValues given_values(ComponentType component, const AddedValues& values, bool is_disabled) {
    ComponentValues given{.component = component};
    given.images = values.images, given.stride = values.stride;
    given.write = values.write, given.context = values.context;
    given.is_disabled = is_disabled;
    return given;
}

}  // namespace

/// Returns the component type of a change. Errors: the database does not keep it, or keeps it with different fields.
Result<ComponentType> Database::find_changed(const Schema& component) const {
    const ComponentType type = find_component(component.id());
    if (type && schema(type).layout_hash() == component.layout_hash()) return type;
    return Status::error(concat("the database keeps no ", component.to_text()));
}

Result<std::uint32_t> Database::add_values(const Schema& component, std::span<const Entity> entities,
                                           const AddedValues& values) {
    const Result<ComponentType> type = find_changed(component);
    if (!type) return type.status();
    const ComponentValues given = given_values(*type, values, false);
    const Result<AddCounts> added = add(entities, std::span<const ComponentValues>(&given, 1));
    if (!added) return added.status();
    return added->num_added + added->num_set;
}

Result<std::uint32_t> Database::remove_values(const Schema& component, std::span<const Entity> entities) {
    const Result<ComponentType> type = find_changed(component);
    if (!type) return type.status();
    return remove(entities, std::span<const ComponentType>(&*type, 1));
}

/// Lists the changes that a single move can make. Makes the other changes, which give one entity several values.
/// Errors: as for change().
Status Database::list_changes(std::span<const ComponentChange> changes, bool are_of_one, ChangeCounts& counts,
                              std::span<const Entity> entities) {
    given_.clear();
    removed_.clear();
    for (const ComponentChange& one : changes)  // checks all types before anything is changed
        if (const Result<ComponentType> type = find_changed(*one.component); !type) return type.status();
    for (const ComponentChange& one : changes) {
        const auto is_same = [&](const ComponentChange& other) { return other.component->id() == one.component->id(); };
        const ComponentType type = find_component(one.component->id());
        if (are_of_one && one.component->many() && std::ranges::count_if(changes, is_same) > 1) {
            if (Status status = Store::change(entities, {&one, 1}, counts); !status) return status;
        } else if (one.removes) {
            removed_.push_back(type);
        } else {
            given_.push_back(given_values(type, one.values, one.is_disabled));
        }
    }
    return {};
}

Status Database::change(std::span<const Entity> entities, std::span<const ComponentChange> changes,
                        ChangeCounts& counts) {
    if (Status status = list_changes(changes, entities.size() == 1, counts, entities); !status) return status;
    if (!given_.empty()) {
        const Result<AddCounts> added = add(entities, given_);
        if (!added) return added.status();
        counts.num_changed = std::max(counts.num_changed, added->num_added);
        counts.has_begun = true;
    }
    if (!removed_.empty()) {
        const Result<std::uint32_t> lost = remove(entities, removed_);
        if (!lost) return lost.status();
        counts.num_changed = std::max(counts.num_changed, *lost);
        counts.has_begun = true;
    }
    return {};
}

Result<ChangePromise> Database::prepare_change(std::span<const Entity>, std::span<const ComponentChange> changes) {
    for (const ComponentChange& one : changes)
        if (const Result<ComponentType> type = find_changed(*one.component); !type) return type.status();
    return ChangePromise::kButMemory;
}

Status Database::insert_new(std::span<const Entity> entities, Zone zone, std::span<const ComponentChange> changes,
                            ChangeCounts& counts) {
    if (Status status = list_changes(changes, false, counts, entities); !status) return status;
    for (const ComponentValues& given : given_) removed_.push_back(given.component);  // used for the archetype
    const Result<AddCounts> added =
        insert(entities, archetype(removed_), zone == kNoZone ? options_.first_zone : zone, given_);
    if (!added) return added.status();
    counts.num_changed = std::max(counts.num_changed, added->num_added);
    counts.has_begun = true;
    return {};
}

}  // namespace shoal
