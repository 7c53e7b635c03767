#include "shoal/query/lookup.h"

#include "query/plan_state.h"
#include "shoal/base/text.h"
#include "shoal/store/detail/component_directory.h"

namespace shoal::detail {
namespace {

[[noreturn]] void refuse_lookup(const char* condition, const Schema& component, std::string_view why) {
    fail_assertion(condition, concat("a look-up names \"", component.name(), "\", ", why));
}

}  // namespace

LookupStore::LookupStore(const ComponentDirectory& directory, const Schema& component)
    : entities_(&directory.entities()), component_(&component) {
    const OwningStore keeper = look_up_owning_store(directory, component);
    if (keeper.store == nullptr) return;
    if (!keeper.columns.has_fields)
        refuse_lookup("keeper.columns.has_fields", component,
                      "whose store keeps its fields in another form; ask the store");
    store_ = keeper.store;
    rows_ = keeper.columns.rows;
    first_column_ = keeper.columns.first_column;
    database_ = keeper.database;
    if (rows_ != nullptr && !keeper.columns.needs_parent) own_columns_ = &rows_->table().physical_column(first_column_);
    if (database_ == nullptr) return;
    type_ = ComponentType{keeper.component};
    if (database_->schema(type_).layout_hash() != component.layout_hash())
        refuse_lookup("database.schema(type).layout_hash() == component.layout_hash()", component,
                      "which the database keeps with other fields; name its fields by text");
}

LookupStore LookupStore::find_in(const ComponentDirectory& directory, const Schema& component) {
    return {directory, component};
}

LookupStore LookupStore::require_in(ComponentDirectory& directory, const Schema& component) {
    directory.require_or_end(component);
    LookupStore found(directory, component);
    if (SHOAL_CHECKED == 0 && found.database_ != nullptr) found.columns_ = &found.database_->columns_of(found.type_);
    if (found.store_ == nullptr)
        refuse_lookup(
            "store != nullptr", component,
            "which no store keeps in columns; call world.manager<T>() or world.database().component<T>() before the "
            "look-up is made");
    return found;
}

LookupStore::Row LookupStore::find_rare(Entity entity) const {
    if (rows_ != nullptr) {
        const std::uint32_t row = rows_->find(entity);
        const bool has = row != kNilRow && rows_->table().links(LinkColumn::kTreeParent)[row] != kNilRow;
        return has && !rows_->is_dead(entity) ? row_of(rows_->table(), row, first_column_) : Row();
    }
    if (database_ == nullptr) return {};
    const DatabaseRow at = database_->find(entity);
    if (!at || database_->is_dead(entity) || !at.table->has(type_, at.row)) return {};
    const std::uint32_t first_column = at.table->first_column(type_);
    return first_column == kNoColumn ? Row() : row_of(at.table->table(), at.row, first_column);
}

Status LookupStore::set(Entity entity, std::uint32_t field, const std::byte* value) const {
    if (store_ == nullptr) return FieldPath::absence_of(*entities_, entity, component_->name());
    const ComponentRow at = entities_->alive(entity) ? store_->find_row(component_->id(), entity, 0) : ComponentRow();
    if (!at || !at.is_enabled) return FieldPath::absence_at(at, *entities_, entity, component_->name());
    return FieldPath::write_at(*store_, at, field, component_->fields()[field], value);
}

}  // namespace shoal::detail
