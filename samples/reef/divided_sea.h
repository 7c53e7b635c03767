#pragma once
// The sea in a cluster: each rank owns some of the tiles and has copies of adjacent tiles.

#include "sea.h"

#include <shoal/cluster/cluster.h>

#include <vector>

namespace reef {

/// The share of the sea that a rank owns.
class ClusterShare final : public Share {
public:
    /// Collective, like Cluster. Requires: the sea has no passes yet.
    ClusterShare(Sea& sea, MPI_Comm comm) : cluster(sea.world, comm, {.zones = sea.tiles, .reach = 1}) {}
    const shoal::LiveZones& own() const override { return cluster.own(); }
    std::uint64_t key(shoal::Entity entity) const override { return cluster.name(entity); }
    std::span<const std::uint64_t> keys(const shoal::DatabaseTable& table) const override {
        return cluster.names(table);
    }
    void gather(std::vector<std::uint64_t>& of_zones) const override;

    shoal::Cluster cluster;
};

/// Spawns the sea, which is divided among the ranks of `comm`, and adds its passes. Returns its cluster. Collective.
/// Errors: a source, the plugin or the cluster fails. Requires: close() is called later, even after errors.
shoal::Result<shoal::Cluster*> divide(Sea& sea, MPI_Comm comm, shoal::Diagnostics& diagnostics);
/// Destroys the cluster that divide() created. Collective.
void close(Sea& sea);

}  // namespace reef
