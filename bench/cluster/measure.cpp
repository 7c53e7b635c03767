// Measures the cost of a cluster with two ranks.
//
//     cluster/step        a frame of the reef with 2 ranks of 1 worker, against 1 rank of 2 workers
//     cluster/one_rank    a frame of the reef in a cluster of one rank, against one without a cluster
//     cluster/move_zone   a zone of 100,000 rows is sent to the other rank and back, against its columns, sent from
//                         and into plain arrays; no zone is within reach of another, so there are no copies
//     cluster/halo_bytes  bytes that are sent for halos, against the bytes of the written blocks; no times

#include "measure.h"
#include "body_components.h"
#include "divided_sea.h"
#include "shoal/document/diagnostics.h"
#include "two_ranks.h"

#include <array>
#include <bit>
#include <memory>

namespace shoal_bench {
namespace {

using namespace shoal;

// --- the reef ----------------------------------------------------------------------------------------------------

constexpr std::uint64_t kFramesOfRun = 10, kFramesUntilBalanced = 100;

struct DividedSea {
    DividedSea(MPI_Comm comm, std::uint32_t num_workers, std::uint64_t num_fish)
        : executor(num_workers), sea(executor, {.sources = SHOAL_REEF_SOURCES, .num_fish = num_fish}) {
        Diagnostics diagnostics;
        cluster = need(reef::divide(sea, comm, diagnostics));
    }
    ~DividedSea() { reef::close(sea); }
    void run() {
        for (std::uint64_t frame = 0; frame < kFramesOfRun; ++frame) {
            sea.step();
            if (sea.world.frame() % kFramesUntilBalanced == 0) need_ok(cluster->rebalance());
        }
    }

    ThreadedExecutor executor;
    reef::Sea sea;
    Cluster* cluster = nullptr;
};

void measure_step(Bench& bench, TwoRanks& ranks, std::uint64_t num_fish) {
    const Workload workload{"cluster/step", num_fish, 1.15, 0, true};
    if (!bench.wants(workload.name)) return;
    DividedSea divided(MPI_COMM_WORLD, 1, num_fish);
    std::uint64_t hash = 0;
    const std::size_t run = ranks.add([&] { divided.run(); });
    const std::size_t take_hash = ranks.add([&] { hash = divided.cluster->state_hash(); });
    if (ranks.is_first()) {
        DividedSea alone(MPI_COMM_SELF, 2, num_fish);
        bench.compare(workload,
                      {{},
                       [&] { ranks.run(run); },
                       [&] {
                           ranks.run(take_hash);
                           return hash;
                       }},
                      {{}, [&] { alone.run(); }, [&] { return alone.cluster->state_hash(); }}, [](Measurement& result) {
                          result.shoal_ns /= double(kFramesOfRun), result.reference_ns /= double(kFramesOfRun);
                      });
    }
    ranks.end();
}

void measure_one_rank(Bench& bench, std::uint64_t num_fish) {
    const Workload workload{"cluster/one_rank", num_fish, 1.02};
    if (!bench.wants(workload.name)) return;
    DividedSea divided(MPI_COMM_SELF, 1, num_fish);
    SerialExecutor executor;
    reef::Sea alone(executor, {.sources = SHOAL_REEF_SOURCES, .num_fish = num_fish});
    Diagnostics diagnostics;
    need_ok(alone.spawn(diagnostics));
    need_ok(reef::add_passes(alone));
    alone.world.settle();
    const auto run_alone = [&] {
        for (std::uint64_t frame = 0; frame < kFramesOfRun; ++frame) alone.step();
    };
    bench.compare(workload, {{}, [&] { divided.run(); }, [&] { return divided.sea.world.frame(); }},
                  {{}, run_alone, [&] { return alone.world.frame(); }}, [](Measurement& result) {
                      result.shoal_ns /= double(kFramesOfRun), result.reference_ns /= double(kFramesOfRun);
                  });
}

// --- zones that change hands -------------------------------------------------------------------------------------

/// A grid of tiles with the same number of bodies in each tile.
struct TiledBodies {
    TiledBodies(MPI_Comm comm, std::uint32_t num_x, std::uint32_t num_y, std::uint32_t rows_of_tile,
                const ClusterOptions& options)
        : tiles({.tile_size = 10, .num_x = num_x, .num_y = num_y}), cluster(world, comm, with_tiles(options)) {
        for (Zone tile = 0; tile < num_x * num_y; ++tile) {
            std::vector<Entity> ids(rows_of_tile);
            std::vector<Position> positions(rows_of_tile);
            for (std::uint32_t row = 0; row < rows_of_tile; ++row) positions[row].value.x = float(row % 1024);
            const std::vector<Velocity> velocities(rows_of_tile, Velocity{{1, 2, 3}});
            need_ok(world.database().create<Position, Velocity>(ids, tile, positions, velocities));
        }
    }
    ClusterOptions with_tiles(ClusterOptions options) const {
        options.zones = tiles;
        return options;
    }
    const DatabaseTable* table(Zone zone) {
        return world.database().find_table(world.database().archetype<Position, Velocity>(), zone);
    }

    EntityManager entities;
    World world{entities};
    GridZones tiles;
    Cluster cluster;
};

/// Assigns the first zone to the rank `first`, and the other zones to rank 0.
struct Owners {
    std::uint32_t first = 0;
    static void divide(const void* self, std::span<const std::uint64_t>, std::uint32_t, std::span<std::uint32_t> to) {
        for (std::uint32_t& rank : to) rank = 0;
        to[0] = static_cast<const Owners*>(self)->first;
    }
};

/// The columns of a zone as plain arrays, which are sent to the other rank and back.
struct PlainZone {
    explicit PlainZone(std::size_t num_rows) : positions(num_rows * 3), velocities(num_rows * 3) {
        for (std::size_t row = 0; row < num_rows; ++row) positions[row * 3] = float(row % 1024);
    }
    void move(int from) {
        int rank = 0;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        std::array<MPI_Request, 2> requests{};
        std::size_t number = 0;
        for (std::vector<float>* column : {&positions, &velocities}) {
            const int size = static_cast<int>(column->size());
            if (rank == from)
                MPI_Isend(column->data(), size, MPI_FLOAT, 1 - from, 7, MPI_COMM_WORLD, &requests[number++]);
            else
                MPI_Irecv(column->data(), size, MPI_FLOAT, from, 7, MPI_COMM_WORLD, &requests[number++]);
        }
        MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
    }
    std::vector<float> positions, velocities;
};

void measure_moving_a_zone(Bench& bench, TwoRanks& ranks, std::uint32_t num_rows) {
    const Workload workload{"cluster/move_zone", num_rows, 2, 0, true};
    if (!bench.wants(workload.name)) return;
    Owners owners;
    TiledBodies bodies(MPI_COMM_WORLD, 2, 1, num_rows, {.reach = 0, .divide = Owners::divide, .context = &owners});
    need_ok(bodies.cluster.start());
    const std::vector<std::uint64_t> weights(3, 1);
    PlainZone plain(num_rows);
    const std::size_t move = ranks.add([&] {
        for (const std::uint32_t to : {1u, 0u}) {
            owners.first = to;
            need_ok(bodies.cluster.divide(weights));
        }
    });
    const std::size_t move_plain = ranks.add([&] { plain.move(0), plain.move(1); });
    if (ranks.is_first()) {
        const auto sum_of = [](std::span<const float> all) {
            double sum = 0;
            for (std::size_t i = 0; i < all.size(); i += 3) sum += double(all[i]);
            return std::bit_cast<std::uint64_t>(sum);
        };
        const auto sum = [&] {
            const DatabaseTable& table = *bodies.table(0);
            double of_rows = 0;
            const auto positions = table.column<&Position::value>(bodies.world.database().find_component<Position>());
            for (std::uint32_t row = 0; row < table.num_rows(); ++row) of_rows += double(positions[row].x);
            return std::bit_cast<std::uint64_t>(of_rows);
        };
        bench.compare(workload, {{}, [&] { ranks.run(move); }, sum},
                      {{}, [&] { ranks.run(move_plain); }, [&] { return sum_of(plain.positions); }});
    }
    ranks.end();
}

// --- bytes -------------------------------------------------------------------------------------------------------

/// There are 64 tiles with 3 blocks of rows each. In each frame, a pass writes the odd tiles, and one row of tile 2 is
/// set. Neighbours must receive these blocks of positions, but no velocities, because no pass reads these in halos.
void measure_halo_bytes(Bench& bench, TwoRanks& ranks) {
    constexpr std::uint32_t kSide = 8, kBlock = 1024, kRows = 3 * kBlock, kFrames = 20;
    const std::string name = "cluster/halo_bytes";
    if (!bench.wants(name)) return;
    LiveZones odd{ZoneSet()};
    TiledBodies bodies(MPI_COMM_WORLD, kSide, kSide, kRows, {});
    Cluster& cluster = bodies.cluster;
    double sum = 0;  // makes the pass read the positions
    bodies.world.schedule().add("look around", bodies.world.query<Read<&Position::value>>().in(cluster.near()),
                                [&](Vec3 p) { sum += double(p.x); });
    bodies.world.schedule().add("move", bodies.world.query<Write<&Position::value>, Read<&Velocity::value>>().in(odd),
                                [](auto&& p, Vec3 v) { p += v * 0.001f; });
    bodies.world.schedule().add("slow", bodies.world.query<Write<&Velocity::value>>().in(cluster.own()),
                                [](auto&& v) { v *= 0.999f; });
    need_ok(cluster.start());
    ZoneSet own_and_odd;
    cluster.own().now().for_each([&](Zone zone) {
        if (zone % 2 == 1) own_and_odd.insert(zone);
    });
    odd.set(std::move(own_and_odd));
    bodies.world.schedule().zones_changed();
    const auto run_frame = [&] {
        if (cluster.own().now().contains(2)) {
            const Entity one = bodies.table(2)->entities()[kBlock + 5];
            need_ok(bodies.world.set<&Position::value>(one, {1, 2, 3}));
        }
        bodies.world.step(1.0f / 64);
    };
    run_frame();  // the first frame sends everything
    const auto sent = [&] {
        std::uint64_t bytes = 0;
        for (const ClusterStatistics& rank : cluster.gather_statistics()) bytes += rank.halo_bytes;
        return bytes;
    };
    const std::uint64_t before = sent();
    for (std::uint32_t frame = 0; frame < kFrames; ++frame) run_frame();
    const std::uint64_t bytes = sent() - before;
    std::uint64_t written = 0;
    for (Zone zone = 0; zone < kSide * kSide; ++zone) {
        bool is_copied = false;
        for (Zone other = 0; other < kSide * kSide; ++other) {
            const auto apart = [](std::uint32_t a, std::uint32_t b) { return a > b ? a - b : b - a; };
            is_copied |= apart(zone % kSide, other % kSide) <= 1 && apart(zone / kSide, other / kSide) <= 1 &&
                         cluster.rank_of(other) != cluster.rank_of(zone);
        }
        const std::uint64_t rows = zone % 2 == 1 ? kRows : zone == 2 ? kBlock : 0;
        if (is_copied) written += rows * sizeof(Vec3) * kFrames;
    }
    if (!ranks.is_first()) return;
    Measurement result{.workload = name, .n = kSide * kSide * kRows};
    result.ratio = result.ratio_p10 = result.ratio_p90 = double(bytes) / double(written);
    result.target = 1.1;
    bench.add(result);
}

}  // namespace

void measure_cluster(Bench& bench) {
    const std::uint64_t num_fish = bench.quick() ? 10'000 : 100'000;
    {
        TwoRanks ranks;
        measure_step(bench, ranks, num_fish);
    }
    {
        TwoRanks ranks;
        if (ranks.is_first()) measure_one_rank(bench, num_fish);
        ranks.end();
    }
    {
        TwoRanks ranks;
        measure_moving_a_zone(bench, ranks, 100'000);
    }
    TwoRanks ranks;
    measure_halo_bytes(bench, ranks);
}

}  // namespace shoal_bench
