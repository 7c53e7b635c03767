#include "shoal/database/detail/table_set.h"

#include "shoal/base/text.h"

#include <algorithm>
#include <mutex>
#include <utility>

namespace shoal {
namespace {

constexpr std::size_t kVisitsPerSettle = 512;  // how many tables have their memory checked
constexpr std::uint32_t kMostEmptyVisits = 16;

Status broken(const DatabaseTable& table, std::string_view what) {
    return Status::error(
        concat("database, zone ", table.zone(), ", archetype \"", table.type().schema().name(), "\": ", what));
}

}  // namespace

TableSet::TableSet(PagePool& pool, DatabaseDirectory& directory, std::uint32_t capacity_rows)
    : pool_(&pool), directory_(&directory), capacity_rows_(capacity_rows) {}

TableSet::~TableSet() {
    for (const DatabaseTable* table : tables_) destroy_owned("database", table);
    for (const ColumnsOfType* columns : columns_of_types_) destroy_owned("database", columns);
}

DatabaseTable* TableSet::find(const Archetype& type, Zone zone) const {
    const std::uint32_t* const number = number_by_place_.find(pair_key(zone, type.number()));
    return number == nullptr ? nullptr : tables_[*number];
}

const Array<const PhysicalColumn*>& TableSet::columns_of(ComponentType component) const {
    static std::mutex mutex;  // shared by all sets: several threads may make look-ups
    const std::scoped_lock lock(mutex);
    for (const ColumnsOfType* known : columns_of_types_)
        if (known->component == component) return known->of_table;
    auto* const made = make_owned<ColumnsOfType>("database");
    made->component = component;
    columns_of_types_.push_back(made);
    for (std::uint32_t number = 0; number < tables_.size(); ++number) note_columns(number, *made);
    return made->of_table;
}

void TableSet::note_all_columns() const {
    for (ColumnsOfType* columns : columns_of_types_) columns->of_table.clear();
    for (std::uint32_t number = 0; number < tables_.size(); ++number) note_columns(number);
}

void TableSet::note_columns(std::uint32_t number) const {
    for (ColumnsOfType* columns : columns_of_types_) note_columns(number, *columns);
}

void TableSet::note_columns(std::uint32_t number, ColumnsOfType& to) const {
    if (number >= to.of_table.size()) to.of_table.resize(number + std::size_t(1), nullptr);
    const DatabaseTable* const table = tables_[number];
    const bool has = table != nullptr && table->type().has_column_of(to.component);
    to.of_table[number] = has ? &table->table().physical_column(table->first_column(to.component)) : nullptr;
}

Result<DatabaseTable*> TableSet::find_or_make(const Archetype& type, Zone zone) {
    require_zone(zone);
    if (DatabaseTable* known = find(type, zone)) return known;
    const bool is_new = free_numbers_.empty();
    const std::uint32_t number = is_new ? static_cast<std::uint32_t>(tables_.size()) : free_numbers_.back();
    if (Status status = directory_->reserve_tables(number + 1); !status) return status;
    auto* table = make_owned<DatabaseTable>("database", number, type, zone, *pool_, capacity_rows_, directory_->rows());
    if (is_new) {
        tables_.push_back(table);
        list_.push_back(&table->table());
        occupied_.resize(tables_.size());
        next_in_zone_.push_back(kNone);
        empty_visits_.push_back(0);
    } else {
        free_numbers_.pop_back();
        tables_[number] = table;
        ++epoch_;
        list_tables();
    }
    note_columns(number);
    number_by_place_.set(pair_key(zone, type.number()), number);
    next_in_zone_[number] = first_in_zone_.find_or(zone, kNone);
    first_in_zone_.set(zone, number);
    return table;
}

void TableSet::list_tables() {
    list_.assign(listed_also_.begin(), listed_also_.end());
    for_each([&](const DatabaseTable& table) { list_.push_back(&table.table()); });
}

void TableSet::list_also(const Table& table) {
    listed_also_.push_back(&table);
    list_tables();
}

void TableSet::note_rows(const DatabaseTable& table) { occupied_.set(table.number(), table.num_rows() != 0); }

bool TableSet::settle_memory() {
    const std::size_t num_free = free_numbers_.size();
    for (std::size_t i = 0; i < std::min(kVisitsPerSettle, tables_.size()); ++i) {
        next_visited_ = next_visited_ + 1 < tables_.size() ? next_visited_ + 1 : 0;
        DatabaseTable* const table = tables_[next_visited_];
        if (table == nullptr) continue;
        table->table().settle_memory();
        std::uint32_t& visits = empty_visits_[next_visited_];
        visits = table->num_rows() == 0 ? visits + 1 : 0;
        if (visits >= kMostEmptyVisits) retire(*table);
    }
    if (free_numbers_.size() == num_free) return false;
    ++epoch_;
    list_tables();
    return true;
}

/// Frees the number of an empty table.
void TableSet::retire(DatabaseTable& table) {
    SHOAL_ASSERT(table.num_rows() == 0, "a table with rows cannot go");
    const std::uint32_t number = table.number(), first = first_in_zone_.find_or(table.zone(), kNone);
    const std::uint32_t next = std::exchange(next_in_zone_[number], kNone);
    if (first != number) {
        std::uint32_t before = first;
        while (next_in_zone_[before] != number) before = next_in_zone_[before];
        next_in_zone_[before] = next;
    } else if (next != kNone) {
        first_in_zone_.set(table.zone(), next);
    } else {
        first_in_zone_.erase(table.zone());
    }
    number_by_place_.erase(pair_key(table.zone(), table.type().number()));
    free_numbers_.push_back(number);
    tables_[number] = nullptr;
    note_columns(number);
    empty_visits_[number] = 0;
    destroy_owned("database", &table);
}

Status TableSet::validate() const {
    std::size_t num_listed = 0;
    for (std::uint32_t number = 0; number < tables_.size(); ++number) {
        if (tables_[number] != nullptr) {
            ++num_listed;
            if (Status status = validate(*tables_[number], number); !status) return status;
        } else if (occupied_.test(number)) {
            return Status::error(concat("database: table number ", number, " is free, but said to have rows"));
        }
    }
    if (list_.size() != listed_also_.size() + num_listed || num_listed + free_numbers_.size() != tables_.size())
        return Status::error(concat("database: ", num_listed, " tables, but ", list_.size(), " in the list"));
    return {};
}

Status TableSet::validate(const DatabaseTable& table, std::uint32_t number) const {
    if (Status status = table.validate(); !status) return status;
    if (table.number() != number || find(table.type(), table.zone()) != &table)
        return broken(table, concat("it is not found as table ", number));
    bool in_zone = false;
    for_each_of_zone(table.zone(), [&](const DatabaseTable& other) { in_zone |= &other == &table; });
    if (!in_zone) return broken(table, "it is not in the list of its zone");
    if (occupied_.test(number) != (table.num_rows() != 0))
        return broken(table, "the bit that says whether it has rows is wrong");
    for (const Entity entity : table.entities())
        if (directory_->table_of(entity.index()) != number)
            return broken(
                table, concat("the directory has one of its entities in table ", directory_->table_of(entity.index())));
    return {};
}

std::span<const Table* const> TableSet::list() const { return list_; }

}  // namespace shoal
