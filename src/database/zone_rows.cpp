// Writes the rows in one zone of a database as parts of a state, and reads them back for the same entities.
//
//     "zone"                     the number of the zone
//     "num_tables"
//     "table/0/components"       the names of the component types of table 0, a line each
//     "table/0/layouts"          their layout hashes
//     "table/0/owner"
//     "table/0/body/column/3"    column 3 of this component type, so that databases may have the types in any order
//     "table/0/hungry/on"        a bit per row, if it is enableable
//     "further/wound/owner"      the values of a `many` type after the first of each entity: the second of an entity
//     "further/wound/column/0"   before the third

#include "database/rows.h"
#include "database/table_name.h"
#include "shoal/base/detail/hash_map.h"
#include "shoal/base/detail/lines.h"
#include "shoal/base/text.h"
#include "shoal/database/database.h"
#include "shoal/entity/detail/saved_entities.h"
#include "shoal/entity/entity_text.h"
#include "shoal/state/snapshot.h"
#include "shoal/table/detail/saved_rows.h"
#include "shoal/table/detail/value_check.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

namespace shoal {
namespace {

/// Whether any value of a field is a read-only array that has elements.
bool refers_to_array(const Field& field, const FieldRows& rows) {
    if (field.type != FieldType::kBlobArray) return false;
    const auto is_empty = [](const std::byte* place) {
        BlobArrayBase array;
        std::memcpy(static_cast<void*>(&array), place, sizeof array);
        return array.count == 0;
    };
    return find_invalid_value(field, rows, is_empty) != nullptr;
}

bool refers_to_array(const Table& table) {
    for (const Field& field : table.schema().fields()) {
        const std::byte* const first = table.column(field.first_column) + table.schema().offset_in_column(field);
        const std::uint32_t stride = table.schema().column(field.first_column).element_bytes;
        if (refers_to_array(field, {first, stride, table.num_rows()})) return true;
    }
    return false;
}

/// Refuses values of a `many` type that could not be read back. Shape: column `column` has an element for each owner.
void refuse_values(SnapshotWriter& to, const Schema& schema, std::uint32_t column, const std::byte* elements,
                   std::span<const Entity> owners) {
    const std::uint32_t stride = schema.column(column).element_bytes;
    for (const Field& field : schema.fields()) {
        if (field.first_column != column) continue;
        const FieldRows rows{elements + schema.offset_in_column(field), stride, owners.size()};
        if (refers_to_array(field, rows))
            return to.refuse("values refer to read-only arrays of a resource; keep their zone here");
        if (!to.checks_values() || field.num_columns != 1 || !can_be_bad(field)) continue;
        if (const BadValue bad = find_bad_value(field, rows))
            return to.refuse(bad_value_text(schema, field, bad.problem,
                                            owners[static_cast<std::size_t>(bad.place - rows.first) / stride]));
    }
}

/// The data read for a table, by column.
using Columns = Array<Array<std::byte>>;

/// Reads the columns of a component type.
Status read_columns(SnapshotReader& from, const Schema& schema, std::size_t num_rows, Columns& columns) {
    Status status;
    for (std::uint32_t c = 0; status && c < schema.num_columns(); ++c)
        status = from.bytes(concat("column/", c), columns.emplace_back(Owner("zone")), schema.column(c).element_bytes,
                            num_rows);
    return status;
}

/// Writes some of a table's columns as the columns of a component type. column(number) returns the elements of a
/// column.
template <class Column>
void write_columns(SnapshotWriter& to, const Schema& schema, std::uint32_t first, std::size_t num_columns,
                   std::uint64_t num_rows, Column&& column) {
    for (std::uint32_t c = 0; c < num_columns; ++c)
        to.column(concat("column/", c), column(first + c), schema.column(first + c).element_bytes, num_rows, {}, 0,
                  gaps_in_column(schema, first + c));
}

/// Checks column data. Errors: bytes are not a value of their field, or are a value that is never written.
Status check_values(SnapshotReader& from, const Schema& schema, const Columns& columns, std::size_t num_rows) {
    if (from.is_trusted() || num_rows == 0) return {};
    for (const Field& field : schema.fields()) {
        if (field.opaque != nullptr || field.num_columns != 1) continue;
        const FieldRows rows{columns[field.first_column].data() + schema.offset_in_column(field),
                             schema.column(field.first_column).element_bytes, num_rows};
        if (const BadValue bad = find_bad_value(field, rows))
            return from.error("column", concat("\"", field.name, "\" holds ", bad.problem));
        if (refers_to_array(field, rows))
            return from.error("column", concat("\"", field.name, "\" refers to an array of a resource"));
    }
    return {};
}

/// Returns an archetype's values, starting at element `first` of its columns. Lifetime: `firsts` and the columns.
Array<ComponentValues> values_from(const Database& database, const Archetype& type, const Columns& columns,
                                   std::size_t first, Array<const std::byte*>& firsts) {
    firsts.clear();
    for (std::uint32_t c = 0; c < columns.size(); ++c)
        firsts.push_back(columns[c].data() + first * type.schema().column(c).element_bytes);
    Array<ComponentValues> values{Owner("database")};
    for (const ComponentType component : type.components())
        values.push_back({.component = component,
                          .columns = std::span<const std::byte* const>(firsts).subspan(
                              type.first_column(component), database.schema(component).num_columns())});
    return values;
}

}  // namespace

// --- writing -----------------------------------------------------------------------------------------------------

void Database::write_zone(Zone zone, SnapshotWriter& to) const {
    Array<const DatabaseTable*> tables{Owner("database")};
    for_each_table_of_zone(zone, [&](const DatabaseTable& table) {
        if (table.num_rows() != 0) tables.push_back(&table);
    });
    std::reverse(tables.begin(), tables.end());  // in the order in which they were made
    to.value("zone", zone);
    to.value("num_tables", static_cast<std::uint32_t>(tables.size()));
    for (std::uint32_t number = 0; number < tables.size(); ++number) {
        const SnapshotPath::Scope scope = to.in(table_name(number));
        write_table(*tables[number], to);
    }
    for (std::uint32_t number = 0; number < further_.size(); ++number)
        if (further_[number] != nullptr) write_further(zone, {number}, to);
}

void Database::write_table(const DatabaseTable& table, SnapshotWriter& to) const {
    const Table& rows = table.table();
    if (rows.schema().has_opaque())
        return to.refuse(concat("\"", rows.schema().name(), "\" has fields that only C++ knows; keep its zone here"));
    if (refers_to_array(rows))
        return to.refuse(
            concat("rows of \"", rows.schema().name(),
                   "\" refer to read-only arrays of a resource, which nothing else would keep loaded; keep "
                   "their zone here"));
    std::string names;
    Array<std::uint64_t> layouts{Owner("database")};
    for (const ComponentType component : table.type().components()) {
        names += concat(schema(component).name(), '\n');
        layouts.push_back(schema(component).layout_hash());
    }
    to.text("components", names);
    to.array("layouts", std::span<const std::uint64_t>(layouts));
    to.array("owner", table.entities());
    for (const ComponentType component : table.type().components()) {
        const SnapshotPath::Scope scope = to.in(schema(component).name());
        write_columns(to, rows.schema(), table.type().first_column(component), schema(component).num_columns(),
                      table.num_rows(), [&](std::uint32_t column) { return rows.column(column); });
        if (const std::uint64_t* const on = table.presence(component); on != nullptr)
            to.array("on", std::span<const std::uint64_t>(bits_of_rows(on, table.num_rows())));
    }
    for (std::uint32_t c = 0; c < rows.schema().num_columns(); ++c) rows.refuse_bad_values(to, c);
}

void Database::write_further(Zone zone, ComponentType component, SnapshotWriter& to) const {
    const Table& rows = further_values(component)->table();
    Array<Entity> owners{Owner("database")};
    Array<std::uint32_t> numbers{Owner("database")};
    for_each_table_of_zone(zone, [&](const DatabaseTable& table) {
        if (!table.type().has(component)) return;
        for (const Entity owner : table.entities())
            for (std::uint32_t row = further_values(component)->find(owner); row != kNilRow;
                 row = rows.links(LinkColumn::kChainNext)[row])
                owners.push_back(owner), numbers.push_back(row);
    });
    if (owners.empty()) return;
    const SnapshotPath::Scope scope = to.in(concat("further/", schema(component).name()));
    to.array("owner", std::span<const Entity>(owners));
    Array<std::byte> column{Owner("database")};
    write_columns(to, rows.schema(), 0, rows.schema().num_columns(), numbers.size(), [&](std::uint32_t c) {
        const std::size_t bytes = rows.schema().column(c).element_bytes;
        column.resize(numbers.size() * bytes);
        for (std::size_t i = 0; i < numbers.size(); ++i)
            std::memcpy(column.data() + i * bytes, rows.column(c) + numbers[i] * bytes, bytes);
        refuse_values(to, rows.schema(), c, column.data(), owners);
        return static_cast<const std::byte*>(column.data());
    });
}

std::uint32_t Database::drop_zone(Zone zone) {
    require_unlocked("drop_zone()");
    std::uint32_t num_dropped = 0;
    for_each_table_of_zone(zone, [&](DatabaseTable& table) {
        num_dropped += table.num_rows();
        const Array<Entity> owners(table.entities().begin(), table.entities().end(), Owner("database"));
        drop(owners);
    });
    return num_dropped;
}

// --- reading -----------------------------------------------------------------------------------------------------

/// The data read for a zone. Rows are placed one table at a time; existing rows change last, when nothing can fail any
/// more.
struct Database::ReturningRows {
    struct Table {
        const Archetype* type;
        Array<Entity> owners{Owner("database")};
        Columns columns{Owner("database")};
        Array<Array<std::uint64_t>> is_enabled{Owner("database")};  // for each enableable type, a bit per row

        /// Errors: the fields of a component type have changed, or bytes are not a value of their field.
        static Result<Table> read(Database& database, SnapshotReader& from);
        /// Restores which components of a row are enabled, except components that `kept` has.
        void enable_as_before(DatabaseRow at, std::size_t row, const Archetype* kept = nullptr) const {
            for (std::uint32_t i = 0; i < type->enableable().size(); ++i)
                if (kept == nullptr || !kept->has(type->enableable()[i]))
                    at.table->presence_[std::size_t(at.table->type().enableable_index(type->enableable()[i]))].set(
                        at.row, test_bit(is_enabled[i].data(), row));
        }
    };
    /// A saved row whose owner already has a row in the database. The existing row gains the saved components.
    struct Given {
        std::size_t table;
        std::uint32_t row;
        DatabaseTable* target;
    };
    struct Further {
        ComponentType component;
        Array<Entity> owners{Owner("database")};  // empty: the zone has no further values of the type
        Columns columns{Owner("database")};

        static Result<Further> read(const Database& database, SnapshotReader& from, ComponentType component);
    };
    /// A saved value of a `many` type in row `row` of a table. Its owner has gained other values of the type since
    /// then, which come before this one.
    struct Later {
        std::size_t table;
        std::uint32_t row;
        ComponentType component;
    };

    ReturningRows(Database& owner, std::span<const Entity> died) : database(owner), gone(died) {}

    Status check_owners(SnapshotReader& from, std::uint32_t num_tables) const;
    Status read_rows(Zone zone, SnapshotReader& from);
    Status read_further(SnapshotReader& from, ComponentType component);
    void gain_rows();
    void append_further();
    struct TakenValues {
        Columns columns{Owner("zone")};
        std::size_t count = 0;
    };
    TakenValues take_further(ComponentType component, Entity owner);
    void append(ComponentType component, Entity owner, const Columns& columns, std::size_t first_column,
                std::size_t place);
    /// Replaces entities in `gone` with null, which gets no row.
    void forget_gone(Array<Entity>& owners) const {
        for (Entity& owner : owners)
            if (std::binary_search(gone.begin(), gone.end(), owner)) owner = kNullEntity;
    }
    /// Returns the archetype that an entity will have, or nullptr.
    const Archetype* type_of(Entity entity) const {
        if (const std::uint32_t* const number = given_of.find(entity.index())) return &given[*number].target->type();
        const DatabaseRow at = database.find(entity);
        return at ? &at.table->type() : nullptr;
    }

    Database& database;
    std::span<const Entity> gone;  // in ascending order
    Array<Entity> placed{Owner("database")};
    Array<Table> tables{Owner("database")};  // tables that `given` and `later` refer to
    Array<Given> given{Owner("database")};
    HashMap<std::uint32_t, std::uint32_t> given_of{Owner("database")};  // keyed by the index of the owner
    Array<Further> further{Owner("database")};
    Array<Later> later{Owner("database")};
};

namespace {

/// Returns how many tables the saved zone has. Errors: a different zone was saved.
Result<std::uint32_t> read_num_tables(Zone zone, SnapshotReader& from) {
    Zone written = kNoZone;
    std::uint32_t num_tables = 0;
    if (Status status = from.value("zone", written); !status) return status;
    if (Status status = from.value("num_tables", num_tables); !status) return status;
    if (written != zone) return from.error("zone", concat("it is zone ", written, ", not ", zone));
    return num_tables;
}

}  // namespace

Result<Array<Entity>> Database::check_zone(Zone zone, SnapshotReader& from) {
    const Result<std::uint32_t> num_tables = read_num_tables(zone, from);
    if (!num_tables) return num_tables.status();
    Array<Entity> owners{Owner("database")};
    Array<std::pair<const Archetype*, Array<Entity>>> tables{Owner("database")};
    for (std::uint32_t number = 0; number < *num_tables; ++number) {
        const SnapshotPath::Scope scope = from.in(table_name(number));
        Result<ReturningRows::Table> table = ReturningRows::Table::read(*this, from);
        if (!table) return table.status();
        owners.insert(owners.end(), table->owners.begin(), table->owners.end());
        tables.push_back({table->type, std::move(table->owners)});
    }
    std::sort(owners.begin(), owners.end());
    if (const auto twice = std::adjacent_find(owners.begin(), owners.end()); twice != owners.end())
        return from.error("table", concat("entity ", entity_text(*twice), " has two rows"));
    for (std::uint32_t number = 0; number < further_.size(); ++number) {
        if (further_[number] == nullptr) continue;
        const SnapshotPath::Scope scope = from.in(concat("further/", schema({number}).name()));
        const Result<ReturningRows::Further> further = ReturningRows::Further::read(*this, from, {number});
        if (!further) return further.status();
        Array<Entity> having{Owner("database")};
        for (const auto& [type, some] : tables)
            if (type->has({number})) having.insert(having.end(), some.begin(), some.end());
        std::sort(having.begin(), having.end());
        for (const Entity owner : further->owners)
            if (!std::binary_search(having.begin(), having.end(), owner))
                return from.error("owner", concat("entity ", entity_text(owner), " has none of them"));
    }
    return owners;
}

Result<std::uint32_t> Database::read_zone(Zone zone, SnapshotReader& from, std::span<const Entity> gone) {
    require_unlocked("read_zone()");
    const Result<std::uint32_t> num_tables = read_num_tables(zone, from);
    if (!num_tables) return num_tables.status();
    ReturningRows rows(*this, gone);
    if (Status status = rows.check_owners(from, *num_tables); !status) return status;
    Status status;
    for (std::uint32_t number = 0; status && number < *num_tables; ++number) {
        const SnapshotPath::Scope scope = from.in(table_name(number));
        status = rows.read_rows(zone, from);
    }
    for (std::uint32_t number = 0; status && number < further_.size(); ++number)
        if (further_[number] != nullptr) status = rows.read_further(from, {number});
    const auto for_each_given = [&](auto&& visit) {
        for (const ReturningRows::Given& given : rows.given) visit(*given.target, 1);
    };
    if (status) status = reserve_in_all(for_each_given);
    if (!status) return drop(rows.placed), status;
    rows.gain_rows();
    rows.append_further();
    return static_cast<std::uint32_t>(rows.placed.size());
}

namespace {

/// Reads the component types of a table. Errors: the fields of a type have changed.
Result<Array<ComponentType>> read_components(const Database& database, SnapshotReader& from) {
    Array<std::uint64_t> layouts{Owner("database")};
    const Result<std::string> names = from.text("components");
    if (!names) return names.status();
    if (Status status = from.array("layouts", layouts); !status) return status;
    Array<ComponentType> components{Owner("database")};
    for (std::string_view rest = *names; !rest.empty();) {
        const std::string_view name = take_line(rest);
        const ComponentType component = database.find_component(ComponentId(name));
        if (!component || components.size() == layouts.size() ||
            database.schema(component).layout_hash() != layouts[components.size()])
            return from.error("components", concat("\"", name, "\" had other fields when the zone was written"));
        components.push_back(component);
    }
    return components;
}

}  // namespace

/// Errors: a living entity has two rows in the file.
Status Database::ReturningRows::check_owners(SnapshotReader& from, std::uint32_t num_tables) const {
    BitSet seen{Owner("database")};
    for (std::uint32_t number = 0; number < num_tables; ++number) {
        const SnapshotPath::Scope scope = from.in(table_name(number));
        Array<Entity> owners{Owner("database")};
        if (Status status = read_entities(from, "owner", owners); !status) return status;
        forget_gone(owners);
        for (const Entity owner : owners)
            if (database.entities_.alive(owner) && seen.test_and_set(owner.index()))
                return from.error("owner", concat("entity ", entity_text(owner), " has two rows"));
    }
    return {};
}

Result<Database::ReturningRows::Table> Database::ReturningRows::Table::read(Database& database, SnapshotReader& from) {
    Table made;
    const Result<Array<ComponentType>> components = read_components(database, from);
    if (!components) return components.status();
    if (Status status = read_entities(from, "owner", made.owners); !status) return status;
    made.type = &database.graph_.archetype(*components);
    const Schema& schema = made.type->schema();
    if (schema.has_opaque()) return from.error("components", "they have fields that only C++ knows");
    for (const ComponentType component : made.type->components()) {
        const SnapshotPath::Scope scope = from.in(database.schema(component).name());
        if (Status status = read_columns(from, database.schema(component), made.owners.size(), made.columns); !status)
            return status;
        if (made.type->enableable_index(component) < 0) continue;
        Array<std::uint64_t>& bits = made.is_enabled.emplace_back((made.owners.size() + 63) / 64, 0, Owner("database"));
        if (Status status = from.elements("on", bits.data(), sizeof(std::uint64_t), bits.size()); !status)
            return status;
    }
    if (Status status = check_values(from, schema, made.columns, made.owners.size()); !status) return status;
    return made;
}

/// Places the rows of a table whose owners have no row yet. Errors: the rows are not valid; no memory. On error, some
/// rows may already be placed.
Status Database::ReturningRows::read_rows(Zone zone, SnapshotReader& from) {
    Result<Table> table = Table::read(database, from);
    if (!table) return table.status();
    forget_gone(table->owners);
    const Archetype& type = *table->type;
    const std::span<const Entity> owners = table->owners;
    const std::size_t first_given = given.size();
    for (std::uint32_t row = 0; row < owners.size(); ++row) {
        if (!database.entities_.alive(owners[row])) continue;
        const DatabaseRow at = database.find(owners[row]);
        if (!at) {
            placed.push_back(owners[row]);
            continue;
        }
        const Archetype* both = &at.table->type();
        for (const ComponentType component : type.components()) {
            if (both->has(component) && database.further_values(component) != nullptr)
                later.push_back({tables.size(), row, component});
            both = &database.graph_.with(*both, component);
        }
        const Result<DatabaseTable*> target = database.table_for(*both, zone);
        if (!target) return target.status();
        given_of.set(owners[row].index(), static_cast<std::uint32_t>(given.size()));
        given.push_back({tables.size(), row, *target});
    }
    Array<const std::byte*> firsts{Owner("database")};
    const Result<AddCounts> inserted =
        database.insert(owners, type, zone, values_from(database, type, table->columns, 0, firsts));
    if (!inserted) return inserted.status();
    for (std::uint32_t row = 0; row < owners.size() && !type.enableable().empty(); ++row) {
        if (!database.entities_.alive(owners[row]) || given_of.find(owners[row].index()) != nullptr) continue;
        if (const DatabaseRow at = database.find(owners[row])) table->enable_as_before(at, row);
    }
    if (given.size() != first_given) tables.push_back(std::move(*table));
    return {};
}

/// Adds the saved components to entities that already have rows. Requires: room is reserved.
void Database::ReturningRows::gain_rows() {
    Array<const std::byte*> firsts{Owner("database")};
    for (const Given& each : given) {
        const Table& table = tables[each.table];
        DatabaseRow at = database.find(table.owners[each.row]);
        DatabaseTable& from = *at.table;
        const Archetype& before = from.type();
        if (&from != each.target) at = database.transfer_row(at, *each.target, database.plan_to(from, *each.target));
        Array<ComponentValues> values = values_from(database, *table.type, table.columns, 0, firsts);
        erase_if(values, [&](const ComponentValues& value) { return before.has(value.component); });
        database.write_rows(*at.table, {at.row, at.row + 1}, &before, values, RowRange{each.row, each.row + 1});
        table.enable_as_before(at, each.row, &before);
    }
}

/// Reads each entity's values after the first.
Result<Database::ReturningRows::Further> Database::ReturningRows::Further::read(const Database& database,
                                                                                SnapshotReader& from,
                                                                                ComponentType component) {
    Further made;
    made.component = component;
    if (!from.has("owner")) return made;
    const Schema& schema = database.schema(component);
    if (schema.has_opaque()) return from.error("owner", "they have fields that only C++ knows");
    if (Status status = read_entities(from, "owner", made.owners); !status) return status;
    if (Status status = read_columns(from, schema, made.owners.size(), made.columns); !status) return status;
    if (Status status = check_values(from, schema, made.columns, made.owners.size()); !status) return status;
    return made;
}

/// Reads each entity's values after the first, and makes room for them and for the values in `later`.
Status Database::ReturningRows::read_further(SnapshotReader& from, ComponentType component) {
    const SnapshotPath::Scope scope = from.in(concat("further/", database.schema(component).name()));
    Result<Further> made = Further::read(database, from, component);
    if (!made) return made.status();
    forget_gone(made->owners);
    std::size_t num_values = made->owners.size();
    std::uint32_t highest = 0;
    for (const Entity owner : made->owners) {
        if (!database.entities_.alive(owner)) continue;
        if (const Archetype* const type = type_of(owner); type == nullptr || !type->has(component))
            return from.error("owner", concat("entity ", entity_text(owner), " has none of them"));
        highest = std::max(highest, owner.index());
    }
    for (const Later& each : later) {
        if (each.component != component) continue;
        ++num_values;
        highest = std::max(highest, tables[each.table].owners[each.row].index());
    }
    if (num_values == 0) return {};
    further.push_back(std::move(*made));
    return database.further_values(component)->reserve(num_values, highest);
}

/// Adds a value before its owner's other values. `first_column` is the component's first column in `columns`.
void Database::ReturningRows::append(ComponentType component, Entity owner, const Columns& columns,
                                     std::size_t first_column, std::size_t place) {
    OwnedRows& to = *database.further_values(component);
    const std::uint32_t row = to.append(owner);
    for (std::uint32_t c = 0; c < database.schema(component).num_columns(); ++c) {
        const std::size_t bytes = database.schema(component).column(c).element_bytes;
        std::memcpy(to.table().unmarked_column(c) + row * bytes, columns[first_column + c].data() + place * bytes,
                    bytes);
    }
    database.tables_.count_changes();
}

/// Removes an entity's further values, and returns them in order.
Database::ReturningRows::TakenValues Database::ReturningRows::take_further(ComponentType component, Entity owner) {
    const Schema& schema = database.schema(component);
    OwnedRows& from = *database.further_values(component);
    TakenValues taken;
    for (std::uint32_t c = 0; c < schema.num_columns(); ++c) taken.columns.emplace_back(Owner("zone"));
    for (std::uint32_t row = from.find(owner); row != kNilRow;
         row = from.table().links(LinkColumn::kChainNext)[row], ++taken.count)
        for (std::uint32_t c = 0; c < schema.num_columns(); ++c) {
            const std::size_t bytes = schema.column(c).element_bytes;
            const std::byte* const value = from.table().column(c) + row * bytes;
            taken.columns[c].append(value, value + bytes);
        }
    from.remove({&owner, 1});
    return taken;
}

/// Adds values from the last to the first, because each value is put before the existing ones. Requires: room is
/// reserved.
void Database::ReturningRows::append_further() {
    Array<TakenValues> taken{Owner("zone")};
    for (const Later& each : later) taken.push_back(take_further(each.component, tables[each.table].owners[each.row]));
    for (const Further& made : further)
        for (std::size_t i = made.owners.size(); i-- > 0;)
            if (database.entities_.alive(made.owners[i])) append(made.component, made.owners[i], made.columns, 0, i);
    for (std::size_t i = 0; i < later.size(); ++i) {
        const auto& [number, row, component] = later[i];
        const Table& table = tables[number];
        append(component, table.owners[row], table.columns, table.type->first_column(component), row);
        for (std::size_t k = taken[i].count; k-- > 0;) append(component, table.owners[row], taken[i].columns, 0, k);
    }
}

// --- visits ------------------------------------------------------------------------------------------------------

/// The zones that queries have visited. Thread: any; every access needs the lock.
struct Database::WatchedZones {
    std::mutex mutex;
    ZoneSet zones;
};

void Database::watch_zones(bool watches) {
    if (watches && watched_zones_ == nullptr) watched_zones_ = make_owned<WatchedZones>("database");
    if (!watches && watched_zones_ != nullptr) destroy_owned("database", std::exchange(watched_zones_, nullptr));
}

ZoneSet Database::take_watched_zones() {
    if (watched_zones_ == nullptr) return {};
    const std::lock_guard lock(watched_zones_->mutex);
    return std::exchange(watched_zones_->zones, ZoneSet());
}

ZoneSet Database::watched_zones() const {
    if (watched_zones_ == nullptr) return {};
    const std::lock_guard lock(watched_zones_->mutex);
    return watched_zones_->zones;
}

void Database::note_watched(const ZoneSet& zones) const {
    const std::lock_guard lock(watched_zones_->mutex);
    watched_zones_->zones.insert(zones);
}

}  // namespace shoal
