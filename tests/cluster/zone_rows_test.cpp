// The rows of zones, after random changes.

#include "cluster/zone_rows.h"

#include "shoal/world/world.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace shoal {

struct ZoneRowsMass {
    float value = 1;
};
SHOAL_COMPONENT(ZoneRowsMass, value)
struct ZoneRowsSleep {
    std::uint32_t depth = 0;
};
SHOAL_COMPONENT((ZoneRowsSleep, enableable), depth)

namespace {

using namespace cluster;

struct ZonesOfRows {
    EntityManager entities;
    World world{entities};
    Database& database = world.database();
    TypeKeys types{database};
    ZoneRows rows{database, types};
    EntityNames names{4};
    ZoneSet zones{0, 1, 2};
    Random random{shoal_test::seed()};
    std::vector<Entity> living;

    Entity any() { return living[random.below(static_cast<std::uint32_t>(living.size()))]; }
    void change() {
        std::vector<Entity> some(1 + random.below(random.below(8) == 0 ? 700 : 4));
        const Zone zone = random.below(4);  // the last one is not in `zones`
        const std::uint32_t what = living.empty() ? 0 : random.below(6);
        if (what == 0) {
            ASSERT_TRUE((random.below(2) == 0 ? database.create<ZoneRowsMass>(some, zone)
                                              : database.create<ZoneRowsMass, ZoneRowsSleep>(some, zone))
                            .ok());
            living.insert(living.end(), some.begin(), some.end());
            return;
        }
        for (Entity& entity : some) entity = any();
        if (what == 1) {
            ASSERT_TRUE(database.move(some, zone).ok());
        }
        if (what == 2) {
            ASSERT_TRUE(database.move(some.front(), zone).ok());
        }
        if (what == 3) {
            ASSERT_TRUE(database.add(some, ZoneRowsSleep{1}).ok());
        }
        if (what == 4) {
            ASSERT_TRUE(database.remove<ZoneRowsMass>(some).ok());
        }
        if (what == 5) {
            some.resize(std::min<std::size_t>(some.size(), random.below(2) == 0 ? 2 : 200));
            entities.destroy(some);
            std::erase_if(living, [&](Entity entity) { return !entities.alive(entity); });
        }
    }
};

TEST(ZoneRows, find_all_rows_that_differ_and_arrange_them_as_sorting_them_would) {
    ZonesOfRows all;
    std::map<TableKey, std::vector<Entity>> model;
    for (std::int64_t step = 0; step < shoal_test::scaled_operations(3000); ++step) {
        for (std::uint32_t i = all.random.below(4); i != 0; --i) all.change();
        all.world.settle();
        std::map<TableKey, std::vector<Entity>> changed;  // new entities
        const auto note = [&](TableRows& rows) {
            ASSERT_TRUE(all.zones.contains(rows.key.zone_number()));
            changed[rows.key] = rows.found;
            std::sort(changed[rows.key].begin(), changed[rows.key].end());
        };
        all.rows.for_each_changed(all.zones, note);
        for (const DatabaseTable* table : all.database.all_tables()) {
            if (table == nullptr || !all.zones.contains(table->zone())) continue;
            const TableKey key{table->zone(), all.types.key(table->type())};
            std::vector<Entity> before = model[key], now(table->entities().begin(), table->entities().end()), found;
            ASSERT_EQ(changed.contains(key), before != now) << "a changed table was not seen, or another one was";
            std::sort(before.begin(), before.end()), std::sort(now.begin(), now.end());
            std::set_difference(now.begin(), now.end(), before.begin(), before.end(), std::back_inserter(found));
            ASSERT_EQ(changed[key], found);
            for (const Entity entity : found)
                if (all.names.name(entity) == 0) all.names.set(entity, all.names.next(table->zone()));
        }
        TableChange change;
        all.rows.for_each_changed(all.zones, [&](TableRows& rows) {
            std::vector<Entity>& owners = model[rows.key];
            all.rows.arrange(all.names, rows, change);
            std::vector<std::uint32_t> gone;
            for (std::uint32_t row = 0; row < owners.size(); ++row)
                if (rows.table == nullptr || all.database.find(owners[row]).table != rows.table) gone.push_back(row);
            ASSERT_EQ(change.gone, gone);
            take_out_rows(owners, gone);
            ASSERT_TRUE(std::ranges::is_sorted(change.come));
            for (const Name name : change.come) owners.push_back(all.names.find(name));
            ASSERT_EQ(rows.owners, owners);
            ASSERT_TRUE(rows.table == nullptr ? owners.empty() : std::ranges::equal(rows.table->entities(), owners));
            for (std::size_t row = 0; row < owners.size(); ++row)
                ASSERT_EQ(rows.names[row], all.names.name(owners[row]));
        });
        all.rows.for_each_changed(all.zones, [](TableRows&) { FAIL() << "rows that were arranged differ"; });
        ASSERT_EQ(all.database.validate().message(), "");
    }
}

TEST(ZoneRows, enabled_components_are_told_for_the_zones_that_others_copy) {
    ZonesOfRows all;
    std::vector<Entity> made(100);
    for (const Zone zone : {0u, 1u}) ASSERT_TRUE((all.database.create<ZoneRowsSleep>(made, zone)).ok());
    std::vector<TableChange> changes;
    const auto arrange = [&] {
        changes.clear();
        all.rows.for_each_changed(all.zones, [&](TableRows& rows) {
            for (const Entity entity : rows.found) all.names.set(entity, all.names.next(rows.key.zone_number()));
            TableChange untold;
            all.rows.arrange(all.names, rows, rows.key.zone == 1 ? changes.emplace_back() : untold);
        });
        all.rows.add_enabled({1}, changes);
    };
    arrange();
    ASSERT_EQ(changes.size(), 1u);
    EXPECT_EQ(changes[0].enabled, (std::vector<std::uint64_t>{~std::uint64_t(0), (std::uint64_t(1) << 36) - 1}));
    arrange();
    EXPECT_TRUE(changes.empty());
    ASSERT_TRUE(*all.database.remove<ZoneRowsSleep>(made[70]));
    arrange();
    ASSERT_EQ(changes.size(), 1u);
    EXPECT_TRUE(changes[0].come.empty() && changes[0].gone.empty());
    EXPECT_EQ(changes[0].enabled[1], ((std::uint64_t(1) << 36) - 1) & ~(std::uint64_t(1) << 6));
    arrange();
    EXPECT_TRUE(changes.empty());
}

}  // namespace
}  // namespace shoal
