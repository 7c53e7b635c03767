#include "shoal/store/field_path.h"

#include "shoal/base/detail/bytes.h"
#include "shoal/base/text.h"
#include "shoal/document/diagnostics.h"
#include "shoal/entity/entity_manager.h"
#include "shoal/entity/entity_text.h"
#include "shoal/store/detail/component_directory.h"
#include "shoal/table/detail/access_guard.h"
#include "shoal/table/detail/table.h"

#include <charconv>

namespace shoal {
namespace {

/// The parts of a name.
struct SplitName {
    std::string_view component, field;
    std::uint32_t index = 0;
    bool has_index = false;
};

Status not_a_path(std::string_view name) {
    return Status::error(
        concat(quoted(name), " is not the name of a field; write component.field, such as \"body.position\""));
}

Result<SplitName> split_name(std::string_view name) {
    SplitName parts;
    const std::size_t end = std::min(name.find_first_of(".["), name.size());
    parts.component = name.substr(0, end);
    std::string_view rest = name.substr(end);
    if (!rest.empty() && rest[0] == '[') {
        const char* const last = rest.data() + rest.size();
        const auto [number_end, error] = std::from_chars(rest.data() + 1, last, parts.index);
        if (error != std::errc() || number_end == last || *number_end != ']') return not_a_path(name);
        parts.has_index = true;
        rest.remove_prefix(static_cast<std::size_t>(number_end + 1 - rest.data()));
    }
    if (!rest.empty() && rest[0] == '.') parts.field = rest.substr(1);
    const bool has_field = !parts.field.empty() && parts.field[0] != '[' && parts.field[0] != '.';
    if (parts.component.empty() || (!rest.empty() && !has_field)) return not_a_path(name);
    return parts;
}

/// Finds the store of a component type, and the schema of its columns.
Result<KeptComponent> find_columns(const ComponentDirectory& directory, std::string_view component) {
    const ComponentId id(component);
    Store* const keeper = directory.find(id);
    if (keeper != nullptr) {
        if (const Schema* schema = keeper->find_row(id, kNullEntity, 0).schema) return KeptComponent{keeper, schema};
        return Status::error(concat("the store of ", quoted(component), " keeps its values in no table"));
    }
    Array<std::string_view> names{Owner("field path")};
    for (Store* store : directory.stores()) {
        if (const Schema* schema = store->find_row(id, kNullEntity, 0).schema) return KeptComponent{store, schema};
        for (const Schema* schema : store->shown_schemas()) names.push_back(schema->name());
        for (const Schema* schema : store->schemas()) names.push_back(schema->name());
    }
    return Status::error(
        concat("no component type ", quoted(component), " in this world; ", hint_for(component, names)));
}

}  // namespace

Result<FieldPath> FieldPath::find_in(const ComponentDirectory& directory, std::string_view name) {
    const Result<SplitName> parts = split_name(name);
    if (!parts) return parts.status();
    const Result<KeptComponent> found = find_columns(directory, parts->component);
    if (!found) return found.status();
    if (parts->field.empty())
        return Status::error(
            concat(quoted(name), " is a component type and not a field; ", hint_for({}, field_names(*found->schema))));
    Result<FieldPart> part = find_field_part(*found->schema, parts->field);
    if (!part) return part.status();
    FieldPath path;
    path.name_ = name;
    path.store_ = found->store;
    path.entities_ = &directory.entities();
    path.component_ = ComponentId(parts->component);
    path.index_ = parts->index;
    path.part_ = *part;
    return path;
}

ComponentRow FieldPath::find_row(Entity entity) const {
    if (!entities_->alive(entity)) return {};
    return store_->find_row(component_, entity, index_);
}

namespace {

/// In checked builds, lets the calling thread's guard check that the field may be read.
void ask_to_read([[maybe_unused]] const ComponentRow& at, [[maybe_unused]] const FieldPart& part) {
    if constexpr (SHOAL_CHECKED != 0) ask_read_guard(*at.table, at.first_column + part.field->first_column);
}

}  // namespace

bool FieldPath::copy_value(Entity entity, std::byte* value) const {
    const ComponentRow at = find_row(entity);
    if (!at || !at.is_enabled) return false;
    ask_to_read(at, part_);
    store_->read_field(at, part_, value);
    return true;
}

Result<AnyValue> FieldPath::read(Entity entity) const {
    const ComponentRow at = find_row(entity);
    if (!at || !at.is_enabled) return absence(entity);
    ask_to_read(at, part_);
    AnyValue value(part_.type);
    store_->read_field(at, part_, value.bytes().data());
    return value;
}

Status FieldPath::write(Entity entity, const AnyValue& value) const {
    const ComponentRow at = find_row(entity);
    if (!at || !at.is_enabled) return absence(entity);
    const Result<AnyValue> converted = convert(value);
    return converted ? store_->write_field(at, part_, converted->bytes().data()) : converted.status();
}

Result<AnyValue> FieldPath::convert(const AnyValue& value) const {
    Result<AnyValue> converted = value.convert(part_.type, name_);
    if (converted && value.is_text() && part_.type.type == FieldType::kEntity) {
        const auto target = read_as<Entity>(converted->bytes().data());
        if (target && !entities_->alive(target))
            return Status::error(
                concat("entity ", entity_text(target), ", which ", quoted(name_), " is to refer to, is not alive"));
    }
    return converted;
}

Status FieldPath::type_error(const ValueType& wanted) const {
    return Status::error(concat(quoted(name_), " is ", part_.type.to_text(), ", not ", wanted.to_text()));
}

Status FieldPath::absence_at(const ComponentRow& at, const EntityManager& entities, Entity entity,
                             std::string_view component) {
    if (!at || !entities.alive(entity)) return absence_of(entities, entity, component);
    return Status::error(concat("entity ", entity_text(entity), " has ", quoted(component),
                                ", but it is disabled; add it to enable it"));
}

Status FieldPath::write_at(Store& store, const ComponentRow& at, std::uint32_t number, const Field& field,
                           const std::byte* value) {
    const std::span<const Field> kept = at.schema->fields();
    const bool is_same = number < kept.size() && kept[number].name == field.name && kept[number].type == field.type &&
                         kept[number].size == field.size;
    if (is_same) return store.write_field(at, field_part(*at.schema, kept[number]), value);
    return Status::error(concat(quoted(at.schema->name()), " has other fields in ", store.kind(),
                                " than the program knows: ", at.schema->to_text()));
}

Status FieldPath::absence(Entity entity) const {
    const std::string who = concat("entity ", entity_text(entity));
    const std::string_view component = std::string_view(name_).substr(0, name_.find_first_of(".["));
    if (!entities_->alive(entity)) return absence_of(*entities_, entity, component);
    std::uint32_t count = 0;
    for (ComponentRow at = store_->find_row(component_, entity, 0); at && count < index_;)
        at = store_->find_next(at, entity, ++count);
    if (count > 0)
        return Status::error(concat(who, " has no ", quoted(concat(component, '[', index_, ']')), "; it has ", count));
    return absence_at(store_->find_row(component_, entity, index_), *entities_, entity, component);
}

Status FieldPath::absence_of(const EntityManager& entities, Entity entity, std::string_view component) {
    const std::string who = concat("entity ", entity_text(entity));
    if (!entities.alive(entity)) return Status::error(concat(who, entity ? " is dead" : " is no entity"));
    return Status::error(concat(who, " has no ", quoted(component)));
}

}  // namespace shoal
