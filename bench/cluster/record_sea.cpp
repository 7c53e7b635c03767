#include "record_sea.h"

#include "harness.h"
#include "shoal/document/diagnostics.h"

#include <map>
#include <utility>

namespace shoal_bench {

using namespace shoal;

SeaRun::SeaRun(MPI_Comm comm, std::uint64_t num_fish)
    : sea(executor, {.sources = SHOAL_REEF_SOURCES, .num_fish = num_fish}) {
    Diagnostics diagnostics;
    cluster = need(reef::divide(sea, comm, diagnostics));
}

RecordedSea::RecordedSea(std::uint64_t num_fish) : run_(MPI_COMM_SELF, num_fish) {
    const Cluster& cluster = *run_.cluster;
    const std::vector<std::uint32_t> ranks(run_.sea.tiles.num_zones());
    columns_ = need(cluster::find_halo_columns(
        run_.sea.world.schedule(), run_.sea.database,
        {cluster.own(), cluster.halo(), cluster.near(), ranks, run_.sea.tiles.options().first_zone}));
    frame_.halo_bytes.resize(run_.sea.tiles.num_zones()), frame_.all_bytes.resize(run_.sea.tiles.num_zones());
    record_moves();
}

const FrameTrace& RecordedSea::step() {
    add_written(std::exchange(since_, run_.sea.world.stamp()), frame_.halo_bytes);
    add_written(0, frame_.all_bytes);
    run_.sea.step();
    record_moves();
    return frame_;
}

/// Adds up the bytes written since a stamp, in the same way as the pass "halo".
void RecordedSea::add_written(std::uint64_t since, std::vector<std::uint64_t>& of_zones) {
    std::fill(of_zones.begin(), of_zones.end(), 0);
    for (const DatabaseTable* table : run_.sea.database.all_tables())
        if (table != nullptr && table->num_rows() != 0)
            cluster::for_each_written(*table, run_.sea.database, columns_, since,
                                      [&](const cluster::HaloColumn&, const cluster::ColumnPiece& piece, RowRange) {
                                          of_zones[table->zone()] += piece.num_bytes + sizeof(cluster::HaloEntry);
                                      });
}

/// Records the entities that moved between zones since the last call.
void RecordedSea::record_moves() {
    std::map<std::pair<Zone, Zone>, std::uint32_t> moves;
    std::unordered_map<std::uint64_t, Zone> now;
    for (const DatabaseTable* table : run_.sea.database.all_tables()) {
        if (table == nullptr) continue;
        for (const Entity entity : table->entities()) {
            const std::uint64_t name = run_.cluster->name(entity);
            now[name] = table->zone();
            const auto before = zone_of_name_.find(name);
            if (before != zone_of_name_.end() && before->second != table->zone())
                ++moves[{before->second, table->zone()}];
        }
    }
    zone_of_name_ = std::move(now);
    frame_.moves.clear();
    for (const auto& [zones, count] : moves) frame_.moves.push_back({zones.first, zones.second, count});
}

}  // namespace shoal_bench
