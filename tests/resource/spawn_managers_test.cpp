// From a blob into component managers: the stores that programs use.

#include "resource/samples.h"
#include "shoal/resource/spawner.h"
#include "shoal/store/manager.h"
#include "support/stores.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <cstring>

namespace resource_test {
namespace {

/// Compares every field with those of the stone that fill_sample() gives blob entity 2.
void expect_sample(const Stone& stone, Entity target, const Blob& blob) {
    EXPECT_EQ(stone.mass, 1);
    EXPECT_EQ(stone.position, (Vec3{0.1f, -2, 3}));
    EXPECT_EQ(stone.velocity, (Vec3{4, 5, 6}));
    EXPECT_EQ(stone.shape, Shape::kBox);
    EXPECT_TRUE(stone.awake);
    EXPECT_EQ(stone.target, target);
    EXPECT_EQ(stone.label.view(), "großer Stein");
    EXPECT_EQ(stone.kind, StringId("granite"));
    EXPECT_EQ(stone.cell, (std::array<std::int16_t, 3>{1, 2, 3}));
    const Vec3 path[] = {{1, 2, 3}, {4, 5, 6}};
    const std::span<const std::byte> kept = blob.array(stone.path, FieldType::kVec3);
    ASSERT_EQ(kept.size(), sizeof path);
    EXPECT_EQ(std::memcmp(kept.data(), path, sizeof path), 0);
}

// req: D18-D25
TEST(SpawnManagers, columns_chains_and_references_arrive) {
    const shoal_test::LeakCheck leaks;
    EntityManager entities;
    PagePool pool;
    Manager<Stone> stones(entities, pool);
    Manager<Body> bodies(entities, pool);
    Manager<Note> notes(entities, pool);
    Store* stores[] = {&stones.core(), &bodies.core(), &notes.core()};
    const Result<Blob> blob = Blob::load(sample_bytes());
    ASSERT_TRUE(blob) << blob.message();
    Result<Spawned> spawned = spawn({shoal_test::Stores(entities, stores)}, *blob, {.copies = 3});
    ASSERT_TRUE(spawned) << spawned.message();
    EXPECT_EQ(spawned->unknown().size(), 1u) << "the marker";
    EXPECT_EQ(stones.num_components(), 6u);
    EXPECT_EQ(bodies.num_components(), 3u);
    EXPECT_EQ(notes.num_components(), 9u);
    for (std::uint32_t copy = 0; copy < 3; ++copy) {
        const auto id = [&](std::uint32_t i) { return spawned->entity(i, copy); };
        for (std::uint32_t i = 0; i < 5; ++i) {
            EXPECT_EQ(stones.has(id(i)), i == 0 || i == 2);
            EXPECT_EQ(bodies.has(id(i)), i == 3);
            EXPECT_EQ(notes.has(id(i)), i == 1 || i == 4);
        }
        expect_sample(stones.value(stones.instance(id(2))), id(4), *blob);
        const Stone plain = stones.value(stones.instance(id(0)));
        EXPECT_EQ(plain.shape, Shape::kSphere);
        EXPECT_EQ(plain.target, kNullEntity);
        EXPECT_EQ(plain.cell, (std::array<std::int16_t, 3>{1, 2, 3})) << "a default";
        const Body body = bodies.value(bodies.instance(id(3)));
        EXPECT_EQ(body.level, 3);
        EXPECT_EQ(body.energy, 0.5);
        EXPECT_EQ(body.owner, id(1));
        const Instance first = notes.instance(id(4)), second = notes.next(first);
        EXPECT_EQ(notes.get<&Note::number>(first), 11);
        EXPECT_EQ(notes.get<&Note::number>(second), 13);
        EXPECT_FALSE(notes.next(second));
        EXPECT_EQ(notes.get<&Note::number>(notes.instance(id(1))), 12);
        EXPECT_FALSE(notes.next(notes.instance(id(1))));
    }
    EXPECT_EQ(spawned->destroy(entities), 15u);
    for (Store* store : stores) store->settle({});
    EXPECT_EQ(stones.num_rows() + bodies.num_rows() + notes.num_rows(), 0u);
}

}  // namespace
}  // namespace resource_test
