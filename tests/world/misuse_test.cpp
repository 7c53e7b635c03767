// Mistakes of programs that checked builds find: what passes touch without having declared it, orders that are ambiguous,
// and settles that were forgotten. Stale rows are in tests/store/stale_rows_test.cpp and
// tests/query/stale_database_rows_test.cpp.

#include "shoal/base/log.h"
#include "shoal/command/commands.h"
#include "shoal/pose/model_pose.h"
#include "shoal/query/text_query.h"
#include "shoal/transform/transform.h"
#include "shoal/world/world.h"
#include "support/testing.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#if SHOAL_CHECKED
namespace {

using namespace shoal;

struct Sail {
    float area = 1, angle = 0;
    Vec3 wind{};
};
SHOAL_COMPONENT(Sail, area, angle, (wind, split))
struct Hull {
    float length = 1, width = 1;
};
SHOAL_COMPONENT(Hull, length, width)
struct Barnacle {
    int size = 0;
};
SHOAL_COMPONENT((Barnacle, many), size)
struct Tide {
    float height = 1;
};
SHOAL_COMPONENT((Tide, singleton), height)
struct Wave {
    int number = 0;
};

/// After so many settles of others, a world that does not settle is warned of.
constexpr std::uint64_t kManySettles = 1000;

/// Sails in a manager, hulls and barnacles in the database, places, the tide and waves.
struct Regatta {
    EntityManager entities;
    World world{entities};
    Manager<Sail>& sails = world.manager<Sail>();
    Database& hulls = world.database();
    TransformManager& places = world.transforms();
    Events<Wave>& waves = world.events<Wave>();
    std::vector<Entity> boats = std::vector<Entity>(4);

    Regatta() {
        EXPECT_TRUE(hulls.create<Hull>(boats, Zone(0)).ok());
        EXPECT_TRUE(hulls.add(boats, Barnacle{}).ok());
        EXPECT_TRUE(sails.add(boats).ok());
        EXPECT_TRUE(places.add(boats).ok());
        world.singleton<Tide>();
        world.settle();
    }

    /// Runs `function` in a pass that declares `accesses`, beside a pass that writes `written`.
    void run_beside(std::initializer_list<Access> accesses, std::initializer_list<Access> written,
                    const std::function<void()>& function) {
        world.schedule().clear();
        world.schedule().add("sneaky", accesses, [&](PassContext&) { function(); });
        world.schedule().add("writer", written, [](PassContext&) {});
        world.step(0);
    }
    /// Runs it in a pass that has declared a field of another store only.
    void run(const std::function<void()>& function) { run_beside({writes<&Hull::width>(hulls)}, {}, function); }
};

// --- writes --------------------------------------------------------------------------------------------------------

TEST(MisuseDeathTest, a_write_on_any_way_to_a_manager_that_a_pass_has_not_declared_ends_a_checked_program) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    Regatta race;
    const Instance sail = race.sails.instance(race.boats[0]);
    const FieldPath path = race.world.find_field("sail.area").value();
    constexpr const char* kArea =
        "\"sneaky\" wrote field \"area\" of \"sail\" without having declared it; add Write<...>";
    EXPECT_DEATH(race.run([&] { race.sails.set<&Sail::area>(sail, 2); }), kArea);
    EXPECT_DEATH(race.run([&] { race.sails.write_column<&Sail::area>()[0] = 2; }), kArea);
    EXPECT_DEATH(race.run([&] { race.sails.write_column<&Sail::area>({0, 1})[0] = 2; }), kArea);
    EXPECT_DEATH(race.run([&] { race.sails.core().table().write_column(0); }), kArea);
    EXPECT_DEATH(race.run([&] { static_cast<void>(race.world.set(race.boats[0], "sail.area", 2.0f)); }), kArea);
    EXPECT_DEATH(race.run([&] { static_cast<void>(path.write(race.boats[0], 2.0f)); }), kArea);
    EXPECT_DEATH(race.run([&] { query<Write<&Sail::area>>(race.sails).for_each([](float& area) { area = 2; }); }),
                 kArea);
    EXPECT_DEATH(race.run([&] {
        query<Write<&Sail::area>>(race.sails).for_each_batch([](auto&& rows) {
            rows.template column<&Sail::area>()[0] = 2;
        });
    }),
                 kArea);
    race.run([&] { race.hulls.set<&Hull::width>(race.hulls.find(race.boats[0]), 2); });  // it has declared this one
}

TEST(MisuseDeathTest, a_write_on_any_way_to_a_database_that_a_pass_has_not_declared_ends_a_checked_program) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    Regatta race;
    const DatabaseRow hull = race.hulls.find(race.boats[0]);
    constexpr const char* kLength = "\"sneaky\" wrote field \"length\" of \"hull\" without having declared it";
    EXPECT_DEATH(race.run([&] { race.hulls.set<&Hull::length>(hull, 2); }), kLength);
    EXPECT_DEATH(race.run([&] { static_cast<void>(race.world.set(race.boats[0], "hull.length", 2.0f)); }), kLength);
    EXPECT_DEATH(race.run([&] { hull.table->mark_written<&Hull::length>(race.hulls.find_component<Hull>(), {0, 1}); }),
                 kLength);
    EXPECT_DEATH(
        race.run([&] { race.world.query<Write<&Hull::length>>().for_each([](float& length) { length = 2; }); }),
        kLength);
    EXPECT_DEATH(race.run([&] { race.hulls.set_value<&Barnacle::size>(race.boats[0], 0, 7); }),
                 "\"sneaky\" wrote field \"size\" of \"barnacle\" without having declared it");
}

TEST(MisuseDeathTest, a_write_to_places_singletons_and_events_that_a_pass_has_not_declared_ends_a_checked_program) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    Regatta race;
    const Instance place = race.places.instance(race.boats[0]);
    const Vec3 there{1, 2, 3};
    EXPECT_DEATH(race.run([&] { race.places.set_position(place, there); }),
                 "\"sneaky\" wrote field \"position\" of \"transform\" without having declared it");
    EXPECT_DEATH(race.run([&] { race.places.set_local(place, {}); }), "wrote field \"position\" of \"transform\"");
    EXPECT_DEATH(race.run([&] { race.places.set_rotation(place, {}); }), "wrote field \"rotation\" of \"transform\"");
    EXPECT_DEATH(race.run([&] { race.places.set_scale(place, {1, 1, 1}); }), "wrote field \"scale\" of \"transform\"");
    EXPECT_DEATH(race.run([&] { race.places.set_world_pose(place, {}); }), "wrote field \"position\" of \"transform\"");
    EXPECT_DEATH(race.run([&] { race.places.set_positions({&race.boats[0], 1}, {&there, 1}); }),
                 "wrote field \"position\" of \"transform\"");
    EXPECT_DEATH(race.run([&] { static_cast<void>(race.world.set(race.boats[0], "transform.position", there)); }),
                 "wrote field \"position\" of \"transform\"");
    EXPECT_DEATH(race.run([&] { static_cast<void>(race.world.set("tide.height", 2.0f)); }),
                 "\"sneaky\" wrote component \"tide\" without|\"sneaky\" wrote field \"height\" of \"tide\" without");
    EXPECT_DEATH(race.run([&] { race.world.singleton<Tide>().height = 2; }), "a pass called World::singleton");
    EXPECT_DEATH(race.run([&] { race.waves.write(Wave{1}); }), "\"sneaky\" wrote events without having declared it");
    EXPECT_DEATH(race.run([&] { EventWriter<Wave>(race.waves).write(Wave{1}); }),
                 "\"sneaky\" wrote events without having declared it");
}

TEST(MisuseDeathTest, a_write_of_a_query_by_text_that_a_pass_has_not_declared_ends_a_checked_program) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    Regatta race;
    const TextQuery sails = TextQuery::make(race.world.directory(), "&sail").value();
    EXPECT_DEATH(race.run([&] { sails.for_each_batch([](const TextBatch&) {}); }),
                 "\"sneaky\" wrote field \"area\" of \"sail\" without having declared it");
}

// --- reads ---------------------------------------------------------------------------------------------------------

TEST(MisuseDeathTest, an_undeclared_read_of_what_another_pass_may_write_meanwhile_ends_a_checked_program) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    Regatta race;
    const Instance sail = race.sails.instance(race.boats[0]);
    const auto read_sail = [&] { static_cast<void>(race.sails.get<&Sail::area>(sail)); };
    constexpr const char* kArea =
        "\"sneaky\" read field \"area\" of \"sail\" without having declared it, and the pass \"writer\", which may run "
        "at "
        "the same time, writes it; add Read";
    const std::initializer_list<Access> written = {writes<&Sail::area>(race.sails)};
    EXPECT_DEATH(race.run_beside({}, written, read_sail), kArea);
    EXPECT_DEATH(race.run_beside({}, {writes(race.sails)}, read_sail), kArea);
    EXPECT_DEATH(race.run_beside({}, written, [&] { race.sails.column<&Sail::area>(); }), kArea);
    EXPECT_DEATH(race.run_beside({}, written, [&] { static_cast<void>(race.world.get(race.boats[0], "sail.area")); }),
                 kArea);
    EXPECT_DEATH(
        race.run_beside({}, written, [&] { static_cast<void>(race.world.get<float>(race.boats[0], "sail.area")); }),
        kArea);
    race.run_beside({reads<&Sail::area>(race.sails)}, written, read_sail);
    race.run_beside({writes<&Sail::area>(race.sails)}, written, read_sail);
    race.run_beside({}, {writes<&Sail::angle>(race.sails)}, read_sail);  // nobody writes it
}

TEST(MisuseDeathTest, a_read_of_a_database_of_places_or_of_events_is_found_in_the_same_way) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    Regatta race;
    const DatabaseRow hull = race.hulls.find(race.boats[0]);
    const Instance place = race.places.instance(race.boats[0]);
    EXPECT_DEATH(race.run_beside({}, {writes<&Hull::length>(race.hulls)},
                                 [&] { static_cast<void>(race.hulls.get<&Hull::length>(hull)); }),
                 "\"sneaky\" read field \"length\" of \"hull\"");
    EXPECT_DEATH(race.run_beside({}, {writes(race.places)}, [&] { static_cast<void>(race.places.local(place)); }),
                 "\"sneaky\" read field \"position\" of \"transform\"");
    EXPECT_DEATH(race.run_beside({}, {writes(race.places)}, [&] { static_cast<void>(race.places.world(place)); }),
                 "\"sneaky\" read field \"world\" of \"transform\"");
    EXPECT_DEATH(race.run_beside({}, {writes(race.waves)}, [&] { static_cast<void>(race.waves.read()); }),
                 "\"sneaky\" read events without having declared it");
    EXPECT_DEATH(race.run_beside({}, {writes(race.world.directory().singletons().require(schema_of<Tide>()))},
                                 [&] { static_cast<void>(std::as_const(race.world).singleton<Tide>()); }),
                 "\"sneaky\" read .*\"tide\"");
}

TEST(Misuse, a_read_of_what_a_pass_writes_that_is_ordered_before_or_behind_is_no_mistake) {
    Regatta race;
    const Instance sail = race.sails.instance(race.boats[0]);
    float seen = 0;
    const auto read_sail = [&](PassContext&) { seen = race.sails.get<&Sail::area>(sail); };
    const auto write_sail = [&](PassContext&) { race.sails.set<&Sail::area>(sail, 8); };
    race.world.schedule()
        .add("early", {}, [&](PassContext&) { EXPECT_EQ(race.sails.get<&Sail::area>(sail), 1); })
        .before("write");
    race.world.schedule().add("write", {writes<&Sail::area>(race.sails)}, write_sail);
    race.world.schedule().add("between", {}, [](PassContext&) {}).after("write");
    race.world.schedule().add("read", {}, read_sail).after("between");
    race.world.step(0);
    EXPECT_EQ(seen, 8);
}

// --- orders, settles -------------------------------------------------------------------------------------------------

/// What is logged while it lives.
struct Logged {
    Logged() {
        set_log_hook(
            [](void* self, LogLevel level, std::string_view message) {
                auto& logged = *static_cast<Logged*>(self);
                if (level == LogLevel::kWarning) logged.warnings.emplace_back(message);
            },
            this);
    }
    ~Logged() { set_log_hook(nullptr, nullptr); }

    std::vector<std::string> warnings;
};

TEST(Misuse, an_ambiguous_order_is_an_error_or_where_it_is_allowed_a_warning_that_names_passes_and_field) {
    Regatta race;
    Schedule& schedule = race.world.schedule();
    schedule.open_group("rig");
    schedule.add("trim", {writes<&Sail::angle>(race.sails)}, [](PassContext&) {});
    schedule.open_group("crew");
    schedule.add("hoist", {reads<&Sail::angle>(race.sails)}, [](PassContext&) {});
    const std::string expected =
        "these passes conflict, but their order is ambiguous; order them with after() or before():\n"
        "  \"trim\" of \"rig\" and \"hoist\" of \"crew\": \"sail.angle\"";
    EXPECT_EQ(schedule.prepare().message(), expected) << "checked builds are strict";
    const Logged logged;
    schedule.set_strict(false);
    for (int i = 0; i < 3; ++i) race.world.step(0);
    EXPECT_EQ(logged.warnings, std::vector<std::string>{expected}) << "once, not in every frame";
}

TEST(Misuse, commands_and_deaths_that_wait_for_a_settle_for_100_frames_are_warned_of_once) {
    const Logged logged;
    Regatta race;
    bool asks = false;
    race.world.schedule().add("look", {}, [](PassContext&) {});
    race.world.schedule().add("sink", {writes(race.hulls)}, [&](PassContext&) {
        if (asks) race.hulls.commands().destroy(race.boats[0]);
    });
    for (int i = 0; i < 250; ++i) race.world.run_passes(0);
    EXPECT_TRUE(logged.warnings.empty()) << "nothing waits";
    race.world.settle();
    asks = true;
    for (int i = 0; i < 99; ++i) race.world.run_passes(0);
    race.world.settle();
    EXPECT_TRUE(logged.warnings.empty());
    for (int i = 0; i < 350; ++i) race.world.run_passes(0);
    const std::string first = "the passes of a world have run 100 times without World::settle(): ";
    ASSERT_EQ(logged.warnings.size(), 1u);
    EXPECT_EQ(logged.warnings[0], first +
                                      "100 commands wait, the first of them of the pass \"sink\"; call settle() after "
                                      "run_passes(), or call step()");
    asks = false;
    race.world.settle();
    race.entities.destroy(race.boats[1]);
    for (int i = 0; i < 100; ++i) race.world.run_passes(0);
    ASSERT_EQ(logged.warnings.size(), 2u);
    EXPECT_EQ(logged.warnings[1],
              first + "1 dead entities have their rows still; call settle() after run_passes(), or call step()");
}

TEST(Misuse, a_world_that_shares_entities_and_never_settles_is_warned_of_once_with_what_it_keeps) {
    const Logged logged;
    Regatta race;
    World audience(race.entities);
    auto& watched = audience.manager<Hull>();
    ASSERT_TRUE(watched.add(race.boats));
    const auto settle = [&](std::uint64_t times) {
        for (std::uint64_t i = 0; i < times; ++i) race.world.settle();
    };
    settle(kManySettles + 10);
    EXPECT_TRUE(logged.warnings.empty()) << "nobody has died";
    race.entities.destroy(race.boats[0]);
    settle(kManySettles - 10);
    audience.settle();
    race.entities.destroy(race.boats[1]);
    settle(kManySettles - 10);
    EXPECT_TRUE(logged.warnings.empty()) << "it has settled in between";
    settle(2 * kManySettles);
    ASSERT_EQ(logged.warnings.size(), 1u);
    EXPECT_EQ(logged.warnings[0],
              "a store (hull) has not looked at the last 1 deaths for 1000 settles of others, so dead rows stay and "
              "the list of "
              "deaths grows; settle its world, which shares these entities, in every frame, or end it");
}

}  // namespace
#endif
