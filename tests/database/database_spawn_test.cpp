// Spawning into a database: batches per component type become rows per archetype.

#include "support/database_testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <random>
#include <vector>

namespace shoal_test {
namespace {

/// A blob of seven entities: positions for all but the last, masses for 0 to 3 and 6, bodies for 4 and 2.
class SpawnsToDatabases : public ::testing::Test, protected DatabaseFixture {
protected:
    SpawnsToDatabases() {
        database.component<Velocity>();  // a number that no batch has
        position_ = database.component<Position>();
        mass_ = database.component<Mass>();
        body_ = database.component<Body>();
        for (std::uint32_t i = 0; i < 6; ++i) positions_.push_back({{float(i), 1, 2}});
        for (const std::uint32_t owner : mass_owners_) masses_.push_back({float(owner)});
        for (const std::uint32_t owner : body_owners_) bodies_.push_back({double(owner), 4, {(owner + 1) % 7}});
        bodies_[1].target = Entity{static_cast<EntityBits>(~EntityBits(0))};
    }

    SpawnBatch batch(const Schema& schema, std::span<const std::uint32_t> owners, const void* column) {
        columns_.push_back(static_cast<const std::byte*>(column));
        return {.component = schema.id(),
                .entities = spawned_,
                .num_blob_entities = 7,
                .num_copies = std::uint32_t(spawned_.size() / 7),
                .entity_index = owners,
                .columns = {&columns_.back(), 1},
                .parents = {},
                .root_poses = {}};
    }
    void spawn(std::uint32_t num_copies, bool together) {
        spawned_ = make(std::size_t(7) * num_copies);
        if (together) database.begin_spawn();
        ASSERT_TRUE(database.spawn(batch(schema_of<Position>(), position_owners_, positions_.data())).ok());
        ASSERT_TRUE(database.spawn(batch(schema_of<Body>(), body_owners_, bodies_.data())).ok());
        ASSERT_TRUE(database.spawn(batch(schema_of<Mass>(), mass_owners_, masses_.data())).ok());
        ASSERT_TRUE(!together || database.finish_spawn().ok());
    }
    void expect_all() {
        const Status status = database.validate();
        ASSERT_TRUE(status.ok()) << status.message();
        for (std::uint32_t i = 0; i < spawned_.size(); ++i) {
            const Entity entity = spawned_[i];
            const std::uint32_t blob = i % 7;
            const bool heavy = std::find(mass_owners_.begin(), mass_owners_.end(), blob) != mass_owners_.end();
            const bool living = std::find(body_owners_.begin(), body_owners_.end(), blob) != body_owners_.end();
            ASSERT_EQ(database.has<Position>(entity), blob != 6);
            ASSERT_EQ(database.has<Mass>(entity), heavy);
            ASSERT_EQ(database.has<Body>(entity), living);
            ASSERT_FALSE(database.has<Velocity>(entity));
            const DatabaseRow row = database.find(entity);
            EXPECT_TRUE(blob == 6 || database.get<&Position::value>(row).x == float(blob));
            EXPECT_TRUE(!heavy || database.get<&Mass::value>(row) == float(blob));
            if (!living) continue;
            EXPECT_EQ(database.get<&Body::energy>(row), double(blob));
            EXPECT_EQ(database.get<&Body::target>(row), blob == 4 ? spawned_[i + 1] : kNullEntity);
        }
    }

    ComponentType position_, mass_, body_;
    std::vector<Entity> spawned_;
    std::vector<std::uint32_t> position_owners_ = {0, 1, 2, 3, 4, 5}, mass_owners_ = {0, 1, 3, 2, 6},
                               body_owners_ = {4, 2};
    std::vector<Position> positions_;
    std::vector<Mass> masses_;
    std::vector<Body> bodies_;
    std::deque<const std::byte*> columns_;
};

TEST_F(SpawnsToDatabases, entities_arrive_with_all_that_they_have) {
    spawn(3, true);
    expect_all();
    EXPECT_EQ(database.num_structural_changes(), 21u) << "no entity has moved";
    EXPECT_EQ(database.archetypes().size(), 5u) << "none but those that the blob has";
}

TEST_F(SpawnsToDatabases, batches_without_a_frame_are_added_one_by_one) {
    spawn(2, false);
    expect_all();
}

TEST_F(SpawnsToDatabases, what_is_there_already_is_refused) {
    spawn(1, true);
    const std::uint64_t changes = database.num_structural_changes();
    const Status again = database.spawn(batch(schema_of<Mass>(), mass_owners_, masses_.data()));
    ASSERT_FALSE(again.ok());
    EXPECT_EQ(again.message(), "an entity of the batch has a \"mass\" already");
    EXPECT_EQ(database.num_structural_changes(), changes);
    expect_all();
}

TEST_F(SpawnsToDatabases, entities_that_have_rows_keep_them_and_gain_the_rest) {
    spawned_ = make(14);
    for (const std::size_t i : {0, 2, 4, 9, 13})
        ASSERT_TRUE(database.insert(spawned_[i], Zone(i), Velocity{{float(i), 0, 0}}).ok());
    database.begin_spawn();
    ASSERT_TRUE(database.spawn(batch(schema_of<Position>(), position_owners_, positions_.data())).ok());
    ASSERT_TRUE(database.spawn(batch(schema_of<Body>(), body_owners_, bodies_.data())).ok());
    ASSERT_TRUE(database.spawn(batch(schema_of<Mass>(), mass_owners_, masses_.data())).ok());
    ASSERT_TRUE(database.finish_spawn().ok());
    EXPECT_EQ(database.num_structural_changes(), 5u + 14u) << "every entity has gone to its table at once";
    for (std::size_t i = 0; i < 14; ++i) {
        const bool had_row = i == 0 || i == 2 || i == 4 || i == 9 || i == 13;
        const DatabaseRow row = database.find(spawned_[i]);
        ASSERT_TRUE(row);
        EXPECT_EQ(row.table->zone(), had_row ? Zone(i) : 0u);
        ASSERT_EQ(database.has<Velocity>(spawned_[i]), had_row);
        EXPECT_TRUE(!had_row || database.get<&Velocity::value>(row).x == float(i));
        ASSERT_EQ(database.has<Position>(spawned_[i]), i % 7 != 6);
        EXPECT_TRUE(i % 7 == 6 || database.get<&Position::value>(row).x == float(i % 7));
        ASSERT_EQ(database.has<Body>(spawned_[i]), i % 7 == 4 || i % 7 == 2);
        EXPECT_TRUE(i % 7 != 4 || database.get<&Body::target>(row) == spawned_[i + 1]);
    }
    EXPECT_EQ(database.validate().message(), "");
}

// Values of an entity keep the order of the source, and come before those that it has already.
// req: B13
TEST_F(SpawnsToDatabases, an_entity_may_bring_several_values_of_a_type) {
    std::vector<std::uint32_t> owners, numbers;
    for (std::uint32_t i = 0; i < 40; ++i) owners.push_back(i * i % 7), numbers.push_back(i);
    const std::vector<float> places(40, 1);
    const std::byte* columns[4] = {};
    for (int lane = 0; lane < 3; ++lane) columns[lane] = reinterpret_cast<const std::byte*>(places.data());
    columns[3] = reinterpret_cast<const std::byte*>(numbers.data());
    database.component<Tally>();
    std::vector<std::vector<std::uint32_t>> expected(21);
    spawned_ = make(21);
    for (int round = 0; round < 3; ++round) {
        SpawnBatch tallies = batch(schema_of<Tally>(), owners, nullptr);
        tallies.columns = columns;
        database.settle({.stamp = 10 + std::uint64_t(round)});
        database.begin_spawn();
        ASSERT_TRUE(database.spawn(tallies).ok());
        const bool brings_masses = round == 1;
        ASSERT_TRUE(!brings_masses || database.spawn(batch(schema_of<Mass>(), mass_owners_, masses_.data())).ok());
        ASSERT_TRUE(database.finish_spawn().ok());
        for (std::size_t entity = 0; entity < 21; ++entity) {
            std::vector<std::uint32_t> more;
            for (std::size_t i = 0; i < owners.size(); ++i)
                if (owners[i] == entity % 7) more.push_back(numbers[i]);
            expected[entity].insert(expected[entity].begin(), more.begin(), more.end());
            std::vector<std::uint32_t> found;
            database.for_each_value<&Tally::number>(spawned_[entity], [&](std::uint32_t n) { found.push_back(n); });
            ASSERT_EQ(found, expected[entity]) << entity << " in round " << round;
            if (more.empty()) continue;
            ASSERT_EQ(database.find(spawned_[entity]).table->table().placed_stamp(0), 10u + std::uint32_t(round))
                << "also in rows that stay where they are";
        }
        ASSERT_EQ(database.validate().message(), "");
    }
    EXPECT_TRUE(database.has<Mass>(spawned_[8]));
    database.destroy(spawned_);
    EXPECT_EQ(database.validate().message(), "") << "values go with their entities";
    EXPECT_EQ(database.further_values(database.component<Tally>())->num_rows(), 0u);
}

// Some of the entities have rows, and one of the tables to which they would come is full.
TEST_F(SpawnsToDatabases, a_spawn_into_rows_for_which_there_is_no_room_changes_nothing) {
    Database small(entities, pool, {.capacity_rows = 10});
    small.archetype<Velocity, Position, Mass, Body>();
    spawned_ = make(14);
    std::vector<Entity> others(9);
    ASSERT_TRUE((small.create<Position, Mass, Body>(others, 0).ok()));
    ASSERT_TRUE(small.insert(spawned_[0], 0, Velocity{}).ok());
    const auto states = [&] {
        std::vector<std::pair<const Archetype*, std::uint32_t>> result;
        for (const Entity entity : spawned_) {
            const DatabaseRow row = small.find(entity);
            result.emplace_back(row ? &row.table->type() : nullptr, row.row);
        }
        return result;
    };
    const auto before = states();
    const std::uint64_t changes = small.num_structural_changes();
    small.begin_spawn();
    ASSERT_TRUE(small.spawn(batch(schema_of<Position>(), position_owners_, positions_.data())).ok());
    ASSERT_TRUE(small.spawn(batch(schema_of<Mass>(), mass_owners_, masses_.data())).ok());
    ASSERT_TRUE(small.spawn(batch(schema_of<Body>(), body_owners_, bodies_.data())).ok());
    const Status refused = small.finish_spawn();
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.message(), "zone 0 holds 9 entities of \"position+mass+body\" and at most 10; 2 more do not fit");
    EXPECT_EQ(states(), before);
    EXPECT_EQ(small.num_structural_changes(), changes);
    EXPECT_EQ(small.validate().message(), "");
    small.destroy(others);
    small.begin_spawn();  // there is room now
    ASSERT_TRUE(small.spawn(batch(schema_of<Body>(), body_owners_, bodies_.data())).ok());
    ASSERT_TRUE(small.finish_spawn().ok());
    for (std::size_t i = 0; i < spawned_.size(); ++i) EXPECT_EQ(small.has<Body>(spawned_[i]), i % 7 == 4 || i % 7 == 2);
    EXPECT_FALSE(small.has<Mass>(spawned_[2])) << "of what was refused";
    small.destroy(spawned_);
}

// Entities with the same components lie together, are mixed, or both in turn; batches may be in any order.
TEST_F(SpawnsToDatabases, random_blobs_give_each_entity_what_they_say_of_it) {
    std::mt19937 random(7);
    const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
    for (int round = 0; round < 60; ++round) {
        const std::uint32_t num_entities = 1 + below(600), num_copies = 1 + below(3), longest = 1 + below(100);
        std::vector<std::uint32_t> owners[2];
        std::vector<Zone> zones;
        for (std::uint32_t i = 0, kind = 0, zone = 0, left = 0; i < num_entities; ++i, --left) {
            if (left == 0) kind = below(4), zone = below(3), left = 1 + below(longest);
            for (std::uint32_t type = 0; type < 2; ++type)
                if (kind >> type & 1) owners[type].push_back(i);
            zones.push_back(zone);
        }
        if (round % 3 == 0) std::shuffle(owners[1].begin(), owners[1].end(), random);
        std::vector<Position> positions;
        std::vector<Mass> masses;
        for (const std::uint32_t owner : owners[0]) positions.push_back({{float(owner), 1, 2}});
        for (const std::uint32_t owner : owners[1]) masses.push_back({float(owner)});
        spawned_ = make(std::size_t(num_entities) * num_copies);
        if (round % 4 == 1) std::shuffle(spawned_.begin(), spawned_.end(), random);
        database.begin_spawn();
        for (const bool is_mass : {false, true}) {
            SpawnBatch one = is_mass ? batch(schema_of<Mass>(), owners[1], masses.data())
                                     : batch(schema_of<Position>(), owners[0], positions.data());
            one.num_blob_entities = num_entities;
            one.num_copies = num_copies;
            if (round % 2 == 0) one.zones = zones;
            ASSERT_TRUE(owners[is_mass].empty() || database.spawn(one).ok());
        }
        ASSERT_TRUE(database.finish_spawn().ok());
        ASSERT_EQ(database.validate().message(), "");
        std::array<std::vector<bool>, 2> has = {std::vector<bool>(num_entities), std::vector<bool>(num_entities)};
        for (int type = 0; type < 2; ++type)
            for (const std::uint32_t owner : owners[type]) has[type][owner] = true;
        for (std::uint32_t i = 0; i < spawned_.size(); ++i) {
            const std::uint32_t blob = i % num_entities;
            const DatabaseRow row = database.find(spawned_[i]);
            ASSERT_EQ(bool(row), has[0][blob] || has[1][blob]);
            ASSERT_EQ(database.has<Position>(spawned_[i]), has[0][blob]);
            ASSERT_EQ(database.has<Mass>(spawned_[i]), has[1][blob]);
            ASSERT_TRUE(!has[0][blob] || database.get<&Position::value>(row).x == float(blob));
            ASSERT_TRUE(!has[1][blob] || database.get<&Mass::value>(row) == float(blob));
            ASSERT_TRUE(!row || row.table->zone() == (round % 2 == 0 ? zones[blob] : 0));
        }
        database.destroy(spawned_);
    }
}

}  // namespace
}  // namespace shoal_test
