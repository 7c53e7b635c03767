// Queries over a database and managers at once: who drives, who is visited, what is marked.

#include "shoal/database/database.h"
#include "shoal/query/query.h"
#include "support/testing.h"
#include "support/thread_pool_executor.h"

#include <map>
#include <set>
#include <vector>

namespace {

using namespace shoal;

struct Boat {
    Vec3 position{};
    float speed = 0;
};
SHOAL_COMPONENT(Boat, (position, split), speed)
struct Sail {
    float area = 0, torn = 0;
};
SHOAL_COMPONENT(Sail, area, torn)
struct Crew {
    int size = 0;
};
SHOAL_COMPONENT(Crew, size)
struct Moored {};
SHOAL_COMPONENT((Moored, toggled))

class Join : public ::testing::Test {
protected:
    /// Boats 0 to num_boats - 1, of which every `sails_each`-th has a sail; `num_strays` sails have no boat.
    void fill(std::size_t num_boats, std::size_t sails_each, std::size_t num_strays) {
        fleet.resize(num_boats);
        ASSERT_TRUE(database.create<Boat>(fleet, 0).ok());
        for (std::size_t i = 0; i < num_boats; ++i) database.set<&Boat::speed>(database.find(fleet[i]), float(i));
        for (std::size_t i = 0; i < num_boats; i += sails_each)
            ASSERT_TRUE(sails.add(fleet[i], {.area = float(i)}).ok());
        std::vector<Entity> strays(num_strays);
        ASSERT_TRUE(entities.create(strays).ok());
        ASSERT_TRUE(sails.add(strays).ok());
    }

    EntityManager entities;
    PagePool pool;
    Database database{entities, pool};
    Manager<Sail> sails{entities, pool};
    Manager<Crew> crews{entities, pool};
    std::vector<Entity> fleet;
};

TEST_F(Join, the_side_with_fewer_rows_drives_and_both_visit_the_same) {
    for (const bool many_sails : {false, true}) {
        fill(1000, 10, many_sails ? 5000 : 0);
        const auto sailing = query<Write<&Boat::position>, Read<&Sail::area>, Read<&Boat::speed>>(database, sails);
        const Store& expected = many_sails ? static_cast<const Store&>(database) : sails.core();
        EXPECT_EQ(&sailing.driver(), &expected);
        EXPECT_EQ(sailing.num_rows(), many_sails ? 1000u : 100u);
        std::set<Entity> visited;
        sailing.for_each([&](Entity boat, auto&& position, float area, float speed) {
            EXPECT_TRUE(visited.insert(boat).second);
            EXPECT_EQ(area, speed);
            position += Vec3{area, 0, 1};
        });
        EXPECT_EQ(visited.size(), 100u);
        for (std::size_t i = 0; i < fleet.size(); ++i) {
            const Vec3 expected_position = i % 10 == 0 ? Vec3{float(i), 0, 1} : Vec3{};
            ASSERT_EQ(Vec3(database.get<&Boat::position>(database.find(fleet[i]))), expected_position);
        }
        sails.clear();
        database.clear_zone(0);
    }
}

TEST_F(Join, filters_zones_and_gathered_fields_count_whoever_drives) {
    fill(300, 3, 0);
    ASSERT_TRUE(database.add(std::span(fleet).subspan(0, 150), Moored{}).ok());
    ASSERT_TRUE(database.remove<Moored>(std::span(fleet).subspan(0, 50)).ok());
    ASSERT_TRUE(database.move(std::span(fleet).subspan(240, 60), 9).ok());
    for (std::size_t i = 0; i < 300; i += 2) ASSERT_TRUE(crews.add(fleet[i], {int(i)}).ok());
    const auto run = [&](const Store& driver) {
        const auto free =
            query<Read<&Sail::area>, Gather<&Crew::size>, Without<Moored>, With<Boat>>(database, sails, crews);
        EXPECT_EQ(&free.in({0}).driver(), &driver);
        std::set<Entity> visited;
        free.in({0}).for_each([&](Entity boat, float area, const int* crew) {
            visited.insert(boat);
            EXPECT_EQ(crew != nullptr, int(area) % 2 == 0);
            EXPECT_TRUE(crew == nullptr || *crew == int(area));
        });
        std::set<Entity> expected;
        for (std::size_t i = 0; i < 240; i += 3)
            if (i < 50 || i >= 150) expected.insert(fleet[i]);
        EXPECT_EQ(visited, expected);
    };
    run(sails.core());
    std::vector<Entity> strays(1000);
    ASSERT_TRUE(entities.create(strays).ok());
    ASSERT_TRUE(sails.add(strays).ok());
    run(database);
}

// req: F5
TEST_F(Join, several_managers_must_all_have_the_entity) {
    fill(100, 2, 0);
    for (std::size_t i = 0; i < 100; i += 5) ASSERT_TRUE(crews.add(fleet[i], {int(i)}).ok());
    const auto manned = query<Read<&Sail::area>, Write<&Crew::size>, Read<&Boat::speed>>(database, sails, crews);
    EXPECT_EQ(&manned.driver(), &crews.core());
    std::size_t num_calls = 0;
    manned.for_each([&](float area, int& size, float speed) {
        EXPECT_EQ(area, speed);
        EXPECT_EQ(float(size), area);
        size += 1;
        ++num_calls;
    });
    EXPECT_EQ(num_calls, 10u);
    EXPECT_EQ(crews.get<&Crew::size>(crews.instance(fleet[20])), 21);
    EXPECT_EQ(crews.get<&Crew::size>(crews.instance(fleet[25])), 25) << "it has no sail";
}

TEST_F(Join, written_fields_of_every_side_are_marked) {
    for (const bool many_sails : {false, true}) {
        fill(3000, 2500, many_sails ? 10'000 : 0);
        database.settle({nullptr, many_sails ? 20u : 10u});
        sails.core().settle({nullptr, many_sails ? 20u : 10u});
        const std::uint64_t stamp = many_sails ? 21 : 11;
        database.settle({nullptr, stamp});
        sails.core().settle({nullptr, stamp});
        query<Write<&Boat::speed>, Write<&Sail::torn>>(database, sails).for_each([](float& speed, float& torn) {
            speed += 1;
            torn += 1;
        });
        for (const std::size_t i : {0, 2500}) {
            const DatabaseRow row = database.find(fleet[i]);
            const Instance sail = sails.instance(fleet[i]);
            EXPECT_EQ(row.table->table().written_stamp(3, row.row / 1024), stamp);
            EXPECT_LT(row.table->table().written_stamp(0, row.row / 1024), stamp);
            EXPECT_EQ(sails.core().table().written_stamp(1, sail.row / 1024), stamp);
            EXPECT_LT(sails.core().table().written_stamp(0, sail.row / 1024), stamp);
        }
        sails.clear();
        database.clear_zone(0);
    }
}

// req: E9-E11
TEST_F(Join, threads_give_the_same_bits_as_one_loop_whoever_drives) {
    for (const std::size_t num_strays : {std::size_t(0), std::size_t(60'000)}) {
        fill(40'000, 2, num_strays);
        const auto run = [&](Executor& executor) {
            query<Write<&Boat::position>, Read<&Sail::area>>(database, sails)
                .for_each(executor, [](auto&& p, float area) { p = Vec3(p) * 0.5f + Vec3{area, 1, -area}; });
            query<Read<&Boat::position>, Write<&Sail::torn>>(database, sails)
                .for_each(executor, [](Vec3 p, float& torn) { torn = torn * 0.5f + p.x; });
            float sum = 0;
            query<Read<&Boat::position>, Read<&Sail::torn>>(database, sails).for_each([&](Vec3 p, float torn) {
                sum += p.x + p.z * 0.25f + torn;
            });
            return sum;
        };
        const auto reset = [&] {
            query<Write<&Boat::position>, Write<&Sail::torn>>(database, sails).for_each([](auto&& p, float& torn) {
                p = Vec3{};
                torn = 0;
            });
        };
        SerialExecutor serial;
        const float expected = run(serial);
        for (const unsigned num_workers : {1u, 2u, 3u, 8u}) {
            reset();
            shoal_test::ThreadPoolExecutor executor(num_workers);
            EXPECT_EQ(run(executor), expected) << num_workers;
        }
        sails.clear();
        database.clear_zone(0);
    }
}

}  // namespace
