// Memory by component type, archetype and zone.

#include "inspector/answers.h"
#include "inspector/json_text.h"
#include "shoal/base/text.h"
#include "shoal/database/database.h"
#include "shoal/inspect/positions.h"
#include "shoal/inspect/report.h"
#include "shoal/inspect/zone_report.h"
#include "shoal/store/detail/singletons.h"
#include "shoal/transform/transform.h"
#include "shoal/world/detail/schedule_graph.h"

#include <algorithm>
#include <map>
#include <set>

namespace shoal::inspect {
namespace {

std::string store_of(const World& world, ComponentId component) {
    const Store* const store = world.directory().find(component);
    return store == nullptr ? std::string() : std::string(store->kind());
}

void write_component(const World& world, const ComponentReport& one, JsonText& json) {
    DocumentBuilder& builder = json.builder;
    builder.begin_mapping();
    json.text("name", one.name);
    json.text("store", store_of(world, ComponentId(one.name)));
    builder.unsigned_integer("rows", one.num_rows);
    builder.unsigned_integer("dead", one.num_dead_rows);
    builder.unsigned_integer("row_bytes", one.row_bytes);
    write_use(one.rows, builder);
    builder.unsigned_integer("wasted", one.wasted_bytes());
    builder.unsigned_integer("index_committed", one.index.committed_bytes);
    builder.end();
}

/// The sum over an archetype's tables in all zones.
struct ArchetypeSum {
    std::uint64_t num_rows = 0, num_tables = 0;
    MemoryUse memory;
};

std::map<std::string, ArchetypeSum> sum_archetypes(const World& world) {
    std::map<std::string, ArchetypeSum> sums;
    const Database* const database = find_database(world.directory());
    if (database == nullptr) return sums;
    for (const DatabaseTable* table : database->all_tables()) {
        if (table == nullptr) continue;
        std::string name = table->table().schema().name();
        std::ranges::replace(name, '+', ' ');
        ArchetypeSum& sum = sums[name];
        sum.num_rows += table->num_rows();
        ++sum.num_tables;
        sum.memory += table->memory_use();
    }
    return sums;
}

void write_point(std::string_view key, const Bounds* box, Vec3 Bounds::* corner, DocumentBuilder& builder) {
    if (box == nullptr) {
        builder.key(key);
        return builder.null();
    }
    const Vec3 point = box->*corner;
    builder.begin_list(key);
    for (const float value : {point.x, point.y, point.z}) builder.number(static_cast<double>(value));
    builder.end();
}

/// An upper bound on the number of rows in a zone that have all of the given component types.
std::uint64_t rows_with(const ZoneReport& zone, const std::set<std::string>& components) {
    std::uint64_t least = ~std::uint64_t(0);
    for (const std::string& name : components) {
        const auto found = std::ranges::find(zone.components, name, &ZoneComponentReport::name);
        least = std::min(least, found == zone.components.end() ? 0 : found->num_rows);
    }
    return components.empty() ? 0 : least;
}

/// The database's component types that a pass declares.
std::set<std::string> components_of(const PassNode& pass, const Database& database) {
    std::set<std::string> names;
    for (const std::vector<std::string>* list : {&pass.reads, &pass.writes})
        for (const std::string& access : *list) {
            const std::string name = access.substr(0, access.find('.'));
            for (const Schema* schema : database.schemas())
                if (schema->name() == name) names.insert(name);
        }
    return names;
}

/// Estimates how much time each zone took in the last frame, from the accesses that passes declare. Passes are only
/// timed as a whole, so the time of each pass is divided among the zones in proportion to the pass's rows in each zone.
/// Units: ns.
std::vector<double> share_time(Schedule& schedule, const Database& database, std::span<const ZoneReport> zones) {
    std::vector<double> times(zones.size());
    const Result<ScheduleGraph> graph = schedule.graph();
    if (!graph) return times;
    for (const PassNode& node : graph->passes) {
        const PassStatistics pass = schedule.statistics(node.number);
        const std::set<std::string> components = components_of(node, database);
        double num_rows = 0;
        for (const ZoneReport& zone : zones) num_rows += static_cast<double>(rows_with(zone, components));
        if (!pass.enabled || num_rows == 0) continue;
        for (std::size_t i = 0; i < zones.size(); ++i)
            times[i] +=
                static_cast<double>(pass.last_ns) * static_cast<double>(rows_with(zones[i], components)) / num_rows;
    }
    return times;
}

void write_zone(const ZoneReport& zone, double ns, const Bounds* box, JsonText& json) {
    DocumentBuilder& builder = json.builder;
    builder.begin_mapping();
    builder.unsigned_integer("zone", zone.zone);
    builder.string("state", "loaded");
    builder.unsigned_integer("entities", zone.num_entities);
    builder.number("ms", ns * 1e-6);
    write_use(zone.memory(), builder);
    write_point("low", box, &Bounds::low, builder);
    write_point("high", box, &Bounds::high, builder);
    builder.begin_list("components");
    for (const ZoneComponentReport& one : zone.components) {
        builder.begin_mapping();
        json.text("name", one.name);
        builder.unsigned_integer("rows", one.num_rows);
        builder.unsigned_integer("committed", one.rows.committed_bytes);
        builder.end();
    }
    builder.end();
    builder.end();
}

void write_unloaded(Zone zone, DocumentBuilder& builder) {
    builder.begin_mapping();
    builder.unsigned_integer("zone", zone);
    builder.string("state", "unloaded");
    builder.unsigned_integer("entities", 0);
    builder.number("ms", 0.0);
    write_use({}, builder);
    write_point("low", nullptr, &Bounds::low, builder);
    write_point("high", nullptr, &Bounds::high, builder);
    builder.begin_list("components");
    builder.end();
    builder.end();
}

void write_limit(std::string_view key, bool has_range, double limit, DocumentBuilder& builder) {
    if (has_range) return builder.number(key, limit);
    builder.key(key);
    builder.null();
}

void write_field(const Field& field, bool is_shown_only, JsonText& json) {
    DocumentBuilder& builder = json.builder;
    builder.begin_mapping();
    json.text("name", field.name);
    std::string type(field_type_name(field.type));
    if (field.array_length != 0) type += concat('[', field.array_length, ']');
    json.text("type", type);
    json.text("unit", field.unit);
    const bool is_fixed = field.type == FieldType::kOpaque || field.type == FieldType::kBlobArray;
    builder.boolean("editable", !is_shown_only && !is_fixed);
    write_limit("min", field.has_range, field.minimum, builder);
    write_limit("max", field.has_range, field.maximum, builder);
    builder.begin_list("words");
    for (const EnumeratorDefinition& word : field.enumerators) json.text(word.name);
    builder.end();
    builder.end();
}

void write_type(const Schema& schema, const Store& store, std::uint64_t num_rows, bool is_shown_only, JsonText& json) {
    DocumentBuilder& builder = json.builder;
    builder.begin_mapping();
    json.text("name", schema.name());
    json.text("store", store.kind());
    builder.unsigned_integer("rows", num_rows);
    builder.boolean("singleton", schema.singleton());
    builder.boolean("many", schema.many());
    builder.boolean("enableable", schema.enableable());
    builder.begin_list("fields");
    for (const Field& field : schema.fields()) write_field(field, is_shown_only, json);
    builder.end();
    builder.end();
}

}  // namespace

Response show_memory(Session& session, const Request&) {
    const WorldReport report = report_world(session.world);
    JsonText json;
    DocumentBuilder& builder = json.builder;
    builder.begin_mapping();
    builder.begin_list("components");
    for (const ComponentReport& one : report.components) write_component(session.world, one, json);
    builder.end();
    builder.begin_list("archetypes");
    for (const auto& [name, sum] : sum_archetypes(session.world)) {
        builder.begin_mapping();
        json.text("name", name);
        builder.unsigned_integer("rows", sum.num_rows);
        builder.unsigned_integer("tables", sum.num_tables);
        write_use(sum.memory, builder);
        builder.end();
    }
    builder.end();
    builder.begin_list("owners");
    for (const OwnerReport& owner : report.memory) {
        builder.begin_mapping();
        json.text("name", owner.name);
        write_use(owner.memory, builder);
        builder.end();
    }
    builder.end();
    builder.end();
    return {200, "application/json", json.finish()};
}

Response show_zones(Session& session, const Request&) {
    JsonText json;
    json.builder.begin_mapping();
    json.builder.begin_list("zones");
    if (const Database* const database = find_database(session.world.directory()); database != nullptr) {
        const std::vector<ZoneBounds> bounds = zone_bounds(session.world);
        const std::vector<ZoneReport> zones = report_zones(*database);
        const std::vector<double> times = share_time(session.world.schedule(), *database, zones);
        for (std::size_t i = 0; i < zones.size(); ++i)
            write_zone(zones[i], times[i], find_bounds(bounds, zones[i].zone), json);
        session.world.services().unloaded_zones().for_each([&](Zone zone) { write_unloaded(zone, json.builder); });
    }
    json.builder.end();
    json.builder.end();
    return {200, "application/json", json.finish()};
}

Response show_components(Session& session, const Request&) {
    JsonText json;
    json.builder.begin_mapping();
    json.builder.begin_list("components");
    for (const Store* store : session.world.directory().stores()) {
        std::vector<StoreStatistics> statistics(store->statistics({}));
        store->statistics(statistics);
        const std::span<const Schema* const> schemas = store->schemas();
        for (std::size_t i = 0; i < schemas.size(); ++i)
            write_type(*schemas[i], *store, i < statistics.size() ? statistics[i].num_rows : 0, false, json);
        for (const Schema* schema : store->shown_schemas()) write_type(*schema, *store, 0, true, json);
    }
    json.builder.end();
    json.builder.end();
    return {200, "application/json", json.finish()};
}

}  // namespace shoal::inspect
