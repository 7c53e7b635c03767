#include "shoal/inspect/zone_report.h"

#include "inspect/memory_members.h"
#include "shoal/base/text.h"
#include "shoal/document/document_builder.h"
#include "shoal/document/json.h"
#include "shoal/inspect/text_table.h"
#include "shoal/transform/transform.h"
#include "shoal/world/world.h"

#include <algorithm>
#include <map>

namespace shoal {
namespace {

void add_to(std::vector<ZoneComponentReport>& sums, const ZoneComponentReport& component) {
    const auto same = std::find_if(sums.begin(), sums.end(),
                                   [&](const ZoneComponentReport& sum) { return sum.name == component.name; });
    if (same == sums.end()) return sums.push_back(component);
    same->num_rows += component.num_rows;
    same->num_dead_rows += component.num_dead_rows;
    same->rows += component.rows;
    same->index += component.index;
}

void add_row(TextTable& table, const std::string& zone, const ZoneComponentReport& component) {
    table.add_row({zone, component.name, count_text(component.num_rows), count_text(component.num_dead_rows),
                   bytes_text(component.rows.used_bytes), bytes_text(component.rows.committed_bytes),
                   bytes_text(component.rows.reserved_bytes), bytes_text(component.index.committed_bytes)});
}

}  // namespace

MemoryUse ZoneReport::memory() const {
    MemoryUse sum;
    for (const ZoneComponentReport& component : components) {
        sum += component.rows;
        sum += component.index;
    }
    return sum;
}

std::vector<ZoneReport> report_zones(const Database& database) {
    std::vector<ZoneReport> zones;
    for (const DatabaseTable* table : database.all_tables())
        if (table != nullptr) zones.push_back({table->zone(), 0, {}});
    std::sort(zones.begin(), zones.end(), [](const ZoneReport& a, const ZoneReport& b) { return a.zone < b.zone; });
    const auto is_same = [](const ZoneReport& a, const ZoneReport& b) { return a.zone == b.zone; };
    zones.erase(std::unique(zones.begin(), zones.end(), is_same), zones.end());
    for (ZoneReport& zone : zones) zone.num_entities = database.num_rows(zone.zone);
    auto zone = zones.begin();
    for (const ZoneStatistics& entry : zone_statistics(database)) {
        while (zone->zone != entry.zone) ++zone;
        const StoreStatistics& held = entry.held;
        zone->components.push_back(
            {std::string(held.component), held.num_rows, held.num_dead_rows, held.rows, held.index});
    }
    return zones;
}

std::vector<ZoneBounds> zone_bounds(const World& world) {
    std::vector<ZoneBounds> all;
    const Database* const database = find_database(world.directory());
    if (database == nullptr) return all;
    std::map<Zone, Bounds> bounds;
    const TransformManager* const transforms = find_transforms(world.directory());
    for (const DatabaseTable* table : database->all_tables()) {
        if (table == nullptr) continue;
        Bounds& box = bounds[table->zone()];
        if (const std::optional<Vec3Rows> rows = find_vec3(table->table(), "position"))
            for (std::uint32_t row = 0; row < rows->num_rows; ++row) box.add((*rows)[row]);
        else if (transforms != nullptr)
            for (const Entity entity : table->entities())
                if (const Instance instance = transforms->instance(entity))
                    box.add(transforms->world_position(instance));
    }
    for (const auto& [zone, box] : bounds) all.push_back({zone, box});
    return all;
}

const Bounds* find_bounds(std::span<const ZoneBounds> all, Zone zone) {
    const auto at = std::ranges::lower_bound(all, zone, {}, &ZoneBounds::zone);
    return at == all.end() || at->zone != zone || at->bounds.num_points == 0 ? nullptr : &at->bounds;
}

std::string zones_text(std::span<const ZoneReport> zones, std::size_t most_zones) {
    std::vector<const ZoneReport*> order;
    for (const ZoneReport& zone : zones) order.push_back(&zone);
    std::sort(order.begin(), order.end(), [](const ZoneReport* a, const ZoneReport* b) {
        const std::size_t bytes_a = a->memory().committed_bytes, bytes_b = b->memory().committed_bytes;
        return bytes_a != bytes_b ? bytes_a > bytes_b : a->zone < b->zone;
    });
    TextTable table({"zone", "component", "rows", "dead", "used", "committed", "reserved", "index"});
    std::vector<ZoneComponentReport> others;
    for (std::size_t i = 0; i < order.size(); ++i)
        for (const ZoneComponentReport& component : order[i]->components) {
            if (i < most_zones)
                add_row(table, concat(order[i]->zone), component);
            else
                add_to(others, component);
        }
    for (const ZoneComponentReport& component : others) {
        const std::size_t count = order.size() - most_zones;
        add_row(table, concat(count_text(count), count == 1 ? " other" : " others"), component);
    }
    return table.empty() ? std::string() : table.text();
}

void write_zones(std::span<const ZoneReport> zones, DocumentBuilder& builder) {
    builder.begin_list("zones");
    for (const ZoneReport& zone : zones) {
        builder.begin_mapping();
        builder.unsigned_integer("zone", zone.zone);
        builder.unsigned_integer("entities", zone.num_entities);
        write_memory(zone.memory(), builder);
        builder.begin_mapping("components");
        for (const ZoneComponentReport& component : zone.components) {
            builder.begin_mapping(component.name);
            builder.unsigned_integer("rows", component.num_rows);
            builder.unsigned_integer("dead_rows", component.num_dead_rows);
            write_memory(component.rows, builder);
            write_memory("index", component.index, builder);
            builder.end();
        }
        builder.end();
        builder.end();
    }
    builder.end();
}

std::string zones_json(std::span<const ZoneReport> zones) {
    DocumentBuilder builder;
    builder.begin_mapping();
    write_zones(zones, builder);
    builder.end();
    return write_json(builder.finish().root());
}

}  // namespace shoal
