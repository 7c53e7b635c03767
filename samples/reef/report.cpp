#include "report.h"

#include <shoal/base/text.h>
#include <shoal/document/document_builder.h>
#include <shoal/document/json.h>
#include <shoal/inspect/report.h>
#include <shoal/inspect/text_table.h>
#include <shoal/inspect/zone_report.h>

namespace reef {

using namespace shoal;

namespace {

/// Returns a report of the world. Settling is added as the last pass.
WorldReport report_of(const Sea& sea) {
    WorldReport report = report_world(sea.world);
    const SettleStatistics& settles = sea.world.settle_statistics();
    report.passes.push_back({.name = "settle",
                             .num_runs = settles.num_settles,
                             .num_rows = sea.database.num_rows(),
                             .total_ns = settles.total_ns,
                             .last_ns = settles.last_ns});
    return report;
}

struct ZoneSummary {
    std::uint64_t num_tables = 0, least = ~std::uint64_t(0), most = 0;
};

ZoneSummary summary_of_zones(const Sea& sea) {
    ZoneSummary summary;
    for (const DatabaseTable* table : sea.database.all_tables()) summary.num_tables += table != nullptr;
    for (Zone tile = 0; tile < kNumTiles; ++tile) {
        const DatabaseTable* fish = sea.database.find_table(sea.fish, tile);
        const std::uint64_t count = fish == nullptr ? 0 : fish->num_rows();
        summary.least = std::min(summary.least, count);
        summary.most = std::max(summary.most, count);
    }
    return summary;
}

double frames_per_second(const Run& run) {
    return run.run_ms > 0 ? static_cast<double>(run.options.num_frames) * 1000 / run.run_ms : 0;
}

#if REEF_HAS_CLUSTER
/// Returns one line per rank, with its content and its traffic.
std::string ranks_text(const Run& run) {
    if (run.ranks.empty()) return {};
    std::string text = "\n";
    TextTable table(
        {"rank", "zones", "rows", "copies", "messages", "halo", "structure", "crossing", "commands", "waited ms"});
    for (const ClusterStatistics& rank : run.ranks)
        table.add_row({concat(rank.rank), concat(rank.num_zones), count_text(rank.num_rows),
                       count_text(rank.num_halo_rows), count_text(rank.num_messages), bytes_text(rank.halo_bytes),
                       bytes_text(rank.structure_bytes), bytes_text(rank.crossing_bytes),
                       bytes_text(rank.command_bytes), decimal_text(static_cast<double>(rank.wait_ns) * 1e-6, 0)});
    return text + table.text();
}

void write_ranks(const Run& run, DocumentBuilder& builder) {
    if (run.ranks.empty()) return;
    builder.key("ranks");
    builder.begin_list();
    for (const ClusterStatistics& rank : run.ranks) {
        builder.begin_mapping();
        const std::pair<std::string_view, std::uint64_t> numbers[] = {
            {"rank", rank.rank},
            {"zones", rank.num_zones},
            {"halo_zones", rank.num_halo_zones},
            {"rows", rank.num_rows},
            {"halo_rows", rank.num_halo_rows},
            {"messages", rank.num_messages},
            {"halo_bytes", rank.halo_bytes},
            {"structure_bytes", rank.structure_bytes},
            {"crossing_bytes", rank.crossing_bytes},
            {"command_bytes", rank.command_bytes},
            {"crossed", rank.num_crossed},
            {"commands", rank.num_commands},
            {"wait_ns", static_cast<std::uint64_t>(rank.wait_ns)},
            {"pass_ns", static_cast<std::uint64_t>(rank.pass_ns)}};
        for (const auto& [name, number] : numbers) builder.key(name), builder.unsigned_integer(number);
        builder.end();
    }
    builder.end();
}
#else
std::string ranks_text(const Run&) { return {}; }
void write_ranks(const Run&, DocumentBuilder&) {}
#endif

std::string hex_text(std::uint64_t number) {
    std::string text;
    append_hex(text, number);
    return text;
}

}  // namespace

std::string text_of(const Sea& sea, const Run& run) {
    const ZoneSummary zones = summary_of_zones(sea);
    const double frames = static_cast<double>(std::max<std::uint64_t>(run.options.num_frames, 1));
    std::string text = concat(
        "compiled in ", decimal_text(sea.counts.compile_ms, 1), " ms, spawned ", count_text(sea.counts.num_spawned),
        " entities in ", decimal_text(sea.counts.spawn_ms, 1), " ms\nran ", count_text(run.options.num_frames),
        " frames with ", count_text(sea.database_rows(sea.fish)), " fish on ", run.num_workers,
        run.num_workers == 1 ? " worker" : " workers", ": ", decimal_text(run.run_ms / frames, 2), " ms a frame, ",
        decimal_text(frames_per_second(run), 0), " frames/s\n\n", report_text(report_of(sea)), "\n",
        zones_text(report_zones(sea.database), 2), "\nzones       ", count_text(zones.num_tables), " tables in ",
        sea.tiles.num_zones(), " zones, ", count_text(zones.least), " to ", count_text(zones.most),
        " fish in one\nstate hash  ", hex_text(run.state_hash), "\n");
    text += ranks_text(run);
    if (!run.options.picture.empty())
        text += concat("picture     ", run.options.picture, ", ", count_text(run.num_strokes), " fish, ",
                       bytes_text(run.picture_bytes), "\n");
    if (!run.options.trace.empty())
        text += concat("trace       ", run.options.trace, ", ", count_text(run.num_traced), " events\n");
    return text;
}

std::string json_of(const Sea& sea, const Run& run) {
    const ZoneSummary zones = summary_of_zones(sea);
    DocumentBuilder builder;
    const auto count = [&](std::string_view key, std::uint64_t value) {
        builder.key(key);
        builder.unsigned_integer(value);
    };
    const auto number = [&](std::string_view key, double value) {
        builder.key(key);
        builder.number(value);
    };
    builder.begin_mapping();
    count("fish", sea.database_rows(sea.fish));
    count("sharks", sea.database_rows(sea.sharks));
    count("blooms", sea.database_rows(sea.blooms));
    count("reefs", sea.database_rows(sea.reefs));
    count("spawned", sea.counts.num_spawned);
    number("compile_ms", sea.counts.compile_ms);
    number("spawn_ms", sea.counts.spawn_ms);
    count("frames", run.options.num_frames);
    count("workers", run.num_workers);
    count("seed", run.options.seed);
    number("run_ms", run.run_ms);
    number("frames_per_second", frames_per_second(run));
    count("zones", sea.tiles.num_zones());
    count("tables", zones.num_tables);
    count("least_fish_in_a_zone", zones.least);
    count("most_fish_in_a_zone", zones.most);
    builder.key("state_hash");
    builder.string(hex_text(run.state_hash));
    write_ranks(run, builder);
    write_report(report_of(sea), builder);
    builder.end();
    return write_json(builder.finish().root());
}

}  // namespace reef
