// Rows as a store of another class holds them: it is told of the dead, and nothing comes or goes while rows are held.

#include "shoal/base/random.h"
#include "shoal/state/snapshot.h"
#include "shoal/store/manager.h"
#include "support/changed_state.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace shoal;

struct Lamp {
    float light = 1;
};
SHOAL_COMPONENT(Lamp, light)

/// Lamps, and the sum of their light beside them, which every lamp leaves when it goes.
class Lamps {
public:
    Lamps(EntityManager& entities, PagePool& pool, DeathPolicy death, RowIndexKind index = RowIndexKind::kPaged)
        : rows_(schema_of<Lamp>(), entities, pool,
                {.index = index,
                 .death = death,
                 .remove_dead = [](void* self,
                                   std::span<const Entity> dead) { static_cast<Lamps*>(self)->remove_dead(dead); },
                 .store = this}) {}

    void add(std::span<const Entity> entities) {
        const auto fill = [](void* light, Table& table, RowRange added, std::size_t) {
            for (std::uint32_t row = added.begin; row < added.end; ++row) {
                new (table.write_element(0, row)) float(1);
                *static_cast<double*>(light) += 1;
            }
        };
        ASSERT_TRUE(rows_.add(entities, fill, &light_).ok());
    }
    OwnedRows& rows() { return rows_; }
    double light() const { return light_; }

private:
    void remove_dead(std::span<const Entity> dead) {
        for (const Entity entity : dead)
            if (!rows_.entity_manager().alive(entity)) light_ -= rows_.remove({&entity, 1});
    }

    OwnedRows rows_;
    double light_ = 0;
};

std::vector<Entity> create(EntityManager& entities, std::size_t count) {
    std::vector<Entity> made(count);
    EXPECT_TRUE(entities.create(made).ok());
    return made;
}

TEST(OwnedRows, a_store_removes_the_dead_its_own_way) {
    for (const DeathPolicy death : {DeathPolicy::kAtSettle, DeathPolicy::kByCallback})
        for (const RowIndexKind index : {RowIndexKind::kPaged, RowIndexKind::kHash}) {
            EntityManager entities;
            PagePool pool;
            Lamps lamps(entities, pool, death, index);
            const std::vector<Entity> made = create(entities, 100);
            lamps.add(made);
            entities.destroy(std::span(made).first(90));
            EXPECT_EQ(lamps.light(), death == DeathPolicy::kByCallback ? 10 : 100);
            SettleCounts counts;
            lamps.rows().settle({.stamp = 2, .counts = &counts});
            EXPECT_EQ(lamps.light(), 10);
            EXPECT_EQ(counts.num_removed, death == DeathPolicy::kByCallback ? 0u : 90u);
            EXPECT_EQ(lamps.rows().num_owned(), 10u);
            EXPECT_TRUE(lamps.rows().validate().ok());
        }
}

TEST(OwnedRows, a_store_that_fell_behind_removes_the_dead_its_own_way) {
    EntityManager entities({.max_death_list = 10});
    PagePool pool;
    Lamps lamps(entities, pool, DeathPolicy::kAtSettle);
    const std::vector<Entity> made = create(entities, 100);
    lamps.add(made);
    for (std::size_t i = 0; i < made.size(); i += 2) entities.destroy(made[i]);
    lamps.rows().settle({});
    EXPECT_EQ(lamps.light(), 50);
    EXPECT_EQ(lamps.rows().num_owned(), 50u);
}

TEST(OwnedRows, what_an_older_entity_left_goes_the_stores_own_way) {
    EntityManager entities({.minimum_free_ids = 1});
    PagePool pool;
    Lamps lamps(entities, pool, DeathPolicy::kAtSettle);
    const Entity old = *entities.create();
    lamps.add({&old, 1});
    entities.destroy(old);
    const std::vector<Entity> newer = create(entities, 5);
    const auto same = [&](Entity entity) { return entity.index() == old.index(); };
    ASSERT_TRUE(std::ranges::any_of(newer, same));
    lamps.add(newer);
    EXPECT_EQ(lamps.light(), 5);
    EXPECT_FALSE(lamps.rows().has(old));
    EXPECT_TRUE(lamps.rows().remove_stale(newer[0]));
    EXPECT_FALSE(lamps.rows().remove_stale(*entities.create()));
}

TEST(OwnedRows, are_appended_all_or_none) {
    EntityManager entities;
    PagePool pool;
    OwnedRows rows(schema_of<Lamp>(), entities, pool);
    std::vector<Entity> made = create(entities, 2000);
    ASSERT_TRUE(rows.reserve(5000, made.back().index()).ok());
    const std::uint64_t num_changes = rows.num_structural_changes();
    ASSERT_TRUE(rows.append_all(std::span(made).subspan(1900, 1)));
    EXPECT_NE(rows.num_structural_changes(), num_changes);
    EXPECT_FALSE(rows.append_all(made)) << "one of them has a row";
    EXPECT_EQ(rows.num_rows(), 1u);
    EXPECT_FALSE(rows.has(made[0]));
    EXPECT_TRUE(rows.append_all(std::span(made).first(1900)));
    for (std::uint32_t i = 0; i < 1900; ++i) ASSERT_EQ(rows.find(made[i]), i + 1);
    entities.destroy(made[1999]);
    EXPECT_FALSE(rows.append_all(std::span(made).subspan(1901))) << "one of them is dead";
    made[1905] = made[1904];
    EXPECT_FALSE(rows.append_all(std::span(made).subspan(1901, 50))) << "one of them occurs twice";
    EXPECT_EQ(rows.num_rows(), 1901u);
    EXPECT_TRUE(rows.validate().ok());
}

TEST(OwnedRows, full_rows_are_set_again_and_only_newcomers_need_room) {
    EntityManager entities;
    PagePool pool;
    OwnedRows rows(schema_of<Lamp>(), entities, pool, {.capacity_rows = 100});
    const std::vector<Entity> made = create(entities, 101);
    const auto add = [&](std::span<const Entity> some, const Lamp& lamp) {
        return rows.add_values(schema_of<Lamp>(), some, {reinterpret_cast<const std::byte*>(&lamp)});
    };
    ASSERT_TRUE(add(std::span(made).first(100), {2}));
    EXPECT_FALSE(add(made, {3})) << "there is no room for the last";
    EXPECT_EQ(rows.num_rows(), 100u);
    const auto light = [&](std::uint32_t row) {
        return *reinterpret_cast<const float*>(std::as_const(rows).table().column(0) + row * sizeof(float));
    };
    EXPECT_EQ(light(7), 2) << "nothing has changed";
    EXPECT_EQ(add(std::span(made).first(100), {4}).value(), 100u);
    EXPECT_EQ(light(7), 4);
}

TEST(OwnedRows, values_that_are_added_or_set_carry_the_stamp) {
    EntityManager entities;
    PagePool pool;
    OwnedRows rows(schema_of<Lamp>(), entities, pool);
    const std::vector<Entity> made = create(entities, 3 * kRowsPerStampBlock);
    ASSERT_TRUE(rows.add_values(schema_of<Lamp>(), made, {}));
    const Table& table = rows.table();
    rows.table().set_stamp(10);
    const Lamp lamp{5};
    const AddedValues values{.images = reinterpret_cast<const std::byte*>(&lamp)};
    ASSERT_TRUE(rows.add_values(schema_of<Lamp>(), {&made[kRowsPerStampBlock], 1}, values));
    EXPECT_EQ(table.written_stamp(0, 1), 10u);
    EXPECT_LT(table.written_stamp(0, 0), 10u);
    EXPECT_LT(table.written_stamp(0, 2), 10u);
    rows.table().set_stamp(11);
    ASSERT_TRUE(rows.add_values(schema_of<Lamp>(), {&made[0], 1}, {})) << "with its default";
    EXPECT_EQ(table.written_stamp(0, 0), 11u);
    EXPECT_EQ(table.written_stamp(0, 1), 10u);
}

TEST(OwnedRows, while_passes_run_no_row_comes_or_goes) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EntityManager entities;
    PagePool pool;
    Manager<Lamp> lamps(entities, pool);
    const std::vector<Entity> made = create(entities, 4);
    ASSERT_TRUE(lamps.add(std::span(made).first(2)).ok());
    const float light = 1;
    const std::byte* const column = reinterpret_cast<const std::byte*>(&light);
    const std::uint32_t owner = 0;
    const SpawnBatch batch{.component = schema_of<Lamp>().id(),
                           .entities = std::span(made).subspan(2, 1),
                           .num_blob_entities = 1,
                           .entity_index = {&owner, 1},
                           .columns = {&column, 1},
                           .parents = {}};
    lamps.core().hold_rows(true);
    lamps.core().hold_rows(true);  // by two worlds
    lamps.core().hold_rows(false);
    constexpr const char* kMessage = "of a manager for \"lamp\" was called while the passes of a world ran; ";
    EXPECT_DEATH(static_cast<void>(lamps.add(made[2])), kMessage);
    EXPECT_DEATH(static_cast<void>(lamps.add(made)), kMessage);
    EXPECT_DEATH(static_cast<void>(lamps.core().spawn(batch)), kMessage);
    EXPECT_DEATH(lamps.remove(made[0]), kMessage);
    EXPECT_DEATH(lamps.remove(made), kMessage);
    EXPECT_DEATH(lamps.remove(lamps.instance(made[0])), kMessage);
    EXPECT_DEATH(lamps.clear(), kMessage);
    EXPECT_DEATH(lamps.core().settle({}), kMessage);
    Random random(1);
    EXPECT_DEATH(lamps.core().collect(random, 1), kMessage);
    lamps.set<&Lamp::light>(lamps.instance(made[0]), 5);
    lamps.core().hold_rows(false);
    EXPECT_TRUE(lamps.add(made).ok());
    EXPECT_TRUE(lamps.remove(made[0]));
}

// --- rows in a store's own memory ----------------------------------------------------------------------------------

/// Lamps in memory that is not the table's.
struct ShownLamps : ::testing::Test {
    Status show(std::vector<Entity> shown) {
        owners = std::move(shown);
        std::byte* const columns[] = {reinterpret_cast<std::byte*>(light)};
        return rows.show(owners, columns, {});
    }
    void expect_shown() {
        EXPECT_EQ(rows.validate().message(), "");
        EXPECT_EQ(rows.num_rows(), owners.size());
        for (const Entity entity : made) {
            const auto row = static_cast<std::uint32_t>(std::ranges::find(owners, entity) - owners.begin());
            EXPECT_EQ(rows.find(entity), row == owners.size() ? kNilRow : row) << entity.index();
        }
    }

    EntityManager entities;
    PagePool pool;
    std::vector<Entity> made = create(entities, 6), owners;
    alignas(kCacheLineBytes) float light[kCacheLineBytes / sizeof(float)] = {};
    OwnedRows rows{schema_of<Lamp>(), entities, pool, {.remove_dead = [](void*, std::span<const Entity>) {}}};
};

TEST_F(ShownLamps, are_found_and_marked_where_they_are_new) {
    std::uint64_t stamp = 1;
    const auto expect_marked = [&](std::vector<Entity> shown, bool is_marked) {
        rows.table().set_stamp(++stamp);
        EXPECT_EQ(show(std::move(shown)).message(), "");
        expect_shown();
        EXPECT_EQ(rows.table().placed_stamp(0) == stamp, is_marked);
    };
    expect_marked({made[0], made[1]}, true);
    expect_marked({made[0], made[1]}, false);
    expect_marked({made[0], made[1], made[2]}, true);
    expect_marked({made[0], made[3], made[2]}, true);
    expect_marked({made[0], made[3]}, false);
    expect_marked({made[3], made[0]}, true);
}

TEST_F(ShownLamps, that_are_refused_leave_none_and_others_are_shown_after_them) {
    const std::vector<Entity> refused[] = {{made[2], made[3], made[2]}, {made[0], kNullEntity}, {kNullEntity, made[4]}};
    for (const std::vector<Entity>& wrong : refused) {
        EXPECT_EQ(show({made[0], made[1]}).message(), "");
        EXPECT_FALSE(show(wrong));
        owners.clear();
        expect_shown();
        EXPECT_EQ(show({made[4], made[2], made[3]}).message(), "");
        expect_shown();
    }
}

/// What can be wrong, where it is read: the rows, their owners, and what is known of deaths.
TEST(OwnedRows, rows_that_cannot_be_loaded_are_none_whatever_is_wrong_and_can_be_loaded_again) {
    EntityManager entities, more_entities;
    PagePool pool;
    Lamps lamps(entities, pool, DeathPolicy::kAtSettle), others(more_entities, pool, DeathPolicy::kAtSettle);
    const std::vector<Entity> owners = create(entities, 3);
    lamps.add(owners);
    others.add(create(more_entities, 100));
    Snapshot states[4];  // sound, empty, of entities that are not there, after deaths that have not been
    for (const int i : {0, 2, 3}) {
        if (i == 3) {
            more_entities.destroy(others.rows().table().entities().subspan(2));
            others.rows().settle({.stamp = 9});
        }
        SnapshotWriter to(states[i]);
        (i == 0 ? lamps : others).rows().save(to);
        ASSERT_TRUE(to.status()) << to.status().message();
    }
    for (const int i : {1, 2, 3}) {
        SnapshotReader from(states[i]), sound(states[0]);
        EXPECT_FALSE(lamps.rows().load(from)) << i;
        EXPECT_EQ(lamps.rows().num_rows(), 0u) << i;
        EXPECT_EQ(lamps.rows().validate().message(), "") << i;
        ASSERT_TRUE(lamps.rows().load(sound));
        EXPECT_EQ(lamps.rows().find(owners[2]), 2u);
        EXPECT_EQ(lamps.rows().validate().message(), "");
    }
}

/// A state may have rows of two entities with one index.
TEST(OwnedRows, of_two_owners_with_one_index_the_living_one_is_found_after_loading_whichever_comes_first) {
    EntityManager entities({.minimum_free_ids = 1});
    PagePool pool;
    Manager<Lamp> lamps(entities, pool);
    const Entity old = *entities.create(), other = *entities.create();
    entities.destroy(old);
    Entity newer = *entities.create();
    while (newer.index() != old.index()) entities.destroy(newer), newer = *entities.create();
    ASSERT_TRUE(lamps.add(newer).ok() && lamps.add(other).ok());
    Snapshot sound;
    SnapshotWriter to(sound);
    lamps.core().save(to);
    const std::string path = "rows/owner";
    for (const bool is_living_first : {true, false}) {
        const Entity owners[] = {is_living_first ? newer : old, is_living_first ? old : newer};
        const Snapshot state = shoal_test::with_part(
            sound, path, [&](std::vector<std::byte>& bytes) { std::memcpy(bytes.data(), owners, sizeof owners); });
        SnapshotReader from(state);
        ASSERT_TRUE(lamps.core().load(from).ok());
        EXPECT_EQ(lamps.core().rows().find(newer), is_living_first ? 0u : 1u);
        EXPECT_FALSE(lamps.has(old));
        lamps.core().settle({.stamp = 5});
        EXPECT_TRUE(lamps.has(newer));
    }
}

}  // namespace
