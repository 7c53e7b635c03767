#pragma once
// A world over several machines: its zones are divided among the ranks of an MPI program, one world per rank, with the
// same result as on one.
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
// Ownership. Each zone of World::database() that `zones` has belongs to one rank, at first along a space-filling curve,
// weighted by rows. Entities in a zone belong to its rank, with what is below them in the transforms and in what they
// own. Entities in no zone are each rank's own business.
//
// Halos. Zones within `reach` of own ones are there as copies: the same rows, in the same order, of which only those
// columns are kept up to date that a pass declares to read there. They come before the first pass that reads them, in
// the pass "halo", while passes over own zones alone run on other workers. A pass that declares to write there is
// refused. Commands about an entity in a halo are carried out by its owner in the same settle.
//
// Crossing. An entity that was moved to a zone of another rank goes there when the world settles, whole. New rows of a
// zone are put in one order, by name, so that loops visit rows in the same order however zones are divided.
//
// Names. Ids are those of a rank. Each entity has a name too, which is the same on all ranks: the zone and the count of
// its birth. Use it in place of the id where numbers decide something: frame.random_for(cluster.name(entity)).
// References stay right: to an entity that no copy is here of, they refer to an entity without components; they are to
// a dead entity once the other has died.
//
// The result does not depend on the ranks if passes do not: docs/guide/more_than_one_machine.md says what that takes,
// and what is not supported.
// Errors: what a settle cannot do (a message that makes no sense, no memory) ends all ranks with a message.
// Requires: all calls that say "collective" are made by all ranks, in the same order. MPI was initialised with
// MPI_THREAD_SERIALIZED, if the world has several workers. Structural calls from outside of passes are followed by
// World::settle() before the next step.
// Thread: the structural thread of the world, between passes; name() and the zones from any.

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

/// Says which rank owns which zone. Shape: weights and ranks: by zone. Requires: the same answer on all ranks.
using DivideZones = void (*)(const void* context, std::span<const std::uint64_t> weights, std::uint32_t num_ranks,
                             std::span<std::uint32_t> ranks);

struct ClusterOptions {
    GridZones zones{GridZonesOptions{}};
    /// Tiles around own ones that passes may read. What is larger than a tile is in reach of all, and sees nothing
    /// itself.
    std::uint32_t reach = 1;
    DivideZones divide = nullptr;  ///< nullptr: along a space-filling curve, with equal weights for the ranks
    const void* context = nullptr;
    /// rebalance() does nothing until the slowest rank is so much slower than the mean.
    double imbalance = 0.1;
};

/// What a rank has, and has sent so far. Units: bytes without what MPI adds.
struct ClusterStatistics {
    std::uint32_t rank = 0, num_zones = 0, num_halo_zones = 0;
    std::uint64_t num_rows = 0, num_halo_rows = 0;
    std::uint64_t num_messages = 0;
    std::uint64_t halo_bytes = 0;       ///< values of columns
    std::uint64_t structure_bytes = 0;  ///< which rows halos have, and who has died
    std::uint64_t crossing_bytes = 0;   ///< entities and zones that changed hands
    std::uint64_t command_bytes = 0;
    std::uint64_t num_crossed = 0;   ///< entities that went to another rank
    std::uint64_t num_commands = 0;  ///< commands that were sent to the owner
    std::int64_t wait_ns = 0;        ///< for others, in calls of MPI
    std::int64_t pass_ns = 0;        ///< in passes
};

class Cluster final : public WorldService {
public:
    /// Collective. Requires: the schedule has no passes yet; the world has no other Cluster; `comm` outlives it.
    /// Errors: see status(): ranks with other programs, schemas, options, widths of ids or versions, and how they
    /// differ.
    SHOAL_API Cluster(World& world, MPI_Comm comm, const ClusterOptions& options);
    SHOAL_API ~Cluster() override;

    /// Divides the zones, and keeps of the entities, which all ranks have made alike, those in own zones. Collective.
    /// Errors: the ranks do not have the same entities; a pass writes halos, or reads there what it may not; the
    /// division makes no sense. All ranks return one then. No entity has gone; those in zones have names, and their
    /// rows are in order.
    SHOAL_API Status start();
    /// Whether the ranks understand each other. Errors: what differs, and on which rank.
    SHOAL_API const Status& status() const;

    SHOAL_API std::uint32_t rank() const;
    SHOAL_API std::uint32_t num_ranks() const;
    /// Own zones, those that are copies, and both. Before start(): all, none, all.
    SHOAL_API const LiveZones& own() const;
    SHOAL_API const LiveZones& halo() const;
    SHOAL_API const LiveZones& near() const;
    /// Returns the owner of a zone. Requires: the zones have it.
    SHOAL_API std::uint32_t rank_of(Zone zone) const;

    /// Returns the name of an entity; 0: it has none here. The name is the same on all ranks, and for any number of
    /// them.
    SHOAL_API std::uint64_t name(Entity entity) const;
    /// Returns the names of the rows of a table, in a pass: quicker than name() where rows are visited in their order.
    /// Shape: by row; empty for a table in a zone that is neither own nor copied. Lifetime: until the world settles.
    SHOAL_API std::span<const std::uint64_t> names(const DatabaseTable& table) const;
    /// Returns the entity of a name; null: there is none here.
    SHOAL_API Entity find(std::uint64_t name) const;

    /// Returns a hash of all zones: who is in them, in which order, and the values of all components. It is the same
    /// for any number of ranks and workers. Collective. Cost: reads all rows.
    SHOAL_API std::uint64_t state_hash() const;
    /// The same of each zone, on all ranks. Shape: by zone.
    SHOAL_API std::vector<std::uint64_t> zone_hashes() const;
    /// Returns the sum over all zones of what of_zone(zone) returns for own ones, added in an order that depends on the
    /// zones alone. Collective.
    template <class OfZone>
    double sum(OfZone&& of_zone) const {
        std::vector<double> values(num_zones());
        own().now().for_each([&](Zone zone) {
            if (zone < values.size()) values[zone] = of_zone(zone);
        });
        return sum_of_zones(values);
    }
    /// Returns what of_zone(zone) returns for each zone at its owner. Collective. Shape: by zone.
    template <class OfZone>
    std::vector<std::uint64_t> gather_zones(OfZone&& of_zone) const {
        std::vector<std::uint64_t> values(num_zones());
        own().now().for_each([&](Zone zone) {
            if (zone < values.size()) values[zone] = of_zone(zone);
        });
        share_zones(values);
        return values;
    }
    /// The sum of a number of each rank. Collective.
    SHOAL_API std::uint64_t sum_count(std::uint64_t mine) const;

    /// Lets zones change hands by the time that passes took since the last call, or since zones changed hands, shared
    /// out by rows. Collective. Errors: an entity cannot be sent; the message names it. Nothing has changed.
    SHOAL_API Status rebalance();
    /// Divides the zones by these weights in place of measured ones. Collective. Shape: by zone.
    SHOAL_API Status divide(std::span<const std::uint64_t> weights);

    /// Writes all zones to a folder, which is made if need be, and of which the manifest is written last. Collective.
    /// Errors: a file cannot be written, on any rank; the world has not settled since structural calls. An older
    /// checkpoint there is whole then, one of the same frame too.
    SHOAL_API Status checkpoint(const std::string& folder) const;
    /// In place of start(): takes the zones from a checkpoint, whatever number of ranks has written it. What the ranks
    /// have in these zones goes. Collective. Errors: a file is missing or damaged, or of another program; the world is
    /// as it was.
    SHOAL_API Status restore(const std::string& folder);

    SHOAL_API ClusterStatistics statistics() const;
    /// Those of all ranks, on all ranks. Collective. Shape: by rank.
    SHOAL_API std::vector<ClusterStatistics> gather_statistics() const;

private:
    SHOAL_API std::uint32_t num_zones() const;
    SHOAL_API double sum_of_zones(std::span<double> values) const;
    SHOAL_API void share_zones(std::span<std::uint64_t> values) const;

    std::string describe() const override;
    ServiceTable table() const override;
    void before_commands(const SettleContext& context) override;
    void after_settle(const SettleContext& context) override;
    void world_ends() override;

    ClusterBody* body_;
};

}  // namespace shoal
