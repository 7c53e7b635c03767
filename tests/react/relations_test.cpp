// Relations know who refers to whom, and deal with references to the dead, whatever store keeps them.

#include "shoal/react/relations.h"
#include "shoal/base/text.h"
#include "shoal/entity/entity_text.h"
#include "shoal/react/observers.h"
#include "shoal/save/save.h"
#include "shoal/state/snapshot.h"
#include "shoal/transform/transform.h"
#include "shoal/world/world.h"
#include "support/logged.h"
#include "support/testing.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <vector>

namespace {

using namespace shoal;

struct Missile {
    float speed = 0;
    Entity target;
};
SHOAL_COMPONENT(Missile, speed, (target, relation(cleared)))
struct Limpet {
    Entity whale;
};
SHOAL_COMPONENT((Limpet, whole), (whale, relation(dies_too)))
struct Likes {
    Entity whom;
};
SHOAL_COMPONENT(Likes, (whom, relation))

using Entities = std::vector<Entity>;

Entities listed(const Referrers& referrers) {
    Entities result;
    for (const Entity entity : referrers) result.push_back(entity);
    std::sort(result.begin(), result.end(), [](Entity a, Entity b) { return a.id < b.id; });
    return result;
}

/// What every living entity refers to.
struct References {
    Entity missile, limpet, likes;
    bool has_missile = false, has_limpet = false, has_likes = false;
};

class RelationsOfAnyStore : public ::testing::TestWithParam<bool> {
protected:
    RelationsOfAnyStore() {
        if (GetParam()) {
            world.database().component<Missile>();
            world.database().component<Limpet>();
            world.database().component<Likes>();
        } else {
            world.manager<Missile>();
            world.manager<Limpet>({.index = RowIndexKind::kHash});
            world.manager<Likes>();
            world.database();
        }
    }
    Entity pick() { return known[random.below(std::uint32_t(known.size()))]; }

    /// Changes something, in the world and in the model.
    void change() {
        const Entity self = pick();
        const Entity other = random.below(8) == 0 ? kNullEntity : pick();
        Commands& commands = world.commands();
        const bool lives = doomed.count(self) == 0 && entities.alive(self);
        References of_the_dead;
        References& says = lives ? model[self] : of_the_dead;
        switch (random.below(9)) {
            case 0:
            case 1:
                commands.add(self, Missile{1, other});
                if (lives) says.has_missile = true, says.missile = other;
                return;
            case 2:
                commands.add(self, Limpet{other});
                if (lives) says.has_limpet = true, says.limpet = other;
                return;
            case 3:
                commands.add(self, Likes{other});
                if (lives) says.has_likes = true, says.likes = other;
                return;
            case 4:
                commands.remove<Missile>(self);
                says.has_missile = false;
                return;
            case 5:
                commands.remove<Limpet>(self);
                says.has_limpet = false;
                return;
            case 6:
                if (random.below(3) != 0) return;
                commands.destroy(self);
                doomed.insert(self);
                return;
            case 7:
                known.push_back(*entities.create());
                model[known.back()];
                return;
            default:
                return;
        }
    }
    /// What settling does to the model.
    void settle_model() {
        while (!doomed.empty()) {
            const Entity dead = *doomed.begin();
            doomed.erase(doomed.begin());
            model.erase(dead);
            is_dead.insert(dead);
        }
        for (bool goes_on = true; goes_on;) {
            goes_on = false;
            for (auto at = model.begin(); at != model.end();) {
                const bool dies = at->second.has_limpet && is_dead.count(at->second.limpet) != 0;
                if (dies) is_dead.insert(at->first), goes_on = true;
                at = dies ? model.erase(at) : std::next(at);
            }
        }
        for (auto& [entity, says] : model)
            if (is_dead.count(says.missile) != 0) says.missile = kNullEntity;
    }

    Random random{shoal_test::seed()};
    EntityManager entities{{.minimum_free_ids = 1}};  // so that indices are used again
    World world{entities};
    Entities known;
    std::map<Entity, References> model;
    std::set<Entity> doomed, is_dead;
};

TEST_P(RelationsOfAnyStore, who_refers_to_whom_and_what_becomes_of_it_is_what_a_map_says) {
    SCOPED_TRACE(shoal_test::seed_text());
    known.resize(100);
    ASSERT_TRUE(entities.create(known));
    for (const Entity entity : known) model[entity];
    const std::int64_t num_frames = shoal_test::scaled_operations(100);
    for (std::int64_t frame = 0; frame < num_frames; ++frame) {
        for (std::uint32_t i = random.below(60); i-- > 0;) change();
        settle_model();
        world.settle();
        ASSERT_EQ(entities.num_alive(), model.size());
        std::map<Entity, Entities> missiles, limpets, likes;
        for (const auto& [entity, says] : model) {
            if (says.has_missile) missiles[says.missile].push_back(entity);
            if (says.has_limpet) limpets[says.limpet].push_back(entity);
            if (says.has_likes) likes[says.likes].push_back(entity);
            if (says.has_missile) {
                ASSERT_EQ(*world.get<Entity>(entity, "missile.target"), says.missile);
            }
        }
        const auto sorted = [](Entities list) {
            std::sort(list.begin(), list.end(), [](Entity a, Entity b) { return a.id < b.id; });
            return list;
        };
        for (const Entity target : known) {
            ASSERT_EQ(listed(world.relations().referrers<&Missile::target>(target)), sorted(missiles[target]));
            ASSERT_EQ(listed(world.relations().referrers<&Limpet::whale>(target)), sorted(limpets[target]));
            ASSERT_EQ(listed(world.relations().referrers<&Likes::whom>(target)), sorted(likes[target]));
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Relations, RelationsOfAnyStore, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "in_the_database" : "in_managers"; });

class RelationRules : public ::testing::Test {
protected:
    EntityManager entities;
    World world{entities};
    Manager<Missile>& missiles = world.manager<Missile>();
    Manager<Limpet>& limpets = world.manager<Limpet>();
};

TEST_F(RelationRules, a_chain_dies_in_one_settle_and_no_row_is_left) {
    Entities chain(1000);
    ASSERT_TRUE(entities.create(chain));
    for (std::size_t i = 1; i < chain.size(); ++i) ASSERT_TRUE(limpets.add(chain[i], Limpet{chain[i - 1]}));
    world.settle();
    entities.destroy(chain[500]);
    world.settle();
    EXPECT_EQ(entities.num_alive(), 500u);
    EXPECT_EQ(limpets.num_rows(), 499u);
    entities.destroy(chain[0]);
    world.settle();
    EXPECT_EQ(entities.num_alive(), 0u);
    EXPECT_EQ(limpets.num_rows(), 0u);
}

TEST_F(RelationRules, a_reference_to_what_is_dead_already_is_dealt_with_at_the_next_settle) {
    Entities made(3);
    ASSERT_TRUE(entities.create(made));
    const Entity dead = *entities.create();
    entities.destroy(dead);
    ASSERT_TRUE(missiles.add(made[0], Missile{1, dead}));
    ASSERT_TRUE(limpets.add(made[1], Limpet{dead}));
    ASSERT_TRUE(missiles.add(made[2], Missile{1, Entity{~EntityBits(0)}}));  // was never given out
    world.settle();
    EXPECT_EQ(missiles.get<&Missile::target>(missiles.instance(made[0])), kNullEntity);
    EXPECT_FALSE(entities.alive(made[1]));
    EXPECT_TRUE(entities.alive(made[2]));
    EXPECT_TRUE(world.relations().referrers<&Missile::target>(dead).empty());
}

TEST_F(RelationRules, a_reference_to_the_dead_that_comes_back_is_cleared_again) {
    Entities made(2);
    ASSERT_TRUE(entities.create(made));
    const Entity missile = made[0], ship = made[1];
    ASSERT_TRUE(missiles.add(missile, Missile{1, ship}));
    world.settle();
    entities.destroy(ship);
    for (int i = 0; i < 3; ++i) {
        world.settle();
        EXPECT_EQ(missiles.get<&Missile::target>(missiles.instance(missile)), kNullEntity) << i;
        missiles.set<&Missile::target>(missiles.instance(missile), ship);
    }
}

/// A store of the program that does not let its fields be set.
class SealedMissiles final : public Store {
public:
    SealedMissiles(EntityManager&, PagePool& pool) : table(schema_of<Missile>(), pool) {}

    std::span<const Schema* const> schemas() const override { return {&schema_, 1}; }
    Status spawn(const SpawnBatch&) override { return {}; }
    void drop(std::span<const Entity>) override {}
    void settle(const SettleContext&) override {}
    std::span<const Table* const> tables() const override { return {&shown_, 1}; }
    std::size_t statistics(std::span<StoreStatistics>) const override { return 0; }
    Status write_field(const ComponentRow&, const FieldPart&, const std::byte*) override {
        return Status::error("they are sealed");
    }

    Table table;

private:
    const Table* shown_ = &table;
    const Schema* schema_ = &schema_of<Missile>();
};

TEST(Relations, a_store_that_refuses_null_keeps_its_reference_and_the_world_goes_on_and_says_so) {
    EntityManager entities;
    World world(entities);
    auto& sealed = world.make_store<SealedMissiles>();
    Entities made(3);
    ASSERT_TRUE(entities.create(made));
    ASSERT_TRUE(sealed.table.reserve(2));
    sealed.table.append(std::span(made).first(2));
    for (std::uint32_t row = 0; row < 2; ++row)
        std::memcpy(sealed.table.write_element(schema_of<Missile>().fields()[1].first_column, row), &made[2],
                    sizeof(Entity));
    world.settle();
    ASSERT_EQ(listed(world.relations().referrers<&Missile::target>(made[2])).size(), 2u);
    entities.destroy(made[2]);
    const shoal_test::Logged logged;
    world.settle();
    world.settle();
    ASSERT_EQ(logged.lines.size(), 2u);
    EXPECT_EQ(logged.lines[1], concat("entity ", entity_text(made[0]),
                                      " keeps its reference to a dead one in \"missile.target\", because the store "
                                      "refuses null: they are sealed"));
    EXPECT_EQ(world.get<Entity>(made[0], "missile.target").value(), made[2]);
}

TEST_F(RelationRules, a_field_that_a_pass_writes_is_found_after_the_step) {
    Entities made(5000);
    ASSERT_TRUE(entities.create(made));
    ASSERT_TRUE(missiles.add(made, Missile{}));
    world.settle();
    const Entity ship = *entities.create();
    world.schedule().add("aim", query<Write<&Missile::target>>(missiles),
                         [&](Entity self, auto&& target) { target = self.index() % 2 == 0 ? ship : kNullEntity; });
    world.step(0.1f);
    EXPECT_EQ(listed(world.relations().referrers<&Missile::target>(ship)).size(), 2500u);
    entities.destroy(made[1].index() % 2 == 0 ? made[1] : made[2]);
    world.step(0.1f);
    EXPECT_EQ(listed(world.relations().referrers<&Missile::target>(ship)).size(), 2499u);
    EXPECT_TRUE(world.relations().referrers<&Missile::target>(kNullEntity).empty()) << "null is nobody";
    EXPECT_TRUE(world.relations().referrers(schema_of<Missile>().id(), 0, ship).empty()) << "the speed is no relation";
}

TEST_F(RelationRules, a_loaded_state_has_its_indices_at_once_and_the_deaths_that_waited) {
    Entities made(4);
    ASSERT_TRUE(entities.create(made));
    ASSERT_TRUE(missiles.add(made[0], Missile{1, made[1]}));
    ASSERT_TRUE(limpets.add(made[2], Limpet{made[3]}));
    world.settle();
    entities.destroy(made[1]);
    Array<std::byte> bytes{Owner("test")};
    ASSERT_TRUE(save(world, bytes));
    world.settle();
    EntityManager others;
    World other(others);  // loading makes its managers
    for (World* const loaded : {&world, &other}) {
        ASSERT_TRUE(load(*loaded, bytes));
        EXPECT_EQ(listed(loaded->relations().referrers<&Limpet::whale>(made[3])), Entities{made[2]});
        EXPECT_EQ(loaded->get<Entity>(made[0], "missile.target").value(), made[1]);
        loaded->settle();
        EXPECT_EQ(loaded->get<Entity>(made[0], "missile.target").value(), kNullEntity);
    }
}

TEST_F(RelationRules, the_death_of_a_target_is_seen_by_observers_of_the_same_settle) {
    Entities made(2);
    ASSERT_TRUE(entities.create(made));
    ASSERT_TRUE(limpets.add(made[1], Limpet{made[0]}));
    world.settle();
    Entities gone;
    world.observers().on_remove<Limpet>(
        [&](std::span<const Entity> removed) { gone.assign(removed.begin(), removed.end()); });
    world.commands().destroy(made[0]);
    world.settle();
    EXPECT_EQ(gone, Entities{made[1]});
}

struct Remora {
    Entity host;
};
SHOAL_COMPONENT(Remora, (host, relation))

TEST(Relations, nothing_reads_the_deaths_any_more_when_their_world_or_their_store_has_ended) {
    EntityManager entities;
    const auto next_reader = [&] {
        // The store may have been the first one, so that the number of a second one tells.
        const DeathCursor first = entities.open_death_cursor(), next = entities.open_death_cursor();
        entities.close_death_cursor(next);
        entities.close_death_cursor(first);
        return next.number;
    };
    const std::uint32_t before = next_reader();
    {
        World world(entities);
        world.database().component<Likes>();
        world.settle();
        EXPECT_NE(next_reader(), before);
    }
    EXPECT_EQ(next_reader(), before);
    World world(entities);
    world.settle();
    const std::uint32_t without = next_reader();
    {
        PagePool pool;
        Manager<Likes> likes(entities, pool);
        ASSERT_TRUE(world.attach(likes.core()).ok());
        world.settle();
        world.detach(likes.core());
    }
    EXPECT_EQ(next_reader(), without);
}

TEST(Relations, of_a_state_without_any_nobody_is_listed) {
    EntityManager entities;
    World world(entities);
    Entities made(2);
    ASSERT_TRUE(entities.create(made));
    Snapshot before;
    ASSERT_TRUE(save(world, before));
    ASSERT_TRUE(world.manager<Remora>().add(made[1], Remora{made[0]}));
    world.settle();
    EXPECT_EQ(world.relations().referrers<&Remora::host>(made[0]).size(), 1u);
    ASSERT_TRUE(load(world, before));
    EXPECT_TRUE(world.relations().referrers<&Remora::host>(made[0]).empty());
    ASSERT_TRUE(world.manager<Remora>().add(made[0], Remora{made[1]}));
    world.settle();
    EXPECT_EQ(*world.relations().referrers<&Remora::host>(made[1]).begin(), made[0]);
}

TEST_F(RelationRules, a_store_that_has_left_and_comes_again_has_its_relations) {
    Entities made(2);
    ASSERT_TRUE(entities.create(made));
    PagePool pool;
    Manager<Remora> remoras(entities, pool);
    ASSERT_TRUE(remoras.add(made[1], Remora{made[0]}));
    for (int i = 0; i < 2; ++i) {
        ASSERT_TRUE(world.attach(remoras.core()));
        world.settle();
        EXPECT_EQ(listed(world.relations().referrers<&Remora::host>(made[0])), Entities{made[1]});
        world.detach(remoras.core());
        EXPECT_TRUE(world.relations().referrers<&Remora::host>(made[0]).empty());
    }
}

TEST(RelationsOfManyDead, are_dealt_with_though_the_list_of_deaths_has_dropped_them) {
    EntityManager entities({.max_death_list = 4});
    World world(entities);
    auto& missiles = world.manager<Missile>();
    auto& limpets = world.manager<Limpet>();
    std::vector<Entity> whales(20), ships(20), on_whales(20), at_ships(20);  // each relation has dead of its own
    for (std::vector<Entity>* all : {&whales, &ships, &on_whales, &at_ships}) ASSERT_TRUE(entities.create(*all));
    for (std::size_t i = 0; i < whales.size(); ++i) {
        ASSERT_TRUE(limpets.add(on_whales[i], {whales[i]}));
        ASSERT_TRUE(missiles.add(at_ships[i], {1, ships[i]}));
    }
    world.settle();
    for (const std::vector<Entity>* all : {&whales, &ships}) entities.destroy(std::span(*all).first(10));
    world.settle();
    for (std::size_t i = 0; i < whales.size(); ++i) {
        EXPECT_EQ(entities.alive(on_whales[i]), i >= 10) << i;
        EXPECT_EQ(missiles.get<&Missile::target>(missiles.instance(at_ships[i])), i < 10 ? kNullEntity : ships[i]) << i;
    }
}

}  // namespace
