#include "cluster/zone_rows.h"

#include "shoal/state/snapshot.h"

#include <algorithm>

namespace shoal::cluster {

// --- archetypes --------------------------------------------------------------------------------------------------

std::vector<ComponentType> TypeKeys::types_of(const Archetype& type) const {
    std::vector<ComponentType> types(type.components().begin(), type.components().end());
    std::ranges::sort(types, {}, [&](ComponentType one) { return database_.schema(one).id().hash; });
    return types;
}

std::uint64_t TypeKeys::key(const Archetype& type) {
    if (type.number() >= keys_.size()) keys_.resize(type.number() + std::size_t(1));
    auto& [key, enableable] = keys_[type.number()];
    if (key != 0) return key;
    Known known{&type, {}};
    for (const ComponentType one : types_of(type)) {
        known.components.push_back(database_.schema(one).id().hash);
        if (type.enableable_index(one) >= 0) enableable.push_back(one);
    }
    key = hash_bytes(known.components.data(), known.components.size() * sizeof(std::uint64_t), 1);
    types_.try_emplace(key, std::move(known));
    return key;
}

Result<const Archetype*> TypeKeys::find(std::uint64_t key, std::span<const std::uint64_t> components) {
    if (const auto known = types_.find(key); known != types_.end()) return known->second.type;
    std::vector<ComponentType> types;
    for (const std::uint64_t id : components) {
        types.push_back(database_.find_component(ComponentId(id)));
        if (!types.back())
            return Status::error("a table has a component type that no database has here; make it before start()");
    }
    const Archetype& type = database_.archetype(types);
    if (this->key(type) != key) return Status::error("a table is not of the component types that it names");
    return &type;
}

// --- rows --------------------------------------------------------------------------------------------------------

void ZoneRows::note_tables() {
    const std::span<DatabaseTable* const> tables = database_.all_tables();
    const bool some_ended = database_.table_list_epoch() != epoch_;
    if (some_ended) {
        // A load makes new tables, and may set their stamps back.
        for (auto& [key, rows] : rows_) rows.table = nullptr, rows.since = 0;
        by_number_.clear();
        epoch_ = database_.table_list_epoch();
    }
    while (by_number_.size() < tables.size()) {
        const DatabaseTable* const table = tables[by_number_.size()];
        TableRows* const rows = table == nullptr ? nullptr : &at({table->zone(), types_.key(table->type())});
        if (rows != nullptr) rows->table = table;
        by_number_.push_back(rows);
    }
    if (!some_ended) return;
    ended_.clear();
    // A table had rows from after one settle until the commands of the next one, so the database saw it empty.
    for (auto& [key, rows] : rows_)
        if (rows.table == nullptr && !rows.owners.empty()) ended_.push_back(&rows);
}

TableRows& ZoneRows::at(const TableKey& key) {
    TableRows& rows = rows_[key];
    rows.key = key;
    listed_at_ = kNever;
    return rows;
}

/// Compares the tables of these zones, if there were structural changes since the last call.
void ZoneRows::list_changed(const ZoneSet& zones) {
    note_tables();
    if (listed_at_ == database_.num_structural_changes()) return;
    listed_at_ = database_.num_structural_changes();
    changed_.clear();
    const auto list = [&](TableRows* rows) {
        if (rows == nullptr || !zones.contains(rows->key.zone_number())) return;
        compare(*rows);
        if (!rows->differing.empty()) changed_.push_back(rows);
    };
    for (TableRows* const rows : by_number_) list(rows);
    for (TableRows* const rows : ended_)
        if (rows->table == nullptr) list(rows);
}

void ZoneRows::keep(const ZoneSet& zones) {
    std::erase_if(rows_, [&](const auto& each) { return !zones.contains(each.first.zone_number()); });
    by_number_.clear(), ended_.clear();
    listed_at_ = kNever;
}

void ZoneRows::clear() { keep({}); }

const std::vector<std::uint64_t>& ZoneRows::enabled_of(const DatabaseTable& table) {
    enabled_.clear();
    const std::uint32_t num_rows = table.num_rows();
    for (const ComponentType type : types_.enableable(table.type())) {
        const std::uint64_t* const words = table.presence(type);
        enabled_.insert(enabled_.end(), words, words + (num_rows + 63) / 64);
        if (num_rows % 64 != 0) enabled_.back() &= ~std::uint64_t(0) >> (64 - num_rows % 64);
    }
    return enabled_;
}

namespace {

/// Calls visit(row) for the rows in which a table has another owner than a list, in ascending order, up to the end of
/// the longer one. Rows that were placed before a stamp are not looked at.
template <class Visit>
void for_each_difference(std::span<const Entity> before, const Table& table, std::uint64_t since, Visit&& visit) {
    const std::span<const Entity> now = table.entities();
    const auto num_common = static_cast<std::uint32_t>(std::min(before.size(), now.size()));
    for (std::uint32_t begin = 0; begin < num_common; begin += kElementsPerSnapshotBlock) {
        const SnapshotMarks placed = table.placed_since(begin / kElementsPerSnapshotBlock, since);
        for (std::size_t word = 0; word < std::size(placed.words); ++word)
            for_each_bit(placed.words[word], word * 64, [&](std::size_t mark) {
                const std::uint32_t first = begin + static_cast<std::uint32_t>(mark) * kRowsPerChangeMark;
                for (std::uint32_t row = first; row < std::min(first + kRowsPerChangeMark, num_common); ++row)
                    if (before[row] != now[row]) visit(row);
            });
    }
    const auto num_all = static_cast<std::uint32_t>(std::max(before.size(), now.size()));
    for (std::uint32_t row = num_common; row < num_all; ++row) visit(row);
}

}  // namespace

/// Finds what differs between the rows of a table and those of the last settle.
void ZoneRows::compare(TableRows& rows) {
    rows.differing.clear(), rows.found.clear();
    if (rows.table == nullptr) {
        for (std::uint32_t row = 0; row < rows.owners.size(); ++row) rows.differing.push_back(row);
        return;
    }
    const Table& table = rows.table->table();
    for_each_difference(rows.owners, table, rows.since, [&](std::uint32_t row) { rows.differing.push_back(row); });
    if (rows.differing.empty()) {
        rows.since = table.stamp();
        return;
    }
    before_.clear();
    for (const std::uint32_t row : rows.differing)
        if (row < rows.owners.size()) before_.push_back(rows.owners[row]);
    std::sort(before_.begin(), before_.end());
    for (const std::uint32_t row : rows.differing)
        if (row < table.num_rows() && !std::binary_search(before_.begin(), before_.end(), table.entities()[row]))
            rows.found.push_back(table.entities()[row]);
}

void ZoneRows::arrange(const EntityNames& names, TableRows& rows, TableChange& change) {
    change.key = rows.key;
    change.gone.clear(), change.come.clear(), come_.clear();
    for (const std::uint32_t row : rows.differing)
        if (row < rows.owners.size() && (rows.table == nullptr || database_.find(rows.owners[row]).table != rows.table))
            change.gone.push_back(row);
    for (const Entity entity : rows.found) come_.emplace_back(names.name(entity), entity);
    std::sort(come_.begin(), come_.end());
    take_out_rows(rows.owners, change.gone), take_out_rows(rows.names, change.gone);
    // Besides the rows that differ, those from here on may be out of place.
    const auto end = static_cast<std::uint32_t>(rows.owners.size());
    for (const auto& [name, entity] : come_) change.come.push_back(name), rows.owners.push_back(entity);
    rows.names.insert(rows.names.end(), change.come.begin(), change.come.end());
    std::erase_if(rows.differing, [&](std::uint32_t row) { return row >= end; });
    for (std::uint32_t row = end; row < rows.owners.size(); ++row) rows.differing.push_back(row);
    if (rows.table == nullptr) return;
    const bool is_listed = listed_at_ == database_.num_structural_changes();
    database_.arrange(*rows.table, rows.owners, std::span<const std::uint32_t>(rows.differing));
    if (is_listed) listed_at_ = database_.num_structural_changes();  // no other table has changed
    rows.differing.clear(), rows.found.clear();
    rows.since = rows.table->table().stamp();
}

void ZoneRows::add_enabled(const ZoneSet& zones, std::vector<TableChange>& changes) {
    if (zones.empty()) return;
    for (TableChange& change : changes) {
        TableRows& rows = rows_.at(change.key);
        if (rows.table != nullptr) change.enabled = rows.enabled = enabled_of(*rows.table);
    }
    for (TableRows* const rows : by_number_) {
        if (rows == nullptr || rows->table->type().enableable().empty() || !zones.contains(rows->key.zone_number()) ||
            rows->enabled == enabled_of(*rows->table))
            continue;
        rows->enabled = enabled_;
        changes.push_back({rows->key, {}, {}, enabled_});
    }
}

void ZoneRows::set(const TableKey& key, std::vector<Entity> owners, std::vector<Name> names) {
    note_tables();
    TableRows& rows = at(key);
    if (rows.table != nullptr) {
        database_.arrange(*rows.table, owners);
        rows.since = rows.table->table().stamp();
    }
    rows.owners = std::move(owners), rows.names = std::move(names);
}

Status ZoneRows::enable(const TableKey& key, std::span<const std::uint64_t> enabled) {
    TableRows& rows = at(key);
    if (rows.table == nullptr) return {};
    const std::size_t num_words = (rows.owners.size() + 63) / 64;
    for (const ComponentType type : types_.enableable(rows.table->type())) {
        if (enabled.size() < num_words) return Status::error("bits of rows are cut off");
        if (num_words != 0) database_.set_enabled(*rows.table, type, enabled.first(num_words));
        enabled = enabled.subspan(num_words);
    }
    return {};
}

std::vector<TableChange> ZoneRows::list_all(const ZoneSet& zones) {
    std::vector<TableChange> changes;
    for (auto& [key, rows] : rows_) {
        if (!zones.contains(key.zone_number()) || rows.owners.empty()) continue;
        rows.enabled = enabled_of(*rows.table);
        changes.push_back({key, {}, rows.names, rows.enabled});
    }
    return changes;
}

}  // namespace shoal::cluster
