// Models the weak scaling of the reef: the traffic of 1 to 10,000 ranks, and the time of a frame.
//
//     the sea of one rank, run and recorded     --repeat-->  a sea of N times as many tiles
//     its division by a cluster                 --count-->   messages and bytes of each rank
//     these, and the measured time of passes    --model-->   the time of the slowest rank
//
// The model, for each rank in each frame:
//
//     passes      rows * time per row, as measured by the ledger with one worker
//     messages    latency * (messages sent + messages received)
//     bytes       bytes of halos, sent and received, and of crossing entities / bandwidth
//     deaths      two collectives: latency * 2 * log2(N) + bytes of all ranks / bandwidth
//     crossing    a barrier: latency * log2(N)
//     the reef's  two sums over all zones (how many fish, how many blooms): latency * 4 * log2(N) + bytes / bandwidth
//
// The model ignores network contention, system noise, differences between the parts of the sea (each has the same
// fish), and all work that does not depend on N, such as composing messages.

#include "measure.h"
#include "record_sea.h"
#include "shoal/base/file.h"
#include "traffic.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace shoal_bench {
namespace {

using namespace shoal;

// Data sheets of rented clusters state 1 to 2 us and 100 Gbit/s.
constexpr double kLatency = 1.5e-6, kBandwidth = 12.5e9;
constexpr double kBytesOfCrossing = 1000;  // per fish, including its share of the parcel header: see `check`
constexpr double kBytesOfDeaths = 24;      // per rank if no fish dies: the steps to take, and a count
constexpr std::uint32_t kFrames = 4;
constexpr std::uint32_t kMostQuickRanks = 256;
constexpr std::uint32_t kNumRanks[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 10'000};

/// Recorded frames of the sea of one rank.
struct RecordedFrames {
    std::vector<FrameTrace> frames;
    std::vector<std::uint64_t> rows;  // by zone
    double pass_seconds = 0;          // per frame
    std::uint32_t num_x = 0, num_y = 0;
};

RecordedFrames record(std::uint64_t num_fish) {
    RecordedSea sea(num_fish);
    RecordedFrames recorded;
    const GridZonesOptions& grid = sea.run().sea.tiles.options();
    recorded.num_x = grid.num_x, recorded.num_y = grid.num_y;
    sea.step();  // the first step sends everything
    const std::int64_t before_ns = sea.run().cluster->statistics().pass_ns;
    for (std::uint32_t frame = 0; frame < kFrames; ++frame) recorded.frames.push_back(sea.step());
    const std::int64_t pass_ns = sea.run().cluster->statistics().pass_ns - before_ns;
    recorded.pass_seconds = static_cast<double>(pass_ns) / 1e9 / kFrames;
    recorded.rows.resize(recorded.frames.front().halo_bytes.size());
    for (const DatabaseTable* table : sea.run().sea.database.all_tables())
        if (table != nullptr) recorded.rows[table->zone()] += table->num_rows();
    return recorded;
}

/// A larger sea that repeats the recorded sea. The repeated parts begin in the middle of the recorded sea. Otherwise,
/// all borders of ranks would be at its shores, where nothing crosses.
class RepeatedSea {
public:
    RepeatedSea(const RecordedFrames& recorded, std::uint32_t num_parts_x, std::uint32_t num_parts_y)
        : recorded_(recorded),
          parts_x_(num_parts_x),
          parts_y_(num_parts_y),
          tiles_({.tile_size = 1, .num_x = recorded.num_x * num_parts_x, .num_y = recorded.num_y * num_parts_y}) {}

    const GridZones& tiles() const { return tiles_; }
    /// Shape: by zone.
    std::vector<std::uint64_t> repeat(const std::vector<std::uint64_t>& of_zones) const {
        std::vector<std::uint64_t> all(tiles_.num_zones());
        for_each_part([&](std::uint32_t x, std::uint32_t y) {
            for (Zone zone = 0; zone < of_zones.size(); ++zone) all[place(zone, x, y)] += of_zones[zone];
        });
        return all;
    }
    FrameTrace repeat(const FrameTrace& frame) const {
        FrameTrace all{repeat(frame.halo_bytes), repeat(frame.all_bytes), {}};
        for_each_part([&](std::uint32_t x, std::uint32_t y) {
            for (const FrameTrace::Move& move : frame.moves)
                all.moves.push_back({place(move.from, x, y), place(move.to, x, y), move.num_entities});
        });
        return all;
    }

private:
    template <class Visit>
    void for_each_part(Visit&& visit) const {
        for (std::uint32_t y = 0; y < parts_y_; ++y)
            for (std::uint32_t x = 0; x < parts_x_; ++x) visit(x, y);
    }
    Zone place(Zone zone, std::uint32_t part_x, std::uint32_t part_y) const {
        if (zone == recorded_.num_x * recorded_.num_y) return tiles_.large_zone();
        const std::uint32_t num_x = tiles_.options().num_x, num_y = tiles_.options().num_y;
        const std::uint32_t x = (part_x * recorded_.num_x + zone % recorded_.num_x + recorded_.num_x / 2) % num_x;
        const std::uint32_t y = (part_y * recorded_.num_y + zone / recorded_.num_x + recorded_.num_y / 2) % num_y;
        return y * num_x + x;
    }

    const RecordedFrames& recorded_;
    std::uint32_t parts_x_, parts_y_;
    GridZones tiles_;
};

/// The costs of a frame for the ranks of a division. Units: seconds, messages and bytes per frame.
struct Costs {
    std::uint32_t num_ranks = 0;
    std::uint64_t num_fish = 0;
    double mean_messages = 0, most_messages = 0, mean_bytes = 0, most_bytes = 0, mean_crossed = 0;
    double passes = 0;                                 // of the slowest rank
    double neighbours = 0, collectives = 0, sums = 0;  // in addition to the passes
    double large = 0;                                  // extra time of the owner of the zone for large entities
    double alone = 0;                                  // a frame on one rank

    double efficiency(double seconds) const { return alone / seconds; }
    double with_neighbours() const { return passes + neighbours; }
    double with_collectives() const { return with_neighbours() + collectives; }
    double with_large() const { return with_collectives() + large; }
    double with_sums() const { return with_large() + sums; }
};

Costs cost_of(const RecordedFrames& recorded, std::uint32_t num_ranks, std::uint64_t num_fish) {
    std::uint32_t parts_y = static_cast<std::uint32_t>(std::sqrt(double(num_ranks)));
    while (num_ranks % parts_y != 0) --parts_y;
    const RepeatedSea sea(recorded, num_ranks / parts_y, parts_y);
    const cluster::ZoneDivision division(sea.tiles(), 1);
    const std::vector<std::uint64_t> rows = sea.repeat(recorded.rows);
    const std::vector<std::uint32_t> owners = need(division.divide(rows, num_ranks, {}));
    const Borders borders(division, owners, num_ranks);
    std::vector<RankTraffic> all(num_ranks);
    for (const FrameTrace& frame : recorded.frames) {
        const std::vector<RankTraffic> of_frame = borders.count(sea.repeat(frame));
        for (std::uint32_t rank = 0; rank < num_ranks; ++rank) {
            all[rank].num_messages += of_frame[rank].num_messages, all[rank].halo_bytes += of_frame[rank].halo_bytes;
            all[rank].num_crossed += of_frame[rank].num_crossed;
        }
    }
    std::vector<std::uint64_t> rows_of_rank(num_ranks);
    for (std::size_t zone = 0; zone < rows.size(); ++zone) rows_of_rank[owners[zone]] += rows[zone];
    const std::uint32_t star = owners[sea.tiles().large_zone()];

    std::uint64_t num_rows = 0;
    for (const std::uint64_t some : recorded.rows) num_rows += some;
    Costs costs{.num_ranks = num_ranks, .num_fish = num_fish * num_ranks, .alone = recorded.pass_seconds};
    double star_seconds = 0;
    for (std::uint32_t rank = 0; rank < num_ranks; ++rank) {
        const double messages = double(all[rank].num_messages) / kFrames,
                     bytes = double(all[rank].halo_bytes) / kFrames, crossed = double(all[rank].num_crossed) / kFrames;
        costs.mean_messages += messages / num_ranks, costs.mean_bytes += bytes / num_ranks;
        costs.mean_crossed += crossed / num_ranks;
        costs.most_messages = std::max(costs.most_messages, messages);
        costs.most_bytes = std::max(costs.most_bytes, bytes);
        costs.passes = std::max(costs.passes, recorded.pass_seconds * double(rows_of_rank[rank]) / double(num_rows));
        const double to_peers = messages - double(Borders::kMessagesToAll);  // their time is in `collectives`
        const double sent = 2 * to_peers * kLatency + (2 * bytes + crossed * kBytesOfCrossing) / kBandwidth;
        (rank == star ? star_seconds : costs.neighbours) =
            std::max(rank == star ? star_seconds : costs.neighbours, num_ranks == 1 ? 0 : sent);
    }
    costs.large = std::max(0.0, star_seconds - costs.neighbours);
    const double steps = std::log2(double(num_ranks));
    costs.collectives = steps * 3 * kLatency + (num_ranks == 1 ? 0 : num_ranks * kBytesOfDeaths / kBandwidth);
    costs.sums = steps * 4 * kLatency + (num_ranks == 1 ? 0 : 2 * 2 * 8 * double(rows.size()) / kBandwidth);
    return costs;
}

// --- output ------------------------------------------------------------------------------------------------------

std::string line_of(const char* pattern, auto... values) {
    char line[512];
    std::snprintf(line, sizeof line, pattern, values...);
    return line;
}

std::string table_of(std::span<const Costs> all) {
    std::string table =
        "| ranks | fish | messages of a rank, mean and most | halo KB of a rank, mean and most | crossing | passes ms "
        "| "
        "+ neighbours | + deaths | + large zone | + own sums | efficiency "
        "|\n|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n";
    for (const Costs& c : all)
        table +=
            line_of("| %u | %.4g M | %.1f, %.0f | %.1f, %.1f | %.1f | %.2f | %.2f | %.2f | %.2f | %.2f | %.2f |\n",
                    c.num_ranks, double(c.num_fish) / 1e6, c.mean_messages, c.most_messages, c.mean_bytes / 1e3,
                    c.most_bytes / 1e3, c.mean_crossed, c.passes * 1e3, c.with_neighbours() * 1e3,
                    c.with_collectives() * 1e3, c.with_large() * 1e3, c.with_sums() * 1e3, c.efficiency(c.with_sums()));
    return table;
}

constexpr double kLeft = 60, kRight = 620, kTop = 60, kBottom = 340;

double x_of(std::uint32_t num_ranks) { return kLeft + (kRight - kLeft) * std::log10(double(num_ranks)) / 4; }
double y_of(double efficiency) { return kBottom - (kBottom - kTop) * efficiency; }

struct Curve {
    const char *text, *color;
    double (Costs::*seconds)() const;
};

std::string chart_of(std::span<const Costs> all) {
    constexpr Curve kCurves[] = {
        {"passes and neighbours", "#2f7d4f", &Costs::with_neighbours},
        {"and deaths told to all", "#33658a", &Costs::with_collectives},
        {"and the one zone for what is larger than a tile, which all ranks copy", "#c98a1b", &Costs::with_large},
        {"and the reef's own sums over all zones", "#b8442f", &Costs::with_sums}};
    std::string svg =
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 680 480\" width=\"680\" height=\"480\" "
        "font-family=\"sans-serif\" font-size=\"12\" fill=\"#222\">\n<rect width=\"100%\" height=\"100%\" "
        "fill=\"#fff\"/>\n<text x=\"16\" y=\"24\" font-size=\"15\">Weak scaling of the reef, on paper: ";
    svg += line_of("%.0f,000 fish a rank</text>\n", double(all.front().num_fish) / 1e3);
    svg += line_of(
        "<text x=\"16\" y=\"42\">time of one rank alone over time of the slowest of N; %.1f us and %.3g GB/s a "
        "message</text>\n",
        kLatency * 1e6, kBandwidth / 1e9);
    for (const double mark : {0.0, 0.25, 0.5, 0.75, 1.0})
        svg += line_of(
            "<line x1=\"%.0f\" y1=\"%.1f\" x2=\"%.0f\" y2=\"%.1f\" stroke=\"#ddd\"/><text x=\"%.0f\" y=\"%.1f\" "
            "text-anchor=\"end\">%.0f %%</text>\n",
            kLeft, y_of(mark), kRight, y_of(mark), kLeft - 8, y_of(mark) + 4, mark * 100);
    for (const std::uint32_t mark : {1u, 10u, 100u, 1000u, 10'000u})
        svg +=
            line_of("<text x=\"%.1f\" y=\"%.0f\" text-anchor=\"middle\">%u</text>\n", x_of(mark), kBottom + 18, mark);
    svg += line_of("<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"end\">ranks</text>\n", kRight, kBottom + 36);
    double y = kBottom + 58;
    for (const Curve& curve : kCurves) {
        std::string points;
        for (const Costs& costs : all)
            points += line_of("%.1f,%.1f ", x_of(costs.num_ranks), y_of(costs.efficiency((costs.*curve.seconds)())));
        svg += line_of("<polyline fill=\"none\" stroke-width=\"2\" stroke=\"%s\" points=\"", curve.color) + points +
               "\"/>\n";
        svg += line_of(
            "<rect x=\"%.0f\" y=\"%.1f\" width=\"12\" height=\"12\" fill=\"%s\"/><text x=\"%.0f\" "
            "y=\"%.1f\">%s</text>\n",
            kLeft, y - 10, curve.color, kLeft + 20, y, curve.text);
        y += 18;
    }
    return svg + "</svg>\n";
}

}  // namespace

void draw_scale(const Options& options, std::uint64_t num_fish) {
    const RecordedFrames recorded = record(num_fish);
    std::vector<Costs> all;
    for (const std::uint32_t num_ranks : kNumRanks) {
        if (options.quick && num_ranks > kMostQuickRanks) break;
        all.push_back(cost_of(recorded, num_ranks, num_fish));
        std::printf("%5u ranks: %.1f messages and %.0f bytes of halos a rank, %.2f ms a frame\n", num_ranks,
                    all.back().mean_messages, all.back().mean_bytes, all.back().with_sums() * 1e3);
        std::fflush(stdout);
    }
    if (!options.table_path.empty()) need_ok(write_file(options.table_path, table_of(all)));
    if (!options.chart_path.empty()) need_ok(write_file(options.chart_path, chart_of(all)));
}

}  // namespace shoal_bench
