// Zones that are unloaded to files: their rows come back as they were, by hand, by queries and within a budget.

#include "shoal/react/observers.h"
#include "shoal/save/frames.h"
#include "shoal/save/save.h"
#include "shoal/save/zone_streaming.h"
#include "shoal/world/copy.h"

#include "shoal/base/detail/folder.h"
#include "shoal/base/file.h"
#include "shoal/base/log.h"
#include "shoal/components/ownership.h"
#include "shoal/entity/entity_text.h"
#include "shoal/query/query.h"
#include "shoal/reload/reloader.h"
#include "shoal/resource/blob_writer.h"
#include "shoal/save/state_hash.h"
#include "shoal/world/entity_blob.h"

#include "support/testing.h"
#include "support/whole_world.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace zone_files_test {

using namespace shoal;
using namespace shoal_test;
namespace fs = std::filesystem;

struct Napping {
    float since = 0;
};
SHOAL_COMPONENT((Napping, enableable), since)

struct Barnacle {
    std::uint32_t number = 0;
};
SHOAL_COMPONENT(Barnacle, number)

struct Parasite {
    Kind kind = Kind::kPlant;
    BlobArray<float> bites;
};
SHOAL_COMPONENT((Parasite, many), kind, bites)

struct ZoneFilesTest : testing::Test {
    ZoneFilesTest() {
        set_log_hook([](void* self, LogLevel,
                        std::string_view text) { static_cast<ZoneFilesTest*>(self)->logged.emplace_back(text); },
                     this);
        fs::remove_all(folder);
        sea.component<Spot>(), sea.component<Hungry>(), sea.component<Egg>(), sea.component<Plankton>();
    }
    ~ZoneFilesTest() override {
        set_log_hook(nullptr, nullptr);
        fs::remove_all(folder);
    }

    void stream(const ZoneFileOptions& options = {}) {
        const Status status = zones.start(folder, options);
        ASSERT_TRUE(status.ok()) << status.message();
    }
    /// An entity with something of all kinds, or not.
    Entity add(Zone zone, Random& random) {
        const Entity made = *entities.create();
        EXPECT_TRUE(sea.insert(made, zone, Spot{{random.unit(), 1, 2}}).ok());
        const auto need = [](bool is_done) { EXPECT_TRUE(is_done); };
        if (random.below(2) == 0) need(sea.add(made, Hungry{random.unit()}).ok());
        if (random.below(3) == 0) need(sea.add(made, Disabled{Hungry{random.unit()}}).ok());
        for (std::uint32_t i = random.below(4); i > 0; --i)
            need(sea.add(made, Egg{std::uint16_t(random.below(1000))}).ok());
        if (random.below(2) == 0)
            need(sea.add(made, Plankton{random.next(), Kind(random.below(2)), random.below(2) == 0}).ok());
        return made;
    }
    std::vector<Entity> fill(Zone zone, int count) {
        std::vector<Entity> all;
        for (int i = 0; i < count; ++i) all.push_back(add(zone, random));
        return all;
    }
    /// Loops over some zones, and settles.
    std::uint32_t visit(const ZoneSet& zones) {
        std::uint32_t num_seen = 0;
        world.query<Read<&Spot::position>>().in(zones).for_each([&](Vec3) { ++num_seen; });
        world.step(0.01f);
        return num_seen;
    }
    /// The file of a zone, or where it would be if the folder had none.
    std::string file_of(Zone zone) const {
        const std::string begin = "zone_" + std::to_string(zone) + "_";
        const Result<std::vector<std::string>> names = list_folder(folder);
        for (std::size_t i = 0; names && i < names->size(); ++i)
            if ((*names)[i].starts_with(begin)) return folder + "/" + (*names)[i];
        return folder + "/" + begin + "0.rows";
    }
    void expect_whole() {
        const Status status = sea.validate();
        EXPECT_TRUE(status.ok()) << status.message();
    }

    const LeakCheck leaks;  // goes last
    const std::string folder = (fs::temp_directory_path() / ("shoal_zone_files_" + std::to_string(getpid()))).string();
    Random random{seed()};
    EntityManager entities;
    World world{entities};
    ZoneStreaming zones{world};
    Database& sea = world.database();
    std::vector<std::string> logged;
};

TEST_F(ZoneFilesTest, rows_of_random_zones_come_back_to_those_who_still_live_as_they_were) {
    SCOPED_TRACE(seed_text());
    stream();
    constexpr std::uint32_t kNumZones = 6;
    struct Known {
        Zone zone;
        std::string text;
    };
    std::map<Entity, Known> model;
    ZoneSet unloaded;
    for (int i = 0; i < 400; ++i) {
        const Zone zone = random.below(kNumZones);
        const std::uint32_t kind = random.below(8);
        if (kind < 3 && !unloaded.contains(zone)) {
            const Entity made = add(zone, random);
            model[made] = {zone, text_of(world, made)};
        } else if (kind == 3) {
            const Status status = zones.unload(zone);
            ASSERT_TRUE(status.ok()) << status.message();
            for (const auto& [entity, known] : model)
                if (known.zone == zone) unloaded.insert(zone);
        } else if (kind == 4) {
            const Status status = zones.load(zone);
            ASSERT_TRUE(status.ok()) << status.message();
            unloaded.erase(zone);
        } else if (kind == 5) {
            visit({zone});
            unloaded.erase(zone);
        } else if (!model.empty()) {
            auto one = std::next(model.begin(), random.below(std::uint32_t(model.size())));
            if (kind == 6) {
                entities.destroy(one->first);
                world.step(0.01f);
                model.erase(one);
            } else if (!unloaded.contains(one->second.zone)) {
                ASSERT_TRUE(sea.add(one->first, Egg{std::uint16_t(random.below(100))}).ok());
                ASSERT_TRUE(sea.move(one->first, one->second.zone).ok());
                one->second.text = text_of(world, one->first);
            }
        }
        ASSERT_EQ(zones.unloaded(), unloaded) << i;
        std::map<Zone, std::uint64_t> num_rows;
        for (const auto& [entity, known] : model) {
            const bool is_there = !unloaded.contains(known.zone);
            ASSERT_TRUE(entities.alive(entity));
            ASSERT_EQ(sea.has_row(entity), is_there) << i;
            ASSERT_EQ(is_there ? text_of(world, entity) : known.text, known.text) << i;
            ASSERT_EQ(world.services().unloaded_zone_of(entity), is_there ? kNoZone : known.zone) << i;
            num_rows[known.zone] += is_there;
        }
        for (Zone each = 0; each < kNumZones; ++each) ASSERT_EQ(sea.num_rows(each), num_rows[each]) << i;
    }
    expect_whole();
    ASSERT_TRUE(zones.stop().ok());
    for (const auto& [entity, known] : model) EXPECT_EQ(text_of(world, entity), known.text);
    expect_whole();
    EXPECT_EQ(list_folder(folder)->size(), 1u) << "only the lock is left";
    EXPECT_EQ(logged, std::vector<std::string>());
}

TEST_F(ZoneFilesTest, a_query_over_a_zone_brings_it_back_at_the_end_of_its_frame) {
    stream();
    fill(2, 50), fill(3, 20);
    ASSERT_TRUE(zones.unload(2).ok());
    const ZoneFileStatistics away = zones.statistics();
    EXPECT_EQ(away.num_unloaded, 1u);
    EXPECT_EQ(away.num_rows, 50u);
    EXPECT_EQ(away.file_bytes, fs::file_size(file_of(2)));
    std::uint32_t num_seen = 0;
    world.query<Read<&Spot::position>>().for_each([&](Vec3) { ++num_seen; });
    world.step(0.01f);
    EXPECT_EQ(num_seen, 20u) << "a query without zones takes what is there";
    EXPECT_EQ(zones.unloaded(), ZoneSet{2});
    EXPECT_EQ(visit({2, 3}), 20u);
    EXPECT_EQ(zones.unloaded(), ZoneSet());
    EXPECT_EQ(visit({2}), 50u);
    EXPECT_FALSE(fs::exists(file_of(2)));
    EXPECT_EQ(zones.statistics().num_loads, 1u);
    expect_whole();
}

TEST_F(ZoneFilesTest, a_pass_over_zones_brings_them_back_too_on_several_workers) {
    ThreadedExecutor workers(3);
    EntityManager ids;
    World busy(ids, {.executor = &workers});
    ZoneStreaming busy_zones(busy);
    ASSERT_TRUE(busy_zones.start(folder).ok());
    for (Zone zone = 0; zone < 8; ++zone)
        for (int i = 0; i < 30; ++i) ASSERT_TRUE(busy.database().insert(*ids.create(), zone, Spot{}).ok());
    for (Zone zone = 0; zone < 8; ++zone) ASSERT_TRUE(busy_zones.unload(zone).ok());
    std::atomic<std::uint32_t> num_seen{0};
    for (Zone zone = 0; zone < 8; ++zone)
        busy.schedule().add("visit " + std::to_string(zone), busy.query<Read<&Spot::position>>().in({zone}),
                            [&](Vec3) { ++num_seen; });
    busy.step(0.01f);
    EXPECT_EQ(num_seen, 0u);
    EXPECT_EQ(busy_zones.unloaded(), ZoneSet());
    busy.step(0.01f);
    EXPECT_EQ(num_seen, 8u * 30);
}

TEST_F(ZoneFilesTest, a_budget_unloads_what_was_not_visited_the_longest_and_keeps_what_is_named) {
    for (Zone zone = 1; zone < 6; ++zone) fill(zone, 100);
    stream({.max_rows = 300, .max_bytes = 0, .kept = {1}});  // exactly three zones
    visit({5});
    EXPECT_EQ(zones.unloaded(), (ZoneSet{2, 3}));
    EXPECT_EQ(sea.num_rows(), 300u);
    visit({4});
    visit({2});  // 400 rows for a moment; zone 5 was visited before zone 4
    EXPECT_EQ(zones.unloaded(), (ZoneSet{3, 5}));
    ASSERT_TRUE(zones.load(3).ok());
    world.step(0.01f);
    EXPECT_EQ(zones.unloaded(), (ZoneSet{4, 5})) << "a zone that was loaded by hand counts as visited then";
    visit({2, 3, 4, 5});
    EXPECT_EQ(zones.unloaded(), ZoneSet()) << "what is visited stays, also beyond the budget";
    const auto bytes_of = [&](const ZoneSet& zones) {
        std::uint64_t bytes = 0;
        for (const DatabaseTable* table : sea.all_tables())
            if (table != nullptr && zones.contains(table->zone())) bytes += table->memory_use().used_bytes;
        return bytes;
    };
    stream({.max_rows = 0, .max_bytes = bytes_of({3, 4, 5}), .kept = {}});
    world.step(0.01f);
    EXPECT_EQ(zones.unloaded(), (ZoneSet{1, 2})) << "and no more than it takes";
    stream({.max_rows = 0, .max_bytes = 1, .kept = {}});
    world.step(0.01f);
    EXPECT_EQ(zones.unloaded(), (ZoneSet{1, 2, 3, 4, 5}));
    stream();
    world.step(0.01f);
    ASSERT_TRUE(zones.load_all().ok());
    EXPECT_EQ(sea.num_rows(), 500u);
    expect_whole();
}

TEST_F(ZoneFilesTest, a_file_that_is_missing_or_damaged_is_an_error_and_the_zone_can_still_be_loaded_later) {
    stream();
    const std::vector<Entity> all = fill(7, 40);
    const std::string before = text_of(world, all[9]);
    ASSERT_TRUE(zones.unload(7).ok());
    const std::string path = file_of(7), whole = *read_file(path);
    for (const std::size_t at : {std::size_t(3), whole.size() / 2, whole.size() - 1}) {
        std::string bad = whole;
        bad[at] = char(bad[at] ^ 1);
        ASSERT_TRUE(write_file(path, bad).ok());
        const Status status = zones.load(7);
        ASSERT_FALSE(status.ok());
        EXPECT_NE(std::string(status.message()).find("cannot load zone 7: \"" + path + "\" is not what was written"),
                  std::string::npos)
            << status.message();
        EXPECT_EQ(sea.num_rows(), 0u);
    }
    ASSERT_TRUE(write_file(path, whole.substr(0, whole.size() / 2)).ok());
    EXPECT_FALSE(zones.load(7).ok());
    fs::remove(path);
    EXPECT_FALSE(zones.load(7).ok());
    EXPECT_FALSE(zones.stop().ok()) << "what it would lose is kept";
    visit({7}), visit({7});
    EXPECT_EQ(logged.size(), 1u) << "a query that visits it each frame says so once";
    EXPECT_EQ(zones.unloaded(), ZoneSet{7});
    ASSERT_TRUE(write_file(path, whole).ok());
    ASSERT_TRUE(zones.load(7).ok());
    EXPECT_EQ(text_of(world, all[9]), before);
    expect_whole();
}

TEST_F(ZoneFilesTest, a_disk_that_is_full_leaves_the_zone_in_memory) {
    stream();
    const std::vector<Entity> all = fill(7, 40);
    fs::remove_all(folder);
    const Status status = zones.unload(7);
    ASSERT_FALSE(status.ok());
    EXPECT_NE(std::string(status.message()).find("cannot unload zone 7: cannot make \"" + folder + "/zone_7_"),
              std::string::npos)
        << status.message();
    EXPECT_EQ(sea.num_rows(7), 40u);
    EXPECT_EQ(zones.unloaded(), ZoneSet());
}

TEST_F(ZoneFilesTest, a_zone_with_a_value_that_could_not_come_back_stays_in_memory) {
    stream();
    const std::vector<Entity> all = fill(7, 40);
    static_cast<void>(sea.remove<Plankton>(all[3]));
    ASSERT_TRUE(sea.add(all[3], Plankton{1, Kind(200), false}).ok());
    const Status status = zones.unload(7);
    EXPECT_NE(std::string(status.message()).find("holds a number that its enum does not name"), std::string::npos)
        << status.message();
    EXPECT_EQ(sea.num_rows(7), 40u);
    sea.set<&Plankton::kind>(sea.find(all[3]), Kind::kAnimal);
    ASSERT_TRUE(zones.unload(7).ok());
    const Entity late = *entities.create();
    ASSERT_TRUE(sea.insert(late, 7, Plankton{1, Kind(200), false}).ok());
    const std::uint64_t hash = state_hash(world), num_loads = zones.statistics().num_loads;
    EXPECT_FALSE(zones.unload(7).ok());
    EXPECT_EQ(sea.num_rows(7), 1u) << "the others are still in their file";
    EXPECT_EQ(zones.unloaded(), ZoneSet{7});
    EXPECT_EQ(state_hash(world), hash);
    EXPECT_EQ(zones.statistics().num_loads, num_loads);
    sea.set<&Plankton::kind>(sea.find(late), Kind::kAnimal);
    ASSERT_TRUE(zones.unload(7).ok());
    EXPECT_EQ(sea.num_rows(7), 0u);
    ASSERT_TRUE(zones.load(7).ok());
    EXPECT_EQ(sea.num_rows(7), 41u);
}

TEST_F(ZoneFilesTest, further_values_that_could_not_come_back_keep_only_their_own_zone_in_memory) {
    stream();
    sea.component<Parasite>();
    Parasite refers;
    BlobArrayBase array;
    array.resource = ResourceId("bites"), array.count = 3;
    std::memcpy(static_cast<void*>(&refers.bites), &array, sizeof array);
    const Parasite further[] = {{}, {.kind = Kind(200), .bites = {}}, refers};
    std::vector<Entity> all(3);
    ASSERT_TRUE(entities.create(all));
    for (std::size_t i = 0; i < 3; ++i) {
        ASSERT_TRUE(sea.insert(all[i], Zone(1 + i), Spot{}).ok());
        ASSERT_TRUE(sea.add(all[i], further[i]).ok() && sea.add(all[i], Parasite{}).ok());
        ASSERT_TRUE(sea.add(all[i], further[i]).ok() && sea.add(all[i], Parasite{}).ok());
    }
    Status status = zones.unload(1);
    EXPECT_TRUE(status.ok()) << status.message();
    status = zones.unload(2);
    EXPECT_NE(
        std::string(status.message())
            .find("the field \"kind\" of " + entity_text(all[1]) + " in \"parasite\" holds a number that its enum"),
        std::string::npos)
        << status.message();
    status = zones.unload(3);
    EXPECT_NE(std::string(status.message()).find("refer to read-only arrays of a resource"), std::string::npos)
        << status.message();
    ASSERT_TRUE(zones.load(1).ok());
    EXPECT_EQ(sea.num_rows(), 3u);
    expect_whole();
}

TEST_F(ZoneFilesTest, what_an_entity_was_given_meanwhile_is_added_to_the_row_that_comes_back) {
    stream();
    std::vector<Entity> all(3);
    ASSERT_TRUE(entities.create(all));
    for (std::size_t i = 0; i < 3; ++i) ASSERT_TRUE(sea.insert(all[i], 1, Spot{{float(i), 1, 2}}).ok());
    ASSERT_TRUE(sea.add(all[1], Disabled{Hungry{4}}).ok());
    ASSERT_TRUE(sea.add(all[1], Egg{1}).ok() && sea.add(all[1], Egg{2}).ok());
    ASSERT_TRUE(zones.unload(1).ok());
    world.commands().add(all[1], Plankton{7, Kind(1), true});
    for (std::uint16_t count = 3; count < 6; ++count) world.commands().add(all[1], Egg{count});
    world.step(0.01f);
    ASSERT_EQ(sea.num_rows(0), 1u);
    const Status status = zones.load(1);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(sea.num_rows(0), 0u);
    EXPECT_EQ(sea.num_rows(1), 3u);
    const std::string text = text_of(world, all[1]);
    std::vector<Entity> fresh(1);
    ASSERT_TRUE(entities.create(fresh));
    ASSERT_TRUE(sea.insert(fresh[0], 1, Spot{{1, 1, 2}}).ok());
    ASSERT_TRUE(sea.add(fresh[0], Disabled{Hungry{4}}).ok());
    for (std::uint16_t count = 1; count < 6; ++count) ASSERT_TRUE(sea.add(fresh[0], Egg{count}).ok());
    ASSERT_TRUE(sea.add(fresh[0], Plankton{7, Kind(1), true}).ok());
    EXPECT_EQ(text, text_of(world, fresh[0]));
    expect_whole();
}

TEST_F(ZoneFilesTest, what_is_disabled_comes_back_so_beside_what_was_given_meanwhile) {
    EntityManager ids;
    World other(ids);
    ZoneStreaming other_zones(other);
    Database& database = other.database();
    database.component<Napping>(), database.component<Hungry>();  // their places in a row that has both
    const Entity one = *ids.create();
    ASSERT_TRUE(other_zones.start(folder).ok());
    ASSERT_TRUE(database.insert(one, 1, Disabled{Hungry{4}}).ok());
    ASSERT_TRUE(other_zones.unload(1).ok());
    ASSERT_TRUE(database.add(one, Napping{2}).ok());
    ASSERT_TRUE(other_zones.load(1).ok());
    const auto is_enabled = [&](const Schema& component) {
        return database.find_row(component.id(), one, 0).is_enabled;
    };
    EXPECT_TRUE(database.find_row(schema_of<Hungry>().id(), one, 0));
    EXPECT_FALSE(is_enabled(schema_of<Hungry>()));
    EXPECT_TRUE(is_enabled(schema_of<Napping>()));
}

TEST_F(ZoneFilesTest, who_died_gets_nothing_back_beside_what_was_given_meanwhile) {
    stream();
    const Entity one = *entities.create();
    ASSERT_TRUE(sea.insert(one, 1, Disabled{Hungry{4}}).ok());
    ASSERT_TRUE(zones.unload(1).ok());
    ASSERT_TRUE(sea.insert(one, 1, Spot{{1, 2, 3}}).ok());
    entities.destroy(one);
    ASSERT_TRUE(zones.load(1).ok());
    EXPECT_FALSE(sea.find_row(schema_of<Hungry>().id(), one, 0));
    world.settle();
    EXPECT_FALSE(sea.has_row(one));
    expect_whole();
}

TEST_F(ZoneFilesTest, who_died_is_known_though_the_list_of_deaths_has_dropped_them) {
    EntityManager ids({.max_death_list = 4});
    World other(ids);
    ZoneStreaming other_zones(other);
    ASSERT_TRUE(other_zones.start(folder).ok());
    std::vector<Entity> all(20);
    ASSERT_TRUE(ids.create(all));
    for (const Entity one : all) ASSERT_TRUE(other.database().insert(one, 1, Spot{}).ok());
    ASSERT_TRUE(other_zones.unload(1).ok());
    ids.destroy(std::span(all).first(10));
    other.settle();
    for (std::size_t i = 0; i < all.size(); ++i)
        EXPECT_EQ(other.services().unloaded_zone_of(all[i]), i < 10 ? kNoZone : 1u) << i;
    ASSERT_TRUE(other_zones.load(1).ok());
    EXPECT_EQ(other.database().num_rows(1), 10u);
}

TEST_F(ZoneFilesTest, a_database_that_leaves_its_world_has_all_its_rows_again) {
    PagePool pool;
    EntityManager ids;
    World other(ids);
    Database rows(ids, pool);
    ASSERT_TRUE(other.attach(rows).ok());
    ZoneStreaming other_zones(other);
    ASSERT_TRUE(other_zones.start(folder).ok());
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(rows.insert(*ids.create(), 1, Spot{{float(i), 1, 2}}).ok());
    ASSERT_TRUE(other_zones.unload(1).ok());
    other.detach(rows);
    EXPECT_EQ(rows.num_rows(1), 10u);
    EXPECT_EQ(other_zones.unloaded(), ZoneSet());
    EXPECT_EQ(list_folder(folder)->size(), 1u) << "only the lock is left";
}

TEST_F(ZoneFilesTest, what_an_entity_was_given_again_meanwhile_stays_and_the_others_of_its_zone_come_back) {
    stream();
    std::vector<Entity> all(3);
    ASSERT_TRUE(entities.create(all));
    for (const Entity entity : all) {
        ASSERT_TRUE(sea.insert(entity, 1, Spot{{1, 1, 1}}).ok());
        ASSERT_TRUE(sea.add(entity, Plankton{7, Kind(1), true}).ok() && sea.add(entity, Disabled{Hungry{4}}).ok());
        for (const int weight : {1, 2, 3}) ASSERT_TRUE(sea.add(entity, Egg{std::uint16_t(weight)}).ok());
    }
    const std::string before = text_of(world, all[0]);
    ASSERT_TRUE(zones.unload(1).ok());
    world.commands().add(all[2], Spot{{9, 9, 9}}, Hungry{8});
    for (const int weight : {4, 5}) world.commands().add(all[2], Egg{std::uint16_t(weight)});
    world.settle();
    const Status status = zones.load(1);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(sea.num_rows(1), 3u);
    EXPECT_EQ(text_of(world, all[0]), before);
    // As if the zone had been there.
    const Entity fresh = *entities.create();
    ASSERT_TRUE(sea.insert(fresh, 1, Spot{{9, 9, 9}}).ok());
    ASSERT_TRUE(sea.add(fresh, Plankton{7, Kind(1), true}).ok() && sea.add(fresh, Hungry{8}).ok());
    for (const int weight : {1, 2, 3, 4, 5}) ASSERT_TRUE(sea.add(fresh, Egg{std::uint16_t(weight)}).ok());
    EXPECT_EQ(text_of(world, all[2]), text_of(world, fresh));
    expect_whole();
}

/// A world whose ids come back soon, and an entity of it whose row lies in the file of zone 1.
struct Recycling {
    explicit Recycling(const std::string& folder, bool streams = true) {
        world.database().component<Spot>(), world.database().component<Egg>();
        frames.keep(4);
        if (streams) {
            EXPECT_TRUE(zones.start(folder).ok());
        }
    }
    void unload() {
        entities.destroy(*entities.create());
        one = *entities.create();
        EXPECT_TRUE(world.database().insert(one, 1, Spot{{1, 2, 3}}).ok());
        for (const int weight : {1, 2}) EXPECT_TRUE(world.database().add(one, Egg{std::uint16_t(weight)}).ok());
        world.step(0);
        EXPECT_TRUE(zones.unload(1).ok());
        world.step(0);
    }
    /// Destroys the entity, and makes others until one has its id.
    void replace() {
        entities.destroy(one);
        world.settle();
        for (Entity next = *entities.create(); next != one; next = *entities.create()) entities.destroy(next);
    }
    EntityManager entities{{.minimum_free_ids = 1}};
    World world{entities};
    ZoneStreaming zones{world};
    Frames frames{world, 0};
    Entity one;
};

// req: H12
TEST_F(ZoneFilesTest, an_entity_with_the_id_of_one_that_died_gets_nothing_of_the_row_in_the_file) {
    if (sizeof(Generation) > 1) GTEST_SKIP() << "wide ids come back after 2^32 lives";
    Recycling pond(folder), whole(folder, false);
    Database& rows = pond.world.database();
    pond.unload();
    const std::uint64_t frame = pond.world.frame();
    pond.replace();
    ASSERT_TRUE(pond.entities.alive(pond.one));
    ASSERT_TRUE(pond.frames.rewind(frame).ok());
    ASSERT_TRUE(pond.zones.load(1).ok());
    EXPECT_TRUE(rows.has_row(pond.one)) << "where it lives, it has its row";
    EXPECT_EQ(rows.num_values(pond.one, rows.component<Egg>()), 2u);

    ASSERT_TRUE(pond.zones.unload(1).ok());
    pond.replace();
    Array<std::byte> bytes;
    ASSERT_TRUE(save(pond.world, bytes).ok());
    ASSERT_TRUE(pond.zones.load(1).ok());
    EXPECT_FALSE(rows.has_row(pond.one)) << "brought back";
    ASSERT_TRUE(load(whole.world, bytes).ok());
    EXPECT_TRUE(whole.entities.alive(pond.one));
    EXPECT_FALSE(whole.world.database().has_row(pond.one)) << "loaded where zones are not streamed";
    ASSERT_TRUE(load(pond.world, bytes).ok());
    ASSERT_TRUE(pond.zones.load(1).ok());
    EXPECT_FALSE(rows.has_row(pond.one)) << "saved, loaded, and brought back";
    EXPECT_TRUE(rows.validate().ok());
}

TEST_F(ZoneFilesTest, a_zone_whose_rows_fit_only_half_way_changes_nothing_and_comes_back_later) {
    constexpr std::uint32_t kCapacity = 100, kCount = 40, kNumGiven = 10;
    EntityManager ids;
    World full(ids);
    ZoneStreaming full_zones(full);
    Database& database = full.database({.capacity_rows = kCapacity});
    const auto make = [&](std::uint32_t count) {
        std::vector<Entity> made(count);
        EXPECT_TRUE(ids.create(made).ok());
        return made;
    };
    const std::vector<Spot> spots(kCapacity, Spot{{1, 2, 3}});
    const std::vector<Barnacle> barnacles(kCapacity, Barnacle{4});
    const auto first = [](const auto& values, std::size_t count) { return std::span(values).first(count); };
    const std::vector<Entity> plain = make(kCount), rich = make(kCount), others = make(kCapacity - kNumGiven / 2);
    ASSERT_TRUE(database.insert<Spot>(plain, 7, first(spots, kCount)).ok());
    ASSERT_TRUE(database.insert<Spot>(rich, 7, first(spots, kCount)).ok());
    ASSERT_TRUE(database.add(rich, Plankton{3, Kind::kAnimal, true}, Disabled{Hungry{2}}).ok());
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(database.add(rich, Egg{std::uint16_t(i)}).ok());
    ASSERT_TRUE(full_zones.start(folder).ok());
    ASSERT_TRUE(full_zones.unload(7).ok());
    // Some have a row elsewhere now. In the table to which half of these will go there is room for half of that half.
    ASSERT_TRUE(database.insert<Barnacle>(first(rich, kNumGiven), 5, first(barnacles, kNumGiven)).ok());
    ASSERT_TRUE(database.insert<Barnacle>(first(plain, kNumGiven), 5, first(barnacles, kNumGiven)).ok());
    ASSERT_TRUE((
        database.insert<Spot, Barnacle>(others, 7, first(spots, others.size()), first(barnacles, others.size())).ok()));
    const std::uint64_t before = state_hash(full);
    for (int i = 0; i < 2; ++i) {
        const Status status = full_zones.load(7);
        EXPECT_TRUE(status.message().starts_with("cannot load zone 7: zone 7 holds 95 entities")) << status.message();
        EXPECT_EQ(state_hash(full), before);
        EXPECT_TRUE(database.validate().ok());
    }
    ids.destroy(others);
    full.settle();
    const Status status = full_zones.load(7);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(database.num_rows(7), 2u * kCount);
    EXPECT_EQ(database.num_rows(5), 0u);
    for (std::uint32_t i = 0; i < kCount; ++i) {
        for (const Entity one : {plain[i], rich[i]}) {
            EXPECT_EQ(database.get<&Spot::position>(database.find(one)), (Vec3{1, 2, 3}));
            EXPECT_EQ(database.has<Barnacle>(one), i < kNumGiven);
        }
        EXPECT_EQ(database.num_values(rich[i], database.component<Egg>()), 3u);
        EXPECT_FALSE(database.find_row(schema_of<Hungry>().id(), rich[i], 0).is_enabled);
    }
    EXPECT_TRUE(database.validate().ok());
}

TEST_F(ZoneFilesTest, an_entity_is_saved_when_its_zone_is_loaded) {
    stream();
    const std::vector<Entity> here = fill(1, 1), there = fill(2, 1);
    ASSERT_TRUE(world.ownership().own(here[0], there[0]).ok());
    ASSERT_TRUE(zones.unload(2).ok());
    const Result<EntityBlob> refused = save_entities(world, std::array{here[0], there[0]});
    ASSERT_FALSE(refused.ok());
    EXPECT_NE(std::string(refused.message())
                  .find("cannot be saved while its zone 2 is unloaded; call ZoneStreaming::load() before"),
              std::string::npos)
        << refused.message();
    EXPECT_EQ(entities_in(world, {1}), here) << "who is below lies in another zone, as it does when that is loaded";
    EXPECT_TRUE(save_zones(world, {1}).ok());
    ASSERT_TRUE(zones.load(2).ok());
    EXPECT_EQ(entities_in(world, {1}), here);
    EXPECT_TRUE(save_entities(world, std::array{here[0], there[0]}).ok());
}

TEST_F(ZoneFilesTest, of_several_zones_the_first_that_cannot_be_saved_or_loaded_is_named) {
    stream();
    for (const Zone zone : {1u, 2u, 3u}) fill(zone, 2);
    ASSERT_TRUE(zones.unload(2).ok() && zones.unload(3).ok());
    EXPECT_EQ(save_zones(world, {1, 2, 3}).message().substr(0, 27), "zone 2 cannot be saved whil");
    const std::string paths[] = {file_of(2), file_of(3)};
    for (const std::string& path : paths) fs::rename(path, path + ".away");
    EXPECT_EQ(zones.load_all().message().substr(0, 20), "cannot load zone 2: ");
    for (const std::string& path : paths) fs::rename(path + ".away", path);
    ASSERT_TRUE(zones.load_all().ok());
    const std::vector<Entity> all = entities_in(world, {2});
    ASSERT_EQ(all.size(), 2u);
    entities.destroy(all[0]);
    EXPECT_EQ(entities_in(world, {2}), std::vector<Entity>{all[1]})
        << "the dead are in none, though they have rows still";
}

TEST_F(ZoneFilesTest, a_budget_leaves_the_zone_of_entities_that_were_given_none) {
    const Entity player = *entities.create();
    ASSERT_TRUE(sea.add(player, Spot{}).ok());
    fill(1, 100);
    stream({.max_rows = 50, .max_bytes = 0, .kept = {}});
    for (int i = 0; i < 3; ++i) world.step(0.01f);
    EXPECT_TRUE(sea.has<Spot>(player));
    EXPECT_EQ(zones.unloaded(), ZoneSet{1});
    stream({.max_rows = 0, .max_bytes = 1, .kept = {}});
    world.step(0.01f);
    EXPECT_TRUE(sea.has<Spot>(player));
    EntityManager others;
    World other(others);
    Database& of_other = other.database({.first_zone = 9});
    ASSERT_TRUE(of_other.create(Spot{}).ok() && of_other.create(0, Spot{}).ok());
    ZoneStreaming of_zones(other);
    ASSERT_TRUE(of_zones.start(folder + "/other", {.max_rows = 0, .max_bytes = 1, .kept = {}}).ok());
    other.step(0.01f);
    EXPECT_EQ(of_zones.unloaded(), ZoneSet{0}) << "it is not the first of this database";
    EXPECT_EQ(of_other.num_rows(9), 1u);
    fs::remove_all(folder + "/other");
}

TEST_F(ZoneFilesTest, a_zone_that_could_not_be_unloaded_is_tried_again) {
    fill(1, 100);
    stream({.max_rows = 50, .max_bytes = 0, .kept = {}});
    fs::remove_all(folder);
    for (int i = 0; i < 200; ++i) world.step(0.01f);
    EXPECT_EQ(logged.size(), 1u) << "it is said once";
    fs::create_directory(folder);
    stream({.max_rows = 50, .max_bytes = 0, .kept = {}});
    world.step(0.01f);
    EXPECT_EQ(zones.unloaded(), ZoneSet{1}) << "other options are a reason to try at once";
    ASSERT_TRUE(zones.load(1).ok());
    fs::remove_all(folder);
    for (int i = 0; i < 65; ++i) world.step(0.01f);
    fs::create_directory(folder);
    for (int i = 0; i < 50; ++i) world.step(0.01f);
    EXPECT_EQ(zones.unloaded(), ZoneSet()) << "not in each settle, nor after it was refused a second time";
    for (int i = 0; i < 50; ++i) world.step(0.01f);
    EXPECT_EQ(zones.unloaded(), ZoneSet{1});
    ASSERT_TRUE(zones.load(1).ok());
    fs::remove_all(folder);
    for (int i = 0; i < 3; ++i) world.step(0.01f);
    fs::create_directory(folder);
    ASSERT_TRUE(zones.unload(1).ok());
    ASSERT_TRUE(zones.load(1).ok());
    world.step(0.01f);
    EXPECT_EQ(zones.unloaded(), ZoneSet{1}) << "it could be unloaded since it was refused";
}

TEST_F(ZoneFilesTest, a_visited_zone_that_could_not_be_loaded_is_tried_again_after_a_while) {
    stream();
    fill(7, 40);
    ASSERT_TRUE(zones.unload(7).ok());
    const std::string path = file_of(7), away = folder + "/away";
    fs::rename(path, away);
    visit({7});
    fs::rename(away, path);
    for (int i = 0; i < 50; ++i) visit({7});
    EXPECT_EQ(zones.unloaded(), ZoneSet{7}) << "not in each settle";
    for (int i = 0; i < 50; ++i) visit({7});
    EXPECT_EQ(zones.unloaded(), ZoneSet());
    EXPECT_EQ(logged.size(), 1u);
    ASSERT_TRUE(zones.unload(7).ok());
    const std::string next_path = file_of(7);
    fs::rename(next_path, away);
    for (int i = 0; i < 200; ++i) visit({7});
    EXPECT_EQ(logged.size(), 2u) << "it is said once, however often it is tried";
    fs::rename(away, next_path);
    for (int i = 0; i < 30; ++i) visit({7});
    EXPECT_EQ(zones.unloaded(), ZoneSet{7}) << "it has failed 20 settles ago for the last time";
    for (int i = 0; i < 70; ++i) visit({7});
    EXPECT_EQ(zones.unloaded(), ZoneSet());
}

TEST_F(ZoneFilesTest, another_folder_that_fails_leaves_streaming_as_it_was) {
    stream();
    fill(3, 10);
    ASSERT_TRUE(zones.unload(3).ok());
    EXPECT_FALSE(zones.start("/proc/nothing/here").ok());
    EXPECT_EQ(zones.unloaded(), ZoneSet{3});
    visit({3});
    EXPECT_EQ(zones.unloaded(), ZoneSet()) << "queries still say what they visit";
    ASSERT_TRUE(zones.unload(3).ok());
    const std::string path = file_of(3), away = folder + "/away";
    fs::rename(path, away);
    EXPECT_FALSE(zones.start(folder + "_other").ok()) << "zone 3 cannot be loaded";
    fs::rename(away, path);
    visit({3});
    EXPECT_EQ(zones.unloaded(), ZoneSet());
    ASSERT_TRUE(zones.start(folder + "_other").ok());
    ASSERT_TRUE(zones.unload(3).ok());
    visit({3});
    EXPECT_EQ(zones.unloaded(), ZoneSet());
    fs::remove_all(folder + "_other");
}

TEST_F(ZoneFilesTest, a_copy_of_what_lies_in_a_file_is_refused) {
    stream();
    const std::vector<Entity> all = fill(12, 5);
    const Entity bare = *entities.create();
    ASSERT_TRUE(zones.unload(12).ok());
    for (const Entity one : all)
        EXPECT_NE(std::string(copy(world, one).message()).find("while its zone 12 is unloaded"), std::string::npos);
    EXPECT_TRUE(copy(world, bare).ok());
    ASSERT_TRUE(zones.load(12).ok());
    EXPECT_TRUE(copy(world, all[0]).ok());
}

TEST_F(ZoneFilesTest, rows_that_come_to_an_unloaded_zone_stay_beside_those_that_come_back) {
    stream();
    fill(1, 10);
    ASSERT_TRUE(zones.unload(1).ok());
    fill(1, 5);
    EXPECT_EQ(sea.num_rows(1), 5u);
    ASSERT_TRUE(zones.unload(1).ok()) << "all of it goes to the file";
    EXPECT_EQ(sea.num_rows(1), 0u);
    EXPECT_EQ(zones.statistics().num_rows, 15u);
    ASSERT_TRUE(zones.load(1).ok());
    EXPECT_EQ(sea.num_rows(1), 15u);
    expect_whole();
}

TEST_F(ZoneFilesTest, observers_are_told_that_rows_have_gone_and_come) {
    stream();
    std::uint64_t num_added = 0, num_removed = 0;
    fill(1, 10);
    world.step(0.01f);
    world.observers().on_add<Spot>([&](std::span<const Entity> all) { num_added += all.size(); });
    world.observers().on_remove<Spot>([&](std::span<const Entity> all) { num_removed += all.size(); });
    world.step(0.01f);
    const std::uint64_t known = num_added;
    ASSERT_TRUE(zones.unload(1).ok());
    world.step(0.01f);
    EXPECT_EQ(num_removed, 10u);
    ASSERT_TRUE(zones.load(1).ok());
    world.step(0.01f);
    EXPECT_EQ(num_added - known, 10u);
}

TEST_F(ZoneFilesTest, what_needs_all_rows_is_refused_while_zones_are_unloaded) {
    EXPECT_NE(std::string(zones.unload(1).message()).find("ZoneStreaming::start()"), std::string::npos);
    EntityManager ids;
    World other(ids);
    ZoneStreaming other_zones(other);
    Reloader other_reloader(other);
    ASSERT_TRUE(other_zones.start(folder).ok());
    for (const Zone zone : {1u, 2u}) {
        ASSERT_TRUE(other.database().insert(*ids.create(), zone, Spot{}).ok());
        ASSERT_TRUE(other_zones.unload(zone).ok());
    }
    BlobWriter writer;
    writer.set_name("level");
    const Blob level = *Blob::load(*writer.write());
    EXPECT_EQ(other_reloader.reload(level, level).message(),
              "the world cannot be reloaded while zones are unloaded (1, 2); call ZoneStreaming::load_all() before");
}

TEST_F(ZoneFilesTest, a_folder_belongs_to_one_world_and_is_left_empty) {
    stream();
    fill(1, 10);
    ASSERT_TRUE(zones.unload(1).ok());
    EntityManager ids;
    {
        World other(ids);
        ZoneStreaming other_zones(other);
        EXPECT_FALSE(other_zones.start(folder).ok());
        EXPECT_TRUE(fs::exists(file_of(1)));
    }
    ASSERT_TRUE(zones.stop().ok());
    ASSERT_TRUE(write_file(file_of(9), "of a program that was killed").ok());
    for (const char* name : {"/zone_notes.rows", "/zone_.rows"})
        ASSERT_TRUE(write_file(folder + name, "of the user").ok());
    {
        World other(ids);
        ZoneStreaming other_zones(other);
        ASSERT_TRUE(other_zones.start(folder).ok());
        EXPECT_FALSE(fs::exists(file_of(9)));
        ASSERT_TRUE(other.database().insert(*ids.create(), 4, Spot{}).ok());
        ASSERT_TRUE(other_zones.unload(4).ok());
        EXPECT_TRUE(fs::exists(file_of(4)));
    }
    EXPECT_FALSE(fs::exists(file_of(4)));
    for (const char* name : {"/zone_notes.rows", "/zone_.rows"}) EXPECT_TRUE(fs::exists(folder + name)) << name;
}

}  // namespace zone_files_test
