// The code of the header's manual, on one rank.

#include "shoal/cluster/cluster.h"
#include "shoal/command/commands.h"
#include "shoal/world/world.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace shoal {

struct Body {
    Vec3 position{};
};
SHOAL_COMPONENT(Body, position)

namespace {

Status spawn_sea(World& world) {
    Entity bodies[20];
    return world.database().create<Body>(bodies, Zone(3));
}

Status run(World& world, const GridZones& tiles, const std::string& folder) {
    constexpr float dt = 0.1f;
    const auto push = [](const Vec3&) {};
    const auto move = [](Vec3& position) { position.x += dt; };
    // [cluster/cluster]
    Cluster cluster(world, MPI_COMM_WORLD, {.zones = tiles, .reach = 1});  // before passes are added
    if (Status made = spawn_sea(world); !made) return made;                // the same on each rank
    world.schedule().add("push", world.query<Read<&Body::position>>().in(cluster.near()), push);  // reads copies
    world.schedule().add("move", world.query<Write<&Body::position>>().in(cluster.own()), move);
    if (Status started = cluster.start(); !started) return started;  // each rank keeps its own zones
    world.step(dt);                                                  // what leaves a zone goes to its rank
    if (Status moved = cluster.rebalance(); !moved) return moved;    // zones change hands by measured cost
    if (Status written = cluster.checkpoint(folder); !written) return written;
    const std::uint64_t hash = cluster.state_hash();  // the same for any number of ranks
    // [cluster/cluster]
    EXPECT_NE(hash, 0u);
    EXPECT_EQ(cluster.num_ranks(), 1u);
    EXPECT_EQ(cluster.statistics().num_rows, 20u);
    EXPECT_EQ(
        cluster.name(*world.database().find_table(world.database().archetype<Body>(), 3)->entities().data()) >> 41, 3u);
    world.schedule().clear();
    return {};
}

TEST(ClusterManual, what_the_header_shows_runs_without_mpirun) {
    setenv("OMPI_MCA_plm", "isolated", 1);
    int provided = 0;
    ASSERT_EQ(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided), MPI_SUCCESS);
    const std::string folder = std::filesystem::temp_directory_path() / ("shoal_cluster_" + std::to_string(getpid()));
    {
        EntityManager entities;
        World world(entities);
        const Status status = run(world, GridZones({.num_x = 4, .num_y = 4}), folder);
        EXPECT_TRUE(status.ok()) << status.message();
    }
    EXPECT_TRUE(std::filesystem::exists(folder + "/manifest"));
    std::filesystem::remove_all(folder);
    MPI_Finalize();
}

}  // namespace
}  // namespace shoal
