// The rows of one zone of a database as parts of a state, from which they come back to the same entities.
//
//     "zone"                     the number of the zone
//     "num_tables"
//     "table/0/components"       the names of the component types of table 0, a line each
//     "table/0/layouts"          their layout hashes
//     "table/0/owner"
//     "table/0/column/3"         column 3 of the table
//     "table/0/on/1"             a bit per row for the toggled component type number 1 of the archetype
//     "further/wound/owner"      those values of a `many` type that are not the first of their entities: the second one of
//     "further/wound/column/0"   an entity before the third

#include "database/owned_objects.h"
#include "database/table_name.h"
#include "shoal/base/lines.h"
#include "shoal/base/saved_state.h"
#include "shoal/base/text.h"
#include "shoal/database/database.h"
#include "shoal/entity/entity_text.h"
#include "shoal/table/value_check.h"

#include <algorithm>
#include <cstring>
#include <mutex>

namespace shoal {
namespace {

/// Whether a row of a table refers to a read-only array.
bool refers_to_array(const Table& table) {
    for (const Field& field : table.schema().fields()) {
        if (field.type != FieldType::kBlobArray) continue;
        const std::byte* const first = table.column(field.first_column) + table.schema().offset_in_column(field);
        const auto is_empty = [](const std::byte* place) {
            BlobArrayBase array;
            std::memcpy(static_cast<void*>(&array), place, sizeof array);
            return array.count == 0;
        };
        const FieldRows rows{first, table.schema().columns()[field.first_column].element_bytes, table.num_rows()};
        if (find_invalid_value(field, rows, is_empty) != nullptr) return true;
    }
    return false;
}

/// What is read of a table, by column.
using Columns = Array<Array<std::byte>>;

Status read_column(StateReader& from, std::uint32_t number, std::uint32_t element_bytes, std::size_t num_rows,
                   Columns& columns) {
    return from.bytes(concat("column/", number), columns.emplace_back(Owner("zone")), element_bytes, num_rows);
}

/// Errors: bytes are no value of their field.
Status check_values(StateReader& from, const Schema& schema, const Columns& columns, std::size_t num_rows) {
    if (from.is_trusted() || num_rows == 0) return {};
    for (const Field& field : schema.fields()) {
        if (field.opaque != nullptr || field.num_columns != 1) continue;
        const std::byte* const first = columns[field.first_column].data() + schema.offset_in_column(field);
        const BadValue bad =
            find_bad_value(field, {first, schema.columns()[field.first_column].element_bytes, num_rows});
        if (bad) return from.error("column", concat("\"", field.name, "\" holds ", bad.problem));
    }
    return {};
}

/// Returns the values of a type from element `first` of its columns on. Lifetime: that of `firsts` and the columns.
Array<ComponentValues> values_from(const Database& database, const Archetype& type, const Columns& columns,
                                   std::size_t first, Array<const std::byte*>& firsts) {
    firsts.clear();
    for (std::uint32_t c = 0; c < columns.size(); ++c)
        firsts.push_back(columns[c].data() + first * type.schema().columns()[c].element_bytes);
    Array<ComponentValues> values{Owner("database")};
    for (const ComponentType component : type.components())
        values.push_back({.component = component,
                          .columns = std::span<const std::byte* const>(firsts).subspan(
                              type.first_column(component), database.schema(component).columns().size())});
    return values;
}

}  // namespace

// --- writing -----------------------------------------------------------------------------------------------------

void Database::write_zone(Zone zone, StateWriter& to) const {
    Array<const DatabaseTable*> tables{Owner("database")};
    for_each_table_of_zone(zone, [&](const DatabaseTable& table) {
        if (table.num_rows() != 0) tables.push_back(&table);
    });
    std::reverse(tables.begin(), tables.end());  // as they were made
    to.value("zone", zone);
    to.value("num_tables", static_cast<std::uint32_t>(tables.size()));
    for (std::uint32_t number = 0; number < tables.size(); ++number) {
        const StatePath::Scope scope = to.in(table_name(number));
        write_table(*tables[number], to);
    }
    for (std::uint32_t number = 0; number < further_.size(); ++number)
        if (further_[number] != nullptr) write_further(zone, {number}, to);
}

void Database::write_table(const DatabaseTable& table, StateWriter& to) const {
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
    for (std::uint32_t c = 0; c < rows.schema().columns().size(); ++c)
        to.elements(concat("column/", c), rows.column(c), rows.schema().columns()[c].element_bytes, table.num_rows());
    for (std::uint32_t i = 0; i < table.presence_.size(); ++i)
        to.elements(concat("on/", i), table.presence_[i].words(), sizeof(std::uint64_t), (table.num_rows() + 63) / 64);
}

void Database::write_further(Zone zone, ComponentType component, StateWriter& to) const {
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
    const StatePath::Scope scope = to.in(concat("further/", schema(component).name()));
    if (refers_to_array(rows)) return to.refuse("values refer to read-only arrays of a resource; keep their zone here");
    to.array("owner", std::span<const Entity>(owners));
    Array<std::byte> column{Owner("database")};
    for (std::uint32_t c = 0; c < rows.schema().columns().size(); ++c) {
        const std::size_t bytes = rows.schema().columns()[c].element_bytes;
        column.resize(numbers.size() * bytes);
        for (std::size_t i = 0; i < numbers.size(); ++i)
            std::memcpy(column.data() + i * bytes, rows.column(c) + numbers[i] * bytes, bytes);
        to.elements(concat("column/", c), column.data(), static_cast<std::uint32_t>(bytes), numbers.size());
    }
}

std::uint32_t Database::drop_zone(Zone zone) {
    require_unlocked("drop_zone()");
    std::uint32_t num_dropped = 0;
    for_each_table_of_zone(zone, [&](DatabaseTable& table) {
        num_dropped += table.num_rows();
        const Array<Entity> owners(table.entities().begin(), table.entities().end(),
                                   OwnedAllocator<Entity>("database"));
        drop(owners);
    });
    return num_dropped;
}

// --- reading -----------------------------------------------------------------------------------------------------

Result<std::uint32_t> Database::read_zone(Zone zone, StateReader& from) {
    require_unlocked("read_zone()");
    Zone written = kNoZone;
    std::uint32_t num_tables = 0;
    if (Status status = from.value("zone", written); !status) return status;
    if (Status status = from.value("num_tables", num_tables); !status) return status;
    if (written != zone) return from.error("zone", concat("it is zone ", written, ", not ", zone));
    if (Status status = check_owners(from, num_tables); !status) return status;
    Array<Entity> placed{Owner("database")};
    Status status;
    for (std::uint32_t number = 0; status && number < num_tables; ++number) {
        const StatePath::Scope scope = from.in(table_name(number));
        status = read_rows(zone, from, placed);
    }
    for (std::uint32_t number = 0; status && number < further_.size(); ++number)
        if (further_[number] != nullptr) status = read_further(from, {number});
    if (status) return static_cast<std::uint32_t>(placed.size());
    drop(placed);
    return status;
}

/// Errors: an entity that lives has a row now with a component that its row in the file has too, or two rows in the file.
Status Database::check_owners(StateReader& from, std::uint32_t num_tables) const {
    BitSet seen{Owner("database")};
    for (std::uint32_t number = 0; number < num_tables; ++number) {
        const StatePath::Scope scope = from.in(table_name(number));
        Array<Entity> owners{Owner("database")};
        if (Status status = from.array("owner", owners); !status) return status;
        const Result<std::string> names = from.text("components");
        if (!names) return names.status();
        const std::string lines = concat('\n', *names);
        for (const Entity owner : owners) {
            if (!entities_.alive(owner)) continue;
            if (seen.test_and_set(owner.index()))
                return from.error("owner", concat("entity ", entity_text(owner), " has two rows"));
            const DatabaseRow at = find(owner);
            if (!at) continue;
            for (const ComponentType component : at.table->type().components())
                if (lines.find(concat('\n', schema(component).name(), '\n')) != std::string::npos)
                    return Status::error(concat("entity ", entity_text(owner), " was given \"",
                                                schema(component).name(), "\" in zone ", at.table->zone(),
                                                ", which its row in the file has too; remove it before the row comes "
                                                "back"));
        }
    }
    return {};
}

Status Database::read_rows(Zone zone, StateReader& from, Array<Entity>& placed) {
    Array<Entity> owners{Owner("database")};
    Array<std::uint64_t> layouts{Owner("database")};
    const Result<std::string> names = from.text("components");
    if (!names) return names.status();
    if (Status status = from.array("owner", owners); !status) return status;
    if (Status status = from.array("layouts", layouts); !status) return status;
    Array<ComponentType> components{Owner("database")};
    for (std::string_view rest = *names; !rest.empty();) {
        const std::string_view name = take_line(rest);
        const ComponentType component = find_component(ComponentId(name));
        if (!component || components.size() == layouts.size() ||
            schema(component).layout_hash() != layouts[components.size()])
            return from.error("components", concat("\"", name, "\" had other fields when the zone was written"));
        components.push_back(component);
    }
    const Archetype& type = graph_.archetype(components);
    Columns columns{Owner("database")};
    for (std::uint32_t c = 0; c < type.schema().columns().size(); ++c)
        if (Status status = read_column(from, c, type.schema().columns()[c].element_bytes, owners.size(), columns);
            !status)
            return status;
    if (Status status = check_values(from, type.schema(), columns, owners.size()); !status) return status;
    Array<Array<std::uint64_t>> is_on{Owner("database")};  // by toggled type, a bit per row
    for (std::uint32_t i = 0; i < type.toggled().size(); ++i) {
        is_on.emplace_back((owners.size() + 63) / 64, 0, OwnedAllocator<std::uint64_t>("database"));
        if (Status status = from.elements(concat("on/", i), is_on[i].data(), sizeof(std::uint64_t), is_on[i].size());
            !status)
            return status;
    }
    Array<std::uint32_t> given{Owner("database")};  // these have a row now, which gains what is in the file
    for (std::uint32_t row = 0; row < owners.size(); ++row)
        if (entities_.alive(owners[row])) (has_row(owners[row]) ? given.push_back(row) : placed.push_back(owners[row]));
    Array<const std::byte*> firsts{Owner("database")};
    const Result<AddCounts> inserted = insert(owners, type, zone, values_from(*this, type, columns, 0, firsts));
    if (!inserted) return inserted.status();
    for (const std::uint32_t row : given) {
        const Result<AddCounts> added = add({&owners[row], 1}, values_from(*this, type, columns, row, firsts));
        if (!added) return added.status();
        if (const Result<bool> moved = move(owners[row], zone); !moved) return moved.status();
    }
    for (std::uint32_t row = 0; row < owners.size(); ++row)
        if (const DatabaseRow at = find(owners[row]); at && entities_.alive(owners[row]))
            for (std::uint32_t i = 0; i < type.toggled().size(); ++i)
                at.table->presence_[std::size_t(at.table->type().toggle_index(type.toggled()[i]))].set(
                    at.row, test_bit(is_on[i].data(), row));
    return {};
}

Status Database::read_further(StateReader& from, ComponentType component) {
    const StatePath::Scope scope = from.in(concat("further/", schema(component).name()));
    if (!from.has("owner")) return {};
    OwnedRows& further = *further_values(component);
    const std::span<const ColumnDefinition> definitions = schema(component).columns();
    Array<Entity> owners{Owner("database")};
    if (Status status = from.array("owner", owners); !status) return status;
    Columns columns{Owner("database")};
    for (std::uint32_t c = 0; c < definitions.size(); ++c)
        if (Status status = read_column(from, c, definitions[c].element_bytes, owners.size(), columns); !status)
            return status;
    if (Status status = check_values(from, schema(component), columns, owners.size()); !status) return status;
    std::uint32_t highest = 0;
    for (const Entity owner : owners) {
        if (!entities_.alive(owner)) continue;
        if (const DatabaseRow at = find(owner); !at || !at.table->type().has(component))
            return from.error("owner", concat("entity ", entity_text(owner), " has none of them"));
        highest = std::max(highest, owner.index());
    }
    if (Status status = further.reserve(owners.size(), highest); !status) return status;
    for (std::size_t i = owners.size(); i-- > 0;) {  // a value that is added comes before the others
        if (!entities_.alive(owners[i])) continue;
        const std::uint32_t row = further.append(owners[i]);
        for (std::uint32_t c = 0; c < definitions.size(); ++c) {
            const std::size_t bytes = definitions[c].element_bytes;
            std::memcpy(further.table().unmarked_column(c) + row * bytes, columns[c].data() + i * bytes, bytes);
        }
        tables_.count_changes();
    }
    return {};
}

// --- visits ------------------------------------------------------------------------------------------------------

/// The zones that queries have visited. Thread: any; every access needs the lock.
struct Database::WatchedZones {
    std::mutex mutex;
    ZoneSet zones;
};

void Database::watch_zones(bool watches) {
    if (watches && watched_zones_ == nullptr) watched_zones_ = make_owned<WatchedZones>();
    if (!watches && watched_zones_ != nullptr) destroy_owned(std::exchange(watched_zones_, nullptr));
}

ZoneSet Database::take_watched_zones() {
    if (watched_zones_ == nullptr) return {};
    const std::lock_guard lock(watched_zones_->mutex);
    return std::exchange(watched_zones_->zones, ZoneSet());
}

void Database::note_watched(const ZoneSet& zones) const {
    const std::lock_guard lock(watched_zones_->mutex);
    watched_zones_->zones.insert(zones);
}

}  // namespace shoal
