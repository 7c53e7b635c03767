// The order of passes: after() and before(), groups, strict schedules, and writes that were not declared.

#include "shoal/world/schedule.h"

#include "shoal/database/database.h"
#include "shoal/table/detail/table.h"
#include "shoal/world/detail/schedule_graph.h"
#include "shoal/world/world.h"
#include "support/testing.h"

#include <memory>
#include <string>
#include <vector>

namespace order_test {

struct Fish {
    shoal::Vec3 position{}, velocity{};
    float hunger = 0;
};
SHOAL_COMPONENT(Fish, (position, split), velocity, hunger)

struct Shell {
    float size = 0, age = 0;
};
SHOAL_COMPONENT((Shell, whole), size, age)

struct Scar {
    float depth = 0;
};
SHOAL_COMPONENT((Scar, many), depth)

}  // namespace order_test

namespace {

using namespace shoal;
using order_test::Fish;
using order_test::Scar;
using order_test::Shell;

/// Passes that only record their names.
struct Named {
    Schedule schedule;
    SerialExecutor executor;
    std::string order;
    int shared = 0, other = 0;

    PassOrder add(const std::string& name, std::initializer_list<Access> accesses) {
        return schedule.add(name, accesses, [this, name](PassContext&) { order += name; });
    }
    PassOrder add(const std::string& name) { return add(name, {writes_everything()}); }
    std::string run() {
        order.clear();
        schedule.run(executor, 0, 0);
        return order;
    }
    std::string error() { return std::string(schedule.prepare().message()); }
};

TEST(ScheduleOrder, passes_are_ordered_as_they_were_added_but_after_those_that_must_come_before_them) {
    Named passes;
    passes.add("a");
    passes.add("b").after("d");
    passes.add("c");
    passes.add("d");
    EXPECT_EQ(passes.run(), "acdb");
    passes.add("e").before("a");
    EXPECT_EQ(passes.run(), "cdbea") << "the others keep their order";
}

TEST(ScheduleOrder, an_explicit_order_holds_without_a_conflict) {
    Named passes;
    passes.add("a", {reads(passes.shared)}).after("b");
    passes.add("b", {reads(passes.shared)});
    EXPECT_EQ(passes.run(), "ba");
}

TEST(ScheduleOrder, a_group_stands_for_all_of_its_passes) {
    Named passes;
    passes.add("z").after("physics");
    passes.schedule.open_group("physics");
    passes.add("p");
    passes.add("q");
    passes.schedule.open_group("");
    passes.add("a").before("physics");
    EXPECT_EQ(passes.run(), "apqz");
}

TEST(ScheduleOrder, a_pass_can_be_the_last_of_its_group) {
    Named passes;
    passes.schedule.open_group("physics");
    passes.add("p").after("physics");
    passes.add("q");
    passes.add("r");
    EXPECT_EQ(passes.run(), "qrp");
}

TEST(ScheduleOrder, a_cycle_is_an_error_that_names_its_passes) {
    Named passes;
    passes.add("free");
    passes.add("a").after("c");
    passes.add("b").after("a");
    passes.add("c").after("b");
    passes.add("behind").after("c");
    const std::string message = passes.error();
    const std::string chains[] = {R"("a" before "b" before "c" before "a")", R"("b" before "c" before "a" before "b")",
                                  R"("c" before "a" before "b" before "c")"};
    EXPECT_TRUE(message == "the order of passes has a cycle: " + chains[0] + "; remove one of these" ||
                message == "the order of passes has a cycle: " + chains[1] + "; remove one of these" ||
                message == "the order of passes has a cycle: " + chains[2] + "; remove one of these")
        << message;
    for (const char* name : {"a", "b", "c", "behind"}) ASSERT_TRUE(passes.schedule.remove(name).ok());
    EXPECT_EQ(passes.error(), "");
    passes.add("self").before("self");
    EXPECT_EQ(passes.error(), "the order of passes has a cycle: \"self\" before \"self\"; remove one of these");
}

TEST(ScheduleOrder, an_unknown_name_is_an_error) {
    Named passes;
    passes.add("a").after("nobody");
    EXPECT_EQ(passes.error(),
              "the pass \"a\" is to run after \"nobody\", but the schedule has neither a pass nor a group of "
              "that name");
    passes.add("nobody");
    EXPECT_EQ(passes.run(), "nobodya") << "the pass may be added later";
    passes.add("b").after("");
    EXPECT_NE(passes.error().find("\"b\" is to run after \"\", but"), std::string::npos)
        << "passes without a group are no group";
}

TEST(ScheduleOrder, a_disabled_pass_keeps_the_others_in_order) {
    Named passes;
    passes.add("a", {reads(passes.shared)}).after("b");
    passes.add("b", {reads(passes.shared)}).after("c");
    passes.add("c", {reads(passes.shared)});
    ASSERT_TRUE(passes.schedule.enable("b", false).ok());
    EXPECT_EQ(passes.run(), "ca");
    for (const char* name : {"a", "c"}) ASSERT_TRUE(passes.schedule.enable(name, false).ok());
    EXPECT_EQ(passes.run(), "");
}

// --- strict schedules --------------------------------------------------------------------------------------------

// req: F5-F7
TEST(StrictSchedule, an_ambiguous_order_between_groups_is_an_error_that_names_both_passes) {
    EntityManager entities;
    PagePool pool;
    Manager<Fish> fish(entities, pool);
    Named passes;
    passes.schedule.set_strict(true);
    passes.schedule.open_group("physics");
    passes.add("move", {writes<&Fish::position>(fish)});
    passes.schedule.open_group("art");
    passes.add("wobble", {writes<&Fish::position>(fish)});
    passes.add("draw", {reads<&Fish::position>(fish)});
    EXPECT_EQ(passes.error(),
              "these passes conflict, but their order is ambiguous; order them with after() or before():"
              "\n  \"move\" of \"physics\" and \"wobble\" of \"art\": \"fish.position\""
              "\n  \"move\" of \"physics\" and \"draw\" of \"art\": \"fish.position\"");
    passes.schedule.set_strict(false);
    EXPECT_EQ(passes.run(), "movewobbledraw") << "still in the order of adding";
}

TEST(StrictSchedule, the_first_8_pairs_whose_order_is_ambiguous_are_named_and_the_others_are_counted) {
    Named passes;
    passes.schedule.set_strict(true);
    passes.schedule.open_group("a");
    passes.add("write", {writes(passes.shared)});
    passes.schedule.open_group("b");
    std::string error = "these passes conflict, but their order is ambiguous; order them with after() or before():";
    for (int i = 0; i < 11; ++i) {
        const std::string name = "read " + std::to_string(i);
        passes.add(name, {reads(passes.shared)});
        if (i < 8) error += "\n  \"write\" of \"a\" and \"" + name + "\" of \"b\": an object that is not a store";
        const std::string rest = i < 8 ? "" : "\n  and " + std::to_string(i - 7) + " more";
        EXPECT_EQ(passes.error(), error + rest);
    }
}

TEST(StrictSchedule, an_order_through_other_passes_is_not_ambiguous) {
    Named passes;
    passes.schedule.set_strict(true);
    passes.schedule.open_group("physics");
    passes.add("move", {writes(passes.shared)});
    passes.schedule.open_group("art");
    passes.add("wobble", {writes(passes.shared), writes(passes.other)}).after("move");
    passes.add("draw", {reads(passes.shared), reads(passes.other)});
    EXPECT_EQ(passes.error(), "") << "draw follows wobble in its group, and wobble follows move";
    passes.schedule.open_group("sound");
    passes.add("listen", {reads(passes.other)});
    EXPECT_EQ(passes.error(),
              "these passes conflict, but their order is ambiguous; order them with after() or "
              "before():\n  \"wobble\" of \"art\" and \"listen\" of \"sound\": an object that is not a "
              "store");
    ASSERT_TRUE(passes.schedule.remove("listen").ok());
    passes.add("listen", {reads(passes.other)}).after("art");
    EXPECT_EQ(passes.error(), "");
}

TEST(StrictSchedule, passes_that_only_read_need_no_order) {
    Named passes;
    passes.schedule.set_strict(true);
    for (const char* group : {"a", "b", "c"}) {
        passes.schedule.open_group(group);
        passes.add(std::string(group) + "1", {reads(passes.shared)});
    }
    EXPECT_EQ(passes.error(), "");
}

// --- accesses ----------------------------------------------------------------------------------------------------

TEST(Accesses, conflict_when_one_writes_what_the_other_reads_or_writes) {
    EntityManager entities;
    PagePool pool;
    Manager<Fish> fish(entities, pool), others(entities, pool);
    int object = 0;
    const auto both = [](const Access& a, const Access& b) {
        EXPECT_EQ(conflict(a, b), conflict(b, a));
        return conflict(a, b);
    };
    EXPECT_TRUE(both(writes<&Fish::hunger>(fish), reads<&Fish::hunger>(fish)));
    EXPECT_TRUE(both(writes<&Fish::hunger>(fish), writes<&Fish::hunger>(fish)));
    EXPECT_FALSE(both(reads<&Fish::hunger>(fish), reads<&Fish::hunger>(fish)));
    EXPECT_FALSE(both(writes<&Fish::hunger>(fish), writes<&Fish::velocity>(fish)));
    EXPECT_FALSE(both(writes<&Fish::hunger>(fish), writes<&Fish::hunger>(others)));
    EXPECT_TRUE(both(writes<&Fish::hunger>(fish), reads(fish)));
    EXPECT_TRUE(both(reads<&Fish::hunger>(fish), writes(fish.core())));
    const Access field = writes<&Fish::hunger>(fish);
    Access component = reads<&Fish::velocity>(fish), of_others = component;
    component.field = of_others.field = kAllFields;
    of_others.component = ComponentId("shell");
    EXPECT_TRUE(both(field, component));
    EXPECT_FALSE(both(field, of_others));
    EXPECT_FALSE(both(writes(object), writes(fish)));
    EXPECT_TRUE(both(writes(object), reads(object)));
    EXPECT_TRUE(both(writes_everything(), reads(object)));
    EXPECT_TRUE(both(writes_everything(), writes_everything()));
}

// req: E12
TEST(Accesses, fields_of_a_whole_component_share_cache_lines_and_conflict) {
    EntityManager entities;
    PagePool pool;
    Manager<Shell> shells(entities, pool);
    EXPECT_TRUE(conflict(writes<&Shell::size>(shells), reads<&Shell::age>(shells)));
}

TEST(Accesses, a_query_knows_its_own) {
    EntityManager entities;
    PagePool pool;
    Manager<Fish> fish(entities, pool);
    Manager<Shell> shells(entities, pool);
    const auto rows = query<Write<&Fish::position>, Read<&Fish::hunger>, Maybe<&Shell::age>>(fish, shells).accesses();
    ASSERT_EQ(rows.size(), 3u);
    EXPECT_TRUE(conflict(rows[0], reads<&Fish::position>(fish)));
    EXPECT_FALSE(conflict(rows[1], reads<&Fish::hunger>(fish)));
    EXPECT_TRUE(conflict(rows[1], writes<&Fish::hunger>(fish)));
    EXPECT_FALSE(conflict(rows[1], writes<&Fish::velocity>(fish)));
    EXPECT_TRUE(conflict(rows[2], writes(shells)));
}

TEST(Accesses, in_different_zones_of_a_database_do_not_conflict) {
    EntityManager entities;
    PagePool pool;
    Database sea(entities, pool);
    Manager<Shell> shells(entities, pool);
    const auto all = query<Write<&Fish::hunger>, Read<&Fish::position>>(sea);
    const auto both = [](const auto& a, const auto& b) {
        bool any = false;
        for (const Access& one : a.accesses())
            for (const Access& other : b.accesses()) any |= conflict(one, other);
        return any;
    };
    EXPECT_FALSE(both(all.in({1, 2}), all.in({0, 3})));
    EXPECT_TRUE(both(all.in({1, 2}), all.in({2, 3})));
    EXPECT_TRUE(both(all.in({1, 2}), all));
    EXPECT_TRUE(conflict(all.in({1}).accesses()[0], all.in({2}).accesses()[0], true)) << "zones do not count";
    const Access writes_in_2 = writes(sea).in({2});
    EXPECT_FALSE(conflict(all.in({1}).accesses()[1], writes_in_2));
    EXPECT_TRUE(conflict(all.in({2}).accesses()[1], writes_in_2));
    EXPECT_TRUE(conflict(writes_everything(), writes_in_2));
    EXPECT_FALSE(conflict(all.in({0}).accesses()[1], writes(sea).in({}))) << "in no zone there is nothing";
    const auto joined = query<Write<&Fish::hunger>, Write<&Shell::size>>(sea, shells);
    const auto of_one = joined.in({1}).accesses(), of_another = joined.in({2}).accesses();
    EXPECT_FALSE(conflict(of_one[0], of_another[0]));
    EXPECT_TRUE(conflict(of_one[1], of_another[1])) << "rows of a manager lie in no zone";
}

TEST(Accesses, to_several_values_of_an_entity_conflict_in_different_zones) {
    EntityManager entities;
    PagePool pool;
    Database sea(entities, pool);
    const auto scars = query<Write<&Scar::depth>>(sea);
    EXPECT_TRUE(conflict(scars.in({1}).accesses()[0], scars.in({2}).accesses()[0]))
        << "further values are in one table";
    EXPECT_TRUE(conflict(writes(sea).in({1}), writes(sea).in({2})));
    EXPECT_FALSE(conflict(writes<&Fish::hunger>(sea).in({1}), writes<&Fish::hunger>(sea).in({2})));
}

TEST(Accesses, to_a_whole_database_conflict_in_different_zones_from_when_it_gets_a_type_of_several_values) {
    EntityManager entities;
    PagePool pool;
    Database sea(entities, pool);
    sea.component<Fish>();
    Named of_all, of_scars;
    for (Named* passes : {&of_all, &of_scars}) {
        passes->schedule.set_strict(true);
        for (const Zone zone : {1u, 2u}) {
            passes->schedule.open_group(std::to_string(zone));
            const Access access = passes == &of_all ? writes(sea) : writes<&Scar::depth>(sea);
            passes->add("p" + std::to_string(zone), {access.in({zone})});
        }
        EXPECT_EQ(passes->error(), "");
    }
    sea.component<Shell>();
    EXPECT_EQ(of_all.error(), "") << "rows of all types lie in their zones";
    sea.component<Scar>();  // of which further values are in one table
    EXPECT_NE(of_all.error().find("\"p1\" of \"1\" and \"p2\" of \"2\": a whole store"), std::string::npos);
    EXPECT_NE(of_scars.error().find("\"p1\" of \"1\" and \"p2\" of \"2\": \"scar.depth\""), std::string::npos)
        << of_scars.error();
    of_all.schedule.set_strict(false);
    EXPECT_EQ(of_all.run(), "p1p2");
}

TEST(Accesses, to_zones_of_a_database_that_was_detached_are_not_looked_at_while_their_pass_is_disabled) {
    EntityManager entities;
    PagePool pool;
    World world(entities);
    auto sea = std::make_unique<Database>(entities, pool);
    sea->component<Fish>();
    ASSERT_TRUE(world.attach(*sea).ok());
    int num_runs = 0;
    world.schedule().add("fish", {writes(*sea).in({1})}, [&](PassContext&) { ++num_runs; });
    world.step(0);
    world.detach(*sea);
    sea.reset();
    ASSERT_TRUE(world.schedule().enable("fish", false).ok());
    world.step(0);
    EXPECT_EQ(num_runs, 1);
}

TEST(Accesses, to_fields_of_parents_are_in_all_zones) {
    EntityManager entities;
    World world(entities);
    world.database().component<Fish>();
    world.database().component<Shell>();
    const auto lead = world.query<Write<&Fish::hunger>>().in({1});
    const auto follow = world.query<Write<&Shell::size>, Parent<Read<&Fish::hunger>>>().in({2});
    EXPECT_TRUE(conflict(lead.accesses()[0], follow.accesses()[1]));
    EXPECT_FALSE(conflict(lead.accesses()[0], world.query<Write<&Fish::hunger>>().in({2}).accesses()[0]));
}

// --- writes that were not declared -------------------------------------------------------------------------------

#if SHOAL_CHECKED
struct Sea {
    EntityManager entities;
    PagePool pool;
    Manager<Fish> fish{entities, pool};
    std::vector<Entity> owners = std::vector<Entity>(20'000);
    Schedule schedule;

    Sea() { EXPECT_TRUE(entities.create(owners).ok() && fish.add(owners).ok()); }
};

TEST(ScheduleDeathTest, a_write_that_a_pass_has_not_declared_ends_a_checked_program) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    SerialExecutor serial;
    Sea sea;
    sea.schedule.add("sneaky", {writes<&Fish::position>(sea.fish)}, [&](PassContext&) {
        sea.fish.set<&Fish::position>(sea.fish.instance(sea.owners[3]), {});
        sea.fish.write_column<&Fish::position>();
    });
    sea.schedule.run(serial, 0, 0);
    sea.fish.write_column<&Fish::hunger>();  // outside of passes every write is allowed
    ASSERT_TRUE(sea.schedule.remove("sneaky").ok());
    sea.schedule.add("sneaky", {writes<&Fish::position>(sea.fish), reads(sea.fish)},
                     [&](PassContext&) { sea.fish.set<&Fish::hunger>(sea.fish.instance(sea.owners[3]), 1); });
    EXPECT_DEATH(sea.schedule.run(serial, 0, 0), "\"sneaky\" wrote field \"hunger\" of \"fish\" without having");
}

TEST(ScheduleDeathTest, a_write_in_a_zone_that_a_pass_has_not_declared_ends_a_checked_program) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EntityManager entities;
    PagePool pool;
    Database sea(entities, pool);
    std::vector<Entity> fish(2);
    ASSERT_TRUE(sea.create<Fish>(std::span(fish).first(1), 1).ok());
    ASSERT_TRUE(sea.create<Fish>(std::span(fish).last(1), 2).ok());
    Schedule schedule;
    std::size_t written = 0;
    schedule.add("sneaky", query<Read<&Fish::velocity>>(sea).in({1}), {writes<&Fish::hunger>(sea).in({1})},
                 [&](Vec3) { sea.set<&Fish::hunger>(sea.find(fish[written]), 1); });
    SerialExecutor serial;
    schedule.run(serial, 0, 0);
    written = 1;
    EXPECT_DEATH(
        schedule.run(serial, 0, 0),
        "\"sneaky\" wrote field \"hunger\" of \"fish\" in zone 2 without having declared it; it declares other "
        "zones; add this one");
}

TEST(ScheduleDeathTest, a_write_on_another_worker_is_found_too) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(
        {
            ThreadedExecutor threads(3);
            Sea sea;
            sea.schedule.add("sneaky", {writes<&Fish::position>(sea.fish)}, [&](PassContext& pass) {
                for_rows(pass.executor, sea.fish.num_rows(), kByteGranularity,
                         [&](RowRange rows, std::uint32_t) { sea.fish.write_column<&Fish::velocity>(rows); });
            });
            sea.schedule.run(threads, 0, 0);
        },
        "\"sneaky\" wrote field \"velocity\" of \"fish\"");
}
#endif

TEST(ScheduleDeathTest, running_without_an_order_is_a_bug) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    Named passes;
    passes.add("a").after("a");
    EXPECT_DEATH(passes.run(), "has a cycle");
}

TEST(ScheduleOrder, a_graph_has_what_passes_declare_and_the_waits_that_no_others_imply) {
    EntityManager entities;
    PagePool pool;
    Manager<Fish> fish(entities, pool);
    Schedule schedule;
    const auto nothing = [](PassContext&) {};
    schedule.open_group("life");
    schedule.add("eat", {reads<&Fish::position>(fish), writes<&Fish::hunger>(fish)}, nothing).after("swim");
    schedule.add("swim", {writes<&Fish::position>(fish), reads<&Fish::velocity>(fish)}, nothing);
    schedule.add("look", {reads<&Fish::velocity>(fish)}, nothing).before("all");
    schedule.add("draw", {reads(fish)}, nothing);
    schedule.add("all", nothing);
    std::string drawn;
    const auto draw = [&](const PassNode& from, const PassNode& to, const std::vector<std::string>& on) {
        drawn += from.name + " -> " + to.name + (on.empty() ? "" : ' ' + on.front()) + '\n';
    };
    const auto draw_all = [&]() -> Status {
        // [world/schedule_graph]
        const Result<ScheduleGraph> graph = schedule.graph();
        if (!graph) return graph.status();
        for (const PassEdge& edge : graph->edges) draw(graph->passes[edge.from], graph->passes[edge.to], edge.on);
        // [world/schedule_graph]
        return {};
    };
    ASSERT_TRUE(draw_all().ok());
    EXPECT_EQ(drawn.substr(0, drawn.find('\n')), "swim -> eat fish.position");
    const Result<ScheduleGraph> graph = schedule.graph();
    ASSERT_TRUE(graph.ok());
    std::string text;
    for (const PassNode& pass : graph->passes) {
        text += pass.group + ' ' + pass.name + ' ' + std::to_string(pass.level) + ':';
        for (const std::string& name : pass.reads) text += ' ' + name;
        for (const std::string& name : pass.writes) text += " !" + name;
        text += '\n';
    }
    EXPECT_EQ(text,
              "life swim 0: fish.velocity !fish.position\n"
              "life eat 1: fish.position !fish.hunger\n"
              "life look 0: fish.velocity\n"
              "life draw 2: fish\n"
              "life all 3: !*\n");
    text.clear();
    for (const PassEdge& edge : graph->edges) {
        text += graph->passes[edge.from].name + (edge.is_ordered ? " => " : " -> ") + graph->passes[edge.to].name;
        for (const std::string& name : edge.on) text += ' ' + name;
        text += '\n';
    }
    EXPECT_EQ(text,
              "swim => eat fish.position\n"
              "eat -> draw fish.hunger\n"
              "look => all fish.velocity\n"
              "draw -> all fish\n");
    for (std::uint32_t place = 0; place < 7; ++place)
        EXPECT_EQ(schedule.name_at(place), place == 0 || place > 5 ? "" : graph->passes[place - 1].name) << place;
    schedule.add("lost", nothing).after("nobody");
    EXPECT_FALSE(schedule.graph().ok());
}

TEST(ScheduleOrder, a_graph_has_levels_by_the_longest_way_and_knows_what_the_order_of_groups_asks_for) {
    EntityManager entities;
    PagePool pool;
    Database database(entities, pool);
    database.component<Fish>(), database.component<Shell>();
    Manager<Fish> fish(entities, pool);
    Schedule schedule;
    const auto nothing = [](PassContext&) {};
    schedule.add("a", {reads<&Fish::velocity>(fish)}, nothing);
    schedule.add("b", {reads<&Fish::velocity>(fish)}, nothing).after("a");
    schedule.add("c", {reads<&Fish::velocity>(fish)}, nothing);
    schedule.open_group("late");
    schedule.add("d", {reads(database)}, nothing).after("b").after("c");
    schedule.open_group("");
    schedule.add("e", {reads<&Fish::velocity>(fish)}, nothing).after("late");
    schedule.add("f", nothing);
    schedule.add("g", {writes<&Fish::velocity>(fish), writes(database)}, nothing);
    const Result<ScheduleGraph> graph = schedule.graph();
    ASSERT_TRUE(graph.ok());
    std::string text;
    for (const PassNode& pass : graph->passes) text += pass.name + ' ' + std::to_string(pass.level) + ' ';
    EXPECT_EQ(text, "a 0 b 1 c 0 d 2 e 3 f 4 g 5 ");
    text.clear();
    for (const PassEdge& edge : graph->edges) {
        text += graph->passes[edge.from].name + (edge.is_ordered ? "=>" : "->") + graph->passes[edge.to].name;
        for (const std::string& name : edge.on) text += ' ' + name;
        text += '\n';
    }
    EXPECT_EQ(text, "a=>b\nb=>d\nc=>d\nd=>e\ne->f fish.velocity\nf->g fish.velocity the database\n");
    EXPECT_EQ(graph->passes[3].reads, std::vector<std::string>{"the database"}) << "which keeps several types";
}

TEST(ScheduleOrder, what_passes_asked_of_one_that_is_forgotten_is_asked_of_nobody) {
    Named passes;
    passes.add("a").before("x");
    passes.add("x");
    passes.add("b").after("x");
    ASSERT_TRUE(passes.schedule.remove("x").ok());
    passes.schedule.forget_order("x");
    EXPECT_EQ(passes.run(), "ab");
}

}  // namespace
