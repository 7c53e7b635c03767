#include "shoal/database/detail/zone_statistics.h"

#include "database/memory_shares.h"

#include <algorithm>

namespace shoal {
namespace {

/// Adds up the entries of the same zone and component type. Requires: these entries are adjacent.
void unite_equal(Array<ZoneStatistics>& entries) {
    std::size_t num_kept = 0;
    for (const ZoneStatistics& entry : entries) {
        if (num_kept == 0 || entries[num_kept - 1].zone != entry.zone ||
            entries[num_kept - 1].component != entry.component) {
            entries[num_kept++] = entry;
            continue;
        }
        StoreStatistics& sum = entries[num_kept - 1].held;
        sum.num_rows += entry.held.num_rows;
        sum.num_dead_rows += entry.held.num_dead_rows;
        sum.rows += entry.held.rows;
    }
    entries.resize(num_kept);
}

/// Divides the directory's memory so that the zones' shares for each component type add up to the type's share.
void share_index(const Database& database, Array<ZoneStatistics>& entries) {
    const MemoryUse whole = database.directory().memory_use();
    std::uint64_t num_components = 0;
    for (const ZoneStatistics& entry : entries) num_components += entry.held.num_rows;
    if (num_components == 0) return;
    Array<std::uint64_t> num_before("database");  // number of rows in earlier zones, indexed by component type number
    num_before.resize(database.schemas().size(), 0);
    for (ZoneStatistics& entry : entries) {
        std::uint64_t& num_rows = num_before[entry.component.number];
        const MemoryUse before = memory_share(whole, num_rows, num_components);
        num_rows += entry.held.num_rows;
        const MemoryUse after = memory_share(whole, num_rows, num_components);
        entry.held.index = {after.used_bytes - before.used_bytes, after.committed_bytes - before.committed_bytes,
                            after.reserved_bytes - before.reserved_bytes};
    }
}

/// Adds the second and later values of each entity to the entity's zone. Requires: entries are sorted.
void add_further(const Database& database, ComponentType component, Array<ZoneStatistics>& entries) {
    const OwnedRows* const further = database.further_values(component);
    if (further == nullptr) return;
    const auto entry_of = [&](Zone zone) {
        return std::lower_bound(entries.begin(), entries.end(), zone, [&](const ZoneStatistics& entry, Zone wanted) {
            return entry.zone != wanted ? entry.zone < wanted : entry.component.number < component.number;
        });
    };
    Array<std::uint64_t> num_rows("database"), num_dead("database");  // indexed by entry
    num_rows.resize(entries.size(), 0);
    num_dead.resize(entries.size(), 0);
    for (const Entity owner : further->table().entities()) {
        const auto place = static_cast<std::size_t>(entry_of(database.find(owner).table->zone()) - entries.begin());
        ++num_rows[place];
        num_dead[place] += !database.entity_manager().alive(owner);
    }
    // If there are no further values, the first zone gets the memory that is reserved for them.
    const auto is_of_type = [&](const ZoneStatistics& entry) { return entry.component == component; };
    const auto first = std::find_if(entries.begin(), entries.end(), is_of_type);
    if (further->num_rows() == 0 && first != entries.end()) {
        first->held.rows += further->table().memory_use();
        first->held.index += further->index().memory_use();
    }
    const std::uint64_t num_all = further->num_rows();
    std::uint64_t num_before = 0;
    const auto share = [&](const MemoryUse& whole, std::uint64_t count) {
        const MemoryUse before = memory_share(whole, num_before, num_all);
        const MemoryUse after = memory_share(whole, num_before + count, num_all);
        return MemoryUse{after.used_bytes - before.used_bytes, after.committed_bytes - before.committed_bytes,
                         after.reserved_bytes - before.reserved_bytes};
    };
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (num_rows[i] == 0) continue;
        entries[i].held.num_rows += num_rows[i];
        entries[i].held.num_dead_rows += num_dead[i];
        entries[i].held.rows += share(further->table().memory_use(), num_rows[i]);
        entries[i].held.index += share(further->index().memory_use(), num_rows[i]);
        num_before += num_rows[i];
    }
}

}  // namespace

Array<ZoneStatistics> zone_statistics(const Database& database) {
    Array<ZoneStatistics> entries("database");
    for (const DatabaseTable* table : database.all_tables()) {
        if (table == nullptr) continue;
        for_each_share(
            database, *table,
            [&](ComponentType component, std::uint32_t num_rows, std::uint64_t num_dead, const MemoryUse& use) {
                entries.push_back({table->zone(),
                                   component,
                                   {.component = database.schema(component).name(),
                                    .num_rows = num_rows,
                                    .num_dead_rows = num_dead,
                                    .rows = use}});
            });
    }
    std::sort(entries.begin(), entries.end(), [](const ZoneStatistics& a, const ZoneStatistics& b) {
        return a.zone != b.zone ? a.zone < b.zone : a.component.number < b.component.number;
    });
    unite_equal(entries);
    share_index(database, entries);
    for (std::uint32_t number = 0; number < database.schemas().size(); ++number)
        add_further(database, {number}, entries);
    return entries;
}

}  // namespace shoal
