#pragma once
// The implementation of Cluster. Steps of a settle, on all ranks:
//
//     before commands   commands about copies are sent to the owners                            remote_commands.h
//     after settle   1  all ranks are told which entities died, and whether any cross
//                    2  entities in zones of other ranks are sent there, with their components   parcel.h
//                    3  newborn entities get names, which replace their temporary names; the rows of own zones
//                       are arranged                                                             zone_rows.h
//                    4  ranks with copies are told which rows were removed and added
//     next frame        the pass "halo" sends the written blocks of the columns that are read    halo.h
//
// Thread: the structural thread of the world; run_halo() is called by a worker.

#include "cluster/components.h"
#include "cluster/halo.h"
#include "cluster/parcel.h"
#include "cluster/remote_commands.h"
#include "cluster/zone_columns.h"
#include "cluster/zone_division.h"
#include "shoal/cluster/cluster.h"
#include "shoal/entity/detail/death_follower.h"

#include <map>
#include <string>
#include <vector>

namespace shoal {

namespace cluster {

/// Lists the facts that must match in programs that exchange zones, one per line: versions, ids, zones and component
/// types.
std::string facts_of(const World& world, const ClusterOptions& options);
/// Returns a message about the first fact that differs between a checkpoint's program and this one, or an empty string
/// if none differs. Component types that only one of the programs has are ignored, because stores of built-in types are
/// created on first use.
std::string find_other_fact(std::string_view of_checkpoint, std::string_view own);

}  // namespace cluster

class ClusterBody {
    using Name = cluster::Name;
    using MessageWriter = cluster::MessageWriter;
    using MessageReader = cluster::MessageReader;

public:
    ClusterBody(World& of, MPI_Comm comm, const ClusterOptions& given);

    Status check_ranks();
    Status check_settled();
    Status check_at_rest();
    /// Returns this rank's error, or a general error if another rank has failed, so that all ranks return together.
    /// Collective.
    Status agree(Status mine);
    Status start();
    Status divide(std::span<const std::uint64_t> weights);
    Status rebalance();
    Status checkpoint(const std::string& folder);
    Status restore(const std::string& folder);

    void before_commands();
    void after_settle();
    void run_halo();

    std::span<const Name> names_of(const DatabaseTable& table) const;
    std::uint64_t hash_zone(Zone zone);
    std::vector<std::uint64_t> hash_zones();
    ClusterStatistics statistics();

    World& world;
    Database& database;
    ClusterOptions options;
    cluster::Ranks ranks;
    cluster::ZoneDivision division;
    cluster::EntityNames names;
    std::vector<std::uint32_t> rank_of_zone;  // indexed by zone, from division.first() on
    LiveZones own_zones{ZoneSet()}, halo_zones{ZoneSet()}, near_zones{ZoneSet()};
    const cluster::ClusterZones zones{own_zones, halo_zones, near_zones, rank_of_zone, division.first()};
    ZoneSet foreign_zones;  // all divided zones that other ranks own
    bool is_started = false;
    Status status;
    std::vector<ClusterStatistics> known_ranks;  // indexed by rank; from the last exchange

private:
    /// Entities that are sent to another rank in a settle.
    struct Leaving {
        std::vector<Entity> entities;  // in the order of the parcel
        std::vector<Entity> unnamed;   // entities that the receiver will name
    };
    struct Renamed {
        Name temporary, lasting;
    };

    /// What changes hands with zones.
    struct Gone {
        std::vector<cluster::TableKey> plain_tables;  // tables that are sent as columns
        std::vector<Entity> entities;                 // all others
    };

    using LeavingTo = std::map<std::uint32_t, Leaving>;                // by rank
    using ArrivedFrom = std::map<std::uint32_t, std::vector<Entity>>;  // by rank

    std::uint32_t owner(Zone zone) const { return rank_of_zone[zone - division.first()]; }
    ZoneSet all_zones() const;
    void fail(std::string_view what, const Status& why) { ranks.abort(concat(what, ": ", why.message())); }

    // Names and order.
    std::vector<std::uint64_t> count_rows();
    std::vector<Entity> below(Entity entity);
    std::uint64_t hash_with_below(Entity entity);
    bool needs_name(Entity entity) const;
    void name_newborn(const ZoneSet& in_zones);
    void rename(Entity entity, Name name);
    bool will_rename(const LeavingTo& leaving);
    void tell_renamed();
    std::vector<cluster::TableChange> arrange(const ZoneSet& in_zones);

    // Zones that change hands.
    Status check_division(const std::vector<std::uint32_t>& next);
    Status take_division(std::vector<std::uint32_t> next);
    void note_zones();
    void drop_foreign();
    Status pack_zone(Zone zone, const cluster::PlainTables* plain, MessageWriter& to,
                     std::vector<cluster::ColumnPiece>& columns, Gone& gone);
    std::vector<Entity> forget_gone(std::span<const std::vector<Entity>> tables);
    Status unpack_zone(MessageReader& from, std::vector<cluster::ColumnPiece>* columns);
    Status unpack_columns(const cluster::TableKey& key, MessageReader& from,
                          std::vector<cluster::ColumnPiece>& columns);
    Status unpack_order(const cluster::TableKey& key, const std::vector<Name>& order);
    Status move_zones(const std::vector<std::uint32_t>& next);
    void renew_halo();
    void renew_columns();
    void forget_unreferenced();
    void tell_what_is_known();
    void destroy_zones();
    struct CheckpointFiles;
    Status write_zones(const std::string& folder, CheckpointFiles& files);
    Status write_manifest(const std::string& folder, CheckpointFiles& files) const;
    Status read_manifest(const std::string& folder, CheckpointFiles& files) const;
    Status read_zones(const std::string& folder, const CheckpointFiles& files, std::span<const std::uint32_t> next,
                      std::vector<cluster::Bytes>& own) const;

    // A settle.
    std::vector<Name> take_deaths();
    void unlink_across_zones();
    LeavingTo find_leaving();
    ArrivedFrom cross(const LeavingTo& leaving);
    void leave(std::span<const Entity> entities);
    void name_leaving(LeavingTo& leaving, const ArrivedFrom& arrived);
    void send_structure(const std::vector<cluster::TableChange>& changes, bool all);
    void write_changes(std::span<const cluster::TableChange> changes, const ZoneSet& needed, MessageWriter& to);
    Status apply_structure(std::span<const cluster::RankMessage> messages, bool all);
    struct ComingRows;
    Status read_changes(const cluster::RankMessage& message, std::vector<ComingRows>& coming);
    Status place(ComingRows& rows);
    void destroy_named(std::span<const Name> dead);

    cluster::TypeKeys types_;
    cluster::ZoneRows own_rows_, copied_rows_;
    cluster::HaloExchange halo_;
    cluster::RemoteCommands commands_;
    DeathFollower deaths_;
    std::vector<Renamed> renamed_;      // in this settle
    std::vector<cluster::Peer> peers_;  // ascending
    ZoneSet copied_zones_;              // those of this rank's zones that peers copy
    cluster::TableChange untold_;       // a change that no other rank needs
    std::vector<cluster::HaloColumn> columns_;
    std::size_t num_common_types_ = 0;  // the first component types, which are the same on all ranks
    std::uint64_t changes_at_settle_ = 0, num_settles_ = 0;
    std::uint64_t structure_bytes_ = 0, crossing_bytes_ = 0, command_bytes_ = 0, num_crossed_ = 0;
    std::int64_t pass_ns_at_balance_ = 0;
};

}  // namespace shoal
