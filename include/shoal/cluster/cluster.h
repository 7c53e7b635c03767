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
// Ownership. Each zone of World::database() that is in `zones` has one owner rank. The initial division follows a
// space-filling curve and is weighted by rows. A rank owns the entities in its zones, their transform descendants, and
// all entities owned by any of these. Entities outside of these zones are local to each rank.
//
// Halos. A rank has read-only copies of the zones within `reach` of its own: the same rows, in the same order. Only
// columns that a pass declares as read in halos are kept up to date. The pass "halo" receives these columns before the
// first pass that reads them, while passes that visit only the rank's zones run on other workers. A pass must not
// declare writes to halos. Commands on an entity in a halo are carried out by the rank that owns the entity, in the
// same settle.
//
// Crossing. When the world settles, an entity that has moved into another rank's zone is sent to that rank with all its
// components. New rows of a zone are sorted by name, so loops visit rows in the same order for every division.
//
// Names. Ids differ between ranks. Each entity in a zone also has a name, which is the same on all ranks: the zone it
// was born in and a count. Use the name instead of the id where the value affects results, as in
// frame.random_for(cluster.name(entity)). References in rows remain valid. If this rank has no copy of the target, an
// entity without components takes its place. That entity is destroyed after the target dies, or when no row refers to
// it any more.
//
// The result does not depend on the number of ranks unless a pass depends on it. docs/guide/more_than_one_machine.md
// lists the rules and the unsupported features.
// Errors: an error in a settle (an invalid message, out of memory) ends all ranks with a message.
// Requires: all ranks make the calls marked "Collective", in the same order; after start(), World::step() and settle()
// are collective too. If the world has several workers, MPI has been initialised with MPI_THREAD_SERIALIZED. After
// structural calls outside of passes on any rank, all ranks call World::settle() before the next step. All ranks add
// the same passes; passes added after start() are not checked for reads of halo columns that an earlier pass writes.
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
    /// A rank's passes may read tiles up to this number of tiles away from the rank's own. The zone of entities larger
    /// than a tile is within reach of all tiles, but no tile is within its reach.
    std::uint32_t reach = 1;
    DivideZones divide = nullptr;  ///< nullptr: cuts a space-filling curve into parts of equal weight
    const void* context = nullptr;
    /// rebalance() does nothing unless the slowest rank's time exceeds the mean by this fraction.
    double imbalance = 0.1;
};

/// The current size of a rank, and its traffic so far. Units: bytes, without MPI's overhead.
struct ClusterStatistics {
    std::uint32_t rank = 0, num_zones = 0, num_halo_zones = 0;
    std::uint64_t num_rows = 0, num_halo_rows = 0;
    std::uint64_t num_messages = 0;
    std::uint64_t halo_bytes = 0;       ///< column values
    std::uint64_t structure_bytes = 0;  ///< changes to the rows of halos, and deaths
    std::uint64_t crossing_bytes = 0;   ///< entities and zones that changed hands
    std::uint64_t command_bytes = 0;
    std::uint64_t num_crossed = 0;   ///< entities sent to other ranks
    std::uint64_t num_commands = 0;  ///< commands sent to owners
    std::int64_t wait_ns = 0;        ///< time spent waiting for other ranks in MPI calls
    std::int64_t pass_ns = 0;        ///< time spent in passes
};

class Cluster final : public WorldService {
public:
    /// Collective. Requires: the schedule has no passes yet; the world has no other Cluster; `comm` outlives it.
    /// Errors, which status() returns: the ranks differ in version, id width, component types or options; the message
    /// names the difference.
    SHOAL_API Cluster(World& world, MPI_Comm comm, const ClusterOptions& options);
    /// Collective. Requires: no pass or query uses its zones any more.
    SHOAL_API ~Cluster() override;

    /// Divides the zones among the ranks. All ranks must have spawned the same entities; each rank keeps those in its
    /// own zones. Collective.
    /// Errors: the cluster has started already; the ranks do not have the same component types or entities; a pass
    /// writes to halos, or reads a halo column that it may not read; the division is invalid. On error, all ranks
    /// return an error and keep all entities, but rows may have been reordered.
    SHOAL_API Status start();
    /// Returns whether the ranks are compatible. Errors: a rank is incompatible; the message names the rank and the
    /// difference.
    SHOAL_API const Status& status() const;

    SHOAL_API std::uint32_t rank() const;
    SHOAL_API std::uint32_t num_ranks() const;
    /// This rank's zones, the zones it copies, and both. Before start(): all, none, all. Lifetime: as long as the
    /// cluster.
    SHOAL_API const LiveZones& own() const;
    SHOAL_API const LiveZones& halo() const;
    SHOAL_API const LiveZones& near() const;
    /// Returns the owner of a zone. Requires: the zone is one of ClusterOptions::zones.
    SHOAL_API std::uint32_t rank_of(Zone zone) const;

    /// Returns the name of an entity, or 0 if it has none on this rank. The name is the same on all ranks, and for any
    /// number of ranks.
    SHOAL_API std::uint64_t name(Entity entity) const;
    /// Returns the names of a table's rows, for passes that visit rows in order. This is faster than name(). Shape:
    /// indexed by row; empty before start(), and for a table in a zone that this rank neither owns nor copies.
    /// Lifetime: until the world settles. Cost: fetches the first 1,024 names into the cache.
    SHOAL_API std::span<const std::uint64_t> names(const DatabaseTable& table) const;
    /// Returns the entity with a name, or null if this rank does not know it.
    SHOAL_API Entity find(std::uint64_t name) const;

    /// Returns a hash of the entities in all zones, their order and their component values. The hash is the same for
    /// any number of ranks and workers. Collective. Cost: reads all rows.
    SHOAL_API std::uint64_t state_hash() const;
    /// Returns the hash of each zone, on all ranks. Collective. Shape: indexed by zone, from
    /// GridZonesOptions::first_zone on.
    SHOAL_API std::vector<std::uint64_t> zone_hashes() const;
    /// Calls of_zone(zone) for this rank's zones, and returns the sum of the results over the zones of all ranks. The
    /// order of additions does not depend on the division. Collective.
    template <class OfZone>
    double sum(OfZone&& of_zone) const {
        std::vector<double> values(num_zones());
        own().now().for_each([&](Zone zone) {
            if (zone < values.size()) values[zone] = of_zone(zone);
        });
        return sum_of_zones(values);
    }
    /// Calls of_zone(zone) for this rank's zones, and returns the results of all ranks. Collective. Shape: indexed by
    /// zone.
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

    /// Moves zones between ranks to balance the time that the ranks have spent in passes since the last call, or
    /// since zones last moved. The time of a rank is attributed to its zones in proportion to their rows. Collective.
    /// Errors: an entity cannot be sent; the message names it. On error, no zone has moved.
    SHOAL_API Status rebalance();
    /// Divides the zones by the given weights instead of measured times. Collective. Shape: indexed by zone.
    SHOAL_API Status divide(std::span<const std::uint64_t> weights);

    /// Writes all zones to a folder, which is created if it is missing. The manifest is written last. Collective.
    /// Errors: a file cannot be written, on any rank; structural calls were made after the last settle. On error, an
    /// older checkpoint in the folder remains intact, even one for the same frame.
    SHOAL_API Status checkpoint(const std::string& folder) const;
    /// Starts the cluster with the zones of a checkpoint, which any number of ranks may have written. Call this instead
    /// of start(). Entities that are already in these zones are destroyed. Collective. Errors: a file is missing,
    /// damaged, or from another program. On error, the world is unchanged.
    SHOAL_API Status restore(const std::string& folder);

    SHOAL_API ClusterStatistics statistics() const;
    /// Returns the statistics of all ranks, on all ranks. Collective. Shape: indexed by rank.
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
