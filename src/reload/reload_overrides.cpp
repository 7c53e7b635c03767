#include "reload/reload_overrides.h"

#include "shoal/base/detail/bytes.h"
#include "shoal/base/detail/string_table.h"
#include "shoal/base/text.h"
#include "shoal/entity/entity_manager.h"
#include "shoal/store/field_path.h"
#include "shoal/world/world.h"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

namespace shoal {
namespace {

using Entry = ReloadOverrides::Entry;

auto key_of(const Entry& entry) {
    return std::tuple(entry.type, entry.entity, !entry.is_of_many_copies, entry.first_copy, entry.order);
}

/// Sets references to dead entities to null.
void forget_dead(const EntityManager& entities, AnyValue& value) {
    if (value.type().type != FieldType::kEntity) return;
    const std::span<std::byte> bytes = value.bytes();
    for (std::size_t at = 0; at < bytes.size(); at += sizeof(Entity)) {
        const auto entity = read_as<Entity>(bytes.data() + at);
        if (!entities.alive(entity)) std::memset(bytes.data() + at, 0, sizeof entity);
    }
}

}  // namespace

void ReloadOverrides::find(World& world, const SpawnedCopies& copies, const BlobChanges& changes, const Blob& after) {
    logged_ = copies.overrides;
    for (LoggedOverride& one : logged_)
        one.entity = one.entity != kNoBlobEntity ? changes.after_of()[one.entity] : after.find_guid(one.guid);
    for (std::uint32_t i = 0; i < logged_.size(); ++i) add(world, changes, i);
    std::ranges::sort(entries_, {}, key_of);
}

void ReloadOverrides::add(World& world, const BlobChanges& changes, std::uint32_t order) {
    const LoggedOverride& logged = logged_[order];
    if (logged.entity == kNoBlobEntity) return;
    if (!property_path(world.directory(), logged.given.field).empty() && can_keep_properties(world.directory()))
        return named_.push_back(order);
    const Result<FieldPath> path = FieldPath::find_in(world.directory(), logged.given.field);
    if (!path) return;  // the field or its component type no longer exists
    Result<AnyValue> value = path->convert(logged.given.value);
    if (!value || !check_override_value(*path, *value)) return;
    if (path->type().type == FieldType::kStringId && logged.given.value.is_text() &&
        !world.strings().intern_until_unused(logged.given.value.text()))
        return;
    forget_dead(world.entities(), *value);
    for (std::uint32_t type = 0; type < changes.types().size(); ++type) {
        const Schema& schema = *changes.types()[type].schema;
        const int field = schema.id() == path->component() ? schema.find_field(path->part().field->name) : -1;
        if (field < 0) continue;
        const std::uint32_t first_copy = schema.singleton() ? 0 : logged.first_copy;
        const std::uint32_t num_copies = schema.singleton() ? kNoBlobEntity : logged.num_copies;
        entries_.push_back({type, logged.entity, num_copies > 1, first_copy, num_copies, order, path->index(),
                            path->index(), static_cast<std::size_t>(field), path->part(), *value});
    }
}

Array<const Entry*> ReloadOverrides::list(std::uint32_t type, std::uint32_t entity, std::uint32_t copy) const {
    Array<const Entry*> found{Owner("reload")};
    const auto list_from = [&](bool is_singleton, std::uint32_t first_copy) {
        const auto key = std::tuple(type, entity, is_singleton, first_copy, 0u);
        for (auto at = std::ranges::lower_bound(entries_, key, {}, key_of); at != entries_.end(); ++at) {
            const auto [its_type, its_entity, is_its_singleton, its_copy, order] = key_of(*at);
            if (its_type != type || its_entity != entity || is_its_singleton != is_singleton) return;
            if (is_singleton && its_copy != copy) return;
            if (copy >= its_copy && copy - its_copy < at->num_copies) found.push_back(&*at);
        }
    };
    list_from(false, 0);
    list_from(true, copy);
    std::ranges::sort(found, {}, &Entry::order);
    return found;
}

void ReloadOverrides::move_list(std::uint32_t type, std::uint32_t after_entity,
                                std::span<const std::uint32_t> place_after) {
    for (Entry& entry : entries_)
        if (entry.type == type && entry.entity == after_entity && entry.place_before < place_after.size())
            entry.place = place_after[entry.place_before];
}

std::vector<LoggedOverride> ReloadOverrides::take() {
    for (const Entry& entry : entries_) {
        if (entry.place == entry.place_before) continue;
        LoggedOverride& logged = logged_[entry.order];
        if (entry.place == kNoBlobEntity) {
            logged.num_copies = 0;
            continue;
        }
        std::string& field = logged.given.field;
        const std::string component = field.substr(0, field.find_first_of(".["));
        field = concat(component, '[', entry.place, ']', field.substr(field.find('.')));
    }
    std::erase_if(logged_, [](const LoggedOverride& one) { return one.num_copies == 0; });
    return std::move(logged_);
}

}  // namespace shoal
