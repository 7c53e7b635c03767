#include "shoal/world/detail/state_rows.h"

#include "shoal/database/database.h"
#include "shoal/table/detail/field_part.h"

#include <algorithm>

namespace shoal {
namespace {

/// Returns a number that identifies an archetype by its component types, but does not depend on how they are numbered.
std::uint64_t place_of(const Database& database, const Archetype& type) {
    std::uint64_t place = 1;
    for (const ComponentType component : type.components()) {
        const std::uint64_t id = database.schemas()[component.number]->id().hash;
        place += hash_bytes(&id, sizeof id);
    }
    return place;
}

void list_rows_of_database(const Database& database, Array<StateRows>& rows) {
    for (const DatabaseTable* table : database.all_tables()) {
        if (table == nullptr || table->num_rows() == 0) continue;
        const std::uint64_t place = place_of(database, table->type());
        for (const ComponentType component : table->type().components())
            rows.push_back({&database, database.schemas()[component.number], &table->table(),
                            table->first_column(component), table->zone(), place, table->presence(component)});
    }
    for (std::uint32_t number = 0; number < database.schemas().size(); ++number)
        if (const OwnedRows* const further = database.further_values({number});
            further != nullptr && further->num_rows() != 0)
            rows.push_back({&database, database.schemas()[number], &further->table()});
}

void list_component(Store& store, const Schema& schema, Array<StateRows>& rows) {
    Array<ComponentTable> tables{Owner("world")};
    store.list_tables(schema, tables);
    for (const ComponentTable& at : tables) {
        // A table without columns only lists the entities that have the component.
        const bool asks_store = !at.has_fields && at.table->schema().columns().empty();
        if (at.table->num_rows() != 0 && (at.has_fields || asks_store))
            rows.push_back({&store, &schema, at.table, at.first_column, kNoZone, 0, at.enabled_bits, asks_store});
    }
}

}  // namespace

FieldRows StateRows::values_of(const Field& field) const {
    const std::uint32_t column = first_column + field.first_column;
    return {table->column(column) + schema->offset_in_column(field), table->schema().columns()[column].element_bytes,
            num_rows()};
}

void StateRows::read(const Field& field, std::uint32_t row, std::byte* value) const {
    const FieldPart part = field_part(*schema, field);
    if (asks_store)
        store->read_field({.schema = schema, .table = table, .row = row}, part, value);
    else
        read_part(*table, first_column, row, part, value);
}

void list_rows(Store& store, Array<StateRows>& rows) {
    if (const auto* const database = dynamic_cast<const Database*>(&store))
        return list_rows_of_database(*database, rows);
    const std::size_t begin = rows.size();
    for (const Schema* schema : store.schemas()) list_component(store, *schema, rows);
    for (const Schema* schema : store.shown_schemas()) list_component(store, *schema, rows);
    // Add tables that do not belong to a component type, such as the nodes of models.
    const std::size_t end = rows.size();
    for (std::size_t i = 0; i < store.tables().size(); ++i) {
        const Table* const table = store.tables()[i];
        const auto is_it = [&](const StateRows& listed) { return listed.table == table; };
        if (table->num_rows() == 0 ||
            std::any_of(rows.begin() + std::ptrdiff_t(begin), rows.begin() + std::ptrdiff_t(end), is_it))
            continue;
        rows.push_back({.store = &store, .schema = &table->schema(), .table = table, .place = i});
    }
}

}  // namespace shoal
