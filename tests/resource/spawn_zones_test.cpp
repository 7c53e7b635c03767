// In which zone a spawned entity lies: what its source says, or where it is.

#include "shoal/database/spawn_zone.h"

#include "shoal/database/grid_zones.h"

#include "shoal/resource/blob_writer.h"
#include "shoal/resource/detail/registry.h"
#include "shoal/resource/migration.h"
#include "shoal/resource/spawner.h"

#include "support/database_fixture.h"
#include "support/stores.h"

#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <vector>

namespace shoal_test {
namespace {

/// A place of which the lanes lie apart.
struct Berth {
    std::uint32_t number = 3;
    Vec3 place;
};
SHOAL_COMPONENT(Berth, number, (place, split))

/// One that is kept whole.
struct Buoy {
    float size = 1;
    Vec3 place;
};
SHOAL_COMPONENT((Buoy, whole), size, place)

struct Moored {
    std::uint32_t ropes = 0;
};
SHOAL_COMPONENT((Moored, enableable), ropes)

template <class T>
std::span<const std::byte> image_of(const T& value) {
    return std::as_bytes(std::span<const T, 1>(&value, 1));
}

struct ZoneSpawn : ::testing::Test {
    ZoneSpawn()
        : database(entities, pool, {.first_zone = 2}),
          tiles({.origin = {0, 0, 0}, .tile_size = 10, .num_x = 4, .num_y = 4, .first_zone = 100}) {
        database.component<Position>();
        database.component<Mass>();
        database.component<Body>();
        database.component<Berth>();
        database.component<Buoy>();
    }

    template <class T>
    void add(std::uint32_t entity, const T& value) {
        const Result<std::uint32_t> type = [&]() -> Result<std::uint32_t> {
            for (std::size_t i = 0; i < types.size(); ++i)
                if (types[i] == schema_of<T>().id()) return static_cast<std::uint32_t>(i);
            types.push_back(schema_of<T>().id());
            return writer.add_component_type(schema_of<T>());
        }();
        ASSERT_TRUE(type) << type.message();
        writer.add_component(*type, entity, image_of(value));
    }
    std::uint32_t entity(std::uint32_t parent = kNoBlobEntity) { return writer.add_entity({.parent = parent}); }
    Result<Spawned> spawn_all(const SpawnOptions& options = {}, const ComponentRegistry* registry = nullptr) {
        const Result<Blob> all = blob();
        if (!all) return all.status();
        Store* stores[] = {&database};
        Result<Spawned> spawned = spawn({shoal_test::Stores(entities, stores), registry}, *all, options);
        const Status status = database.validate();
        EXPECT_TRUE(status.ok()) << status.message();
        return spawned;
    }
    Result<Blob> blob() {
        Result<std::vector<std::byte>> bytes = writer.write();
        return bytes ? Blob::load(*bytes) : Result<Blob>(bytes.status());
    }
    Zone zone_of(Entity entity) const {
        const DatabaseRow row = database.find(entity);
        return row ? row.table->zone() : kNoZone;
    }

    EntityManager entities;
    PagePool pool;
    Database database;
    GridZones tiles;
    BlobWriter writer;
    std::vector<ComponentId> types;
};

TEST_F(ZoneSpawn, a_source_can_disable_a_component) {
    const std::uint32_t on = entity(), off = entity();
    for (const std::uint32_t owner : {on, off}) add(owner, Asleep{5}), add(owner, Moored{6});
    add(off, SpawnDisabled{ComponentId("asleep")});
    add(on, SpawnDisabled{ComponentId("moored")});
    database.component<Asleep>(), database.component<Moored>();
    const Result<Spawned> spawned = spawn_all();
    ASSERT_TRUE(spawned) << spawned.message();
    EXPECT_TRUE(database.has<Asleep>(spawned->entity(on)));
    EXPECT_FALSE(database.has<Asleep>(spawned->entity(off)));
    EXPECT_FALSE(database.has<Moored>(spawned->entity(on))) << "each of two enableable types is told of its own";
    EXPECT_TRUE(database.has<Moored>(spawned->entity(off)));
    EXPECT_EQ(database.get<&Asleep::since>(database.find(spawned->entity(off))), 5u);
}

TEST_F(ZoneSpawn, a_component_is_disabled_by_an_older_name_of_its_type_too) {
    ComponentRegistry registry;
    registry.migrations<Asleep>().renamed_from("dozing");
    const std::uint32_t on = entity(), off = entity();
    for (const std::uint32_t owner : {on, off}) add(owner, Asleep{5});
    add(off, SpawnDisabled{ComponentId("dozing")});
    database.component<Asleep>();
    const Result<Spawned> spawned = spawn_all({}, &registry);
    ASSERT_TRUE(spawned) << spawned.message();
    EXPECT_TRUE(database.has<Asleep>(spawned->entity(on)));
    EXPECT_FALSE(database.has<Asleep>(spawned->entity(off)));
}

TEST_F(ZoneSpawn, the_entities_of_a_part_have_their_own_zones_and_disabled_components) {
    const std::uint32_t sea = entity(), other = entity(), reef = entity(sea), off = entity();
    for (const std::uint32_t owner : {sea, other, reef, off}) add(owner, Mass{float(owner)}), add(owner, Asleep{owner});
    add(sea, SpawnZone{7});
    add(other, SpawnZone{8});
    for (const std::uint32_t owner : {sea, off}) add(owner, SpawnDisabled{ComponentId("asleep")});
    database.component<Asleep>();
    const Result<Blob> all = blob();
    ASSERT_TRUE(all) << all.message();
    Store* stores[] = {&database};
    const std::uint32_t which[] = {reef, off};
    for (const Zone given : {kNoZone, Zone(6)}) {
        const Result<Spawned> part = spawn_part({shoal_test::Stores(entities, stores)}, *all, which,
                                                {.copies = 2, .zone = given, .fail_on_unknown = true});
        ASSERT_TRUE(part) << part.message();
        for (std::uint32_t copy = 0; copy < 2; ++copy) {
            const Entity first = part->entity(0, copy), second = part->entity(1, copy);
            EXPECT_EQ(zone_of(first), 7u) << "that of its parent, which is not in the part";
            EXPECT_EQ(zone_of(second), given == kNoZone ? 2u : 6u);
            EXPECT_TRUE(database.has<Asleep>(first));
            EXPECT_FALSE(database.has<Asleep>(second));
            EXPECT_EQ(database.get<&Asleep::since>(database.find(second)), off);
        }
    }
}

TEST_F(ZoneSpawn, the_zone_that_a_source_names_is_that_of_the_entity_and_its_children) {
    const std::uint32_t sea = entity(), reef = entity(sea), coral = entity(reef), fish = entity(coral),
                        stray = entity();
    add(sea, SpawnZone{7});
    add(fish, SpawnZone{0});
    for (const std::uint32_t owner : {sea, coral, fish, stray}) add(owner, Mass{float(owner)});
    const Result<Spawned> spawned = spawn_all({.copies = 3, .fail_on_unknown = true});
    ASSERT_TRUE(spawned) << spawned.message();
    EXPECT_EQ(spawned->num_components(), 12u) << "the zone is no component of theirs";
    for (std::uint32_t copy = 0; copy < 3; ++copy) {
        EXPECT_EQ(zone_of(spawned->entity(sea, copy)), 7u);
        EXPECT_EQ(zone_of(spawned->entity(reef, copy)), kNoZone) << "it has nothing that the database takes";
        EXPECT_EQ(zone_of(spawned->entity(coral, copy)), 7u) << "its parent has no row, but a zone";
        EXPECT_EQ(zone_of(spawned->entity(fish, copy)), 0u);
        EXPECT_EQ(zone_of(spawned->entity(stray, copy)), 2u) << "the first zone";
    }
}

TEST_F(ZoneSpawn, a_zone_that_is_none_is_refused_with_its_entity) {
    entity();
    const std::uint32_t lost = entity();
    add(lost, SpawnZone{kMaxZones});
    add(lost, Mass{});
    const Result<Spawned> spawned = spawn_all();
    ASSERT_FALSE(spawned.ok());
    EXPECT_EQ(spawned.message(), "entity 1 of \"\" is to lie in zone 4194304; zones are 0 to 4194303");
    EXPECT_EQ(spawn_all({.zone = kMaxZones}).message(),
              "\"\" is to be spawned into zone 4194304; zones are 0 to 4194303");
    EXPECT_EQ(entities.num_alive(), 0u);
    EXPECT_EQ(database.num_rows(), 0u);
}

TEST_F(ZoneSpawn, a_place_decides_where_the_source_names_no_zone) {
    database.spawn_into_tiles<&Position::value>(tiles);
    const std::uint32_t reef = entity(), hat = entity(reef), named = entity(), nowhere = entity(), plain = entity(),
                        below = entity(named);
    add(reef, Position{{15, 25, 3}});
    add(hat, Mass{1});
    add(named, SpawnZone{9});
    add(named, Position{{15, 25, 3}});
    add(nowhere, Position{{std::numeric_limits<float>::quiet_NaN(), 0, 0}});
    add(plain, Mass{2});
    add(below, Position{{35, 5, 0}});
    const Result<Spawned> spawned = spawn_all();
    ASSERT_TRUE(spawned) << spawned.message();
    EXPECT_EQ(zone_of(spawned->entity(reef)), 100u + 2 * 4 + 1);
    EXPECT_EQ(zone_of(spawned->entity(hat)), 100u + 2 * 4 + 1) << "where its parent is";
    EXPECT_EQ(zone_of(spawned->entity(named)), 9u);
    EXPECT_EQ(zone_of(spawned->entity(nowhere)), tiles.large_zone());
    EXPECT_EQ(zone_of(spawned->entity(plain)), 2u);
    EXPECT_EQ(zone_of(spawned->entity(below)), 9u) << "what the source names for a parent comes before its own place";
}

/// Copies of one place, spawned where root poses say; the place lies in its columns in another way each time.
template <class T, auto kPlace>
void expect_moved_places(ZoneSpawn& test) {
    test.database.spawn_into_tiles<kPlace>(test.tiles);
    T value;
    value.*kPlace = {1, 2, 3};
    const std::uint32_t owner = test.entity(), child = test.entity(owner);
    test.add(owner, value);
    test.add(child, Body{.target = {owner}});
    const float half = 0.70710678f;
    const RootPose poses[] = {{.position = {30, 10, 0}},
                              {.position = {30, 10, 0}, .rotation = {0, 0, half, half}, .scale = {2, 2, 2}},
                              {.position = {3, 34, 5}, .rotation = {half, 0, 0, half}}};
    const Result<Spawned> spawned = test.spawn_all({.copies = 3, .root_poses = poses});
    ASSERT_TRUE(spawned) << spawned.message();
    const Vec3 expected[] = {{31, 12, 3}, {30 - 4, 10 + 2, 6}, {4, 34 - 3, 5 + 2}};
    for (std::uint32_t copy = 0; copy < 3; ++copy) {
        const DatabaseRow row = test.database.find(spawned->entity(owner, copy));
        const Vec3 place = test.database.get<kPlace>(row), off = place - expected[copy];
        EXPECT_LT(dot(off, off), 1e-8f) << place.x << ' ' << place.y << ' ' << place.z;
        EXPECT_EQ(row.table->zone(), test.tiles.zone_of(expected[copy]));
        const DatabaseRow below = test.database.find(spawned->entity(child, copy));
        EXPECT_EQ(below.table->zone(), row.table->zone());
        EXPECT_EQ(test.database.get<&Body::target>(below), spawned->entity(owner, copy));
    }
}
TEST_F(ZoneSpawn, root_poses_move_places_before_they_decide) { expect_moved_places<Position, &Position::value>(*this); }
TEST_F(ZoneSpawn, root_poses_move_split_places) { expect_moved_places<Berth, &Berth::place>(*this); }
TEST_F(ZoneSpawn, root_poses_move_places_kept_whole) { expect_moved_places<Buoy, &Buoy::place>(*this); }

TEST_F(ZoneSpawn, only_a_single_vec3_is_a_place) {
    const ComponentType berth = database.component<Berth>();
    EXPECT_EQ(database.spawn_into_tiles(berth, "plaec", tiles).message(),
              "the component \"berth\" has no field \"plaec\"");
    EXPECT_EQ(database.spawn_into_tiles(berth, "number", tiles).message(),
              "the field \"berth.number\" is no single vec3, and cannot say in which tile an entity lies");
    EXPECT_TRUE(database.spawn_into_tiles(berth, "place", tiles).ok());
    EXPECT_TRUE(database.spawn_into_tiles(berth, "place", tiles).ok()) << "the same again";
    GridZonesOptions larger = tiles.options();
    larger.tile_size *= 2;
    EXPECT_EQ(database.spawn_into_tiles(berth, "place", GridZones(larger)).message(),
              "the database has tiles for \"berth.place\" already, and cannot have other ones for "
              "\"berth.place\" too");
}

TEST_F(ZoneSpawn, another_component_type_called_zone_is_one_like_any_other) {
    Result<Schema> other = Schema::make({.name = "zone", .fields = {{.name = "radius"}}});
    ASSERT_TRUE(other) << other.message();
    ASSERT_TRUE(database.add_component(*other));
    entity();
    const Result<std::uint32_t> type = writer.add_component_type(*other);
    ASSERT_TRUE(type);
    writer.add_component(*type, 0, image_of(2.5f));
    const Result<Spawned> spawned = spawn_all({.fail_on_unknown = true});
    ASSERT_TRUE(spawned) << spawned.message();
    EXPECT_EQ(zone_of(spawned->entity(0)), 2u);
}

/// A random blob, and what is to come of it.
class RandomSpawn : public ZoneSpawn {
protected:
    struct Expected {
        std::uint32_t parent = kNoBlobEntity;
        Zone named = kNoZone;
        std::optional<Vec3> place;
        std::optional<float> mass;
        bool has_body = false;
    };

    void make_blob(Random& random, std::uint32_t count) {
        for (std::uint32_t i = 0; i < count; ++i) {
            Expected& expected = all.emplace_back();
            if (i != 0 && random.below(3) == 0) expected.parent = static_cast<std::uint32_t>(random.below(i));
            entity(expected.parent);
            if (random.below(8) == 0) add(i, SpawnZone{expected.named = static_cast<Zone>(random.below(4))});
            if (random.below(2) == 0) {
                const Vec3 place = {float(random.below(400)) / 10, float(random.below(400)) / 10, 1};
                add(i, Position{*(expected.place = place)});
            }
            if (random.below(2) == 0) add(i, Mass{*(expected.mass = float(random.below(1000)))});
            if (random.below(4) == 0) {
                add(i, Body{.energy = double(i), .target = {i / 2}});
                expected.has_body = true;
            }
        }
    }
    /// `given`: by the spawn, for all that the source gives no zone.
    Zone expected_zone(std::uint32_t i, std::span<const Vec3> shifts, std::uint32_t copy, Zone given = kNoZone) const {
        for (std::uint32_t above = i; above != kNoBlobEntity; above = all[above].parent)
            if (all[above].named != kNoZone) return all[above].named;
        if (given != kNoZone) return given;
        for (std::uint32_t above = i; above != kNoBlobEntity; above = all[above].parent)
            if (all[above].place) return tiles.zone_of(*all[above].place + shifts[copy]);
        return 2;
    }

    std::vector<Expected> all;
};

TEST_F(RandomSpawn, every_entity_lies_where_the_rule_says_with_what_it_has) {
    SCOPED_TRACE(seed_text());
    Random random(seed());
    const auto count = static_cast<std::uint32_t>(scaled_operations(30'000));
    make_blob(random, count);
    database.spawn_into_tiles<&Position::value>(tiles);
    for (const auto& [moves, given] : {std::pair(false, kNoZone), {true, kNoZone}, {true, Zone(6)}}) {
        std::vector<RootPose> poses;
        std::vector<Vec3> shifts(4);
        for (std::uint32_t copy = 0; copy < 4 && moves; ++copy)
            poses.push_back({.position = shifts[copy] = {float(copy) * 3, float(copy), 0}});
        Result<Spawned> spawned = spawn_all({.copies = 4, .root_poses = poses, .zone = given});
        ASSERT_TRUE(spawned) << spawned.message();
        for (std::uint32_t copy = 0; copy < 4; ++copy)
            for (std::uint32_t i = 0; i < count; ++i) {
                const Entity one = spawned->entity(i, copy);
                const bool has_row = all[i].place || all[i].mass || all[i].has_body;
                ASSERT_EQ(zone_of(one), has_row ? expected_zone(i, shifts, copy, given) : kNoZone)
                    << i << " of " << copy;
                ASSERT_EQ(database.has<Position>(one), all[i].place.has_value());
                ASSERT_EQ(database.has<Mass>(one), all[i].mass.has_value());
                ASSERT_EQ(database.has<Body>(one), all[i].has_body);
                const DatabaseRow row = database.find(one);
                if (all[i].place) {
                    ASSERT_EQ(database.get<&Position::value>(row), *all[i].place + shifts[copy]);
                }
                if (all[i].mass) {
                    ASSERT_EQ(database.get<&Mass::value>(row), *all[i].mass);
                }
                if (all[i].has_body) {
                    ASSERT_EQ(database.get<&Body::energy>(row), double(i));
                    ASSERT_EQ(database.get<&Body::target>(row), spawned->entity(i / 2, copy));
                }
            }
        spawned->destroy(entities);
        database.settle({});
    }
}

TEST_F(RandomSpawn, every_entity_without_a_row_lies_where_the_rule_says_and_one_with_a_row_stays_where_it_is) {
    SCOPED_TRACE(seed_text());
    Random random(seed());
    constexpr std::uint32_t kCount = 60, kCopies = 5;
    make_blob(random, kCount);
    database.component<Velocity>();
    database.spawn_into_tiles<&Position::value>(tiles);
    for (const bool moves : {false, true}) {
        std::vector<RootPose> poses;
        std::vector<Vec3> shifts(kCopies);
        for (std::uint32_t copy = 0; copy < kCopies && moves; ++copy)
            poses.push_back({.position = shifts[copy] = {float(copy) * 9, float(copy * copy), 0}});
        std::vector<Entity> made(std::size_t(kCount) * kCopies);
        ASSERT_TRUE(entities.create(made).ok());
        std::vector<bool> has_row(made.size());
        for (std::size_t i = 0; i < made.size(); ++i) has_row[i] = random.below(4) == 0;
        for (std::size_t i = 0; i < made.size(); ++i)
            ASSERT_TRUE(!has_row[i] || database.insert(made[i], 50 + Zone(i % 3), Velocity{{float(i), 0, 0}}).ok());
        std::vector<std::uint32_t> with_place, with_mass, parents;
        std::vector<Zone> zones;
        std::vector<Position> places;
        std::vector<Mass> masses;
        for (std::uint32_t i = 0; i < kCount; ++i) {
            parents.push_back(all[i].parent), zones.push_back(all[i].named);
            for (std::uint32_t above = i; zones[i] == kNoZone && above != kNoBlobEntity; above = all[above].parent)
                zones[i] = all[above].named;
            if (all[i].place) with_place.push_back(i), places.push_back({*all[i].place});
            if (all[i].mass) with_mass.push_back(i), masses.push_back({*all[i].mass});
        }
        const auto* const place_column = reinterpret_cast<const std::byte*>(places.data());
        const auto* const mass_column = reinterpret_cast<const std::byte*>(masses.data());
        const auto batch = [&](const Schema& schema, std::span<const std::uint32_t> owners,
                               const std::byte* const& column) {
            return SpawnBatch{.component = schema.id(),
                              .entities = made,
                              .num_blob_entities = kCount,
                              .num_copies = kCopies,
                              .entity_index = owners,
                              .columns = {&column, 1},
                              .parents = parents,
                              .root_poses = poses,
                              .zones = zones};
        };
        database.begin_spawn();
        ASSERT_TRUE(database.spawn(batch(schema_of<Mass>(), with_mass, mass_column)).ok());
        ASSERT_TRUE(database.spawn(batch(schema_of<Position>(), with_place, place_column)).ok());
        ASSERT_TRUE(database.finish_spawn().ok());
        ASSERT_EQ(database.validate().message(), "");
        for (std::uint32_t copy = 0; copy < kCopies; ++copy)
            for (std::uint32_t i = 0; i < kCount; ++i) {
                const std::size_t at = std::size_t(copy) * kCount + i;
                const bool gains = all[i].place || all[i].mass;
                ASSERT_EQ(zone_of(made[at]), has_row[at] ? 50 + at % 3
                                             : gains     ? expected_zone(i, shifts, copy)
                                                         : kNoZone)
                    << i << " of " << copy;
                ASSERT_EQ(database.has<Position>(made[at]), all[i].place.has_value());
                ASSERT_EQ(database.has<Mass>(made[at]), all[i].mass.has_value());
                ASSERT_EQ(database.has<Velocity>(made[at]), has_row[at]);
                const DatabaseRow row = database.find(made[at]);
                ASSERT_TRUE(!all[i].place || database.get<&Position::value>(row) == *all[i].place + shifts[copy]);
                ASSERT_TRUE(!all[i].mass || database.get<&Mass::value>(row) == *all[i].mass);
            }
        database.destroy(made);
    }
}

TEST_F(ZoneSpawn, batches_that_come_alone_find_their_zones_too) {
    database.spawn_into_tiles<&Position::value>(tiles);
    std::vector<Entity> made(6);  // two copies of three
    ASSERT_TRUE(entities.create(made).ok());
    const Zone zones[] = {kNoZone, 8, kNoZone};
    const std::uint32_t parents[] = {kNoBlobEntity, kNoBlobEntity, 1}, with_mass[] = {0, 2}, with_place[] = {0, 1};
    const Mass masses[] = {{4}, {5}};
    const Position places[] = {{{5, 5, 0}}, {{25, 5, 0}}};
    const RootPose poses[] = {{}, {.position = {20, 0, 0}}};
    const auto batch = [&](const Schema& schema, std::span<const std::uint32_t> owners,
                           const std::byte* const& column) {
        return SpawnBatch{.component = schema.id(),
                          .entities = made,
                          .num_blob_entities = 3,
                          .num_copies = 2,
                          .entity_index = owners,
                          .columns = {&column, 1},
                          .parents = parents,
                          .root_poses = poses,
                          .zones = zones};
    };
    const auto* place_column = reinterpret_cast<const std::byte*>(places);
    const auto* mass_column = reinterpret_cast<const std::byte*>(masses);
    ASSERT_TRUE(database.spawn(batch(schema_of<Position>(), with_place, place_column)).ok());
    ASSERT_TRUE(database.spawn(batch(schema_of<Mass>(), with_mass, mass_column)).ok());
    const Status status = database.validate();
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(zone_of(made[0]), tiles.zone_of({5, 5, 0}));
    EXPECT_EQ(zone_of(made[3]), tiles.zone_of({25, 5, 0}));
    for (const std::uint32_t i : {1u, 2u, 4u, 5u}) EXPECT_EQ(zone_of(made[i]), 8u) << i;
    EXPECT_EQ(database.get<&Mass::value>(database.find(made[5])), 5);
    EXPECT_EQ(database.get<&Position::value>(database.find(made[4])), (Vec3{45, 5, 0}));
}

}  // namespace
}  // namespace shoal_test
