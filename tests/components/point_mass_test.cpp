// Point masses: one step against the plain formula.

#include "shoal/components/point_mass.h"

#include "shoal/job/executor.h"
#include "support/testing.h"
#include "support/unreadable_pages.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace shoal {
namespace {

using shoal_test::LeakCheck;
using shoal_test::seed;

struct Masses {
    explicit Masses(std::uint32_t count, RowIndexKind index = RowIndexKind::kPaged)
        : manager(entities, pool, {.index = index}) {
        stones.resize(count);
        EXPECT_TRUE(entities.create(stones).ok());
        Random random(seed());
        const auto any = [&] {
            return Vec3{random.unit() * 20 - 10, random.unit() * 20 - 10, random.unit() * 20 - 10};
        };
        for (std::uint32_t i = 0; i < count; ++i) values.push_back({random.unit(), any(), any(), any()});
        EXPECT_TRUE(manager.add(stones, values).ok());
    }

    EntityManager entities;
    PagePool pool;
    Manager<PointMass> manager;
    std::vector<Entity> stones;
    std::vector<PointMass> values;
};

/// The formula, one mass at a time.
void simulate_naively(std::vector<PointMass>& masses, float dt) {
    for (PointMass& mass : masses) {
        mass.velocity = mass.velocity + mass.acceleration * dt;
        mass.position = mass.position + mass.velocity * dt;
    }
}

bool same_bits(Vec3 a, Vec3 b) { return std::memcmp(&a, &b, sizeof a) == 0; }

// req: B1 B2
TEST(PointMasses, a_row_has_its_owner_and_four_fields) {
    Masses masses(100);
    const Schema& schema = masses.manager.core().schema();
    EXPECT_EQ(schema.name(), "point_mass");
    ASSERT_EQ(schema.fields().size(), 4u);
    EXPECT_EQ(schema.to_text().find("mass float") != std::string::npos, true) << schema.to_text();
    EXPECT_EQ(schema.fields()[0].unit, "kg");
    EXPECT_EQ(schema.fields()[1].unit, "m");
    EXPECT_EQ(schema.fields()[2].unit, "m/s");
    EXPECT_EQ(schema.fields()[3].unit, "m/s²");
    for (std::uint32_t i = 0; i < 100; ++i) {
        const Instance instance = masses.manager.instance(masses.stones[i]);
        EXPECT_EQ(masses.manager.entities()[instance.row], masses.stones[i]);
        EXPECT_EQ(masses.manager.get<&PointMass::mass>(instance), masses.values[i].mass);
        EXPECT_EQ(masses.manager.get<&PointMass::position>(instance), masses.values[i].position);
        EXPECT_EQ(masses.manager.get<&PointMass::velocity>(instance), masses.values[i].velocity);
        EXPECT_EQ(masses.manager.get<&PointMass::acceleration>(instance), masses.values[i].acceleration);
    }
    EXPECT_EQ(PointMass{}.mass, 1);
}

// req: A9 B14 B15
TEST(PointMasses, simulate_gives_the_bits_of_the_naive_loop_for_every_number_of_workers) {
    for (const std::uint32_t count : {0u, 1u, 7u, 4096u, 4097u, 50'003u}) {
        SCOPED_TRACE(count);
        Masses expected(count);
        for (int step = 0; step < 5; ++step) simulate_naively(expected.values, 0.01f);
        for (const unsigned num_workers : {0u, 1u, 2u, 3u, 8u}) {
            SerialExecutor serial;
            const std::unique_ptr<Executor> threaded =
                num_workers == 0 ? nullptr : std::make_unique<shoal::ThreadedExecutor>(num_workers);
            Executor& executor = threaded != nullptr ? *threaded : serial;
            Masses masses(count);
            for (int step = 0; step < 5; ++step) simulate(masses.manager, 0.01f, executor);
            const auto positions = masses.manager.column<&PointMass::position>();
            const auto velocities = masses.manager.column<&PointMass::velocity>();
            for (std::uint32_t i = 0; i < count; ++i) {
                ASSERT_TRUE(same_bits(positions[i], expected.values[i].position))
                    << "row " << i << ", " << num_workers << " workers";
                ASSERT_TRUE(same_bits(velocities[i], expected.values[i].velocity))
                    << "row " << i << ", " << num_workers << " workers";
            }
        }
    }
}

TEST(PointMasses, a_stone_falls_as_far_as_the_sum_says) {
    Masses masses(0);
    const Entity stone = *masses.entities.create();
    ASSERT_TRUE(masses.manager.add(stone, {.mass = 2, .position = {0, 0, 100}, .acceleration = {0, 0, -8}}).ok());
    SerialExecutor executor;
    for (int step = 0; step < 8; ++step) simulate(masses.manager, 0.25f, executor);
    const Instance instance = masses.manager.instance(stone);
    EXPECT_EQ(masses.manager.get<&PointMass::velocity>(instance), (Vec3{0, 0, -16}));
    EXPECT_EQ(masses.manager.get<&PointMass::position>(instance), (Vec3{0, 0, 100 - 0.5f * 36}))
        << "1 + 2 + ... + 8 half metres";
}

/// Four workers, of which one does all chunks.
class CountingExecutor final : public Executor {
public:
    std::uint32_t num_workers() const override { return 4; }
    std::uint32_t current_worker() const override { return 0; }
    void start(std::uint32_t num_chunks, ChunkFunction function, void* context, Fence&) override {
        most_chunks = std::max(most_chunks, num_chunks);
        for (std::uint32_t chunk = 0; chunk < num_chunks; ++chunk) function(context, chunk, chunk % 4);
    }
    void wait(Fence&) override {}

    std::uint32_t most_chunks = 0;
};

// req: A9
TEST(PointMasses, simulate_cuts_its_rows_into_parts_for_several_workers) {
    Masses masses(50'003);
    CountingExecutor executor;
    simulate(masses.manager, 0.5f, executor);
    EXPECT_GE(executor.most_chunks, 4u);
}

// req: B3
TEST(PointMasses, simulate_reads_no_mass_and_writes_position_and_velocity_only) {
    Masses masses(3000);
    Random random;
    ComponentManager& core = masses.manager.core();
    core.settle({&random, 10});
    SerialExecutor executor;
    const std::uint64_t changes = core.num_structural_changes();
    {
        shoal_test::UnreadablePages unnamed;
        unnamed.add(core.table().column(FieldLayout<&PointMass::mass>::kFirstColumn), 3000 * sizeof(float));
        EXPECT_GE(unnamed.num_bytes(), kPageBytes);
        simulate(masses.manager, 0.5f, executor);
    }
    EXPECT_EQ(core.num_structural_changes(), changes);
    const auto is_written = [&](std::uint32_t column, std::uint32_t block) {
        return core.table().written_stamp(column, block) == 10;
    };
    for (std::uint32_t block = 0; block < 3; ++block) {
        EXPECT_FALSE(is_written(FieldLayout<&PointMass::mass>::kFirstColumn, block));
        EXPECT_TRUE(is_written(FieldLayout<&PointMass::position>::kFirstColumn, block));
        EXPECT_TRUE(is_written(FieldLayout<&PointMass::velocity>::kFirstColumn, block));
        EXPECT_FALSE(is_written(FieldLayout<&PointMass::acceleration>::kFirstColumn, block));
    }
    for (std::uint32_t i = 0; i < 3000; ++i) {
        ASSERT_EQ(masses.manager.get<&PointMass::mass>(Instance{i}), masses.values[i].mass);
        ASSERT_EQ(masses.manager.get<&PointMass::acceleration>(Instance{i}), masses.values[i].acceleration);
    }
}

TEST(PointMasses, holes_of_an_identity_index_do_no_harm) {
    const LeakCheck leaks;
    Masses masses(1000, RowIndexKind::kIdentity);
    for (std::size_t i = 0; i < masses.stones.size(); i += 2) masses.manager.remove(masses.stones[i]);
    SerialExecutor executor;
    simulate(masses.manager, 0.125f, executor);
    simulate_naively(masses.values, 0.125f);
    for (std::size_t i = 1; i < masses.stones.size(); i += 2)
        ASSERT_TRUE(same_bits(masses.manager.get<&PointMass::position>(masses.manager.instance(masses.stones[i])),
                              masses.values[i].position));
}

}  // namespace
}  // namespace shoal
