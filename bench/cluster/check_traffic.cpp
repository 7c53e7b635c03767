// Checks the predicted traffic of ranks against the measured traffic. Messages and crossings must match exactly. Halo
// bytes may be higher in the frame after entities of other ranks arrived. The rows of these entities are written once
// more than in a run on one rank, after the stores have settled, so their blocks are sent twice.

#include "measure.h"
#include "record_sea.h"
#include "traffic.h"

#include <cstdio>

namespace shoal_bench {
namespace {

using namespace shoal;

constexpr std::uint64_t kOfStatistics = 2;  // messages for the first gather_statistics()

struct Sent {
    RankTraffic traffic;
    std::uint64_t crossing_bytes = 0;
};

std::vector<Sent> gather_sent(Cluster& cluster) {
    std::vector<Sent> ranks;
    for (const ClusterStatistics& now : cluster.gather_statistics())
        ranks.push_back(
            {{.num_messages = now.num_messages, .halo_bytes = now.halo_bytes, .num_crossed = now.num_crossed},
             now.crossing_bytes});
    return ranks;
}

void add(std::vector<RankTraffic>& all, const std::vector<RankTraffic>& frame) {
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
        all[rank].num_messages += frame[rank].num_messages;
        all[rank].halo_bytes += frame[rank].halo_bytes;
        all[rank].most_halo_bytes += frame[rank].most_halo_bytes;
        all[rank].num_crossed += frame[rank].num_crossed;
    }
}

}  // namespace

void check_traffic(std::uint64_t num_fish, std::uint64_t num_frames) {
    SeaRun divided(MPI_COMM_WORLD, num_fish);
    Cluster& cluster = *divided.cluster;
    std::vector<std::uint32_t> owners(divided.sea.tiles.num_zones());
    for (Zone zone = 0; zone < owners.size(); ++zone) owners[zone] = cluster.rank_of(zone);
    divided.sea.step();  // the first step sends everything
    const std::vector<Sent> before = gather_sent(cluster);
    for (std::uint64_t frame = 0; frame < num_frames; ++frame) divided.sea.step();
    const std::vector<Sent> after = gather_sent(cluster);
    if (cluster.rank() != 0) return;

    RecordedSea alone(num_fish);
    alone.step();
    const cluster::ZoneDivision division(divided.sea.tiles, 1);
    const Borders borders(division, owners, cluster.num_ranks());
    std::vector<RankTraffic> counted(cluster.num_ranks());
    for (std::uint64_t frame = 0; frame < num_frames; ++frame) add(counted, borders.count(alone.step()));
    bool same = true;
    std::printf("%-5s %21s %34s %19s %6s\n", "rank", "messages sent/counted", "halo bytes counted/sent/at most",
                "crossed", "bytes");
    for (std::size_t rank = 0; rank < counted.size(); ++rank) {
        const RankTraffic &now = after[rank].traffic, &then = before[rank].traffic, &paper = counted[rank];
        const std::uint64_t messages = now.num_messages - then.num_messages - (counted.size() > 1 ? kOfStatistics : 0),
                            bytes = now.halo_bytes - then.halo_bytes, crossed = now.num_crossed - then.num_crossed,
                            of_crossing = after[rank].crossing_bytes - before[rank].crossing_bytes;
        std::printf("%-5zu %10llu/%10llu %11llu/%11llu/%11llu %9llu/%9llu %6.0f\n", rank, (unsigned long long)messages,
                    (unsigned long long)paper.num_messages, (unsigned long long)paper.halo_bytes,
                    (unsigned long long)bytes, (unsigned long long)paper.most_halo_bytes, (unsigned long long)crossed,
                    (unsigned long long)paper.num_crossed, crossed == 0 ? 0 : double(of_crossing) / double(crossed));
        same = same && messages == paper.num_messages && crossed == paper.num_crossed && bytes >= paper.halo_bytes &&
               bytes <= paper.most_halo_bytes;
    }
    if (!same) fail("what was sent is not what was counted");
}

}  // namespace shoal_bench
