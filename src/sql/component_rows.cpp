#include "sql/component_rows.h"

#include "shoal/base/detail/bit_set.h"

namespace shoal::sql {

ComponentRow find_component(Store& store, const Schema& component, Entity entity) {
    const ComponentRow at = store.find_row(component.id(), entity, 0);
    if (!at || !at.is_enabled) return {};
    const bool needs_parent = at.table->has_tree() && store.find_columns(component).needs_parent;
    if (needs_parent && at.table->links(LinkColumn::kTreeParent)[at.row] == kNilRow) return {};
    return at;
}

ComponentRows::ComponentRows(const World& world, const CatalogTable& table)
    : world_(world), shown_(table), database_(find_database(world.directory())) {
    const OwnedColumns columns = table.store->find_columns(*table.kept);
    has_fields_ = !columns || columns.has_fields;
    places_.resize(table.columns.size());
}

std::uint64_t ComponentRows::count(const CatalogTable& table) {
    Array<ComponentTable> tables{Owner("sql")};
    table.store->list_tables(*table.kept, tables);
    std::uint64_t num_rows = 0;
    for (const ComponentTable& rows : tables) num_rows += rows.table->num_rows();
    return num_rows;
}

void ComponentRows::begin(const ZoneRange& zones) {
    zones_ = zones;
    reads_tables_ = true;
    tables_.clear();
    shown_.store->list_tables(*shown_.kept, tables_);
    next_table_ = 0;
    at_ = {};
    if (enter_table()) next_component();
}

void ComponentRows::begin(Entity entity) {
    reads_tables_ = false;
    at_ = {};
    entity_ = entity;
    position_ = 0;
    if (!entity || !world_.entities().alive(entity)) return;
    at_ = find_component(*shown_.store, *shown_.kept, entity);
    if (at_ && !start_list()) next_component();
}

/// Moves to the next table that has rows in the zones.
bool ComponentRows::enter_table() {
    while (next_table_ < tables_.size()) {
        const ComponentTable& table = tables_[next_table_++];
        if (table.table->num_rows() == 0 || !is_in_zones(*table.table)) continue;
        find_places(*table.table, table.first_column);
        next_row_ = 0;
        return true;
    }
    return false;
}

/// Whether a table may have rows for entities in the zones. A database table is in a single zone.
bool ComponentRows::is_in_zones(const Table& table) const {
    if (zones_.first == 0 && zones_.last == std::int64_t(kMaxZones) - 1) return true;
    if (database_ == nullptr) return false;
    const DatabaseRow row = database_->find(table.entities()[0]);
    if (!row || &row.table->table() != &table) return true;
    return zones_.first <= row.table->zone() && row.table->zone() <= zones_.last;
}

void ComponentRows::find_places(const Table& table, std::uint32_t first_column) {
    placed_ = &table;
    placement_ = table.placement();
    for (std::size_t i = 0; i < places_.size(); ++i) {
        const CatalogColumn& column = shown_.columns[i];
        const FieldPart& part = column.part;
        places_[i] = {};
        if (column.shows != Shows::kField || !has_fields_ || part.num_columns != 1 || part.lane_stride != 0) continue;
        const std::uint32_t number = first_column + part.first_column;
        places_[i] = {table.column(number) + part.offset_in_column, table.schema().column(number).element_bytes};
    }
}

bool ComponentRows::has_component(std::uint32_t row) const {
    const ComponentTable& table = tables_[next_table_ - 1];
    if (table.enabled_bits != nullptr && !test_bit(table.enabled_bits, row)) return false;
    if (table.needs_parent && table.table->links(LinkColumn::kTreeParent)[row] == kNilRow) return false;
    return world_.entities().alive(table.table->entities()[row]);
}

void ComponentRows::find_row() {
    at_ = {};
    do {
        const Table& table = *tables_[next_table_ - 1].table;
        while (next_row_ < table.num_rows() && !has_component(next_row_)) ++next_row_;
        if (next_row_ == table.num_rows()) continue;
        entity_ = table.entities()[next_row_];
        at_ = {shown_.schema, &table, next_row_++, tables_[next_table_ - 1].first_column};
        return;
    } while (enter_table());
}

void ComponentRows::next() {
    if (++list_position_ < list_length_) return;
    next_component();
}

void ComponentRows::next_component() {
    do {
        if (reads_tables_)
            find_row();
        else
            at_ = shown_.kept->many() ? shown_.store->find_next(at_, entity_, ++position_) : ComponentRow();
    } while (at_ && !start_list());
}

/// Moves to the values in the row. Returns whether there are any values to show.
bool ComponentRows::start_list() {
    list_position_ = 0;
    list_length_ = 1;
    if (shown_.list) read_list();
    return list_length_ != 0;
}

/// Reads the array in the row.
void ComponentRows::read_list() {
    const FieldPart& part = *shown_.list;
    list_bytes_.resize(part.type.num_bytes());
    shown_.store->read_field(at_, part, list_bytes_.data());
    list_values_ = list_bytes_.data();
    list_stride_ = part.type.value_bytes;
    list_length_ = part.type.array_length;
    if (part.type.type != FieldType::kBlobArray) return;
    const auto array = read_as<BlobArrayBase>(list_bytes_.data());
    std::span<const std::byte> values;
    if (world_.library() != nullptr) values = world_.library()->view_bytes(array, part.type.element_type);
    list_values_ = values.data();
    list_stride_ = field_type_bytes(part.type.element_type);
    list_length_ = static_cast<std::uint32_t>(values.size() / list_stride_);
}

std::uint32_t ComponentRows::component_position() const {
    if (!reads_tables_ || !shown_.kept->many()) return position_;
    std::uint32_t position = 0;
    ComponentRow row = shown_.store->find_row(shown_.kept->id(), entity_, 0);
    while (row && (row.table != at_.table || row.row != at_.row))
        row = shown_.store->find_next(row, entity_, ++position);
    return position;
}

Zone ComponentRows::zone() const {
    if (database_ == nullptr) return kNoZone;
    const DatabaseRow row = database_->find(entity_);
    return row ? row.table->zone() : kNoZone;
}

const std::byte* ComponentRows::field(std::size_t column, const CatalogColumn& shown) {
    if (at_.table != placed_ || at_.table->placement() != placement_) {
        find_places(*at_.table, at_.first_column);
    }
    const Place& place = places_[column];
    if (place.first != nullptr) return place.first + at_.row * place.stride;
    value_.resize(shown.part.type.num_bytes());
    shown_.store->read_field(at_, shown.part, value_.data());
    return value_.data();
}

std::string ComponentRows::whole(const CatalogColumn& shown) {
    AnyValue value(shown.part.type);
    shown_.store->read_field(at_, shown.part, value.bytes().data());
    return value.to_text(&world_.strings());
}

std::int64_t ComponentRows::row_number() const {
    if (shown_.has_one_row_per_entity()) return static_cast<std::int64_t>(entity_.id);
    const std::uint64_t parts[] = {entity_.id, component_position(), list_position_};
    return static_cast<std::int64_t>(hash_bytes(parts, sizeof parts));
}

}  // namespace shoal::sql
