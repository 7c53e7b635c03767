// Queries of what came, went and changed since their loop ran last, against two lists that are compared by hand.

#include "shoal/store/detail/component_mirror.h"
#include "shoal/transform/transform.h"
#include "shoal/world/world.h"
#include "support/testing.h"
#include "support/thread_pool_executor.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <vector>

// Named, because g++ gives queries over members of types in an unnamed namespace a name that other sources may give theirs.
namespace noted_query_test {
namespace {

using namespace shoal;
using namespace shoal_test;

struct Guest {
    int room = 0;
    float bill = 0;
};
SHOAL_COMPONENT((Guest, enableable), room, bill)
struct Bag {
    int weight = 0;
};
SHOAL_COMPONENT(Bag, weight)

using Guests = std::map<Entity, std::pair<int, float>>;

/// Guests in a manager, or in the database.
class NotedQueries : public ::testing::TestWithParam<bool> {
protected:
    NotedQueries() {
        if (GetParam())
            world.manager<Guest>();
        else
            world.database().component<Guest>();
        world.database().component<Bag>();
        EXPECT_TRUE(entities.create(made));
    }
    Guests guests_now() {
        Guests guests;
        world.query<Read<&Guest::room>, Read<&Guest::bill>>().for_each(
            [&](Entity entity, int room, float bill) { guests[entity] = {room, bill}; });
        return guests;
    }
    void change_some() {
        for (int i = 0; i < 30; ++i) {
            const Entity entity = made[random.below(made.size())];
            switch (random.below(6)) {
                case 0:
                case 1:
                    world.commands().add(entity, Guest{static_cast<int>(random.below(9)), float(random.below(9))});
                    break;
                case 2:
                    world.commands().remove<Guest>(entity);
                    break;
                case 3:
                    world.commands().add(entity, Bag{1});  // another table
                    break;
                case 4:
                    if (random.below(4) == 0) entities.destroy(entity);
                    break;
                default:
                    if (!GetParam()) world.commands().add(entity, Disabled{Guest{}});
            }
        }
        world.settle();
        world.query<Write<&Guest::bill>>().for_each([&](float& bill) {
            if (random.below(5) == 0) bill += 1;
        });
    }

    ThreadPoolExecutor executor{3};
    EntityManager entities;
    World world{entities, {.executor = &executor}};
    Random random{seed() + GetParam()};
    std::vector<Entity> made = std::vector<Entity>(200);
};

TEST_P(NotedQueries, say_how_the_rows_differ_from_those_of_the_loop_before) {
    SCOPED_TRACE(seed_text());
    const auto added = world.query<Added<Guest>, Read<&Guest::room>>();
    const auto changed = world.query<Changed<Guest>, Read<&Guest::bill>, Without<Bag>>();
    const auto removed = world.query<Removed<Guest>>();
    Guests before;
    for (int round = 0; round < 40; ++round) {
        change_some();
        const Guests now = guests_now();
        std::map<Entity, int> came, expected_came;
        Guests gone, expected_gone;
        std::map<Entity, float> differ, expected_differ;
        for (const auto& [entity, guest] : now) {
            const auto old = before.find(entity);
            if (old == before.end())
                expected_came[entity] = guest.first;
            else if (old->second != guest && !world.get<std::int32_t>(entity, "bag.weight"))
                expected_differ[entity] = guest.second;
        }
        for (const auto& [entity, guest] : before)
            if (!now.contains(entity)) expected_gone[entity] = guest;
        std::mutex mutex;
        added.for_each(executor, [&](Entity entity, int room) {
            const std::lock_guard lock(mutex);
            EXPECT_TRUE(came.emplace(entity, room).second) << "each once";
        });
        changed.for_each([&](Entity entity, float bill) { differ[entity] = bill; });
        removed.for_each([&](Entity entity, const Guest& guest) { gone[entity] = {guest.room, guest.bill}; });
        ASSERT_EQ(came, expected_came) << "round " << round;
        ASSERT_EQ(differ, expected_differ) << "round " << round;
        ASSERT_EQ(gone, expected_gone) << "round " << round;
        before = now;
        bool any = false;
        added.for_each([&](Entity, int) { any = true; });
        changed.for_each([&](Entity, float) { any = true; });
        removed.for_each([&](Entity, const Guest&) { any = true; });
        ASSERT_FALSE(any) << "nothing has happened since";
    }
}

TEST_P(NotedQueries, a_pass_sees_what_came_since_it_ran_last_though_it_does_not_run_in_each_frame) {
    std::vector<std::size_t> counts;
    std::size_t count = 0;
    world.schedule()
        .add("greet", world.query<Added<Guest>, Write<&Guest::bill>>(),
             [&](auto&& bill) {
                 bill += 10;
                 ++count;
             })
        .every_frames(2);
    for (std::size_t frame = 0; frame < 5; ++frame) {
        world.commands().add(made[frame], Guest{1, 0});
        world.settle();
        world.step(0.1f);
        counts.push_back(std::exchange(count, 0));
    }
    EXPECT_EQ(counts, (std::vector<std::size_t>{1, 0, 2, 0, 2}));
    for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(*world.get<float>(made[i], "guest.bill"), 10);
}

TEST_P(NotedQueries, a_copy_of_a_query_begins_anew) {
    world.commands().add(made[0], Guest{});
    world.settle();
    const auto count = [](const auto& query) {
        int visits = 0;
        query.for_each([&](Entity) { ++visits; });
        return visits;
    };
    const auto added = world.query<Added<Guest>>();
    EXPECT_EQ(count(added), 1);
    const auto copy = added;
    EXPECT_EQ(count(added), 0);
    EXPECT_EQ(count(copy), 1);
}

TEST_P(NotedQueries, read_all_of_the_component_type_as_schedules_know) {
    const auto accesses = world.query<Changed<Guest>, Read<&Bag::weight>>().accesses();
    ASSERT_EQ(accesses.size(), 2u);
    EXPECT_EQ(accesses[1].component, schema_of<Guest>().id());
    EXPECT_EQ(accesses[1].field, kAllFields);
    EXPECT_FALSE(accesses[1].writes);
}

INSTANTIATE_TEST_SUITE_P(Stores, NotedQueries, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "InManager" : "InDatabase"; });

TEST(NotedParents, links_that_are_made_or_undone_are_noted_though_no_row_moves) {
    EntityManager entities;
    World world(entities);
    std::vector<Entity> made(3);
    ASSERT_TRUE(entities.create(made));
    for (const Entity entity : made) world.commands().add(entity, Transform{});
    world.settle();
    ComponentMirror mirror(world.transforms(), schema_of<ChildOf>());
    const auto expect_noted = [&](std::vector<Entity> added, std::vector<Entity> removed) {
        world.settle();
        mirror.compare();
        EXPECT_TRUE(std::ranges::equal(mirror.added(), added));
        EXPECT_TRUE(std::ranges::equal(mirror.removed(), removed));
        for (int frame = 0; frame < 3; ++frame) world.step(0);  // what was written before has older stamps
    };
    expect_noted({}, {});
    for (int round = 0; round < 2; ++round) {
        world.commands().add(made[1], ChildOf{made[0]});
        expect_noted({made[1]}, {});
        expect_noted({}, {});
        world.commands().add(made[2], ChildOf{made[1]});
        world.commands().remove<ChildOf>(made[1]);
        expect_noted({made[2]}, {made[1]});
        world.commands().remove<ChildOf>(made[2]);
        expect_noted({}, {made[2]});
    }
}

}  // namespace
}  // namespace noted_query_test
