// Databases that are written to snapshots and read back.

#include "shoal/state/snapshot.h"
#include "support/changed_state.h"
#include "support/database_testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace shoal_test {
namespace {

struct DatabaseState : ::testing::Test, DatabaseFixture {
    DatabaseState() { register_all(database); }

    static void register_all(Database& to) {
        to.component<Position>(), to.component<Velocity>(), to.component<Mass>();
        to.component<Asleep>(), to.component<Tally>();
    }
    static Snapshot save(const Database& from) {
        Snapshot state;
        SnapshotWriter to(state);
        from.save(to);
        EXPECT_EQ(to.status().message(), "");
        return state;
    }
    static Status load(Database& to, const Snapshot& state) {
        SnapshotReader from(state);
        return to.load(from);
    }
    std::vector<Entity> make_masses(std::uint32_t count, Zone zone) {
        std::vector<Entity> made(count);
        EXPECT_TRUE(database.create<Mass>(made, zone).ok());
        return made;
    }
    void expect_no_rows() {
        EXPECT_EQ(database.validate().message(), "");
        EXPECT_EQ(database.num_rows(), 0u);
        EXPECT_EQ(database.further_values(database.component<Tally>())->num_rows(), 0u);
    }
};

TEST_F(DatabaseState, what_was_loaded_counts_as_a_change_of_rows) {
    const std::vector<Entity> made = make_masses(3, 1);
    const Snapshot state = save(database);
    for (int i = 0; i < 2; ++i) {  // the second state is that of now
        const std::uint64_t changes = database.num_structural_changes();
        ASSERT_TRUE(load(database, state));
        EXPECT_NE(database.num_structural_changes(), changes);
    }
    EXPECT_TRUE(database.has<Mass>(made[2]));
}

TEST_F(DatabaseState, tables_of_another_database_by_the_same_numbers_are_found_by_matches_steps_and_zones) {
    const std::vector<Entity> made = make_masses(1, 1), more = make(2);
    ASSERT_TRUE(database.insert(more[0], 1, Mass{}).ok());  // from now on the database knows where this leads,
    ASSERT_TRUE(database.add(made[0], Velocity{}).ok());    // and the table this step
    const ComponentType mass = database.component<Mass>(), position = database.component<Position>();
    DatabaseMatch masses(database, {&mass, 1}), positions(database, {&position, 1});
    masses.refresh(), positions.refresh();
    EXPECT_EQ(masses.num_rows(), 2u);

    Database other(entities, pool);
    register_all(other);
    std::vector<Entity> others(5);
    ASSERT_TRUE(other.create<Position>(others, 2).ok());
    ASSERT_TRUE(other.add(others[0], Asleep{}).ok());
    ASSERT_EQ(other.tables().size(), database.tables().size());
    ASSERT_TRUE(load(database, save(other)));
    masses.refresh(), positions.refresh();
    EXPECT_EQ(masses.num_rows(), 0u);
    EXPECT_EQ(positions.num_rows(), 5u);
    EXPECT_EQ(database.num_rows(2), 5u);
    EXPECT_EQ(database.num_rows(1), 0u);
    for (const Entity entity : others) {
        ASSERT_TRUE(database.add(entity, Velocity{{7, 8, 9}}).ok());
        EXPECT_EQ(Vec3(database.get<&Velocity::value>(database.find(entity))), (Vec3{7, 8, 9}));
        EXPECT_EQ(database.has<Asleep>(entity), entity == others[0]);
    }
    ASSERT_TRUE(database.insert(more[1], 1, Mass{}).ok());
    EXPECT_EQ(database.find(more[1]).table->zone(), 1u) << "where masses were inserted before, there is no table now";
    EXPECT_TRUE(database.has<Mass>(more[1]));
    EXPECT_EQ(database.validate().message(), "");
}

// There are more than one settle looks at.
TEST_F(DatabaseState, tables_that_are_empty_go_when_they_would_have_gone) {
    for (Zone zone = 0; zone < 600; ++zone) database.destroy(make_masses(1, zone));
    Database other(entities, pool);
    register_all(other);
    Settler settler, others_settler;
    bool any_has_gone = false;
    for (int i = 0; i < 60; ++i) {
        if (i % 10 == 0) {
            ASSERT_TRUE(load(other, save(database)));
        }
        settler.settle(database), others_settler.settle(other);
        for (std::size_t number = 0; number < database.all_tables().size(); ++number) {
            any_has_gone |= database.all_tables()[number] == nullptr;
            ASSERT_EQ(database.all_tables()[number] == nullptr, other.all_tables()[number] == nullptr)
                << "table " << number << ", settle " << i;
        }
    }
    EXPECT_TRUE(any_has_gone);
}

// Ids follow each other in the rows, or not; some entities are dead, and of some a newer one is on the index.
TEST_F(DatabaseState, every_owner_is_found_again_whatever_the_order_of_rows) {
    std::vector<Entity> made = make_masses(3'000, 1);
    const std::vector<Entity> others = make_masses(2'000, 2);
    for (std::size_t i = 0; i < made.size(); i += 7) ASSERT_TRUE(database.add(made[i], Velocity{}).ok());
    for (std::size_t i = 0; i < made.size(); i += 5) database.destroy(made[i]);
    for (std::size_t i = 0; i < others.size(); i += 9) entities.destroy(others[i]);
    for (const Entity entity : make_masses(500, 1)) made.push_back(entity);
    for (std::size_t i = 0; i < made.size(); ++i)
        if (const DatabaseRow row = database.find(made[i])) database.set<&Mass::value>(row, float(i));
    const Snapshot state = save(database);
    Database other(entities, pool);
    register_all(other);
    ASSERT_TRUE(load(other, state));
    EXPECT_EQ(other.validate().message(), "");
    ASSERT_EQ(other.num_rows(), database.num_rows());
    for (std::size_t i = 0; i < made.size(); ++i) {
        ASSERT_EQ(other.has<Mass>(made[i]), database.has<Mass>(made[i])) << i;
        if (const DatabaseRow row = other.find(made[i])) ASSERT_EQ(other.get<&Mass::value>(row), float(i));
    }
    for (const Entity entity : others) ASSERT_EQ(other.find(entity).row, database.find(entity).row);
    EXPECT_FALSE(entities.alive(others[0]));
    EXPECT_TRUE(other.has_row(others[0])) << "until it settles";
}

TEST_F(DatabaseState, the_dead_whose_rows_were_saved_gain_nothing_after_loading_and_go_at_the_settle) {
    const std::vector<Entity> made = make_masses(20, 1);
    entities.destroy(made[5]);
    const Snapshot state = save(database);
    database.settle({});
    Database other(entities, pool);  // has seen all deaths until now
    register_all(other);
    for (Database* loaded : {&database, &other}) {
        ASSERT_TRUE(load(*loaded, state));
        const Result<AddCounts> counts = loaded->add(made, Velocity{});
        EXPECT_EQ(counts->num_added, 19u);
        EXPECT_EQ(counts->num_skipped, 1u);
        EXPECT_FALSE(loaded->has<Velocity>(made[5]));
        EXPECT_TRUE(loaded->has<Velocity>(made[6]));
        loaded->settle({});
        EXPECT_EQ(loaded->num_rows(), 19u);
    }
}

TEST_F(DatabaseState, owners_that_have_a_row_or_cannot_have_one_are_refused) {
    const std::vector<Entity> made = make_masses(2'000, 1), others = make_masses(10, 2);
    const Snapshot sound = save(database);
    std::string path;
    for (std::size_t i = 0; i < sound.num_parts(); ++i)
        if (sound.part(i).path.ends_with("owner") && sound.part(i).num_elements == made.size())
            path = sound.part(i).path;
    const auto with_owner = [&](std::size_t row, Entity owner) {
        return with_part(sound, path, [&](std::vector<std::byte>& bytes) {
            std::memcpy(bytes.data() + row * sizeof(Entity), &owner, sizeof(Entity));
        });
    };
    const Entity stranger = make_entity(made.back().index() + 100, 1);
    struct Case {
        std::size_t row;
        Entity owner;
        std::string_view expected;
    };
    const Case cases[] = {{1'700, made[3], "row 1700 belongs to"},  {1'999, others[0], "which has another"},
                          {0, others[0], "which has another"},      {5, kNullEntity, "row 5 belongs to"},
                          {1'999, stranger, "which cannot own it"}, {0, stranger, "which cannot own it"}};
    for (const Case& one : cases) {
        const Status status = load(database, with_owner(one.row, one.owner));
        EXPECT_NE(status.message().find(one.expected), std::string_view::npos) << status.message();
        expect_no_rows();
        ASSERT_TRUE(load(database, sound));
        EXPECT_EQ(database.validate().message(), "");
        EXPECT_TRUE(database.has<Mass>(made[1'999]));
    }
}

/// What can be wrong, where it is read: before rows, with them, and after them.
TEST_F(DatabaseState, a_database_that_cannot_be_loaded_has_no_rows_whatever_is_wrong_and_can_be_loaded_again) {
    const std::vector<Entity> made = make_masses(3, 1);
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(database.add(made, Tally{}).ok());
    const Snapshot sound = save(database);
    const auto false_states = [&] {
        std::vector<Snapshot> all(3);  // the second one is empty
        Database strange(entities, pool);
        strange.component<Body>();
        SnapshotWriter first(all[0]), last(all[2]);
        strange.save(first);  // a component type that is not there
        database.save(last);
        last.text("commands/lists", "nobody takes them");
        return all;
    }();
    for (const Snapshot& state : false_states) {
        const std::uint64_t changes = database.num_structural_changes();
        EXPECT_FALSE(load(database, state));
        expect_no_rows();
        EXPECT_NE(database.num_structural_changes(), changes);
        EXPECT_FALSE(database.has<Mass>(made[0]));
        ASSERT_TRUE(load(database, sound));
        EXPECT_EQ(database.num_values<Tally>(made[2]), 3u);
        EXPECT_EQ(database.validate().message(), "");
    }
}

// --- zones -------------------------------------------------------------------------------------------------------

/// What an entity has: a value, whether it is enabled, and several values, the last one that came first.
struct Held {
    std::optional<float> mass;
    std::optional<std::pair<std::uint32_t, bool>> asleep;
    std::vector<std::uint32_t> tallies{};

    friend bool operator==(const Held&, const Held&) = default;
};

struct ZoneState : DatabaseState {
    void give(Entity entity, const Held& held) {
        if (held.mass) ASSERT_TRUE(database.add(entity, Mass{*held.mass}).ok());
        if (held.asleep) ASSERT_TRUE(database.add(entity, Asleep{held.asleep->first}).ok());
        if (held.asleep && !held.asleep->second) ASSERT_TRUE(*database.remove<Asleep>(entity));
        for (std::size_t i = held.tallies.size(); i-- > 0;)
            ASSERT_TRUE(database.add(entity, Tally{{1, 2, 3}, held.tallies[i]}).ok());
    }
    Held random_held() {
        Held held;
        if (random.below(3) != 0) held.mass = float(random.below(100));
        if (random.below(2) == 0) held.asleep = {random.below(100), random.below(2) == 0};
        for (std::uint32_t i = random.below(4); i > 0; --i) held.tallies.push_back(random.below(100));
        return held;
    }
    Held held_by(Entity entity) const {
        Held held;
        const DatabaseRow at = database.find(entity);
        if (database.has<Mass>(entity)) held.mass = database.get<&Mass::value>(at);
        if (at.table->type().has(database.find_component<Asleep>()))
            held.asleep = {database.get<&Asleep::since>(at), database.has<Asleep>(entity)};
        database.for_each_value<&Tally::number>(entity, [&](std::uint32_t one) { held.tallies.push_back(one); });
        return held;
    }

    Random random{seed()};
};

TEST_F(ZoneState, entities_that_have_lost_their_rows_get_them_back_beside_what_they_have_gained_since) {
    SCOPED_TRACE(seed_text());
    for (int round = 0; round < 30 && !HasFailure(); ++round) {
        std::map<Entity, Held> saved, gained;
        std::vector<Entity> all = make(random.below(60) + 5);
        const std::vector<Entity> others = make(20);
        std::sort(all.begin(), all.end());
        for (const Entity entity : all) {
            ASSERT_TRUE(database.insert(entity, 1, Velocity{}).ok());
            give(entity, saved[entity] = random_held());
        }
        for (const Entity entity : others) ASSERT_TRUE(database.insert(entity, 2, Mass{7}).ok());
        Snapshot state;
        SnapshotWriter to(state);
        database.write_zone(1, to);
        ASSERT_EQ(to.status().message(), "");
        {
            SnapshotReader from(state, false);
            const Result<Array<Entity>> owners = database.check_zone(1, from);
            ASSERT_TRUE(owners.ok()) << owners.message();
            ASSERT_TRUE(std::ranges::equal(*owners, all));
        }
        ASSERT_EQ(database.drop_zone(1), all.size());
        ASSERT_EQ(database.num_rows(), others.size());
        ASSERT_EQ(database.further_values(database.component<Tally>())->num_rows(), 0u);
        std::vector<Entity> gone;
        std::uint32_t num_placed = 0;
        for (const Entity entity : all) {
            const std::uint32_t fate = random.below(6);
            if (fate == 0) entities.destroy(entity);
            if (fate == 1) gone.push_back(entity);
            if (fate == 2 || fate == 3) {
                ASSERT_TRUE(database.insert(entity, 4 + fate, Position{}).ok());
                give(entity, gained[entity] = random_held());
            }
            num_placed += fate > 3;
            if (fate < 2) saved.erase(entity);
        }
        SnapshotReader from(state, round % 2 == 0);
        const Result<std::uint32_t> placed = database.read_zone(1, from, gone);
        ASSERT_TRUE(placed.ok()) << placed.message();
        EXPECT_EQ(*placed, num_placed);
        ASSERT_EQ(database.validate().message(), "");
        ASSERT_EQ(database.num_rows(1), saved.size());
        ASSERT_EQ(database.num_rows(), saved.size() + others.size());
        for (auto& [entity, wanted] : saved) {
            const auto more = gained.find(entity);
            if (more != gained.end()) {
                if (more->second.mass) wanted.mass = more->second.mass;
                if (more->second.asleep) wanted.asleep = more->second.asleep;
                wanted.tallies.insert(wanted.tallies.begin(), more->second.tallies.begin(), more->second.tallies.end());
            }
            ASSERT_EQ(held_by(entity), wanted) << entity.index();
            ASSERT_EQ(database.find(entity).table->zone(), 1u);
            ASSERT_EQ(database.has<Position>(entity), more != gained.end());
            ASSERT_TRUE(database.has<Velocity>(entity));
        }
        database.destroy(all);
        database.destroy(others);
    }
}

TEST_F(ZoneState, a_zone_for_which_there_is_no_room_changes_nothing) {
    Database small(entities, pool, {.capacity_rows = 10});
    register_all(small);
    std::vector<Entity> made(8), others(5);
    ASSERT_TRUE(small.create<Mass>(std::span(made).first(4), 1).ok());
    ASSERT_TRUE(small.create<Position>(std::span(made).last(4), 1).ok());
    Snapshot state;
    SnapshotWriter to(state);
    small.write_zone(1, to);
    ASSERT_EQ(small.drop_zone(1), 8u);
    for (const bool masses : {true, false}) {
        ASSERT_TRUE(small.create<Position>(others, 1).ok());
        if (masses) ASSERT_TRUE(small.create<Position>(std::span(others).first(4), 1).ok());
        SnapshotReader from(state);
        const std::uint64_t num_rows = small.num_rows();
        EXPECT_EQ(small.read_zone(1, from).ok(), !masses);
        EXPECT_EQ(small.num_rows(), num_rows + (masses ? 0 : 8));
        EXPECT_EQ(small.has<Mass>(made[0]), !masses);
        EXPECT_EQ(small.validate().message(), "");
        small.clear_zone(1);
    }
}

TEST_F(DatabaseState, what_was_remembered_of_the_stamp_and_of_ways_of_rows_is_that_of_the_state) {
    std::vector<Entity> made = make_masses(4, 1);
    database.settle({.stamp = 20});
    const Snapshot state = save(database);
    database.settle({.stamp = 30});
    for (int i = 0; i < 3; ++i) {
        for (const Entity entity : std::span(made).first(2)) {  // the second takes the way of the first
            ASSERT_TRUE(database.add(entity, Velocity{}).ok());
            ASSERT_TRUE(database.add(entity, Asleep{}).ok());
            ASSERT_TRUE(*database.remove<Velocity>(entity));
        }
        ASSERT_TRUE(load(database, state));
        EXPECT_EQ(database.num_rows(), made.size());
        EXPECT_EQ(database.validate().message(), "");
        const Entity fresh = *database.create(Position{}, Mass{});
        EXPECT_EQ(database.find(fresh).table->table().stamp(), 20u);
        database.destroy(fresh);
        if (i == 1) ASSERT_TRUE(load(database, state));
    }
}

}  // namespace
}  // namespace shoal_test
