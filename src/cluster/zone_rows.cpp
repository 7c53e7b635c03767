#include "cluster/zone_rows.h"

#include <algorithm>
#include <cstring>

namespace shoal::cluster {

// --- archetypes --------------------------------------------------------------------------------------------------

std::vector<ComponentType> TypeKeys::types_of(const Archetype& type) const {
    std::vector<ComponentType> types(type.components().begin(), type.components().end());
    std::ranges::sort(types, {}, [&](ComponentType one) { return database_.schema(one).id().hash; });
    return types;
}

std::uint64_t TypeKeys::key(const Archetype& type) {
    if (type.number() >= keys_.size()) keys_.resize(type.number() + std::size_t(1));
    std::uint64_t& key = keys_[type.number()];
    if (key != 0) return key;
    Known known{&type, {}};
    for (const ComponentType one : types_of(type)) known.components.push_back(database_.schema(one).id().hash);
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
    if (database_.table_list_epoch() != epoch_) {
        for (auto& [key, rows] : rows_) rows.table = nullptr;
        num_tables_ = 0;
        epoch_ = database_.table_list_epoch();
    }
    for (; num_tables_ < tables.size(); ++num_tables_)
        if (const DatabaseTable* const table = tables[num_tables_]; table != nullptr)
            at({table->zone(), types_.key(table->type())}).table = table;
}

TableRows& ZoneRows::at(const TableKey& key) {
    TableRows& rows = rows_[key];
    rows.key = key;
    listed_at_ = TableRows::kNever;
    return rows;
}

/// Lists the tables that may have changed, if there were structural changes since the last call.
void ZoneRows::list_changed() {
    note_tables();
    if (listed_at_ == database_.num_structural_changes()) return;
    listed_at_ = database_.num_structural_changes();
    changed_.clear();
    for (auto& [key, rows] : rows_) {
        const bool has_enableable = rows.table != nullptr && !rows.table->type().enableable().empty();
        if (has_enableable || !has_rows_as_before(rows)) changed_.push_back(&rows);
    }
}

void ZoneRows::keep(const ZoneSet& zones) {
    std::erase_if(rows_, [&](const auto& each) { return !zones.contains(each.first.zone_number()); });
    num_tables_ = 0;
    listed_at_ = TableRows::kNever;
}

void ZoneRows::clear() {
    rows_.clear();
    num_tables_ = 0;
    listed_at_ = TableRows::kNever;
}

std::vector<std::uint64_t> ZoneRows::enabled_of(const DatabaseTable& table) const {
    std::vector<std::uint64_t> bits;
    if (table.type().enableable().empty() || table.num_rows() == 0) return bits;
    for (const ComponentType type : types_.types_of(table.type())) {
        const std::uint64_t* const words = table.presence(type);
        if (words == nullptr) continue;
        const std::uint32_t num_rows = table.num_rows();
        bits.insert(bits.end(), words, words + (num_rows + 63) / 64);
        if (num_rows % 64 != 0) bits.back() &= ~std::uint64_t(0) >> (64 - num_rows % 64);
    }
    return bits;
}

bool ZoneRows::has_rows_as_before(TableRows& rows) const {
    if (rows.compared_at == database_.num_structural_changes()) return rows.is_as_before;
    rows.compared_at = database_.num_structural_changes();
    const std::span<const Entity> now = rows.table == nullptr ? std::span<const Entity>() : rows.table->entities();
    rows.is_as_before = now.size() == rows.owners.size() &&
                        (now.empty() || std::memcmp(now.data(), rows.owners.data(), now.size_bytes()) == 0);
    return rows.is_as_before;
}

bool ZoneRows::is_as_before(TableRows& rows) const {
    if (!has_rows_as_before(rows)) return false;
    return rows.table == nullptr || rows.table->type().enableable().empty() || enabled_of(*rows.table) == rows.enabled;
}

namespace {

/// Calls visit(row) for the rows in which two lists differ, in ascending order, up to the end of the longer list.
template <class Visit>
void for_each_difference(std::span<const Entity> a, std::span<const Entity> b, Visit&& visit) {
    constexpr std::size_t kBlock = 32;
    const std::size_t common = std::min(a.size(), b.size());
    for (std::size_t begin = 0; begin < common; begin += kBlock) {
        const std::size_t end = std::min(begin + kBlock, common);
        if (std::memcmp(&a[begin], &b[begin], (end - begin) * sizeof(Entity)) == 0) continue;
        for (std::size_t row = begin; row < end; ++row)
            if (a[row] != b[row]) visit(static_cast<std::uint32_t>(row));
    }
    for (std::size_t row = common; row < std::max(a.size(), b.size()); ++row) visit(static_cast<std::uint32_t>(row));
}

}  // namespace

TableChange ZoneRows::arrange(const EntityNames& names, TableRows& rows) {
    TableChange change{.key = rows.key, .gone = {}, .come = {}, .enabled = {}};
    std::vector<std::pair<Name, Entity>> come;
    for (const Entity entity : find_new(rows)) come.emplace_back(names.name(entity), entity);
    const std::span<const Entity> now = rows.table == nullptr ? std::span<const Entity>() : rows.table->entities();
    for_each_difference(rows.owners, now, [&](std::uint32_t row) {
        if (row >= rows.owners.size()) return;
        if (rows.table == nullptr || database_.find(rows.owners[row]).table != rows.table) change.gone.push_back(row);
    });
    take_out_rows(rows.owners, change.gone), take_out_rows(rows.names, change.gone);
    std::sort(come.begin(), come.end());
    for (const auto& [name, entity] : come) change.come.push_back(name), rows.owners.push_back(entity);
    rows.names.insert(rows.names.end(), change.come.begin(), change.come.end());
    rows.enabled.clear();
    rows.compared_at = rows.found_at = TableRows::kNever;
    if (rows.table == nullptr) return change;
    database_.arrange(*rows.table, rows.owners);
    change.enabled = rows.enabled = enabled_of(*rows.table);
    return change;
}

const std::vector<Entity>& ZoneRows::find_new(TableRows& rows) const {
    std::vector<Entity>& found = rows.found;
    if (rows.found_at == database_.num_structural_changes()) return found;
    rows.found_at = database_.num_structural_changes();
    found.clear();
    if (rows.table == nullptr) return found;
    const std::span<const Entity> now = rows.table->entities();
    std::vector<Entity> before, after;  // the owners of rows whose owner has changed
    for_each_difference(rows.owners, now, [&](std::uint32_t row) {
        if (row < rows.owners.size()) before.push_back(rows.owners[row]);
        if (row < now.size()) after.push_back(now[row]);
    });
    std::sort(before.begin(), before.end());
    for (const Entity entity : after)
        if (!std::binary_search(before.begin(), before.end(), entity)) found.push_back(entity);
    return found;
}

void ZoneRows::set(const TableKey& key, std::vector<Entity> owners, std::vector<Name> names) {
    note_tables();
    TableRows& rows = at(key);
    if (rows.table != nullptr) {
        database_.arrange(*rows.table, owners);
        rows.enabled = enabled_of(*rows.table);
    }
    rows.owners = std::move(owners), rows.names = std::move(names);
    rows.compared_at = rows.found_at = TableRows::kNever;
}

Status ZoneRows::enable(const TableKey& key, std::span<const std::uint64_t> enabled) {
    TableRows& rows = at(key);
    if (rows.table == nullptr) return {};
    const std::size_t num_words = (rows.owners.size() + 63) / 64;
    for (const ComponentType type : types_.types_of(rows.table->type())) {
        if (rows.table->type().enableable_index(type) < 0) continue;
        if (enabled.size() < num_words) return Status::error("bits of rows are cut off");
        if (num_words != 0) database_.set_enabled(*rows.table, type, enabled.first(num_words));
        enabled = enabled.subspan(num_words);
    }
    rows.enabled = enabled_of(*rows.table);
    return {};
}

std::vector<TableChange> ZoneRows::list_all(const ZoneSet& zones) const {
    std::vector<TableChange> changes;
    for (const auto& [key, rows] : rows_) {
        if (!zones.contains(key.zone_number()) || rows.owners.empty()) continue;
        changes.push_back({key, {}, rows.names, rows.enabled});
    }
    return changes;
}

}  // namespace shoal::cluster
