// What destruction callbacks may do while a world settles, and what passes must not do before.

#include "shoal/command/commands.h"
#include "shoal/react/service.h"
#include "shoal/resource/blob_writer.h"
#include "shoal/world/world.h"
#include "support/testing.h"

#include <functional>
#include <utility>
#include <vector>

namespace {

using namespace shoal;

struct Crab {
    int number = 0;
};
SHOAL_COMPONENT(Crab, number)
struct Shell {
    int number = 0;
};
SHOAL_COMPONENT(Shell, number)
// These have no store at first.
struct Claw {
    int number = 0;
};
SHOAL_COMPONENT(Claw, number)
struct Egg {
    int number = 0;
};
SHOAL_COMPONENT(Egg, number)
struct Pearl {
    int number = 0;
};
SHOAL_COMPONENT(Pearl, number)

/// Ten crabs in the database, with shells in a manager, and a callback that is told of the first death.
struct Beach {
    Beach() {
        EXPECT_TRUE(sea.create<Crab>(crabs, 0).ok());
        EXPECT_TRUE(shells.add(crabs).ok());
        callback = entities.add_destruction_callback(
            [](void* self, std::span<const Entity>) {
                auto& beach = *static_cast<Beach*>(self);
                if (beach.on_death) std::exchange(beach.on_death, nullptr)();
            },
            this);
    }
    ~Beach() { entities.remove_destruction_callback(callback); }

    /// Destroys the first crab while the world settles, and calls `function` in the callback.
    void settle_with(std::function<void()> function) {
        on_death = std::move(function);
        sea.commands().destroy(crabs[0]);
        world.settle();
        EXPECT_EQ(on_death, nullptr);
        EXPECT_EQ(sea.validate().message(), "");
        EXPECT_FALSE(entities.alive(crabs[0]));
        EXPECT_FALSE(sea.has_row(crabs[0]));
        EXPECT_FALSE(shells.has(crabs[0]));
    }

    EntityManager entities;
    World world{entities};
    Manager<Shell>& shells = world.manager<Shell>();
    Database& sea = world.database();
    std::vector<Entity> crabs = std::vector<Entity>(10);
    std::function<void()> on_death;
    DestructionCallback callback;
};

/// Two entities with a crab and an egg each.
std::vector<std::byte> nest_blob() {
    BlobWriter writer;
    writer.set_name("nest");
    const Crab crab{7};
    const Egg egg{3};
    const std::uint32_t crabs = writer.add_component_type(schema_of<Crab>(), 0).value();
    const std::uint32_t eggs = writer.add_component_type(schema_of<Egg>(), 1).value();
    for (int i = 0; i < 2; ++i) {
        const std::uint32_t entity = writer.add_entity({});
        writer.add_component(crabs, entity, std::as_bytes(std::span(&crab, 1)));
        writer.add_component(eggs, entity, std::as_bytes(std::span(&egg, 1)));
    }
    return writer.write().value();
}

// --- callbacks while the world settles ---------------------------------------------------------------------------

TEST(WorldSettle, a_destruction_callback_may_be_the_first_to_use_a_store) {
    const shoal_test::LeakCheck leaks;
    Beach beach;
    beach.settle_with([&] {  // the list of stores grows
        EXPECT_TRUE(beach.world.manager<Claw>().add(beach.crabs[1], Claw{1}).ok());
        EXPECT_TRUE(beach.world.manager<Egg>().add(beach.crabs[1], Egg{2}).ok());
        EXPECT_TRUE(beach.world.manager<Pearl>().add(beach.crabs[1], Pearl{3}).ok());
    });
    EXPECT_EQ(beach.world.directory().stores().size(), 5u);
    auto& pearls = beach.world.manager<Pearl>();
    EXPECT_EQ(pearls.get<&Pearl::number>(pearls.instance(beach.crabs[1])), 3);
    EXPECT_EQ(pearls.core().table().stamp(), beach.world.stamp());
    beach.entities.destroy(beach.crabs[1]);
    beach.world.settle();
    EXPECT_EQ(beach.world.manager<Claw>().num_rows() + pearls.num_rows(), 0u);
}

TEST(WorldSettle, a_store_attached_by_a_destruction_callback_settles_with_the_others) {
    Beach beach;
    beach.world.settle();
    Manager<Claw> claws(beach.entities, beach.world.pool());
    ASSERT_TRUE(claws.add(beach.crabs[0]).ok());  // this one dies
    beach.settle_with([&] { EXPECT_TRUE(beach.world.attach(claws.core()).ok()); });
    EXPECT_EQ(claws.num_rows(), 0u);
    EXPECT_EQ(claws.core().table().stamp(), beach.world.stamp());
    beach.world.detach(claws.core());
}

TEST(WorldSettle, counts_the_rows_that_all_stores_remove) {
    EntityManager entities;
    World world(entities);
    auto& shells = world.manager<Shell>();
    Database& sea = world.database();
    auto& claws = world.manager<Claw>();
    std::vector<Entity> crabs(5);
    ASSERT_TRUE(sea.create<Crab>(crabs, 0).ok() && shells.add(crabs).ok() && claws.add(crabs).ok());
    for (const std::size_t count : {3u, 1u}) {
        entities.destroy(std::span(crabs).first(count));
        crabs.erase(crabs.begin(), crabs.begin() + static_cast<std::ptrdiff_t>(count));
        world.settle();
        EXPECT_EQ(world.settle_statistics().last.num_removed, 3 * count);
    }
    EXPECT_EQ(world.settle_statistics().total.num_removed, 12u);
}

TEST(WorldSettle, a_destruction_callback_may_spawn) {
    const std::vector<std::byte> bytes = nest_blob();
    const Result<Blob> nest = Blob::view(bytes);
    ASSERT_TRUE(nest.ok()) << nest.message();
    Beach beach;
    Entity spawned;
    beach.settle_with([&] {
        ASSERT_TRUE(beach.world.adopt_schemas(*nest).ok());  // makes a manager for eggs
        Result<Spawned> nests = beach.world.spawn(*nest, {.copies = 40});
        ASSERT_TRUE(nests.ok()) << nests.message();
        spawned = nests->entity(1, 39);
    });
    EXPECT_EQ(beach.sea.num_rows(), 9u + 80);
    EXPECT_EQ(beach.sea.get<&Crab::number>(beach.sea.find(spawned)), 7);
    EXPECT_EQ(beach.world.manager(schema_of<Egg>()).value()->num_rows(), 80u);
}

TEST(WorldSettle, entities_destroyed_by_a_destruction_callback_have_no_rows_when_the_world_has_settled) {
    Beach beach;
    beach.settle_with([&] {
        EXPECT_EQ(beach.entities.destroy(std::span(beach.crabs).subspan(2, 3)), 3u);
        EXPECT_EQ(beach.sea.destroy(std::span(beach.crabs).subspan(5, 2)), 2u);
    });
    EXPECT_EQ(beach.entities.num_alive(), 4u);
    EXPECT_EQ(beach.sea.num_rows(), 4u);
    EXPECT_EQ(beach.shells.num_rows(), 4u);
}

TEST(WorldSettle, counts_what_services_ask_for_after_the_commands) {
    struct Asks final : WorldService {
        explicit Asks(World& of) : WorldService("asks"), world(of) { world.services().add(*this); }
        ~Asks() override { world.services().remove(*this); }
        void after_commands(const SettleContext&) override {
            for (int i = 0; i < 2; ++i) static_cast<void>(world.commands().create(Crab{i}));
        }
        World& world;
    };
    EntityManager entities;
    World world(entities);
    world.manager<Crab>();
    Asks asks(world);
    for (std::uint64_t i = 1; i <= 2; ++i) {
        world.settle();
        EXPECT_EQ(entities.num_alive(), 2 * i);
        EXPECT_EQ(world.settle_statistics().last.num_created, 2u);
    }
}

TEST(WorldSettle, commands_of_a_destruction_callback_are_carried_out_at_the_next_settle_at_the_latest) {
    Beach beach;
    beach.settle_with([&] {
        beach.sea.commands().create(3, Crab{9});
        beach.sea.commands().destroy(beach.crabs[1]);
    });
    beach.world.settle();
    EXPECT_EQ(beach.sea.num_rows(3), 1u);
    EXPECT_FALSE(beach.entities.alive(beach.crabs[1]));
    EXPECT_EQ(beach.shells.num_rows(), 8u);
    EXPECT_EQ(beach.sea.num_rows(), 9u);
    EXPECT_EQ(beach.world.settle_statistics().total.num_created, 1u);
    EXPECT_EQ(beach.world.settle_statistics().total.num_destroyed, 2u);
}

TEST(WorldSettle, a_destruction_callback_may_settle_a_world_that_does_not_settle) {
    Beach beach;
    beach.sea.commands().destroy(beach.crabs[1]);
    beach.on_death = [&] { beach.world.settle(); };
    EXPECT_TRUE(beach.entities.destroy(beach.crabs[0]));
    EXPECT_FALSE(beach.entities.alive(beach.crabs[1]));
    EXPECT_EQ(beach.sea.num_rows(), 8u);
    EXPECT_EQ(beach.shells.num_rows(), 8u);
    EXPECT_EQ(beach.sea.validate().message(), "");
}

TEST(WorldSettleDeathTest, settling_or_stepping_a_world_in_a_destruction_callback_while_it_settles_ends_the_program) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    Beach beach;
    EXPECT_DEATH(beach.settle_with([&] { beach.world.settle(); }), "World::settle.* while the world settles");
    EXPECT_DEATH(beach.settle_with([&] { beach.world.step(0); }), "World::step.* while the world settles");
    EXPECT_DEATH(beach.settle_with([&] { beach.sea.settle({}); }), "settled the database that");
    EXPECT_DEATH(beach.settle_with([&] { beach.world.detach(beach.shells.core()); }), "while its world settles");
}

// --- while passes run --------------------------------------------------------------------------------------------

/// A store that counts how often its rows are held.
struct HeldStore final : Store {
    std::span<const Schema* const> schemas() const override { return {}; }
    Status spawn(const SpawnBatch&) override { return {}; }
    void drop(std::span<const Entity>) override {}
    void hold_rows(bool hold) override { num_held += hold ? 1 : -1; }
    void settle(const SettleContext&) override { EXPECT_EQ(num_held, 0); }
    std::span<const Table* const> tables() const override { return {}; }
    std::size_t statistics(std::span<StoreStatistics>) const override { return 0; }

    int num_held = 0;
};

TEST(WorldPasses, hold_the_rows_of_every_store_until_the_world_settles) {
    EntityManager entities;
    World world(entities);
    HeldStore stores[2];
    for (HeldStore& store : stores) ASSERT_TRUE(world.attach(store).ok());
    int num_runs = 0;
    world.schedule().add("look", [&](PassContext&) {
        for (const HeldStore& store : stores) EXPECT_EQ(store.num_held, 1);
        ++num_runs;
    });
    world.step(0);
    world.step(0);
    EXPECT_EQ(num_runs, 2);
    for (HeldStore& store : stores) {
        EXPECT_EQ(store.num_held, 0);
        world.detach(store);
    }
}

TEST(WorldPasses, may_look_up_the_stores_of_their_world) {
    EntityManager entities;
    World world(entities);
    auto& shells = world.manager<Shell>();
    Database& sea = world.database();
    world.schedule().add("look", [&](PassContext&) {
        EXPECT_EQ(&world.manager<Shell>(), &shells);
        EXPECT_EQ(&world.database(), &sea);
    });
    world.step(0);
}

TEST(WorldPassesDeathTest, making_or_detaching_a_store_settling_or_stepping_the_world_in_a_pass_ends_the_program) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EntityManager entities;
    PagePool pool;
    Manager<Egg> eggs(entities, pool);
    World world(entities);
    world.manager<Shell>();
    const auto run = [&](auto function) {
        world.schedule().clear();
        world.schedule().add("pass", [&](PassContext&) { function(); });
        world.step(0);
    };
    EXPECT_DEATH(run([&] { world.manager<Claw>(); }), "a pass made or attached a store .* before World::step");
    EXPECT_DEATH(run([&] { world.transforms(); }), "a pass made or attached a store");
    EXPECT_DEATH(run([&] { static_cast<void>(world.attach(eggs.core())); }), "a pass made or attached a store");
    EXPECT_DEATH(run([&] { world.detach(*world.directory().stores()[0]); }),
                 "a pass detached a store .* after World::step");
    EXPECT_DEATH(run([&] { world.settle(); }), "a pass called World::settle.* settles when all passes have ended");
    EXPECT_DEATH(run([&] { world.step(0); }), "a pass called World::step");
}

}  // namespace
