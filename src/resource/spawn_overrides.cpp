#include "resource/spawn_overrides.h"

#include "shoal/base/text.h"
#include "shoal/database/spawn_zone.h"
#include "shoal/document/diagnostics.h"
#include "shoal/table/detail/number_value.h"
#include "shoal/table/detail/value_check.h"

#include <algorithm>

namespace shoal {
namespace {

constexpr std::size_t kMostListed = 12;  // in a message

/// Suggests the entity that was probably meant, or lists the existing entities.
std::string entity_hint(const Blob& blob, std::string_view entity) {
    Array<std::string_view> names{Owner("spawn")};
    for (const std::uint32_t named : blob.entities_by_name())
        if (!blob.entity_name(named).empty()) names.push_back(blob.entity_name(named));
    if (names.empty()) return "its entities have no names; give a GUID path, such as \"hull/mast\"";
    if (closest_text(entity, names.data(), names.size()) >= 0 || names.size() <= kMostListed)
        return hint_for(entity, names);
    return concat("give the name or the GUID path of one of its ", blob.num_entities(), " entities");
}

bool share_a_name(const Blob& blob, std::uint32_t entity, std::string_view name) {
    const std::span<const std::uint32_t> all = blob.entities_by_name();
    const auto first = std::ranges::find(all, entity);
    return first != all.end() && first + 1 != all.end() && blob.entity_name(first[1]) == name;
}

std::uint32_t count_components(const BlobComponents& components, std::uint32_t entity) {
    return static_cast<std::uint32_t>(std::ranges::count(components.entity_index, entity));
}

/// Errors: the entity has no component of that type, or too few.
Status absence(const Blob& blob, std::uint32_t entity, std::string_view component, std::uint32_t index) {
    Array<std::string_view> names{Owner("spawn")};
    std::uint32_t count = 0;
    for (const BlobComponents& components : blob.component_types()) {
        const std::uint32_t number = count_components(components, entity);
        if (number != 0 && !is_spawn_instruction(*components.schema)) names.push_back(components.schema->name());
        if (components.schema->name() == component) count = number;
    }
    if (count == 0) return Status::error(concat("it has no ", quoted(component), "; ", hint_for(component, names)));
    return Status::error(concat("it has no ", quoted(concat(component, '[', index, ']')), "; it has ", count));
}

/// Returns the schema of a component that a store exposes but does not store itself, or nullptr.
const Schema* find_shown(const Store& store, ComponentId component) {
    for (const Schema* const schema : store.shown_schemas())
        if (schema->id() == component) return schema;
    return nullptr;
}

/// Errors: the store has the field but the resource does not, so a reload would lose the value.
Status check_given(const Schema& schema, const FieldPath& path) {
    if (schema.find_field(path.part().field->name) >= 0) return {};
    return Status::error(concat(quoted(path.name()), " is not a field of ", quoted(schema.name()), " in the resource; ",
                                hint_for({}, field_names(schema))));
}

/// Errors: the spawned entity will not have the component, or the component cannot be written.
Status check_component(const SpawnTargets& targets, const Blob& blob, std::uint32_t entity, const FieldPath& path) {
    const std::string_view component = std::string_view(path.name()).substr(0, path.name().find_first_of(".["));
    if (targets.registry != nullptr)
        if (const RegisteredComponent* const known = targets.registry->find(path.component());
            known != nullptr && known->has_spawn_function())
            return Status::error(concat("a spawn function takes ", quoted(component), "; change what it makes of it"));
    if (const BlobComponents* const components = blob.find_components(path.component()))
        if (path.index() < count_components(*components, entity)) return check_given(*components->schema, path);
    const Schema* const shown = find_shown(path.store(), path.component());
    if (shown == nullptr) return absence(blob, entity, component, path.index());
    const OwnedColumns columns = path.store().find_columns(*shown);
    if (columns && columns.is_read_only)
        return Status::error(concat("the store computes ", quoted(component), "; ", columns.instead));
    const auto has = [&](const Schema* kept) {
        const BlobComponents* const components = blob.find_components(kept->id());
        return components != nullptr && count_components(*components, entity) != 0;
    };
    if (std::ranges::any_of(path.store().schemas(), has)) return {};
    return absence(blob, entity, component, path.index());
}

/// Returns the entity with this GUID path or, if there is none, the entity with this name.
Result<std::uint32_t> find_named_entity(const Blob& blob, std::string_view entity) {
    if (const std::uint32_t found = blob.find_guid(hash_text(entity)); found != kNoBlobEntity) return found;
    const std::uint32_t found = blob.find_name(entity);
    if (found == kNoBlobEntity)
        return Status::error(concat("there is no entity ", quoted(entity), "; ", entity_hint(blob, entity)));
    if (share_a_name(blob, found, entity))
        return Status::error(concat("several entities are called ", quoted(entity), "; give the GUID path of one"));
    return found;
}

/// Interns the text of a string id until the text is unused. Errors: the same as for
/// StringTable::intern_until_unused(). If the field is not a string id, the text must still be UTF-8, because a
/// snapshot stores the override.
Status keep_text(const SpawnTargets& targets, const FieldPath& path, const AnyValue& given) {
    if (!given.is_text()) return {};
    if (targets.strings == nullptr || path.type().type != FieldType::kStringId) return StringTable::check(given.text());
    return targets.strings->intern_until_unused(given.text()).status();
}

}  // namespace

Status check_override_value(const FieldPath& path, const AnyValue& value) {
    const ValueType& type = path.type();
    if (type.type == FieldType::kBlobArray)
        return Status::error(concat(quoted(path.name()), " is an array that stays in the resource; change the source"));
    Field field = *path.part().field;
    field.type = type.type, field.array_length = type.array_length, field.size = type.num_bytes();
    const std::byte* const bytes = value.bytes().data();
    if (const BadValue bad = find_bad_value(field, {bytes, field.size, 1}))
        return Status::error(concat(quoted(path.name()), " would be ", bad.problem));
    const std::byte* const bad = find_out_of_range(field, bytes);
    if (bad == nullptr) return {};
    return Status::error(concat(quoted(path.name()), " is from ", field.minimum, " to ", field.maximum, ", not ",
                                read_number(lane_type(field.type), bad)));
}

Status override_error(const Blob& blob, const SpawnOverride& given, std::string_view why) {
    return Status::error(concat("cannot override ", quoted(given.field), " of ", quoted(given.entity), " in \"",
                                blob.name(), "\": ", why));
}

Result<OverriddenEntity> find_overridden(const Blob& blob, std::uint32_t num_copies, const SpawnOverride& given) {
    const Result<std::uint32_t> entity = find_named_entity(blob, given.entity);
    if (!entity) return override_error(blob, given, entity.message());
    if (given.copy == SpawnOverride::kAllCopies) return OverriddenEntity{*entity, 0, num_copies};
    if (given.copy < num_copies) return OverriddenEntity{*entity, given.copy, 1};
    return override_error(blob, given,
                          concat("there is no copy ", given.copy, "; there are ", num_copies, ", from 0 on"));
}

Result<FoundOverride> find_override(const SpawnTargets& targets, const Blob& blob, std::uint32_t num_copies,
                                    const SpawnOverride& given) {
    const Result<OverriddenEntity> who = find_overridden(blob, num_copies, given);
    if (!who) return who.status();
    const auto refuse = [&](const Status& why) { return override_error(blob, given, why.message()); };
    Result<FieldPath> path = FieldPath::find_in(targets.directory, given.field);
    if (!path) return refuse(path.status());
    if (Status status = check_component(targets, blob, who->entity, *path); !status) return refuse(status);
    Result<AnyValue> value = path->convert(given.value);
    if (!value) return refuse(value.status());
    if (Status status = check_override_value(*path, *value); !status) return refuse(status);
    if (Status status = keep_text(targets, *path, given.value); !status) return refuse(status);
    return FoundOverride{*who, std::move(*path), std::move(*value)};
}

}  // namespace shoal
