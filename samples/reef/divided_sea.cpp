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
    if (Status same = cluster.status(); !same) return same;
    Status made = sea.spawn(diagnostics);
    if (made) made = add_passes(sea);
    if (cluster.sum_count(made ? 0 : 1) != 0)  // check here, because the other ranks would wait for this one in start()
        return made ? Status::error("another rank has no sea; its message says why") : made;
    sea.world.settle();
    if (Status started = cluster.start(); !started) return started;
    return &cluster;
}

void close(Sea& sea) {
    sea.world.schedule().clear();
    sea.share.reset();
}

}  // namespace reef
