// The database as a store: settling, reports, checks.

#include "database/database_internals.h"
#include "database/journal_keeper.h"
#include "database/memory_shares.h"
#include "shoal/base/text.h"
#include "shoal/database/database.h"

#include <algorithm>

namespace shoal {
namespace {

constexpr std::uint32_t kVisitsPerSettle = 512;  // tables whose memory is looked at
constexpr std::uint32_t kEmptyVisits = 16;       // in a row, before a table goes
constexpr std::size_t kMostScratch = 1u << 16;   // entities whose places are kept from call to call

Status broken(const DatabaseTable& table, std::string_view what) {
    return Status::error(
        concat("database, zone ", table.zone(), ", archetype \"", table.type().schema().name(), "\": ", what));
}

}  // namespace

// --- settling ----------------------------------------------------------------------------------------------------

void Database::apply_commands(const SettleContext& context) {
    require_unlocked();
    if (deferred_changes_ != nullptr) deferred_changes_->apply(context.counts);
}

std::uint64_t Database::count_pending_pins(ResourceId resource) const {
    return deferred_changes_ == nullptr ? 0 : deferred_changes_->count_pins(resource);
}

void Database::hold_rows(bool hold) { hold ? directory_.hold() : directory_.release(); }

void Database::settle(const SettleContext& context) {
    apply_commands(context);
    Call call{*this};
    std::uint64_t num_removed = 0;
    const DeathRange dead = entities_.deaths(cursor_);
    if (dead.fell_behind || dead.entities.size() > num_rows() / 2) {
        for (DatabaseTable* table : tables_)
            if (table != nullptr && table->num_rows() != 0) num_removed += call.sweep(*table);
    } else if (!dead.entities.empty()) {
        num_removed += call.drop_rows(dead.entities, Call::Chosen::kDead);
    }
    if (context.counts != nullptr) context.counts->num_removed += num_removed;
    pass_deaths(dead.end);
    if (journal_ != nullptr) {
        for (DatabaseTable* table : tables_)
            if (table != nullptr) journal_->collect(*table, stamp_);
        journal_->trim();
    }
    stamp_ = std::max(stamp_, context.stamp);
    for (DatabaseTable* table : tables_)
        if (table != nullptr && table->num_rows() != 0)
            table->table_.set_stamp(std::max(stamp_, table->table_.stamp()));
    call.collect_garbage();
}

/// Looks at the memory of some tables, and lets those go that have been empty for long.
void Database::Call::collect_garbage() {
    const std::size_t num_visits = std::min<std::size_t>(kVisitsPerSettle, d.tables_.size());
    const std::size_t num_free = d.free_tables_.size();
    for (std::size_t i = 0; i < num_visits; ++i) {
        d.next_visited_ = d.next_visited_ + 1 < d.tables_.size() ? d.next_visited_ + 1 : 0;
        DatabaseTable* const table = d.tables_[d.next_visited_];
        if (table == nullptr) continue;
        table->table_.settle_memory();
        table->num_empty_visits_ = table->num_rows() == 0 ? table->num_empty_visits_ + 1 : 0;
        if (table->num_empty_visits_ >= kEmptyVisits) retire(*table);
    }
    if (d.free_tables_.size() != num_free) forget_tables();
    if (d.selection_->rows.size() > kMostScratch) *d.selection_ = Selection();
}

// --- reports -----------------------------------------------------------------------------------------------------

std::uint64_t Database::num_rows() const {
    std::uint64_t count = 0;
    for (const DatabaseTable* table : tables_) count += table == nullptr ? 0 : table->num_rows();
    return count;
}

std::uint64_t Database::num_rows(Zone zone) const {
    std::uint64_t count = 0;
    for_each_table_of_zone(zone, [&](const DatabaseTable& table) { count += table.num_rows(); });
    return count;
}

std::span<const Table* const> Database::tables() const { return table_list_; }

std::size_t Database::statistics(std::span<StoreStatistics> out) const {
    for (std::size_t i = 0; i < out.size() && i < schemas_.size(); ++i) {
        out[i] = {};
        out[i].component = schemas_[i]->name();
    }
    std::uint64_t num_components = 0;
    for (const DatabaseTable* table : tables_) {
        if (table == nullptr) continue;
        for_each_share(
            *this, *table,
            [&](ComponentType component, std::uint32_t num_rows, std::uint64_t num_dead, const MemoryUse& use) {
                num_components += num_rows;
                if (component.number >= out.size()) return;
                out[component.number].num_rows += num_rows;
                out[component.number].num_dead_rows += num_dead;
                out[component.number].rows += use;
            });
    }
    for (std::size_t i = 0; i < out.size() && i < schemas_.size() && num_components != 0; ++i)
        out[i].index = memory_share(directory_.memory_use(), out[i].num_rows, num_components);
    return schemas_.size();
}

std::uint64_t Database::hash_beside_tables(std::uint64_t hash) const {
    for (const DatabaseTable* table : tables_) {
        if (table == nullptr || table->num_rows() == 0) continue;
        const std::uint64_t zone = table->zone();
        hash = hash_bytes(&zone, sizeof zone, hash);
        for (const PresenceBits& bits : table->presence_) {
            const std::uint32_t num_whole = table->num_rows() / 64;
            hash = hash_bytes(bits.words(), num_whole * sizeof(std::uint64_t), hash);
            if (table->num_rows() % 64 == 0) continue;
            const std::uint64_t last = bits.words()[num_whole] << (64 - table->num_rows() % 64);
            hash = hash_bytes(&last, sizeof last, hash);
        }
    }
    return hash;
}

// --- checks ------------------------------------------------------------------------------------------------------

Status Database::validate() const {
    std::uint64_t num_rows = 0, num_entries = 0, num_listed = 0;
    for (std::uint32_t number = 0; number < tables_.size(); ++number) {
        if (tables_[number] == nullptr) {
            if (occupied_[number / 64] >> (number % 64) & 1)
                return Status::error(concat("database: table number ", number, " is free, but said to have rows"));
            continue;
        }
        const DatabaseTable& table = *tables_[number];
        ++num_listed;
        num_rows += table.num_rows();
        if (Status status = Call::validate_table(*this, table, number); !status) return status;
    }
    for (const EntityBits entry : directory_.rows().entries().first(
             std::min<std::size_t>(directory_.rows().entries().size(), entities_.num_indices_used() + 1)))
        num_entries += entry != 0;
    if (num_entries != num_rows)
        return Status::error(concat("database: ", num_rows, " rows, but ", num_entries, " entries in the directory"));
    if (table_list_.size() != num_listed || num_listed + free_tables_.size() != tables_.size())
        return Status::error(concat("database: ", num_listed, " tables, but ", table_list_.size(), " in the list"));
    return {};
}

Status Database::Call::validate_table(const Database& database, const DatabaseTable& table, std::uint32_t number) {
    if (Status status = table.table().validate(); !status) return status;
    if (table.number() != number || database.find_table(table.type(), table.zone()) != &table)
        return broken(table, concat("it is not found as table ", number));
    bool in_zone = false;
    database.for_each_table_of_zone(table.zone(), [&](const DatabaseTable& other) { in_zone |= &other == &table; });
    if (!in_zone) return broken(table, "it is not in the list of its zone");
    if ((database.occupied_[number / 64] >> (number % 64) & 1) != (table.num_rows() != 0))
        return broken(table, "the bit that says whether it has rows is wrong");
    if (table.num_wanted_ != 0) return broken(table, "a call has left its count of wanted rows");
    for (const PresenceBits& bits : table.presence_)
        if (bits.num_bytes() * 8 < table.num_rows()) return broken(table, "its toggled components lack bits");
    for (std::uint32_t row = 0; row < table.num_rows(); ++row)
        if (database.directory_.table_of(table.entities()[row].index()) != number)
            return broken(table, concat("the directory has row ", row, " in table ",
                                        database.directory_.table_of(table.entities()[row].index())));
    return {};
}

}  // namespace shoal
