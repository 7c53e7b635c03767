// Queries over a database and managers at once: who drives, who is visited, what is marked.

#include "shoal/base/random.h"
#include "shoal/database/database.h"
#include "shoal/query/query.h"
#include "support/rendezvous.h"
#include "support/testing.h"
#include "support/thread_pool_executor.h"

#include <map>
#include <set>
#include <utility>
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
struct Rig {
    float tension = 0, wear = 0;
};
SHOAL_COMPONENT((Rig, whole), tension, wear)
struct Moored {};
SHOAL_COMPONENT((Moored, enableable))

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
    Manager<Crew> crews{entities, pool, {.index = RowIndexKind::kHash}};
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
            query<Read<&Sail::area>, Maybe<&Crew::size>, Without<Moored>, With<Boat>>(database, sails, crews);
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

TEST_F(Join, several_threads_run_a_loop_that_writes_another_store_than_its_driver) {
    for (const bool writes_boats : {true, false}) {
        fill(400, 2, writes_boats ? 0 : 1000);
        shoal_test::ThreadPoolExecutor workers(2);
        shoal_test::Rendezvous threads(2);
        const auto boats = query<Write<&Boat::speed>, Read<&Sail::area>>(database, sails).grain(64);
        const auto torn = query<Read<&Boat::speed>, Write<&Sail::torn>>(database, sails).grain(64);
        EXPECT_EQ(&boats.driver(), writes_boats ? static_cast<const Store*>(&sails.core()) : &database);
        if (writes_boats)
            boats.for_each(workers, [&](float& speed, float area) { threads.enter(), speed = area; });
        else
            torn.for_each_batch(workers, [&](auto&& batch) {
                threads.enter();
                for (float& one : batch.template column<&Sail::torn>().span()) one = 1;
            });
        EXPECT_EQ(threads.num_threads(), 2u) << "one thread has run the loop alone";
        sails.clear();
        database.clear_zone(0);
    }
}

TEST_F(Join, a_loop_over_what_has_changed_that_marks_the_column_it_looks_at_stays_on_one_thread) {
    fill(400, 1, 0);
    Manager<Rig> rigs(entities, pool);
    std::vector<Entity> strays(1000);
    ASSERT_TRUE(entities.create(strays).ok() && rigs.add(strays).ok() && rigs.add(fleet).ok());
    const auto wearing = query<Read<&Rig::tension>, Write<&Rig::wear>, Read<&Sail::area>>(rigs, sails).grain(64);
    shoal_test::ThreadPoolExecutor workers(2);
    for (const std::uint64_t since : {0u, 1u}) {
        shoal_test::Rendezvous threads(2, since == 0 ? std::chrono::seconds(10) : std::chrono::milliseconds(100));
        const auto loop = [&](float, float& wear, float area) { threads.enter(), wear = area; };
        since == 0 ? wearing.for_each(workers, loop) : wearing.changed_since(since).for_each(workers, loop);
        EXPECT_EQ(threads.num_threads(), since == 0 ? 2u : 1u);
    }
}

/// Boats in several zones, sails and crews of some of them in random order, and what loops make of these.
class RandomJoin : public Join {
protected:
    struct Values {
        float speed = 0, torn = 0, area = 0;
        int size = 0;
        bool has_sail = false, has_crew = false, is_inactive = false;
    };

    void fill_at_random() {
        fleet.resize(1500);
        ASSERT_TRUE(database.create<Boat>(fleet, 0).ok());
        for (const Entity boat : fleet) model[boat].speed = float(random.below(100));
        for (const Entity boat : fleet) database.set<&Boat::speed>(database.find(boat), model[boat].speed);
        for (std::uint32_t i = 1500; i > 1; --i) std::swap(fleet[i - 1], fleet[random.below(i)]);
        ASSERT_TRUE(database.move(std::span(fleet).first(300), 3).ok());
        for (const Entity boat : fleet) {
            Values& values = model[boat];
            values.has_sail = random.below(4) != 0, values.has_crew = random.below(3) != 0;
            values.area = float(random.below(50)), values.size = int(random.below(9));
            if (values.has_sail) {
                ASSERT_TRUE(sails.add(boat, {.area = values.area}).ok());
            }
        }
        for (std::uint32_t i = 1500; i > 1; --i) std::swap(fleet[i - 1], fleet[random.below(i)]);
        for (const Entity boat : fleet) {
            if (model[boat].has_crew) {
                ASSERT_TRUE(crews.add(boat, {model[boat].size}).ok());
            }
        }
        entities.inactive().add_speaker(this);
        for (const Entity boat : fleet) {
            model[boat].is_inactive = random.below(8) == 0;
            entities.inactive().set_by_itself(this, {&boat, 1}, model[boat].is_inactive);
        }
        std::vector<Entity> strays(random.below(2) * 2000);  // then the database drives
        ASSERT_TRUE(entities.create(strays).ok());
        ASSERT_TRUE(sails.add(strays).ok());
        ASSERT_TRUE(crews.add(strays).ok());
    }
    void settle(std::uint64_t stamp) {
        database.settle({nullptr, stamp});
        sails.core().settle({nullptr, stamp});
        crews.core().settle({nullptr, stamp});
    }

    /// Writes fields of all three stores, in loops that other stores drive. nullptr: on this thread.
    void run(Executor* executor) {
        const auto loop = [&](const auto& rows, auto function) {
            if (executor == nullptr)
                rows.for_each(function);
            else
                rows.grain(64).for_each(*executor, function);
        };
        loop(query<Write<&Boat::speed>, Write<&Sail::torn>, Read<&Sail::area>>(database, sails),
             [](float& speed, float& torn, float area) {
                 torn = torn * 0.5f + speed;
                 speed = speed * 0.25f + area;
             });
        loop(query<Read<&Sail::torn>, Write<&Crew::size>, Write<&Boat::speed>>(database, sails, crews).in({0, 3}),
             [](float torn, int& size, float& speed) {
                 size = (size * 3 + static_cast<int>(torn)) % 1009;
                 speed -= float(size % 7);
             });
        loop(query<Write<&Boat::speed>, Maybe<&Crew::size>, Maybe<&Sail::area>>(database, sails, crews),
             [](float& speed, const int* size, const float* area) {
                 speed = speed * 0.5f + float(size == nullptr ? 1 : *size) - (area == nullptr ? 2 : *area);
             });
        loop(query<Write<&Sail::torn>, Without<Crew>, Maybe<&Boat::speed>>(database, sails, crews),
             [](float& torn, const float* speed) { torn += speed == nullptr ? 3 : *speed; });
        const auto hire = [](auto&& batch) {
            const auto areas = batch.template column<&Sail::area>(), speeds = batch.template column<&Boat::speed>();
            const auto sizes = batch.template column<&Crew::size>();
            for (std::uint32_t row = 0; row < batch.num_rows(); ++row)
                sizes[row] = (sizes[row] + int(areas[row]) + (speeds.size() == 0 ? 1 : int(speeds[row]))) % 1009;
        };
        const auto crewed = query<Read<&Sail::area>, Write<&Crew::size>, Maybe<&Boat::speed>>(database, sails, crews);
        executor == nullptr ? crewed.for_each_batch(hire) : crewed.grain(64).for_each_batch(*executor, hire);
    }
    void run_model() {
        for (auto& [boat, v] : model) {
            if (v.is_inactive) continue;
            if (v.has_sail) {
                v.torn = v.torn * 0.5f + v.speed;
                v.speed = v.speed * 0.25f + v.area;
            }
            if (v.has_sail && v.has_crew) {
                v.size = (v.size * 3 + static_cast<int>(v.torn)) % 1009;
                v.speed -= float(v.size % 7);
            }
            v.speed = v.speed * 0.5f + float(v.has_crew ? v.size : 1) - (v.has_sail ? v.area : 2);
            if (v.has_sail && !v.has_crew) v.torn += v.speed;
            if (v.has_sail && v.has_crew) v.size = (v.size + int(v.area) + int(v.speed)) % 1009;
        }
    }
    void expect_model() const {
        for (const auto& [boat, v] : model) {
            ASSERT_EQ(database.get<&Boat::speed>(database.find(boat)), v.speed);
            const float torn = v.has_sail ? sails.get<&Sail::torn>(sails.instance(boat)) : v.torn;
            const int size = v.has_crew ? crews.get<&Crew::size>(crews.instance(boat)) : v.size;
            ASSERT_EQ(torn, v.torn);
            ASSERT_EQ(size, v.size);
        }
    }
    /// The stamps of the blocks of every column.
    std::vector<std::uint64_t> stamps() const {
        std::vector<std::uint64_t> all;
        for (const Store* store : {static_cast<const Store*>(&database), static_cast<const Store*>(&sails.core()),
                                   static_cast<const Store*>(&crews.core())})
            for (const Table* table : store->tables())
                for (std::uint32_t c = 0; c < table->schema().columns().size(); ++c)
                    for (std::uint32_t row = 0; row < table->num_rows(); row += kRowsPerStampBlock)
                        all.push_back(table->written_stamp(c, row / kRowsPerStampBlock));
        return all;
    }

    Random random{shoal_test::seed()};
    std::map<Entity, Values> model;
};

// req: E12
TEST_F(RandomJoin, values_and_marks_are_those_of_one_thread_for_any_number_of_workers) {
    SCOPED_TRACE(shoal_test::seed_text());
    fill_at_random();
    std::uint64_t stamp = 10;
    settle(stamp);
    run(nullptr);
    run_model();
    expect_model();
    std::vector<std::uint64_t> expected = stamps();
    for (const unsigned num_workers : {1u, 2u, 4u}) {
        shoal_test::ThreadPoolExecutor executor(num_workers);
        settle(++stamp);
        run(&executor);
        run_model();
        expect_model();
        for (std::uint64_t& one : expected) one += one + 1 == stamp ? 1 : 0;
        ASSERT_EQ(stamps(), expected) << num_workers;
    }
}

}  // namespace
