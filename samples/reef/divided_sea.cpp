#include "divided_sea.h"

#include <shoal/document/diagnostics.h>
#include <shoal/plugin/plugins.h>

#include <algorithm>

namespace reef {

using namespace shoal;

void ClusterShare::gather(std::vector<std::uint64_t>& of_zones) const {
    const std::vector<std::uint64_t> all =
        cluster.gather_zones([&](Zone zone) { return zone < of_zones.size() ? of_zones[zone] : 0; });
    std::copy_n(all.begin(), of_zones.size(), of_zones.begin());
}

Result<Cluster*> divide(Sea& sea, MPI_Comm comm, Diagnostics& diagnostics) {
    auto share = std::make_unique<ClusterShare>(sea, comm);
    Cluster& cluster = share->cluster;
    sea.share = std::move(share);
    if (Status made = cluster.status(); !made) return made;
    if (Status spawned = sea.spawn(diagnostics); !spawned) return spawned;
    if (Status added = add_passes(sea); !added) return added;
    sea.world.settle();
    if (Status started = cluster.start(); !started) return started;
    return &cluster;
}

void close(Sea& sea) {
    sea.world.schedule().clear();
    sea.share.reset();
}

}  // namespace reef
