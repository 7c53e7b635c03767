#include "shoal/inspect/report.h"

#include "inspect/memory_members.h"
#include "shoal/base/text.h"
#include "shoal/document/document_builder.h"
#include "shoal/document/json.h"
#include "shoal/inspect/text_table.h"

#include <algorithm>

namespace shoal {
namespace {

std::vector<PassReport> report_passes(const Schedule& schedule) {
    std::vector<PassReport> passes;
    for (std::size_t i = 0; i < schedule.num_passes(); ++i) {
        const PassStatistics pass = schedule.statistics(i);
        passes.push_back({std::string(pass.name),
                          pass.num_runs,
                          pass.num_rows,
                          pass.total_rows,
                          pass.total_bytes,
                          pass.total_ns,
                          pass.last_ns,
                          {pass.worker_ns.begin(), pass.worker_ns.end()},
                          pass.enabled,
                          pass.every_frames,
                          pass.every_seconds});
    }
    return passes;
}

void report_store(const Store& store, std::vector<ComponentReport>& out) {
    const std::span<const Schema* const> schemas = store.schemas();
    std::vector<StoreStatistics> statistics(store.statistics({}));
    store.statistics(statistics);
    for (std::size_t i = 0; i < statistics.size(); ++i) {
        const StoreStatistics& held = statistics[i];
        const std::uint32_t row_bytes = i < schemas.size() ? schemas[i]->row_bytes() : 0;
        out.push_back(
            {std::string(held.component), held.num_rows, held.num_dead_rows, row_bytes, held.rows, held.index});
    }
}

/// The pool's pages that no table uses: the free parts of slabs, and the ranges kept for the next table.
MemoryUse spare_pages(const PagePool& pool, MemoryUse* kept) {
    const PagePoolStatistics statistics = pool.statistics();
    *kept = {0, statistics.kept_bytes, statistics.kept_bytes};
    const std::size_t reserved = statistics.num_slabs * kLargePageBytes;
    const auto beyond = [&](std::size_t bytes) {
        return bytes < statistics.slab_used_bytes ? 0 : bytes - statistics.slab_used_bytes;
    };
    return {0, beyond(statistics.slab_committed_bytes), beyond(reserved)};
}

std::vector<OwnerReport> report_memory(const World& world, const std::vector<ComponentReport>& components) {
    MemoryUse tables, indexes, kept;
    for (const ComponentReport& component : components) {
        tables += component.rows;
        indexes += component.index;
    }
    const MemoryUse spare = spare_pages(world.pool(), &kept);
    const std::size_t bookkeeping = bookkeeping_bytes();
    return {{"component tables", tables},
            {"row indexes", indexes},
            {"entity manager", world.entities().memory_use()},
            {"page pool: free in slabs", spare},
            {"page pool: kept ranges", kept},
            {"bookkeeping", {bookkeeping, bookkeeping, bookkeeping}}};
}

/// Returns the time of each worker, or the range of times if there are many workers.
std::string workers_text(const PassReport& pass) {
    constexpr std::size_t kMostListed = 4;
    std::vector<std::int64_t> times = pass.worker_ns;
    if (times.empty()) return "-";
    if (times.size() > kMostListed) times = {std::ranges::min(times), std::ranges::max(times)};
    std::string text;
    for (const std::int64_t ns : times) {
        if (!text.empty()) text += times.size() == pass.worker_ns.size() ? " + " : " to ";
        text += decimal_text(static_cast<double>(ns) * 1e-6, 2);
    }
    return text;
}

/// Returns the name of a pass, with a note if it does not run in every frame.
std::string pass_text(const PassReport& pass) {
    std::string text = pass.name;
    if (pass.every_frames > 1) text += concat(", every ", pass.every_frames, " frames");
    if (pass.every_seconds > 0) text += concat(", every ", pass.every_seconds, " s");
    if (!pass.enabled) text += ", disabled";
    return text;
}

std::string pass_table(const WorldReport& report) {
    TextTable table({"pass", "runs", "rows", "ms total", "ms mean", "ms last", "ms by worker", "GB/s"});
    for (const PassReport& pass : report.passes)
        table.add_row({pass_text(pass), count_text(pass.num_runs), count_text(pass.num_rows),
                       decimal_text(pass.total_ms(), 2), decimal_text(pass.mean_ms(), 3),
                       decimal_text(pass.last_ms(), 3), workers_text(pass),
                       pass.total_bytes == 0 ? "-" : decimal_text(pass.gb_per_s(), 2)});
    return table.empty() ? std::string() : table.text() + '\n';
}

std::string settle_table(const WorldReport& report) {
    const SettleCounts& all = report.settled;
    if (all.num_created + all.num_destroyed + all.num_moved + all.num_dropped == 0) return {};
    TextTable table({"settles", "created", "destroyed", "moved", "dropped", "dead rows removed"});
    const auto add = [&](const char* name, const SettleCounts& counts) {
        table.add_row({name, count_text(counts.num_created), count_text(counts.num_destroyed),
                       count_text(counts.num_moved), count_text(counts.num_dropped), count_text(counts.num_removed)});
    };
    add("last", report.last_settle);
    add("all", all);
    return table.text() + '\n';
}

std::string component_table(const WorldReport& report) {
    TextTable table({"component", "rows", "dead", "bytes/row", "used", "committed", "reserved", "index", "wasted"});
    for (const ComponentReport& component : report.components)
        table.add_row({component.name, count_text(component.num_rows), count_text(component.num_dead_rows),
                       decimal_text(component.bytes_per_row(), 1), bytes_text(component.rows.used_bytes),
                       bytes_text(component.rows.committed_bytes), bytes_text(component.rows.reserved_bytes),
                       bytes_text(component.index.committed_bytes), bytes_text(component.wasted_bytes())});
    return table.empty() ? std::string() : table.text() + '\n';
}

std::string memory_table(const WorldReport& report) {
    TextTable table({"memory", "used", "committed", "reserved"});
    const auto add = [&](const std::string& name, const MemoryUse& memory) {
        table.add_row({name, bytes_text(memory.used_bytes), bytes_text(memory.committed_bytes),
                       bytes_text(memory.reserved_bytes)});
    };
    for (const OwnerReport& owner : report.memory) add(owner.name, owner.memory);
    add("total", report.total_memory());
    return table.text();
}

void write_pass(const PassReport& pass, DocumentBuilder& builder) {
    builder.begin_mapping();
    builder.string("name", pass.name);
    builder.unsigned_integer("runs", pass.num_runs);
    builder.unsigned_integer("rows", pass.num_rows);
    builder.unsigned_integer("total_rows", pass.total_rows);
    builder.unsigned_integer("total_bytes", pass.total_bytes);
    builder.number("ms_total", pass.total_ms());
    builder.number("ms_mean", pass.mean_ms());
    builder.number("ms_last", pass.last_ms());
    builder.number("gb_per_s", pass.gb_per_s());
    builder.begin_list("ms_by_worker");
    for (const std::int64_t ns : pass.worker_ns) builder.number(static_cast<double>(ns) * 1e-6);
    builder.end();
    if (!pass.enabled) builder.boolean("enabled", false);
    if (pass.every_frames > 1) builder.unsigned_integer("every_frames", pass.every_frames);
    if (pass.every_seconds > 0) builder.number("every_seconds", static_cast<double>(pass.every_seconds));
    builder.end();
}

void write_settle(std::string_view name, const SettleCounts& counts, DocumentBuilder& builder) {
    builder.begin_mapping(name);
    builder.unsigned_integer("created", counts.num_created);
    builder.unsigned_integer("destroyed", counts.num_destroyed);
    builder.unsigned_integer("moved", counts.num_moved);
    builder.unsigned_integer("dropped", counts.num_dropped);
    builder.unsigned_integer("removed", counts.num_removed);
    builder.end();
}

void write_component(const ComponentReport& component, DocumentBuilder& builder) {
    builder.begin_mapping(component.name);
    builder.unsigned_integer("rows", component.num_rows);
    builder.unsigned_integer("dead_rows", component.num_dead_rows);
    builder.unsigned_integer("row_bytes", component.row_bytes);
    builder.number("bytes_per_row", component.bytes_per_row());
    write_memory(component.rows, builder);
    write_memory("index", component.index, builder);
    builder.unsigned_integer("wasted_bytes", component.wasted_bytes());
    builder.end();
}

}  // namespace

WorldReport report_world(const World& world) {
    WorldReport report;
    report.num_entities = world.entities().num_alive();
    report.frame = world.frame();
    report.passes = report_passes(world.schedule());
    for (const Store* store : world.directory().stores()) report_store(*store, report.components);
    report.memory = report_memory(world, report.components);
    report.last_settle = world.settle_statistics().last;
    report.settled = world.settle_statistics().total;
    return report;
}

std::string report_text(const WorldReport& report) {
    return pass_table(report) + settle_table(report) + component_table(report) + memory_table(report);
}

void write_report(const WorldReport& report, DocumentBuilder& builder) {
    builder.begin_list("passes");
    for (const PassReport& pass : report.passes) write_pass(pass, builder);
    builder.end();
    builder.begin_mapping("settles");
    write_settle("last", report.last_settle, builder);
    write_settle("all", report.settled, builder);
    builder.end();
    builder.begin_mapping("components");
    for (const ComponentReport& component : report.components) write_component(component, builder);
    builder.end();
    builder.begin_mapping("memory");
    for (const OwnerReport& owner : report.memory) write_memory(owner.name, owner.memory, builder);
    builder.end();
}

std::string report_json(const WorldReport& report) {
    DocumentBuilder builder;
    builder.begin_mapping();
    builder.unsigned_integer("entities", report.num_entities);
    builder.unsigned_integer("frame", report.frame);
    write_report(report, builder);
    builder.end();
    return write_json(builder.finish().root());
}

}  // namespace shoal
