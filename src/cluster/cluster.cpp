#include "shoal/cluster/cluster.h"

#include "cluster/cluster_body.h"
#include "shoal/base/text.h"

namespace shoal {

Cluster::Cluster(World& world, MPI_Comm comm, const ClusterOptions& options)
    : WorldService("cluster", ServiceStage::kCluster) {
    SHOAL_ASSERT(world.services().find(ServiceStage::kCluster) == nullptr, "the world has another cluster");
    SHOAL_ASSERT(world.schedule().num_passes() == 0,
                 "passes were added before the Cluster was made, and would run before halos are there; make it first");
    body_ = new ClusterBody(world, comm, options);
    world.services().add(*this);
    // This pass is first: passes that read halos wait for it, and other passes run in parallel with it.
    world.schedule().add("halo", {}, [body = body_](PassContext&) { body->run_halo(); });
}

Cluster::~Cluster() {
    if (body_ == nullptr) return;
    World& world = body_->world;
    world.services().remove(*this);
    static_cast<void>(world.schedule().remove("halo"));
    delete body_;
}

void Cluster::world_ends() { delete std::exchange(body_, nullptr); }

Status Cluster::start() { return body_->start(); }
const Status& Cluster::status() const { return body_->status; }
std::uint32_t Cluster::rank() const { return body_->ranks.rank(); }
std::uint32_t Cluster::num_ranks() const { return body_->ranks.size(); }
const LiveZones& Cluster::own() const { return body_->zones.own; }
const LiveZones& Cluster::halo() const { return body_->zones.halo; }
const LiveZones& Cluster::near() const { return body_->zones.near; }

std::uint32_t Cluster::rank_of(Zone zone) const {
    SHOAL_ASSERT(body_->division.has(zone), "the zone is none of those that are divided");
    return body_->rank_of_zone[zone - body_->division.first()];
}

std::uint64_t Cluster::name(Entity entity) const { return body_->names.lasting_name(entity); }
std::span<const std::uint64_t> Cluster::names(const DatabaseTable& table) const { return body_->names_of(table); }
Entity Cluster::find(std::uint64_t name) const {
    return cluster::is_lasting(name) ? body_->names.find(name) : kNullEntity;
}

std::vector<std::uint64_t> Cluster::zone_hashes() const { return body_->hash_zones(); }
std::uint64_t Cluster::state_hash() const {
    std::uint64_t hash = 0;
    for (const std::uint64_t zone : body_->hash_zones()) hash = hash_bytes(&zone, sizeof zone, hash);
    return hash;
}

std::uint64_t Cluster::sum_count(std::uint64_t mine) const { return body_->ranks.sum(mine); }
std::uint32_t Cluster::num_zones() const { return body_->division.first() + body_->division.num_zones(); }

double Cluster::sum_of_zones(std::span<double> values) const {
    body_->ranks.sum(values);
    for (std::size_t step = 1; step < values.size(); step *= 2)  // pairs of neighbours, then pairs of pairs, ...
        for (std::size_t i = 0; i + step < values.size(); i += 2 * step) values[i] += values[i + step];
    return values.empty() ? 0 : values[0];
}

void Cluster::share_zones(std::span<std::uint64_t> values) const { body_->ranks.sum(values); }

Status Cluster::rebalance() { return body_->rebalance(); }
Status Cluster::divide(std::span<const std::uint64_t> weights) { return body_->divide(weights); }
Status Cluster::checkpoint(const std::string& folder) const { return body_->checkpoint(folder); }
Status Cluster::restore(const std::string& folder) { return body_->restore(folder); }

ClusterStatistics Cluster::statistics() const { return body_->statistics(); }

std::vector<ClusterStatistics> Cluster::gather_statistics() const {
    cluster::MessageWriter mine;
    mine.value(body_->statistics());
    std::vector<ClusterStatistics> all;
    for (const cluster::Bytes& bytes : body_->ranks.gather(mine.bytes()))
        all.push_back(cluster::MessageReader(bytes).value<ClusterStatistics>());
    return all;
}

std::string Cluster::describe() const {
    const ClusterStatistics now = body_->statistics();
    return concat("rank ", now.rank, " of ", num_ranks(), " has ", now.num_zones, " zones with ", now.num_rows,
                  " rows, and copies of ", now.num_halo_zones, " with ", now.num_halo_rows);
}

/// Uses the statistics that the ranks exchanged last, because an inspector cannot call the other ranks.
std::string Cluster::table() const {
    std::string table =
        "rank\tzones\trows\tcopied rows\tmessages\thalo bytes\tstructure bytes\tcrossing bytes\tcommand "
        "bytes\tcrossed\twaiting ms\t"
        "passes ms\tagainst the mean\n";
    const std::vector<ClusterStatistics>& ranks = body_->known_ranks;
    double mean_ns = 0;
    for (const ClusterStatistics& rank : ranks) mean_ns += static_cast<double>(rank.pass_ns) / double(ranks.size());
    for (const ClusterStatistics& rank : ranks) {
        const auto ms = [](std::int64_t ns) { return ns / 1'000'000; };
        const double percent = mean_ns > 0 ? 100 * static_cast<double>(rank.pass_ns) / mean_ns - 100 : 0;
        table += concat(rank.rank, '\t', rank.num_zones, '\t', rank.num_rows, '\t', rank.num_halo_rows, '\t');
        table += concat(rank.num_messages, '\t', rank.halo_bytes, '\t', rank.structure_bytes, '\t');
        table += concat(rank.crossing_bytes, '\t', rank.command_bytes, '\t', rank.num_crossed, '\t');
        table += concat(ms(rank.wait_ns), '\t', ms(rank.pass_ns), '\t', percent < 0 ? "" : "+",
                        static_cast<int>(percent), " %\n");
    }
    return table;
}

void Cluster::before_commands(const SettleContext&) { body_->before_commands(); }
void Cluster::after_settle(const SettleContext&) { body_->after_settle(); }

}  // namespace shoal
