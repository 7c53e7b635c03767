#include "shoal/database/zone_statistics.h"

#include "database/memory_shares.h"

#include <algorithm>

namespace shoal {
namespace {

/// Adds up the entries of one zone and component type. Requires: they stand side by side.
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

/// Shares the directory out, so that what the zones of a component type get adds up to what it gets.
void share_index(const Database& database, Array<ZoneStatistics>& entries) {
    const MemoryUse whole = database.directory().memory_use();
    std::uint64_t num_components = 0;
    for (const ZoneStatistics& entry : entries) num_components += entry.held.num_rows;
    if (num_components == 0) return;
    Array<std::uint64_t> num_before("database");  // rows in earlier zones, by component type number
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
    return entries;
}

}  // namespace shoal
