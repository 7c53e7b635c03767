#include "cluster/zone_columns.h"

#include <algorithm>

namespace shoal::cluster {
namespace {

struct NameRun {
    Name first = 0;
    std::uint64_t count = 0;
};

constexpr std::uint64_t kMostInRuns = std::uint64_t(1) << 24;  // limits the memory that a short message can allocate

}  // namespace

PlainTables::PlainTables(World& world, const Database& database, std::size_t num_types)
    : database_(database), num_types_(num_types) {
    std::vector<const Table*> of_zones;
    for (const DatabaseTable* table : database.all_tables())
        if (table != nullptr) of_zones.push_back(&table->table());
    std::ranges::sort(of_zones);
    Array<ComponentTable> tables{Owner("cluster")};
    for (Store* store : world.directory().stores())
        for (const Schema* component : store->schemas()) {
            tables.clear();
            store->list_tables(*component, tables);
            for (const ComponentTable& each : tables)
                if (!std::ranges::binary_search(of_zones, each.table))
                    for (const Entity entity : each.table->entities()) has_more_.set(entity.index());
        }
}

bool PlainTables::has(const DatabaseTable& table) const {
    if (!has_plain_columns(database_, table.type())) return false;
    for (const ComponentType type : table.type().components())
        if (type.number >= num_types_) return false;
    return has_more_.empty() ||
           std::ranges::none_of(table.entities(), [&](Entity entity) { return has_more_.test(entity.index()); });
}

bool has_plain_columns(const Database& database, const Archetype& type) {
    for (const ComponentType component : type.components())
        for (const Field& field : database.schema(component).fields()) switch (field.type) {
                case FieldType::kStringId:  // the new owner may lack the text or the resource
                case FieldType::kResourceId:
                case FieldType::kEntity:
                case FieldType::kBlobArray:
                case FieldType::kOpaque:
                    return false;
                default:
                    break;
            }
    return true;
}

void list_columns(const Database& database, const TypeKeys& types, const DatabaseTable& rows,
                  std::vector<ColumnPiece>& pieces) {
    Table& table = const_cast<DatabaseTable&>(rows).table();
    for (const ComponentType type : types.types_of(rows.type())) {
        if (!rows.type().has_column_of(type)) continue;
        for (std::uint32_t c = 0; c < database.schema(type).num_columns(); ++c) {
            const std::uint32_t column = rows.first_column(type) + c;
            const std::size_t bytes = table.schema().column(column).element_bytes;
            pieces.push_back({table.unmarked_column(column), table.num_rows() * bytes});
        }
    }
}

void write_names(std::span<const Name> names, MessageWriter& to) {
    std::vector<NameRun> runs;
    for (std::size_t begin = 0, end = 1; begin < names.size(); begin = end++) {
        while (end < names.size() && names[end] == names[begin] + (end - begin)) ++end;
        runs.push_back({names[begin], end - begin});
    }
    to.value(static_cast<std::uint64_t>(names.size()));
    const bool as_runs = runs.size() * sizeof(NameRun) < names.size_bytes() && names.size() <= kMostInRuns;
    to.value(as_runs);
    if (as_runs)
        to.array(runs);
    else
        to.array(names);
}

std::vector<Name> read_names(MessageReader& from) {
    const auto count = from.value<std::uint64_t>();
    std::vector<Name> names;
    if (from.value<std::uint8_t>() == 0) {
        names = from.array<Name>();
    } else if (count <= kMostInRuns) {
        names.resize(count);
        std::uint64_t num_read = 0;
        for (const NameRun& run : from.array<NameRun>()) {
            if (run.count > count - num_read) return from.refuse(), std::vector<Name>();
            for (std::uint64_t i = 0; i < run.count; ++i) names[num_read + i] = run.first + i;
            num_read += run.count;
        }
        if (num_read != count) from.refuse();
    }
    if (names.size() != count) from.refuse();
    return names;
}

}  // namespace shoal::cluster
