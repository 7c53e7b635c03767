// Zones go to blobs and come back.

#include "shoal/resource/zone_blob.h"

#include "shoal/database/spawn_zone.h"
#include "shoal/resource/blob_writer.h"
#include "shoal/resource/spawner.h"

#include "support/database_fixture.h"
#include "support/stores.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

namespace shoal_test {
namespace {

/// Tells entities apart that go and come back.
struct Serial {
    std::uint32_t number = 0;
};
SHOAL_COMPONENT(Serial, number)

struct Friends {
    Entity both[2];
    StringId greeting;
};
SHOAL_COMPONENT(Friends, both, greeting)

struct Route {
    float length = 1;
    BlobArray<Vec3> points;
};
SHOAL_COMPONENT(Route, length, points)

/// All that a database says of an entity; others are named by their serial number.
struct Seen {
    Zone zone = 0;
    std::vector<int> has;
    Vec3 position{}, velocity{};
    std::uint32_t since = 0;
    double energy = 0;
    std::uint32_t target = 0, friends[2] = {};
    std::uint64_t greeting = 0;
    std::vector<std::uint32_t> tallies{};

    friend bool operator==(const Seen&, const Seen&) = default;
};

struct ZoneBlobs : ::testing::Test, DatabaseFixture {
    static constexpr std::uint32_t kNobody = 0xFFFFFFFF;

    std::uint32_t serial_of(Entity entity) const {
        const DatabaseRow row = entities.alive(entity) ? database.find(entity) : DatabaseRow();
        return row ? database.get<&Serial::number>(row) : kNobody;
    }
    Seen see(Entity entity) const {
        const DatabaseRow row = database.find(entity);
        Seen seen{.zone = row.table->zone(),
                  .has = {database.has<Position>(entity), database.has<Velocity>(entity), database.has<Asleep>(entity),
                          database.has<Hungry>(entity), database.has<Body>(entity), database.has<Friends>(entity),
                          database.has<Marked>(entity)}};
        const auto has_column = [&](auto component) { return row.table->type().has(component); };
        if (seen.has[0]) seen.position = database.get<&Position::value>(row);
        if (seen.has[1]) seen.velocity = database.get<&Velocity::value>(row);
        if (has_column(database.find_component<Asleep>())) seen.since = database.get<&Asleep::since>(row);
        if (seen.has[4]) {
            seen.energy = database.get<&Body::energy>(row);
            seen.target = serial_of(database.get<&Body::target>(row));
        }
        database.for_each_value<&Tally::number>(entity, [&](std::uint32_t n) { seen.tallies.push_back(n); });
        if (!seen.has[5]) return seen;
        const auto& both = database.get<&Friends::both>(row);
        for (int i = 0; i < 2; ++i) seen.friends[i] = serial_of(both[i]);
        seen.greeting = database.get<&Friends::greeting>(row).hash;
        return seen;
    }
    std::map<std::uint32_t, Seen> see_all() const {
        std::map<std::uint32_t, Seen> all;
        for (const DatabaseTable* table : database.all_tables())
            for (const Entity entity : table == nullptr ? std::span<const Entity>() : table->entities())
                if (entities.alive(entity)) all[serial_of(entity)] = see(entity);
        return all;
    }
    Result<Spawned> spawn_blob(std::span<const std::byte> bytes) {
        const Result<Blob> blob = Blob::load(bytes);
        if (!blob) return blob.status();
        Store* stores[] = {&database};
        return spawn({shoal_test::Stores(entities, stores)}, *blob, {.fail_on_unknown = true});
    }
    void expect_valid() const {
        const Status status = database.validate();
        ASSERT_TRUE(status.ok()) << status.message();
    }
};

class RandomZones : public ZoneBlobs {
protected:
    RandomZones() : random(seed()) {}

    Entity any(std::span<const Entity> made) { return made[random.below(made.size())]; }
    Vec3 place() { return {float(random.below(100)), float(random.below(100)), float(random.below(100))}; }

    std::vector<Entity> fill(std::uint32_t count) {
        std::vector<Entity> made;
        for (std::uint32_t i = 0; i < count; ++i) {
            const Entity entity = *entities.create();
            made.push_back(entity);
            EXPECT_TRUE(database.insert(entity, Zone(random.below(5)), Serial{i}));
            const std::uint64_t what = random.below(128);
            const auto maybe = [&](int bit, const auto& value) {
                EXPECT_TRUE((what >> bit & 1) == 0 || database.add(entity, value));
            };
            maybe(0, Position{place()});
            maybe(1, Velocity{place()});
            maybe(2, Asleep{std::uint32_t(random.below(1000))});
            maybe(3, Hungry{});
            maybe(4, Marked{});
            maybe(5, Body{double(i), 1, any(made)});
            maybe(6, Friends{{any(made), any(made)}, StringId(random.below(3) + 1)});
            for (std::uint32_t k = random.below(4); k > 0; --k)
                EXPECT_TRUE(database.add(entity, Tally{.number = 10 * i + k}));
            EXPECT_TRUE(random.below(2) == 0 || database.remove<Asleep>(entity));
            EXPECT_TRUE(random.below(2) == 0 || database.remove<Hungry>(entity));
        }
        return made;
    }

    Random random;
};

// What a zone held is there again after it was saved, cleared and spawned; what was elsewhere has not changed.
TEST_F(RandomZones, what_is_saved_cleared_and_spawned_is_as_it_was) {
    SCOPED_TRACE(seed_text());
    for (std::int64_t round = 0; round < scaled_operations(200); ++round) {
        const std::vector<Entity> made = fill(static_cast<std::uint32_t>(random.below(300)) + 1);
        for (std::size_t i = 0; i < made.size() / 10; ++i)
            entities.destroy(any(made));  // dead, and still in their rows
        ZoneSet zones;
        for (Zone zone = 0; zone < 5; ++zone)
            if (random.below(2) == 0) zones.insert(zone);
        const Result<ZoneBlob> saved = save_zones(database, zones);
        ASSERT_TRUE(saved) << saved.message();

        // Who points into another zone, or at nobody who lives, has lost that.
        std::map<std::uint32_t, Seen> expected = see_all();
        std::uint64_t num_lost = 0, num_entities = 0;
        const auto zone_of = [&, before = expected](std::uint32_t serial) { return before.at(serial).zone; };
        for (auto& [serial, seen] : expected) {
            const bool is_saved = zones.contains(seen.zone);
            num_entities += is_saved;
            const auto lose = [&](std::uint32_t& reference) {
                if (reference != kNobody && zones.contains(zone_of(reference)) != is_saved) {
                    num_lost += is_saved;
                    reference = kNobody;
                }
            };
            if (seen.has[4]) lose(seen.target);
            for (std::uint32_t& reference : seen.friends)
                if (seen.has[5]) lose(reference);
        }
        for (const Entity entity : made) {  // the dead are nobody's friends, but were named
            if (!entities.alive(entity) || !zones.contains(database.find(entity).table->zone())) continue;
            const DatabaseRow row = database.find(entity);
            if (database.has<Body>(entity)) num_lost += !entities.alive(database.get<&Body::target>(row));
            if (database.has<Friends>(entity))
                for (const Entity one : database.get<&Friends::both>(row)) num_lost += !entities.alive(one);
        }
        EXPECT_EQ(saved->num_entities, num_entities);
        EXPECT_EQ(saved->num_lost_references, num_lost);

        zones.for_each([&](Zone zone) { database.clear_zone(zone); });
        const Result<Spawned> spawned = spawn_blob(saved->bytes);
        ASSERT_TRUE(spawned) << spawned.message();
        expect_valid();
        EXPECT_EQ(see_all(), expected);

        const Result<ZoneBlob> again = save_zones(database, zones);
        ASSERT_TRUE(again) << again.message();
        EXPECT_EQ(again->bytes, saved->bytes) << "and in the same order";
        EXPECT_EQ(again->num_lost_references, 0u);
        for (Zone zone = 0; zone < 5; ++zone) database.clear_zone(zone);
        database.settle({});
    }
}

TEST_F(ZoneBlobs, a_zone_can_be_spawned_into_another_world_and_zone) {
    const std::vector<Entity> fish = make(3);
    for (std::uint32_t i = 0; i < 3; ++i)
        ASSERT_TRUE(database.insert(fish[i], 4, Mass{float(i)}, Body{.target = fish[(i + 1) % 3]}));
    const Result<ZoneBlob> saved = save_zone(database, 4, {.keeps_zones = false});
    ASSERT_TRUE(saved) << saved.message();
    EXPECT_EQ(saved->num_components, 6u);

    EntityManager others;
    PagePool pages;
    Database sea(others, pages, {.first_zone = 9});
    sea.component<Velocity>();  // other numbers
    sea.component<Body>();
    sea.component<Mass>();
    const Result<Blob> blob = Blob::load(saved->bytes);
    ASSERT_TRUE(blob) << blob.message();
    Store* stores[] = {&sea};
    const Result<Spawned> spawned = spawn({shoal_test::Stores(others, stores)}, *blob, {.copies = 2});
    ASSERT_TRUE(spawned) << spawned.message();
    EXPECT_EQ(sea.num_rows(9), 6u);
    for (std::uint32_t copy = 0; copy < 2; ++copy)
        for (std::uint32_t i = 0; i < 3; ++i) {
            const DatabaseRow row = sea.find(spawned->entity(i, copy));
            EXPECT_EQ(sea.get<&Mass::value>(row), float(i));
            EXPECT_EQ(sea.get<&Body::target>(row), spawned->entity((i + 1) % 3, copy));
        }
}

TEST_F(ZoneBlobs, a_toggled_component_that_is_off_keeps_its_value) {
    const std::vector<Entity> fish = make(70);
    for (std::uint32_t i = 0; i < fish.size(); ++i) {
        ASSERT_TRUE(database.insert(fish[i], 1, Serial{i}, Asleep{i + 100}));
        ASSERT_TRUE(i % 3 == 0 || database.remove<Asleep>(fish[i]));
    }
    const Result<ZoneBlob> saved = save_zone(database, 1);
    ASSERT_TRUE(saved) << saved.message();
    database.clear_zone(1);
    const Result<Spawned> spawned = spawn_blob(saved->bytes);
    ASSERT_TRUE(spawned) << spawned.message();
    for (std::uint32_t i = 0; i < fish.size(); ++i) {
        EXPECT_EQ(database.has<Asleep>(spawned->entity(i)), i % 3 == 0);
        EXPECT_EQ(database.get<&Asleep::since>(database.find(spawned->entity(i))), i + 100);
    }
}

TEST_F(ZoneBlobs, a_source_can_switch_a_component_off) {
    BlobWriter writer;
    const std::uint32_t on = writer.add_entity({}), off = writer.add_entity({});
    const Result<std::uint32_t> asleep = writer.add_component_type(schema_of<Asleep>());
    const Result<std::uint32_t> switched = writer.add_component_type(schema_of<SpawnSwitchedOff>());
    const Asleep value{5};
    const SpawnSwitchedOff says{ComponentId("asleep")};
    for (const std::uint32_t entity : {on, off})
        writer.add_component(*asleep, entity, std::as_bytes(std::span(&value, 1)));
    writer.add_component(*switched, off, std::as_bytes(std::span(&says, 1)));
    const Result<std::vector<std::byte>> bytes = writer.write();
    ASSERT_TRUE(bytes) << bytes.message();
    database.component<Asleep>();
    const Result<Spawned> spawned = spawn_blob(*bytes);
    ASSERT_TRUE(spawned) << spawned.message();
    EXPECT_TRUE(database.has<Asleep>(spawned->entity(on)));
    EXPECT_FALSE(database.has<Asleep>(spawned->entity(off)));
}

TEST_F(ZoneBlobs, opaque_fields_are_refused_by_name) {
    ASSERT_TRUE(database.insert(make(1)[0], 3, Title{}));
    const Result<ZoneBlob> saved = save_zone(database, 3);
    ASSERT_FALSE(saved.ok());
    EXPECT_EQ(saved.message(), "the field \"title.text\" is an opaque C++ object, which a blob cannot hold");
    EXPECT_TRUE(save_zone(database, 2)) << "no row of that kind is in it";
}

TEST_F(ZoneBlobs, texts_and_arrays_go_along_when_their_owners_are_given) {
    StringTable texts;
    const StringId hello = *texts.intern("hello");
    BlobWriter writer;
    writer.set_name("routes");
    const Vec3 points[] = {{1, 2, 3}, {4, 5, 6}};
    Route route;
    const BlobArrayBase array = writer.add_array(FieldType::kVec3, std::as_bytes(std::span(points)));
    static_cast<BlobArrayBase&>(route.points) = array;
    const std::uint32_t owner = writer.add_entity({});
    writer.add_component(*writer.add_component_type(schema_of<Route>()), owner, std::as_bytes(std::span(&route, 1)));
    ResourceLibrary library;
    const Result<const Blob*> routes = library.load(*writer.write());
    ASSERT_TRUE(routes) << routes.message();
    database.component<Route>();
    Store* stores[] = {&database};
    const Result<Spawned> spawned = spawn({shoal_test::Stores(entities, stores)}, **routes);
    ASSERT_TRUE(spawned) << spawned.message();
    ASSERT_TRUE(database.add(spawned->entity(0), Friends{{}, hello}));

    EXPECT_EQ(save_zone(database, 0).message(),
              "the read-only arrays of \"route.points\" cannot be saved: no library "
              "is given that has their resource");
    const Result<ZoneBlob> saved = save_zone(database, 0, {.name = "zone", .texts = &texts, .library = &library});
    ASSERT_TRUE(saved) << saved.message();
    database.clear_zone(0);
    const Result<const Blob*> zone = library.load(saved->bytes);
    ASSERT_TRUE(zone) << zone.message();
    EXPECT_EQ((*zone)->text(hello), "hello");
    const Result<Spawned> back = spawn({shoal_test::Stores(entities, stores)}, **zone);
    ASSERT_TRUE(back) << back.message();
    const BlobArray<Vec3> found = database.get<&Route::points>(database.find(back->entity(0)));
    const std::span<const Vec3> values = library.view(found);
    ASSERT_EQ(values.size(), 2u);
    EXPECT_EQ(values[1], points[1]);
    EXPECT_EQ(found.resource, ResourceId("zone"));
}

TEST_F(ZoneBlobs, an_empty_zone_is_an_empty_blob) {
    const Result<ZoneBlob> saved = save_zone(database, 7);
    ASSERT_TRUE(saved) << saved.message();
    const Result<Spawned> spawned = spawn_blob(saved->bytes);
    ASSERT_TRUE(spawned) << spawned.message();
    EXPECT_TRUE(spawned->entities().empty());
}

}  // namespace
}  // namespace shoal_test
