#include "ranks_picture.h"

#include "around.h"
#include "picture_scale.h"

#include <shoal/base/text.h>
#include <shoal/inspect/text_table.h>

#include <mpi.h>

#include <iterator>
#include <utility>
#include <vector>

namespace reef {

using namespace shoal;

namespace {

constexpr std::uint64_t kMostStrokes = 40'000;
constexpr const char* kColours[] = {"#5aa9ff", "#ff8f6b", "#9fe07a", "#ffd84d",
                                    "#c58bff", "#4fd6c8", "#ff7fb0", "#cfe6f2"};

const char* colour_of(std::uint32_t rank) { return kColours[rank % std::size(kColours)]; }

/// The strokes of this rank's fish. Fish that came from another rank in this frame are separate.
struct Strokes {
    std::string staying, crossing;
    std::uint64_t count = 0;
};

Strokes strokes_of(const Sea& sea, const Cluster& cluster, std::uint64_t every) {
    Strokes strokes;
    std::uint64_t number = 0;
    cluster.own().now().for_each([&](Zone zone) {
        const DatabaseTable* const table = zone < kNumTiles ? sea.database.find_table(sea.fish, zone) : nullptr;
        if (table == nullptr || table->num_rows() == 0) return;
        const auto position = table->column<&Place::position>(sea.database.find_component<Place>());
        const auto velocity = table->column<&Swim::velocity>(sea.database.find_component<Swim>());
        for (std::uint32_t row = 0; row < table->num_rows(); ++row) {
            const Vec3 p = position[row];
            const Vec2 v = velocity[row];
            const Vec3 before{p.x - v.x * kFrameSeconds, p.y - v.y * kFrameSeconds, p.z};
            const bool crosses = cluster.rank_of(sea.tiles.zone_of(before)) != cluster.rank();
            if (!crosses && number++ % every != 0) continue;
            ++strokes.count;
            const float scale = 1.8f / std::max(length_of(v), 0.1f);
            (crosses ? strokes.crossing : strokes.staying) +=
                concat('M', across(p), ' ', down(p), 'l', units(-v.x * scale), ' ', units(v.y * scale));
        }
    });
    return strokes;
}

/// On rank 0, returns the strings of all ranks.
std::vector<std::string> gather(const std::string& mine, const Cluster& cluster) {
    const int size = static_cast<int>(mine.size());
    std::vector<int> sizes(cluster.num_ranks()), places(cluster.num_ranks());
    MPI_Gather(&size, 1, MPI_INT, sizes.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
    int total = 0;
    for (std::size_t rank = 0; rank < sizes.size(); ++rank) places[rank] = std::exchange(total, total + sizes[rank]);
    std::string all(static_cast<std::size_t>(cluster.rank() == 0 ? total : 0), ' ');
    MPI_Gatherv(mine.data(), size, MPI_CHAR, all.data(), sizes.data(), places.data(), MPI_CHAR, 0, MPI_COMM_WORLD);
    std::vector<std::string> texts;
    for (std::size_t rank = 0; cluster.rank() == 0 && rank < sizes.size(); ++rank)
        texts.push_back(all.substr(static_cast<std::size_t>(places[rank]), static_cast<std::size_t>(sizes[rank])));
    return texts;
}

/// Returns the lines between tiles that different ranks own.
std::string borders(const Cluster& cluster) {
    std::string path;
    const int tile = units(kTileSize);
    for (std::uint32_t y = 0; y < kTilesPerSide; ++y)
        for (std::uint32_t x = 0; x < kTilesPerSide; ++x) {
            const std::uint32_t rank = cluster.rank_of(y * kTilesPerSide + x);
            const int left = static_cast<int>(x) * tile, top = static_cast<int>(kTilesPerSide - y) * tile;
            if (x + 1 < kTilesPerSide && cluster.rank_of(y * kTilesPerSide + x + 1) != rank)
                path += concat('M', left + tile, ' ', top, "v-", tile);
            if (y + 1 < kTilesPerSide && cluster.rank_of((y + 1) * kTilesPerSide + x) != rank)
                path += concat('M', left, ' ', top - tile, 'h', tile);
        }
    return path;
}

std::string legend(std::span<const ClusterStatistics> ranks) {
    std::string svg;
    float y = kTop + 20;
    for (const ClusterStatistics& rank : ranks) {
        svg +=
            concat("<g transform=\"translate(", kLeft + kPlotSize + 40, " ", y, ")\"><circle cx=\"8\" r=\"7\" fill=\"",
                   colour_of(rank.rank), "\"/><text class=\"name\" x=\"34\" y=\"6\">rank ", rank.rank,
                   "</text><text class=\"count\" x=\"34\" y=\"28\">", count_text(rank.num_rows), " rows in ",
                   rank.num_zones, " zones</text><text class=\"count\" x=\"34\" y=\"48\">",
                   count_text(rank.num_halo_rows), " copies</text><text class=\"count\" x=\"34\" y=\"68\">",
                   bytes_text(rank.halo_bytes), " sent for halos</text></g>\n");
        y += 104;
    }
    svg += concat("<g transform=\"translate(", kLeft + kPlotSize + 40, " ", y,
                  ")\"><path d=\"M0 6L16 -6\" stroke=\"#fff\" stroke-width=\"5\" stroke-linecap=\"round\"/><text "
                  "class=\"name\" x=\"34\" y=\"6\">crosses a border</text></g>\n");
    return svg;
}

}  // namespace

Picture draw_ranks(const Sea& sea, const Cluster& cluster, std::span<const ClusterStatistics> ranks) {
    const std::uint64_t num_fish = cluster.sum_count([&] {
        std::uint64_t count = 0;
        for (Zone tile = 0; tile < kNumTiles; ++tile)
            if (const DatabaseTable* table = sea.is_own(tile) ? sea.database.find_table(sea.fish, tile) : nullptr)
                count += table->num_rows();
        return count;
    }());
    const Strokes mine = strokes_of(sea, cluster, num_fish / kMostStrokes + 1);
    const std::vector<std::string> staying = gather(mine.staying, cluster), crossing = gather(mine.crossing, cluster);
    const std::uint64_t num_strokes = cluster.sum_count(mine.count);
    if (cluster.rank() != 0) return {};
    std::string svg = concat(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ",
        kPageWidth, " ", kPageHeight, "\" width=\"", kPageWidth, "\" height=\"", kPageHeight,
        "\">\n<style>text{font-family:Inter,'Helvetica Neue',Arial,sans-serif;fill:#cfe6f2}.title{font-size:34px;"
        "font-weight:600;fill:#f3fbff}.sub{font-size:17px;fill:#86aec4}.name{font-size:18px}.count{font-size:15px;"
        "fill:#86aec4}path{fill:none;stroke-linecap:round}</style>\n<rect width=\"100%\" height=\"100%\" "
        "fill=\"#041421\"/>\n<text class=\"title\" x=\"",
        kLeft, "\" y=\"56\">The reef on ", cluster.num_ranks(), cluster.num_ranks() == 1 ? " rank" : " ranks",
        "</text><text class=\"sub\" x=\"", kLeft, "\" y=\"86\">", count_text(num_fish), " fish in ", kNumTiles,
        " zones after ", count_text(sea.world.frame()),
        " frames; each rank has the zones of its colour</text>\n<g "
        "transform=\"translate(",
        kLeft, " ", kTop,
        ") scale(.1)\"><rect width=\"14000\" height=\"14000\" "
        "fill=\"#0a3047\"/>\n");
    for (std::uint32_t rank = 0; rank < staying.size(); ++rank)
        svg += concat("<path stroke=\"", colour_of(rank), "\" stroke-width=\"13\" stroke-opacity=\".85\" d=\"",
                      staying[rank], "\"/>\n");
    svg += concat("<path stroke=\"#f3fbff\" stroke-opacity=\".55\" stroke-width=\"14\" stroke-dasharray=\"60 40\" d=\"",
                  borders(cluster), "\"/>\n");
    for (const std::string& strokes : crossing)
        svg += concat("<path stroke=\"#fff\" stroke-width=\"34\" d=\"", strokes, "\"/>\n");
    return {concat(svg, "</g>\n", legend(ranks), "</svg>\n"), num_strokes};
}

}  // namespace reef
