#pragma once
// Runs a world on several machines: its zones are divided among the ranks of an MPI program, with one world per rank.
// The result is the same as on one machine.
//
//     Cluster cluster(world, MPI_COMM_WORLD, {.zones = tiles, .reach = 1});  // before passes are added
//     if (Status made = spawn_sea(world); !made) return made;                // the same on each rank
//     world.schedule().add("push", world.query<Read<&Body::position>>().in(cluster.near()), push);  // reads copies
//     world.schedule().add("move", world.query<Write<&Body::position>>().in(cluster.own()), move);
//     if (Status started = cluster.start(); !started) return started;  // each rank keeps its own zones
//     world.step(dt);                                                  // what leaves a zone goes to its rank
//     if (Status moved = cluster.rebalance(); !moved) return moved;    // zones change hands by measured cost
//     if (Status written = cluster.checkpoint(folder); !written) return written;
//     const std::uint64_t hash = cluster.state_hash();  // the same for any number of ranks
//
//     rank 0   [ 0  1 | 2 ]           own zones 0 and 1; zone 2 is a halo: read-only copies of what rank 1 owns
//     rank 1       [ 1 | 2  3 | 4 ]
//     rank 2               [ 3 | 4  5 ]
//
// Ownership. Each zone of World::database() that is in `zones` belongs to one rank. Zones are first divided along a
// space-filling curve, weighted by rows. An entity in a zone belongs to the zone's rank, with its transform descendants
// and the entities that it owns. Entities in no zone are local to each rank.
//
// Halos. A rank has read-only copies of the zones within `reach` of its own: the same rows, in the same order. Only the
// columns that a pass declares to read there are kept up to date. The pass "halo" receives these columns before the
// first pass that reads them, while passes that visit only the rank's zones run on other workers. A pass that declares
// a write to a halo is refused. Commands about an entity in a halo are carried out by the rank that owns the entity, in
// the same settle.
//
// Crossing. An entity that was moved to a zone of another rank is sent there, whole, when the world settles. New rows
// of a zone are ordered by name, so that loops visit rows in the same order however zones are divided.
//
// Names. Ids differ between ranks. Each entity also has a name, which is the same on all ranks: the zone of its birth
// and a count. Use it in place of the id where a number decides something: frame.random_for(cluster.name(entity)).
// References in rows remain valid. If this rank has no copy of the target, the references are to an entity without
// components, which dies when the target dies, or when no row refers to it any more.
//
// The result does not depend on the number of ranks if no pass depends on it: docs/guide/more_than_one_machine.md lists
// the rules, and what is not supported.
// Errors: an error in a settle (an invalid message, out of memory) ends all ranks with a message.
// Requires: all ranks make the calls marked "Collective", in the same order; after start(), World::step() and settle()
// are collective too. MPI was initialised with MPI_THREAD_SERIALIZED if the world has several workers. After structural
// calls from outside of passes, on any rank, World::settle() is called before the next step. All ranks add the same
// passes; passes added after start() are not checked for reads of halo columns that an earlier pass has written.
// Thread: the structural thread of the world, between passes; name(), names(), find() and the zones from any thread.

#include "shoal/base/status.h"
#include "shoal/database/grid_zones.h"
#include "shoal/react/service.h"

#include <mpi.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace shoal {

class ClusterBody;
class DatabaseTable;
class World;

/// Assigns a rank to each zone. Shape: `weights` and `ranks` have an element for each zone. Requires: the same result
/// on all ranks.
using DivideZones = void (*)(const void* context, std::span<const std::uint64_t> weights, std::uint32_t num_ranks,
                             std::span<std::uint32_t> ranks);

struct ClusterOptions {
    GridZones zones{GridZonesOptions{}};
    /// How many tiles beyond its own tiles the passes of a rank may read. Entities larger than a tile are within reach
    /// of all tiles, but have no reach themselves.
    std::uint32_t reach = 1;
    DivideZones divide = nullptr;  ///< nullptr: cuts a space-filling curve into parts of equal weight
    const void* context = nullptr;
    /// rebalance() does nothing until the slowest rank exceeds the mean by this fraction.
    double imbalance = 0.1;
};

/// What a rank has, and what it has sent so far. Units: bytes, without MPI's overhead.
struct ClusterStatistics {
    std::uint32_t rank = 0, num_zones = 0, num_halo_zones = 0;
    std::uint64_t num_rows = 0, num_halo_rows = 0;
    std::uint64_t num_messages = 0;
    std::uint64_t halo_bytes = 0;       ///< values of columns
    std::uint64_t structure_bytes = 0;  ///< messages about which rows halos have, and which entities died
    std::uint64_t crossing_bytes = 0;   ///< entities and zones that changed hands
    std::uint64_t command_bytes = 0;
    std::uint64_t num_crossed = 0;   ///< entities that went to another rank
    std::uint64_t num_commands = 0;  ///< commands that were sent to owners
    std::int64_t wait_ns = 0;        ///< waiting for other ranks in MPI calls
    std::int64_t pass_ns = 0;        ///< working in passes
};

class Cluster final : public WorldService {
public:
    /// Collective. Requires: the schedule has no passes yet; the world has no other Cluster; `comm` outlives it.
    /// Errors, which status() returns: the ranks differ in their programs, schemas, options, widths of ids or versions;
    /// the message names the difference.
    SHOAL_API Cluster(World& world, MPI_Comm comm, const ClusterOptions& options);
    /// Collective. Requires: no pass or query names its zones any more.
    SHOAL_API ~Cluster() override;

    /// Divides the zones. All ranks have spawned the same entities; each keeps those in its own zones. Collective.
    /// Errors: the cluster has started already; the ranks do not have the same component types or entities; a pass
    /// writes to halos, or reads a column there that it may not read; the division is invalid. All ranks then return an
    /// error. All entities still exist; entities in zones have names, and their rows are in order.
    SHOAL_API Status start();
    /// Whether the ranks are compatible. Errors: a rank differs; the message says which one, and in what.
    SHOAL_API const Status& status() const;

    SHOAL_API std::uint32_t rank() const;
    SHOAL_API std::uint32_t num_ranks() const;
    /// This rank's zones, the copied zones, and both. Before start(): all, none, all. Lifetime: as long as the cluster.
    SHOAL_API const LiveZones& own() const;
    SHOAL_API const LiveZones& halo() const;
    SHOAL_API const LiveZones& near() const;
    /// Returns the owner of a zone. Requires: the zone is one of ClusterOptions::zones.
    SHOAL_API std::uint32_t rank_of(Zone zone) const;

    /// Returns the name of an entity, or 0 if it has none here. The name is the same on all ranks, and for any number
    /// of ranks.
    SHOAL_API std::uint64_t name(Entity entity) const;
    /// Returns the names of the rows of a table, in a pass: faster than name() if rows are visited in order. Shape: by
    /// row; empty before start(), and for a table in a zone that this rank neither owns nor copies. Lifetime: until
    /// the world settles.
    SHOAL_API std::span<const std::uint64_t> names(const DatabaseTable& table) const;
    /// Returns the entity with a name, or null if there is none here.
    SHOAL_API Entity find(std::uint64_t name) const;

    /// Returns a hash of the entities in all zones, of their order, and of the values of their components. It is the
    /// same for any number of ranks and workers. Collective. Cost: reads all rows.
    SHOAL_API std::uint64_t state_hash() const;
    /// Returns the hash of each zone, on all ranks. Collective. Shape: by zone, from GridZonesOptions::first_zone on.
    SHOAL_API std::vector<std::uint64_t> zone_hashes() const;
    /// Calls of_zone(zone) for this rank's zones, and returns the sum of the results over the zones of all ranks. The
    /// order of the addition depends on the zones alone. Collective.
    template <class OfZone>
    double sum(OfZone&& of_zone) const {
        std::vector<double> values(num_zones());
        own().now().for_each([&](Zone zone) {
            if (zone < values.size()) values[zone] = of_zone(zone);
        });
        return sum_of_zones(values);
    }
    /// Calls of_zone(zone) for this rank's zones, and returns the results of all ranks. Collective. Shape: by zone.
    template <class OfZone>
    std::vector<std::uint64_t> gather_zones(OfZone&& of_zone) const {
        std::vector<std::uint64_t> values(num_zones());
        own().now().for_each([&](Zone zone) {
            if (zone < values.size()) values[zone] = of_zone(zone);
        });
        share_zones(values);
        return values;
    }
    /// Returns the sum of `mine` over all ranks. Collective.
    SHOAL_API std::uint64_t sum_count(std::uint64_t mine) const;

    /// Moves zones between ranks to even out the time of their passes, measured since the last call or the last such
    /// move. A zone's share of a rank's time is its share of the rank's rows. Collective. Errors: an entity cannot be
    /// sent: the message names it, and no zone has moved.
    SHOAL_API Status rebalance();
    /// Divides the zones by these weights instead of measured ones. Collective. Shape: by zone.
    SHOAL_API Status divide(std::span<const std::uint64_t> weights);

    /// Writes all zones to a folder, which is created if it is missing. The manifest is written last. Collective.
    /// Errors: a file cannot be written, on any rank; the world has not settled since structural calls. An older
    /// checkpoint in the folder then remains intact, even one of the same frame.
    SHOAL_API Status checkpoint(const std::string& folder) const;
    /// To be called instead of start(). Reads the zones from a checkpoint, which any number of ranks may have written.
    /// The ranks' entities in these zones are destroyed. Collective. Errors: a file is missing, damaged, or from
    /// another program; the world is unchanged.
    SHOAL_API Status restore(const std::string& folder);

    SHOAL_API ClusterStatistics statistics() const;
    /// Returns the statistics of all ranks, on all ranks. Collective. Shape: by rank.
    SHOAL_API std::vector<ClusterStatistics> gather_statistics() const;

private:
    SHOAL_API std::uint32_t num_zones() const;
    SHOAL_API double sum_of_zones(std::span<double> values) const;
    SHOAL_API void share_zones(std::span<std::uint64_t> values) const;

    std::string describe() const override;
    std::string table() const override;
    void before_commands(const SettleContext& context) override;
    void after_settle(const SettleContext& context) override;
    void world_ends() override;

    ClusterBody* body_;
};

}  // namespace shoal
