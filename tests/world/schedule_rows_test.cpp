// Passes over queries: what their functions get besides the row, and what they declare besides the query.

#include "shoal/world/world.h"

#include "support/testing.h"

#include <array>
#include <atomic>
#include <thread>
#include <vector>

namespace {

using namespace shoal;

struct Fish {
    Vec3 position{};
    float speed = 1;
    std::uint64_t frame = 0;
};
SHOAL_COMPONENT(Fish, (position, split), speed, frame)
struct TameFish {
    Vec3 position{};
    float speed = 1;
    std::uint64_t frame = 0;
};
SHOAL_COMPONENT(TameFish, (position, split), speed, frame)
struct Crust {
    float size = 1;
};
SHOAL_COMPONENT(Crust, size)
struct Shell {
    float size = 0;
};
SHOAL_COMPONENT(Shell, size)
struct Asleep {};
SHOAL_COMPONENT((Asleep, enableable))
struct Plain {
    float weight = 0;
    double age = 0;
};
SHOAL_COMPONENT((Plain, whole), weight, age)

/// Tame fish are in a manager, free fish in the database; every second free fish has a shell.
struct Sea {
    explicit Sea(std::size_t num_fish, Executor* executor = nullptr)
        : world(entities, {.executor = executor}), tame(num_fish), free(num_fish) {
        EXPECT_TRUE(entities.create(tame).ok() && fish.add(tame).ok());
        EXPECT_TRUE(database.create<Fish>(free, 0).ok());
        for (std::size_t i = 0; i < num_fish; i += 2) EXPECT_TRUE(shells.add(free[i]).ok());
    }
    Fish free_fish(std::size_t i) const {
        const DatabaseRow row = database.find(free[i]);
        return {{}, database.get<&Fish::speed>(row), database.get<&Fish::frame>(row)};
    }
    std::string error() { return std::string(schedule.prepare().message()); }

    EntityManager entities;
    World world;
    Manager<TameFish>& fish = world.manager<TameFish>();
    Manager<Shell>& shells = world.manager<Shell>();
    Database& database = world.database();
    Schedule& schedule = world.schedule();
    std::vector<Entity> tame, free;
};

// --- what the function is given ----------------------------------------------------------------------------------

// req: F5-F7
TEST(SchedulePass, a_pass_over_a_query_gets_the_time_step_and_the_frame_on_every_worker) {
    ThreadedExecutor threads(2);
    Sea sea(20'000, &threads);
    std::atomic<bool> has_worked[2] = {};
    sea.schedule.add("swim", query<Write<&TameFish::speed>, Write<&TameFish::frame>>(sea.fish),
                     [&](const PassContext& context, auto&& speed, auto&& frame) {
                         has_worked[context.executor.current_worker()] = true;
                         while (!has_worked[0] || !has_worked[1]) std::this_thread::yield();  // both have rows
                         speed += context.dt;
                         frame = context.frame;
                     });
    for (int i = 0; i < 3; ++i) sea.world.step(0.5f);
    for (const float speed : sea.fish.column<&TameFish::speed>()) ASSERT_EQ(speed, 2.5f);
    for (const std::uint64_t frame : sea.fish.column<&TameFish::frame>()) ASSERT_EQ(frame, 2u);
}

TEST(SchedulePass, a_pass_over_a_join_gets_them_too_whoever_drives) {
    ThreadedExecutor threads(2);
    for (const bool many_shells : {false, true}) {
        Sea sea(9000, &threads);
        ASSERT_TRUE(!many_shells || sea.shells.add(sea.tame).ok());
        const auto shelled =
            query<Write<&Fish::speed>, Write<&Fish::frame>, Read<&Shell::size>>(sea.database, sea.shells);
        EXPECT_EQ(&shelled.driver() == &sea.database, many_shells);
        sea.schedule.add("swim", shelled, [](const PassContext& context, float& speed, std::uint64_t& frame, float) {
            speed += context.dt;
            frame = context.frame + 5;
        });
        sea.world.step(0.5f);
        EXPECT_EQ(sea.schedule.statistics(0).num_rows, many_shells ? 9000u : 4500u);
        for (std::size_t i = 0; i < sea.free.size(); ++i) {
            const Fish now = sea.free_fish(i);
            ASSERT_EQ(now.speed, i % 2 == 0 ? 1.5f : 1.0f);
            ASSERT_EQ(now.frame, i % 2 == 0 ? 5u : 0u);
        }
    }
}

TEST(SchedulePass, the_context_comes_before_commands_and_the_entity) {
    Sea sea(10);
    const auto add = [&](const std::string& name, auto rows) {
        sea.schedule.add(name + ": age", rows, [&](const PassContext& context, Entity self, float, auto...) {
            EXPECT_TRUE(sea.entities.alive(self));
            EXPECT_EQ(context.dt, 0.5f);
        });
        sea.schedule.add(name + ": breed", rows,
                         [&](const PassContext& context, Commands& commands, float speed, auto...) {
                             commands.create(7, Fish{.speed = speed + context.dt});
                         });
        sea.schedule.add(name + ": die", rows,
                         [&](const PassContext& context, Commands& commands, Entity self, float speed, auto...) {
                             if (context.frame == 0 && speed == 1) commands.destroy(self);
                         });
    };
    add("manager", query<Read<&TameFish::speed>>(sea.fish));
    add("database", query<Read<&Fish::speed>>(sea.database));
    add("join", query<Read<&Fish::speed>, Read<&Shell::size>>(sea.database, sea.shells));
    sea.world.step(0.5f);
    const SettleCounts& done = sea.world.settle_statistics().last;
    EXPECT_EQ(done.num_created, 25u) << "for ten tame fish, ten free fish, and five shells";
    EXPECT_EQ(sea.entities.num_alive(), 25u);
    EXPECT_EQ(sea.database.num_rows(7), 25u);
    query<Read<&Fish::speed>>(sea.database).for_each([](float speed) { EXPECT_EQ(speed, 1.5f); });
}

TEST(SchedulePass, a_function_that_fits_without_a_context_is_called_without) {
    Sea sea(10);
    // A generic function: it would also accept a context in place of its commands.
    sea.schedule.add("die", query<With<Fish>>(sea.database),
                     [](auto& commands, Entity self) { commands.destroy(self); });
    sea.world.step(0);
    EXPECT_EQ(sea.entities.num_alive(), 10u);
}

TEST(SchedulePass, a_context_and_disabled_rows_go_together_with_and_without_blend) {
    Sea sea(3000);
    for (std::size_t i = 0; i < sea.free.size(); i += 3) ASSERT_TRUE(sea.database.add(sea.free[i], Asleep{}).ok());
    const auto awake = query<Write<&Fish::speed>, Without<Asleep>>(sea.database);
    const auto swim = [](const PassContext& context, auto&& speed) { speed += context.dt; };
    sea.schedule.add("one by one", awake, swim);
    sea.schedule.add("blended", awake, blend(swim));
    sea.world.step(0.5f);
    for (std::size_t i = 0; i < sea.free.size(); ++i) ASSERT_EQ(sea.free_fish(i).speed, i % 3 == 0 ? 1 : 2);
}

TEST(SchedulePass, a_function_with_a_context_keeps_what_it_has) {
    Sea sea(10);
    sea.schedule.add("count", query<Write<&TameFish::frame>>(sea.fish),
                     [num_rows = std::uint64_t(0)](const PassContext&, auto&& frame) mutable { frame = ++num_rows; });
    sea.world.step(0);
    sea.world.step(0);
    EXPECT_EQ(sea.fish.column<&TameFish::frame>()[9], 20u);
}

TEST(SchedulePass, rows_and_bytes_are_reported_with_a_context_and_further_accesses) {
    Sea sea(100);
    sea.schedule.add("tame", query<Write<&TameFish::position>, Read<&TameFish::speed>>(sea.fish), {reads(sea.shells)},
                     [](const PassContext& context, auto&& p, float speed) { p += Vec3{speed * context.dt, 0, 0}; });
    sea.schedule.add("free", query<Write<&Fish::speed>>(sea.database), {reads(sea.shells)},
                     [](const PassContext& context, auto&& speed) { speed += context.dt; });
    for (int i = 0; i < 2; ++i) sea.world.step(0);
    EXPECT_EQ(sea.schedule.statistics(0).num_rows, 100u);
    EXPECT_EQ(sea.schedule.statistics(0).num_bytes, 1600u);
    EXPECT_EQ(sea.schedule.statistics(0).total_bytes, 3200u);
    EXPECT_EQ(sea.schedule.statistics(1).num_rows, 100u);
    EXPECT_EQ(sea.schedule.statistics(1).num_bytes, 400u);
}

/// Rows that are not a query: the numbers below three.
struct ThreeNumbers {
    const int* counted;
    std::array<Access, 1> accesses() const { return {reads(*counted)}; }
    std::uint64_t num_rows() const { return 3; }
    static constexpr std::size_t bytes_per_row() { return sizeof(int); }
    template <class Function>
    void for_each(Executor&, Function&& function) const {
        for (int i = 0; i < 3; ++i) function(i);
    }
};

TEST(SchedulePass, rows_need_not_be_those_of_a_query) {
    Sea sea(1);
    int sum = 0;
    sea.schedule.add("sum", ThreeNumbers{&sum}, {writes(sum)}, [&](int number) { sum += number; });
    sea.world.step(0);
    EXPECT_EQ(sum, 3);
    EXPECT_EQ(sea.schedule.statistics(0).num_bytes, 12u);
}

// --- what it declares --------------------------------------------------------------------------------------------

TEST(SchedulePass, further_reads_are_named_by_a_strict_schedule) {
    Sea sea(1);
    int current = 0;
    sea.schedule.set_strict(true);
    sea.schedule.open_group("physics");
    sea.schedule.add("move", query<Write<&TameFish::position>>(sea.fish), [](auto&& p) { p += Vec3{1, 0, 0}; });
    sea.schedule.add("flow", {writes(current)}, [](PassContext&) {});
    sea.schedule.open_group("art");
    sea.schedule.add("grow", query<Write<&Shell::size>>(sea.shells), [](float& size) { size += 1; });
    EXPECT_EQ(sea.error(), "") << "shells have nothing to do with fish";
    ASSERT_TRUE(sea.schedule.remove("grow").ok());
    sea.schedule.add("grow", query<Write<&Shell::size>>(sea.shells),
                     {reads<&TameFish::position>(sea.fish), reads(current)}, [](float& size) { size += 1; });
    EXPECT_EQ(sea.error(),
              "these passes conflict, but their order is ambiguous; order them with after() or before():"
              "\n  \"move\" of \"physics\" and \"grow\" of \"art\": \"tame_fish.position\""
              "\n  \"flow\" of \"physics\" and \"grow\" of \"art\": an object that is not a store");
}

TEST(SchedulePass, what_the_query_declares_stays_declared_and_the_stronger_of_both_counts) {
    Sea sea(1);
    sea.schedule.set_strict(true);
    sea.schedule.open_group("a");
    sea.schedule.add("read", query<Read<&TameFish::speed>>(sea.fish), {reads(sea.shells)}, [](float) {});
    sea.schedule.open_group("b");
    sea.schedule.add("look", query<Read<&TameFish::speed>>(sea.fish), {reads<&TameFish::speed>(sea.fish)},
                     [](float) {});
    EXPECT_EQ(sea.error(), "") << "both only read";
    sea.schedule.add("weak", query<Write<&TameFish::speed>>(sea.fish), {reads<&TameFish::speed>(sea.fish)},
                     [](float&) {});
    EXPECT_NE(sea.error().find("\"read\" of \"a\" and \"weak\" of \"b\": \"tame_fish.speed\""), std::string::npos);
    ASSERT_TRUE(sea.schedule.remove("weak").ok());
    sea.schedule.add("strong", query<Read<&TameFish::speed>>(sea.fish), {writes(sea.fish)}, [](float) {});
    EXPECT_NE(sea.error().find("\"read\" of \"a\" and \"strong\" of \"b\""), std::string::npos);
}

TEST(SchedulePass, further_reads_keep_two_passes_apart_and_in_order) {
    ThreadedExecutor threads(2);
    Sea sea(1, &threads);
    std::uint64_t tide = 0;  // not atomic: only the schedule keeps it right
    std::atomic<bool> is_felt{false};
    sea.schedule.add("flood", query<With<Fish>>(sea.database), {writes(tide)}, [&](const PassContext& context, Entity) {
        for (int i = 0; i < 1000 && !is_felt; ++i) std::this_thread::yield();  // the other is free
        EXPECT_FALSE(is_felt);
        tide = context.frame + 1;
    });
    sea.schedule.add("feel", query<Write<&TameFish::frame>>(sea.fish), {reads(tide)}, [&](auto&& frame) {
        is_felt = true;
        frame = tide;
    });
    sea.schedule.add("ebb", {writes(tide)}, [&](PassContext&) { is_felt = false; });
    for (std::uint64_t frame = 1; frame <= 20; ++frame) {
        sea.world.step(0);
        ASSERT_EQ(sea.fish.column<&TameFish::frame>()[0], frame);
    }
}

TEST(SchedulePass, passes_that_only_read_further_may_overlap) {
    ThreadedExecutor threads(2);
    Sea sea(1, &threads);
    int tide = 0;
    std::atomic<int> num_inside{0};
    const auto meet = [&](auto&&) {
        ++num_inside;
        while (num_inside < 2) std::this_thread::yield();  // would never return if they ran one after the other
    };
    sea.schedule.add("tame", query<Write<&TameFish::speed>>(sea.fish), {reads(tide)}, meet);
    sea.schedule.add("free", query<Write<&Fish::speed>>(sea.database), {reads(tide)}, meet);
    sea.world.step(0);
    EXPECT_EQ(num_inside, 2);
}

TEST(SchedulePass, a_further_write_that_is_declared_is_allowed) {
    Sea sea(100);
    for (const Entity owner : sea.tame) ASSERT_TRUE(sea.shells.add(owner).ok());
    sea.schedule.add("grow", query<Read<&TameFish::speed>>(sea.fish),
                     {writes<&Shell::size>(sea.shells), writes<&TameFish::frame>(sea.fish)},
                     [&](const PassContext& context, Entity self, float speed) {
                         sea.shells.set<&Shell::size>(sea.shells.instance(self), speed + context.dt);
                         sea.fish.set<&TameFish::frame>(sea.fish.instance(self), 3);
                     });
    sea.world.step(0.5f);
    for (const Entity owner : sea.tame) {
        ASSERT_EQ(sea.shells.get<&Shell::size>(sea.shells.instance(owner)), 1.5f);
        ASSERT_EQ(sea.fish.get<&TameFish::frame>(sea.fish.instance(owner)), 3u);
    }
}

TEST(SchedulePass, a_write_to_a_component_kept_whole_is_allowed_whatever_else_its_entities_have) {
    Sea sea(0);
    std::vector<Entity> owners(100);
    ASSERT_TRUE((sea.database.create<Crust, Plain, Fish>(owners, 0).ok()));
    ASSERT_TRUE((sea.database.create<Plain>(owners, 0).ok()));
    sea.schedule.add("weigh", query<Write<&Plain::weight>>(sea.database), [](float& weight) { weight += 1; });
    sea.schedule.add("age", {writes<&Plain::age>(sea.database)}, [&](PassContext&) {
        query<Write<&Plain::age>>(sea.database).for_each([](double& age) { age += 2; });
    });
    sea.world.step(0);
    int num_rows = 0;
    query<Read<&Plain::weight>, Read<&Plain::age>>(sea.database).for_each([&](float weight, double age) {
        num_rows += weight == 1 && age == 2;
    });
    EXPECT_EQ(num_rows, 200);
}

#if SHOAL_CHECKED
TEST(SchedulePassDeathTest, an_undeclared_write_to_a_component_kept_whole_names_the_component) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    Sea sea(0);
    Entity owner;
    ASSERT_TRUE((sea.database.create<Crust, Plain, Fish>(std::span(&owner, 1), 0).ok()));
    const auto run = [&](auto function) {
        sea.schedule.clear();
        sea.schedule.add("sneaky", query<Write<&Crust::size>>(sea.database), {writes<&Fish::speed>(sea.database)},
                         [&](Entity self, float&) { function(sea.database.find(self)); });
        sea.world.step(0);
    };
    EXPECT_DEATH(run([&](DatabaseRow row) { sea.database.set<&Plain::age>(row, 3); }),
                 "\"sneaky\" wrote component \"plain\" without having declared it");
    EXPECT_DEATH(run([&](DatabaseRow row) { sea.database.set<&Fish::frame>(row, 3); }),
                 "\"sneaky\" wrote field \"frame\" of \"fish\" without having declared it");
}

TEST(SchedulePassDeathTest, a_write_that_neither_the_query_nor_the_list_declares_ends_a_checked_program) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    Sea sea(100);
    sea.schedule.add("sneaky", query<Write<&TameFish::position>>(sea.fish),
                     {writes<&Shell::size>(sea.shells), reads<&TameFish::speed>(sea.fish)},
                     [&](const PassContext& context, Entity self, auto&&) {
                         sea.fish.set<&TameFish::speed>(sea.fish.instance(self), context.dt);
                     });
    EXPECT_DEATH(sea.world.step(0), "\"sneaky\" wrote field \"speed\" of \"tame_fish\" without having declared it");
}
#endif

}  // namespace
