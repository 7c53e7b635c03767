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

/// Lists the passes, then settling.
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
    write_report(report_of(sea), builder);
    builder.end();
    return write_json(builder.finish().root());
}

}  // namespace reef
