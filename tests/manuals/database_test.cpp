// What the headers of database show.

#include "shoal/database/database.h"

#include "manuals/fish.h"
#include "shoal/database/grid_zones.h"
#include "shoal/world/world.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace shoal_test {
namespace {

using namespace shoal;

struct Mass {
    float value = 1;
};
SHOAL_COMPONENT(Mass, value)
struct Hungry {};
SHOAL_COMPONENT(Hungry)
struct Asleep {};
SHOAL_COMPONENT((Asleep, enableable))

Status change_fish(World& world, EntityManager& entities, std::span<Entity> fish, Zone near, Zone far) {
    // [database/database]
    Database sea(entities, world.pool());
    Status made = sea.create<Position, Velocity>(fish, near, Position{}, Velocity{{1, 0, 0}});  // all at once
    if (!made) return made;  // no memory, say; the calls below can fail too
    if (auto added = sea.add(fish, Hungry{}); !added) return added.status();  // to the table of all three components
    if (auto removed = sea.remove<Velocity>(fish[7]); !removed) return removed.status();
    if (auto moved = sea.move(fish, far); !moved) return moved.status();  // to another zone
    const auto position = sea.field<&Position::value>();  // one field of many entities: knows the columns
    float height = 0;
    for (const Entity one : fish)
        if (const Vec3* found = position.find(one)) height += found->z;
    if (DatabaseRow row = sea.find(fish[3]))        // many fields of one entity:
        sea.set<&Position::value>(row, {1, 2, 3});  // one look-up for all
    // [database/database]
    EXPECT_EQ(height, 0);
    EXPECT_EQ(sea.num_rows(far), fish.size());
    EXPECT_EQ(sea.get<&Position::value>(sea.find(fish[3])), (Vec3{1, 2, 3}));
    EXPECT_FALSE(sea.has<Velocity>(fish[7]));
    return {};
}

TEST(DatabaseManuals, entities_change_their_components_and_zones) {
    EntityManager entities;
    World world(entities);
    std::vector<Entity> fish(8);
    EXPECT_TRUE(change_fish(world, entities, fish, 3, 4));
}

Status create_apart(Database& sea, std::span<Entity> fish, Zone near) {
    // [table/new_rows]
    const auto swim_apart = [&](const NewRows& rows) {
        const Column position = rows.column<&Position::value>();
        const Column velocity = rows.column<&Velocity::value>();
        for (std::size_t i = 0; i < rows.size(); ++i) {
            position[i] = {float(rows.first() + i), 0, 0};
            velocity[i] = {0, 1, 0};
        }
    };
    const Status made = sea.create_in_place<Position, Velocity, Disabled<Asleep>>(fish, near, swim_apart);
    // [table/new_rows]
    return made;
}

TEST(DatabaseManuals, new_rows_are_filled_where_they_are) {
    EntityManager entities;
    PagePool pool;
    Database sea(entities, pool);
    std::vector<Entity> fish(8);
    ASSERT_TRUE(create_apart(sea, fish, 3));
    for (std::size_t i = 0; i < fish.size(); ++i) {
        EXPECT_EQ(sea.get<&Position::value>(sea.find(fish[i])), (Vec3{float(i), 0, 0}));
        EXPECT_EQ(sea.get<&Velocity::value>(sea.find(fish[i])), (Vec3{0, 1, 0}));
        EXPECT_FALSE(sea.has<Asleep>(fish[i]));
    }
}

TEST(DatabaseManuals, a_field_is_looked_up_for_many_entities) {
    EntityManager entities;
    PagePool pool;
    Database sea(entities, pool);
    std::vector<Entity> stones(3);
    ASSERT_TRUE(sea.create<Mass>(stones, 0, Mass{2}));
    float total = 0;
    for (const Entity entity : stones) {
        // [database/field]
        const auto mass = sea.field<&Mass::value>();          // finds the columns of all tables once
        if (const float* m = mass.find(entity)) total += *m;  // two look-ups in the directory, one in a column
        // [database/field]
    }
    EXPECT_EQ(total, 6);
}

Status create_in_tile(Database& sea, std::span<Entity> fish, Vec3 place, Vec3 centre, ZoneSet& near) {
    // [database/grid_zones]
    GridZones tiles({.origin = {-100, 0, -100}, .tile_size = 12.5f, .num_x = 16, .num_y = 16, .up = GridUp::kY});
    if (Status s = sea.create<Position>(fish, tiles.zone_of(place), Position{place}); !s) return s;
    tiles.touch_sphere(centre, 5, near);  // a ZoneSet
    // [database/grid_zones]
    return {};
}

TEST(DatabaseManuals, a_sphere_touches_the_tile_of_a_fish_in_it) {
    EntityManager entities;
    PagePool pool;
    Database sea(entities, pool);
    std::vector<Entity> fish(1);
    ZoneSet near;
    ASSERT_TRUE(create_in_tile(sea, fish, {3, 0, 4}, {1, 0, 1}, near));
    EXPECT_TRUE(near.contains(sea.find(fish[0]).table->zone()));
}

}  // namespace
}  // namespace shoal_test
