// Reads and writes fields by name in any store.

#include "shoal/base/text.h"
#include "shoal/components/properties.h"
#include "shoal/table/detail/table.h"
#include "shoal/world/world.h"
#include "world/built_ins.h"

namespace shoal {

namespace {

std::string_view component_of_path(std::string_view name) { return name.substr(0, name.find_first_of(".[")); }

/// Returns the error for using a property as a field. The type of a property may differ between entities.
Status refuse_property(std::string_view name) {
    return Status::error(concat('"', name,
                                "\" is a named value and no field; read it with PropertyManager::get(), or with ",
                                "World::get() without a type"));
}

}  // namespace

Result<FieldPath> World::find_field(std::string_view name) {
    if (!directory_.is_held())
        if (Status status = directory_.require_built_in(ComponentId(component_of_path(name))); !status) return status;
    if (!property_path(directory_, name).empty() && find_properties(directory_) != nullptr)
        return refuse_property(name);
    return FieldPath::find_in(directory_, name);
}

/// Finds a field for an entity. Errors: as for find_in(); the component type is built in and has no store, so no entity
/// has the component.
Result<FieldPath> World::find_path(Entity entity, std::string_view name) const {
    if (!property_path(directory_, name).empty() && find_properties(directory_) != nullptr)
        return refuse_property(name);
    Result<FieldPath> path = FieldPath::find_in(directory_, name);
    if (path) return path;
    const BuiltIn* const built_in = find_built_in(ComponentId(component_of_path(name)));
    if (built_in == nullptr || directory_.find_shown(*built_in->schema) != nullptr) return path;
    return FieldPath::absence_of(entities_, entity, component_of_path(name));
}

Result<AnyValue> World::get(Entity entity, std::string_view name) const {
    if (const std::string_view path = property_path(directory_, name); !path.empty())
        if (const PropertyManager* const properties = find_properties(directory_); properties != nullptr)
            return properties->read(entity, path);
    const Result<FieldPath> path = find_path(entity, name);
    if (!path) return path.status();
    return path->read(entity);
}

Status World::set(Entity entity, std::string_view name, const AnyValue& value) {
    if (const std::string_view path = property_path(directory_, name); !path.empty())
        if (directory_.is_held() ? find_properties(directory_) != nullptr : can_keep_properties(directory_))
            return properties().write(entity, path, value);
    Result<FieldPath> path = find_field(name);
    if (!path) path = find_path(entity, name);
    if (!path) return path.status();
    if (path->type().type == FieldType::kStringId && value.is_text()) {
        const Status kept =
            directory_.is_held() ? strings_.note(value.text()) : strings_.intern_until_unused(value.text()).status();
        if (!kept) return kept;
    }
    return path->write(entity, value);
}

namespace {

/// Returns the entity of the singleton at the start of a path such as "wind.force".
Result<Entity> find_singleton(const World& world, std::string_view name) {
    const std::string_view component = name.substr(0, name.find('.'));
    const Store* const store = world.directory().find(ComponentId(component));
    const ComponentRow columns =
        store == nullptr ? ComponentRow() : store->find_row(ComponentId(component), kNullEntity, 0);
    if (columns.schema == nullptr || !columns.schema->singleton())
        return Status::error(
            concat("\"", component, "\" is not a singleton of this world; give the entity that has it"));
    const Table& table = *store->tables()[0];
    if (table.num_rows() == 1) return table.entities()[0];
    return Status::error(concat("the singleton \"", component, "\" is not there; its entity was destroyed"));
}

}  // namespace

Result<AnyValue> World::get(std::string_view name) const {
    const Result<Entity> entity = find_singleton(*this, name);
    return entity ? get(*entity, name) : Result<AnyValue>(entity.status());
}

Status World::set(std::string_view name, const AnyValue& value) {
    const Result<Entity> entity = find_singleton(*this, name);
    return entity ? set(*entity, name, value) : entity.status();
}

}  // namespace shoal
