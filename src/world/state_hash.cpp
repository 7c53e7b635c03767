#include "shoal/table/table.h"
#include "shoal/world/world.h"

namespace shoal {
namespace {

/// A component kept whole has padding between its fields: those are hashed one by one.
std::uint64_t hash_whole(const Table& table, std::uint32_t column, std::uint64_t hash) {
    const Schema& schema = table.schema();
    const std::byte* row = table.column(column);
    for (std::uint32_t i = 0; i < table.num_rows(); ++i, row += schema.columns()[column].element_bytes)
        for (const Field& field : schema.fields())
            if (field.first_column == column) hash = hash_bytes(row + schema.offset_in_column(field), field.size, hash);
    return hash;
}

std::uint64_t hash_table(const Table& table, std::uint64_t hash) {
    const std::uint64_t head[] = {table.schema().id().hash, table.num_rows()};
    hash = hash_bytes(head, sizeof head, hash);
    if (table.num_rows() == 0) return hash;
    hash = hash_bytes(table.entities().data(), table.entities().size_bytes(), hash);
    const std::span<const ColumnDefinition> columns = table.schema().columns();
    for (std::uint32_t c = 0; c < columns.size(); ++c)
        if (columns[c].field_index == ColumnDefinition::kWholeComponent)
            hash = hash_whole(table, c, hash);
        else if (columns[c].opaque == nullptr)
            hash = hash_bytes(table.column(c), std::size_t(table.num_rows()) * columns[c].element_bytes, hash);
    return hash;
}

}  // namespace

std::uint64_t World::state_hash() const {
    std::uint64_t hash = entities_.num_alive();
    for (const Store* store : stores_) {
        for (const Table* table : store->tables()) hash = hash_table(*table, hash);
        hash = store->hash_beside_tables(hash);
    }
    return hash;
}

}  // namespace shoal
