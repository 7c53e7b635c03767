#include "shoal/database/detail/match.h"

namespace shoal {

DatabaseMatch::DatabaseMatch(const Database& database, std::span<const ComponentType> with,
                             std::span<const ComponentType> without)
    : database_(&database) {
    for (const ComponentType component : with) {
        database.schema(component);  // ends the program if this is not a component type
        with_.set(component.number);
        if (database.schema(component).enableable()) enableable_with_.push_back(component);
    }
    for (const ComponentType component : without) {
        if (database.schema(component).enableable())
            enableable_without_.push_back(component);
        else
            without_.set(component.number);
    }
    refresh_tables();
}

bool DatabaseMatch::matches_type(const Archetype& type) const {
    return type.signature().has_all(with_) && !type.signature().has_any(without_);
}

void DatabaseMatch::refresh_tables() {
    const std::span<const Archetype* const> types = database_->archetypes();
    for (; num_types_ < types.size(); ++num_types_) matched_types_.set(num_types_, matches_type(*types[num_types_]));
    if (epoch_ != database_->table_list_epoch()) {
        matched_.clear();
        num_tables_ = num_matched_ = 0;
        epoch_ = database_->table_list_epoch();
    }
    const std::span<DatabaseTable* const> tables = database_->all_tables();
    matched_.resize(tables.size());
    for (; num_tables_ < tables.size(); ++num_tables_) {
        if (tables[num_tables_] == nullptr) continue;
        if (!matched_types_.test(tables[num_tables_]->type().number())) continue;
        matched_.set(num_tables_);
        ++num_matched_;
    }
}

std::uint64_t DatabaseMatch::num_rows() const {
    std::uint64_t count = 0;
    for_each_table([&](const DatabaseTable& table) { count += table.num_rows(); });
    return count;
}

std::uint64_t DatabaseMatch::num_rows(const ZoneSet& zones) const {
    std::uint64_t count = 0;
    for_each_table(zones, [&](const DatabaseTable& table) { count += table.num_rows(); });
    return count;
}

void DatabaseMatch::visit_zones(const ZoneSet& zones, void (*visit)(void* callee, DatabaseTable& table),
                                void* callee) const {
    if (std::size_t(zones.size()) * kTablesPerZone >= num_matched_)
        return for_each_table([&](DatabaseTable& table) {
            if (zones.contains(table.zone())) visit(callee, table);
        });
    SHOAL_ASSERT(is_fresh(), "tables came or went after the match looked at them; call refresh() before a loop");
    zones.for_each([&](Zone zone) {
        database_->for_each_table_of_zone(zone, [&](DatabaseTable& table) {
            if (matches(table) && table.num_rows() > 0) visit(callee, table);
        });
    });
}

std::uint64_t DatabaseMatch::rows_of_word(const DatabaseTable& table, std::uint32_t word) const {
    const std::uint32_t num_left = table.num_rows() - word * 64;
    std::uint64_t rows = num_left >= 64 ? ~std::uint64_t(0) : (std::uint64_t(1) << num_left) - 1;
    for (const ComponentType component : enableable_with_) rows &= table.presence(component)[word];
    for (const ComponentType component : enableable_without_)
        if (const std::uint64_t* bits = table.presence(component)) rows &= ~bits[word];
    return rows;
}

}  // namespace shoal
