// A level that is spawned, destroyed and spawned again, as when a player dies.

#include "shoal/components/point_mass.h"
#include "shoal/components/tag.h"
#include "shoal/resource/blob_writer.h"
#include "shoal/world/world.h"
#include "support/testing.h"

#include <gtest/gtest.h>
#include <vector>

namespace {

using namespace shoal;

constexpr std::uint32_t kNumObjects = 10'000;

/// Returns a level in which each object has a point mass at a different place, every third one a tag, and every tenth
/// one is the parent of the next nine.
std::vector<std::byte> level_bytes() {
    BlobWriter writer;
    writer.set_name("levels/large");
    const std::uint32_t masses = writer.add_component_type(schema_of<PointMass>(), 0).value();
    const std::uint32_t tags = writer.add_component_type(schema_of<Tag>(), 1).value();
    for (std::uint32_t i = 0; i < kNumObjects; ++i) {
        writer.add_entity({.parent = i % 10 == 0 ? kNoBlobEntity : i - i % 10});
        const PointMass mass{.mass = 1, .position = {static_cast<float>(i), 0, 0}};
        writer.add_component(masses, i, std::as_bytes(std::span(&mass, 1)));
        const Tag tag{StringId("enemy")};
        if (i % 3 == 0) writer.add_component(tags, i, std::as_bytes(std::span(&tag, 1)));
    }
    return writer.write().value();
}

/// Returns the committed bytes of all tables and indexes.
std::size_t committed_bytes(const World& world) {
    std::size_t bytes = 0;
    for (const Store* store : world.directory().stores()) {
        StoreStatistics statistics;
        EXPECT_EQ(store->statistics({&statistics, 1}), 1u);
        bytes += statistics.rows.committed_bytes + statistics.index.committed_bytes;
    }
    return bytes;
}

// The benchmark spawn/respawn measures how long it takes.
// req: D15-D17 D18-D25
TEST(Respawn, a_level_of_10000_objects_comes_back_whole_and_takes_no_more_memory) {
    const std::vector<std::byte> bytes = level_bytes();
    const Result<Blob> level = Blob::load(bytes);
    ASSERT_TRUE(level.ok()) << level.message();
    EXPECT_EQ(level->num_roots(), kNumObjects / 10);
    EntityManager entities;
    World world(entities);
    auto& masses = world.manager<PointMass>();
    auto& tags = world.manager<Tag>();
    std::size_t committed = 0, bookkeeping = 0;
    for (int life = 0; life < 30; ++life) {
        Result<Spawned> spawned = world.spawn(*level);
        ASSERT_TRUE(spawned.ok()) << spawned.message();
        ASSERT_EQ(entities.num_alive(), kNumObjects);
        ASSERT_EQ(masses.num_components(), kNumObjects);
        ASSERT_EQ(tags.num_components(), (kNumObjects + 2) / 3);
        for (std::uint32_t i = 0; i < kNumObjects; ++i) {
            const Entity entity = spawned->entity(i);
            ASSERT_EQ(masses.get<&PointMass::position>(masses.instance(entity)).x, static_cast<float>(i));
            ASSERT_EQ(tags.has(entity), i % 3 == 0);
        }
        if (life == 10) committed = committed_bytes(world), bookkeeping = bookkeeping_bytes();
        if (life > 10) {
            ASSERT_LE(committed_bytes(world), committed);
            ASSERT_LE(bookkeeping_bytes(), bookkeeping);
        }
        ASSERT_EQ(spawned->destroy(entities), kNumObjects);
        world.settle();
        ASSERT_EQ(masses.num_rows() + tags.num_rows(), 0u);
    }
}

}  // namespace
